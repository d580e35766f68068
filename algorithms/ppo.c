/* ring: glue */
#include "algorithms/ppo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/rollout.h"

#define MAX_GRADIENT 0.5

struct assay_ppo {
    assay_control env;
    assay_observation see;
    assay_ppo_options o;
    assay_network policy, critic;
    assay_network_work policy_work, critic_work;
    assay_adam policy_adam, critic_adam;
    assay_envrand rand;
    double reward_scale;
    double *state; /* [env][ASSAY_TRANSITIONS_MAX_DIM] */
    int *age;
    double *sum;
    /* one iteration, [step][env] */
    double *seen, *seen_next, *logp, *reward, *value, *value_next, *advantage,
        *target;
    int *action;
    char *done, *cut;
    size_t *order;
    double *batch_seen, *d_out, *grad;
};

void assay_ppo_options_init(assay_ppo_options *options, const char *env)
{
    options->num_envs = 16;
    options->num_steps = 128;
    options->epochs = 4;
    options->batch = 256;
    options->gamma = 0.99;
    options->lambda = 0.95;
    options->clip = 0.2;
    options->entropy = 0.01;
    options->rate = 1e-3;
    options->cap = 500;
    if (strncmp(env, "hiv", 3) == 0) {
        options->cap = strcmp(env, "hiv-dt20") == 0 ? 50 : 200;
        options->num_steps = 50;
    }
}

static void *room(size_t n, size_t size, int *ok)
{
    void *p = calloc(n + 1, size);
    *ok = *ok && p != NULL;
    return p;
}

static int allocate(assay_ppo *p)
{
    size_t n = p->o.num_envs * p->o.num_steps;
    size_t d = p->see.dim;
    size_t a = (size_t)p->see.num_actions;
    size_t most = p->policy.num_params > p->critic.num_params
                      ? p->policy.num_params
                      : p->critic.num_params;
    int ok = 1;
    p->state = room(p->o.num_envs * ASSAY_TRANSITIONS_MAX_DIM, 8, &ok);
    p->age = room(p->o.num_envs, sizeof(int), &ok);
    p->sum = room(p->o.num_envs, 8, &ok);
    p->seen = room(n * d, 8, &ok);
    p->seen_next = room(n * d, 8, &ok);
    p->logp = room(n, 8, &ok);
    p->reward = room(n, 8, &ok);
    p->value = room(n, 8, &ok);
    p->value_next = room(n, 8, &ok);
    p->advantage = room(n, 8, &ok);
    p->target = room(n, 8, &ok);
    p->action = room(n, sizeof(int), &ok);
    p->done = room(n, 1, &ok);
    p->cut = room(n, 1, &ok);
    p->order = room(n, sizeof(size_t), &ok);
    p->batch_seen = room(p->o.batch * d, 8, &ok);
    p->d_out = room(p->o.batch * a, 8, &ok);
    p->grad = room(most, 8, &ok);
    return ok;
}

static assay_status build(assay_ppo *p, const assay_network *policy,
                          const assay_network *critic, assay_error *err)
{
    size_t n = p->o.num_envs * p->o.num_steps;
    assay_status status = assay_network_copy(&p->policy, policy, err);
    if (status == ASSAY_OK) {
        status = assay_network_copy(&p->critic, critic, err);
    }
    if (status == ASSAY_OK) {
        status = assay_network_work_init(&p->policy_work, policy, p->o.batch, 1,
                                         err);
    }
    if (status == ASSAY_OK) {
        status = assay_network_work_init(&p->critic_work, critic, n, 1, err);
    }
    if (status == ASSAY_OK) {
        status = assay_adam_init(&p->policy_adam, policy->num_params, 0, err);
    }
    if (status == ASSAY_OK) {
        status = assay_adam_init(&p->critic_adam, critic->num_params, 0, err);
    }
    if (status == ASSAY_OK && !allocate(p)) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for training");
    }
    return status;
}

assay_status assay_ppo_new(assay_ppo **out, const assay_control *env,
                           const assay_observation *see,
                           const assay_network *policy,
                           const assay_network *critic,
                           const assay_ppo_options *options, uint64_t seed,
                           uint64_t stream, assay_error *err)
{
    assay_ppo *p = calloc(1, sizeof *p);
    assay_status status;
    if (p == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for training");
    }
    p->env = *env;
    p->see = *see;
    p->o = *options;
    p->reward_scale = strncmp(env->name, "hiv", 3) == 0 ? 1e-6 : 0.1;
    assay_envrand_init(&p->rand, seed, stream);
    status = build(p, policy, critic, err);
    if (status != ASSAY_OK) {
        assay_ppo_free(p);
        return status;
    }
    for (size_t e = 0; e < p->o.num_envs; e++) {
        assay_rollout_start(env, p->state + e * ASSAY_TRANSITIONS_MAX_DIM,
                            &p->rand);
    }
    *out = p;
    return ASSAY_OK;
}

void assay_ppo_free(assay_ppo *p)
{
    if (p == NULL) {
        return;
    }
    void *all[] = {
        p->state,  p->age,    p->sum,   p->seen,       p->logp,   p->seen_next,
        p->reward, p->value,  p->order, p->advantage,  p->target, p->value_next,
        p->done,   p->action, p->cut,   p->batch_seen, p->d_out,  p->grad};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        free(all[i]);
    }
    assay_network_clear(&p->policy);
    assay_network_clear(&p->critic);
    assay_network_work_clear(&p->policy_work);
    assay_network_work_clear(&p->critic_work);
    assay_adam_clear(&p->policy_adam);
    assay_adam_clear(&p->critic_adam);
    free(p);
}

/* Log-probabilities of a row of scores, in place. */
static void log_softmax(double *x, size_t n)
{
    double top = x[0];
    double sum = 0.0;
    for (size_t i = 1; i < n; i++) {
        top = x[i] > top ? x[i] : top;
    }
    for (size_t i = 0; i < n; i++) {
        sum += exp(x[i] - top);
    }
    for (size_t i = 0; i < n; i++) {
        x[i] -= top + log(sum);
    }
}

typedef struct tally {
    double sum;
    size_t episodes;
} tally;

/* Environment e takes its action at place k of the iteration. */
static void act(assay_ppo *p, size_t e, size_t k, const double *scores,
                tally *returns)
{
    double *s = p->state + e * ASSAY_TRANSITIONS_MAX_DIM;
    size_t a = (size_t)p->see.num_actions;
    double logs[ASSAY_EXPERTS_MAX_ACTIONS];
    double probs[ASSAY_EXPERTS_MAX_ACTIONS];
    int end = 0;
    memcpy(logs, scores, a * sizeof *logs);
    log_softmax(logs, a);
    for (size_t i = 0; i < a; i++) {
        probs[i] = exp(logs[i]);
    }
    p->action[k] = assay_rollout_choose(probs, (int)a, &p->rand);
    p->logp[k] = logs[p->action[k]];
    p->env.step(&p->env, s, p->action[k], &p->reward[k], &end);
    p->sum[e] += p->reward[k];
    p->reward[k] *= p->reward_scale;
    p->see.see(s, p->seen_next + k * p->see.dim);
    p->done[k] = (char)end;
    p->cut[k] = (char)(end || ++p->age[e] >= p->o.cap);
    if (p->cut[k]) {
        returns->sum += p->sum[e];
        returns->episodes++;
        p->sum[e] = 0.0;
        p->age[e] = 0;
        assay_rollout_start(&p->env, s, &p->rand);
    }
}

static void collect(assay_ppo *p, tally *returns)
{
    size_t d = p->see.dim;
    for (size_t t = 0; t < p->o.num_steps; t++) {
        double *seen = p->seen + t * p->o.num_envs * d;
        const double *scores;
        for (size_t e = 0; e < p->o.num_envs; e++) {
            p->see.see(p->state + e * ASSAY_TRANSITIONS_MAX_DIM, seen + e * d);
        }
        scores = assay_network_forward(&p->policy, &p->policy_work, seen,
                                       p->o.num_envs);
        for (size_t e = 0; e < p->o.num_envs; e++) {
            act(p, e, t * p->o.num_envs + e,
                scores + e * (size_t)p->see.num_actions, returns);
        }
    }
}

/* Generalised advantages, backwards in time. */
static void estimate(assay_ppo *p)
{
    size_t n = p->o.num_envs * p->o.num_steps;
    memcpy(p->value,
           assay_network_forward(&p->critic, &p->critic_work, p->seen, n),
           n * sizeof *p->value);
    memcpy(p->value_next,
           assay_network_forward(&p->critic, &p->critic_work, p->seen_next, n),
           n * sizeof *p->value);
    for (size_t e = 0; e < p->o.num_envs; e++) {
        double later = 0.0;
        for (size_t t = p->o.num_steps; t-- > 0;) {
            size_t k = t * p->o.num_envs + e;
            double next = p->done[k] ? 0.0 : p->value_next[k];
            double error = p->reward[k] + p->o.gamma * next - p->value[k];
            later =
                p->cut[k] ? error : error + p->o.gamma * p->o.lambda * later;
            p->advantage[k] = later;
            p->target[k] = later + p->value[k];
        }
    }
}

static void normalise(double *x, size_t n)
{
    double mean = 0.0;
    double var = 0.0;
    for (size_t i = 0; i < n; i++) {
        mean += x[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        var += (x[i] - mean) * (x[i] - mean) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = (x[i] - mean) / (sqrt(var) + 1e-8);
    }
}

/* The clipped objective's derivative by the scores of one row. */
static void policy_row(const assay_ppo *p, size_t k, double *scores,
                       double *out, double weight)
{
    size_t a = (size_t)p->see.num_actions;
    double entropy = 0.0;
    double ratio;
    double pull;
    log_softmax(scores, a);
    ratio = exp(scores[p->action[k]] - p->logp[k]);
    pull = p->advantage[k] * ratio;
    if ((p->advantage[k] > 0 && ratio > 1.0 + p->o.clip) ||
        (p->advantage[k] < 0 && ratio < 1.0 - p->o.clip)) {
        pull = 0.0;
    }
    for (size_t i = 0; i < a; i++) {
        entropy -= exp(scores[i]) * scores[i];
    }
    for (size_t i = 0; i < a; i++) {
        double prob = exp(scores[i]);
        out[i] = -pull * ((double)(i == (size_t)p->action[k]) - prob);
        out[i] += p->o.entropy * prob * (scores[i] + entropy);
        out[i] *= weight;
    }
}

static void update(assay_ppo *p, const size_t *rows, size_t n)
{
    size_t d = p->see.dim;
    size_t a = (size_t)p->see.num_actions;
    double scores[ASSAY_EXPERTS_MAX_ACTIONS];
    const double *out;
    for (size_t i = 0; i < n; i++) {
        memcpy(p->batch_seen + i * d, p->seen + rows[i] * d, d * 8);
    }
    out = assay_network_forward(&p->policy, &p->policy_work, p->batch_seen, n);
    for (size_t i = 0; i < n; i++) {
        memcpy(scores, out + i * a, a * sizeof *scores);
        policy_row(p, rows[i], scores, p->d_out + i * a, 1.0 / (double)n);
    }
    assay_network_backward(&p->policy, &p->policy_work, p->d_out);
    assay_network_gradient(&p->policy, &p->policy_work, NULL, p->grad);
    assay_gradient_limit(p->grad, p->policy.num_params, MAX_GRADIENT);
    assay_adam_step(&p->policy_adam, p->policy.params, p->grad);
    out = assay_network_forward(&p->critic, &p->critic_work, p->batch_seen, n);
    for (size_t i = 0; i < n; i++) {
        p->d_out[i] = (out[i] - p->target[rows[i]]) / (double)n;
    }
    assay_network_backward(&p->critic, &p->critic_work, p->d_out);
    assay_network_gradient(&p->critic, &p->critic_work, NULL, p->grad);
    assay_gradient_limit(p->grad, p->critic.num_params, MAX_GRADIENT);
    assay_adam_step(&p->critic_adam, p->critic.params, p->grad);
}

static void shuffle(size_t *order, size_t n, assay_envrand *rand)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = assay_envrand_below(rand, (uint32_t)i);
        size_t keep = order[i - 1];
        order[i - 1] = order[j];
        order[j] = keep;
    }
}

double assay_ppo_iterate(assay_ppo *p, double rate)
{
    size_t n = p->o.num_envs * p->o.num_steps;
    tally returns = {0.0, 0};
    collect(p, &returns);
    estimate(p);
    normalise(p->advantage, n);
    p->policy_adam.rate = p->o.rate * rate;
    p->critic_adam.rate = p->o.rate * rate;
    for (size_t i = 0; i < n; i++) {
        p->order[i] = i;
    }
    for (size_t epoch = 0; epoch < p->o.epochs; epoch++) {
        shuffle(p->order, n, &p->rand);
        for (size_t at = 0; at < n; at += p->o.batch) {
            size_t left = n - at;
            update(p, p->order + at, left < p->o.batch ? left : p->o.batch);
        }
    }
    return returns.episodes == 0 ? NAN : returns.sum / (double)returns.episodes;
}

const assay_network *assay_ppo_policy(const assay_ppo *ppo)
{
    return &ppo->policy;
}

const assay_network *assay_ppo_critic(const assay_ppo *ppo)
{
    return &ppo->critic;
}
