/* ring: glue */
/**
 * Selective DP-SGD: offline learning with expert-level privacy.
 *
 * Data     `stable` was released before (stable prefixes): public, used in
 *          plain steps. `pool` holds other trajectories of the experts, rows of
 *          one expert together: private. Experts are 0 .. num_experts - 1;
 *          their numbers have no influence.
 * Step     a public coin decides. At 0 a plain step on a batch of `stable`. At
 *          1 every expert is sampled with probability 2^-rate_bits; each gives
 *          the mean gradient of a few of its rows, rounded onto the lattice and
 *          clipped there to norm `clip`; their sum gets rounded Gaussian noise
 *          of variance clip^2 sigma2 per entry. It is scaled to noise of
 *          variance one: Adam does not see the scale, and the number of experts
 *          (private under adding and removing) is nowhere used.
 * Charge   all steps at once, before the first: sampled rounded Gaussian behind
 *          a public coin, one expert added or removed. A coin of 0 charges
 *          nothing.
 * Alone    an expert's gradient is computed by itself, in the same memory and
 *          shape for all, from its rows, the public seed and the iterate: no
 *          rounding in it depends on who else is in the sample. Which rows are
 *          taken follows from the same three, so that nobody's term changes
 *          when others join, leave or are numbered anew.
 * After    optimiser, target network and the average of iterates use noisy
 *          sums and public data only.
 * Errors   ASSAY_INVALID, ASSAY_BUDGET before anything is drawn.
 */
#ifndef ASSAY_ALGORITHMS_SELECTIVE_H
#define ASSAY_ALGORITHMS_SELECTIVE_H

#include <gmp.h>

#include "accountant/event.h"
#include "algorithms/offline.h"
#include "mechanisms/custodian.h"

typedef struct assay_selective_params {
    assay_offline_options offline;
    unsigned rate_bits;
    uint64_t num_steps;
    size_t rows_per_expert;
    size_t batch;        /* of a plain step */
    double private_rate; /* Adam, for private steps */
    double average;      /* weight of the old average of iterates */
    mpq_t coin;
    mpq_t clip;
    mpq_t sigma2; /* noise multiplier, squared */
} assay_selective_params;

void assay_selective_params_init(assay_selective_params *params,
                                 assay_offline_kind kind, const char *env);
void assay_selective_params_clear(assay_selective_params *params);

/** What a run charges; `event` is initialised by this call. */
void assay_selective_event(assay_event *event,
                           const assay_selective_params *params);

/**
 * sigma2 becomes the smallest multiplier (to three digits) with which all that
 * `before` lists and this run together stay within (epsilon, delta), by the
 * methods of the ledger: the accountant's quick ones, or all if the budget is
 * `planned`. What is charged depends on parameters alone, so it may be.
 * Errors  ASSAY_UNSUPPORTED, ASSAY_BUDGET: no noise is enough.
 */
assay_status assay_selective_calibrate(assay_selective_params *params,
                                       const assay_event_list *before,
                                       const mpq_t epsilon, const mpq_t delta,
                                       int planned,
                                       assay_error *err) ASSAY_MUST_CHECK;

/** The same for num_steps with sigma2 as it is: the most steps.
 *  Errors  ASSAY_BUDGET: not even one fits. */
assay_status assay_selective_most_steps(assay_selective_params *params,
                                        const assay_event_list *before,
                                        const mpq_t epsilon, const mpq_t delta,
                                        int planned,
                                        assay_error *err) ASSAY_MUST_CHECK;

/** What a run did; all of it is public. */
typedef struct assay_selective_report {
    uint64_t private_steps, plain_steps;
    size_t dimension;
    int step_bits;
} assay_selective_report;

/** `policy` is initialised by this call; `pool` may be NULL if the coin is 0,
 *  `stable` must have rows then (otherwise plain steps do nothing where it has
 *  none). `report` may be NULL. */
assay_status assay_selective_learn(
    assay_q_policy *policy, assay_selective_report *report, const char *env,
    const assay_transitions *stable, const assay_transitions *pool,
    size_t num_experts, const assay_selective_params *params,
    assay_custodian *custodian, assay_error *err) ASSAY_MUST_CHECK;

/** Onto the lattice of step 2^-bits and into the l2 ball of `radius` steps:
 *  afterwards the sum of squares is at most radius^2. NaN counts as 0. */
void assay_selective_bound(int64_t *out, const double *gradient, size_t n,
                           int bits, int64_t radius);

#endif
