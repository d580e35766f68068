/* ring: glue */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/ppo.h"

#define GRID 10
#define STRIDE 617 /* no common factor with 1000: all settings in 1000 steps */
#define MAX_THREADS 64

typedef struct axis {
    const char *key;
    double low, high;
} axis;

static const struct {
    const char *env;
    axis axes[3];
} grids[] = {
    {"cartpole", {{"g", 8.75, 11.0}, {"F", 9.0, 11.25}, {"mc", 0.8, 1.25}}},
    {"acrobot", {{"l", 0.8, 1.2}, {"m1", 0.9, 1.1}, {"m2", 0.9, 1.1}}},
};

void assay_training_variant(char out[ASSAY_VARIANT_LEN], const char *env,
                            size_t i)
{
    size_t setting = i * STRIDE % (GRID * GRID * GRID);
    int used = 0;
    out[0] = '\0';
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; g++) {
        if (strcmp(grids[g].env, env) != 0) {
            continue;
        }
        for (size_t k = 0; k < 3; k++) {
            const axis *x = &grids[g].axes[k];
            double value = x->low + (x->high - x->low) *
                                        (double)(setting % GRID) / (GRID - 1);
            used += snprintf(out + used, ASSAY_VARIANT_LEN - (size_t)used,
                             "%s%s=%.6g", k == 0 ? "" : ";", x->key, value);
            setting /= GRID;
        }
    }
}

void assay_training_init(assay_training *training, const char *env)
{
    memset(training, 0, sizeof *training);
    training->env = env;
    training->count = 300;
    training->hidden = 32;
    training->p_min = 0.02;
    training->softening = ASSAY_SOFTEN_GREEDY;
    training->base_iterations = 40;
    training->own_iterations = 2;
    training->seed = 1;
    training->threads = 2;
}

typedef struct school {
    const assay_training *t;
    assay_ppo_options options;
    assay_observation see;
    assay_network policy, critic; /* of the base */
    assay_experts *experts;
    pthread_mutex_t lock;
    size_t next, done;
    assay_status status;
    assay_error error;
} school;

static assay_status start_base(school *s, assay_error *err)
{
    size_t widths[4];
    assay_status status;
    widths[0] = s->see.dim;
    widths[1] = s->t->hidden;
    widths[2] = s->t->hidden;
    widths[3] = (size_t)s->see.num_actions;
    status = assay_network_init(&s->policy, widths, 3, ASSAY_RELU, err);
    widths[3] = 1;
    if (status == ASSAY_OK) {
        status = assay_network_init(&s->critic, widths, 3, ASSAY_RELU, err);
    }
    if (status == ASSAY_OK) {
        assay_network_randomise(&s->policy, s->t->seed, 0.01);
        assay_network_randomise(&s->critic, s->t->seed + 1, 1.0);
    }
    return status;
}

static assay_status train_base(school *s, assay_error *err)
{
    assay_control env;
    assay_ppo *ppo = NULL;
    unsigned n = s->t->base_iterations;
    assay_status status = start_base(s, err);
    if (status == ASSAY_OK) {
        status = assay_control_find(&env, s->t->env, NULL, err);
    }
    if (status == ASSAY_OK) {
        status = assay_ppo_new(&ppo, &env, &s->see, &s->policy, &s->critic,
                               &s->options, s->t->seed, UINT64_MAX, err);
    }
    for (unsigned i = 0; status == ASSAY_OK && i < n; i++) {
        (void)assay_ppo_iterate(ppo, 1.0 - 0.9 * (double)i / (double)n);
    }
    if (status == ASSAY_OK) {
        memcpy(s->policy.params, assay_ppo_policy(ppo)->params,
               s->policy.num_params * sizeof(double));
        memcpy(s->critic.params, assay_ppo_critic(ppo)->params,
               s->critic.num_params * sizeof(double));
    }
    assay_ppo_free(ppo);
    return status;
}

static assay_status train_one(school *s, size_t i, assay_error *err)
{
    assay_control env;
    assay_ppo *ppo = NULL;
    assay_status status;
    assay_training_variant(s->experts->variants[i], s->t->env, i);
    status =
        assay_control_find(&env, s->t->env, s->experts->variants[i], err);
    if (status == ASSAY_OK) {
        status = assay_ppo_new(&ppo, &env, &s->see, &s->policy, &s->critic,
                               &s->options, s->t->seed, i, err);
    }
    for (unsigned k = 0; status == ASSAY_OK && k < s->t->own_iterations; k++) {
        (void)assay_ppo_iterate(ppo, 0.5);
    }
    if (status == ASSAY_OK) {
        memcpy(assay_experts_params(s->experts, i),
               assay_ppo_policy(ppo)->params,
               s->policy.num_params * sizeof(double));
    }
    assay_ppo_free(ppo);
    return status;
}

/* The next expert's index, or `count` when all are taken. */
static size_t take(school *s)
{
    size_t i;
    (void)pthread_mutex_lock(&s->lock);
    i = s->status == ASSAY_OK && s->next < s->t->count ? s->next++
                                                       : s->t->count;
    (void)pthread_mutex_unlock(&s->lock);
    return i;
}

static void *work(void *context)
{
    school *s = context;
    for (size_t i = take(s); i < s->t->count; i = take(s)) {
        assay_error err = ASSAY_ERROR_INIT;
        assay_status status = train_one(s, i, &err);
        (void)pthread_mutex_lock(&s->lock);
        if (status != ASSAY_OK && s->status == ASSAY_OK) {
            s->status = status;
            s->error = err;
        }
        s->done++;
        if (s->t->progress != NULL) {
            s->t->progress(s->t->context, s->done);
        }
        (void)pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static void train_all(school *s)
{
    pthread_t threads[MAX_THREADS];
    size_t num = s->t->threads > MAX_THREADS ? MAX_THREADS : s->t->threads;
    size_t started = 0;
    while (started + 1 < num &&
           pthread_create(&threads[started], NULL, work, s) == 0) {
        started++;
    }
    (void)work(s);
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

assay_status assay_training_run(assay_experts **out,
                                const assay_training *training,
                                assay_error *err)
{
    school s;
    size_t hidden[2];
    assay_status status;
    memset(&s, 0, sizeof s);
    s.t = training;
    hidden[0] = training->hidden;
    hidden[1] = training->hidden;
    assay_ppo_options_init(&s.options, training->env);
    status = assay_experts_new(&s.experts, training->env, training->count,
                               hidden, 2, ASSAY_RELU, training->softening,
                               training->p_min, err);
    if (status == ASSAY_OK) {
        s.see = s.experts->see;
        status = train_base(&s, err);
    }
    if (status == ASSAY_OK) {
        (void)pthread_mutex_init(&s.lock, NULL);
        train_all(&s);
        (void)pthread_mutex_destroy(&s.lock);
        status = s.status;
        if (status != ASSAY_OK && err != NULL) {
            *err = s.error;
        }
    }
    assay_network_clear(&s.policy);
    assay_network_clear(&s.critic);
    if (status != ASSAY_OK) {
        assay_experts_free(s.experts);
        return status;
    }
    *out = s.experts;
    return ASSAY_OK;
}
