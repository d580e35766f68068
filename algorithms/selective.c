/* ring: glue */
#include "algorithms/selective.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/calibrate.h"
#include "algorithms/envrand.h"
#include "algorithms/group_sum.h"
#include "core/bound.h"
#include "mechanisms/sampled_sum.h"

/* The noise is about 2^9 to 2^10 steps wide: the sampler's tables are quick
 * there. The clipping norm is between 2^4 and 2^20 steps. */
#define NOISE_BITS 10
#define RADIUS_LEAST 4
#define RADIUS_MOST 20
#define MAX_DIMENSION ((size_t)1 << 20)
#define MAX_ENTRY ((int64_t)1 << 20) /* 2^20 entries of 4^20: at most 2^60 */
#define INSIDE (1.0 - 1.0 / 64)
#define MAX_EXPERTS ((uint64_t)1 << 40)

void assay_selective_params_init(assay_selective_params *params,
                                 assay_offline_kind kind, const char *env)
{
    memset(params, 0, sizeof *params);
    assay_offline_options_init(&params->offline, kind, env);
    params->rate_bits = 3;
    params->num_steps = 1000;
    params->rows_per_expert = 8;
    params->batch = 64;
    params->private_rate = 1e-3;
    params->average = 0.98;
    mpq_init(params->coin);
    mpq_init(params->clip);
    mpq_init(params->sigma2);
    mpq_set_ui(params->coin, 1, 2);
    mpq_set_ui(params->clip, 1, 1);
    mpq_set_ui(params->sigma2, 1, 1);
}

void assay_selective_params_clear(assay_selective_params *params)
{
    mpq_clear(params->coin);
    mpq_clear(params->clip);
    mpq_clear(params->sigma2);
}

static assay_status check(const assay_selective_params *p, assay_error *err)
{
    if (mpq_sgn(p->coin) < 0 || mpq_cmp_ui(p->coin, 1, 1) > 0) {
        return assay_fail(err, ASSAY_INVALID, "the coin must be in [0, 1]");
    }
    if (mpq_sgn(p->clip) <= 0 || mpq_sgn(p->sigma2) <= 0 ||
        mpq_get_d(p->clip) < 0x1p-40 || mpq_get_d(p->clip) > 0x1p40) {
        return assay_fail(err, ASSAY_INVALID,
                          "sigma must be positive and the clipping norm "
                          "between 2^-40 and 2^40");
    }
    if (p->num_steps == 0 || p->rate_bits > 63 || p->batch < 1 ||
        p->rows_per_expert < 1 || !(p->private_rate > 0.0) ||
        !(p->average >= 0.0 && p->average < 1.0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs at least one step, one row and one expert a "
                          "step, positive rates and an average in [0, 1)");
    }
    return ASSAY_OK;
}

static int step_bits(const assay_selective_params *p)
{
    int clip = 0;
    int noise = 0;
    int bits;
    (void)frexp(mpq_get_d(p->clip), &clip);
    (void)frexp(mpq_get_d(p->clip) * sqrt(mpq_get_d(p->sigma2)), &noise);
    bits = NOISE_BITS - noise;
    bits = bits < RADIUS_LEAST + 1 - clip ? RADIUS_LEAST + 1 - clip : bits;
    return bits > RADIUS_MOST - clip ? RADIUS_MOST - clip : bits;
}

/* floor(clip 2^bits): the norm in steps */
static int64_t radius_of(const assay_selective_params *p, int bits)
{
    mpq_t steps;
    mpz_t whole;
    int64_t out;
    mpq_init(steps);
    mpz_init(whole);
    if (bits >= 0) {
        mpq_mul_2exp(steps, p->clip, (mp_bitcnt_t)bits);
    } else {
        mpq_div_2exp(steps, p->clip, (mp_bitcnt_t)-bits);
    }
    mpz_fdiv_q(whole, mpq_numref(steps), mpq_denref(steps));
    out = (int64_t)mpz_get_si(whole);
    mpz_clear(whole);
    mpq_clear(steps);
    return out;
}

static int64_t to_steps(double y)
{
    if (!(fabs(y) < (double)MAX_ENTRY)) {
        return isnan(y) ? 0 : y > 0.0 ? MAX_ENTRY : -MAX_ENTRY;
    }
    return (int64_t)(y < 0.0 ? y - 0.5 : y + 0.5);
}

/* A double scale that brings most gradients inside the ball beforehand, where
 * the exact clip has nothing left to divide. */
static double first_scale(const double *gradient, size_t n, int bits,
                          int64_t radius)
{
    double unit = ldexp(1.0, bits);
    double inside = (double)radius * INSIDE;
    double squares = 0.0;
    double norm;
    for (size_t i = 0; i < n; i++) {
        squares += gradient[i] * gradient[i];
    }
    norm = sqrt(squares) * unit;
    return norm > inside && isfinite(norm) ? unit * (inside / norm) : unit;
}

void assay_selective_bound(int64_t *out, const double *gradient, size_t n,
                           int bits, int64_t radius)
{
    double scale = first_scale(gradient, n, bits, radius);
    for (size_t i = 0; i < n; i++) {
        out[i] = to_steps(gradient[i] * scale);
    }
    (void)assay_clip_l2(out, n, MAX_ENTRY, radius);
}

/* sigma2 and sensitivity2 in real units */
static void set_plan(assay_sampling_plan *plan, mpq_t sigma2,
                     mpq_t sensitivity2, const assay_selective_params *p,
                     uint64_t population, size_t dimension)
{
    memset(plan, 0, sizeof *plan);
    mpq_mul(sensitivity2, p->clip, p->clip);
    mpq_mul(sigma2, p->sigma2, sensitivity2);
    plan->poisson = 1;
    plan->rate_bits = p->rate_bits;
    plan->population = population;
    plan->num_steps = p->num_steps;
    plan->dimension = dimension;
    plan->step_bits = step_bits(p);
    plan->sigma2 = sigma2;
    plan->sensitivity2 = sensitivity2;
    plan->coin = p->coin;
}

void assay_selective_event(assay_event *event,
                           const assay_selective_params *params)
{
    assay_sampling_plan plan;
    mpq_t sigma2;
    mpq_t sensitivity2;
    mpq_init(sigma2);
    mpq_init(sensitivity2);
    set_plan(&plan, sigma2, sensitivity2, params, 1, 1);
    assay_sampled_sum_event(event, &plan);
    mpq_clear(sigma2);
    mpq_clear(sensitivity2);
}

/* ---- a run ---- */

typedef struct run {
    const assay_selective_params *p;
    const assay_transitions *stable, *pool;
    assay_offline *learner;
    assay_adam adam; /* of private steps */
    assay_sampled_sum *sums;
    assay_envrand rand; /* batches of public rows */
    uint64_t num_experts;
    size_t n; /* parameters */
    int bits;
    int64_t radius;
    size_t *first; /* rows of expert i: first[i] .. first[i + 1] - 1 */
    size_t *rows;
    uint64_t *chosen;
    int64_t *one, *sum, *noisy;
    double *grad; /* of one expert */
    double *way;  /* along which a private step goes */
    double *mean;
    assay_selective_report report;
} run;

/* Where each expert's rows begin; they must stand together, in order. */
static assay_status index_pool(run *r, assay_error *err)
{
    size_t row = 0;
    size_t num = r->pool == NULL ? 0 : r->pool->num_rows;
    for (uint64_t i = 0; i < r->num_experts; i++) {
        r->first[i] = row;
        while (row < num && r->pool->expert[row] == i) {
            row++;
        }
    }
    r->first[r->num_experts] = row;
    return row == num ? ASSAY_OK
                      : assay_fail(err, ASSAY_INVALID,
                                   "rows of an expert must stand together, "
                                   "experts in order, below the number of "
                                   "experts");
}

static assay_status make_room(run *r, assay_error *err)
{
    size_t rows = r->p->batch > r->p->rows_per_expert ? r->p->batch
                                                      : r->p->rows_per_expert;
    r->first = calloc(r->num_experts + 1, sizeof *r->first);
    r->chosen = calloc(r->num_experts + 1, sizeof *r->chosen);
    r->rows = calloc(rows, sizeof *r->rows);
    r->one = calloc(r->n, sizeof *r->one);
    r->sum = calloc(r->n, sizeof *r->sum);
    r->noisy = calloc(r->n, sizeof *r->noisy);
    r->grad = calloc(r->n, sizeof *r->grad);
    r->way = calloc(r->n, sizeof *r->way);
    r->mean = calloc(r->n, sizeof *r->mean);
    if (r->first == NULL || r->chosen == NULL || r->rows == NULL ||
        r->one == NULL || r->sum == NULL || r->noisy == NULL ||
        r->grad == NULL || r->way == NULL || r->mean == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for learning");
    }
    return assay_adam_init(&r->adam, r->n, r->p->private_rate, err);
}

static void wipe(void *at, size_t len)
{
    if (at != NULL) {
        OPENSSL_cleanse(at, len);
    }
    free(at);
}

static void run_clear(run *r)
{
    wipe(r->one, r->n * sizeof *r->one);
    wipe(r->sum, r->n * sizeof *r->sum);
    wipe(r->grad, r->n * sizeof *r->grad);
    wipe(r->chosen, (r->num_experts + 1) * sizeof *r->chosen);
    free(r->first);
    free(r->rows);
    free(r->noisy);
    free(r->way);
    free(r->mean);
    assay_adam_clear(&r->adam);
    assay_sampled_sum_free(r->sums);
}

/* The clipped gradient of one expert: a function of its rows, the public seed
 * and the iterate. Without rows it is zero. */
static void expert_gradient(run *r, uint64_t expert, uint64_t step)
{
    size_t k = r->p->rows_per_expert;
    size_t num = r->first[expert + 1] - r->first[expert];
    assay_envrand rand;
    if (num == 0) {
        memset(r->one, 0, r->n * sizeof *r->one);
        return;
    }
    assay_envrand_init(&rand, r->p->offline.seed ^ step << 20, expert);
    for (size_t i = 0; i < k; i++) {
        r->rows[i] =
            r->first[expert] + assay_envrand_below(&rand, (uint32_t)num);
    }
    assay_offline_backward(r->learner, r->pool, r->rows, k, 1.0 / (double)k);
    assay_network_rows_gradient(&r->learner->policy.net, &r->learner->work, 0,
                                k, r->grad);
    assay_selective_bound(r->one, r->grad, r->n, r->bits, r->radius);
}

static assay_status private_step(run *r, uint64_t step, assay_error *err)
{
    double noise = mpq_get_d(r->p->clip) * sqrt(mpq_get_d(r->p->sigma2));
    double scale = ldexp(1.0, -r->bits) / noise;
    size_t num = 0;
    assay_status status = assay_sampled_sum_draw(r->sums, r->chosen, &num, err);
    if (status != ASSAY_OK) {
        return status;
    }
    memset(r->sum, 0, r->n * sizeof *r->sum);
    for (size_t k = 0; k < num; k++) {
        expert_gradient(r, r->chosen[k], step);
        assay_group_add(r->sum, r->one, r->n, (int64_t)k * r->radius,
                        r->radius);
    }
    status = assay_sampled_sum_release(r->sums, r->noisy, r->sum, err);
    if (status != ASSAY_OK) {
        return status;
    }
    for (size_t i = 0; i < r->n; i++) {
        r->way[i] = (double)r->noisy[i] * scale;
    }
    assay_offline_follow(r->learner, &r->adam, r->way);
    r->report.private_steps++;
    return ASSAY_OK;
}

static void plain_step(run *r)
{
    if (r->stable->num_rows == 0) {
        return;
    }
    for (size_t i = 0; i < r->p->batch; i++) {
        r->rows[i] =
            assay_envrand_below(&r->rand, (uint32_t)r->stable->num_rows);
    }
    assay_offline_step(r->learner, r->stable, r->rows, r->p->batch);
    r->report.plain_steps++;
}

/* mean = the average of iterates, with less weight on the first ones */
static void keep_average(run *r, uint64_t step)
{
    const double *x = r->learner->policy.net.params;
    double old = (double)step / (double)(step + 10);
    old = old < r->p->average ? old : r->p->average;
    for (size_t i = 0; i < r->n; i++) {
        r->mean[i] = old * r->mean[i] + (1.0 - old) * x[i];
    }
}

static assay_status all_steps(run *r, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (uint64_t i = 0; status == ASSAY_OK && i < r->p->num_steps; i++) {
        int heads = 0;
        if (r->sums != NULL) {
            status = assay_sampled_sum_coin(r->sums, &heads, err);
        }
        if (status == ASSAY_OK && heads) {
            status = private_step(r, i, err);
        } else if (status == ASSAY_OK) {
            plain_step(r);
        }
        keep_average(r, i);
    }
    return status;
}

static assay_status start_sums(run *r, assay_custodian *custodian,
                               assay_error *err)
{
    assay_sampling_plan plan;
    mpq_t sigma2;
    mpq_t sensitivity2;
    assay_status status;
    if (mpq_sgn(r->p->coin) == 0) {
        return ASSAY_OK;
    }
    mpq_init(sigma2);
    mpq_init(sensitivity2);
    set_plan(&plan, sigma2, sensitivity2, r->p, r->num_experts, r->n);
    status = assay_sampled_sum_new(&r->sums, custodian, &plan,
                                   "selective DP-SGD", err);
    mpq_clear(sigma2);
    mpq_clear(sensitivity2);
    return status;
}

static assay_status check_data(const run *r, const assay_custodian *custodian,
                               assay_error *err)
{
    int is_private = mpq_sgn(r->p->coin) != 0;
    if (r->stable->num_rows == 0 && !is_private) {
        return assay_fail(err, ASSAY_INVALID,
                          "no stable prefixes and no private steps: there is "
                          "nothing to learn from");
    }
    if (is_private && (custodian == NULL || r->num_experts == 0 ||
                       r->num_experts > MAX_EXPERTS || r->pool == NULL ||
                       r->pool->num_rows == 0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "the pool is empty: private steps need experts, "
                          "their transitions and a custodian");
    }
    if ((is_private && r->pool->num_rows > UINT32_MAX) ||
        r->stable->num_rows > UINT32_MAX) {
        return assay_fail(err, ASSAY_INVALID, "more than 2^32 transitions");
    }
    return ASSAY_OK;
}

static assay_status check_shape(const run *r, assay_error *err)
{
    const assay_observation *see = &r->learner->see;
    if (r->n > MAX_DIMENSION ||
        (r->stable->num_rows > 0 && r->stable->dim != see->state_dim) ||
        (r->pool != NULL && r->pool->dim != see->state_dim)) {
        return assay_fail(err, ASSAY_INVALID,
                          "transitions of another environment, or a network "
                          "of more than 2^20 parameters");
    }
    return ASSAY_OK;
}

static assay_status run_all(run *r, assay_custodian *custodian,
                            assay_error *err)
{
    assay_status status = check_shape(r, err);
    r->bits = step_bits(r->p);
    r->radius = radius_of(r->p, r->bits);
    r->report.dimension = r->n;
    r->report.step_bits = r->bits;
    assay_envrand_init(&r->rand, r->p->offline.seed, 5);
    if (status == ASSAY_OK) {
        status = make_room(r, err);
    }
    if (status == ASSAY_OK) {
        status = index_pool(r, err);
    }
    if (status == ASSAY_OK) {
        status = start_sums(r, custodian, err);
    }
    if (status == ASSAY_OK) {
        status = all_steps(r, err);
    }
    return status;
}

assay_status
assay_selective_learn(assay_q_policy *policy, assay_selective_report *report,
                      const char *env, const assay_transitions *stable,
                      const assay_transitions *pool, size_t num_experts,
                      const assay_selective_params *params,
                      assay_custodian *custodian, assay_error *err)
{
    assay_offline learner;
    run r;
    size_t rows = params->batch > params->rows_per_expert
                      ? params->batch
                      : params->rows_per_expert;
    assay_status status = check(params, err);
    memset(&r, 0, sizeof r);
    r.p = params;
    r.stable = stable;
    r.pool = pool;
    r.num_experts = num_experts;
    r.learner = &learner;
    if (status == ASSAY_OK) {
        status = check_data(&r, custodian, err);
    }
    if (status == ASSAY_OK) {
        status = assay_offline_init(&learner, env, &params->offline, rows, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    r.n = learner.policy.net.num_params;
    status = run_all(&r, custodian, err);
    if (status == ASSAY_OK) {
        memcpy(learner.policy.net.params, r.mean, r.n * sizeof *r.mean);
        *policy = learner.policy;
        memset(&learner.policy, 0, sizeof learner.policy);
        if (report != NULL) {
            *report = r.report;
        }
    }
    run_clear(&r);
    assay_offline_clear(&learner);
    return status;
}
