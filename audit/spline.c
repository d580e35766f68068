/* ring: glue */
#include "audit/spline.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/evidence.h"
#include "audit/rng.h"
#include "audit/smooth.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define MAX_TERMS 320
#define MAX_CURVES (2 * ASSAY_ROWS_WIDTH + 24)
#define MAX_KNOTS 10
#define MAX_JUMPS 4
#define MAX_PATTERNS 100
#define FEW_COLUMNS 12 /* whose differences have curves of their own */
#define MIN_PATTERN 200 /* training rows of both sides */
#define TAIL_SPAN 12    /* a tail's line ends after this many scales */

/* Families of terms with a common precision. A kind of curve has three: lines,
 * tails and jumps. */
enum { FREE, WORD, PATTERN, POOLED, LEAN = POOLED + 3, COLUMN = LEAN + 3,
       SUMMARY = COLUMN + 3, DIFFERENCE = SUMMARY + 3,
       OWN_DIFFERENCE = DIFFERENCE + 3, COUNT = OWN_DIFFERENCE + 3,
       PRODUCT = COUNT + 3 };

/* A broken line: a straight one, clamps between neighbouring knots, the two
 * tails, then jumps (Laplace noise makes the ratio jump where an answer was). With a mask
 * the sum over the columns in it. */
typedef struct curve {
    assay_feature feature; /* its column is set in turn for a mask */
    uint64_t mask;
    size_t num_knots, first; /* first term */
    double knot[MAX_KNOTS];
    double scale; /* of the tails */
    size_t num_jumps;
    double jump[MAX_JUMPS];
    assay_feature times; /* multiplied by this, standardised; scale 0: by nothing */
    double times_centre, times_scale;
} curve;

typedef struct indicator {
    size_t col, term;
    int word; /* -1: a number */
} indicator;

typedef struct spline {
    size_t num_terms, num_curves, num_indicators, num_patterns;
    uint8_t family[MAX_TERMS];
    curve curve[MAX_CURVES];
    indicator indicator[MAX_TERMS];
    uint64_t pattern[MAX_PATTERNS]; /* sorted keys */
    size_t pattern_first;
    double beta[MAX_TERMS];
    double most; /* that a curve or a word says */
} spline;

/* ---- terms --------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Up to `most` of n numbers, NaN left out; returns how many. */
static size_t take_numbers(const double *x, size_t n, double *out, size_t most)
{
    size_t m = 0;
    for (size_t i = 0; i < n && m < most; i++) {
        out[m] = x[i]; /* written over if it is none */
        m += x[i] == x[i];
    }
    return m;
}

/* Numbers of a curve in the blocks of the sides first .. last; at most `most`,
 * NaN left out. */
static size_t gather(const curve *c, const assay_training *d, int first,
                     int last, double *out, size_t most)
{
    size_t n = 0;
    double x[BLOCK];
    for (size_t b = 0; b < 2 * d->num_blocks && n < most; b++) {
        const assay_rows *r = &d->rows[b % 2][b / 2];
        if ((int)(b % 2) < first || (int)(b % 2) > last) {
            continue;
        }
        for (size_t j = 0; j < d->width && n < most; j++) {
            assay_feature f = c->feature;
            if (c->mask != 0 && (c->mask >> j & 1) == 0) {
                continue;
            }
            f.col = c->mask != 0 ? (int)j : f.col;
            n += take_numbers(assay_feature_view(r, f, x), r->num, out + n,
                              most - n);
            if (c->mask == 0) {
                break;
            }
        }
    }
    return n;
}

#define SAMPLE 65536

/* Knots at the given quantiles; 0 if the feature is constant or rare. */
static int set_knots(curve *c, const assay_training *d, const double *share,
                     size_t num, double *sample)
{
    size_t n = gather(c, d, 0, 1, sample, SAMPLE);
    qsort(sample, n, sizeof *sample, compare);
    if (n < 256 || !(sample[0] < sample[n - 1])) {
        return 0;
    }
    c->num_knots = 0;
    for (size_t k = 0; k < num; k++) {
        double x = sample[(size_t)(share[k] * (double)(n - 1))];
        if (c->num_knots == 0 || x > c->knot[c->num_knots - 1]) {
            c->knot[c->num_knots++] = x;
        }
    }
    c->scale = 0.5 * (c->knot[c->num_knots - 1] - c->knot[0]);
    if (!(c->scale > 0)) {
        c->scale = fmax(sample[n - 1] - sample[0], 1e-300);
    }
    return 1;
}

/* The largest jumps of the ratio that counting shows: the same rows find and
 * weigh them, so that those that few numbers speak for must be beyond doubt. */
#define JUMP_VALUES 16000000
static void find_jumps(curve *c, const assay_training *d, double strict)
{
    size_t n[2] = {0, 0};
    double *x[2];
    assay_steps t;
    assay_error err = ASSAY_ERROR_INIT;
    memset(&t, 0, sizeof t);
    for (int side = 0; side < 2; side++) {
        size_t most = d->num_blocks * BLOCK * (c->mask != 0 ? d->width : 1);
        most = most < JUMP_VALUES ? most : JUMP_VALUES;
        x[side] = malloc(most * sizeof(double));
        if (x[side] != NULL) {
            n[side] = gather(c, d, side, side, x[side], most);
        }
    }
    if (n[0] > 1000 && n[1] > 1000 &&
        assay_steps_fit(&t, x[0], x[1], n[0], n[1], 384, strict, &err) ==
            ASSAY_OK) {
        for (size_t k = 0; k < MAX_JUMPS; k++) {
            size_t at = t.num_edges;
            for (size_t i = 0; i < t.num_edges; i++) {
                double here = fabs(t.weight[i + 1] - t.weight[i]);
                int taken = 0;
                for (size_t l = 0; l < c->num_jumps; l++) {
                    taken |= c->jump[l] == t.edge[i];
                }
                at = !taken && (at == t.num_edges ||
                                here > fabs(t.weight[at + 1] - t.weight[at]))
                         ? i
                         : at;
            }
            if (at < t.num_edges) {
                c->jump[c->num_jumps++] = t.edge[at];
            }
        }
    }
    assay_steps_clear(&t);
    free(x[0]);
    free(x[1]);
}

static size_t add_term(spline *s, int family)
{
    s->family[s->num_terms] = (uint8_t)family;
    return s->num_terms++;
}

static void add_curve(spline *s, const assay_training *d, curve c, int family,
                      double *sample)
{
    static const double fine[] = {0.02, 0.1, 0.25, 0.4, 0.5,
                                  0.6, 0.75, 0.9, 0.98};
    static const double coarse[] = {0.05, 0.2, 0.4, 0.6, 0.8, 0.95};
    /* pooled 9 + 2 + 8, lean and own 6 + 2 + 8 points: ASSAY_LINES_MAX */
    int own = (family == COLUMN && d->width > 1) || family == LEAN ||
              family == OWN_DIFFERENCE;
    size_t num = own ? sizeof coarse / sizeof coarse[0]
                     : sizeof fine / sizeof fine[0];
    if (s->num_terms + num + 2 + MAX_JUMPS > MAX_TERMS ||
        s->num_curves == MAX_CURVES ||
        !set_knots(&c, d, own ? coarse : fine, num, sample)) {
        return;
    }
    if (family != COUNT && family != PRODUCT) {
        find_jumps(&c, d, c.mask != 0 || d->width == 1 ? 20 : 40);
    }
    c.first = s->num_terms;
    for (size_t k = 0; k < c.num_knots; k++) {
        (void)add_term(s, family);
    }
    for (size_t k = 0; k < 2 + c.num_jumps; k++) {
        (void)add_term(s, family + (k < 2 ? 1 : 2));
    }
    s->curve[s->num_curves++] = c;
}

static curve curve_of(assay_feature_kind kind, int col, uint64_t mask)
{
    curve c;
    memset(&c, 0, sizeof c);
    c.feature = assay_feature_of(kind, col);
    c.mask = mask;
    return c;
}

static void add_indicator(spline *s, size_t col, int word)
{
    if (s->num_terms < MAX_TERMS) {
        indicator i = {col, add_term(s, WORD), word};
        s->indicator[s->num_indicators++] = i;
    }
}

/* Counts of words and numbers: of all columns, and of those leaning one way. */
static void add_counts(spline *s, const assay_training *d,
                       const assay_spline_shape *shape, const uint64_t *mask,
                       double *sample)
{
    for (int g = -1; g < 2; g++) {
        uint64_t all = d->width < 64 ? (UINT64_C(1) << d->width) - 1 : ~UINT64_C(0);
        if (g >= 0 && (mask[g] == 0 || mask[!g] == 0)) {
            continue; /* one group is all there is */
        }
        for (size_t k = 0; k < shape->num_words && k < 3; k++) {
            curve c = curve_of(ASSAY_F_GROUP_WORDS, shape->word[k], 0);
            c.feature.mask = g < 0 ? all : mask[g];
            add_curve(s, d, c, COUNT, sample);
        }
        curve c = curve_of(ASSAY_F_GROUP_NUMBERS, 0, 0);
        c.feature.mask = g < 0 ? all : mask[g];
        add_curve(s, d, c, COUNT, sample);
    }
}

/* Centre and scale of a multiplier in the first block of each side; 0 if it is
 * constant. */
static int set_times(curve *c, const assay_training *d)
{
    double x[BLOCK], n = 0, sum = 0, square = 0;
    for (int side = 0; side < 2; side++) {
        const assay_rows *r = &d->rows[side][0];
        assay_feature_numbers(r, c->times, x);
        for (size_t i = 0; i < r->num; i++) {
            n += 1;
            sum += x[i];
            square += x[i] * x[i];
        }
    }
    c->times_centre = sum / n;
    double v = square / n - c->times_centre * c->times_centre;
    c->times_scale = v > 1e-9 ? 1 / sqrt(v) : 0;
    return v > 1e-9;
}

/* The smallest number with the count of a word: where a noisy threshold is below
 * every number put out, each word says something about it. */
static void add_products(spline *s, const assay_training *d,
                         const assay_spline_shape *shape, const uint64_t *mask,
                         double *sample)
{
    uint64_t all = d->width < 64 ? (UINT64_C(1) << d->width) - 1 : ~UINT64_C(0);
    int groups = mask[0] != 0 && mask[1] != 0;
    for (int g = 0; g < (groups ? 2 : 1); g++) {
        for (size_t k = 0; k < shape->num_words && k < 2; k++) {
            curve c = curve_of(ASSAY_F_MIN, 0, 0);
            c.times = assay_feature_of(ASSAY_F_GROUP_WORDS, shape->word[k]);
            c.times.mask = groups ? mask[g] : all;
            if (set_times(&c, d)) {
                add_curve(s, d, c, PRODUCT, sample);
            }
        }
    }
}

static int has_words(const assay_training *d, size_t j)
{
    return !d->rows[0][0].plain[j] || !d->rows[1][0].plain[j];
}

static void add_numbers(spline *s, const assay_training *d, uint64_t numeric,
                        const uint64_t *mask, double *sample)
{
    static const assay_feature_kind summary[] = {ASSAY_F_SUM, ASSAY_F_MIN,
                                                 ASSAY_F_MAX};
    int many = (numeric & (numeric - 1)) != 0;
    if (many) {
        add_curve(s, d, curve_of(ASSAY_F_RAW, 0, numeric), POOLED, sample);
        for (int g = 0; g < 2 && mask[0] != 0 && mask[1] != 0; g++) {
            if ((mask[g] & numeric) != 0) {
                add_curve(s, d, curve_of(ASSAY_F_RAW, 0, mask[g] & numeric),
                          LEAN, sample);
            }
        }
        for (size_t k = 0; k < 3; k++) {
            add_curve(s, d, curve_of(summary[k], 0, 0), SUMMARY, sample);
        }
        if ((numeric & 2) != 0) {
            add_curve(s, d, curve_of(ASSAY_F_DIFF, 0, numeric & ~UINT64_C(1)),
                      DIFFERENCE, sample);
        }
    }
    for (size_t j = 0; j < d->width; j++) {
        if ((numeric >> j & 1) == 0) {
            continue;
        }
        add_curve(s, d, curve_of(ASSAY_F_RAW, (int)j, 0), COLUMN, sample);
        if (j > 0 && d->width <= FEW_COLUMNS && !has_words(d, j)) {
            add_curve(s, d, curve_of(ASSAY_F_DIFF, (int)j, 0), OWN_DIFFERENCE,
                      sample);
        }
    }
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The frequent patterns of the first blocks; none if there are too many. */
static void add_patterns(spline *s, const assay_training *d)
{
    size_t blocks = d->num_blocks < 16 ? d->num_blocks : 16, n = 0;
    uint64_t *key = malloc(2 * blocks * BLOCK * sizeof *key);
    for (size_t b = 0; key != NULL && b < 2 * blocks; b++) {
        const assay_rows *r = &d->rows[b % 2][b / 2];
        assay_feature_keys(r, assay_feature_of(ASSAY_F_PATTERN, 0), key + n);
        n += r->num;
    }
    if (key == NULL) {
        return;
    }
    qsort(key, n, sizeof *key, compare_keys);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (i + 1 < n && key[i + 1] == key[i]) {
            continue;
        }
        size_t often = (i + 1 - from) * d->num_blocks / blocks;
        if (often >= MIN_PATTERN && s->num_patterns < MAX_PATTERNS) {
            s->pattern[s->num_patterns++] = key[i];
        }
        from = i + 1;
    }
    free(key);
    if (s->num_patterns < 3 || s->num_patterns == MAX_PATTERNS ||
        s->num_terms + s->num_patterns > MAX_TERMS) {
        s->num_patterns = 0;
    }
    s->pattern_first = s->num_terms;
    for (size_t k = 0; k < s->num_patterns; k++) {
        (void)add_term(s, PATTERN);
    }
}

static void list_terms(spline *s, const assay_training *d,
                       const assay_spline_shape *shape, double *sample)
{
    uint64_t numeric = 0, mask[2] = {0, 0};
    (void)add_term(s, FREE);
    for (size_t j = 0; j < d->width; j++) {
        numeric |= (uint64_t)(shape->numeric_col[j] != 0) << j;
    }
    if (d->width > 3) {
        (void)assay_groups_lean(mask, d, shape->word, shape->num_words);
    }
    if (shape->mixed) {
        add_patterns(s, d);
    }
    if (shape->mixed && d->width > 1) {
        add_counts(s, d, shape, mask, sample);
    }
    if (numeric != 0 && shape->mixed && d->width > 1) {
        add_products(s, d, shape, mask, sample);
    }
    if (numeric != 0) {
        add_numbers(s, d, numeric, mask, sample);
    }
    for (size_t j = 0; shape->mixed && j < d->width; j++) {
        if (!has_words(d, j)) {
            continue;
        }
        for (size_t k = 0; k < shape->num_words; k++) {
            add_indicator(s, j, shape->word[k]);
        }
        if ((numeric >> j & 1) != 0) {
            add_indicator(s, j, -1);
        }
    }
}

/* ---- the design of a block: x[term * BLOCK + row] -------------------------- */

/* Numbers in units of the tails' scale, so that the terms can be floats. */
ASSAY_SIMD
static void standardise(const double *v, size_t n, double centre, double scale,
                        float *out)
{
    double inverse = 1 / scale;
    for (size_t i = 0; i < n; i++) {
        out[i] = (float)((v[i] - centre) * inverse);
    }
}

/* In the terms NaN adds nothing: every comparison with it is false. */
ASSAY_SIMD
static void add_line(const float *u, size_t n, float end, float *out)
{
    for (size_t i = 0; i < n; i++) {
        float y = u[i] > -end ? u[i] : -end;
        y = y < end ? y : end;
        out[i] += u[i] == u[i] ? y : 0;
    }
}

ASSAY_SIMD
static void add_clamp(const float *u, size_t n, float lo, float inverse,
                      float *out)
{
    for (size_t i = 0; i < n; i++) {
        float t = (u[i] - lo) * inverse;
        t = t > 0 ? t : 0;
        out[i] += t < 1 ? t : 1;
    }
}

/* sign = 1: beyond the last knot; -1: below the first. */
ASSAY_SIMD
static void add_tail(const float *u, size_t n, float from, float sign,
                     float *out)
{
    for (size_t i = 0; i < n; i++) {
        float t = (u[i] - from) * sign;
        t = t > 0 ? t : 0;
        out[i] += t < TAIL_SPAN ? t : TAIL_SPAN;
    }
}

ASSAY_SIMD
static void add_jump(const double *v, size_t n, double at, float *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] += v[i] > at ? 1 : 0;
    }
}

#define STRIP 1024 /* rows that stay in the first-level cache */

static void add_column(const curve *c, const double *v, size_t n, float *x)
{
    float u[STRIP];
    size_t num = c->num_knots;
    double lo = c->knot[0], hi = c->knot[num - 1], centre = 0.5 * (lo + hi);
    double inverse = 1 / c->scale;
    float half = (float)((hi - centre) * inverse);
    for (size_t at = 0; at < n; at += STRIP, v += STRIP, x += STRIP) {
        size_t m = n - at < STRIP ? n - at : STRIP;
        float *to = x + c->first * BLOCK;
        standardise(v, m, centre, c->scale, u);
        add_line(u, m, half + TAIL_SPAN, to);
        for (size_t k = 0; k + 1 < num; k++) {
            float from = (float)((c->knot[k] - centre) * inverse);
            add_clamp(u, m, from,
                      (float)(c->scale / (c->knot[k + 1] - c->knot[k])),
                      to + (1 + k) * BLOCK);
        }
        add_tail(u, m, -half, -1, to + num * BLOCK);
        add_tail(u, m, half, 1, to + (num + 1) * BLOCK);
        for (size_t i = 0; i < c->num_jumps; i++) {
            add_jump(v, m, c->jump[i], to + (num + 2 + i) * BLOCK);
        }
    }
}

static void multiply_terms(const curve *c, const assay_rows *r, float *x)
{
    double space[BLOCK];
    float by[BLOCK];
    const double *y = assay_feature_view(r, c->times, space);
    for (size_t i = 0; i < r->num; i++) {
        by[i] = (float)((y[i] - c->times_centre) * c->times_scale);
    }
    for (size_t k = 0; k < c->num_knots + 2 + c->num_jumps; k++) {
        float *to = x + (c->first + k) * BLOCK;
        for (size_t i = 0; i < r->num; i++) {
            to[i] *= by[i];
        }
    }
}

static void fill_curve(const curve *c, const assay_rows *r, float *x)
{
    double space[BLOCK];
    if (c->mask == 0) {
        add_column(c, assay_feature_view(r, c->feature, space), r->num, x);
        if (c->times_scale != 0) {
            multiply_terms(c, r, x);
        }
        return;
    }
    for (size_t j = 0; j < r->width; j++) {
        if ((c->mask >> j & 1) != 0) {
            assay_feature f = assay_feature_of(c->feature.kind, (int)j);
            add_column(c, assay_feature_view(r, f, space), r->num, x);
        }
    }
}

static void fill_indicator(const indicator *t, const assay_rows *r, float *x)
{
    float *to = x + t->term * BLOCK;
    const uint8_t *tag = r->tag[t->col];
    const double *v = r->value[t->col];
    int plain = r->plain[t->col];
    for (size_t i = 0; i < r->num; i++) {
        int is = plain ? ASSAY_CELL_NUMBER : tag[i];
        to[i] = t->word < 0 ? is == ASSAY_CELL_NUMBER
                            : is == ASSAY_CELL_WORD && v[i] == t->word;
    }
}

static void fill_patterns(const spline *s, const assay_rows *r, float *x)
{
    uint64_t key[BLOCK];
    assay_feature_keys(r, assay_feature_of(ASSAY_F_PATTERN, 0), key);
    for (size_t i = 0; i < r->num; i++) {
        const uint64_t *at = bsearch(&key[i], s->pattern, s->num_patterns,
                                     sizeof key[0], compare_keys);
        if (at != NULL) {
            x[(s->pattern_first + (size_t)(at - s->pattern)) * BLOCK + i] = 1;
        }
    }
}

static void fill(const spline *s, const assay_rows *r, float *x)
{
    memset(x, 0, s->num_terms * BLOCK * sizeof *x);
    for (size_t i = 0; i < r->num; i++) {
        x[i] = 1;
    }
    for (size_t k = 0; k < s->num_curves; k++) {
        fill_curve(&s->curve[k], r, x);
    }
    for (size_t k = 0; k < s->num_indicators; k++) {
        fill_indicator(&s->indicator[k], r, x);
    }
    if (s->num_patterns > 0) {
        fill_patterns(s, r, x);
    }
}

/* ---- fitting --------------------------------------------------------------- */

typedef struct workspace {
    float *x, *part;
    assay_evidence e;
    size_t blocks; /* of a side, for the Hessian */
} workspace;

static int workspace_make(workspace *w, const spline *s,
                          const assay_training *d)
{
    size_t p = s->num_terms;
    w->x = malloc(p * BLOCK * sizeof(float));
    w->part = malloc(p * p * sizeof(float));
    w->e.num = p;
    w->e.family = s->family;
    w->e.hess = malloc((2 * p * p + 2 * p) * sizeof(double));
    if (w->x == NULL || w->part == NULL || w->e.hess == NULL) {
        return 0;
    }
    w->e.grad = w->e.hess + p * p;
    w->e.work = w->e.grad + p;
    for (size_t f = 0; f < ASSAY_FAMILIES; f++) {
        w->e.lambda[f] = f == FREE ? 1e-3 : ASSAY_EVIDENCE_OFF;
    }
    size_t rows = (size_t)(3e9 / (double)(p * p)) + 8 * BLOCK;
    w->blocks = rows / BLOCK < d->num_blocks ? rows / BLOCK : d->num_blocks;
    return 1;
}

static void workspace_clear(workspace *w)
{
    free(w->x);
    free(w->part);
    free(w->e.hess);
}

/* Scores, then the gradient's and, if wanted, the Hessian's share. */
static void add_block(const spline *s, const assay_rows *r, int left,
                      int curvature, workspace *w)
{
    size_t p = s->num_terms, n = r->num;
    float b[MAX_TERMS], g[BLOCK], h[BLOCK], sum[MAX_TERMS];
    for (size_t k = 0; k < p; k++) {
        b[k] = (float)s->beta[k];
    }
    fill(s, r, w->x);
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

/* Gradient of `blocks` blocks of a side, Hessian of some of them as if of all;
 * then the quadratic form is written around 0 (grad + H beta). */
static void accumulate(const spline *s, const assay_training *d, size_t blocks,
                       workspace *w)
{
    size_t p = s->num_terms;
    memset(w->e.hess, 0, (p * p + p) * sizeof(double));
    for (size_t b = 0; b < 2 * blocks; b++) {
        add_block(s, &d->rows[b % 2][b / 2], b % 2 == 0, b < 2 * w->blocks, w);
    }
    double scale = (double)blocks / (double)w->blocks;
    for (size_t k = 0; k < p; k++) {
        for (size_t l = 0; l <= k; l++) {
            w->e.hess[k * p + l] *= scale;
        }
    }
    for (size_t k = 0; k < p; k++) {
        for (size_t l = 0; l < p; l++) {
            double h = w->e.hess[k > l ? k * p + l : l * p + k];
            w->e.grad[k] += h * s->beta[l];
        }
    }
}

/* A step of Newton's; returns its largest component. */
static double newton(spline *s, workspace *w)
{
    double next[MAX_TERMS], most = 0;
    if (!assay_evidence_solve(&w->e, next)) {
        return 0;
    }
    for (size_t k = 0; k < s->num_terms; k++) {
        double step = fmin(fmax(next[k] - s->beta[k], -2), 2);
        s->beta[k] += step;
        most = fmax(most, fabs(step));
    }
    return most;
}

/* Weak signals: one step on all rows is exact enough. Strong ones: on some of
 * the rows until it settles, then once on all. */
#define SETTLED 0.1
static void regress(spline *s, const assay_training *d, workspace *w)
{
    accumulate(s, d, d->num_blocks, w);
    assay_evidence_tune(&w->e);
    double most = newton(s, w);
    if (most < SETTLED) {
        return;
    }
    for (int round = 0; round < 4 && most > SETTLED; round++) {
        accumulate(s, d, w->blocks, w);
        if (round == 1) {
            assay_evidence_tune(&w->e);
        }
        most = newton(s, w);
    }
    if (w->blocks < d->num_blocks) {
        accumulate(s, d, d->num_blocks, w);
        (void)newton(s, w);
    }
}

/* ---- the model: one piece a column ------------------------------------------ */

static double within(double x, double lo, double hi)
{
    return fmin(fmax(x, lo), hi);
}

static double curve_at(const spline *s, const curve *c, double x)
{
    size_t num = c->num_knots;
    double lo = c->knot[0], hi = c->knot[num - 1], span = TAIL_SPAN * c->scale;
    const double *b = s->beta + c->first;
    double sum = b[0] * (within(x, lo - span, hi + span) - 0.5 * (lo + hi)) /
                 c->scale;
    for (size_t k = 0; k + 1 < num; k++) {
        double t = (x - c->knot[k]) / (c->knot[k + 1] - c->knot[k]);
        sum += b[1 + k] * within(t, 0, 1);
    }
    sum += b[num] * within((lo - x) / c->scale, 0, TAIL_SPAN);
    sum += b[num + 1] * within((x - hi) / c->scale, 0, TAIL_SPAN);
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
        int single = s->family[k] == WORD || s->family[k] == PATTERN;
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
        out[n++] = c->knot[0] - TAIL_SPAN * c->scale;
        out[n++] = c->knot[c->num_knots - 1] + TAIL_SPAN * c->scale;
        for (size_t i = 0; i < c->num_jumps; i++) {
            out[n++] = c->jump[i];
            out[n++] = nextafter(c->jump[i], INFINITY);
        }
    }
    qsort(out, n, sizeof *out, compare);
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
    double at[4 * (MAX_KNOTS + 2 + 2 * MAX_JUMPS)] = {0}, most = 0;
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
    assay_status status = new_piece(
        m, ASSAY_PIECE_WORDS, assay_feature_of(ASSAY_F_RAW, (int)col),
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
    *p = (assay_piece){.kind = ASSAY_PIECE_TABLE, .sign = 1, .smoothed = 1,
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
        status = add_lines(m, s, assay_feature_of(ASSAY_F_RAW, (int)j), NULL,
                           err);
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
            status = add_lines(m, s, c->feature,
                               c->times_scale != 0 ? c : NULL, err);
        }
    }
    return status;
}

assay_status assay_spline_fit(assay_model *out, const assay_training *data,
                              const assay_spline_shape *shape, assay_error *err)
{
    spline *s = calloc(1, sizeof *s);
    double *sample = malloc(SAMPLE * sizeof *sample);
    workspace w;
    memset(&w, 0, sizeof w);
    assay_status status = ASSAY_MEMORY;
    if (s != NULL && sample != NULL) {
        list_terms(s, data, shape, sample);
        status = workspace_make(&w, s, data) ? ASSAY_OK : ASSAY_MEMORY;
    }
    if (status == ASSAY_OK && s->num_terms > 1) {
        regress(s, data, &w);
        s->most = largest(s);
        free(out->piece);
        out->piece = calloc(s->num_curves + 3 * data->width + 2,
                            sizeof *out->piece);
        out->is_fit = 1;
        status = out->piece == NULL ? ASSAY_MEMORY
                                    : collapse(out, s, data->width, err);
    }
    workspace_clear(&w);
    free(sample);
    free(s);
    return status == ASSAY_MEMORY
               ? assay_fail(err, status, "attacker: out of memory")
               : status;
}
