/* ring: glue */
/**
 * The private statistic of a tabular dataset: how many users were in (s, a) at
 * step h, and how many went from there to s'.
 *
 * One array of int64_t holds the pairs [h][s][a] and behind them the triples
 * [h][s][a][s'], so that one release covers both.
 *
 * Unit         a user contributes one trajectory: one pair and one triple per
 *              step. Neighbours: one user's trajectory is replaced, the number
 *              of users is public.
 * Sensitivity  a replaced trajectory changes at most 2 pairs and 2 triples per
 *              step by 1: l1 = 4H and l2^2 = 4H; the triples alone 2H and 2H
 *              [Theorem: visit-counts-sensitivity; algorithms/visits.h].
 *              (Different triples may share a pair, or pairs be the same:
 *              then it is less.)
 * Range        counts are at most the number of users, below 2^31.
 */
#ifndef ASSAY_ALGORITHMS_COUNTS_H
#define ASSAY_ALGORITHMS_COUNTS_H

#include "algorithms/mdp.h"
#include "algorithms/visits.h"

#define ASSAY_COUNTS_MAX_USERS ((UINT64_C(1) << 31) - 1)

typedef struct assay_counts {
    assay_shape shape;
    uint64_t num_users;
    size_t num_pairs;
    size_t num_triples;
    int64_t *cell; /* num_pairs + num_triples */
} assay_counts;

assay_status assay_counts_new(assay_counts **out, const assay_shape *shape,
                              assay_error *err) ASSAY_MUST_CHECK;

/** Wipes and frees. */
void assay_counts_free(assay_counts *counts);

/** Adds one transition; all three are within the shape. */
static inline void assay_counts_add(assay_counts *counts, uint32_t h,
                                    uint32_t s, uint32_t a, uint32_t s_next)
{
    const assay_shape *shape = &counts->shape;
    size_t pair = assay_visits_pair(shape->horizon, shape->num_states,
                                    shape->num_actions, h, s, a);
    size_t triple = counts->num_pairs + pair * shape->num_states + s_next;
    assay_visits_add(counts->cell, counts->num_pairs + counts->num_triples,
                     pair, triple);
}

typedef struct assay_visit {
    uint32_t s, a;
} assay_visit;

/** Adds a trajectory: H visits and behind them the state that it ends in, all
 *  within the shape. */
void assay_counts_add_all(assay_counts *counts, const assay_visit *visit);

/** `into` += `from`: integers, so the order of merging does not matter. */
void assay_counts_merge(assay_counts *into, const assay_counts *from);

/** l1 and squared l2 distance of two statistics of one shape, over the pairs
 *  and triples, or the triples alone. */
void assay_counts_distance(int64_t *l1, int64_t *l2_squared,
                           const assay_counts *left, const assay_counts *right,
                           int triples_only);

/** Simulates `num_users` trajectories under a policy [h][s][a] and counts
 *  them; with `seed` the same users again. */
assay_status assay_counts_simulate(assay_counts **out, const assay_mdp *mdp,
                                   const double *behaviour, uint64_t num_users,
                                   uint64_t seed,
                                   assay_error *err) ASSAY_MUST_CHECK;

#endif
