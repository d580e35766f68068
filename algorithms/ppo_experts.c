/* ring: glue */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/ppo.h"
#include "algorithms/rollout.h"

#define GRID 10
#define STRIDE                                                                 \
    617 /* no common factor with 1000: all settings in 1000 steps   \
                    */
#define MAX_THREADS 64
#define TRIES 3
#define MAX_BASES 64
#define EPISODES 20

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
    {"lunarlander", {{"g", 9.0, 11.0}, {"wind", 0.0, 5.0}, {"turb", 0.0, 0.5}}},
    {"hiv-dt20", {{"q1", 18750.0, 21250.0}, {"q2", 1850.0, 2150.0}}},
    {"hiv-dt5", {{"q1", 18750.0, 21250.0}, {"q2", 1850.0, 2150.0}}},
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
        for (size_t k = 0; k < 3 && grids[g].axes[k].key != NULL; k++) {
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
    training->num_bases = 8;
    training->base_iterations = 80;
    training->own_iterations = 2;
    training->seed = 1;
    training->threads = 2;
}

typedef struct base {
    assay_network policy, critic;
} base;

typedef struct school school;
typedef assay_status job(school *s, size_t i, assay_error *err);

struct school {
    const assay_training *t;
    assay_ppo_options options;
    assay_observation see;
    base bases[MAX_BASES];
    assay_experts *experts;
    pthread_mutex_t lock;
    job *job; /* what the threads do, for 0 .. num_jobs - 1 */
    size_t num_jobs, next, done;
    assay_status status;
    assay_error error;
};

static assay_status make_base(school *s, base *b, assay_error *err)
{
    size_t widths[4];
    assay_status status;
    widths[0] = s->see.dim;
    widths[1] = s->t->hidden;
    widths[2] = s->t->hidden;
    widths[3] = (size_t)s->see.num_actions;
    status = assay_network_init(&b->policy, widths, 3, ASSAY_RELU, err);
    widths[3] = 1;
    if (status == ASSAY_OK) {
        status = assay_network_init(&b->critic, widths, 3, ASSAY_RELU, err);
    }
    return status;
}

/* The action of the largest score: an assay_act. */
static int act_greedily(const void *policy, const double *seen)
{
    const assay_network *net = policy;
    double scores[ASSAY_EXPERTS_MAX_ACTIONS] = {0};
    int best = 0;
    assay_network_apply(net, net->params, seen, scores);
    for (int a = 1; a < (int)net->widths[net->num_layers]; a++) {
        best = scores[a] > scores[best] ? a : best;
    }
    return best;
}

/* One training from nothing; *out and its mean return. */
static assay_status try_base(school *s, base *b, const assay_control *env,
                             uint64_t seed, assay_ppo **out, double *mean,
                             assay_error *err)
{
    unsigned n = s->t->base_iterations;
    assay_status status;
    assay_network_randomise(&b->policy, seed, 0.01);
    assay_network_randomise(&b->critic, seed + 1, 1.0);
    status = assay_ppo_new(out, env, &s->see, &b->policy, &b->critic,
                           &s->options, seed, UINT64_MAX, err);
    for (unsigned i = 0; status == ASSAY_OK && i < n; i++) {
        (void)assay_ppo_iterate(*out, 1.0 - 0.9 * (double)i / (double)n);
    }
    if (status == ASSAY_OK) {
        *mean = assay_rollout_evaluate(NULL, env, &s->see, act_greedily,
                                       assay_ppo_policy(*out), EPISODES,
                                       s->options.cap, seed);
    }
    return status;
}

static void keep_base(base *b, const assay_ppo *ppo)
{
    memcpy(b->policy.params, assay_ppo_policy(ppo)->params,
           b->policy.num_params * sizeof(double));
    memcpy(b->critic.params, assay_ppo_critic(ppo)->params,
           b->critic.num_params * sizeof(double));
}

static assay_status train_base(school *s, size_t i, assay_error *err)
{
    base *b = &s->bases[i];
    assay_control env = {0};
    assay_ppo *best = NULL;
    double top = 0.0;
    assay_status status = make_base(s, b, err);
    if (status == ASSAY_OK) {
        status = assay_control_find(&env, s->t->env, NULL, err);
    }
    for (uint64_t k = 0; status == ASSAY_OK && k < TRIES; k++) {
        assay_ppo *ppo = NULL;
        double mean = 0.0;
        uint64_t seed = s->t->seed + ((uint64_t)i * TRIES + k) * 0x100000000;
        status = try_base(s, b, &env, seed, &ppo, &mean, err);
        if (status == ASSAY_OK && (best == NULL || mean > top)) {
            assay_ppo_free(best);
            best = ppo;
            top = mean;
        } else {
            assay_ppo_free(ppo);
        }
    }
    if (status == ASSAY_OK) {
        keep_base(b, best);
    }
    assay_ppo_free(best);
    assay_control_clear(&env);
    return status;
}

static assay_status train_one(school *s, size_t i, assay_error *err)
{
    const base *b = &s->bases[i % s->t->num_bases];
    assay_control env = {0};
    assay_ppo *ppo = NULL;
    assay_status status;
    assay_training_variant(s->experts->variants[i], s->t->env, i);
    status = assay_control_find(&env, s->t->env, s->experts->variants[i], err);
    if (status == ASSAY_OK) {
        status = assay_ppo_new(&ppo, &env, &s->see, &b->policy, &b->critic,
                               &s->options, s->t->seed, i, err);
    }
    for (unsigned k = 0; status == ASSAY_OK && k < s->t->own_iterations; k++) {
        (void)assay_ppo_iterate(ppo, 0.5);
    }
    if (status == ASSAY_OK) {
        memcpy(assay_experts_params(s->experts, i),
               assay_ppo_policy(ppo)->params,
               b->policy.num_params * sizeof(double));
    }
    assay_ppo_free(ppo);
    assay_control_clear(&env);
    return status;
}

/* The next job's number, or num_jobs when all are taken. */
static size_t take(school *s)
{
    size_t i;
    (void)pthread_mutex_lock(&s->lock);
    i = s->status == ASSAY_OK && s->next < s->num_jobs ? s->next++
                                                       : s->num_jobs;
    (void)pthread_mutex_unlock(&s->lock);
    return i;
}

static void *work(void *context)
{
    school *s = context;
    for (size_t i = take(s); i < s->num_jobs; i = take(s)) {
        assay_error err = ASSAY_ERROR_INIT;
        assay_status status = s->job(s, i, &err);
        (void)pthread_mutex_lock(&s->lock);
        if (status != ASSAY_OK && s->status == ASSAY_OK) {
            s->status = status;
            s->error = err;
        }
        s->done++;
        if (s->t->progress != NULL && s->job == train_one) {
            s->t->progress(s->t->context, s->done);
        }
        (void)pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static assay_status do_all(school *s, job *what, size_t num, assay_error *err)
{
    pthread_t threads[MAX_THREADS];
    size_t most = s->t->threads > MAX_THREADS ? MAX_THREADS : s->t->threads;
    size_t started = 0;
    s->job = what;
    s->num_jobs = num;
    s->next = 0;
    s->done = 0;
    while (started + 1 < most &&
           pthread_create(&threads[started], NULL, work, s) == 0) {
        started++;
    }
    (void)work(s);
    for (size_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    if (s->status != ASSAY_OK && err != NULL) {
        *err = s->error;
    }
    return s->status;
}

static assay_status run_school(school *s, assay_error *err)
{
    assay_status status;
    if (pthread_mutex_init(&s->lock, NULL) != 0) {
        return assay_fail(err, ASSAY_MEMORY, "no lock for training");
    }
    status = do_all(s, train_base, s->t->num_bases, err);
    if (status == ASSAY_OK) {
        status = do_all(s, train_one, s->t->count, err);
    }
    (void)pthread_mutex_destroy(&s->lock);
    return status;
}

assay_status assay_training_run(assay_experts **out,
                                const assay_training *training,
                                assay_error *err)
{
    school s;
    size_t hidden[2];
    assay_status status;
    if (training->num_bases < 1 || training->num_bases > MAX_BASES) {
        return assay_fail(err, ASSAY_INVALID, "there are 1 to %d bases",
                          MAX_BASES);
    }
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
        status = run_school(&s, err);
    }
    for (size_t i = 0; i < MAX_BASES; i++) {
        assay_network_clear(&s.bases[i].policy);
        assay_network_clear(&s.bases[i].critic);
    }
    if (status != ASSAY_OK) {
        assay_experts_free(s.experts);
        return status;
    }
    *out = s.experts;
    return ASSAY_OK;
}
