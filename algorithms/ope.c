/* ring: glue */
/* A, b, C of episodes and of the chain; MSPBE; LSTD; GTD2. */
#include "algorithms/ope.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/envrand.h"
#include "algorithms/linear_solve.h"
#include "algorithms/ope_step.h"

assay_status assay_ope_model_new(assay_ope_model **out, size_t dim,
                                 assay_error *err)
{
    assay_ope_model *m = calloc(1, sizeof *m);
    if (m != NULL) {
        m->dim = dim;
        m->a = calloc(dim * dim, sizeof(double));
        m->b = calloc(dim, sizeof(double));
        m->c = calloc(dim * dim, sizeof(double));
    }
    if (m == NULL || m->a == NULL || m->b == NULL || m->c == NULL) {
        assay_ope_model_free(m);
        return assay_fail(err, ASSAY_MEMORY, "no memory for the matrices");
    }
    *out = m;
    return ASSAY_OK;
}

void assay_ope_model_free(assay_ope_model *model)
{
    if (model != NULL) {
        free(model->a);
        free(model->b);
        free(model->c);
        free(model);
    }
}

/* m += scale v u' */
static void add_outer(double *m, const assay_episodes *e, uint32_t v,
                      uint32_t u, double scale)
{
    if (v == ASSAY_TERMINAL || u == ASSAY_TERMINAL) {
        return;
    }
    for (size_t k = e->v_start[v]; k < e->v_start[v + 1]; k++) {
        assay_episodes_axpy(e, u, scale * e->v_value[k],
                            m + (size_t)e->v_index[k] * e->dim);
    }
}

assay_status assay_ope_model_fit(assay_ope_model **out, const assay_episodes *e,
                                 double gamma, assay_error *err)
{
    assay_ope_model *m = NULL;
    assay_status status = assay_ope_model_new(&m, e->dim, err);
    if (status != ASSAY_OK) {
        return status;
    }
    for (size_t i = 0; i < e->num_episodes; i++) {
        double share = assay_episodes_share(e, i) / (double)e->num_episodes;
        for (size_t t = e->start[i]; t < e->start[i + 1]; t++) {
            double w = share * e->weight[t];
            add_outer(m->a, e, e->at[t], e->at[t], w);
            add_outer(m->a, e, e->at[t], e->next[t], -gamma * w);
            add_outer(m->c, e, e->at[t], e->at[t], share);
            assay_episodes_axpy(e, e->at[t], w * e->reward[t], m->b);
        }
    }
    *out = m;
    return ASSAY_OK;
}

/* E[1/tau] for tau the time of k advances: sum over t of P[tau = t]/t. */
static double inverse_time(size_t k)
{
    double p = ldexp(1.0, -(int)k);
    double sum = 0.0;
    for (size_t t = k; t < 40 * k + 2000; t++) {
        sum += p / (double)t;
        p *= 0.5 * (double)t / (double)(t - k + 1);
    }
    return sum;
}

assay_status assay_ope_model_chain(assay_ope_model **out, size_t num_states,
                                   double gamma, double fixed_length,
                                   assay_error *err)
{
    assay_ope_model *m = NULL;
    size_t d = num_states - 1;
    assay_status status;
    if (num_states < 2 || num_states > 1000) {
        return assay_fail(err, ASSAY_INVALID, "a chain has 2 to 1000 states");
    }
    status = assay_ope_model_new(&m, d, err);
    if (status != ASSAY_OK) {
        return status;
    }
    for (size_t k = 1; k <= d; k++) { /* k advances: it begins in d - k */
        double once = inverse_time(k) / (double)d;
        double stay = 1.0 / (double)k / (double)d;
        if (fixed_length > 0.0) { /* two visits and one advance each */
            once = 1.0 / fixed_length / (double)d;
            stay = 2.0 * once;
        }
        for (size_t s = d - k; s < d; s++) {
            m->c[s * d + s] += stay;
            m->a[s * d + s] += stay - gamma * (stay - once);
            if (s + 1 < d) {
                m->a[s * d + s + 1] -= gamma * once;
            }
        }
        m->b[d - 1] += once;
    }
    *out = m;
    return ASSAY_OK;
}

assay_status assay_ope_mspbe(double *out, const assay_ope_model *model,
                             const double *theta, assay_error *err)
{
    size_t d = model->dim;
    double *work = malloc((d * d + 2 * d) * sizeof *work);
    double *values;
    double *gap;
    lapack_int info;
    if (work == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a matrix");
    }
    values = work + d * d;
    gap = values + d;
    memcpy(work, model->c, d * d * sizeof *work);
    info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)d, work,
                         (lapack_int)d, values);
    assay_times(gap, model->a, theta, d);
    *out = 0.0;
    for (size_t k = 0; info == 0 && k < d; k++) {
        double along = 0.0;
        for (size_t i = 0; i < d; i++) {
            along += work[k * d + i] * (gap[i] - model->b[i]);
        }
        if (values[k] > 1e-9 * values[d - 1]) {
            *out += along * along / values[k];
        }
    }
    free(work);
    return info == 0 ? ASSAY_OK
                     : assay_fail(err, ASSAY_RANGE,
                                  "the eigenvalues did not converge");
}

assay_status assay_lstd(double *theta, const assay_ope_model *model,
                        double ridge, assay_error *err)
{
    size_t d = model->dim;
    double *a = malloc(d * d * sizeof *a);
    assay_status status;
    if (a == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a matrix");
    }
    memcpy(a, model->a, d * d * sizeof *a);
    for (size_t i = 0; i < d; i++) {
        a[i * d + i] += ridge;
    }
    status = assay_solve(theta, a, model->b, d, err);
    free(a);
    return status;
}

void assay_ope_move(double *x, size_t dim, assay_step_size size, uint64_t step,
                    uint64_t num_steps, const double *gradient)
{
    double c = 0.1 * (double)num_steps;
    double share = size.diminishing ? c / (c + (double)step) : 1.0;
    double dual = size.dual > 0.0 ? size.dual : size.beta;
    for (size_t i = 0; i < dim; i++) {
        x[i] -= share * size.beta * gradient[i];
        x[dim + i] -= share * dual * gradient[dim + i];
    }
}

void assay_ope_gradient(double *out, const assay_episodes *e, size_t episode,
                        double gamma, const double *x)
{
    size_t d = e->dim;
    const double *theta = x;
    const double *w = x + d;
    double share = assay_episodes_share(e, episode);
    memset(out, 0, 2 * d * sizeof *out);
    for (size_t t = e->start[episode]; t < e->start[episode + 1]; t++) {
        double dual = assay_episodes_dot(e, e->at[t], w);
        double change = assay_episodes_dot(e, e->at[t], theta) -
                        gamma * assay_episodes_dot(e, e->next[t], theta);
        double weight = share * e->weight[t];
        assay_episodes_axpy(e, e->at[t], -weight * dual, out);
        assay_episodes_axpy(e, e->next[t], weight * gamma * dual, out);
        assay_episodes_axpy(e, e->at[t],
                            weight * (change - e->reward[t]) + share * dual,
                            out + d);
    }
}

assay_status assay_gtd2(double *theta, const assay_episodes *e, double gamma,
                        assay_step_size size, uint64_t num_steps, uint64_t seed,
                        assay_error *err)
{
    size_t d = e->dim;
    double *x = calloc(4 * d, sizeof *x);
    double *g = x == NULL ? NULL : x + 2 * d;
    assay_envrand rand;
    if (x == NULL || e->num_episodes == 0) {
        free(x);
        return assay_fail(err, ASSAY_INVALID, "GTD2 needs episodes");
    }
    assay_envrand_init(&rand, seed, 22);
    for (uint64_t i = 0; i < num_steps; i++) {
        size_t k = assay_envrand_below(&rand, (uint32_t)e->num_episodes);
        assay_ope_gradient(g, e, k, gamma, x);
        assay_ope_move(x, d, size, i, num_steps, g);
    }
    memcpy(theta, x, d * sizeof *theta);
    free(x);
    return ASSAY_OK;
}
