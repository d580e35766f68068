/* ring: glue */
/**
 * Control problems with continuous states: CartPole, Acrobot, Mountain Car and
 * the HIV treatment simulator (Ernst et al. 2006). One deterministic function
 * per step; where a start is random the caller draws it.
 *
 * Bit-exact with the recorded trajectories where the arithmetic is simple
 * (CartPole, Mountain Car); `assay env replay` measures the rest.
 */
#ifndef ASSAY_ALGORITHMS_CONTROL_H
#define ASSAY_ALGORITHMS_CONTROL_H

#include <stddef.h>

#include "core/error.h"

#define ASSAY_CONTROL_MAX_DIM 6

typedef struct assay_control {
    const char *name;
    size_t dim;
    int num_actions;
    int cap; /* steps of an episode */
    /* parameters that variants change; meaning by environment */
    double p[8];
    /* state in place; *terminated is 1 at the end of an episode */
    void (*step)(const struct assay_control *env, double *state, int action,
                 double *reward, int *terminated);
} assay_control;

/**
 * By name: "cartpole", "acrobot", "mountaincar", "hiv-dt20", "hiv-dt5".
 * `variant` (may be NULL) is a list like "g=9.8;F=10;mc=1" (CartPole: gravity,
 * force, cart mass) or "l=1;m1=1;m2=1" (Acrobot); unknown keys are refused.
 */
assay_status assay_control_find(assay_control *out, const char *name,
                                const char *variant, assay_error *err)
    ASSAY_MUST_CHECK;

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
