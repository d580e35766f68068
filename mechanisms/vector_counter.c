/* ring: glue */
#include "mechanisms/vector_counter.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/noise.h"
#include "mechanisms/sampler.h"

#define MAX_LEVELS 48u
#define TOP ((int64_t)1 << 56) /* 48 values of 2^56 stay below 2^62 */
#define SUM_TOP ((int64_t)1 << 62)

struct assay_vector_counter {
    assay_custodian *custodian;
    assay_sampler *sampler;
    assay_counter_kind kind;
    size_t n;
    size_t num_levels; /* rows of exact and noisy; 1 locally */
    uint64_t max_steps, done;
    int64_t limit;     /* of one entry of a contribution */
    int broken;
    int64_t *exact; /* [level][n]; unused locally */
    int64_t *noisy; /* [level][n]: what has left */
    int64_t *noise; /* scratch */
    int64_t *total; /* the noisy running sum */
};

uint64_t assay_counter_levels(uint64_t max_steps)
{
    uint64_t levels = 1;
    while (levels < 63 && (UINT64_C(1) << levels) < max_steps) {
        levels++;
    }
    return levels;
}

static assay_status charge(assay_custodian *custodian,
                           const assay_counter_spec *spec, const mpq_t noise,
                           const mpq_t sensitivity, assay_error *err)
{
    int tree = spec->kind == ASSAY_COUNTER_TREE;
    assay_event event;
    assay_status status;
    if (spec->gaussian) {
        assay_event_init(&event, tree ? ASSAY_TREE_GAUSSIAN
                                      : ASSAY_DISCRETE_GAUSSIAN);
        mpq_set(event.sigma2, noise);
        mpq_set(event.sensitivity2, sensitivity);
    } else {
        assay_event_init(&event, tree ? ASSAY_TREE_LAPLACE
                                      : ASSAY_DISCRETE_LAPLACE);
        mpq_set(event.scale, noise);
        mpq_set(event.sensitivity, sensitivity);
    }
    if (tree) {
        event.levels = assay_counter_levels(spec->max_steps);
    }
    status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, spec->label, err);
    }
    assay_event_clear(&event);
    return status;
}

static assay_status allocate(assay_vector_counter *c, assay_error *err)
{
    c->exact = calloc(c->num_levels * c->n, sizeof(int64_t));
    c->noisy = calloc(c->num_levels * c->n, sizeof(int64_t));
    c->noise = calloc(c->n, sizeof(int64_t));
    c->total = calloc(c->n, sizeof(int64_t));
    if (c->exact == NULL || c->noisy == NULL || c->noise == NULL ||
        c->total == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a counter");
    }
    return ASSAY_OK;
}

static assay_status check_spec(const assay_counter_spec *spec,
                               assay_error *err)
{
    if (spec->n == 0 || spec->n > ((size_t)1 << 32) || spec->max_steps < 2 ||
        assay_counter_levels(spec->max_steps) > MAX_LEVELS) {
        return assay_fail(err, ASSAY_INVALID,
                          "a counter needs 1 to 2^32 entries and 2 to 2^48 "
                          "steps");
    }
    return ASSAY_OK;
}

assay_status assay_vector_counter_new(assay_vector_counter **out,
                                      assay_custodian *custodian,
                                      const assay_counter_spec *spec,
                                      const mpq_t noise,
                                      const mpq_t sensitivity,
                                      assay_error *err)
{
    assay_vector_counter *c;
    assay_status status = check_spec(spec, err);
    if (status != ASSAY_OK) {
        return status;
    }
    c = calloc(1, sizeof *c);
    if (c == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a counter");
    }
    c->custodian = custodian;
    c->kind = spec->kind;
    c->n = spec->n;
    c->max_steps = spec->max_steps;
    c->limit = SUM_TOP / 2 / (int64_t)spec->max_steps;
    c->num_levels = spec->kind == ASSAY_COUNTER_TREE
                        ? (size_t)assay_counter_levels(spec->max_steps)
                        : 1;
    status = allocate(c, err);
    if (status == ASSAY_OK) {
        status = spec->gaussian
                     ? assay_sampler_new_discrete_gaussian(&c->sampler, noise,
                                                           NULL, err)
                     : assay_sampler_new_discrete_laplace(&c->sampler, noise,
                                                          NULL, err);
    }
    if (status == ASSAY_OK) {
        status = charge(custodian, spec, noise, sensitivity, err);
    }
    if (status != ASSAY_OK) {
        assay_vector_counter_free(c);
        return status;
    }
    *out = c;
    return ASSAY_OK;
}

static void wipe(int64_t *values, size_t n)
{
    if (values != NULL) {
        OPENSSL_cleanse(values, n * sizeof *values);
        free(values);
    }
}

void assay_vector_counter_free(assay_vector_counter *counter)
{
    if (counter == NULL) {
        return;
    }
    assay_sampler_free(counter->sampler);
    wipe(counter->exact, counter->num_levels * counter->n);
    wipe(counter->noise, counter->n);
    free(counter->noisy);
    free(counter->total);
    free(counter);
}

/* Clipping to an interval never brings two values further apart. */
static int64_t clip(int64_t x, int64_t limit)
{
    return x > limit ? limit : x < -limit ? -limit : x;
}

/* exact[level] = in + the exact sums of the levels below, which close now. */
static void close_nodes(assay_vector_counter *c, size_t level,
                        const int64_t *in)
{
    int64_t *node = c->exact + level * c->n;
    for (size_t i = 0; i < c->n; i++) {
        node[i] = clip(in[i], c->limit);
    }
    for (size_t below = 0; below < level; below++) {
        const int64_t *part = c->exact + below * c->n;
        for (size_t i = 0; i < c->n; i++) {
            node[i] += part[i];
        }
    }
}

/* The running sum without the closed nodes and with the new one. */
static void replace_nodes(assay_vector_counter *c, size_t level)
{
    int64_t *node = c->noisy + level * c->n;
    for (size_t below = 0; below < level; below++) {
        const int64_t *part = c->noisy + below * c->n;
        for (size_t i = 0; i < c->n; i++) {
            c->total[i] -= part[i];
        }
    }
    for (size_t i = 0; i < c->n; i++) {
        node[i] = clip(c->noise[i], TOP);
        c->total[i] += node[i];
    }
}

/* Locally: the new report joins the sum. */
static void add_report(assay_vector_counter *c)
{
    for (size_t i = 0; i < c->n; i++) {
        int64_t sum = c->total[i] / 2 + c->noise[i] / 2;
        if (sum > SUM_TOP / 2 || sum < -(SUM_TOP / 2)) {
            c->total[i] = sum > 0 ? SUM_TOP : -SUM_TOP;
        } else {
            c->total[i] += c->noise[i];
        }
    }
}

assay_status assay_vector_counter_step(assay_vector_counter *counter,
                                       int64_t *out, const int64_t *in,
                                       assay_error *err)
{
    assay_vector_counter *c = counter;
    uint64_t last = c->max_steps - (c->kind == ASSAY_COUNTER_TREE);
    size_t level = 0;
    assay_status status;
    if (c->broken || c->done >= last) {
        return assay_fail(err, ASSAY_INVALID, "the counter has no steps left");
    }
    c->broken = 1; /* until the step is done */
    if (c->kind == ASSAY_COUNTER_TREE) {
        level = (size_t)__builtin_ctzll(c->done + 1);
    }
    close_nodes(c, level, in);
    status = assay_sampler_fill(c->sampler, &c->custodian->tape, c->noise,
                                c->n, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_noise_add(c->noise, c->exact + level * c->n, c->n);
    if (c->kind == ASSAY_COUNTER_TREE) {
        replace_nodes(c, level);
    } else {
        add_report(c);
    }
    memcpy(out, c->total, c->n * sizeof *out);
    c->done++;
    c->broken = 0;
    return ASSAY_OK;
}
