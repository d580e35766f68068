/* ring: glue */
/**
 * Proximal policy optimisation, and the training of whole sets of experts.
 *
 * A few base policies are trained on the default environment, each the best of
 * three seeds (PPO gets stuck now and then); expert i starts from base i mod
 * num_bases and is trained further on its own variant, with its own seed. So
 * experts of one base agree more than experts trained from nothing would. The
 * variants are the grids of the expert-level paper: ten values each of gravity,
 * force and cart mass (CartPole), or of length and the two masses (Acrobot);
 * expert i takes setting 617 i mod 1000.
 *
 * Repeat  the result is a function of the options and the machine; it does not
 *         depend on the number of threads.
 * Public  experts are made here from simulators, for experiments. Nothing in
 *         this file is private.
 */
#ifndef ASSAY_ALGORITHMS_PPO_H
#define ASSAY_ALGORITHMS_PPO_H

#include "algorithms/control.h"
#include "algorithms/envrand.h"
#include "algorithms/experts.h"

typedef struct assay_ppo_options {
    size_t num_envs;  /* episodes that run side by side */
    size_t num_steps; /* of each, an iteration */
    size_t epochs;
    size_t batch;
    double gamma, lambda, clip, entropy, rate;
    int cap; /* steps of an episode */
} assay_ppo_options;

void assay_ppo_options_init(assay_ppo_options *options, const char *env);

/** A learner: policy, critic and the episodes under way. */
typedef struct assay_ppo assay_ppo;

assay_status assay_ppo_new(assay_ppo **out, const assay_control *env,
                           const assay_observation *see,
                           const assay_network *policy,
                           const assay_network *critic,
                           const assay_ppo_options *options, uint64_t seed,
                           uint64_t stream, assay_error *err) ASSAY_MUST_CHECK;
void assay_ppo_free(assay_ppo *ppo);
/** One iteration; gives the mean return of the episodes that ended in it
 *  (NaN if none did). `rate` scales the step size. */
double assay_ppo_iterate(assay_ppo *ppo, double rate);
const assay_network *assay_ppo_policy(const assay_ppo *ppo);
const assay_network *assay_ppo_critic(const assay_ppo *ppo);

typedef struct assay_training {
    const char *env;
    size_t count;
    size_t hidden; /* two layers of this width */
    double p_min;
    assay_softening softening;
    size_t num_bases;
    unsigned base_iterations;
    unsigned own_iterations;
    uint64_t seed;
    unsigned threads;
    void (*progress)(void *context, size_t done); /* of count; may be NULL */
    void *context;
} assay_training;

void assay_training_init(assay_training *training, const char *env);

/** The variant of expert i, e.g. "g=9.25;F=10;mc=0.85". */
void assay_training_variant(char out[ASSAY_VARIANT_LEN], const char *env,
                            size_t i);

assay_status assay_training_run(assay_experts **out,
                                const assay_training *training,
                                assay_error *err) ASSAY_MUST_CHECK;

#endif
