/* ring: glue */
/**
 * What stands between a private integer statistic and a learner.
 *
 * A privatizer releases a vector of integers with exact noise, or, without
 * privacy, hands it through. A learner sees only what comes out of it.
 */
#ifndef ASSAY_ALGORITHMS_PRIVATIZER_H
#define ASSAY_ALGORITHMS_PRIVATIZER_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

typedef enum assay_noise {
    ASSAY_NOISE_NONE = 0, /* not private: the baseline           */
    ASSAY_NOISE_GAUSSIAN, /* rho-zCDP, budget is rho             */
    ASSAY_NOISE_LAPLACE,  /* pure epsilon-DP, budget is epsilon  */
    ASSAY_NOISE_UNARY     /* the same; local reports of one-hot values */
} assay_noise;

struct assay_custodian;

/**
 * Gaussian: sigma^2 = sensitivity / (2 budget), where `sensitivity` is the
 * squared l2 one. Laplace: scale = sensitivity / budget, where it is the l1
 * one. Both are exact rationals, so the charge is the budget exactly.
 * `custodian` may be NULL only for ASSAY_NOISE_NONE, which copies. `out` is
 * apart from `in` and new: if the tape fails it is wiped.
 */
assay_status assay_privatizer_release(struct assay_custodian *custodian,
                                      assay_noise noise, int64_t *out,
                                      const int64_t *in, size_t n,
                                      uint64_t sensitivity, const mpq_t budget,
                                      const char *label,
                                      assay_error *err) ASSAY_MUST_CHECK;

/** Refuses a ledger that is not for replacement of one person's data: the
 *  sensitivities of this room are for that relation. */
assay_status assay_privatizer_check(const struct assay_custodian *custodian,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** sigma^2 or scale as above, for post-processing. */
void assay_privatizer_scale(mpq_t out, assay_noise noise, uint64_t sensitivity,
                            const mpq_t budget);

/**
 * A rho (a multiple of 2^-20) whose zCDP is (epsilon, delta)-DP by the
 * accountant's conversion: the largest found by bisection.
 * Errors  ASSAY_INVALID if delta is not in (0, 1) or epsilon is too small.
 */
assay_status assay_privatizer_rho(mpq_t rho, const mpq_t epsilon,
                                  const mpq_t delta,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** "none", "gaussian", "laplace", "unary". */
const char *assay_noise_name(assay_noise noise);

#endif
