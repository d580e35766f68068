/* ring: glue */
/**
 * Route 2 in GMP, for rational parameters of any size: the same functions of
 * the tape as the 64-bit drivers (docs/math/samplers.md), with more words per
 * uniform integer where n passes 2^64.
 *
 * Law     as uniform.h, bernoulli.h, geometric.h, discrete_laplace.h and
 *         discrete_gaussian.h.
 * Errors  ASSAY_ENTROPY; `out` is then unspecified and must not be used.
 * Memory  every intermediate number is wiped.
 */
#ifndef ASSAY_MECHANISMS_BIG_H
#define ASSAY_MECHANISMS_BIG_H

#include <gmp.h>

#include "mechanisms/tape.h"

assay_status assay_big_uniform(assay_tape *tape, mpz_t out,
                               const mpz_t n) ASSAY_MUST_CHECK;
assay_status assay_big_bernoulli_exp(assay_tape *tape, const mpz_t a,
                                     const mpz_t b, int *out) ASSAY_MUST_CHECK;
assay_status assay_big_geometric(assay_tape *tape, mpz_t out, const mpz_t s,
                                 const mpz_t t) ASSAY_MUST_CHECK;
assay_status assay_big_discrete_laplace(assay_tape *tape, mpz_t out,
                                        const mpz_t s,
                                        const mpz_t t) ASSAY_MUST_CHECK;
/** t = floor(sqrt(n/d)) + 1: assay_big_gaussian_scale. */
assay_status assay_big_discrete_gaussian(assay_tape *tape, mpz_t out,
                                         const mpz_t n, const mpz_t d,
                                         const mpz_t t) ASSAY_MUST_CHECK;
void assay_big_gaussian_scale(mpz_t t, const mpz_t n, const mpz_t d);

/** Overwrites a number's digits and frees it. */
void assay_big_wipe(mpz_t z);

#endif
