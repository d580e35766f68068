/* ring: glue */
/**
 * Episodes of control problems: starts, expert demonstrations, evaluation.
 * Nature's randomness is seeded and reproducible (algorithms/envrand.h).
 */
#ifndef ASSAY_ALGORITHMS_ROLLOUT_H
#define ASSAY_ALGORITHMS_ROLLOUT_H

#include "algorithms/control.h"
#include "algorithms/envrand.h"
#include "algorithms/experts.h"
#include "algorithms/transitions.h"

/** A start as in Gymnasium (CartPole, Acrobot, Mountain Car, LunarLander), or
 *  the unhealthy state (HIV). `state` has ASSAY_CONTROL_ROOM doubles, zero
 *  before the first start. */
void assay_rollout_start(const assay_control *env, double *state,
                         assay_envrand *rand);

/** An index drawn from probabilities. */
int assay_rollout_choose(const double *probs, int n, assay_envrand *rand);

/** One trajectory of expert i in `env`, at most `cap` steps, added to `out`. */
assay_status assay_rollout_expert(assay_transitions *out,
                                  const assay_experts *experts, size_t i,
                                  const assay_control *env, int cap,
                                  uint32_t trajectory, assay_envrand *rand,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** `num` trajectories of every expert; trajectory k of expert i depends on
 *  (seed, i, k) alone. `out` is initialised by this call. */
assay_status assay_rollout_all(assay_transitions *out,
                               const assay_experts *experts,
                               const assay_control *env, uint32_t num, int cap,
                               uint64_t seed,
                               assay_error *err) ASSAY_MUST_CHECK;

/** A deterministic policy: the action in an observation. */
typedef int assay_act(const void *policy, const double *seen);

/** Returns of `episodes` episodes of at most `cap` steps each, in `out`;
 *  gives their mean. */
double assay_rollout_evaluate(double *out, const assay_control *env,
                              const assay_observation *see, assay_act *act,
                              const void *policy, size_t episodes, int cap,
                              uint64_t seed);

#endif
