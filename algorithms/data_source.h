/* ring: glue */
/**
 * Where a release of prefixes gets trajectories from: played or logged. And an
 * expert's policy on the lattice of prefix counts. Private to the room.
 */
#ifndef ASSAY_ALGORITHMS_DATA_SOURCE_H
#define ASSAY_ALGORITHMS_DATA_SOURCE_H

#include "algorithms/control.h"
#include "algorithms/envrand.h"
#include "algorithms/experts.h"
#include "algorithms/transitions.h"
#include "mechanisms/tape.h"

/** p_min in steps of 2^-30, rounded down; 0 if it is not a probability. */
int64_t assay_policy_least(double p_min);

/** Expert i's probabilities in steps of 2^-30: at least `least`, sum exactly
 *  one. What is no number counts as `least`. */
void assay_policy_weights(int64_t *weight, const assay_experts *experts,
                          size_t i, const double *state, int64_t least);

typedef struct assay_data_source {
    const assay_experts *experts;
    size_t who;
    /* played */
    const assay_control *env; /* NULL: logged */
    assay_tape *tape;
    assay_envrand nature;
    int64_t least;
    int over;
    double state[ASSAY_TRANSITIONS_MAX_DIM];
    double before[ASSAY_TRANSITIONS_MAX_DIM];
    /* logged: first[i] is the row of expert i's next trajectory */
    const assay_transitions *pool;
    size_t *first;
    size_t at;
} assay_data_source;

assay_status assay_data_source_play(assay_data_source *out,
                                    const assay_experts *experts,
                                    const assay_control *env, assay_tape *tape,
                                    int64_t least,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** Refuses a pool in which some expert has fewer than `least` trajectories, or
 *  whose rows of one expert do not stand together. */
assay_status assay_data_source_logged(assay_data_source *out,
                                      const assay_experts *experts,
                                      const assay_transitions *pool,
                                      uint64_t least,
                                      assay_error *err) ASSAY_MUST_CHECK;

void assay_data_source_clear(assay_data_source *source);

/** A fresh trajectory of expert `who`. */
assay_status assay_data_source_begin(assay_data_source *source, size_t who,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** Its next row; *more is 0 where the trajectory is over. The row's pointers
 *  hold until the next call. */
assay_status assay_data_source_next(assay_data_source *source,
                                    assay_transition *row, int *more,
                                    assay_error *err) ASSAY_MUST_CHECK;

#endif
