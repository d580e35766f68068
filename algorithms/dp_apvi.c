/* ring: glue */
#include "algorithms/dp_apvi.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/consistency.h"

#define MAX_THREADS 64u
#define TIE 0x1p-30

void assay_dp_apvi_params_init(assay_dp_apvi_params *params,
                               assay_preset preset)
{
    memset(params, 0, sizeof *params);
    params->noise = ASSAY_NOISE_GAUSSIAN;
    mpq_init(params->budget);
    mpq_set_ui(params->budget, 1, 1);
    mpq_init(params->pair_share);
    mpq_set_ui(params->pair_share, 1, 2);
    params->c1 = preset == ASSAY_PRESET_PAPER ? sqrt(2.0) : 0.1;
    params->c2 = preset == ASSAY_PRESET_PAPER ? 16.0 : 0.001;
    params->c = 2.0;
    params->failure = 0.1;
    params->num_threads = 1;
}

void assay_dp_apvi_params_clear(assay_dp_apvi_params *params)
{
    mpq_clear(params->budget);
    mpq_clear(params->pair_share);
}

/* Pairs and triples in two releases. */
static int is_split(const assay_dp_apvi_params *params)
{
    return !params->triples_only && mpq_cmp_ui(params->pair_share, 1, 2) != 0;
}

static int weight_ok(double w)
{
    return isfinite(w) && w >= 0.0;
}

assay_status assay_dp_apvi_params_check(const assay_dp_apvi_params *params,
                                        const assay_shape *shape,
                                        assay_error *err)
{
    if (!weight_ok(params->c1) || !weight_ok(params->c2) ||
        !weight_ok(params->c)) {
        return assay_fail(err, ASSAY_INVALID,
                          "penalty weights must be finite and not negative");
    }
    if (!(params->failure > 0.0 && params->failure < 1.0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "failure probability must be between 0 and 1");
    }
    if (mpq_sgn(params->pair_share) <= 0 ||
        mpq_cmp_ui(params->pair_share, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "the pairs' share must be between 0 and 1");
    }
    if (params->noise == ASSAY_NOISE_UNARY) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "DP-APVI has Gaussian and Laplace noise");
    }
    if (params->noise != ASSAY_NOISE_NONE && mpq_sgn(params->budget) <= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "the privacy budget must be greater than zero");
    }
    return assay_shape_check(shape, err);
}

uint64_t assay_dp_apvi_sensitivity(const assay_dp_apvi_params *params,
                                   const assay_shape *shape)
{
    int one = params->triples_only || is_split(params);
    return (uint64_t)(one ? 2 : 4) * shape->horizon;
}

/* log(4 H S^2 A / failure) */
static double log_cells(const assay_dp_apvi_params *params,
                        const assay_shape *shape)
{
    return log(4.0 * (double)assay_shape_triples(shape) / params->failure);
}

/* The part of the budget that the pairs (or the triples) get. */
static void part_of(mpq_t out, const assay_dp_apvi_params *params, int pairs)
{
    mpq_set_ui(out, 1, 1);
    if (!params->triples_only) {
        mpq_sub(out, out, params->pair_share);
        if (pairs) {
            mpq_set(out, params->pair_share);
        }
    }
    mpq_mul(out, out, params->budget);
}

/* sigma^2 or scale of the noise of pairs (or triples): each alone has the
 * sensitivity 2H, and half the budget is the joint release of 4H. */
static double scale_of(const assay_dp_apvi_params *params,
                       const assay_shape *shape, int pairs)
{
    mpq_t part;
    mpq_t scale;
    double value;
    mpq_init(part);
    mpq_init(scale);
    part_of(part, params, pairs);
    assay_privatizer_scale(scale, params->noise, 2 * (uint64_t)shape->horizon,
                           part);
    value = mpq_get_d(scale);
    mpq_clear(part);
    mpq_clear(scale);
    return value;
}

/* Triples alone: a pair is a sum of S of them. Laplace: P[|X| > b t] = e^-t; a
 * sum of S is below b max(sqrt(8 S t), 4 t), and below S b t. */
static double sum_width(const assay_dp_apvi_params *params, double scale,
                        double states, double logs)
{
    if (params->noise == ASSAY_NOISE_GAUSSIAN) {
        return sqrt(2.0 * scale * logs * states);
    }
    return scale *
           fmin(states * logs, fmax(sqrt(8.0 * states * logs), 4.0 * logs));
}

void assay_dp_apvi_widths_get(assay_dp_apvi_widths *out,
                              const assay_dp_apvi_params *params,
                              const assay_shape *shape)
{
    double logs = log_cells(params, shape);
    double triple;
    double pair;
    out->triple = 0.0;
    out->pair = 0.0;
    if (params->noise == ASSAY_NOISE_NONE) {
        return;
    }
    triple = scale_of(params, shape, 0);
    pair = scale_of(params, shape, 1);
    if (params->noise == ASSAY_NOISE_GAUSSIAN) {
        out->triple = sqrt(2.0 * triple * logs);
        out->pair = sqrt(2.0 * pair * logs);
    } else {
        out->triple = triple * logs;
        out->pair = pair * logs;
    }
    if (params->triples_only) {
        out->pair = sum_width(params, triple, shape->num_states, logs);
    }
}

static int64_t clamp(int64_t x)
{
    int64_t top = (int64_t)1 << 44; /* S 2^44 < 2^61 */
    return x > top ? top : x < -top ? -top : x;
}

/* The pairs as sums of noisy triples: post-processing. */
static void sum_triples(assay_counts *counts)
{
    uint32_t num_states = counts->shape.num_states;
    const int64_t *row = counts->cell + counts->num_pairs;
    for (size_t pair = 0; pair < counts->num_pairs; pair++) {
        int64_t sum = 0;
        for (uint32_t t = 0; t < num_states; t++) {
            sum += clamp(row[t]);
        }
        counts->cell[pair] = sum;
        row += num_states;
    }
}

/* One release of cells [first, first + n) with a part of the budget. */
static assay_status release_part(assay_counts *noisy,
                                 const assay_counts *counts, size_t first,
                                 size_t n, const assay_dp_apvi_params *params,
                                 const mpq_t part, const char *label,
                                 struct assay_custodian *custodian,
                                 assay_error *err)
{
    return assay_privatizer_release(
        custodian, params->noise, noisy->cell + first, counts->cell + first, n,
        assay_dp_apvi_sensitivity(params, &counts->shape), part, label, err);
}

static assay_status release_split(assay_counts *noisy,
                                  const assay_counts *counts,
                                  const assay_dp_apvi_params *params,
                                  struct assay_custodian *custodian,
                                  assay_error *err)
{
    mpq_t part;
    assay_status status;
    mpq_init(part);
    part_of(part, params, 1);
    status = release_part(noisy, counts, 0, counts->num_pairs, params, part,
                          "dp-apvi: pair counts", custodian, err);
    part_of(part, params, 0);
    if (status == ASSAY_OK) {
        status = release_part(noisy, counts, counts->num_pairs,
                              counts->num_triples, params, part,
                              "dp-apvi: triple counts", custodian, err);
    }
    mpq_clear(part);
    return status;
}

static assay_status release_cells(assay_counts *noisy,
                                  const assay_counts *counts,
                                  const assay_dp_apvi_params *params,
                                  struct assay_custodian *custodian,
                                  assay_error *err)
{
    size_t n = counts->num_pairs + counts->num_triples;
    if (is_split(params)) {
        return release_split(noisy, counts, params, custodian, err);
    }
    if (params->triples_only) {
        return release_part(noisy, counts, counts->num_pairs,
                            counts->num_triples, params, params->budget,
                            "dp-apvi: triple counts", custodian, err);
    }
    return release_part(noisy, counts, 0, n, params, params->budget,
                        "dp-apvi: counts", custodian, err);
}

assay_status assay_dp_apvi_release(assay_counts **released,
                                   const assay_counts *counts,
                                   const assay_dp_apvi_params *params,
                                   struct assay_custodian *custodian,
                                   assay_error *err)
{
    assay_counts *noisy = NULL;
    assay_status status =
        assay_dp_apvi_params_check(params, &counts->shape, err);
    if (status == ASSAY_OK) {
        status = assay_counts_new(&noisy, &counts->shape, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    noisy->num_users = counts->num_users; /* public */
    status = release_cells(noisy, counts, params, custodian, err);
    if (status != ASSAY_OK) {
        assay_counts_free(noisy);
        return status;
    }
    if (params->triples_only) {
        sum_triples(noisy);
    }
    *released = noisy;
    return ASSAY_OK;
}

/* What every row of the planner needs. */
typedef struct planner {
    const assay_counts *counts;
    const assay_dp_apvi_params *params;
    const double *rewards;
    assay_policy *policy;
    double *value;   /* [h][s], h = H is zero */
    double *uniform; /* [h]: the mean of value[h] */
    int64_t *level;  /* [s]: the last water level of a state's rows */
    assay_dp_apvi_widths width;
    double iota;   /* log(H S A / failure) */
    double second; /* C2 S H E iota */
} planner;

/* Gamma_h(s, a) for a count n = 1/inverse above its noise E. */
static double penalty(const planner *p, double n, double inverse,
                      double variance)
{
    int bernstein = p->params->penalty == ASSAY_PENALTY_BERNSTEIN;
    double horizon = p->counts->shape.horizon;
    double factor = bernstein ? variance : horizon * horizon;
    double spread = sqrt(factor * p->iota / (n - 2.0 * p->width.pair));
    return p->params->c1 * spread + p->second * inverse;
}

/* The pessimistic value of one (h, s, a), clipped to [0, H-h]. */
static double row_value(const planner *p, size_t pair, uint32_t h,
                        const assay_consistency *x)
{
    double horizon = p->counts->shape.horizon;
    double top = horizon - h;
    double q;
    if (x->moment[0] > 2.0 * p->width.pair) {
        double inverse = 1.0 / x->moment[0];
        double mean = x->moment[1] * inverse;
        double variance = x->moment[2] * inverse - mean * mean;
        variance = variance > 0.0 ? variance : 0.0;
        q = p->rewards[pair] + mean -
            penalty(p, x->moment[0], inverse, variance);
    } else {
        /* uniform over states, and the largest penalty */
        q = p->rewards[pair] + p->uniform[h + 1] - p->params->c * horizon;
    }
    q = q > 0.0 ? q : 0.0;
    return q < top ? q : top;
}

/* The values of `count` actions from `pair` on. `level` is the water level of
 * the rows before: a good guess, and the same for every number of threads. */
static void rows_value(const planner *p, double *q, size_t pair, uint32_t h,
                       size_t count, int64_t *level)
{
    const assay_counts *counts = p->counts;
    size_t n = counts->shape.num_states;
    const double *next = p->value + (size_t)(h + 1) * n;
    double slack = p->params->triples_only ? 0.0 : p->width.pair;
    double total[ASSAY_CONSISTENCY_ROWS] = {0.0};
    assay_consistency x[ASSAY_CONSISTENCY_ROWS];
    for (size_t i = 0; i < count; i++) {
        int64_t visits = counts->cell[pair + i];
        total[i] = visits > 0 ? (double)visits : 0.0;
        if (total[i] + slack <= 2.0 * p->width.pair) {
            total[i] = -1.0; /* the row's sum would be at most total + slack */
        }
    }
    assay_consistency_project(x, level,
                              counts->cell + counts->num_pairs + pair * n, next,
                              n, total, slack, count);
    for (size_t i = 0; i < count; i++) {
        q[i] = row_value(p, pair + i, h, &x[i]);
    }
}

/* How many rows at once: what the nearest cache holds. */
static size_t block_of(const assay_shape *shape)
{
    size_t rows = 2048 / (size_t)shape->num_states;
    rows = rows < 1 ? 1 : rows;
    return rows < ASSAY_CONSISTENCY_ROWS ? rows : ASSAY_CONSISTENCY_ROWS;
}

/* One thread's states of one step. */
typedef struct strip {
    const planner *p;
    uint32_t h, first, last;
    double *q; /* scratch: the values of the actions */
} strip;

static void plan_state(const strip *job, uint32_t s)
{
    const planner *p = job->p;
    const assay_shape *shape = &p->counts->shape;
    size_t at = (size_t)job->h * shape->num_states + s;
    size_t pair = assay_shape_pair(shape, job->h, s, 0);
    size_t block = block_of(shape);
    size_t num_actions = shape->num_actions;
    double top = 0.0;
    uint32_t arg_top = 0;
    for (size_t a = 0; a < num_actions; a += block) {
        size_t count = num_actions - a < block ? num_actions - a : block;
        rows_value(p, job->q + a, pair + a, job->h, count, &p->level[s]);
    }
    for (size_t a = 0; a < num_actions; a++) {
        top = job->q[a] > top ? job->q[a] : top;
    }
    while (job->q[arg_top] < top - TIE) {
        arg_top++;
    }
    p->policy->action[at] = arg_top;
    p->value[at] = top;
}

static void *plan_strip(void *arg)
{
    const strip *job = arg;
    for (uint32_t s = job->first; s < job->last; s++) {
        plan_state(job, s);
    }
    return NULL;
}

static void plan_step(const planner *p, uint32_t h, double *scratch,
                      uint32_t num_threads)
{
    const assay_shape *shape = &p->counts->shape;
    pthread_t thread[MAX_THREADS];
    int started[MAX_THREADS] = {0};
    strip job[MAX_THREADS] = {{NULL, 0, 0, 0, NULL}};
    for (uint32_t i = 0; i < num_threads; i++) {
        uint64_t states = shape->num_states;
        job[i].p = p;
        job[i].h = h;
        job[i].first = (uint32_t)(states * i / num_threads);
        job[i].last = (uint32_t)(states * (i + 1) / num_threads);
        job[i].q = scratch + (size_t)i * shape->num_actions;
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

static assay_status check_rewards(const double *rewards,
                                  const assay_shape *shape, assay_error *err)
{
    size_t n = assay_shape_pairs(shape);
    for (size_t i = 0; i < n; i++) {
        if (!(rewards[i] >= 0.0 && rewards[i] <= 1.0)) {
            return assay_fail(err, ASSAY_INVALID,
                              "every reward must be in [0, 1]");
        }
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
    p->value = calloc((size_t)(shape->horizon + 1) * shape->num_states,
                      sizeof(double));
    p->uniform = calloc((size_t)shape->horizon + 1, sizeof(double));
    p->level = calloc(shape->num_states, sizeof(int64_t));
    if (p->value == NULL || p->uniform == NULL || p->level == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for planning");
    }
    return assay_policy_new(&p->policy, shape, err);
}

/* Backwards through the steps. */
static assay_status planner_run(planner *p, assay_error *err)
{
    const assay_shape *shape = &p->counts->shape;
    uint32_t threads = threads_for(p->params, shape);
    double *scratch =
        calloc((size_t)shape->num_actions * threads, sizeof(double));
    if (scratch == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for planning");
    }
    for (uint32_t h = shape->horizon; h-- > 0;) {
        plan_step(p, h, scratch, threads);
        p->uniform[h] = mean_of(p->value + (size_t)h * shape->num_states,
                                shape->num_states);
    }
    free(scratch);
    return ASSAY_OK;
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
        status = check_rewards(rewards, shape, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    status = planner_init(&p, released, rewards, params, err);
    if (status == ASSAY_OK) {
        status = planner_run(&p, err);
    }
    if (status == ASSAY_OK) {
        if (value != NULL) {
            memcpy(value, p.value, shape->num_states * sizeof(double));
        }
        *out = p.policy;
        p.policy = NULL;
    }
    assay_policy_free(p.policy);
    free(p.value);
    free(p.uniform);
    free(p.level);
    return status;
}

assay_status assay_dp_apvi_learn(assay_policy **out, const assay_counts *counts,
                                 const double *rewards,
                                 const assay_dp_apvi_params *params,
                                 struct assay_custodian *custodian,
                                 assay_error *err)
{
    assay_counts *released = NULL;
    assay_status status = check_rewards(rewards, &counts->shape, err);
    if (status == ASSAY_OK) {
        status =
            assay_dp_apvi_release(&released, counts, params, custodian, err);
    }
    if (status == ASSAY_OK) {
        status = assay_dp_apvi_plan(out, NULL, released, rewards, params, err);
    }
    assay_counts_free(released);
    return status;
}
