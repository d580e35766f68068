/* ring: glue */
/*
 * Ridge logistic regression on three functions of each rank u (u, |u| - 1/2, a
 * steep step) and on products of those of the row's summaries. The penalty
 * maximises the marginal likelihood in the quadratic approximation at zero,
 * which is good where it matters: where signals are weak.
 */
#include "audit/smooth.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK ASSAY_ROWS_BLOCK
#define BASES 3
#define MAX_TERMS 200
#define NUM_RIDGES 7

struct assay_smooth {
    size_t num_terms;
    uint16_t first[MAX_TERMS], second[MAX_TERMS]; /* basis; second 0: alone */
    double beta[MAX_TERMS];
    double ridge[MAX_TERMS];
};

/* Basis b of rank u; basis numbers are 1 + BASES * feature + b. */
static float basis(float u, size_t b)
{
    if (b == 0) {
        return u;
    }
    if (u == 0) {
        return 0; /* not there */
    }
    if (b == 1) {
        return (u < 0 ? -u : u) - 0.5f;
    }
    u *= 6;
    return u < -1 ? -1 : u > 1 ? 1 : u;
}

static void add_term(struct assay_smooth *m, size_t a, size_t b, double ridge)
{
    if (m->num_terms < MAX_TERMS) {
        m->first[m->num_terms] = (uint16_t)a;
        m->second[m->num_terms] = (uint16_t)b;
        m->ridge[m->num_terms++] = ridge;
    }
}

static size_t basis_index(size_t feature, size_t b)
{
    return 1 + BASES * feature + b;
}

/* Constant, every basis, products of bases of different summaries. */
static void list_terms(struct assay_smooth *m, const assay_encoder *e)
{
    add_term(m, 0, 0, 1e-4);
    for (size_t k = 0; k < e->num; k++) {
        for (size_t b = 0; b < BASES; b++) {
            add_term(m, basis_index(k, b), 0, e->code[k].is_pattern ? 0.01 : 1);
        }
    }
    for (size_t k = 0; k < e->num; k++) {
        for (size_t l = k + 1; l < e->num && e->code[k].is_summary; l++) {
            if (!e->code[l].is_summary) {
                continue;
            }
            for (size_t b = 0; b < BASES * BASES; b++) {
                add_term(m, basis_index(k, b / BASES),
                         basis_index(l, b % BASES), 2);
            }
        }
    }
}

static void fill_basis(const float *code, size_t stride, size_t index, size_t n,
                       float *out)
{
    if (index == 0) {
        for (size_t i = 0; i < n; i++) {
            out[i] = 1;
        }
        return;
    }
    const float *u = code + (index - 1) / BASES * stride;
    size_t b = (index - 1) % BASES;
    if (b == 0) {
        memcpy(out, u, n * sizeof *out);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = basis(u[i], b);
    }
}

/* Terms of a block: x[term * BLOCK + i]. */
static void fill_terms(const struct assay_smooth *m, const float *code,
                       size_t n, float *x)
{
    float other[BLOCK];
    for (size_t k = 0; k < m->num_terms; k++) {
        float *to = x + k * BLOCK;
        fill_basis(code, BLOCK, m->first[k], n, to);
        if (m->second[k] != 0) {
            fill_basis(code, BLOCK, m->second[k], n, other);
            for (size_t i = 0; i < n; i++) {
                to[i] *= other[i];
            }
        }
    }
}

static void scores_of(const struct assay_smooth *m, const float *x, size_t n,
                      float *out)
{
    memset(out, 0, n * sizeof *out);
    for (size_t k = 0; k < m->num_terms; k++) {
        float b = (float)m->beta[k];
        const float *from = x + k * BLOCK;
        for (size_t i = 0; b != 0 && i < n; i++) {
            out[i] += b * from[i];
        }
    }
}

typedef struct workspace {
    float *code, *x, *part;
    double *hess, *grad, *copy;
    size_t blocks;
} workspace;

static void workspace_clear(workspace *w)
{
    free(w->code);
    free(w->x);
    free(w->part);
    free(w->hess);
}

static int workspace_make(workspace *w, const assay_encoder *e, size_t p,
                          const assay_training *d)
{
    w->code = malloc((e->num + 1) * BLOCK * sizeof(float));
    w->x = malloc(p * BLOCK * sizeof(float));
    w->part = malloc(p * p * sizeof(float));
    w->hess = malloc((2 * p * p + 2 * p) * sizeof(double));
    w->grad = w->hess == NULL ? NULL : w->hess + 2 * p * p;
    w->copy = w->hess == NULL ? NULL : w->hess + p * p;
    /* about 2.5e10 products a pass */
    size_t rows = (size_t)(2.5e9 / (double)(p * p)) + 4 * BLOCK;
    w->blocks = rows / BLOCK < d->num_blocks ? rows / BLOCK : d->num_blocks;
    return w->code != NULL && w->x != NULL && w->part != NULL &&
           w->hess != NULL;
}

/* Add a block's share of gradient and Hessian of the log likelihood. */
static void add_block(struct assay_smooth *m, const assay_encoder *e,
                      const assay_rows *r, int side, workspace *w)
{
    size_t p = m->num_terms, n = r->num;
    float s[BLOCK], g[BLOCK], h[BLOCK];
    assay_encode(e, r, w->code);
    fill_terms(m, w->code, n, w->x);
    scores_of(m, w->x, n, s);
    for (size_t i = 0; i < n; i++) {
        float q = 1 / (1 + expf(-s[i]));
        g[i] = (side == 0) - q;
        h[i] = sqrtf(q * (1 - q));
    }
    for (size_t k = 0; k < p; k++) {
        float *x = w->x + k * BLOCK;
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += (double)(g[i] * x[i]);
            x[i] *= h[i];
        }
        w->grad[k] += sum;
    }
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)p, (int)n, 1,
                w->x, BLOCK, 0, w->part, (int)p);
    for (size_t k = 0; k < p; k++) {
        for (size_t l = 0; l <= k; l++) {
            w->hess[k * p + l] += (double)w->part[k * p + l];
        }
    }
}

static void accumulate(struct assay_smooth *m, const assay_encoder *e,
                       const assay_training *d, workspace *w)
{
    size_t p = m->num_terms;
    memset(w->hess, 0, p * p * sizeof(double));
    memset(w->grad, 0, p * sizeof(double));
    for (size_t b = 0; b < 2 * w->blocks; b++) {
        add_block(m, e, &d->rows[b % 2][b / 2], (int)(b % 2), w);
    }
}

/* Solve (H + ridge) step = grad; returns the log marginal likelihood of the
 * quadratic approximation (meaningful at beta = 0), -inf on failure. */
static double solve(const struct assay_smooth *m, const workspace *w,
                    double scale, double *step)
{
    size_t p = m->num_terms;
    double value = 0;
    memcpy(w->copy, w->hess, p * p * sizeof(double));
    for (size_t k = 0; k < p; k++) {
        double ridge = scale * m->ridge[k] + 1e-6;
        step[k] = w->grad[k] - ridge * m->beta[k];
        w->copy[k * p + k] += ridge;
        value += 0.5 * log(ridge);
    }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)p, 1, w->copy,
                      (lapack_int)p, step, 1) != 0) {
        return -INFINITY;
    }
    for (size_t k = 0; k < p; k++) {
        value += 0.5 * w->grad[k] * step[k] - log(w->copy[k * p + k]);
    }
    return value;
}

static double choose_ridge(const struct assay_smooth *m, const workspace *w)
{
    double best = -INFINITY, at = 1, step[MAX_TERMS];
    for (int k = 0; k < NUM_RIDGES; k++) {
        double scale = pow(10, k - 1);
        double value = solve(m, w, scale, step);
        if (value > best) {
            best = value;
            at = scale;
        }
    }
    return at;
}

assay_status assay_smooth_fit(struct assay_smooth **out,
                              const assay_encoder *encoder,
                              const assay_training *data, assay_error *err)
{
    struct assay_smooth *m = calloc(1, sizeof *m);
    workspace w;
    memset(&w, 0, sizeof w);
    *out = m;
    if (m != NULL) {
        list_terms(m, encoder);
    }
    if (m == NULL || !workspace_make(&w, encoder, m->num_terms, data)) {
        workspace_clear(&w);
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    double scale = 1, step[MAX_TERMS];
    for (int it = 0; it < 3; it++) {
        accumulate(m, encoder, data, &w);
        scale = it == 0 ? choose_ridge(m, &w) : scale;
        if (isinf(solve(m, &w, scale, step))) {
            break;
        }
        double most = 0;
        for (size_t k = 0; k < m->num_terms; k++) {
            m->beta[k] += fmin(fmax(step[k], -3), 3);
            most = fmax(most, fabs(step[k]));
        }
        if (most < 0.05) { /* weak signals: one step does it */
            break;
        }
    }
    workspace_clear(&w);
    return ASSAY_OK;
}

void assay_smooth_score(const struct assay_smooth *m,
                        const assay_encoder *encoder, const assay_rows *rows,
                        float *out)
{
    static _Thread_local float code[ASSAY_CODE_MAX * BLOCK];
    float a[BLOCK], b[BLOCK];
    size_t n = rows->num;
    assay_encode(encoder, rows, code);
    memset(out, 0, n * sizeof *out);
    for (size_t k = 0; k < m->num_terms; k++) {
        float c = (float)m->beta[k];
        if (c > -1e-5f && c < 1e-5f) {
            continue;
        }
        fill_basis(code, BLOCK, m->first[k], n, a);
        if (m->second[k] != 0) {
            fill_basis(code, BLOCK, m->second[k], n, b);
            for (size_t i = 0; i < n; i++) {
                out[i] += c * a[i] * b[i];
            }
        } else {
            for (size_t i = 0; i < n; i++) {
                out[i] += c * a[i];
            }
        }
    }
}

void assay_smooth_free(struct assay_smooth *m)
{
    free(m);
}
