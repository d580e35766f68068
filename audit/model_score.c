/* ring: glue */
/* What a fitted model says of rows: the sum of its pieces, a block at a
 * time. */
#include "audit/attacker.h"

#include <math.h>
#include <string.h>

#include "audit/rng.h"
#include "audit/smooth.h"

#define BLOCK ASSAY_ROWS_BLOCK

ASSAY_SIMD
static void add_steps(const assay_steps *s, const double *x, double *out,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] += s->weight[0];
    }
    for (size_t k = 0; k < s->num_edges; k++) {
        double e = s->edge[k], d = s->weight[k + 1] - s->weight[k];
        for (size_t i = 0; i < n; i++) {
            out[i] += x[i] > e ? d : 0;
        }
    }
}

static void add_steps_any(const assay_piece *p, const assay_rows *rows,
                          double *out)
{
    double space[BLOCK];
    const double *x = assay_feature_view(rows, p->feature, space);
    int plain = p->feature.kind == ASSAY_F_RAW && rows->plain[p->feature.col];
    if (p->steps.num_edges <= 24 && plain) {
        add_steps(&p->steps, x, out, rows->num);
        return;
    }
    for (size_t i = 0; i < rows->num; i++) {
        out[i] += assay_steps_at(&p->steps, x[i]);
    }
}

static void add_strata(const assay_piece *p, const assay_rows *rows,
                       double *out)
{
    double x[BLOCK];
    uint64_t key[BLOCK];
    assay_feature_numbers(rows, p->feature, x);
    assay_feature_keys(rows, assay_feature_of(ASSAY_F_PATTERN, 0), key);
    for (size_t i = 0; i < rows->num; i++) {
        double at = assay_table_at(&p->table, key[i]);
        if (at >= 0 && !isnan(x[i])) {
            out[i] += assay_steps_at(&p->strata[(size_t)at], x[i]);
        }
    }
}

/* A number as it is, beyond the knot only, or its squared distance from
 * there. */
static double bent(const assay_piece *p, double x)
{
    double y = x - p->knot;
    if (p->kind == ASSAY_PIECE_SQUARE) {
        return y * y;
    }
    return p->kind == ASSAY_PIECE_HINGE ? fmax(y, 0) : x;
}

static void add_line(const assay_piece *p, const assay_rows *rows, double *out)
{
    double space[BLOCK];
    const double *x = assay_feature_view(rows, p->feature, space);
    for (size_t i = 0; i < rows->num; i++) {
        out[i] += isnan(x[i]) ? 0 : p->sign * bent(p, x[i]);
    }
}

/* A broken line of few points: one bend after the other. A jump is a bend
 * whose two points are neighbouring numbers. */
#define FEW_LINES 12
#define STRIP 1024 /* rows that stay in the first-level cache */

ASSAY_SIMD
static void add_bend(const double *x, size_t n, double from, double high,
                     double bend, double jump, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double y = (x[i] < high ? x[i] : high) - from;
        out[i] += x[i] > from ? jump + bend * y : 0;
    }
}

static void add_bends(const assay_steps *s, const double *x, double *out,
                      size_t n)
{
    double high = s->edge[s->num_edges - 1], slope = 0;
    add_bend(x, n, -0x1p1023, high, 0, s->weight[0], out);
    for (size_t k = 0; k + 1 < s->num_edges; k++) {
        double e = s->edge[k], next = s->edge[k + 1];
        double rise = s->weight[k + 1] - s->weight[k];
        int is_jump = next <= nextafter(e, INFINITY);
        double bend = is_jump ? 0 : rise / (next - e) - slope;
        add_bend(x, n, e, high, bend, is_jump ? rise : 0, out);
        slope += bend;
    }
}

/* A broken line of many points; no branch depends on x. */
#define LINES ASSAY_LINES_MAX
ASSAY_SIMD
static void add_broken(const assay_steps *s, const double *x, double *out,
                       size_t n)
{
    double edge[LINES], rise[LINES], at[LINES];
    for (size_t k = 0; k < LINES; k++) {
        int in = k + 1 < s->num_edges;
        edge[k] = in ? s->edge[k] : INFINITY;
        at[k] = in ? s->weight[k] : 0;
        rise[k] = in ? (s->weight[k + 1] - s->weight[k]) /
                           (s->edge[k + 1] - s->edge[k])
                     : 0;
    }
    double low = s->edge[0], high = s->edge[s->num_edges - 1];
    for (size_t i = 0; i < n; i++) {
        double y = x[i] > low ? x[i] : low;
        y = y < high ? y : high;
        size_t lo = 0;
        for (size_t step = LINES / 2; step > 0; step /= 2) {
            lo += y >= edge[lo + step] ? step : 0;
        }
        double v = at[lo] + (y - edge[lo]) * rise[lo];
        out[i] += x[i] == x[i] ? v : 0;
    }
}

ASSAY_SIMD
static void add_word(const uint8_t *tag, const double *x, size_t n, double word,
                     double weight, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double is = x[i] == word ? weight : 0;
        out[i] += tag[i] == ASSAY_CELL_WORD ? is : 0;
    }
}

static void add_words(const assay_piece *p, const assay_rows *rows, double *out)
{
    size_t j = (size_t)p->feature.col;
    for (size_t k = 0; !rows->plain[j] && k < p->steps.num_edges; k++) {
        add_word(rows->tag[j], rows->value[j], rows->num, p->steps.edge[k],
                 p->steps.weight[k], out);
    }
}

static void add_broken_any(const assay_piece *p, const assay_rows *rows,
                           double *out)
{
    double space[BLOCK];
    const double *x = assay_feature_view(rows, p->feature, space);
    for (size_t i = 0; i < rows->num; i += STRIP) {
        size_t n = rows->num - i < STRIP ? rows->num - i : STRIP;
        if (p->steps.num_edges <= FEW_LINES) {
            add_bends(&p->steps, x + i, out + i, n);
        } else {
            add_broken(&p->steps, x + i, out + i, n);
        }
    }
}

/* A broken line times another feature. */
static void add_product(const assay_piece *p, const assay_rows *rows,
                        double *out)
{
    double line[BLOCK], space[BLOCK];
    memset(line, 0, rows->num * sizeof *line);
    add_broken_any(p, rows, line);
    const double *y = assay_feature_view(rows, p->times, space);
    for (size_t i = 0; i < rows->num; i++) {
        out[i] += line[i] * (y[i] - p->times_centre) * p->times_scale;
    }
}

static void add_piece(const assay_piece *p, const assay_rows *rows, double *out)
{
    if (p->kind == ASSAY_PIECE_LINES && p->times_scale != 0) {
        add_product(p, rows, out);
    } else if (p->kind == ASSAY_PIECE_LINES) {
        add_broken_any(p, rows, out);
    } else if (p->kind == ASSAY_PIECE_WORDS) {
        add_words(p, rows, out);
    } else if (p->kind == ASSAY_PIECE_STEPS) {
        add_steps_any(p, rows, out);
    } else if (p->kind == ASSAY_PIECE_STRATA) {
        add_strata(p, rows, out);
    } else if (p->kind == ASSAY_PIECE_TABLE) {
        uint64_t key[BLOCK];
        assay_feature_keys(rows, p->feature, key);
        for (size_t i = 0; i < rows->num; i++) {
            out[i] += p->sign * assay_table_at(&p->table, key[i]);
        }
    } else {
        add_line(p, rows, out);
    }
}

void assay_piece_value(const assay_piece *p, const assay_rows *rows,
                       double *out)
{
    if (p->kind == ASSAY_PIECE_TABLE) {
        uint64_t key[BLOCK];
        assay_feature_keys(rows, p->feature, key);
        for (size_t i = 0; i < rows->num; i++) {
            out[i] = assay_table_at(&p->table, key[i]);
        }
        return;
    }
    assay_feature_numbers(rows, p->feature, out);
    int bends = p->kind == ASSAY_PIECE_HINGE || p->kind == ASSAY_PIECE_SQUARE;
    for (size_t i = 0; bends && i < rows->num; i++) {
        out[i] = isnan(out[i]) ? NAN : bent(p, out[i]);
    }
}

static void score_blend(const assay_model *model, const assay_rows *rows,
                        float *out)
{
    float part[BLOCK];
    memset(out, 0, rows->num * sizeof *out);
    for (size_t k = 0; k < model->num_blend; k++) {
        float w = (float)model->blend_weight[k];
        assay_model_score(model->blend[k], rows, part);
        for (size_t i = 0; i < rows->num; i++) {
            out[i] += w * part[i];
        }
    }
}

/* Sums of the same terms in another order must be equal scores: they are
 * rounded to multiples of 2^-16 (the large constant does it). Nothing sorts
 * NaN. */
ASSAY_SIMD
static void to_scores(const double *sum, size_t n, int plain, float *out)
{
    for (size_t i = 0; i < n; i++) {
        double x = sum[i];
        double rounded = (x + 0x1.8p36) - 0x1.8p36;
        x = plain || x > 0x1p34 || x < -0x1p34 ? x : rounded;
        out[i] = x == x ? (float)x : 0;
    }
}

void assay_model_score(const assay_model *model, const assay_rows *rows,
                       float *out)
{
    if (model->num_blend > 0) {
        score_blend(model, rows, out);
        return;
    }
    if (model->smooth != NULL) {
        assay_smooth_score(model->smooth, model->encoder, rows, out);
        return;
    }
    if (model->mlp != NULL) {
        assay_mlp_score(model->mlp, model->encoder, rows, out);
        return;
    }
    double sum[BLOCK];
    memset(sum, 0, rows->num * sizeof *sum);
    for (size_t k = 0; k < model->num_pieces; k++) {
        add_piece(&model->piece[k], rows, sum);
    }
    int plain =
        model->num_pieces == 1 && model->piece[0].kind == ASSAY_PIECE_IDENTITY;
    to_scores(sum, rows->num, plain, out);
}
