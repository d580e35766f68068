/* ring: glue */
/**
 * Offline learners of values: discrete CQL and discrete BCQ.
 *
 * CQL   Q(s, a) towards r + gamma max Q'(s', .), plus alpha times
 *       (log sum exp Q(s, .) - Q(s, a)): values of actions that nobody took are
 *       pushed down.
 * BCQ   a second head imitates the data; only actions whose imitated
 *       probability is at least tau of the largest may be chosen, in the target
 *       and in the policy.
 * Both have one network (BCQ: twice as many outputs), a target network that
 * follows it, the Huber loss and double-DQN targets. The gradient is one
 * vector, so that it can be clipped and released as a whole.
 *
 * Rows  assay_offline_backward leaves the derivatives of chosen rows in `work`:
 *       the gradient of all of them, of a group, or group norms follow from
 *       algorithms/network.h.
 */
#ifndef ASSAY_ALGORITHMS_OFFLINE_H
#define ASSAY_ALGORITHMS_OFFLINE_H

#include <jansson.h>

#include "algorithms/experts.h"
#include "algorithms/network.h"
#include "algorithms/observation.h"
#include "algorithms/transitions.h"

typedef enum assay_offline_kind { ASSAY_CQL = 0, ASSAY_BCQ } assay_offline_kind;

typedef struct assay_offline_options {
    assay_offline_kind kind;
    size_t hidden[ASSAY_NETWORK_MAX_LAYERS];
    size_t num_hidden;
    double gamma;
    double alpha;        /* CQL */
    double tau;          /* BCQ */
    double reward_scale; /* rewards times this */
    double rate;         /* Adam */
    uint64_t target_every;
    uint64_t seed;
} assay_offline_options;

void assay_offline_options_init(assay_offline_options *options,
                                assay_offline_kind kind, const char *env);

/** A policy: a value network of one environment, as a file. */
typedef struct assay_q_policy {
    char env[ASSAY_ENV_NAME_LEN];
    assay_offline_kind kind;
    double tau;
    assay_network net;
} assay_q_policy;

/** The action in an observation: an assay_act (algorithms/rollout.h). */
int assay_q_policy_act(const void *policy, const double *seen);
/** `guarantee` (borrowed) may be NULL. */
assay_status assay_q_policy_save(const char *path, const assay_q_policy *policy,
                                 json_t *guarantee,
                                 assay_error *err) ASSAY_MUST_CHECK;
/** `policy` is initialised by this call; `guarantee` may be NULL. */
assay_status assay_q_policy_load(assay_q_policy *policy, json_t **guarantee,
                                 const char *path,
                                 assay_error *err) ASSAY_MUST_CHECK;
void assay_q_policy_clear(assay_q_policy *policy);

typedef struct assay_offline {
    assay_offline_options o;
    assay_observation see;
    assay_q_policy policy; /* what is learned */
    assay_network target;
    assay_network_work work, other;
    assay_adam adam;
    size_t max_rows;
    uint64_t steps;
    double *seen, *seen_next, *d_out, *grad, *goal;
} assay_offline;

assay_status assay_offline_init(assay_offline *learner, const char *env,
                                const assay_offline_options *options,
                                size_t max_rows,
                                assay_error *err) ASSAY_MUST_CHECK;
void assay_offline_clear(assay_offline *learner);

/** Forward and backward for rows[0 .. n - 1] of the data, each row's loss
 *  times `weight`; n at most max_rows. */
void assay_offline_backward(assay_offline *learner,
                            const assay_transitions *data, const size_t *rows,
                            size_t n, double weight);

/** One step along a gradient that was made elsewhere, with its own moments or
 *  the learner's. */
void assay_offline_follow(assay_offline *learner, assay_adam *adam,
                          const double *grad);

/** One step along the mean gradient of these rows. */
void assay_offline_step(assay_offline *learner, const assay_transitions *data,
                        const size_t *rows, size_t n);

/** Without privacy: `steps` steps on batches drawn from all rows. */
assay_status assay_offline_fit(assay_offline *learner,
                               const assay_transitions *data, uint64_t steps,
                               size_t batch, assay_error *err) ASSAY_MUST_CHECK;

#endif
