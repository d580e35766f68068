/* ring: glue */
/**
 * Local reports: a person's own value leaves only after randomization.
 *
 * The ledger must count replaced persons (replace-one): a report hides which
 * value a person has, not that she reported. Probabilities are exact rationals
 * whose parts fit 64 bits.
 *
 * Values  0, ..., k-1; a larger one counts as k-1, because no error may depend
 *         on a person's value.
 * Errors  as mechanisms/release.h.
 */
#ifndef ASSAY_MECHANISMS_LOCAL_H
#define ASSAY_MECHANISMS_LOCAL_H

#include "mechanisms/custodian.h"

/**
 * k-ary randomized response; k = 2 is Warner's.
 *
 * Law      with probability p uniform on {0, ..., k-1}, else `value`.
 * Theorem  randomized-response, local-dp: exp(epsilon) = 1 + k (1-p) / p.
 */
assay_status assay_release_response(assay_custodian *custodian, uint64_t *out,
                                    uint64_t value, uint64_t k, const mpq_t p,
                                    const char *label,
                                    assay_error *err) ASSAY_MUST_CHECK;

/**
 * Symmetric unary encoding: the k bits of the one-hot value, each replaced by
 * a fair coin with probability p (flipped with probability p/2).
 *
 * Theorem  randomized-response twice (two bits differ between any two values)
 *          and local-dp: exp(epsilon) = ((2-p)/p)^2.
 */
assay_status assay_release_unary(assay_custodian *custodian, uint8_t *out,
                                 uint64_t value, uint64_t k, const mpq_t p,
                                 const char *label,
                                 assay_error *err) ASSAY_MUST_CHECK;

/**
 * Optimised unary encoding: the bit of the value is a fair coin, every other
 * bit is one with probability q < 1/2.
 *
 * Theorem  local-dp: two values differ in two bits and the fair one carries a
 *          factor 1, so exp(epsilon) = (1-q)/q, as binary randomized response
 *          with p = 2q.
 */
assay_status assay_release_unary_optimised(assay_custodian *custodian,
                                           uint8_t *out, uint64_t value,
                                           uint64_t k, const mpq_t q,
                                           const char *label,
                                           assay_error *err) ASSAY_MUST_CHECK;

#endif
