/* ring: glue */
/* Logistic regression on the pieces of a model. */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/attacker.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define MAX_PARAMS 400

typedef struct design {
    size_t num_pieces, num_params, num_rows;
    size_t offset[8 * ASSAY_ROWS_WIDTH + 8]; /* first parameter of a piece */
    uint16_t *index; /* [row * num_pieces + k], UINT16_MAX: none */
    float *value;
    uint8_t *label;
} design;

static size_t piece_params(const assay_piece *p)
{
    return p->kind == ASSAY_PIECE_STEPS ? p->steps.num_edges + 1 : 1;
}

static void design_cell(const assay_piece *p, double x, size_t offset,
                        uint16_t *index, float *value)
{
    *value = 1;
    if (p->kind == ASSAY_PIECE_TABLE) {
        *index = (uint16_t)offset;
        *value = (float)x;
    } else if (isnan(x)) {
        *index = UINT16_MAX;
    } else if (p->kind != ASSAY_PIECE_STEPS) {
        *index = (uint16_t)offset;
        *value = (float)(p->sign * x);
    } else {
        size_t k = 0;
        while (k < p->steps.num_edges && x > p->steps.edge[k]) {
            k++;
        }
        *index = (uint16_t)(offset + k);
    }
}

static void design_block(design *z, const assay_model *m, const assay_rows *r,
                         int side)
{
    double x[BLOCK];
    for (size_t k = 0; k < z->num_pieces; k++) {
        assay_piece_value(&m->piece[k], r, x);
        for (size_t i = 0; i < r->num; i++) {
            size_t at = (z->num_rows + i) * z->num_pieces + k;
            design_cell(&m->piece[k], x[i], z->offset[k], &z->index[at],
                        &z->value[at]);
        }
    }
    memset(z->label + z->num_rows, side == 0, r->num);
    z->num_rows += r->num;
}

static void design_clear(design *z)
{
    free(z->index);
    free(z->value);
    free(z->label);
}

/* Blocks of a side that a fit of so many pieces has time for. */
static size_t blocks_for(size_t num_pieces, const assay_training *d)
{
    size_t blocks = 200000000 / (1 + num_pieces * num_pieces) / BLOCK + 4;
    return blocks < d->num_blocks ? blocks : d->num_blocks;
}

static assay_status design_make(design *z, const assay_model *m,
                                const assay_training *d, assay_error *err)
{
    memset(z, 0, sizeof *z);
    for (size_t k = 0; k < m->num_pieces; k++) {
        size_t more = piece_params(&m->piece[k]);
        if (z->num_params + more > MAX_PARAMS) {
            break;
        }
        z->offset[z->num_pieces++] = z->num_params;
        z->num_params += more;
    }
    size_t blocks = blocks_for(z->num_pieces, d);
    size_t cells = 2 * blocks * BLOCK * (z->num_pieces + 1);
    z->index = malloc(cells * sizeof *z->index);
    z->value = malloc(cells * sizeof *z->value);
    z->label = malloc(2 * blocks * BLOCK);
    if (z->index == NULL || z->value == NULL || z->label == NULL) {
        design_clear(z);
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    for (size_t b = 0; b < 2 * blocks; b++) {
        design_block(z, m, &d->rows[b % 2][b / 2], (int)(b % 2));
    }
    return ASSAY_OK;
}

static double score_of(const design *z, size_t row, const double *beta)
{
    const uint16_t *at = z->index + row * z->num_pieces;
    const float *v = z->value + row * z->num_pieces;
    double score = beta[z->num_params];
    for (size_t k = 0; k < z->num_pieces; k++) {
        score += at[k] == UINT16_MAX ? 0 : beta[at[k]] * (double)v[k];
    }
    return score;
}

/* Schwarz's criterion on as many rows as a fit of `most` pieces has time
 * for, so that fits of different size can be compared. */
static double evidence(const design *z, const double *beta, size_t most,
                       const assay_training *d)
{
    size_t rows = 2 * blocks_for(most, d) * BLOCK;
    double sum = 0;
    rows = rows < z->num_rows ? rows : z->num_rows;
    for (size_t i = 0; i < rows; i++) {
        double s = score_of(z, i, beta);
        sum -= log1p(exp(z->label[i] ? -s : s));
    }
    return sum - 0.5 * (double)(z->num_params + 1) * log((double)rows);
}

/* One row's share of gradient and Hessian (lower triangle). The last
 * parameter is a constant, which orders no rows but frees the slopes from
 * carrying it. */
static void add_row(const design *z, size_t row, const double *beta,
                    double *grad, double *hess)
{
    const uint16_t *at = z->index + row * z->num_pieces;
    const float *v = z->value + row * z->num_pieces;
    const size_t last = z->num_params, n = last + 1;
    double p = 1 / (1 + exp(-score_of(z, row, beta)));
    double g = p - z->label[row], h = p * (1 - p);
    grad[last] += g;
    hess[last * n + last] += h;
    for (size_t k = 0; k < z->num_pieces; k++) {
        if (at[k] == UINT16_MAX) {
            continue;
        }
        double x = (double)v[k];
        grad[at[k]] += g * x;
        hess[last * n + at[k]] += h * x;
        double *line = hess + at[k] * n;
        for (size_t l = 0; l <= k; l++) {
            if (at[l] != UINT16_MAX) {
                line[at[l]] += h * x * (double)v[l];
            }
        }
    }
}

static assay_status newton(const design *z, double *beta, assay_error *err)
{
    size_t n = z->num_params + 1;
    double *hess = malloc((n * n + n) * sizeof *hess);
    if (hess == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    double *grad = hess + n * n;
    for (int it = 0; it < 5; it++) {
        memset(hess, 0, (n * n + n) * sizeof *hess);
        for (size_t i = 0; i < z->num_rows; i++) {
            add_row(z, i, beta, grad, hess);
        }
        for (size_t k = 0; k < n; k++) {
            hess[k * n + k] += 2;
            grad[k] += 2 * beta[k];
        }
        if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)n, 1, hess,
                          (lapack_int)n, grad, 1) != 0) {
            break;
        }
        double most = 0;
        for (size_t k = 0; k < n; k++) {
            beta[k] -= grad[k];
            most = fmax(most, fabs(grad[k]));
        }
        if (most < 1e-4) {
            break;
        }
    }
    free(hess);
    return ASSAY_OK;
}

static assay_status copy_piece(assay_piece *to, const assay_piece *from,
                               const double *beta, assay_error *err)
{
    *to = (assay_piece){.kind = from->kind,
                        .feature = from->feature,
                        .sign = 1,
                        .knot = from->knot,
                        .smoothed = from->smoothed};
    if (from->kind == ASSAY_PIECE_TABLE) {
        size_t slots = from->table.mask + 1;
        to->table = from->table;
        to->table.count = NULL;
        to->table.key = malloc(slots * sizeof(uint64_t));
        to->table.weight = malloc(slots * sizeof(double));
        if (to->table.key == NULL || to->table.weight == NULL) {
            return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
        }
        memcpy(to->table.key, from->table.key, slots * sizeof(uint64_t));
        memcpy(to->table.weight, from->table.weight, slots * sizeof(double));
        to->sign = beta == NULL ? 1 : beta[0];
        return ASSAY_OK;
    }
    if (from->kind != ASSAY_PIECE_STEPS) {
        to->sign = from->sign * (beta == NULL ? 1 : beta[0]);
        return ASSAY_OK;
    }
    size_t n = from->steps.num_edges;
    to->steps.num_edges = n;
    to->steps.edge = malloc((n + 1) * sizeof(double));
    to->steps.weight = malloc((n + 1) * sizeof(double));
    if (to->steps.edge == NULL || to->steps.weight == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    memcpy(to->steps.edge, from->steps.edge, n * sizeof(double));
    memcpy(to->steps.weight, beta == NULL ? from->steps.weight : beta,
           (n + 1) * sizeof(double));
    return ASSAY_OK;
}

static assay_status copy_model(assay_model *out, const assay_model *base,
                               size_t num, const double *beta,
                               const size_t *offset, assay_error *err)
{
    memset(out, 0, sizeof *out);
    out->piece = calloc(num + 1, sizeof *out->piece);
    assay_status status = out->piece == NULL ? ASSAY_MEMORY : ASSAY_OK;
    for (size_t k = 0; status == ASSAY_OK && k < num; k++) {
        out->num_pieces++;
        status = copy_piece(&out->piece[k], &base->piece[k],
                            beta == NULL ? NULL : beta + offset[k], err);
    }
    return status;
}

assay_status assay_logistic_fit(assay_model *out, const assay_model *base,
                                const assay_training *data, size_t most,
                                assay_error *err)
{
    design z;
    double beta[MAX_PARAMS + 1] = {0};
    assay_status status = design_make(&z, base, data, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = newton(&z, beta, err);
    if (status == ASSAY_OK) {
        status = copy_model(out, base, z.num_pieces, beta, z.offset, err);
        (void)snprintf(out->name, sizeof out->name, "logistic");
        out->is_fit = 1;
        out->evidence = evidence(&z, beta, most, data);
    }
    design_clear(&z);
    return status;
}
