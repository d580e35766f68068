/* ring: glue */
/* Joint models: logistic regression on steps, and boosted trees. */
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/attacker.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define MAX_PARAMS 400

/* ---- logistic regression ------------------------------------------------------ */

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
    size_t work = 1 + z->num_pieces * z->num_pieces;
    size_t blocks = 200000000 / work / BLOCK + 4;
    blocks = blocks < d->num_blocks ? blocks : d->num_blocks;
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

/* One row's share of gradient and Hessian (lower triangle). */
static void add_row(const design *z, size_t row, const double *beta,
                    double *grad, double *hess)
{
    const uint16_t *at = z->index + row * z->num_pieces;
    const float *v = z->value + row * z->num_pieces;
    double score = 0;
    for (size_t k = 0; k < z->num_pieces; k++) {
        score += at[k] == UINT16_MAX ? 0 : beta[at[k]] * (double)v[k];
    }
    double p = 1 / (1 + exp(-score));
    double g = p - z->label[row], h = p * (1 - p);
    for (size_t k = 0; k < z->num_pieces; k++) {
        if (at[k] == UINT16_MAX) {
            continue;
        }
        double x = (double)v[k];
        grad[at[k]] += g * x;
        double *line = hess + at[k] * z->num_params;
        for (size_t l = 0; l <= k; l++) {
            if (at[l] != UINT16_MAX) {
                line[at[l]] += h * x * (double)v[l];
            }
        }
    }
}

static assay_status newton(const design *z, double *beta, assay_error *err)
{
    size_t n = z->num_params;
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
    *to = (assay_piece){.kind = from->kind, .feature = from->feature,
                        .sign = 1, .knot = from->knot,
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
                                const assay_training *data, assay_error *err)
{
    design z;
    double beta[MAX_PARAMS] = {0};
    assay_status status = design_make(&z, base, data, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = newton(&z, beta, err);
    if (status == ASSAY_OK) {
        status = copy_model(out, base, z.num_pieces, beta, z.offset, err);
        (void)snprintf(out->name, sizeof out->name, "logistic");
        out->is_fit = 1;
    }
    design_clear(&z);
    return status;
}

/* ---- boosted trees -------------------------------------------------------------- */

#define DEPTH 3
#define LEAVES 8
#define ROUNDS 50
#define BINS 33 /* 32 and one for missing */
#define RATE 0.25
#define MIN_GAIN 12 /* less is luck: a chi-squared of one degree */
#define MAX_TREE_ROWS 200000

typedef struct tree {
    uint16_t feature[LEAVES - 1]; /* heap order */
    uint8_t cut[LEAVES - 1];      /* right if bin > cut */
    float leaf[LEAVES];
} tree;

struct assay_boost {
    size_t num_features;
    double *edge; /* [feature * (BINS - 2)] */
    size_t num_trees;
    tree trees[ROUNDS];
};

void assay_boost_free(struct assay_boost *boost)
{
    if (boost != NULL) {
        free(boost->edge);
        free(boost);
    }
}

static uint8_t bin_of(const double *edge, double x)
{
    if (isnan(x)) {
        return BINS - 1;
    }
    uint8_t lo = 0;
    for (uint8_t step = 16; step > 0; step /= 2) {
        if (lo + step <= BINS - 2 && x > edge[lo + step - 1]) {
            lo = (uint8_t)(lo + step);
        }
    }
    return lo;
}

static void bin_block(const struct assay_boost *t, const assay_model *m,
                      const assay_rows *r, uint8_t *out, size_t stride)
{
    double x[BLOCK];
    for (size_t k = 0; k < t->num_features; k++) {
        assay_piece_value(&m->piece[k], r, x);
        for (size_t i = 0; i < r->num; i++) {
            out[k * stride + i] = bin_of(t->edge + k * (BINS - 2), x[i]);
        }
    }
}

void assay_boost_score(const struct assay_boost *t, const assay_model *model,
                       const assay_rows *rows, float *out)
{
    static _Thread_local uint8_t bins[(4 * ASSAY_ROWS_WIDTH + 16) * BLOCK];
    bin_block(t, model, rows, bins, BLOCK);
    memset(out, 0, rows->num * sizeof *out);
    for (size_t k = 0; k < t->num_trees; k++) {
        const tree *w = &t->trees[k];
        for (size_t i = 0; i < rows->num; i++) {
            unsigned node = 0;
            for (int d = 0; d < DEPTH; d++) {
                node = 2 * node + 1 +
                       (bins[w->feature[node] * (size_t)BLOCK + i] >
                        w->cut[node]);
            }
            out[i] += w->leaf[node - (LEAVES - 1)];
        }
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void boost_edges(struct assay_boost *t, const assay_model *m,
                        const assay_training *d)
{
    double x[2 * BLOCK];
    for (size_t k = 0; k < t->num_features; k++) {
        size_t n = 0;
        for (int s = 0; s < 2; s++) {
            const assay_rows *r = &d->rows[s][0];
            double v[BLOCK];
            assay_piece_value(&m->piece[k], r, v);
            for (size_t i = 0; i < r->num; i++) {
                if (!isnan(v[i])) {
                    x[n++] = v[i];
                }
            }
        }
        qsort(x, n, sizeof *x, compare);
        for (size_t q = 1; q < BINS - 1; q++) {
            t->edge[k * (BINS - 2) + q - 1] =
                n == 0 ? 0 : x[q * n / (BINS - 1)];
        }
    }
}

typedef struct growing {
    size_t n, num_features;
    uint8_t *bins; /* [feature * n + row] */
    uint8_t *label;
    uint8_t *node;
    float *score, *g, *h;
    double *hist; /* [node][bin][2] for one feature */
} growing;

/* The best split of every node of a level. */
static void grow_level(growing *w, tree *out, int level)
{
    unsigned first = (1u << level) - 1, width = 1u << level;
    double best[LEAVES] = {0};
    for (size_t f = 0; f < w->num_features; f++) {
        memset(w->hist, 0, LEAVES * BINS * 2 * sizeof *w->hist);
        const uint8_t *b = w->bins + f * w->n;
        for (size_t i = 0; i < w->n; i++) {
            double *at = w->hist + (w->node[i] * BINS + b[i]) * 2;
            at[0] += (double)w->g[i];
            at[1] += (double)w->h[i];
        }
        for (unsigned k = 0; k < width; k++) {
            double tg = 0, th = 0, lg = 0, lh = 0;
            const double *at = w->hist + k * BINS * 2;
            for (size_t q = 0; q < BINS; q++) {
                tg += at[2 * q];
                th += at[2 * q + 1];
            }
            for (size_t q = 0; q + 1 < BINS; q++) {
                lg += at[2 * q];
                lh += at[2 * q + 1];
                double rg = tg - lg, rh = th - lh;
                double gain = lg * lg / (lh + 20) + rg * rg / (rh + 20) -
                              tg * tg / (th + 20);
                if (gain > best[k] && gain > MIN_GAIN) {
                    best[k] = gain;
                    out->feature[first + k] = (uint16_t)f;
                    out->cut[first + k] = (uint8_t)q;
                }
            }
        }
    }
    for (size_t i = 0; i < w->n; i++) {
        unsigned k = w->node[i];
        const uint8_t *b = w->bins + out->feature[first + k] * w->n;
        w->node[i] = (uint8_t)(2 * k + (b[i] > out->cut[first + k]));
    }
}

static void grow_tree(growing *w, tree *out)
{
    memset(out, 0, sizeof *out);
    memset(out->cut, 255, sizeof out->cut); /* no split */
    memset(w->node, 0, w->n);
    for (size_t i = 0; i < w->n; i++) {
        float p = 1.0f / (1.0f + expf(-w->score[i]));
        w->g[i] = (float)w->label[i] - p;
        w->h[i] = p * (1 - p);
    }
    for (int level = 0; level < DEPTH; level++) {
        grow_level(w, out, level);
    }
    double g[LEAVES] = {0}, h[LEAVES] = {0};
    for (size_t i = 0; i < w->n; i++) {
        g[w->node[i]] += (double)w->g[i];
        h[w->node[i]] += (double)w->h[i];
    }
    for (int k = 0; k < LEAVES; k++) {
        out->leaf[k] = (float)(RATE * g[k] / (h[k] + 20));
    }
    for (size_t i = 0; i < w->n; i++) {
        w->score[i] += out->leaf[w->node[i]];
    }
}

static assay_status grow_all(struct assay_boost *t, const assay_model *m,
                             const assay_training *d, assay_error *err)
{
    size_t blocks = MAX_TREE_ROWS / 2 / BLOCK + 1;
    blocks = blocks < d->num_blocks ? blocks : d->num_blocks;
    growing w = {.num_features = t->num_features};
    for (size_t b = 0; b < 2 * blocks; b++) {
        w.n += d->rows[b % 2][b / 2].num;
    }
    w.bins = malloc(w.n * (t->num_features + 2));
    w.score = calloc(3 * w.n, sizeof(float));
    w.hist = malloc(LEAVES * BINS * 2 * sizeof(double));
    if (w.bins == NULL || w.score == NULL || w.hist == NULL) {
        free(w.bins);
        free(w.score);
        free(w.hist);
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    w.label = w.bins + w.n * t->num_features;
    w.node = w.label + w.n;
    w.g = w.score + w.n;
    w.h = w.g + w.n;
    size_t at = 0;
    for (size_t b = 0; b < 2 * blocks; b++) {
        const assay_rows *r = &d->rows[b % 2][b / 2];
        bin_block(t, m, r, w.bins + at, w.n);
        memset(w.label + at, b % 2 == 0, r->num);
        at += r->num;
    }
    for (size_t k = 0; k < ROUNDS; k++) {
        grow_tree(&w, &t->trees[t->num_trees++]);
    }
    free(w.bins);
    free(w.score);
    free(w.hist);
    return ASSAY_OK;
}

assay_status assay_boost_fit(assay_model *out, const assay_model *base,
                             const assay_training *data, assay_error *err)
{
    assay_status status =
        copy_model(out, base, base->num_pieces, NULL, NULL, err);
    struct assay_boost *t = calloc(1, sizeof *t);
    if (status != ASSAY_OK || t == NULL) {
        free(t);
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    (void)snprintf(out->name, sizeof out->name, "boosted trees");
    out->boost = t;
    t->num_features = base->num_pieces;
    t->edge = calloc(t->num_features * (BINS - 2), sizeof(double));
    if (t->edge == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    boost_edges(t, out, data);
    return grow_all(t, out, data, err);
}
