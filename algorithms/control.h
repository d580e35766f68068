/* ring: glue */
/**
 * Control problems with continuous states: CartPole, Acrobot, Mountain Car,
 * LunarLander and the HIV treatment simulator (Ernst et al. 2006). One
 * deterministic function per step; where a start is random the caller draws it.
 * LunarLander alone has a memory beyond its state (algorithms/lander.h): it is
 * started by assay_rollout_start, and a state has room for
 * ASSAY_CONTROL_ROOM doubles, the last of which are the environment's.
 *
 * Bit-exact with the recorded trajectories where the arithmetic is simple
 * (CartPole, Mountain Car); `assay env replay` measures the rest.
 */
#ifndef ASSAY_ALGORITHMS_CONTROL_H
#define ASSAY_ALGORITHMS_CONTROL_H

#include <stddef.h>

#include "core/error.h"

#define ASSAY_CONTROL_MAX_DIM 8
#define ASSAY_CONTROL_ROOM 16 /* doubles of a state, hidden ones too */

typedef struct assay_control {
    const char *name;
    size_t dim;
    int num_actions;
    int cap; /* steps of an episode */
    /* parameters that variants change; meaning by environment */
    double p[8];
    void *world; /* LunarLander: the physics; else NULL */
    /* state in place; *terminated is 1 at the end of an episode */
    void (*step)(const struct assay_control *env, double *state, int action,
                 double *reward, int *terminated);
} assay_control;

/**
 * By name: "cartpole", "acrobot", "mountaincar", "lunarlander", "hiv-dt20",
 * "hiv-dt5". `variant` (may be NULL) is a list like "g=9.8;F=10;mc=1"
 * (CartPole: gravity, force, cart mass), "l=1;m1=1;m2=1" (Acrobot),
 * "g=10;main=13;side=0.6;wind=0;turb=0" (LunarLander: gravity, engine powers,
 * wind and turbulence) or "q1=20000;q2=2000" (HIV: penalties of the two drugs);
 * unknown keys are refused. Clear it when done.
 */
assay_status assay_control_find(assay_control *out, const char *name,
                                const char *variant,
                                assay_error *err) ASSAY_MUST_CHECK;

/** Frees the world of a LunarLander; copies of `env` share it. */
void assay_control_clear(assay_control *env);

/** What a replay of a recorded file found. */
typedef struct assay_replay {
    size_t num_steps;
    size_t num_exact; /* every number the same to the last bit */
    double max_absolute;
    double max_relative;
    size_t num_flags_wrong; /* reward or end of episode differs */
} assay_replay;

/**
 * Recomputes a recorded file: header `tag,seed,t,action,STATE...,reward[,
 * terminated]`; each step starts from the recorded state. Rows whose tag
 * starts with `only` (may be NULL) are used.
 */
assay_status assay_control_replay(assay_replay *out, const char *name,
                                  const char *path, const char *only,
                                  assay_error *err) ASSAY_MUST_CHECK;

#endif
