/* ring: glue */
/*
 * Smoothed tables. A table of many patterns knows each pattern's log ratio only
 * as well as its few counts allow. A logistic model of what stands in which
 * column, and in pairs of columns, borrows strength between patterns; what it
 * cannot explain is estimated as a variance, and each pattern gets the mean of
 * its own log ratio and the model's, weighed by precision.
 */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/attacker.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define MAX_CODES 6 /* categories of a column */
#define MAX_PARAMS 260
#define MAX_PATTERNS 8192
#define MAX_COLUMNS ASSAY_ROWS_WIDTH

typedef struct coding {
    size_t width;
    size_t num[MAX_COLUMNS]; /* categories of a column */
    uint64_t cell[MAX_COLUMNS][MAX_CODES];
    uint8_t *code; /* [slot * width + column] */
} coding;

typedef struct problem {
    size_t num_keys, num_main, num_params;
    size_t *slot;
    uint8_t *column, *category; /* of a main effect */
    uint16_t *first, *second;   /* main effects of a pair */
    float *x;                   /* [key * num_params + parameter] */
    double *left, *right, *fitted;
} problem;

static uint64_t category(const assay_rows *r, size_t j, size_t i, int exact)
{
    int tag = r->plain[j] ? ASSAY_CELL_NUMBER : r->tag[j][i];
    uint64_t v = 0;
    if (tag == ASSAY_CELL_WORD) {
        v = (uint64_t)(int64_t)r->value[j][i];
    } else if (tag == ASSAY_CELL_NUMBER && exact) {
        double x = r->value[j][i];
        memcpy(&v, &x, sizeof v);
        v ^= v >> 2;
    }
    return (v << 2) | (uint64_t)tag;
}

/* The code of a cell; MAX_CODES if the column has too many. */
static size_t code_of(coding *c, size_t j, uint64_t cell)
{
    for (size_t k = 0; k < c->num[j]; k++) {
        if (c->cell[j][k] == cell) {
            return k;
        }
    }
    if (c->num[j] < MAX_CODES) {
        c->cell[j][c->num[j]] = cell;
        return c->num[j]++;
    }
    return MAX_CODES;
}

/* One row of each key tells the key's categories. */
static assay_status code_keys(coding *c, const assay_piece *p,
                              const assay_training *d)
{
    uint64_t key[BLOCK];
    int exact = p->feature.kind == ASSAY_F_EXACT;
    size_t todo = p->table.used;
    memset(c->code, 255, (p->table.mask + 1) * c->width);
    for (size_t b = 0; b < 2 * d->num_blocks && todo > 0; b++) {
        const assay_rows *r = &d->rows[b % 2][b / 2];
        assay_feature_keys(r, p->feature, key);
        for (size_t i = 0; i < r->num; i++) {
            size_t at = assay_table_slot(&p->table, key[i]);
            if (at == SIZE_MAX || c->code[at * c->width] != 255) {
                continue;
            }
            todo--;
            for (size_t j = 0; j < c->width; j++) {
                size_t code = code_of(c, j, category(r, j, i, exact));
                if (code == MAX_CODES) {
                    return ASSAY_AGAIN;
                }
                c->code[at * c->width + j] = (uint8_t)code;
            }
        }
    }
    return ASSAY_OK;
}

static void problem_clear(problem *q)
{
    free(q->slot);
    free(q->column);
    free(q->first);
    free(q->x);
    free(q->left);
    memset(q, 0, sizeof *q);
}

/* Parameters: constant, categories (all but the first), pairs of them. */
static void list_params(problem *q, const coding *c, int light)
{
    for (size_t j = 0; j < c->width; j++) {
        for (size_t k = 1; k < c->num[j] && q->num_main < 120; k++) {
            q->column[q->num_main] = (uint8_t)j;
            q->category[q->num_main++] = (uint8_t)k;
        }
    }
    q->num_params = 1 + q->num_main;
    for (size_t a = 0; a < q->num_main && !light; a++) {
        for (size_t b = a + 1; b < q->num_main; b++) {
            if (q->column[a] != q->column[b] && q->num_params < MAX_PARAMS) {
                q->first[q->num_params] = (uint16_t)a;
                q->second[q->num_params++] = (uint16_t)b;
            }
        }
    }
}

static void fill_design(problem *q, const coding *c)
{
    for (size_t i = 0; i < q->num_keys; i++) {
        float *x = q->x + i * q->num_params;
        const uint8_t *code = c->code + q->slot[i] * c->width;
        x[0] = 1;
        for (size_t a = 0; a < q->num_main; a++) {
            x[1 + a] = code[q->column[a]] == q->category[a];
        }
        for (size_t k = 1 + q->num_main; k < q->num_params; k++) {
            x[k] = x[1 + q->first[k]] * x[1 + q->second[k]];
        }
    }
}

static assay_status problem_make(problem *q, const coding *c,
                                 const assay_table *t, int light,
                                 assay_error *err)
{
    memset(q, 0, sizeof *q);
    q->slot = calloc(t->used + 1, sizeof *q->slot);
    q->column = calloc(256, 1);
    q->first = calloc(2 * MAX_PARAMS, sizeof *q->first);
    q->left = calloc(3 * (t->used + 1), sizeof *q->left);
    if (q->slot == NULL || q->column == NULL || q->first == NULL ||
        q->left == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    q->category = q->column + 128;
    q->second = q->first + MAX_PARAMS;
    q->right = q->left + t->used + 1;
    q->fitted = q->right + t->used + 1;
    for (size_t i = 0; i <= t->mask; i++) {
        if (t->key[i] != 0 && c->code[i * c->width] != 255) {
            q->left[q->num_keys] = t->count[2 * i];
            q->right[q->num_keys] = t->count[2 * i + 1];
            q->slot[q->num_keys++] = i;
        }
    }
    list_params(q, c, light);
    q->x = calloc(q->num_keys * q->num_params + 1, sizeof *q->x);
    if (q->x == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    fill_design(q, c);
    return ASSAY_OK;
}

/* Gradient and Hessian (lower triangle) of the penalised log likelihood. */
static void accumulate(problem *q, const double *beta, double *grad,
                       double *hess)
{
    size_t n = q->num_params;
    memset(grad, 0, n * sizeof *grad);
    memset(hess, 0, n * n * sizeof *hess);
    for (size_t i = 0; i < q->num_keys; i++) {
        const float *x = q->x + i * n;
        double s = 0, m = q->left[i] + q->right[i];
        uint16_t used[MAX_PARAMS];
        size_t num = 0;
        for (size_t k = 0; k < n; k++) {
            if (x[k] != 0) {
                s += beta[k];
                used[num++] = (uint16_t)k;
            }
        }
        q->fitted[i] = s;
        double p = 1 / (1 + exp(-s)), g = q->left[i] - m * p;
        double h = m * p * (1 - p);
        for (size_t a = 0; a < num; a++) {
            grad[used[a]] += g;
            for (size_t b = 0; b <= a; b++) {
                hess[used[a] * n + used[b]] += h;
            }
        }
    }
}

/* Newton step with the ridge; returns the log marginal likelihood of the
 * quadratic approximation, meaningful at beta = 0. */
static double ridge_step(const problem *q, const double *beta,
                         const double *grad, const double *hess, double scale,
                         double pairs, double *copy, double *step)
{
    size_t n = q->num_params;
    double value = 0;
    memcpy(copy, hess, n * n * sizeof *copy);
    for (size_t k = 0; k < n; k++) {
        double ridge = k == 0 ? 1e-3 : k <= q->num_main ? scale : scale * pairs;
        step[k] = grad[k] - ridge * beta[k];
        copy[k * n + k] += ridge;
        value += 0.5 * log(ridge);
    }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)n, 1, copy,
                      (lapack_int)n, step, 1) != 0) {
        return -INFINITY;
    }
    for (size_t k = 0; k < n; k++) {
        value += 0.5 * grad[k] * step[k] - log(copy[k * n + k]);
    }
    return value;
}

/* The penalty with the largest marginal likelihood at beta = 0. */
static void choose_ridge(const problem *q, const double *beta,
                         const double *grad, const double *hess, double *copy,
                         double *step, double *scale, double *pairs)
{
    double best = -INFINITY;
    for (double s = 0.3; s < 2e5; s *= 4) {
        for (double f = 1; f < 2000; f *= 8) {
            double v = ridge_step(q, beta, grad, hess, s, f, copy, step);
            if (v > best) {
                best = v;
                *scale = s;
                *pairs = f;
            }
            if (q->num_params == q->num_main + 1) {
                break;
            }
        }
    }
}

static assay_status problem_solve(problem *q, assay_error *err)
{
    size_t n = q->num_params;
    double *hess = calloc(2 * n * n + 3 * n, sizeof *hess);
    if (hess == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    double *copy = hess + n * n, *beta = copy + n * n, *grad = beta + n;
    double *step = grad + n, scale = 1, pairs = 25;
    for (int it = 0; it < 6; it++) {
        accumulate(q, beta, grad, hess);
        if (it == 0) {
            choose_ridge(q, beta, grad, hess, copy, step, &scale, &pairs);
        }
        if (isinf(ridge_step(q, beta, grad, hess, scale, pairs, copy, step))) {
            break;
        }
        double most = 0;
        for (size_t k = 0; k < n; k++) {
            beta[k] += fmin(fmax(step[k], -2), 2);
            most = fmax(most, fabs(step[k]));
        }
        if (most < 1e-3) {
            break;
        }
    }
    accumulate(q, beta, grad, hess); /* fitted */
    free(hess);
    return ASSAY_OK;
}

static double own_ratio(const problem *q, size_t i, const double total[2],
                        double *var)
{
    double a = q->left[i] + 0.5, b = q->right[i] + 0.5;
    *var = 1 / a + 1 / b;
    return log(a / b) - log(total[0] / total[1]);
}

/* Variance of the keys' true log ratios around the model, by moments over the
 * keys that have counts. */
static double unexplained(const problem *q, const double total[2])
{
    double sum = 0, weight = 0;
    for (size_t i = 0; i < q->num_keys; i++) {
        if (q->left[i] < 20 || q->right[i] < 20) {
            continue;
        }
        double var, d = own_ratio(q, i, total, &var) - q->fitted[i];
        double w = 1 / (var * var);
        sum += w * (d * d - var);
        weight += w;
    }
    return weight > 0 ? fmax(sum / weight, 1e-8) : 0.05;
}

static void set_weights(assay_table *t, const problem *q)
{
    double total[2] = {0, 0};
    for (size_t i = 0; i < q->num_keys; i++) {
        total[0] += q->left[i];
        total[1] += q->right[i];
    }
    double tau = unexplained(q, total);
    for (size_t i = 0; i < q->num_keys; i++) {
        double var, own = own_ratio(q, i, total, &var);
        double a = 1 / var, b = 1 / tau;
        t->weight[q->slot[i]] = (a * own + b * q->fitted[i]) / (a + b);
    }
}

assay_status assay_pattern_smooth(assay_piece *piece,
                                  const assay_training *data, int light,
                                  assay_error *err)
{
    assay_table *t = &piece->table;
    coding *c = calloc(1, sizeof *c);
    problem q;
    memset(&q, 0, sizeof q);
    if (c == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    assay_status status =
        t->used > MAX_PATTERNS || t->used < 3 ? ASSAY_AGAIN : ASSAY_OK;
    c->width = data->width;
    if (status == ASSAY_OK) {
        c->code = malloc((t->mask + 1) * c->width);
        status = c->code == NULL ? ASSAY_MEMORY : code_keys(c, piece, data);
    }
    if (status == ASSAY_OK) {
        status = problem_make(&q, c, t, light, err);
    }
    if (status == ASSAY_OK) {
        status = problem_solve(&q, err);
    }
    if (status == ASSAY_OK) {
        set_weights(t, &q);
        piece->smoothed = 1;
    }
    problem_clear(&q);
    free(c->code);
    free(c);
    return status;
}
