/* ring: glue */
/**
 * Online learners in simulated environments: regret curves.
 *
 * The environment's randomness is seeded; the noise never is.
 */
#ifndef ASSAY_ALGORITHMS_SIMULATE_H
#define ASSAY_ALGORITHMS_SIMULATE_H

#include "algorithms/dp_apvi.h"
#include "algorithms/mdp.h"
#include "algorithms/online.h"
#include "algorithms/vtr.h"
#include "core/progress.h"

/** A regret curve: cumulative pseudo-regret after `episode[i]` episodes. */
typedef struct assay_curve {
    size_t num_points;
    uint64_t *episode;
    double *regret;
} assay_curve;

/** About `num_points` checkpoints, evenly spread, the last one at K. */
assay_status assay_curve_init(assay_curve *curve, uint64_t episodes,
                              size_t num_points,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_curve_clear(assay_curve *curve);

/** One episode of the learner's present policy; a cost is 1 - reward. */
void assay_simulate_episode(assay_online_step *steps,
                            const assay_online *learner, const assay_mdp *mdp,
                            assay_envrand *rand);

/** One run of K episodes: sum over users of V* - V(policy of the user), exact
 *  values. `seed` and `run` choose the environment's stream. */
assay_status assay_simulate_online(assay_curve *curve, const assay_mdp *mdp,
                                   const assay_online_params *params,
                                   struct assay_custodian *custodian,
                                   uint64_t seed, uint64_t run,
                                   assay_progress *meter,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** The same for (LDP-)UCRL-VTR: each user gets the model, plans, acts and sends
 *  her report. */
assay_status assay_simulate_vtr(assay_curve *curve, const assay_mdp *mdp,
                                const assay_vtr_params *params,
                                struct assay_custodian *custodian,
                                uint64_t seed, uint64_t run,
                                assay_progress *meter,
                                assay_error *err) ASSAY_MUST_CHECK;

/** DP-APVI (or APVI) on `num_users` simulated trajectories of the behaviour
 *  policy [h][s][a]: *gap is V* minus the exact value of what it learned. */
assay_status assay_simulate_dp_apvi(double *gap, const assay_mdp *mdp,
                                    const double *behaviour, uint64_t num_users,
                                    const assay_dp_apvi_params *params,
                                    struct assay_custodian *custodian,
                                    uint64_t seed,
                                    assay_error *err) ASSAY_MUST_CHECK;

#endif
