/* ring: glue */
/* DP-LSW and DP-LSL with one-hot features and unit weights. */
#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/ope.h"
#include "algorithms/privatizer.h"
#include "mechanisms/smooth.h"

#define STEP_BITS 12

static assay_status check(const assay_episodes *e, const assay_output_params *p,
                          assay_error *err)
{
    if (!(p->gamma >= 0.0 && p->gamma < 1.0) || !(p->max_reward > 0.0) ||
        !isfinite(p->max_reward)) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs gamma in [0, 1) and a positive bound on "
                          "rewards");
    }
    if (p->kind == ASSAY_LSL && !(p->lambda > 1.0 && isfinite(p->lambda))) {
        return assay_fail(err, ASSAY_INVALID,
                          "DP-LSL needs lambda above 1 = |Phi|^2 |rho|_inf");
    }
    if (mpq_sgn(p->epsilon) <= 0 || mpq_sgn(p->delta) <= 0 ||
        mpq_cmp_ui(p->delta, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs epsilon above 0 and delta in (0, 1)");
    }
    if (e->num_episodes == 0 || e->num_vectors != e->dim) {
        return assay_fail(err, ASSAY_INVALID,
                          "output perturbation needs episodes with one-hot "
                          "features");
    }
    return ASSAY_OK;
}

/* sum_s 1/max(X_s - k, 1)^2 */
static double lsw_term(const uint64_t *visits, size_t d, double k)
{
    double sum = 0.0;
    for (size_t s = 0; s < d; s++) {
        double x = fmax((double)visits[s] - k, 1.0);
        sum += 1.0 / (x * x);
    }
    return sum;
}

/* (|Phi| |rho|_inf / sqrt(2 lambda) sqrt(sum rho_s min(X_s + k, m)) +
 * |rho|_2)^2 with |Phi| = rho_s = 1 */
static double lsl_term(const uint64_t *visits, size_t d, double k, double m,
                       double lambda)
{
    double sum = 0.0;
    double root;
    for (size_t s = 0; s < d; s++) {
        sum += fmin((double)visits[s] + k, m);
    }
    root = sqrt(sum / (2.0 * lambda)) + sqrt((double)d);
    return root * root;
}

double assay_output_sigma(const assay_output_params *p, const uint64_t *visits,
                          size_t dim, uint64_t m)
{
    double logs = log(2.0 / mpq_get_d(p->delta));
    double alpha = 5.0 * sqrt(2.0 * logs) / mpq_get_d(p->epsilon);
    double beta = mpq_get_d(p->epsilon) / (4.0 * ((double)dim + logs));
    double range = p->max_reward / (1.0 - p->gamma);
    double top = 0.0;
    for (uint64_t k = 0; k <= m; k++) {
        double fade = exp(-beta * (double)k);
        double term = p->kind == ASSAY_LSW ? lsw_term(visits, dim, (double)k)
                                           : lsl_term(visits, dim, (double)k,
                                                      (double)m, p->lambda);
        top = fmax(top, fade * term);
        /* both terms are bounded: no later k can do better */
        double most = p->kind == ASSAY_LSW ? (double)dim
                                           : lsl_term(visits, dim, (double)m,
                                                      (double)m, p->lambda);
        if (fade * most < top) {
            break;
        }
    }
    if (p->kind == ASSAY_LSW) {
        return alpha * range * sqrt(top);
    }
    return 2.0 * alpha * range / (p->lambda - 1.0) * sqrt(top);
}

/* Sums of first-visit returns, and in how many episodes a state was seen. */
static void first_visits(double *sum, uint64_t *visits, unsigned char *seen,
                         double *value, const assay_episodes *e,
                         const assay_output_params *p)
{
    for (size_t i = 0; i < e->num_episodes; i++) {
        double back = 0.0;
        memset(seen, 0, e->dim);
        /* backwards: what is written last is the first visit */
        for (size_t t = e->start[i + 1]; t-- > e->start[i];) {
            double r = fmin(fmax(e->reward[t], -p->max_reward), p->max_reward);
            back = r + p->gamma * back;
            value[e->at[t]] = back;
            seen[e->at[t]] = 1;
        }
        for (size_t s = 0; s < e->dim; s++) {
            sum[s] += seen[s] ? value[s] : 0.0;
            visits[s] += seen[s];
        }
    }
}

/* theta of the state: LSW its mean return, LSL sum/(X + lambda/2). */
static int64_t estimate(double sum, uint64_t visits,
                        const assay_output_params *p)
{
    double n = p->kind == ASSAY_LSW ? fmax((double)visits, 1.0)
                                    : (double)visits + p->lambda / 2.0;
    double bound = ldexp(p->max_reward / (1.0 - p->gamma), STEP_BITS);
    return (int64_t)llrint(
        fmin(fmax(ldexp(sum / n, STEP_BITS), -bound), bound));
}

static int exponent_of(double sigma)
{
    int e = 0;
    (void)frexp(sigma * sigma, &e); /* sigma^2 <= 2^e */
    return e;
}

typedef struct scratch {
    double *sum, *value;
    uint64_t *visits;
    unsigned char *seen;
    int64_t *cell;
} scratch;

static void scratch_clear(scratch *w, size_t d)
{
    if (w->sum != NULL) {
        OPENSSL_cleanse(w->sum, d * sizeof *w->sum);
    }
    if (w->cell != NULL) {
        OPENSSL_cleanse(w->cell, d * sizeof *w->cell);
    }
    free(w->sum);
    free(w->value);
    free(w->visits);
    free(w->seen);
    free(w->cell);
}

assay_status assay_output_evaluate(double *theta, double *sigma,
                                   const assay_episodes *e,
                                   const assay_output_params *params,
                                   struct assay_custodian *custodian,
                                   assay_error *err)
{
    size_t d = e->dim;
    double scale;
    scratch w = {calloc(d, sizeof(double)), calloc(d, sizeof(double)),
                 calloc(d, sizeof(uint64_t)), calloc(d, 1),
                 calloc(d, sizeof(int64_t))};
    assay_status status = check(e, params, err);
    if (status == ASSAY_OK) {
        status = assay_privatizer_check(custodian, err);
    }
    if (status == ASSAY_OK &&
        (w.sum == NULL || w.value == NULL || w.visits == NULL ||
         w.seen == NULL || w.cell == NULL)) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for returns");
    }
    if (status == ASSAY_OK) {
        first_visits(w.sum, w.visits, w.seen, w.value, e, params);
        for (size_t s = 0; s < d; s++) {
            w.cell[s] = estimate(w.sum[s], w.visits[s], params);
        }
        /* rounding moves each of two estimates by at most half a step */
        scale = assay_output_sigma(params, w.visits, d, e->num_episodes) *
                (1.0 + 0x1p-10);
        status = assay_release_smooth_gaussian(
            custodian, w.cell, w.cell, d, STEP_BITS, exponent_of(scale),
            params->epsilon, params->delta,
            params->kind == ASSAY_LSW ? "dp-lsw (assumed)" : "dp-lsl (assumed)",
            err);
        if (status == ASSAY_OK) {
            *sigma = scale;
        }
    }
    for (size_t s = 0; status == ASSAY_OK && s < d; s++) {
        theta[s] = ldexp((double)w.cell[s], -STEP_BITS);
    }
    scratch_clear(&w, d);
    return status;
}
