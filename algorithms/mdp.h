/* ring: glue */
/**
 * Finite-horizon tabular Markov decision processes with a known model, and
 * exact planning and policy evaluation by dynamic programming.
 *
 * Steps are h = 0, ..., H-1 in memory (files count from 1). Rewards are
 * deterministic, in [0, 1], and public.
 */
#ifndef ASSAY_ALGORITHMS_MDP_H
#define ASSAY_ALGORITHMS_MDP_H

#include <stddef.h>
#include <stdint.h>

#include "algorithms/envrand.h"
#include "core/error.h"

/** The shape of a tabular problem: all of it is public. */
typedef struct assay_shape {
    uint32_t num_states;
    uint32_t num_actions;
    uint32_t horizon;
} assay_shape;

#define ASSAY_SHAPE_MAX_STATES 100000u
#define ASSAY_SHAPE_MAX_ACTIONS 100000u
#define ASSAY_SHAPE_MAX_HORIZON 10000u

/** Refuses a zero, one of the limits above, and more than 2^33 triples. */
assay_status assay_shape_check(const assay_shape *shape,
                               assay_error *err) ASSAY_MUST_CHECK;

/** H S A and H S A S. */
size_t assay_shape_pairs(const assay_shape *shape);
size_t assay_shape_triples(const assay_shape *shape);

/** The index of (h, s, a) in a table of pairs. */
static inline size_t assay_shape_pair(const assay_shape *shape, uint32_t h,
                                      uint32_t s, uint32_t a)
{
    return ((size_t)h * shape->num_states + s) * shape->num_actions + a;
}

typedef struct assay_mdp {
    assay_shape shape;
    double *transition; /* [h][s][a][s'], rows sum to 1 */
    double *reward;     /* [h][s][a]                    */
    double *initial;    /* [s]                          */
} assay_mdp;

/** Zeroed tables of the shape. */
assay_status assay_mdp_new(assay_mdp **out, const assay_shape *shape,
                           assay_error *err) ASSAY_MUST_CHECK;
void assay_mdp_free(assay_mdp *mdp);

/** One state drawn from a row of probabilities. */
uint32_t assay_mdp_draw(const double *row, uint32_t num_states,
                        assay_envrand *rand);

/** reset and step: the first state, and the state after (h, s, a). */
uint32_t assay_mdp_reset(const assay_mdp *mdp, assay_envrand *rand);
uint32_t assay_mdp_step(const assay_mdp *mdp, uint32_t h, uint32_t s,
                        uint32_t a, assay_envrand *rand);

/** A deterministic policy: action[h * S + s]. */
typedef struct assay_policy {
    assay_shape shape;
    uint32_t *action;
} assay_policy;

assay_status assay_policy_new(assay_policy **out, const assay_shape *shape,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_policy_free(assay_policy *policy);

/** The optimal value from the initial distribution; `best` may be NULL. Ties
 *  go to the lowest action. */
assay_status assay_mdp_optimum(double *value, assay_policy *best,
                               const assay_mdp *mdp,
                               assay_error *err) ASSAY_MUST_CHECK;

/** The exact value of a deterministic policy, and of a stochastic one
 *  (probabilities [h][s][a]; NULL means uniform over actions). */
assay_status assay_mdp_evaluate(double *value, const assay_mdp *mdp,
                                const assay_policy *policy,
                                assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_mdp_evaluate_mixed(double *value, const assay_mdp *mdp,
                                      const double *probability,
                                      assay_error *err) ASSAY_MUST_CHECK;

#endif
