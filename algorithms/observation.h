/* ring: glue */
/**
 * What a network sees of a state: a fixed, public function per environment,
 * scaled to about [-1, 1]; angles as sine and cosine.
 */
#ifndef ASSAY_ALGORITHMS_OBSERVATION_H
#define ASSAY_ALGORITHMS_OBSERVATION_H

#include <stddef.h>

#include "core/error.h"

#define ASSAY_OBSERVATION_MAX 8

typedef struct assay_observation {
    size_t state_dim, dim;
    int num_actions;
    void (*see)(const double *state, double *out);
} assay_observation;

/** By the environment's name: cartpole, acrobot, mountaincar, lunarlander,
 *  hiv-dt20, hiv-dt5. */
assay_status assay_observation_find(assay_observation *out, const char *env,
                                    assay_error *err) ASSAY_MUST_CHECK;

#endif
