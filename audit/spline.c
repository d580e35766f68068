/* ring: glue */
#include "audit/spline.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/evidence.h"
#include "audit/rng.h"
#include "audit/spline_terms.h"

#define BLOCK ASSAY_ROWS_BLOCK

typedef assay_spline spline;
typedef assay_spline_curve curve;
typedef assay_spline_indicator indicator;

/* ---- fitting ------------------------------------------------------------ */

typedef struct workspace {
    float *x, *part;
    double *diagonal; /* of the Hessian of all blocks */
    assay_evidence e;
    size_t blocks; /* of a side, for the Hessian */
} workspace;

static int workspace_make(workspace *w, const spline *s,
                          const assay_training *d)
{
    size_t p = s->num_terms;
    w->x = malloc(p * BLOCK * sizeof(float));
    w->part = malloc(p * p * sizeof(float));
    w->diagonal = malloc(p * sizeof(double));
    w->e.num = p;
    w->e.family = s->family;
    w->e.hess = malloc((2 * p * p + 2 * p) * sizeof(double));
    if (w->x == NULL || w->part == NULL || w->diagonal == NULL ||
        w->e.hess == NULL) {
        return 0;
    }
    w->e.grad = w->e.hess + p * p;
    w->e.work = w->e.grad + p;
    for (size_t f = 0; f < ASSAY_FAMILIES; f++) {
        w->e.lambda[f] = f == ASSAY_TERM_FREE ? 1e-3 : ASSAY_EVIDENCE_OFF;
    }
    w->e.rich = UINT32_C(7) << ASSAY_TERM_COLUMN |
                UINT32_C(7) << ASSAY_TERM_OWN_DIFFERENCE |
                UINT32_C(1) << ASSAY_TERM_WORD |
                UINT32_C(1) << ASSAY_TERM_PATTERN;
    size_t rows = (size_t)(3e9 / (double)(p * p)) + 8 * BLOCK;
    w->blocks = rows / BLOCK < d->num_blocks ? rows / BLOCK : d->num_blocks;
    return 1;
}

static void workspace_clear(workspace *w)
{
    free(w->x);
    free(w->part);
    free(w->diagonal);
    free(w->e.hess);
}

ASSAY_SIMD
static float sum_of_squares(const float *x, const float *h, size_t n)
{
    float sum[16] = {0}, all = 0;
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (size_t k = 0; k < 16; k++) {
            float y = x[i + k] * h[i + k];
            sum[k] += y * y;
        }
    }
    for (; i < n; i++) {
        all += x[i] * h[i] * x[i] * h[i];
    }
    for (size_t k = 0; k < 16; k++) {
        all += sum[k];
    }
    return all;
}

/* Scores, then the gradient's and, if wanted, the Hessian's share. */
static void add_block(const spline *s, const assay_rows *r, int left,
                      int curvature, workspace *w)
{
    size_t p = s->num_terms, n = r->num;
    float b[ASSAY_SPLINE_TERMS], g[BLOCK], h[BLOCK], sum[ASSAY_SPLINE_TERMS];
    for (size_t k = 0; k < p; k++) {
        b[k] = (float)s->beta[k];
    }
    assay_spline_fill(s, r, w->x);
    cblas_sgemv(CblasRowMajor, CblasTrans, (int)p, (int)n, 1, w->x, BLOCK, b, 1,
                0, g, 1);
    for (size_t i = 0; i < n; i++) {
        float q = 1 / (1 + expf(-g[i]));
        g[i] = (float)left - q;
        h[i] = sqrtf(q * (1 - q));
    }
    cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)p, (int)n, 1, w->x, BLOCK, g,
                1, 0, sum, 1);
    for (size_t k = 0; k < p; k++) {
        w->e.grad[k] += (double)sum[k];
    }
    for (size_t k = 0; k < p; k++) {
        w->diagonal[k] += (double)sum_of_squares(w->x + k * BLOCK, h, n);
    }
    if (!curvature) {
        return;
    }
    for (size_t k = 0; k < p; k++) {
        float *x = w->x + k * BLOCK;
        for (size_t i = 0; i < n; i++) {
            x[i] *= h[i];
        }
    }
    cblas_ssyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)p, (int)n, 1,
                w->x, BLOCK, 0, w->part, (int)p);
    for (size_t k = 0; k < p; k++) {
        for (size_t l = 0; l <= k; l++) {
            w->e.hess[k * p + l] += (double)w->part[k * p + l];
        }
    }
}

/* A term that is rare, and rarer still in the blocks of the Hessian, would have
 * far too long a step: its row and column are stretched to what all blocks have
 * on the diagonal. */
#define MUCH_RARER 1.5
static void make_good(workspace *w)
{
    size_t p = w->e.num;
    for (size_t k = 0; k < p; k++) {
        double *h = w->e.hess, own = h[k * p + k];
        if (!(w->diagonal[k] > MUCH_RARER * own)) {
            continue;
        }
        double stretch = own > 0 ? sqrt(w->diagonal[k] / own) : 0;
        for (size_t l = 0; l < p; l++) {
            h[l < k ? k * p + l : l * p + k] *= stretch;
        }
        h[k * p + k] = w->diagonal[k];
    }
}

/* Gradient of `blocks` blocks of a side, Hessian of some of them as if of all;
 * then the quadratic form is written around 0 (grad + H beta). */
static void accumulate(const spline *s, const assay_training *d, size_t blocks,
                       workspace *w)
{
    size_t p = s->num_terms;
    memset(w->e.hess, 0, (p * p + p) * sizeof(double));
    memset(w->diagonal, 0, p * sizeof(double));
    for (size_t b = 0; b < 2 * blocks; b++) {
        add_block(s, &d->rows[b % 2][b / 2], b % 2 == 0, b < 2 * w->blocks, w);
    }
    double scale = (double)blocks / (double)w->blocks;
    for (size_t k = 0; k < p; k++) {
        for (size_t l = 0; l <= k; l++) {
            w->e.hess[k * p + l] *= scale;
        }
    }
    make_good(w);
    for (size_t k = 0; k < p; k++) {
        for (size_t l = 0; l < p; l++) {
            double h = w->e.hess[k > l ? k * p + l : l * p + k];
            w->e.grad[k] += h * s->beta[l];
        }
    }
}

/* The largest change of a score that a step makes in the first blocks. (Terms
 * nearly repeat each other: large components may cancel.) */
static double change(const spline *s, const assay_training *d, workspace *w,
                     const double *step)
{
    float b[ASSAY_SPLINE_TERMS], g[BLOCK];
    double most = 0;
    for (size_t k = 0; k < s->num_terms; k++) {
        b[k] = (float)step[k];
    }
    for (int side = 0; side < 2; side++) {
        const assay_rows *r = &d->rows[side][0];
        assay_spline_fill(s, r, w->x);
        cblas_sgemv(CblasRowMajor, CblasTrans, (int)s->num_terms, (int)r->num,
                    1, w->x, BLOCK, b, 1, 0, g, 1);
        for (size_t i = 0; i < r->num; i++) {
            most = fmax(most, fabs((double)g[i]));
        }
    }
    return most;
}

/* A step of Newton's, shortened if it changes a score by much; returns by how
 * much it would. */
#define LONGEST 3
static double newton(spline *s, const assay_training *d, workspace *w)
{
    double step[ASSAY_SPLINE_TERMS];
    if (!assay_evidence_solve(&w->e, step)) {
        return 0;
    }
    for (size_t k = 0; k < s->num_terms; k++) {
        step[k] -= s->beta[k];
    }
    double most = change(s, d, w, step);
    double part = most > LONGEST ? LONGEST / most : 1;
    for (size_t k = 0; isfinite(most) && k < s->num_terms; k++) {
        s->beta[k] += part * step[k];
    }
    return isfinite(most) ? most : 0;
}

/* Weak signals: one step on all rows is exact enough. Strong ones: on some of
 * the rows until it settles, then once on all. */
#define WEAK 0.4
#define SETTLED 0.1
#define ROUNDS 6
static void regress(spline *s, const assay_training *d, workspace *w)
{
    accumulate(s, d, d->num_blocks, w);
    assay_evidence_tune(&w->e);
    double most = newton(s, d, w);
    if (most < WEAK) {
        return;
    }
    for (int round = 0; round < ROUNDS && most > SETTLED; round++) {
        accumulate(s, d, w->blocks, w);
        if (round == 1) {
            assay_evidence_tune(&w->e);
        }
        most = newton(s, d, w);
    }
    if (w->blocks < d->num_blocks) {
        accumulate(s, d, d->num_blocks, w);
        (void)newton(s, d, w);
    }
}

/* ---- the model: one piece a column -------------------------------------- */

static double within(double x, double lo, double hi)
{
    return fmin(fmax(x, lo), hi);
}

static double curve_at(const spline *s, const curve *c, double x)
{
    size_t num = c->num_knots;
    double lo = c->knot[0], hi = c->knot[num - 1],
           span = ASSAY_SPLINE_SPAN * c->scale;
    const double *b = s->beta + c->first;
    double sum =
        b[0] * (within(x, lo - span, hi + span) - 0.5 * (lo + hi)) / c->scale;
    for (size_t k = 0; k + 1 < num; k++) {
        double t = (x - c->knot[k]) / (c->knot[k + 1] - c->knot[k]);
        sum += b[1 + k] * within(t, 0, 1);
    }
    sum += b[num] * within((lo - x) / c->scale, 0, ASSAY_SPLINE_SPAN);
    sum += b[num + 1] * within((x - hi) / c->scale, 0, ASSAY_SPLINE_SPAN);
    for (size_t i = 0; i < c->num_jumps; i++) {
        sum += x > c->jump[i] ? b[num + 2 + i] : 0;
    }
    return sum;
}

/* The largest value of a curve at its knots and jumps, or of another term. */
static double largest(const spline *s)
{
    double most = 0;
    for (size_t k = 0; k < s->num_curves; k++) {
        const curve *c = &s->curve[k];
        for (size_t i = 0; i < c->num_knots; i++) {
            most = fmax(most, fabs(curve_at(s, c, c->knot[i])));
        }
    }
    for (size_t k = 1; k < s->num_terms; k++) {
        int single = s->family[k] == ASSAY_TERM_WORD ||
                     s->family[k] == ASSAY_TERM_PATTERN;
        most = fmax(most, single ? fabs(s->beta[k]) : 0);
    }
    return most;
}

/* Does the curve belong to the broken line of f, alone or times something? */
static int speaks_of(const curve *c, assay_feature f, const curve *product)
{
    if (product != NULL || c->times_scale != 0) {
        return c == product;
    }
    if (c->feature.kind != f.kind || c->feature.mask != f.mask) {
        return 0;
    }
    return c->mask != 0 ? (int)(c->mask >> f.col & 1) : c->feature.col == f.col;
}

static assay_status new_piece(assay_model *m, assay_piece_kind kind,
                              assay_feature f, size_t room, assay_error *err)
{
    assay_piece *p = &m->piece[m->num_pieces++];
    *p = (assay_piece){.kind = kind, .feature = f, .sign = 1};
    p->steps.edge = calloc(room + 1, sizeof(double));
    p->steps.weight = calloc(room + 1, sizeof(double));
    if (p->steps.edge == NULL || p->steps.weight == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    return ASSAY_OK;
}

/* Where the broken line of a feature may break. */
static size_t breaks_of(const spline *s, assay_feature f, const curve *product,
                        double *out)
{
    size_t n = 0, m = 0;
    for (size_t k = 0; k < s->num_curves; k++) {
        const curve *c = &s->curve[k];
        if (!speaks_of(c, f, product)) {
            continue;
        }
        for (size_t i = 0; i < c->num_knots; i++) {
            out[n++] = c->knot[i];
        }
        out[n++] = c->knot[0] - ASSAY_SPLINE_SPAN * c->scale;
        out[n++] = c->knot[c->num_knots - 1] + ASSAY_SPLINE_SPAN * c->scale;
        for (size_t i = 0; i < c->num_jumps; i++) {
            out[n++] = c->jump[i];
            out[n++] = nextafter(c->jump[i], INFINITY);
        }
    }
    qsort(out, n, sizeof *out, assay_compare_doubles);
    for (size_t i = 0; i < n; i++) {
        if (m == 0 || out[i] > out[m - 1]) {
            out[m++] = out[i];
        }
    }
    return m;
}

/* The constant that a number in column j is worth. */
static double number_worth(const spline *s, assay_feature f)
{
    double sum = 0;
    for (size_t k = 0; k < s->num_indicators; k++) {
        const indicator *i = &s->indicator[k];
        sum += f.kind == ASSAY_F_RAW && i->word < 0 && (int)i->col == f.col
                   ? s->beta[i->term]
                   : 0;
    }
    return sum;
}

/* Leave out points that lie on the line through their neighbours. */
static void straighten(assay_steps *t, double tolerance)
{
    size_t m = 1;
    for (size_t i = 1; i < t->num_edges; i++) {
        if (i + 1 < t->num_edges) {
            double x = t->edge[m - 1], y = t->weight[m - 1];
            double part = (t->edge[i] - x) / (t->edge[i + 1] - x);
            double off = y + part * (t->weight[i + 1] - y) - t->weight[i];
            if (fabs(off) < tolerance) {
                continue;
            }
        }
        t->edge[m] = t->edge[i];
        t->weight[m++] = t->weight[i];
    }
    t->num_edges = m;
}

/* What bends a line by less than this part of the largest value is not worth
 * the time; nor is a line that says less than that. */
#define FINE 2e-4

static assay_status add_lines(assay_model *m, const spline *s, assay_feature f,
                              const curve *product, assay_error *err)
{
    double at[4 * (ASSAY_SPLINE_KNOTS + 2 + 2 * ASSAY_SPLINE_JUMPS)] = {0},
                                                most = 0;
    size_t n = breaks_of(s, f, product, at);
    if (n == 0) {
        return ASSAY_OK;
    }
    assay_status status = new_piece(m, ASSAY_PIECE_LINES, f, n, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_steps *t = &m->piece[m->num_pieces - 1].steps;
    if (product != NULL) {
        assay_piece *p = &m->piece[m->num_pieces - 1];
        p->times = product->times;
        p->times_centre = product->times_centre;
        p->times_scale = product->times_scale;
    }
    t->num_edges = n;
    for (size_t i = 0; i < n; i++) {
        t->edge[i] = at[i];
        t->weight[i] = number_worth(s, f);
        for (size_t k = 0; k < s->num_curves; k++) {
            t->weight[i] += speaks_of(&s->curve[k], f, product)
                                ? curve_at(s, &s->curve[k], at[i])
                                : 0;
        }
        most = fmax(most, fabs(t->weight[i]));
    }
    straighten(t, FINE * s->most);
    if (most < FINE * s->most) {
        free(t->edge);
        free(t->weight);
        memset(&m->piece[--m->num_pieces], 0, sizeof *m->piece);
    }
    return ASSAY_OK;
}

static assay_status add_words(assay_model *m, const spline *s, size_t col,
                              assay_error *err)
{
    size_t n = 0;
    assay_status status =
        new_piece(m, ASSAY_PIECE_WORDS, assay_feature_of(ASSAY_F_RAW, (int)col),
                  s->num_indicators, err);
    assay_steps *t = &m->piece[m->num_pieces - 1].steps;
    for (size_t k = 0; status == ASSAY_OK && k < s->num_indicators; k++) {
        const indicator *i = &s->indicator[k];
        if (i->col == col && i->word >= 0) {
            t->edge[n] = i->word;
            t->weight[n++] = s->beta[i->term];
        }
    }
    t->num_edges = n;
    return status;
}

static assay_status add_table(assay_model *m, const spline *s, assay_error *err)
{
    assay_piece *p = &m->piece[m->num_pieces++];
    *p = (assay_piece){.kind = ASSAY_PIECE_TABLE,
                       .sign = 1,
                       .smoothed = 1,
                       .feature = assay_feature_of(ASSAY_F_PATTERN, 0)};
    assay_status status =
        assay_table_make(&p->table, s->pattern, s->beta + s->pattern_first,
                         s->num_patterns, err);
    return status;
}

/* Pieces in the order of the columns; summaries behind. */
static assay_status collapse(assay_model *m, const spline *s, size_t width,
                             assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (s->num_patterns > 0) {
        status = add_table(m, s, err);
    }
    for (size_t j = 0; status == ASSAY_OK && j < width; j++) {
        status =
            add_lines(m, s, assay_feature_of(ASSAY_F_RAW, (int)j), NULL, err);
        if (status == ASSAY_OK) {
            status = add_lines(m, s, assay_feature_of(ASSAY_F_DIFF, (int)j),
                               NULL, err);
        }
        int words = 0;
        for (size_t k = 0; k < s->num_indicators; k++) {
            words |= s->indicator[k].col == j && s->indicator[k].word >= 0;
        }
        if (status == ASSAY_OK && words) {
            status = add_words(m, s, j, err);
        }
    }
    for (size_t k = 0; status == ASSAY_OK && k < s->num_curves; k++) {
        const curve *c = &s->curve[k];
        if (c->feature.kind != ASSAY_F_RAW && c->feature.kind != ASSAY_F_DIFF) {
            status = add_lines(m, s, c->feature, c->times_scale != 0 ? c : NULL,
                               err);
        }
    }
    return status;
}

assay_status assay_spline_fit(assay_model *out, const assay_training *data,
                              const assay_spline_shape *shape, assay_error *err)
{
    spline *s = calloc(1, sizeof *s);
    workspace w;
    memset(&w, 0, sizeof w);
    assay_status status = ASSAY_MEMORY;
    if (s != NULL) {
        status = assay_spline_list(s, data, shape, err);
    }
    if (status == ASSAY_OK) {
        status = workspace_make(&w, s, data) ? ASSAY_OK : ASSAY_MEMORY;
    }
    if (status == ASSAY_OK && s->num_terms > 1) {
        regress(s, data, &w);
        s->most = largest(s);
        free(out->piece);
        out->piece =
            calloc(s->num_curves + 3 * data->width + 2, sizeof *out->piece);
        out->is_fit = 1;
        status = out->piece == NULL ? ASSAY_MEMORY
                                    : collapse(out, s, data->width, err);
    }
    workspace_clear(&w);
    free(s);
    return status == ASSAY_MEMORY
               ? assay_fail(err, status, "attacker: out of memory")
               : status;
}
