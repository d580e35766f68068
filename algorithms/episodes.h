/* ring: glue */
/**
 * Episodes for policy evaluation: each person contributes one, of any length.
 *
 * A step has the feature vectors of its two states (numbers of vectors in a
 * pool), a reward and an importance weight. ASSAY_TERMINAL stands for the zero
 * vector behind the end. Weights are clipped to [0, max_weight] when a step is
 * added, with max_weight public.
 */
#ifndef ASSAY_ALGORITHMS_EPISODES_H
#define ASSAY_ALGORITHMS_EPISODES_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_TERMINAL UINT32_MAX
#define ASSAY_EPISODES_MAX_STEPS ((size_t)1 << 31)

typedef struct assay_episodes {
    size_t dim;
    double max_weight;
    double fixed_length; /* 0: an episode is divided by its own length */
    /* vectors, only what is not zero: entries v_start[i] .. v_start[i+1] */
    size_t num_vectors, vector_room;
    size_t *v_start;
    size_t entry_room;
    uint32_t *v_index;
    double *v_value;
    /* episode i has the steps start[i] .. start[i+1] */
    size_t num_episodes, episode_room;
    size_t *start;
    size_t num_steps, step_room;
    uint32_t *at, *next;
    double *reward, *weight;
} assay_episodes;

assay_status assay_episodes_new(assay_episodes **out, size_t dim,
                                double max_weight,
                                assay_error *err) ASSAY_MUST_CHECK;
/** Wipes and frees. */
void assay_episodes_free(assay_episodes *episodes);

assay_status assay_episodes_add_vector(assay_episodes *episodes,
                                       const double *vector, uint32_t *number,
                                       assay_error *err) ASSAY_MUST_CHECK;
/** The unit vectors as vectors 0 .. dim-1. */
assay_status assay_episodes_add_units(assay_episodes *episodes,
                                      assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_episodes_add_step(assay_episodes *episodes, uint32_t at,
                                     uint32_t next, double reward,
                                     double weight,
                                     assay_error *err) ASSAY_MUST_CHECK;
/** Ends an episode; one without steps is refused. */
assay_status assay_episodes_end(assay_episodes *episodes,
                                assay_error *err) ASSAY_MUST_CHECK;

/** What a step of the episode counts: 1/tau as printed, or 1/fixed_length. With
 *  1/tau the fixed point is in general not the value: a long stay counts less.
 */
static inline double assay_episodes_share(const assay_episodes *episodes,
                                          size_t i)
{
    return episodes->fixed_length > 0.0
               ? 1.0 / episodes->fixed_length
               : 1.0 / (double)(episodes->start[i + 1] - episodes->start[i]);
}

/** vector . x, and y += scale vector; ASSAY_TERMINAL is zero. */
double assay_episodes_dot(const assay_episodes *episodes, uint32_t vector,
                          const double *x);
void assay_episodes_axpy(const assay_episodes *episodes, uint32_t vector,
                         double scale, double *y);

/**
 * Reads tabular episodes: CSV with the columns user, s, r, s_next and
 * optionally w; users are whole numbers in increasing order, so the rows of
 * one are together. s is from 0 to S-1, s_next too or `end`. One-hot features.
 */
assay_status assay_episodes_read(assay_episodes **out, const char *path,
                                 size_t num_states, double max_weight,
                                 assay_error *err) ASSAY_MUST_CHECK;

/**
 * The chain of n states, the last one absorbing: begin in one of the others,
 * uniformly, advance with probability 1/2, reward 1 on reaching the end.
 * One-hot features of the n-1 states that have a value.
 */
assay_status assay_episodes_chain(assay_episodes **out, size_t num_states,
                                  size_t num_episodes, uint64_t seed,
                                  assay_error *err) ASSAY_MUST_CHECK;

#endif
