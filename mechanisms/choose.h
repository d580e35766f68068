/* ring: glue */
/**
 * Choosing among candidates by a private score.
 *
 * Scores are int64_t; between neighbours each moves by at most `sensitivity`.
 * All probabilities are exact: exponents are rationals, coins are integers, no
 * floating point is involved.
 *
 * Time     the number of coins depends on the scores for the exponential
 *          mechanism and permute-and-flip; noisy max draws n noises always.
 * Errors   as mechanisms/release.h.
 */
#ifndef ASSAY_MECHANISMS_CHOOSE_H
#define ASSAY_MECHANISMS_CHOOSE_H

#include "mechanisms/custodian.h"

/**
 * The exponential mechanism.
 *
 * Law      P[i] proportional to exp(epsilon score[i] / (2 sensitivity)).
 * Theorem  exponential: epsilon-DP.
 */
assay_status assay_choose_exponential(assay_custodian *custodian, size_t *out,
                                      const int64_t *score, size_t n,
                                      const mpq_t epsilon,
                                      const mpq_t sensitivity,
                                      const char *label,
                                      assay_error *err) ASSAY_MUST_CHECK;

/**
 * Permute-and-flip (McKenna and Sheldon): never worse than the exponential
 * mechanism at the same epsilon, and at most n coins.
 *
 * Law      candidates in random order; take the first whose coin of
 *          probability exp(-epsilon (max - score[i]) / (2 sensitivity)) is 1.
 * Theorem  permute-and-flip: epsilon-DP.
 */
assay_status assay_choose_permute_and_flip(assay_custodian *custodian,
                                           size_t *out, const int64_t *score,
                                           size_t n, const mpq_t epsilon,
                                           const mpq_t sensitivity,
                                           const char *label,
                                           assay_error *err) ASSAY_MUST_CHECK;

/**
 * Report noisy max: discrete Laplace noise of scale 2 sensitivity / epsilon on
 * each score, then the index of the largest (the least index on a tie).
 *
 * Theorem  noisy-max: epsilon-DP.
 */
assay_status assay_choose_noisy_max(assay_custodian *custodian, size_t *out,
                                    const int64_t *score, size_t n,
                                    const mpq_t epsilon,
                                    const mpq_t sensitivity, const char *label,
                                    assay_error *err) ASSAY_MUST_CHECK;

#endif
