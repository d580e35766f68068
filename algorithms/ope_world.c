/* ring: glue */
#include "algorithms/ope_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/control.h"
#include "algorithms/envrand.h"
#include "algorithms/features.h"

#define MAX_ACTIONS 4
#define MAX_FEATURES 64
#define EXPLORE 0.3
#define LEARNING_SEED                                                          \
    4711 /* public: behaviour policies are the same for all  \
                            */

/* A control problem with features, a scale of rewards and learned values. */
typedef struct problem {
    assay_control env;
    size_t order, dim;
    double reward_scale;
    int hiv, off_policy;
    int train_episodes, truth_episodes;
    double q[MAX_ACTIONS][MAX_FEATURES];
} problem;

static void start_state(const problem *p, double *s, assay_envrand *rand)
{
    static const double unhealthy[6] = {163573, 5, 11945, 46, 63919, 24};
    if (!p->hiv) {
        s[0] = -0.6 + 0.2 * assay_envrand_unit(rand);
        s[1] = 0.0;
        return;
    }
    for (int i = 0; i < 6; i++) { /* people differ by 20 % */
        s[i] = unhealthy[i] * (0.8 + 0.4 * assay_envrand_unit(rand));
    }
}

static void features(const problem *p, const double *s, double *out)
{
    double x[6];
    if (p->hiv) {
        for (int i = 0; i < 6; i++) {
            x[i] = log10(fmax(s[i], 1e-2)) / 9.0 + 2.0 / 9.0;
        }
        assay_fourier(out, x, p->order, 6);
        return;
    }
    x[0] = (s[0] + 1.2) / 1.8;
    x[1] = (s[1] + 0.07) / 0.14;
    assay_fourier(out, x, p->order, 2);
}

static double value_of(const problem *p, int a, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->dim; i++) {
        sum += p->q[a][i] * x[i];
    }
    return sum;
}

static int greedy(const problem *p, const double *x)
{
    int best = 0;
    for (int a = 1; a < p->env.num_actions; a++) {
        if (value_of(p, a, x) > value_of(p, best, x)) {
            best = a;
        }
    }
    return best;
}

/* Probabilities of the behaviour: epsilon-greedy, or softmax mixed with
 * uniform. */
static void behaviour(const problem *p, const double *x, double *out)
{
    int n = p->env.num_actions;
    int best = greedy(p, x);
    double top = value_of(p, best, x);
    double sum = 0.0;
    for (int a = 0; a < n; a++) {
        out[a] =
            p->hiv
                ? exp(4.0 * (value_of(p, a, x) - top) / fmax(fabs(top), 1e-3))
                : (a == best);
        sum += out[a];
    }
    for (int a = 0; a < n; a++) {
        out[a] = (1.0 - EXPLORE) * out[a] / sum + EXPLORE / n;
    }
}

static double target(const problem *p, const double *x, int a)
{
    if (!p->hiv) {
        return 1.0 / p->env.num_actions;
    }
    return 0.9 * (greedy(p, x) == a) + 0.1 / p->env.num_actions;
}

static int draw(const double *probability, int n, assay_envrand *rand)
{
    double u = assay_envrand_unit(rand);
    int a = 0;
    while (a + 1 < n && u >= probability[a]) {
        u -= probability[a++];
    }
    return a;
}

/* One episode of Q-learning on simulated, public data. */
static void train_once(problem *p, double gamma, assay_envrand *rand)
{
    double s[6];
    double x[MAX_FEATURES];
    double y[MAX_FEATURES];
    double probability[MAX_ACTIONS] = {0};
    int end = 0;
    start_state(p, s, rand);
    features(p, s, x);
    for (int t = 0; t < p->env.cap && !end; t++) {
        double reward = 0.0;
        double goal;
        double error;
        int a;
        behaviour(p, x, probability);
        a = draw(probability, p->env.num_actions, rand);
        p->env.step(&p->env, s, a, &reward, &end);
        features(p, s, y);
        goal = reward * p->reward_scale;
        if (!end) {
            goal += gamma * value_of(p, greedy(p, y), y);
        }
        error = goal - value_of(p, a, x);
        for (size_t i = 0; i < p->dim; i++) {
            p->q[a][i] += 0.1 * error * x[i];
        }
        memcpy(x, y, sizeof x);
    }
}

static void train(problem *p, double gamma)
{
    assay_envrand rand;
    assay_envrand_init(&rand, LEARNING_SEED, 31);
    memset(p->q, 0, sizeof p->q);
    for (int i = 0; i < p->train_episodes; i++) {
        train_once(p, gamma < 0.99 ? gamma : 0.99, &rand);
    }
}

static assay_status walk(assay_episodes *e, const problem *p,
                         assay_envrand *rand, assay_error *err)
{
    double s[6];
    double x[MAX_FEATURES];
    double probability[MAX_ACTIONS] = {0};
    uint32_t at = 0;
    uint32_t next = 0;
    int end = 0;
    assay_status status;
    start_state(p, s, rand);
    features(p, s, x);
    status = assay_episodes_add_vector(e, x, &at, err);
    for (int t = 0; status == ASSAY_OK && t < p->env.cap && !end; t++) {
        double reward = 0.0;
        double weight = 1.0;
        int a;
        behaviour(p, x, probability);
        a = draw(probability, p->env.num_actions, rand);
        if (p->off_policy) {
            weight = target(p, x, a) / probability[a];
        }
        p->env.step(&p->env, s, a, &reward, &end);
        features(p, s, x);
        next = ASSAY_TERMINAL;
        if (!end) {
            status = assay_episodes_add_vector(e, x, &next, err);
        }
        if (status == ASSAY_OK) {
            status = assay_episodes_add_step(
                e, at, next, reward * p->reward_scale, weight, err);
        }
        at = next;
    }
    return status == ASSAY_OK ? assay_episodes_end(e, err) : status;
}

static assay_status simulate(assay_episodes **out, const problem *p, uint64_t n,
                             uint64_t seed, const assay_world_options *o,
                             assay_error *err)
{
    assay_envrand rand;
    assay_episodes *e = NULL;
    assay_status status = assay_episodes_new(&e, p->dim, o->max_weight, err);
    assay_envrand_init(&rand, seed, 32);
    for (uint64_t i = 0; status == ASSAY_OK && i < n; i++) {
        status = walk(e, p, &rand, err);
    }
    if (status != ASSAY_OK) {
        assay_episodes_free(e);
        return status;
    }
    e->fixed_length = o->fixed_length;
    *out = e;
    return ASSAY_OK;
}

static assay_status find_problem(problem *p, const char *name, assay_error *err)
{
    memset(p, 0, sizeof *p);
    p->hiv = strcmp(name, "hiv-off") == 0;
    p->off_policy = p->hiv || strcmp(name, "mountaincar-off") == 0;
    if (!p->off_policy && strcmp(name, "mountaincar") != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "no environment '%.40s'; there are chain, "
                          "mountaincar, mountaincar-off, hiv-off",
                          name);
    }
    p->order = p->hiv ? 1 : 5;
    p->dim = assay_fourier_dim(p->order, p->hiv ? 6 : 2);
    p->reward_scale = p->hiv ? 1e-6 : 1.0;
    p->train_episodes = p->hiv ? 30 : 300;
    p->truth_episodes = p->hiv ? 150 : 2000;
    return assay_control_find(&p->env, p->hiv ? "hiv-dt20" : "mountaincar",
                              NULL, err);
}

static assay_status open_control(assay_episodes **data, assay_ope_model **truth,
                                 const char *name, const assay_world_options *o,
                                 assay_error *err)
{
    problem p;
    assay_episodes *fresh = NULL;
    assay_status status = find_problem(&p, name, err);
    if (status != ASSAY_OK) {
        return status;
    }
    train(&p, o->gamma);
    status = simulate(&fresh, &p, (uint64_t)p.truth_episodes, 0, o, err);
    if (status == ASSAY_OK) {
        status = assay_ope_model_fit(truth, fresh, o->gamma, err);
    }
    assay_episodes_free(fresh);
    if (status == ASSAY_OK) {
        status = simulate(data, &p, o->num_episodes, o->seed, o, err);
    }
    return status;
}

/* "chain:N", N from 2 to 1000 */
static int parse_chain(const char *name, unsigned *num_states)
{
    char *end = NULL;
    unsigned long n;
    if (strncmp(name, "chain:", 6) != 0 || name[6] < '0' || name[6] > '9') {
        return 0;
    }
    n = strtoul(name + 6, &end, 10);
    *num_states = (unsigned)n;
    return *end == '\0' && n >= 2 && n <= 1000;
}

assay_status assay_world_open(assay_episodes **data, assay_ope_model **truth,
                              const char *name, const assay_world_options *o,
                              assay_error *err)
{
    unsigned num_states = 40;
    assay_status status;
    if (strncmp(name, "chain", 5) != 0) {
        return open_control(data, truth, name, o, err);
    }
    if (strcmp(name, "chain") != 0 && !parse_chain(name, &num_states)) {
        return assay_fail(err, ASSAY_INVALID,
                          "'%.40s': chain:N with N from 2 to 1000", name);
    }
    status = assay_episodes_chain(data, num_states, (size_t)o->num_episodes,
                                  o->seed, err);
    if (status == ASSAY_OK) {
        status = assay_ope_model_chain(truth, num_states, o->gamma,
                                       o->fixed_length, err);
    }
    return status;
}
