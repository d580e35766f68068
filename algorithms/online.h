/* ring: glue */
/**
 * Online private learners in tabular episodic MDPs with costs in [0, 1]:
 * PRIVATE-UCB-VI and PRIVATE-UCB-PO (Chowdhury and Zhou), PUCB (Vietri et al.
 * 2020) and LDP-OB (Garcelon et al. 2021), over one privatizer.
 *
 * Board    everything the server knows: noisy running sums of visits N(h,s,a),
 *          transitions N(h,s,a,s') and costs C(h,s,a). Plans are functions of
 *          the board and public numbers alone.
 * Per user one unit in N(s,a), one in N(s,a,s') and a cost per step: under
 *          replacement l1 = 6 per step (4 without N(s,a)), l2^2 likewise.
 *          Costs are on a lattice of step 2^-cost_bits.
 * Central  tree counters. Laplace b = 6 H L/eps, Gaussian sigma^2 =
 *          6 H L/(2 rho), L = ceil(log2 K). Joint DP: what user k is told is a
 *          function of the board before her (made without her data) and her
 *          own data, so all others' outputs are eps-DP in hers (billboard).
 * Local    every user sends her noisy vector: b = 6 H/eps, sigma^2 =
 *          6 H/(2 rho). The server never sees the trajectory.
 *          Unary: the H transitions as one-hot values by optimised unary
 *          encoding with half of epsilon, (1-q)/q = e^(eps/(2H)) for each, and
 *          the costs by Laplace noise of scale 4H/eps with the other half;
 *          N(s,a) is a sum (triples_only).
 * None     the exact sums: not private.
 */
#ifndef ASSAY_ALGORITHMS_ONLINE_H
#define ASSAY_ALGORITHMS_ONLINE_H

#include <gmp.h>

#include "algorithms/mdp.h"
#include "algorithms/privatizer.h"

typedef enum assay_online_rule {
    ASSAY_UCB_VI = 0,
    ASSAY_UCB_PO,
    ASSAY_PUCB,
    ASSAY_LDP_OB
} assay_online_rule;

typedef enum assay_trust {
    ASSAY_TRUST_NONE = 0,
    ASSAY_TRUST_CENTRAL,
    ASSAY_TRUST_LOCAL
} assay_trust;

typedef struct assay_online_params {
    assay_online_rule rule;
    assay_trust trust;
    assay_noise noise;  /* laplace, gaussian; locally unary too */
    mpq_t budget;       /* epsilon or rho */
    uint64_t episodes;  /* K, public, at least 2 */
    int triples_only;   /* N(s,a) is a sum of triples: 6 becomes 4 */
    unsigned cost_bits; /* lattice of the costs, at most 20 */
    double bonus_scale; /* times the statistical bonus (paper: 1) */
    double width_scale; /* times E_1 and E_2 (paper: 1) */
    double failure;
} assay_online_params;

/** UCB-VI, not private, 1000 episodes, cost_bits 10, scales 0.05 and 0.005
 *  (practical; the paper's are 1 and 1), failure 0.1. */
void assay_online_params_init(assay_online_params *params);
void assay_online_params_clear(assay_online_params *params);

/** One step of a user's episode; the cost is in [0, 1]. */
typedef struct assay_online_step {
    uint32_t s, a, s_next;
    double cost;
} assay_online_step;

typedef struct assay_online assay_online;

/** Charges the whole run: nothing is charged afterwards. `custodian` may be
 *  NULL without privacy and must outlive the learner otherwise. */
assay_status assay_online_new(assay_online **out, const assay_shape *shape,
                              const assay_online_params *params,
                              struct assay_custodian *custodian,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_online_free(assay_online *learner);

/** The policy for the next user: plans if the board has changed. Returns 1 if
 *  it may differ from the one before, else 0. */
int assay_online_plan(assay_online *learner);

/** The action for (h, s): greedy, or drawn from the mixed policy (UCB-PO). */
uint32_t assay_online_act(const assay_online *learner, uint32_t h, uint32_t s,
                          assay_envrand *rand);

/** The current policy as probabilities [h][s][a], or actions [h][s]; the one
 *  that does not apply is NULL. */
const double *assay_online_mixed(const assay_online *learner);
const assay_policy *assay_online_policy(const assay_online *learner);

/** A user's whole episode (H steps), privatized and put on the board. */
assay_status assay_online_observe(assay_online *learner,
                                  const assay_online_step *steps,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** The l1 (and squared l2) sensitivity of one user's contribution in units of
 *  b: 6H, or 4H with triples_only. */
uint64_t assay_online_sensitivity(const assay_online_params *params,
                                  const assay_shape *shape);

/** L = ceil(log2 K), at least 1: the tree nodes that a user is in. */
uint64_t assay_online_levels(uint64_t episodes);

/** E_1 and E_2 of the privatizer, before width_scale. */
void assay_online_widths(double *pairs, double *triples,
                         const assay_online_params *params,
                         const assay_shape *shape);

#endif
