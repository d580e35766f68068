/* ring: glue */
#include "audit/spline_terms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/rng.h"
#include "audit/smooth.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define FEW_COLUMNS 12  /* whose differences have curves of their own */
#define MIN_PATTERN 200 /* training rows of both sides */

typedef assay_spline spline;
typedef assay_spline_curve curve;
typedef assay_spline_indicator indicator;

/* ---- terms --------------------------------------------------------------- */

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
    qsort(sample, n, sizeof *sample, assay_compare_doubles);
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

/* How much the ratio differs between the numbers close below and close above,
 * in standard deviations: a slope gives little, a jump all. */
#define CLOSE 0.06 /* of the scale */
static double sharpness(const curve *c, double *const *x, const size_t *n,
                        double at)
{
    double count[2][2] = {{0.5, 0.5}, {0.5, 0.5}}, reach = CLOSE * c->scale;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < n[side]; i++) {
            /* gather() has written n[side] numbers */
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
            double d = x[side][i] - at;
            count[side][0] += d <= 0 && d > -reach;
            count[side][1] += d > 0 && d <= reach;
        }
    }
    double v = 0,
           r = log(count[0][0] * count[1][1] / (count[0][1] * count[1][0]));
    for (int k = 0; k < 4; k++) {
        v += 1 / count[k / 2][k % 2];
    }
    return fabs(r) / sqrt(v);
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
        for (size_t k = 0; k < ASSAY_SPLINE_JUMPS; k++) {
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
                c->sharp[c->num_jumps] = sharpness(c, x, n, t.edge[at]);
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

static int has_words(const assay_training *d, size_t j)
{
    return !d->rows[0][0].plain[j] || !d->rows[1][0].plain[j];
}

/* How much must speak for a jump. Numbers of all columns show it best; where
 * rows have words too, a column's own are few and chosen by what came
 * before. */
static double jump_evidence(const assay_training *d, const curve *c)
{
    int words = 0;
    for (size_t j = 0; j < d->width; j++) {
        words |= has_words(d, j);
    }
    return c->mask != 0 || d->width == 1 ? 20 : words ? 160 : 40;
}

/* A curve's knots and jumps; 0 if there is no point in it. */
static int prepare_curve(curve *c, const assay_training *d, int family,
                         double *sample)
{
    static const double fine[] = {0.02, 0.1,  0.25, 0.4, 0.5,
                                  0.6,  0.75, 0.9,  0.98};
    static const double coarse[] = {0.05, 0.2, 0.4, 0.6, 0.8, 0.95};
    /* pooled 9 + 2 + 8, lean and own 6 + 2 + 8 points: ASSAY_LINES_MAX */
    int own = (family == ASSAY_TERM_COLUMN && d->width > 1) ||
              family == ASSAY_TERM_LEAN || family == ASSAY_TERM_OWN_DIFFERENCE;
    size_t num =
        own ? sizeof coarse / sizeof coarse[0] : sizeof fine / sizeof fine[0];
    if (!set_knots(c, d, own ? coarse : fine, num, sample)) {
        return 0;
    }
    if (family != ASSAY_TERM_COUNT && family != ASSAY_TERM_PRODUCT) {
        find_jumps(c, d, jump_evidence(d, c));
    }
    return 1;
}

static void place_curve(spline *s, curve c, int family)
{
    size_t num = c.num_knots + 2 + c.num_jumps;
    if (s->num_terms + num > ASSAY_SPLINE_TERMS ||
        s->num_curves == ASSAY_SPLINE_CURVES) {
        return;
    }
    c.first = s->num_terms;
    for (size_t k = 0; k < num; k++) {
        (void)add_term(s, family + (k < c.num_knots       ? 0
                                    : k < c.num_knots + 2 ? 1
                                                          : 2));
    }
    s->curve[s->num_curves++] = c;
}

static void add_curve(spline *s, const assay_training *d, curve c, int family,
                      double *sample)
{
    if (prepare_curve(&c, d, family, sample)) {
        place_curve(s, c, family);
    }
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
    if (s->num_terms < ASSAY_SPLINE_TERMS) {
        indicator i = {col, add_term(s, ASSAY_TERM_WORD), word};
        s->indicator[s->num_indicators++] = i;
    }
}

/* Counts of words and numbers: of all columns, and of those leaning one way. */
static void add_counts(spline *s, const assay_training *d,
                       const assay_spline_shape *shape, const uint64_t *mask,
                       double *sample)
{
    for (int g = -1; g < 2; g++) {
        uint64_t all =
            d->width < 64 ? (UINT64_C(1) << d->width) - 1 : ~UINT64_C(0);
        if (g >= 0 && (mask[g] == 0 || mask[!g] == 0)) {
            continue; /* one group is all there is */
        }
        for (size_t k = 0; k < shape->num_words && k < 3; k++) {
            curve c = curve_of(ASSAY_F_GROUP_WORDS, shape->word[k], 0);
            c.feature.mask = g < 0 ? all : mask[g];
            add_curve(s, d, c, ASSAY_TERM_COUNT, sample);
        }
        curve c = curve_of(ASSAY_F_GROUP_NUMBERS, 0, 0);
        c.feature.mask = g < 0 ? all : mask[g];
        add_curve(s, d, c, ASSAY_TERM_COUNT, sample);
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

/* The smallest number with the count of a word: where a noisy threshold is
 * below every number put out, each word says something about it. */
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
                add_curve(s, d, c, ASSAY_TERM_PRODUCT, sample);
            }
        }
    }
}

/* Curves of plain numbers, prepared together. */
typedef struct raw_curves {
    size_t num;
    int usable[ASSAY_ROWS_WIDTH + 3];
    int family[ASSAY_ROWS_WIDTH + 3];
    curve curve[ASSAY_ROWS_WIDTH + 3];
} raw_curves;

static void prepare_raw(raw_curves *raw, const assay_training *d, curve c,
                        int family, double *sample)
{
    raw->usable[raw->num] = prepare_curve(&c, d, family, sample);
    raw->family[raw->num] = family;
    raw->curve[raw->num++] = c;
}

static int has_jump(const double *jump, size_t num, double at, double near)
{
    for (size_t i = 0; i < num; i++) {
        if (fabs(jump[i] - at) <= near) {
            return 1;
        }
    }
    return 0;
}

/* The sharpest jump that is not near those taken; NULL if there is none. */
static const double *sharpest(const raw_curves *raw, const double *taken,
                              size_t num, double near, double *sharp)
{
    const double *best = NULL;
    for (size_t k = 0; k < raw->num; k++) {
        const curve *c = &raw->curve[k];
        for (size_t i = 0; raw->usable[k] && i < c->num_jumps; i++) {
            if (c->sharp[i] > *sharp &&
                !has_jump(taken, num, c->jump[i], near)) {
                *sharp = c->sharp[i];
                best = &c->jump[i];
            }
        }
    }
    return best;
}

/* Slopes that were taken for jumps are left out. */
static void drop_dull(curve *c, double least)
{
    size_t m = 0;
    for (size_t i = 0; i < c->num_jumps; i++) {
        if (c->sharp[i] >= least) {
            c->sharp[m] = c->sharp[i];
            c->jump[m++] = c->jump[i];
        }
    }
    c->num_jumps = m;
}

/* Answers are often alike, and in columns with words few numbers are beyond
 * a jump: where the ratio jumps in one curve beyond doubt, it may in all,
 * and what is dull beside that is none. */
#define SHARED 2
#define DULL 0.25
static void share_jumps(raw_curves *raw, const assay_training *d)
{
    double jump[SHARED], near = INFINITY, most = 0;
    size_t num = 0;
    int words = 0;
    for (size_t j = 0; j < d->width; j++) {
        words |= has_words(d, j);
    }
    for (size_t k = 0; k < raw->num; k++) {
        near = raw->usable[k] ? fmin(near, 0.02 * raw->curve[k].scale) : near;
    }
    while (words && num < SHARED) {
        double sharp = DULL * most;
        const double *at = sharpest(raw, jump, num, near, &sharp);
        if (at == NULL) {
            break;
        }
        most = num == 0 ? sharp : most;
        jump[num++] = *at;
    }
    for (size_t k = 0; words && k < raw->num; k++) {
        curve *c = &raw->curve[k];
        drop_dull(c, DULL * most);
        for (size_t i = 0; raw->usable[k] && i < num; i++) {
            if (c->num_jumps < ASSAY_SPLINE_JUMPS &&
                !has_jump(c->jump, c->num_jumps, jump[i], near)) {
                c->jump[c->num_jumps++] = jump[i];
            }
        }
    }
}

static void place_raw(spline *s, const raw_curves *raw, size_t at)
{
    if (raw->usable[at]) {
        place_curve(s, raw->curve[at], raw->family[at]);
    }
}

/* All columns, those leaning one way, and each; returns how many come before
 * the columns. */
static size_t prepare_all(raw_curves *raw, const assay_training *d,
                          uint64_t numeric, const uint64_t *mask,
                          double *sample)
{
    int many = (numeric & (numeric - 1)) != 0;
    raw->num = 0;
    if (many) {
        prepare_raw(raw, d, curve_of(ASSAY_F_RAW, 0, numeric),
                    ASSAY_TERM_POOLED, sample);
    }
    for (int g = 0; many && g < 2 && mask[0] != 0 && mask[1] != 0; g++) {
        if ((mask[g] & numeric) != 0) {
            prepare_raw(raw, d, curve_of(ASSAY_F_RAW, 0, mask[g] & numeric),
                        ASSAY_TERM_LEAN, sample);
        }
    }
    size_t before = raw->num;
    for (size_t j = 0; j < d->width; j++) {
        if ((numeric >> j & 1) != 0) {
            prepare_raw(raw, d, curve_of(ASSAY_F_RAW, (int)j, 0),
                        ASSAY_TERM_COLUMN, sample);
        }
    }
    share_jumps(raw, d);
    return before;
}

static void add_summaries(spline *s, const assay_training *d, uint64_t numeric,
                          double *sample)
{
    static const assay_feature_kind summary[] = {ASSAY_F_SUM, ASSAY_F_MIN,
                                                 ASSAY_F_MAX};
    for (size_t k = 0; k < 3; k++) {
        add_curve(s, d, curve_of(summary[k], 0, 0), ASSAY_TERM_SUMMARY, sample);
    }
    if ((numeric & 2) != 0) {
        add_curve(s, d, curve_of(ASSAY_F_DIFF, 0, numeric & ~UINT64_C(1)),
                  ASSAY_TERM_DIFFERENCE, sample);
    }
}

static void add_numbers(spline *s, const assay_training *d, uint64_t numeric,
                        const uint64_t *mask, raw_curves *raw, double *sample)
{
    size_t next = prepare_all(raw, d, numeric, mask, sample);
    for (size_t k = 0; k < next; k++) {
        place_raw(s, raw, k);
    }
    if (next > 0) {
        add_summaries(s, d, numeric, sample);
    }
    for (size_t j = 0; j < d->width; j++) {
        if ((numeric >> j & 1) == 0) {
            continue;
        }
        place_raw(s, raw, next++);
        if (j > 0 && d->width <= FEW_COLUMNS && !has_words(d, j)) {
            add_curve(s, d, curve_of(ASSAY_F_DIFF, (int)j, 0),
                      ASSAY_TERM_OWN_DIFFERENCE, sample);
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
        if (often >= MIN_PATTERN && s->num_patterns < ASSAY_SPLINE_PATTERNS) {
            s->pattern[s->num_patterns++] = key[i];
        }
        from = i + 1;
    }
    free(key);
    if (s->num_patterns < 3 || s->num_patterns == ASSAY_SPLINE_PATTERNS ||
        s->num_terms + s->num_patterns > ASSAY_SPLINE_TERMS) {
        s->num_patterns = 0;
    }
    s->pattern_first = s->num_terms;
    for (size_t k = 0; k < s->num_patterns; k++) {
        (void)add_term(s, ASSAY_TERM_PATTERN);
    }
}

static void list_terms(spline *s, const assay_training *d,
                       const assay_spline_shape *shape, raw_curves *raw,
                       double *sample)
{
    uint64_t numeric = 0, mask[2] = {0, 0};
    (void)add_term(s, ASSAY_TERM_FREE);
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
        add_numbers(s, d, numeric, mask, raw, sample);
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

assay_status assay_spline_list(assay_spline *out, const assay_training *data,
                               const assay_spline_shape *shape,
                               assay_error *err)
{
    double *sample = malloc(SAMPLE * sizeof *sample);
    raw_curves *raw = malloc(sizeof *raw);
    int room = sample != NULL && raw != NULL;
    if (room) {
        list_terms(out, data, shape, raw, sample);
    }
    free(sample);
    free(raw);
    return room ? ASSAY_OK
                : assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
}

/* ---- the values of a block: x[term * BLOCK + row] ----------------------- */

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

/* From 0 at `from` up to `most`: between two knots, or a tail. */
ASSAY_SIMD
static void add_ramp(const float *u, size_t n, float from, float slope,
                     float most, float *out)
{
    for (size_t i = 0; i < n; i++) {
        float t = (u[i] - from) * slope;
        t = t > 0 ? t : 0;
        out[i] += t < most ? t : most;
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
        add_line(u, m, half + ASSAY_SPLINE_SPAN, to);
        for (size_t k = 0; k + 1 < num; k++) {
            float from = (float)((c->knot[k] - centre) * inverse);
            add_ramp(u, m, from,
                     (float)(c->scale / (c->knot[k + 1] - c->knot[k])), 1,
                     to + (1 + k) * BLOCK);
        }
        add_ramp(u, m, -half, -1, ASSAY_SPLINE_SPAN, to + num * BLOCK);
        add_ramp(u, m, half, 1, ASSAY_SPLINE_SPAN, to + (num + 1) * BLOCK);
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

void assay_spline_fill(const assay_spline *s, const assay_rows *r, float *x)
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
