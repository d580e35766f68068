/* ring: glue */
/**
 * Transitions of control problems: what experts did, row by row.
 *
 * File    CSV with the header `expert,trajectory,t,s0,..,a,r,n0,..,done`: the
 *         expert and its trajectory (whole numbers), the step from 0, the state
 *         before, the action, the reward, the state after, and 1 if the
 *         episode ended there (a length cap is not an end). Doubles are
 *         written so that reading gives the same bits. A name that ends in .bin
 *         is a checkpoint (kind "transitions") with the same columns.
 * Order   rows of one expert's trajectory stand together, t = 0, 1, 2, ...
 * Errors  ASSAY_INVALID with file line and column; ASSAY_IO; ASSAY_MEMORY.
 */
#ifndef ASSAY_ALGORITHMS_TRANSITIONS_H
#define ASSAY_ALGORITHMS_TRANSITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_TRANSITIONS_MAX_DIM 16

typedef struct assay_transitions {
    size_t dim; /* of a state */
    int num_actions;
    size_t num_rows, capacity;
    uint32_t *expert, *trajectory, *t;
    double *states; /* [row][dim] */
    int32_t *actions;
    double *rewards;
    double *next_states; /* [row][dim] */
    uint8_t *done;
} assay_transitions;

/** One row for adding. */
typedef struct assay_transition {
    uint32_t expert, trajectory, t;
    const double *state;
    int action;
    double reward;
    const double *next_state;
    int done;
} assay_transition;

void assay_transitions_init(assay_transitions *out, size_t dim,
                            int num_actions);
void assay_transitions_clear(assay_transitions *rows);

/** Copies a row to the end; refuses an action out of range and numbers that
 *  are not finite. */
assay_status assay_transitions_add(assay_transitions *rows,
                                   const assay_transition *row,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** All rows of `more`, the same shape. */
assay_status assay_transitions_join(assay_transitions *rows,
                                    const assay_transitions *more,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** A number that follows from the contents of `num` rows alone, not from where
 *  they stand or whose they are called. */
uint64_t assay_transitions_key(const assay_transitions *rows, size_t first,
                               size_t num);

assay_status assay_transitions_save(const char *path,
                                    const assay_transitions *rows,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** `out` is initialised by this call, on success only. */
assay_status assay_transitions_load(assay_transitions *out, const char *path,
                                    size_t dim, int num_actions,
                                    assay_error *err) ASSAY_MUST_CHECK;

#endif
