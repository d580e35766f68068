/* ring: glue */
/**
 * LunarLander as a control problem: many episodes at once in one object. The
 * hidden entry state[8] says which lander a state belongs to. Private to the
 * room.
 */
#ifndef ASSAY_ALGORITHMS_LANDER_WORLD_H
#define ASSAY_ALGORITHMS_LANDER_WORLD_H

#include "algorithms/control.h"
#include "algorithms/envrand.h"

/* the parameters p[] of the environment */
enum {
    ASSAY_LANDER_GRAVITY,
    ASSAY_LANDER_MAIN,
    ASSAY_LANDER_SIDE,
    ASSAY_LANDER_WIND,
    ASSAY_LANDER_TURBULENCE
};

/* Episodes that may be under way at once; one more ends the oldest. */
#define ASSAY_LANDER_SLOTS 256

/** NULL if there is no memory. */
void *assay_lander_world_new(const double *p);
void assay_lander_world_free(void *world);

/** A new episode in the array `state` (of ASSAY_CONTROL_ROOM doubles, zero
 *  before its first use), with all draws from `rand`. */
void assay_lander_world_start(void *world, double *state, assay_envrand *rand);

/** assay_control's step; a state that no start has made ends at once. */
void assay_lander_world_step(const assay_control *env, double *state,
                             int action, double *reward, int *terminated);

#endif
