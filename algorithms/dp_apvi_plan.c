/* ring: glue */
/* The planning of DP-APVI: post-processing of released counts. */
#include "algorithms/dp_apvi.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/consistency.h"
#include "algorithms/dp_apvi_side.h"

#define MAX_THREADS 64u
#define LINE 64u          /* bytes of a cache line */
#define NEAR (64u * 1024) /* bytes of a step that are asked for at once */

/* A CPU with wider registers gets its own copy: the same operations in the same
 * order, the same bits. The Makefile allows this file's roots and divisions to
 * go several at once. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__FRAMAC__)
#define HOT __attribute__((target_clones("avx2", "default")))
#else
#define HOT
#endif

/* What every row of the planner needs. */
typedef struct planner {
    const assay_counts *counts;
    const assay_dp_apvi_params *params;
    const double *rewards;
    assay_policy *policy;
    double *value;   /* [h][s], h = H is zero */
    double *uniform; /* [h]: the mean of value[h] */
    double *q;       /* [s][a]: the values of the actions of one step */
    int64_t *level;  /* [s][a]: the water level of the step before */
    assay_dp_apvi_widths width;
    double iota;   /* log(H S A / failure) */
    double second; /* C2 S H E iota */
} planner;

static void find_terms(assay_dp_apvi_terms *c, const planner *p, uint32_t h)
{
    double horizon = p->counts->shape.horizon;
    int bernstein = p->params->penalty == ASSAY_PENALTY_BERNSTEIN;
    c->noise = 2.0 * p->width.pair;
    c->slack = p->params->triples_only ? 0.0 : p->width.pair;
    c->iota = p->iota;
    c->c1 = p->params->c1;
    c->second = p->second;
    c->variance_weight = bernstein ? 1.0 : 0.0;
    c->variance_base = bernstein ? 0.0 : horizon * horizon;
    c->uniform = p->uniform[h + 1];
    c->largest = p->params->c * horizon;
    c->top = horizon - h;
}

static HOT void find_values(double *q, const assay_dp_apvi_terms *terms,
                            const double *reward, const assay_consistency *x,
                            size_t count)
{
    const assay_dp_apvi_terms c = *terms;
    for (size_t i = 0; i < count; i++) {
        q[i] = assay_dp_apvi_value(&c, reward[i], x->moment[0][i],
                                   x->moment[1][i], x->moment[2][i]);
    }
}

/* In vectors, because vectors read it. */
static HOT void find_totals(double *total, const assay_dp_apvi_terms *terms,
                            const int64_t *visits, size_t count)
{
    const assay_dp_apvi_terms c = *terms;
    for (size_t i = 0; i < count; i++) {
        total[i] = assay_dp_apvi_total(&c, visits[i]);
    }
}

static int has_small_steps(const assay_shape *shape)
{
    size_t n = shape->num_states;
    return n * shape->num_actions * n * sizeof(int64_t) <= NEAR;
}

/* The rows that memory is asked for meanwhile: the same ones of the step after
 * the next if steps are small (a step is over before memory answers, at times),
 * else the block behind. */
static const int64_t *next_rows(const planner *p, uint32_t h, size_t at,
                                size_t count)
{
    const assay_counts *counts = p->counts;
    const int64_t *rows = counts->cell + counts->num_pairs;
    size_t n = counts->shape.num_states;
    size_t pair = assay_shape_pair(&counts->shape, h, 0, 0) + at;
    size_t step = n * counts->shape.num_actions;
    if (has_small_steps(&counts->shape)) {
        return rows + (h > 1 ? pair - 2 * step : pair) * n;
    }
    return rows +
           (at + count < step || h == 0 ? pair + count : pair - at - step) * n;
}

/* The values of `count` rows from `at` of step h on. The levels of the step
 * before are a good guess, and the same for every number of threads. */
static void rows_value(const planner *p, const assay_dp_apvi_terms *terms,
                       uint32_t h, size_t at, size_t count)
{
    const assay_counts *counts = p->counts;
    size_t n = counts->shape.num_states;
    size_t pair = assay_shape_pair(&counts->shape, h, 0, 0) + at;
    double total[ASSAY_CONSISTENCY_ROWS];
    assay_consistency x;
    find_totals(total, terms, counts->cell + pair, count);
    assay_consistency_project(&x, p->level + at,
                              counts->cell + counts->num_pairs + pair * n,
                              p->value + (size_t)(h + 1) * n, n, total,
                              terms->slack, count, next_rows(p, h, at, count));
    find_values(p->q + at, terms, p->rewards + pair, &x, count);
}

static int has_eight_lanes(void)
{
#ifdef ASSAY_CONSISTENCY_SIDE
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq");
#else
    return 0;
#endif
}

#ifdef ASSAY_CONSISTENCY_SIDE
typedef unsigned side_function(double *q, int64_t *level,
                               const assay_dp_apvi_terms *terms,
                               const assay_dp_apvi_rows *x);

static side_function *side_way(size_t count)
{
    return count % 8 == 0 && has_eight_lanes() ? assay_dp_apvi_side8
                                               : assay_dp_apvi_side;
}

/* Of eight rows that are left four may do by themselves. */
static unsigned split_eights(double *q, int64_t *level,
                             const assay_dp_apvi_terms *terms,
                             const assay_dp_apvi_rows *rows, unsigned left)
{
    unsigned still = 0;
    for (size_t i = 0; left >> i != 0; i += 2) {
        assay_dp_apvi_rows x = {rows->row + 4 * i * rows->n,
                                rows->visits + 4 * i,
                                rows->reward + 4 * i,
                                rows->v,
                                rows->n,
                                8,
                                rows->next};
        if ((left >> i & 3) != 0) {
            unsigned l =
                assay_dp_apvi_side(q + 4 * i, level + 4 * i, terms, &x);
            still |= (l & 3) << i;
        }
    }
    return still;
}

/* Short rows in one go, and those for which that will not do once more; 0 if
 * that is not worth while. */
static int short_value(const planner *p, const assay_dp_apvi_terms *terms,
                       uint32_t h, size_t at, size_t count)
{
    const assay_counts *counts = p->counts;
    size_t n = counts->shape.num_states;
    size_t pair = assay_shape_pair(&counts->shape, h, 0, 0) + at;
    assay_dp_apvi_rows x = {counts->cell + counts->num_pairs + pair * n,
                            counts->cell + pair,
                            p->rewards + pair,
                            p->value + (size_t)(h + 1) * n,
                            n,
                            count,
                            next_rows(p, h, at, count)};
    unsigned left = side_way(count)(p->q + at, p->level + at, terms, &x);
    if (left == ASSAY_DP_APVI_NONE) {
        return 0;
    }
    if (left != 0 && count % 8 == 0 && has_eight_lanes()) {
        left = split_eights(p->q + at, p->level + at, terms, &x, left);
    }
    for (size_t i = 0; left != 0; i += 4, left >>= 1) {
        if (left & 1) {
            rows_value(p, terms, h, at + i, 4);
        }
    }
    return 1;
}
#endif

static void block_value(const planner *p, const assay_dp_apvi_terms *terms,
                        uint32_t h, size_t at, size_t count)
{
#ifdef ASSAY_CONSISTENCY_SIDE
    if (p->counts->shape.num_states <= ASSAY_CONSISTENCY_SHORT &&
        count % 4 == 0 && __builtin_cpu_supports("avx2") &&
        short_value(p, terms, h, at, count)) {
        return;
    }
#endif
    rows_value(p, terms, h, at, count);
}

/* How many of the rows that are left go at once; eights or fours, where there
 * are. */
static size_t rows_at_once(const assay_shape *shape, size_t left)
{
    size_t rows = assay_consistency_rows(shape->num_states);
    size_t lanes = left >= 8 && has_eight_lanes() ? 8 : 4;
    if (left >= rows) {
        return rows;
    }
    return left < 4 ? left : left - left % lanes;
}

static void ask_for(const void *from, size_t bytes)
{
#if defined(__GNUC__) && !defined(__FRAMAC__)
    for (size_t i = 0; i < bytes; i += LINE) {
        __builtin_prefetch((const char *)from + i);
    }
#else
    (void)from, (void)bytes;
#endif
}

/* Pairs and rewards of step h, where steps are small: too few for the CPU to
 * see a pattern. */
static void ask_for_pairs(const assay_counts *counts, const double *rewards,
                          uint32_t h, size_t at, size_t count)
{
    size_t pair = assay_shape_pair(&counts->shape, h, 0, 0) + at;
    ask_for(counts->cell + pair, count * sizeof(int64_t));
    ask_for(rewards + pair, count * sizeof(double));
}

static void ask_for_step(const assay_counts *counts, uint32_t h)
{
    const assay_shape *shape = &counts->shape;
    size_t n = shape->num_states;
    size_t bytes = n * shape->num_actions * n * sizeof(int64_t);
    ask_for(counts->cell + counts->num_pairs +
                assay_shape_pair(shape, h, 0, 0) * n,
            bytes < NEAR ? bytes : NEAR);
}

/* What comes first, while all else is prepared: next_rows names none of it. */
static void ask_for_last_steps(const assay_counts *counts,
                               const double *rewards)
{
    const assay_shape *shape = &counts->shape;
    size_t step = (size_t)shape->num_states * shape->num_actions;
    ask_for_step(counts, shape->horizon - 1);
    ask_for_pairs(counts, rewards, shape->horizon - 1, 0, step);
    if (shape->horizon > 1 && has_small_steps(shape)) {
        ask_for_step(counts, shape->horizon - 2);
    }
}

/* The best action, the lowest of those within ASSAY_DP_APVI_TIE. No jumps. */
static void choose_action(const planner *p, uint32_t h, uint32_t s)
{
    const assay_shape *shape = &p->counts->shape;
    size_t at = (size_t)h * shape->num_states + s;
    const double *q = p->q + (size_t)s * shape->num_actions;
    double top = 0.0;
    uint32_t arg_top = 0;
    for (uint32_t a = 0; a < shape->num_actions; a++) {
        top = q[a] > top ? q[a] : top;
    }
    for (uint32_t a = shape->num_actions; a-- > 0;) {
        arg_top = q[a] < top - ASSAY_DP_APVI_TIE ? arg_top : a;
    }
    p->policy->action[at] = arg_top;
    p->value[at] = top;
}

static void choose_actions(const planner *p, uint32_t h, uint32_t first,
                           uint32_t last)
{
#ifdef ASSAY_CONSISTENCY_SIDE
    if (last - first >= 4 && __builtin_cpu_supports("avx2")) {
        const assay_shape *shape = &p->counts->shape;
        size_t at = (size_t)h * shape->num_states + first;
        assay_dp_apvi_side_choose(p->policy->action + at, p->value + at,
                                  p->q + (size_t)first * shape->num_actions,
                                  last - first, shape->num_actions);
        return;
    }
#endif
    for (uint32_t s = first; s < last; s++) {
        choose_action(p, h, s);
    }
}

/* One thread's states of one step. */
typedef struct strip {
    const planner *p;
    uint32_t h, first, last;
} strip;

static void *plan_strip(void *arg)
{
    const strip *job = arg;
    const planner *p = job->p;
    const assay_shape *shape = &p->counts->shape;
    size_t at = (size_t)job->first * shape->num_actions;
    size_t end = (size_t)job->last * shape->num_actions;
    size_t count;
    assay_dp_apvi_terms terms;
    find_terms(&terms, p, job->h);
    for (; at < end; at += count) {
        count = rows_at_once(shape, end - at);
        if (job->h > 0) {
            ask_for_pairs(p->counts, p->rewards, job->h - 1, at, count);
        }
        block_value(p, &terms, job->h, at, count);
    }
    choose_actions(p, job->h, job->first, job->last);
    return NULL;
}

static void plan_strips(const planner *p, uint32_t h, uint32_t num_threads)
{
    uint64_t states = p->counts->shape.num_states;
    pthread_t thread[MAX_THREADS];
    int started[MAX_THREADS] = {0};
    strip job[MAX_THREADS];
    for (uint32_t i = 0; i < num_threads; i++) {
        job[i].p = p;
        job[i].h = h;
        job[i].first = (uint32_t)(states * i / num_threads);
        job[i].last = (uint32_t)(states * (i + 1) / num_threads);
        if (i > 0) {
            started[i] =
                pthread_create(&thread[i], NULL, plan_strip, &job[i]) == 0;
        }
    }
    (void)plan_strip(&job[0]);
    for (uint32_t i = 1; i < num_threads; i++) {
        if (started[i]) {
            (void)pthread_join(thread[i], NULL);
        } else {
            (void)plan_strip(&job[i]);
        }
    }
}

static void plan_step(const planner *p, uint32_t h, uint32_t num_threads)
{
    if (num_threads > 1) {
        plan_strips(p, h, num_threads);
    } else {
        strip all = {p, h, 0, p->counts->shape.num_states};
        (void)plan_strip(&all);
    }
}

static HOT int within_unit(const double *x, size_t n)
{
    int64_t bad = 0;
    for (size_t i = 0; i < n; i++) {
        bad |= x[i] >= 0.0 && x[i] <= 1.0 ? 0 : 1;
    }
    return bad == 0;
}

assay_status assay_dp_apvi_rewards_check(const double *rewards,
                                         const assay_shape *shape,
                                         assay_error *err)
{
    if (!within_unit(rewards, assay_shape_pairs(shape))) {
        return assay_fail(err, ASSAY_INVALID, "every reward must be in [0, 1]");
    }
    return ASSAY_OK;
}

static double mean_of(const double *x, uint32_t n)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum / n;
}

static uint32_t threads_for(const assay_dp_apvi_params *params,
                            const assay_shape *shape)
{
    uint32_t n = params->num_threads == 0 ? 1 : params->num_threads;
    size_t work = assay_shape_triples(shape) / shape->horizon;
    n = n > MAX_THREADS ? MAX_THREADS : n;
    return work < 100000 ? 1 : n; /* a thread must be worth starting */
}

/* One piece of memory: a small problem is over before four are found. */
static assay_status planner_room(planner *p, assay_error *err)
{
    const assay_shape *shape = &p->counts->shape;
    size_t values = (size_t)(shape->horizon + 1) * shape->num_states;
    size_t rows = (size_t)shape->num_states * shape->num_actions;
    size_t words = values + shape->horizon + 1 + 2 * rows;
    p->value = calloc(words, sizeof(double));
    if (p->value == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for planning");
    }
    p->uniform = p->value + values;
    p->q = p->uniform + shape->horizon + 1;
    p->level = (int64_t *)(void *)(p->q + rows); /* of the same size */
    return assay_policy_new(&p->policy, shape, err);
}

static assay_status planner_init(planner *p, const assay_counts *released,
                                 const double *rewards,
                                 const assay_dp_apvi_params *params,
                                 assay_error *err)
{
    const assay_shape *shape = &released->shape;
    memset(p, 0, sizeof *p);
    p->counts = released;
    p->params = params;
    p->rewards = rewards;
    p->iota = log((double)assay_shape_pairs(shape) / params->failure);
    assay_dp_apvi_widths_get(&p->width, params, shape);
    p->second = params->c2 * shape->num_states * shape->horizon * 2.0 *
                p->width.triple * p->iota;
    return planner_room(p, err);
}

/* Backwards through the steps. */
static void planner_run(planner *p)
{
    const assay_shape *shape = &p->counts->shape;
    uint32_t threads = threads_for(p->params, shape);
    for (uint32_t h = shape->horizon; h-- > 0;) {
        plan_step(p, h, threads);
        p->uniform[h] = mean_of(p->value + (size_t)h * shape->num_states,
                                shape->num_states);
    }
}

assay_status assay_dp_apvi_plan(assay_policy **out, double *value,
                                const assay_counts *released,
                                const double *rewards,
                                const assay_dp_apvi_params *params,
                                assay_error *err)
{
    planner p;
    const assay_shape *shape = &released->shape;
    assay_status status = assay_dp_apvi_params_check(params, shape, err);
    if (status == ASSAY_OK) {
        ask_for_last_steps(released, rewards);
        status = assay_dp_apvi_rewards_check(rewards, shape, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    status = planner_init(&p, released, rewards, params, err);
    if (status == ASSAY_OK) {
        planner_run(&p);
        if (value != NULL) {
            memcpy(value, p.value, shape->num_states * sizeof(double));
        }
        *out = p.policy;
        p.policy = NULL;
    }
    assay_policy_free(p.policy);
    free(p.value);
    return status;
}
