/* ring: glue */
#include "algorithms/offline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/envrand.h"

#define LOGIT_WEIGHT 0.01 /* keeps imitation scores small */

void assay_offline_options_init(assay_offline_options *options,
                                assay_offline_kind kind, const char *env)
{
    memset(options, 0, sizeof *options);
    options->kind = kind;
    options->hidden[0] = 32;
    options->hidden[1] = 32;
    options->num_hidden = 2;
    options->gamma = 0.99;
    options->alpha = 1.0;
    options->tau = 0.3;
    options->reward_scale = strncmp(env, "hiv", 3) == 0 ? 1e-7 : 0.05;
    options->rate = 1e-3;
    options->target_every = 100;
    options->seed = 1;
}

static assay_status build(assay_offline *l, const char *env, assay_error *err)
{
    size_t widths[ASSAY_NETWORK_MAX_LAYERS + 1];
    size_t hidden = l->o.num_hidden;
    assay_status status = assay_observation_find(&l->see, env, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (hidden >= ASSAY_NETWORK_MAX_LAYERS ||
        strlen(env) >= ASSAY_ENV_NAME_LEN) {
        return assay_fail(err, ASSAY_INVALID, "too many hidden layers");
    }
    widths[0] = l->see.dim;
    memcpy(widths + 1, l->o.hidden, hidden * sizeof *widths);
    widths[hidden + 1] =
        (size_t)l->see.num_actions * (l->o.kind == ASSAY_BCQ ? 2 : 1);
    memcpy(l->policy.env, env, strlen(env) + 1);
    l->policy.kind = l->o.kind;
    l->policy.tau = l->o.tau;
    status =
        assay_network_init(&l->policy.net, widths, hidden + 1, ASSAY_RELU, err);
    if (status == ASSAY_OK) {
        assay_network_randomise(&l->policy.net, l->o.seed, 0.1);
        status = assay_network_copy(&l->target, &l->policy.net, err);
    }
    return status;
}

static assay_status make_room(assay_offline *l, assay_error *err)
{
    size_t n = l->max_rows;
    size_t out = l->policy.net.widths[l->policy.net.num_layers];
    assay_status status =
        assay_network_work_init(&l->work, &l->policy.net, n, n, err);
    if (status == ASSAY_OK) {
        status = assay_network_work_init(&l->other, &l->policy.net, n, 1, err);
    }
    if (status == ASSAY_OK) {
        status =
            assay_adam_init(&l->adam, l->policy.net.num_params, l->o.rate, err);
    }
    l->seen = calloc(n * l->see.dim, sizeof(double));
    l->seen_next = calloc(n * l->see.dim, sizeof(double));
    l->d_out = calloc(n * out, sizeof(double));
    l->goal = calloc(n * out + n, sizeof(double));
    l->grad = calloc(l->policy.net.num_params, sizeof(double));
    if (status == ASSAY_OK &&
        (l->seen == NULL || l->seen_next == NULL || l->d_out == NULL ||
         l->goal == NULL || l->grad == NULL)) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for a learner");
    }
    return status;
}

assay_status assay_offline_init(assay_offline *learner, const char *env,
                                const assay_offline_options *options,
                                size_t max_rows, assay_error *err)
{
    assay_status status;
    memset(learner, 0, sizeof *learner);
    learner->o = *options;
    learner->max_rows = max_rows;
    if (max_rows < 1 || max_rows > 4096 || options->target_every < 1 ||
        !(options->gamma >= 0.0 && options->gamma <= 1.0) ||
        !(options->rate > 0.0) || !(options->alpha >= 0.0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs 1 to 4096 rows, gamma in [0, 1], positive "
                          "rates");
    }
    status = build(learner, env, err);
    if (status == ASSAY_OK) {
        status = make_room(learner, err);
    }
    if (status != ASSAY_OK) {
        assay_offline_clear(learner);
    }
    return status;
}

void assay_offline_clear(assay_offline *l)
{
    assay_q_policy_clear(&l->policy);
    assay_network_clear(&l->target);
    assay_network_work_clear(&l->work);
    assay_network_work_clear(&l->other);
    assay_adam_clear(&l->adam);
    free(l->seen);
    free(l->seen_next);
    free(l->d_out);
    free(l->goal);
    free(l->grad);
    memset(l, 0, sizeof *l);
}

/* The best action by the values x[0 .. a - 1]; BCQ: of those that the
 * imitation x[a .. 2a - 1] allows. */
static size_t best_action(const double *x, size_t a, assay_offline_kind kind,
                          double tau)
{
    double top = -INFINITY;
    size_t best = 0;
    double value = -INFINITY;
    for (size_t i = 0; kind == ASSAY_BCQ && i < a; i++) {
        top = x[a + i] > top ? x[a + i] : top;
    }
    for (size_t i = 0; i < a; i++) {
        int allowed = kind == ASSAY_CQL || x[a + i] - top >= log(tau);
        if (allowed && x[i] > value) {
            value = x[i];
            best = i;
        }
    }
    return best;
}

int assay_q_policy_act(const void *policy, const double *seen)
{
    const assay_q_policy *p = policy;
    double out[2 * ASSAY_EXPERTS_MAX_ACTIONS];
    size_t a =
        p->net.widths[p->net.num_layers] / (p->kind == ASSAY_BCQ ? 2 : 1);
    assay_network_apply(&p->net, p->net.params, seen, out);
    return (int)best_action(out, a, p->kind, p->tau);
}

/* goal[i] = r + gamma Q'(s', best action there) */
static void targets(assay_offline *l, const assay_transitions *data,
                    const size_t *rows, size_t n)
{
    size_t a = (size_t)l->see.num_actions;
    size_t out = l->policy.net.widths[l->policy.net.num_layers];
    double *online = l->goal + l->max_rows;
    const double *next;
    memcpy(online,
           assay_network_forward(&l->policy.net, &l->other, l->seen_next, n),
           n * out * sizeof *online);
    next = assay_network_forward(&l->target, &l->other, l->seen_next, n);
    for (size_t i = 0; i < n; i++) {
        size_t best = best_action(online + i * out, a, l->o.kind, l->o.tau);
        double later = data->done[rows[i]] ? 0.0 : next[i * out + best];
        l->goal[i] =
            l->o.reward_scale * data->rewards[rows[i]] + l->o.gamma * later;
    }
}

static void softmax(double *to, const double *x, size_t n)
{
    double top = x[0];
    double sum = 0.0;
    for (size_t i = 1; i < n; i++) {
        top = x[i] > top ? x[i] : top;
    }
    for (size_t i = 0; i < n; i++) {
        to[i] = exp(x[i] - top);
        sum += to[i];
    }
    for (size_t i = 0; i < n; i++) {
        to[i] /= sum;
    }
}

/* The loss's derivative by the outputs of one row. */
static void row_loss(const assay_offline *l, double *d, const double *x,
                     size_t action, double goal, double weight)
{
    size_t a = (size_t)l->see.num_actions;
    double probs[ASSAY_EXPERTS_MAX_ACTIONS] = {0};
    int bcq = l->o.kind == ASSAY_BCQ;
    const double *scores = bcq ? x + a : x;
    double *to = bcq ? d + a : d;
    double push = weight * (bcq ? 1.0 : l->o.alpha);
    softmax(probs, scores, a);
    memset(d, 0, (bcq ? 2 * a : a) * sizeof *d);
    for (size_t i = 0; i < a; i++) {
        to[i] = push * (probs[i] - (double)(i == action));
        to[i] += bcq ? weight * LOGIT_WEIGHT * scores[i] : 0.0;
    }
    d[action] += weight * fmax(-1.0, fmin(1.0, x[action] - goal));
}

void assay_offline_backward(assay_offline *learner,
                            const assay_transitions *data, const size_t *rows,
                            size_t n, double weight)
{
    size_t d = learner->see.dim;
    size_t out = learner->policy.net.widths[learner->policy.net.num_layers];
    const double *x;
    for (size_t i = 0; i < n; i++) {
        learner->see.see(data->states + rows[i] * data->dim,
                         learner->seen + i * d);
        learner->see.see(data->next_states + rows[i] * data->dim,
                         learner->seen_next + i * d);
    }
    targets(learner, data, rows, n);
    x = assay_network_forward(&learner->policy.net, &learner->work,
                              learner->seen, n);
    for (size_t i = 0; i < n; i++) {
        row_loss(learner, learner->d_out + i * out, x + i * out,
                 (size_t)data->actions[rows[i]], learner->goal[i], weight);
    }
    assay_network_backward(&learner->policy.net, &learner->work,
                           learner->d_out);
}

void assay_offline_follow(assay_offline *learner, assay_adam *adam,
                          const double *grad)
{
    assay_adam_step(adam, learner->policy.net.params, grad);
    if (++learner->steps % learner->o.target_every == 0) {
        memcpy(learner->target.params, learner->policy.net.params,
               learner->target.num_params * sizeof(double));
    }
}

void assay_offline_step(assay_offline *learner, const assay_transitions *data,
                        const size_t *rows, size_t n)
{
    assay_offline_backward(learner, data, rows, n, 1.0 / (double)n);
    assay_network_gradient(&learner->policy.net, &learner->work, NULL,
                           learner->grad);
    assay_offline_follow(learner, &learner->adam, learner->grad);
}

assay_status assay_offline_fit(assay_offline *learner,
                               const assay_transitions *data, uint64_t steps,
                               size_t batch, assay_error *err)
{
    size_t *rows;
    assay_envrand rand;
    if (data->num_rows == 0 || data->num_rows > UINT32_MAX || batch < 1 ||
        batch > learner->max_rows || data->dim != learner->see.state_dim) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs transitions of this environment and batches "
                          "of 1 to %zu rows",
                          learner->max_rows);
    }
    rows = calloc(batch, sizeof *rows);
    if (rows == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a learner");
    }
    assay_envrand_init(&rand, learner->o.seed, 99);
    for (uint64_t i = 0; i < steps; i++) {
        for (size_t k = 0; k < batch; k++) {
            rows[k] = assay_envrand_below(&rand, (uint32_t)data->num_rows);
        }
        assay_offline_step(learner, data, rows, batch);
    }
    free(rows);
    return ASSAY_OK;
}
