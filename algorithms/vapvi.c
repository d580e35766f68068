/* ring: glue */
#include "algorithms/vapvi.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/linear_solve.h"
#include "algorithms/privatizer.h"
#include "mechanisms/session.h"

#define TIE 0x1p-30
#define MOST_BITS 12u
#define LEAST_BITS 3u
#define PART_VALUES 0u
#define PART_VARIANCES 1u

void assay_vapvi_params_init(assay_vapvi_params *params, int paper)
{
    memset(params, 0, sizeof *params);
    mpq_init(params->budget);
    mpq_set_ui(params->budget, 1, 1);
    params->statistics = ASSAY_VAPVI_CENTRED;
    params->variance_aware = 1;
    params->paper = paper;
    params->c = paper ? 1.0 : 0.05;
    params->extra = paper ? ASSAY_VAPVI_PRINTED_D : 0.0;
    params->ridge = 1.0;
    params->shift = paper ? 1.0 : 0.0;
}

void assay_vapvi_params_clear(assay_vapvi_params *params)
{
    mpq_clear(params->budget);
}

assay_status assay_vapvi_params_check(const assay_vapvi_params *params,
                                      const assay_shape *shape,
                                      const assay_features *features,
                                      assay_error *err)
{
    assay_status status = assay_shape_check(shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (features->num_rows != (size_t)shape->num_states * shape->num_actions) {
        return assay_fail(err, ASSAY_INVALID,
                          "the features have %zu rows, not S A",
                          features->num_rows);
    }
    if (!(isfinite(params->c) && params->c >= 0.0) ||
        !isfinite(params->extra) ||
        !(isfinite(params->ridge) && params->ridge > 0.0) ||
        !(isfinite(params->shift) && params->shift >= 0.0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "penalty and shift must not be negative, the ridge "
                          "must be positive");
    }
    if (params->is_private && !params->variance_aware) {
        return assay_fail(err, ASSAY_UNSUPPORTED, "PEVI is not private");
    }
    if (params->is_private && mpq_sgn(params->budget) <= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "the privacy budget must be greater than zero");
    }
    return ASSAY_OK;
}

/* All that a run needs; `value` is V of the step after, on the lattice. */
typedef struct run {
    const assay_vapvi_params *params;
    const assay_features *features;
    const assay_counts *values, *variances;
    const double *rewards;
    const assay_shape *shape;
    assay_session *session;
    assay_policy *policy;
    size_t d, num_rows, max_sums;
    uint64_t num_users;
    unsigned bits;
    int split;
    mpq_t rho0[2]; /* of the values, of the variances */
    mpq_t cost;
    assay_vapvi_range range;
    assay_vapvi_noise noise;
    int64_t *value, *reward, *psi;
    int64_t *sums, *released; /* before and after the noise */
    double *sigma, *matrix, *inverse, *vector, *theta, *beta, *q;
    int64_t *free_sums, *free_released; /* all steps of the free statistics */
} run;

/* The most bits with K (H+1)^2 2^(bits of features + 2 bits) <= 2^60. */
static assay_status choose_bits(run *r, assay_error *err)
{
    double top = (double)r->num_users * (r->shape->horizon + 1.0) *
                 (r->shape->horizon + 1.0);
    unsigned bits = MOST_BITS;
    while (bits > 0 &&
           ldexp(top, ASSAY_FEATURE_BITS + 2 * (int)bits) > 0x1p60) {
        bits--;
    }
    r->bits = bits;
    return bits >= LEAST_BITS
               ? ASSAY_OK
               : assay_fail(err, ASSAY_RANGE,
                            "too many users for this horizon: the sums do not "
                            "fit 64 bits");
}

static size_t free_len(const run *r)
{
    size_t d = r->d;
    return r->shape->horizon * (d * (d + 1) / 2 + d * r->shape->num_states + d);
}

static assay_status allocate(run *r, assay_error *err)
{
    size_t d = r->d;
    size_t num_states = r->shape->num_states;
    int is_free = r->params->statistics == ASSAY_VAPVI_FREE;
    r->max_sums = d * (d + 1) / 2 + 2 * d;
    r->value = calloc(num_states, sizeof(int64_t));
    r->reward = calloc(r->num_rows, sizeof(int64_t));
    r->psi = calloc(r->num_rows * d, sizeof(int64_t));
    r->sums = calloc(r->max_sums, sizeof(int64_t));
    r->released = calloc(r->max_sums, sizeof(int64_t));
    r->sigma = calloc(r->num_rows, sizeof(double));
    r->matrix = calloc(d * d, sizeof(double));
    r->inverse = calloc(d * d, sizeof(double));
    r->vector = calloc(d, sizeof(double));
    r->theta = calloc(d, sizeof(double));
    r->beta = calloc(d, sizeof(double));
    r->q = calloc(d, sizeof(double));
    r->free_sums = calloc(is_free ? free_len(r) : 1, sizeof(int64_t));
    r->free_released = calloc(is_free ? free_len(r) : 1, sizeof(int64_t));
    if (r->value == NULL || r->reward == NULL || r->psi == NULL ||
        r->sums == NULL || r->sigma == NULL || r->matrix == NULL ||
        r->inverse == NULL || r->vector == NULL || r->theta == NULL ||
        r->beta == NULL || r->q == NULL || r->free_sums == NULL ||
        r->released == NULL || r->free_released == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the statistics");
    }
    return assay_policy_new(&r->policy, r->shape, err);
}

/* Sums are private until they are released. */
static void wipe(int64_t *sums, size_t n)
{
    if (sums != NULL) {
        OPENSSL_cleanse(sums, n * sizeof *sums);
        free(sums);
    }
}

static void run_clear(run *r)
{
    mpq_clear(r->rho0[0]);
    mpq_clear(r->rho0[1]);
    mpq_clear(r->cost);
    assay_vapvi_range_clear(&r->range);
    assay_vapvi_noise_clear(&r->noise);
    assay_session_free(r->session);
    assay_policy_free(r->policy);
    free(r->value);
    free(r->reward);
    free(r->psi);
    wipe(r->sums, r->max_sums);
    free(r->sigma);
    free(r->matrix);
    free(r->inverse);
    free(r->vector);
    free(r->theta);
    free(r->beta);
    free(r->q);
    free(r->released);
    free(r->free_released);
    wipe(r->free_sums,
         r->params->statistics == ASSAY_VAPVI_FREE ? free_len(r) : 1);
}

static int has_variance(const run *r, uint32_t h)
{
    return r->params->variance_aware &&
           (r->params->statistics == ASSAY_VAPVI_PRINTED ||
            h + 1 < r->shape->horizon);
}

/* out = rho / (steps1 worst1 + steps2 worst2) */
static void share(mpq_t out, const mpq_t rho, unsigned long steps1,
                  const mpq_t worst1, unsigned long steps2, const mpq_t worst2)
{
    mpq_t term;
    mpq_init(term);
    mpq_set_ui(term, steps1, 1);
    mpq_mul(term, term, worst1);
    mpq_set_ui(out, steps2, 1);
    mpq_mul(out, out, worst2);
    mpq_add(out, out, term);
    mpq_div(out, rho, out);
    mpq_clear(term);
}

/* rho0 of both statistics, so that the whole run costs rho exactly. */
static void set_rho0(run *r)
{
    unsigned long steps = r->shape->horizon;
    unsigned long with =
        has_variance(r, (uint32_t)steps - 1) ? steps : steps - 1;
    mpq_t both;
    mpq_t one;
    mpq_init(both);
    mpq_init(one);
    assay_vapvi_worst(one, 0, 1);
    if (r->split) {
        share(r->rho0[0], r->params->budget, steps, one, 0, one);
        assay_vapvi_worst(one, 1, 0);
        share(r->rho0[1], r->params->budget, with > 0 ? with : 1, one, 0, one);
    } else {
        assay_vapvi_worst(both, 1, 1);
        share(r->rho0[0], r->params->budget, with, both, steps - with, one);
        mpq_set(r->rho0[1], r->rho0[0]);
    }
    mpq_clear(both);
    mpq_clear(one);
}

static assay_status open_session(run *r, struct assay_custodian *custodian,
                                 assay_error *err)
{
    static const char *const labels[] = {
        "dp-vapvi: printed statistics", "dp-vapvi: step-wise statistics",
        "dp-vapvi: centred statistics", "dp-vapvi: value-free statistics"};
    assay_status status;
    if (!r->params->is_private) {
        return ASSAY_OK;
    }
    status = assay_privatizer_check(custodian, err);
    if (status != ASSAY_OK) {
        return status;
    }
    set_rho0(r);
    mpq_mul_2exp(r->cost, r->params->budget, 1);
    return assay_session_new(
        &r->session, custodian,
        r->split && r->params->statistics != ASSAY_VAPVI_FREE ? 2 : 1, r->cost,
        labels[r->params->statistics], err);
}

/* Pays for `worst` units of rho0 from a part. */
static assay_status pay(run *r, size_t part, int variance, int value,
                        unsigned num_draws, assay_error *err)
{
    if (!r->params->is_private) {
        return ASSAY_OK;
    }
    assay_vapvi_worst(r->cost, variance, value);
    mpq_mul(r->cost, r->cost, r->rho0[part]);
    mpq_mul_2exp(r->cost, r->cost, 1);
    return assay_session_pay(r->session, part, r->cost, num_draws, err);
}

static assay_status pay_step(run *r, uint32_t h, assay_error *err)
{
    int variance = has_variance(r, h);
    assay_status status;
    if (!r->split) {
        return pay(r, PART_VALUES, variance, 1, variance ? 2 : 1, err);
    }
    status = pay(r, PART_VALUES, 0, 1, 1, err);
    if (status == ASSAY_OK && variance) {
        status = pay(r, PART_VARIANCES, 1, 0, 1, err);
    }
    return status;
}

/* The sums with noise; without privacy as they are. */
static assay_status release(run *r, size_t part, assay_error *err)
{
    assay_noise_run runs[ASSAY_VAPVI_RUNS];
    if (!r->params->is_private) {
        memcpy(r->released, r->sums, r->max_sums * sizeof *r->sums);
        return ASSAY_OK;
    }
    for (size_t i = 0; i < ASSAY_VAPVI_RUNS; i++) {
        runs[i].length = r->noise.length[i];
        runs[i].sigma2 = r->noise.sigma2[i];
    }
    return assay_session_draw(r->session, part, r->released, r->sums, runs,
                              ASSAY_VAPVI_RUNS, err);
}

/* ---- post-processing ----------------------------------------------------- */

/* A matrix entry's steps, and the ridge and shift; then the inverse. */
static assay_status invert(run *r, const int64_t *sums, double rho0,
                           assay_error *err)
{
    size_t d = r->d;
    const int64_t *off = sums + d;
    double more = r->params->ridge;
    if (r->params->is_private) {
        more += r->params->shift * sqrt((double)d / rho0);
    }
    for (size_t i = 0; i < d; i++) {
        r->matrix[i * d + i] =
            ldexp((double)sums[i], -2 * ASSAY_FEATURE_BITS) + more;
        for (size_t j = i + 1; j < d; j++) {
            double x = ldexp((double)*off++, -2 * ASSAY_FEATURE_BITS);
            r->matrix[i * d + j] = x;
            r->matrix[j * d + i] = x;
        }
    }
    return assay_floor_inverse(r->inverse, r->matrix, d, r->params->ridge, err);
}

/* inverse times a released vector in steps of 2^-(features + bits) */
static void regress(run *r, double *out, const int64_t *sums, unsigned bits)
{
    for (size_t i = 0; i < r->d; i++) {
        r->vector[i] = ldexp((double)sums[i], -ASSAY_FEATURE_BITS - (int)bits);
    }
    assay_times(out, r->inverse, r->vector, r->d);
}

static double clip(double x, double lo, double hi)
{
    return fmin(fmax(x, lo), hi);
}

/* sigma of every pair from the regressions of V^2 and V. */
static void set_sigma(run *r)
{
    double height = r->range.height;
    double centre = r->range.centred ? height / 2.0 : 0.0;
    double offset = r->range.centred ? height * height / 8.0 : 0.0;
    double reach = height - centre;
    for (size_t row = 0; row < r->num_rows; row++) {
        const int64_t *phi = assay_features_row(r->features, row);
        double mean =
            clip(assay_features_dot(phi, r->theta, r->d), -centre, reach);
        double square = clip(assay_features_dot(phi, r->beta, r->d) + offset,
                             0.0, reach * reach);
        r->sigma[row] = sqrt(fmax(1.0, square - mean * mean));
    }
}

static void unit_sigma(run *r)
{
    for (size_t row = 0; row < r->num_rows; row++) {
        r->sigma[row] = 1.0;
    }
}

static assay_status variance_step(run *r, uint32_t h, assay_error *err)
{
    size_t matrix = r->d * (r->d + 1) / 2;
    size_t part = r->split ? PART_VARIANCES : PART_VALUES;
    assay_status status;
    if (!has_variance(r, h)) {
        unit_sigma(r);
        return ASSAY_OK;
    }
    assay_vapvi_variance_sums(r->sums, r->variances, h, r->features, r->value,
                              &r->range);
    if (r->params->is_private) {
        assay_vapvi_noise_variance(&r->noise, r->d, &r->range, r->rho0[part]);
    }
    status = release(r, part, err);
    if (status == ASSAY_OK) {
        status = invert(r, r->released, mpq_get_d(r->rho0[part]), err);
    }
    if (status == ASSAY_OK) {
        regress(r, r->beta, r->released + matrix, 2 * r->bits);
        regress(r, r->theta, r->released + matrix + r->d, r->bits);
        set_sigma(r);
    }
    return status;
}

static void set_rewards(run *r, uint32_t h)
{
    for (size_t row = 0; row < r->num_rows; row++) {
        double x = r->rewards[(size_t)h * r->num_rows + row];
        r->reward[row] = (int64_t)ldexp(clip(x, 0.0, 1.0), (int)r->bits);
    }
}

static assay_status value_step(run *r, uint32_t h, assay_error *err)
{
    assay_status status;
    set_rewards(r, h);
    assay_vapvi_weigh(r->psi, r->features, r->sigma);
    assay_vapvi_value_sums(r->sums, r->values, h, r->d, r->psi, r->sigma,
                           r->reward, r->value, &r->range);
    if (r->params->is_private) {
        assay_vapvi_noise_value(&r->noise, r->d, &r->range, r->rho0[0]);
    }
    status = release(r, PART_VALUES, err);
    if (status == ASSAY_OK) {
        status = invert(r, r->released, mpq_get_d(r->rho0[0]), err);
    }
    if (status == ASSAY_OK) {
        regress(r, r->theta, r->released + r->d * (r->d + 1) / 2, r->bits);
    }
    return status;
}

static double penalty(const run *r, const int64_t *phi)
{
    const assay_vapvi_params *p = r->params;
    double d = (double)r->d;
    double h = r->shape->horizon;
    double extra = p->extra >= 0.0   ? p->extra
                   : p->extra > -1.5 ? h * h * h * sqrt(d)
                                     : h * sqrt(d);
    double scale =
        p->paper && !p->variance_aware ? p->c * d * h : p->c * sqrt(d);
    for (size_t i = 0; i < r->d; i++) {
        r->q[i] = ldexp((double)phi[i], -ASSAY_FEATURE_BITS);
    }
    return scale * sqrt(fmax(assay_quadratic(r->inverse, r->q, r->d), 0.0)) +
           extra / (double)(r->num_users > 0 ? r->num_users : 1);
}

/* Q(s, a) = phi' theta + centre - penalty, times sigma where the regression
 * is not weighted; V and the policy of step h. */
static void improve(run *r, uint32_t h, double centre, int times_sigma)
{
    const assay_shape *shape = r->shape;
    double most = shape->horizon - h;
    for (uint32_t s = 0; s < shape->num_states; s++) {
        double top = -1.0;
        uint32_t best = 0;
        for (uint32_t a = 0; a < shape->num_actions; a++) {
            size_t row = (size_t)s * shape->num_actions + a;
            const int64_t *phi = assay_features_row(r->features, row);
            double scale = times_sigma ? r->sigma[row] : 1.0;
            double q = assay_features_dot(phi, r->theta, r->d) + centre -
                       scale * penalty(r, phi);
            q = clip(q, 0.0, most);
            if (q > top + TIE) {
                top = q;
                best = a;
            }
        }
        r->policy->action[(size_t)h * shape->num_states + s] = best;
        r->value[s] = (int64_t)ldexp(top, (int)r->bits);
    }
}

static assay_status learn_steps(run *r, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (uint32_t h = r->shape->horizon; status == ASSAY_OK && h-- > 0;) {
        assay_vapvi_range_set(&r->range, r->params->statistics,
                              r->shape->horizon, h, r->bits);
        status = pay_step(r, h, err);
        if (status == ASSAY_OK) {
            status = variance_step(r, h, err);
        }
        if (status == ASSAY_OK) {
            status = value_step(r, h, err);
        }
        if (status == ASSAY_OK) {
            double centre =
                r->range.centred ? (r->range.height + 1.0) / 2.0 : 0.0;
            improve(r, h, centre, 0);
        }
    }
    return status;
}

/* ---- statistics that do not depend on values ------------------------------
 */

static assay_status release_free(run *r, assay_error *err)
{
    assay_noise_run runs[ASSAY_VAPVI_RUNS];
    assay_status status;
    if (!r->params->is_private) {
        memcpy(r->free_released, r->free_sums,
               free_len(r) * sizeof *r->free_sums);
        return ASSAY_OK;
    }
    assay_vapvi_noise_free(&r->noise, r->d, r->shape, r->bits,
                           r->params->budget);
    for (size_t i = 0; i < ASSAY_VAPVI_RUNS; i++) {
        runs[i].length = r->noise.length[i];
        runs[i].sigma2 = r->noise.sigma2[i];
    }
    mpq_mul_2exp(r->cost, r->params->budget, 1);
    status = assay_session_pay(r->session, 0, r->cost, 1, err);
    if (status == ASSAY_OK) {
        status = assay_session_draw(r->session, 0, r->free_released,
                                    r->free_sums, runs, ASSAY_VAPVI_RUNS, err);
    }
    return status;
}

/* vector = sum_s' next[s'] (V(s') - centre)^power */
static void push(run *r, const assay_vapvi_blocks *b, double centre, int power)
{
    for (size_t i = 0; i < r->d; i++) {
        r->vector[i] = 0.0;
        for (uint32_t t = 0; t < r->shape->num_states; t++) {
            double v = ldexp((double)r->value[t], -(int)r->bits) - centre;
            r->vector[i] +=
                ldexp((double)b->next[t * r->d + i], -ASSAY_FEATURE_BITS) *
                (power == 1 ? v : v * v);
        }
    }
}

static assay_status free_step(run *r, uint32_t h, assay_error *err)
{
    assay_vapvi_blocks b =
        assay_vapvi_block(r->free_released, r->d, r->shape, h);
    double height = r->range.height;
    double rho0 = mpq_get_d(r->params->budget) / (8.0 * r->shape->horizon);
    assay_status status;
    memcpy(r->released, b.diagonal, r->d * sizeof *r->released);
    memcpy(r->released + r->d, b.off,
           r->d * (r->d - 1) / 2 * sizeof *r->released);
    status = invert(r, r->released, rho0, err);
    if (status != ASSAY_OK) {
        return status;
    }
    r->range.centred = 1;
    push(r, &b, height / 2.0, 2);
    for (size_t i = 0; i < r->d; i++) {
        /* E[(V-c)^2] regressed as (V-c)^2 - R^2/8, as in set_sigma */
        for (uint32_t t = 0; t < r->shape->num_states; t++) {
            r->vector[i] -=
                ldexp((double)b.next[t * r->d + i], -ASSAY_FEATURE_BITS) *
                height * height / 8.0;
        }
    }
    assay_times(r->beta, r->inverse, r->vector, r->d);
    push(r, &b, height / 2.0, 1);
    assay_times(r->theta, r->inverse, r->vector, r->d);
    set_sigma(r);
    if (!r->params->variance_aware) {
        unit_sigma(r);
    }
    for (size_t i = 0; i < r->d; i++) {
        r->vector[i] +=
            ldexp((double)b.reward[i], -ASSAY_FEATURE_BITS - (int)r->bits);
    }
    assay_times(r->theta, r->inverse, r->vector, r->d);
    improve(r, h, height / 2.0, 1);
    return ASSAY_OK;
}

static assay_status learn_free(run *r, assay_error *err)
{
    assay_status status;
    for (uint32_t h = 0; h < r->shape->horizon; h++) {
        set_rewards(r, h);
        assay_vapvi_free_sums(r->free_sums, r->values, h, r->features,
                              r->reward);
        if (r->split) {
            assay_vapvi_free_sums(r->free_sums, r->variances, h, r->features,
                                  r->reward);
        }
    }
    status = release_free(r, err);
    for (uint32_t h = r->shape->horizon; status == ASSAY_OK && h-- > 0;) {
        assay_vapvi_range_set(&r->range, ASSAY_VAPVI_STEPWISE,
                              r->shape->horizon, h, r->bits);
        status = free_step(r, h, err);
    }
    return status;
}

/* ---- all together ----------------------------------------------------------
 */

static assay_status check(const assay_counts *values,
                          const assay_counts *variances,
                          const assay_features *features,
                          const assay_vapvi_params *params, assay_error *err)
{
    const assay_shape *shape = &values->shape;
    if (variances != NULL &&
        memcmp(shape, &variances->shape, sizeof *shape) != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "both parts of the data need the same shape");
    }
    return assay_vapvi_params_check(params, shape, features, err);
}

static void run_init(run *r, const assay_counts *values,
                     const assay_counts *variances,
                     const assay_features *features,
                     const assay_vapvi_params *params)
{
    memset(r, 0, sizeof *r);
    r->params = params;
    r->features = features;
    r->values = values;
    r->split = variances != NULL;
    r->variances = r->split ? variances : values;
    r->shape = &values->shape;
    r->d = features->dim;
    r->num_rows = features->num_rows;
    r->num_users = values->num_users + (r->split ? variances->num_users : 0);
    mpq_init(r->rho0[0]);
    mpq_init(r->rho0[1]);
    mpq_init(r->cost);
    assay_vapvi_range_init(&r->range);
    assay_vapvi_noise_init(&r->noise);
}

assay_status
assay_vapvi_learn(assay_policy **out, const assay_counts *values,
                  const assay_counts *variances, const assay_features *features,
                  const double *rewards, const assay_vapvi_params *params,
                  struct assay_custodian *custodian, assay_error *err)
{
    run r;
    assay_status status = check(values, variances, features, params, err);
    if (status != ASSAY_OK) {
        return status;
    }
    run_init(&r, values, variances, features, params);
    r.rewards = rewards;
    status = choose_bits(&r, err);
    if (status == ASSAY_OK) {
        status = allocate(&r, err);
    }
    if (status == ASSAY_OK) {
        status = open_session(&r, custodian, err);
    }
    if (status == ASSAY_OK) {
        status = params->statistics == ASSAY_VAPVI_FREE ? learn_free(&r, err)
                                                        : learn_steps(&r, err);
    }
    if (status == ASSAY_OK) {
        *out = r.policy;
        r.policy = NULL;
    }
    run_clear(&r);
    return status;
}
