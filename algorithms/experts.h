/* ring: glue */
/**
 * A set of experts: stochastic policies of one environment, whose owners are
 * the persons that expert-level privacy protects.
 *
 * Policy  a network (or a linear map: a network of one layer) gives scores;
 *         they are softened so that every action has a probability in
 *         [p_min, 1 - (A - 1) p_min], whatever the state:
 *         greedy   the best action gets the upper end, all others p_min;
 *         softmax  p_min + (1 - A p_min) softmax(scores).
 * File    one checkpoint (kind "experts") for the whole set: environment, the
 *         variant that each expert was trained on, the shape, all parameters.
 * Errors  as algorithms/checkpoint.h.
 */
#ifndef ASSAY_ALGORITHMS_EXPERTS_H
#define ASSAY_ALGORITHMS_EXPERTS_H

#include "algorithms/network.h"
#include "algorithms/observation.h"

#define ASSAY_EXPERTS_MAX 100000
#define ASSAY_EXPERTS_MAX_ACTIONS 8
#define ASSAY_VARIANT_LEN 64
#define ASSAY_ENV_NAME_LEN 32

typedef enum assay_softening {
    ASSAY_SOFTEN_GREEDY = 0,
    ASSAY_SOFTEN_SOFTMAX
} assay_softening;

typedef struct assay_experts {
    char env[ASSAY_ENV_NAME_LEN];
    assay_observation see;
    assay_softening softening;
    double p_min;
    size_t count;
    assay_network shape; /* its parameters are those of all experts */
    char (*variants)[ASSAY_VARIANT_LEN];
} assay_experts;

/** `count` experts with parameters zero; `hidden` lists the hidden widths. */
assay_status assay_experts_new(assay_experts **out, const char *env,
                               size_t count, const size_t *hidden,
                               size_t num_hidden, assay_activation activation,
                               assay_softening softening, double p_min,
                               assay_error *err) ASSAY_MUST_CHECK;
void assay_experts_free(assay_experts *experts);

/** Linear experts by rule, for tests: a known controller of CartPole or
 *  Acrobot whose weights are moved by at most `spread` of themselves. */
assay_status assay_experts_scripted(assay_experts **out, const char *env,
                                    size_t count, double p_min, double spread,
                                    uint64_t seed,
                                    assay_error *err) ASSAY_MUST_CHECK;

assay_status assay_experts_load(assay_experts **out, const char *path,
                                assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_experts_save(const char *path, const assay_experts *experts,
                                assay_error *err) ASSAY_MUST_CHECK;

size_t assay_experts_count(const assay_experts *experts);
size_t assay_experts_dim(const assay_experts *experts); /* of a state */
int assay_experts_num_actions(const assay_experts *experts);
double assay_experts_p_min(const assay_experts *experts);
/** The variant that expert i was trained on, e.g. "g=9.5;F=10;mc=1". */
const char *assay_experts_variant(const assay_experts *experts, size_t i);
/** Expert i's parameters. */
double *assay_experts_params(const assay_experts *experts, size_t i);

/** Expert i's probabilities of all actions in the environment's state (not the
 *  observation). Safe in any thread. */
void assay_experts_probs(const assay_experts *experts, size_t i,
                         const double *state, double *probs);

/** Scores to probabilities. */
void assay_soften(double *probs, const double *scores, int num_actions,
                  assay_softening softening, double p_min);

#endif
