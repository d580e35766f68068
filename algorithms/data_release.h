/* ring: glue */
/**
 * DataRelease: trajectory prefixes that enough experts would have produced, as
 * data that needs no more noise (Sharma et al., stage 1, with the corrections
 * of docs/paper-claims.md).
 *
 * Draw    T times: an expert, uniformly and with replacement, and a fresh
 *         trajectory of that expert: played in the environment, or the next of
 *         the expert's stage-1 pool. It never comes back: what stage 2 reads is
 *         another pool.
 * Ask     prefix by prefix, at most `cap` (public) steps, whether the count
 *         of experts who would act like that passes the noisy threshold
 *         (mechanisms/stable_prefix.h; counts: algorithms/prefix_count.h).
 * Out     the longest prefix with only yes answers, with its last next state.
 *         `trajectory` is the number of the draw; `expert` is always 0: who it
 *         was does not leave.
 * Policy  an expert's probabilities are rounded to multiples of 2^-30, at least
 *         p_min, sum exactly 1. Actions are drawn by these, and counts use
 *         them, so the guarantee is about this policy. For a logged pool it
 *         is an assumption that its actions were drawn so.
 * Unit    one expert, added or removed. The guarantee is over the generation
 *         of the trajectories, given the experts; the environment is public.
 * Errors  before the charge: ASSAY_INVALID, ASSAY_RANGE (epsilon too small),
 *         ASSAY_BUDGET. After it only the tape, memory, and what is marked
 *         below; nothing is released then.
 */
#ifndef ASSAY_ALGORITHMS_DATA_RELEASE_H
#define ASSAY_ALGORITHMS_DATA_RELEASE_H

#include "accountant/stable.h"
#include "algorithms/control.h"
#include "algorithms/experts.h"
#include "algorithms/transitions.h"

struct assay_custodian;

typedef struct assay_data_release_params {
    assay_stable_bar bar;
    uint64_t num_draws;  /* T */
    uint64_t cap;        /* public length cap */
    uint64_t population; /* a public bound on the number of experts; 0 is
                            ASSAY_EXPERTS_MAX */
    mpq_t epsilon, delta;
} assay_data_release_params;

/** Normalised, 25 draws, cap 200, no public bound; epsilon and delta 0. */
void assay_data_release_params_init(assay_data_release_params *params);
void assay_data_release_params_clear(assay_data_release_params *params);

/** What was released, and how. All of it is public. */
typedef struct assay_data_release_report {
    size_t num_prefixes; /* longer than 0 */
    size_t num_rows;
    size_t longest;
    int64_t threshold; /* in steps, ASSAY_PREFIX_UNIT is one expert */
    assay_stable_plan plan;
} assay_data_release_report;

void assay_data_release_report_init(assay_data_release_report *report);
void assay_data_release_report_clear(assay_data_release_report *report);

/**
 * The plan and threshold, from public values alone; nothing is charged.
 * `p_min` is the experts' public bound, `num_actions` the environment's.
 */
assay_status assay_data_release_plan(assay_data_release_report *report,
                                     const assay_data_release_params *params,
                                     double p_min, int num_actions,
                                     assay_error *err) ASSAY_MUST_CHECK;

/**
 * Plays the trajectories in `env` (the default environment; its start and
 * nature's draws are seeded by the tape). `out` is initialised by this call,
 * on success only.
 */
assay_status assay_data_release_play(assay_transitions *out,
                                     assay_data_release_report *report,
                                     const assay_experts *experts,
                                     const assay_control *env,
                                     const assay_data_release_params *params,
                                     struct assay_custodian *custodian,
                                     assay_error *err) ASSAY_MUST_CHECK;

/**
 * Takes the trajectories from `pool`: the k-th time an expert is drawn, the
 * k-th of its trajectories. Every expert must have at least T of them (checked
 * before the charge: the data's owner mends the pool).
 */
assay_status assay_data_release_logged(assay_transitions *out,
                                       assay_data_release_report *report,
                                       const assay_experts *experts,
                                       const assay_transitions *pool,
                                       const assay_data_release_params *params,
                                       struct assay_custodian *custodian,
                                       assay_error *err) ASSAY_MUST_CHECK;

/**
 * Two pools per expert: the first `first` trajectories of each expert go to
 * `stage1`, the rest to `stage2`; both are initialised by this call, on
 * success only.
 */
assay_status assay_data_release_split(assay_transitions *stage1,
                                      assay_transitions *stage2,
                                      const assay_transitions *rows,
                                      uint32_t first,
                                      assay_error *err) ASSAY_MUST_CHECK;

#endif
