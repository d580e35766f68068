/* ring: glue */
/**
 * APVI and DP-APVI (Qiao and Wang, Algorithm 1): private offline learning in a
 * tabular, time-inhomogeneous MDP by pessimistic value iteration.
 *
 * Release  all counts of algorithms/counts.h leave once, through the custodian:
 *          Gaussian, sigma^2 = 2H/rho (l2^2 = 4H), or Laplace, scale 4H/eps
 *          (l1 = 4H); the triples alone: sigma^2 = H/rho (l2^2 = 2H), or
 *          scale 2H/eps (l1 = 2H).
 *          Any other split of the budget: pairs and triples leave in two
 *          releases, sigma^2 = H/(share rho) or scale 2H/(share eps) each.
 * Theorem  rho-zCDP, or epsilon-DP, under replacement of one user's trajectory
 *          with the number of users public. All that follows the release is a
 *          function of released integers and public parameters.
 * Public   shape, rewards, every field of the parameters, number of users.
 * Errors   whatever is wrong with parameters is found before any charge.
 */
#ifndef ASSAY_ALGORITHMS_DP_APVI_H
#define ASSAY_ALGORITHMS_DP_APVI_H

#include <gmp.h>

#include "algorithms/counts.h"
#include "algorithms/privatizer.h"

typedef enum assay_penalty {
    ASSAY_PENALTY_BERNSTEIN = 0,
    ASSAY_PENALTY_HOEFFDING
} assay_penalty;

typedef enum assay_preset {
    ASSAY_PRESET_PAPER = 0, /* C1 = sqrt 2, C2 = 16                     */
    ASSAY_PRESET_PRACTICAL  /* C1 = 0.1, C2 = 0.001                     */
} assay_preset;

typedef struct assay_dp_apvi_params {
    assay_noise noise;
    mpq_t budget; /* rho or epsilon; unused without noise */
    assay_penalty penalty;
    int triples_only; /* release the triples alone, pairs are their sums */
    mpq_t pair_share; /* of the budget: 1/2 is one release of all counts, else
                         pairs and triples leave in two with their shares */
    double c1, c2;    /* weights of the penalty's two terms              */
    double c;         /* penalty C H where the count is within its noise */
    double failure;   /* delta of the confidence widths, not of privacy  */
    uint32_t num_threads;
} assay_dp_apvi_params;

/** The preset, Gaussian noise, rho = 1, even split, Bernstein, failure 0.1, one
 *  thread. */
void assay_dp_apvi_params_init(assay_dp_apvi_params *params,
                               assay_preset preset);
void assay_dp_apvi_params_clear(assay_dp_apvi_params *params);

assay_status assay_dp_apvi_params_check(const assay_dp_apvi_params *params,
                                        const assay_shape *shape,
                                        assay_error *err) ASSAY_MUST_CHECK;

/** Every one of the H S A rewards is in [0, 1]. */
assay_status assay_dp_apvi_rewards_check(const double *rewards,
                                         const assay_shape *shape,
                                         assay_error *err) ASSAY_MUST_CHECK;

/** l1 (Laplace) or squared l2 (Gaussian) sensitivity of what is released at
 *  once: 4H, or 2H for pairs or triples alone. */
uint64_t assay_dp_apvi_sensitivity(const assay_dp_apvi_params *params,
                                   const assay_shape *shape);

/**
 * Half of E_rho and what goes with it: with probability 1 - failure no
 * released triple is off by more than E/2 = `triple`, no pair by `pair`.
 * Full counts: both are E_rho/2 = sigma sqrt(2 log(4 H S^2 A/failure)), that is
 * E_rho = 4 sqrt(H log(4 H S^2 A/failure)/rho). 0 without noise.
 */
typedef struct assay_dp_apvi_widths {
    double triple;
    double pair;
} assay_dp_apvi_widths;

void assay_dp_apvi_widths_get(assay_dp_apvi_widths *out,
                              const assay_dp_apvi_params *params,
                              const assay_shape *shape);

/**
 * The only step that sees private data: `released` (fresh memory, of the same
 * shape) gets noisy integers; with triples_only its pairs are sums of noisy
 * triples. `custodian` may be NULL without noise, which copies.
 */
assay_status assay_dp_apvi_release(assay_counts **released,
                                   const assay_counts *counts,
                                   const assay_dp_apvi_params *params,
                                   struct assay_custodian *custodian,
                                   assay_error *err) ASSAY_MUST_CHECK;

/**
 * Post-processing: projection, pessimistic value iteration, policy. `rewards`
 * is [h][s][a] in [0, 1]. Ties within 2^-30 go to the lowest action. The
 * result does not depend on the number of threads. `value` (the pessimistic
 * value of each first state, [s]) may be NULL.
 */
assay_status assay_dp_apvi_plan(assay_policy **out, double *value,
                                const assay_counts *released,
                                const double *rewards,
                                const assay_dp_apvi_params *params,
                                assay_error *err) ASSAY_MUST_CHECK;

/** Release and plan. */
assay_status assay_dp_apvi_learn(assay_policy **out, const assay_counts *counts,
                                 const double *rewards,
                                 const assay_dp_apvi_params *params,
                                 struct assay_custodian *custodian,
                                 assay_error *err) ASSAY_MUST_CHECK;

#endif
