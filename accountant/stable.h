/* ring: glue */
/**
 * What a release of stable prefixes costs, and how high its bar must be
 * (docs/math/stable_prefix.md).
 *
 * One draw: an expert is drawn uniformly, a fresh trajectory of this expert is
 * asked prefix by prefix whether enough experts would have acted like that
 * (sparse vector, epsilon-DP for fixed questions), and the longest prefix with
 * only yes answers leaves. The questions are data too: the law of the
 * trajectory changes by at most e^epsilon where the count is at least c_min.
 *
 * Theorem  stable-prefix: one draw is (2 epsilon, cap * delta)-DP under adding
 *          or removing an expert, where delta bounds the probability that a
 *          prefix below theta passes and cap >= 2 is the public length cap.
 *          The guarantee is over the generation of the trajectories: they are
 *          independent draws of the experts' policies. Paper-proved.
 */
#ifndef ASSAY_ACCOUNTANT_STABLE_H
#define ASSAY_ACCOUNTANT_STABLE_H

#include <gmp.h>
#include <stdint.h>

#include "accountant/event.h"

typedef enum assay_stable_bar {
    ASSAY_BAR_PRINTED = 0, /* scales 2/eps and 4/eps, (4/eps) log(1/delta) */
    ASSAY_BAR_MONOTONE,    /* scale 2/eps on both, the exact tail */
    ASSAY_BAR_NORMALISED   /* the same for counts over p_max^k */
} assay_stable_bar;

/** Everything public. Counts are in steps: one expert is `unit` of them. */
typedef struct assay_stable_plan {
    assay_stable_bar bar;
    uint64_t num_draws; /* T */
    uint64_t cap;       /* L, at least 2 */
    int64_t unit;
    mpq_t least;   /* p_min, above 0 */
    mpq_t most;    /* p_max, at most 1 */
    mpq_t epsilon; /* of one sparse vector */
    mpq_t delta;   /* of one draw */
} assay_stable_plan;

void assay_stable_plan_init(assay_stable_plan *plan);
void assay_stable_plan_clear(assay_stable_plan *plan);

/** All draws as one event: T times (2 epsilon, delta), marked assumed.
 *  `event` is initialised by this call. */
void assay_stable_event(assay_event *event, const assay_stable_plan *plan);

/**
 * Sets plan->delta = delta/(2T) and the largest plan->epsilon for which the
 * optimal composition of T draws is (epsilon, delta)-DP. The other fields are
 * given.
 * Errors  ASSAY_INVALID: T = 0, a cap below 2, probabilities out of order.
 */
assay_status assay_stable_calibrate(assay_stable_plan *plan,
                                    const mpq_t epsilon, const mpq_t delta,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** The scales of the threshold's and of a query's noise, in steps. */
void assay_stable_scales(mpq_t threshold, mpq_t query,
                         const assay_stable_plan *plan);

/**
 * The threshold in steps, rounded up: theta = c_min/p_min (normalised: c_min
 * p_max/p_min) with c_min = 1/(1 - e^-epsilon), plus a shift s for which
 * P[query noise - threshold noise >= s] <= delta/cap.
 * Errors  ASSAY_RANGE: above 2^50 steps, epsilon is too small to release
 *         anything.
 */
assay_status assay_stable_threshold(int64_t *out, const assay_stable_plan *plan,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** The least s >= 1 with P[Y - X >= s] <= delta for independent discrete
 *  Laplace X, Y of one scale:
 *  q^s ((1-q)(s+1) + q + 2q^2/(1+q)) / (1+q)^2 with q = e^(-1/scale). */
assay_status assay_stable_shift(int64_t *out, const mpq_t scale,
                                const mpq_t delta,
                                assay_error *err) ASSAY_MUST_CHECK;

#endif
