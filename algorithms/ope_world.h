/* ring: glue */
/**
 * Simulated people for policy evaluation, with a model to measure against.
 *
 *   chain, chain:N    the chain of 40 (N) states; its model is exact
 *   mountaincar       Mountain Car, on-policy: epsilon-greedy on a value that
 *                     Q-learning found, Fourier basis of order 5
 *   mountaincar-off   the same data, evaluated for the uniform policy
 *   hiv-off           HIV (20-day steps), behaviour softmax, target greedy on a
 *                     value that Q-learning found; Fourier basis of order 1 on
 *                     the logarithms of the six quantities
 *
 * Behaviour policies are learned from public simulation and cover every action,
 * so that weights exist. Models of the control problems are means over fresh
 * simulated episodes (2000), measured like the data.
 */
#ifndef ASSAY_ALGORITHMS_OPE_WORLD_H
#define ASSAY_ALGORITHMS_OPE_WORLD_H

#include "algorithms/ope.h"

typedef struct assay_world_options {
    uint64_t num_episodes;
    uint64_t seed;
    double gamma;
    double max_weight;
    double fixed_length;
} assay_world_options;

assay_status assay_world_open(assay_episodes **data, assay_ope_model **truth,
                              const char *name,
                              const assay_world_options *options,
                              assay_error *err) ASSAY_MUST_CHECK;

#endif
