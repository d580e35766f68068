/* ring: glue */
/* Sparse vector, six published variants and two more. */
#include <math.h>
#include <string.h>

#include "audit/specimens/laws.h"

#define P(k) (s->param[k])
enum { T_WORD = 1, F_WORD = 2 };

/*
 * param: 0 scale of the threshold noise, 1 scale of the query noise, 2 hits
 * before the stop (0: never), 3 threshold, 4 what a hit puts out (0 TRUE, 1
 * the noisy answer that was compared, 2 the answer with fresh noise), 5 scale
 * of the fresh noise, 6 redraw the threshold after a hit, 7 first column.
 */
typedef struct svt {
    double rho[ASSAY_ROWS_BLOCK];
    double x[ASSAY_ROWS_BLOCK];
    double fresh[ASSAY_ROWS_BLOCK];
    double again[ASSAY_ROWS_BLOCK]; /* the next threshold noise */
    double left[ASSAY_ROWS_BLOCK];  /* hits until the stop; 0: stopped */
} svt;

static int redraws(const assay_specimen *s)
{
    return P(6) > 0.5 && P(2) > 1;
}

/* One answer of every row. A hit puts out the number in `shown` or, if that is
 * NULL, TRUE. Returns whether some cell is no number. */
ASSAY_SIMD
static int svt_column(svt *v, size_t n, double threshold, const double *shown,
                      double cost, int redraw, double *value, uint8_t *tag)
{
    int odd = 0;
    for (size_t i = 0; i < n; i++) {
        int alive = v->left[i] > 0;
        int hit = alive & (v->x[i] >= threshold + v->rho[i]);
        int number = hit & (shown != NULL);
        double word = hit ? T_WORD : F_WORD;
        double is = shown != NULL && hit ? shown[i] : word;
        value[i] = alive ? is : 0;
        tag[i] = (uint8_t)(number  ? ASSAY_CELL_NUMBER
                           : alive ? ASSAY_CELL_WORD
                                   : ASSAY_CELL_ABSENT);
        odd |= !number;
        v->left[i] -= hit ? cost : 0;
        v->rho[i] = redraw & hit ? v->again[i] : v->rho[i];
    }
    return odd;
}

static void draw_svt_at(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out, size_t first)
{
    static _Thread_local svt v;
    const double *shown[3] = {NULL, v.x, v.fresh};
    assay_rng_laplace(rng, v.rho, n, 0, P(0));
    for (size_t i = 0; i < n; i++) {
        v.left[i] = P(2) > 0 ? P(2) : 1;
    }
    for (size_t j = 0; j < s->num_inputs; j++) {
        size_t col = first + j;
        assay_rng_laplace(rng, v.x, n, q[j], P(1));
        if (redraws(s)) {
            assay_rng_laplace(rng, v.again, n, 0, P(0));
        }
        if (P(4) > 1.5) {
            assay_rng_laplace(rng, v.fresh, n, q[j], P(5));
        }
        int odd = svt_column(&v, n, P(3), shown[(size_t)(P(4) + 0.5)], P(2) > 0,
                             redraws(s), out->value[col], out->tag[col]);
        out->plain[col] = !odd;
    }
}

static void draw_svt(const assay_specimen *s, const double *q, assay_rng *rng,
                     size_t n, assay_rows *out)
{
    draw_svt_at(s, q, rng, n, out, 0);
}

/* ---- exact probabilities ------------------------------------------------ */

#define POINTS 6001 /* of the threshold noise */

static double grid_z(const assay_specimen *s, size_t k)
{
    return P(0) * 30 * (2 * (double)k / (POINTS - 1) - 1);
}

/* A miss is q + noise < T + z. */
static double miss(const assay_specimen *s, double z, double q)
{
    return assay_law_laplace_cdf(P(3) + z - q, P(1));
}

/* Probability of each hit mask of length len (bit j: query j hit), stored at
 * mask + 2^len: the integral over the threshold noise. */
static void prepare_masks(assay_oracle *o)
{
    const assay_specimen *s = o->specimen;
    size_t n = s->num_inputs, most = P(2) > 0 ? (size_t)P(2) : n;
    double step = grid_z(s, 1) - grid_z(s, 0);
    memset(o->table, 0, 2 * ASSAY_SPECIMEN_TABLE * sizeof *o->table);
    for (int side = 0; side < 2; side++) {
        double *p = o->table + (size_t)side * ASSAY_SPECIMEN_TABLE;
        for (size_t k = 0; k < POINTS; k++) {
            double z = grid_z(s, k), f[ASSAY_SPECIMEN_INPUTS];
            double w = step * exp(-fabs(z) / P(0)) / (2 * P(0));
            for (size_t j = 0; j < n; j++) {
                f[j] = miss(s, z, o->pair.q[side][j]);
            }
            double at[2 * 1024 + 1];
            at[1] = w;
            for (size_t len = 1; len <= n; len++) {
                size_t size = (size_t)1 << len;
                for (size_t m = size; m < 2 * size; m++) {
                    size_t mask = m - size, high = size / 2;
                    int hit = (mask & high) != 0;
                    size_t before = (mask & (high - 1)) + high;
                    int hits = __builtin_popcountll(before - high);
                    at[m] =
                        (size_t)hits >= most
                            ? 0
                            : at[before] * (hit ? 1 - f[len - 1] : f[len - 1]);
                }
            }
            for (size_t m = 1; m < 2 * ((size_t)1 << n); m++) {
                p[m] += at[m];
            }
        }
    }
}

/* The threshold is new after each hit: queries i .. j - 1 miss and j hits (or
 * all up to the end miss, j = n), one integral for each i and j. */
typedef double segments[ASSAY_SPECIMEN_INPUTS + 1][ASSAY_SPECIMEN_INPUTS + 1];

static void make_segments(segments out, const assay_specimen *s,
                          const double *q)
{
    size_t n = s->num_inputs;
    double step = grid_z(s, 1) - grid_z(s, 0);
    memset(out, 0, sizeof(segments));
    for (size_t k = 0; k < POINTS; k++) {
        double z = grid_z(s, k);
        for (size_t i = 0; i <= n; i++) {
            double w = step * assay_law_laplace_pdf(z, P(0));
            for (size_t j = i; j < n; j++) {
                double f = miss(s, z, q[j]);
                out[i][j] += w * (1 - f);
                w *= f;
            }
            out[i][n] += w;
        }
    }
}

/* As prepare_masks, up to two hits. */
static void prepare_redrawn(assay_oracle *o)
{
    const assay_specimen *s = o->specimen;
    size_t n = s->num_inputs;
    memset(o->table, 0, 2 * ASSAY_SPECIMEN_TABLE * sizeof *o->table);
    for (int side = 0; side < 2; side++) {
        double *p = o->table + (size_t)side * ASSAY_SPECIMEN_TABLE;
        segments g;
        make_segments(g, s, o->pair.q[side]);
        size_t all = (size_t)1 << n;
        p[all] = g[0][n];
        for (size_t i = 0; i < n; i++) {
            size_t first = (size_t)1 << i;
            p[all + first] = g[0][i] * g[i + 1][n];
            for (size_t j = i + 1; j < n; j++) {
                size_t second = (size_t)1 << j;
                p[2 * second + second + first] = g[0][i] * g[i + 1][j];
            }
        }
    }
}

/* The mask of a row from column `first` on: hits by column, its length, and the
 * sum of the values' own log ratios. */
static size_t row_mask(const assay_oracle *o, const assay_rows *r, size_t i,
                       size_t first, double *values)
{
    const assay_specimen *s = o->specimen;
    size_t mask = 0, len = 0;
    *values = 0;
    for (; len < s->num_inputs; len++) {
        size_t j = first + len;
        int tag = r->plain[j] ? ASSAY_CELL_NUMBER : r->tag[j][i];
        if (tag == ASSAY_CELL_ABSENT) {
            break;
        }
        double x = r->value[j][i];
        int hit = tag == ASSAY_CELL_NUMBER || (int)x == T_WORD;
        mask |= (size_t)hit << len;
        if (tag == ASSAY_CELL_NUMBER) {
            *values +=
                (fabs(x - o->pair.q[1][len]) - fabs(x - o->pair.q[0][len])) /
                (P(4) > 1.5 ? P(5) : P(1));
        }
    }
    return mask + ((size_t)1 << len);
}

static double ratio(double a, double b)
{
    return fmin(fmax(log(a / b), -100), 100);
}

/* Below 1e-14 a chance is the quadrature's error. */
static double mask_ratio(const assay_oracle *o, size_t m)
{
    double a = o->table[m], b = o->table[ASSAY_SPECIMEN_TABLE + m];
    a = a > 1e-14 ? a : 0;
    b = b > 1e-14 ? b : 0;
    return a > 0 || b > 0 ? ratio(a, b) : 0;
}

static void llr_masks(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    for (size_t i = 0; i < rows->num; i++) {
        double values;
        size_t m = row_mask(o, rows, i, 0, &values);
        out[i] = values + mask_ratio(o, m);
    }
}

/* One hit whose own value is put out: G_j(v) = P[rho <= v - T, queries before j
 * miss], tabulated on GRID points for each j (and the no-hit row last). */
#define GRID 340

static double grid_v(const assay_specimen *s, size_t k)
{
    return P(3) + P(0) * 16 * (2 * (double)k / (GRID - 1) - 1);
}

static void prepare_values(assay_oracle *o)
{
    const assay_specimen *s = o->specimen;
    size_t n = s->num_inputs;
    double step = grid_z(s, 1) - grid_z(s, 0);
    memset(o->table, 0, 2 * ASSAY_SPECIMEN_TABLE * sizeof *o->table);
    for (int side = 0; side < 2; side++) {
        double *g = o->table + (size_t)side * ASSAY_SPECIMEN_TABLE;
        for (size_t j = 0; j <= n; j++) {
            double sum = 0;
            size_t at = 0;
            for (size_t k = 0; k < POINTS; k++) {
                double z = grid_z(s, k);
                while (at < GRID && grid_v(s, at) - P(3) < z) {
                    g[j * GRID + at++] = sum;
                }
                double w = step * exp(-fabs(z) / P(0)) / (2 * P(0));
                for (size_t i = 0; i < j; i++) {
                    w *= miss(s, z, o->pair.q[side][i]);
                }
                sum += w;
            }
            while (at < GRID) {
                g[j * GRID + at++] = sum;
            }
        }
    }
}

static double g_at(const assay_specimen *s, const double *g, size_t j, double v)
{
    double k = (v - grid_v(s, 0)) / (grid_v(s, 1) - grid_v(s, 0));
    k = fmin(fmax(k, 0), GRID - 1.001);
    size_t at = (size_t)k;
    double a = g[j * GRID + at] + 1e-12, b = g[j * GRID + at + 1] + 1e-12;
    return log(a) + (k - (double)at) * (log(b) - log(a));
}

static void llr_values(const assay_oracle *o, const assay_rows *rows,
                       double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        size_t j = 0;
        double values, v = 1e9;
        (void)row_mask(o, rows, i, 0, &values);
        while (j < s->num_inputs && !rows->plain[j] &&
               rows->tag[j][i] == ASSAY_CELL_WORD) {
            j++;
        }
        if (j < s->num_inputs) {
            v = rows->value[j][i];
        }
        out[i] = values + g_at(s, o->table, j, v) -
                 g_at(s, o->table + ASSAY_SPECIMEN_TABLE, j, v);
    }
}

/* ---- SVT3 beside SVT4 ------------------------------------------------- */

static assay_specimen part_of(const assay_specimen *s, int which)
{
    assay_specimen part = *s;
    double c = P(2), t = P(3);
    const double three[8] = {20, 20 * c, c, t, 1, 0, 0, 0};
    const double four[8] = {40, 40.0 / 3, c, t, 0, 0, 0, 0};
    memcpy(part.param, which == 3 ? three : four, sizeof three);
    return part;
}

static void draw_34(const assay_specimen *s, const double *q, assay_rng *rng,
                    size_t n, assay_rows *out)
{
    assay_specimen three = part_of(s, 3), four = part_of(s, 4);
    draw_svt_at(&three, q, rng, n, out, 0);
    draw_svt_at(&four, q, rng, n, out, s->num_inputs);
}

/* The usual inputs have two different answers at most, so misses matter only
 * by how many there are of each: G(v) = P[rho <= v - T, those miss] where v is
 * the smallest value put out. Kept behind SVT4's masks. */
#define MASKS 2048

static size_t misses_code(const double *q, size_t n, size_t hits, size_t len)
{
    size_t of[2] = {0, 0}, all[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        int other = q[i] != q[0];
        all[other]++;
        of[other] += i < len && !((hits >> i) & 1);
    }
    return of[0] * (all[1] + 1) + of[1];
}

static void fill_misses(double *g, const assay_specimen *s, const double *q)
{
    size_t n = s->num_inputs, num[2] = {0, 0};
    double other = q[0], step = grid_z(s, 1) - grid_z(s, 0);
    for (size_t i = 0; i < n; i++) {
        num[q[i] != q[0]]++;
        other = q[i] != q[0] ? q[i] : other;
    }
    for (size_t k = 0; k < (num[0] + 1) * (num[1] + 1); k++) {
        size_t of_first = k / (num[1] + 1), of_other = k % (num[1] + 1);
        double a = (double)of_first, b = (double)of_other, sum = 0;
        size_t at = 0;
        for (size_t l = 0; l < POINTS; l++) {
            double z = grid_z(s, l);
            while (at < GRID && grid_v(s, at) - P(3) < z) {
                g[k * GRID + at++] = sum;
            }
            sum += step * assay_law_laplace_pdf(z, P(0)) *
                   pow(miss(s, z, q[0]), a) * pow(miss(s, z, other), b);
        }
        while (at < GRID) {
            g[k * GRID + at++] = sum;
        }
    }
}

static void prepare_34(assay_oracle *o)
{
    assay_specimen three = part_of(o->specimen, 3);
    assay_specimen four = part_of(o->specimen, 4);
    assay_oracle part = {&four, o->pair, o->table};
    prepare_masks(&part);
    for (size_t side = 0; side < 2; side++) {
        fill_misses(o->table + side * ASSAY_SPECIMEN_TABLE + MASKS, &three,
                    o->pair.q[side]);
    }
}

/* The smallest value among the hits of the first part. */
static double least_value(const assay_rows *r, size_t i, size_t hits, size_t n)
{
    double least = 1e9;
    for (size_t j = 0; j < n; j++) {
        least = (hits >> j) & 1 ? fmin(least, r->value[j][i]) : least;
    }
    return least;
}

static void llr_34(const assay_oracle *o, const assay_rows *rows, double *out)
{
    assay_specimen three = part_of(o->specimen, 3);
    assay_specimen four = part_of(o->specimen, 4);
    assay_oracle o3 = {&three, o->pair, o->table};
    assay_oracle o4 = {&four, o->pair, o->table};
    size_t n = three.num_inputs;
    for (size_t i = 0; i < rows->num; i++) {
        double values, none, g[2];
        size_t m = row_mask(&o3, rows, i, 0, &values), len = n;
        while (len > 0 && !((m >> len) & 1)) {
            len--;
        }
        size_t hits = m - ((size_t)1 << len);
        double v = least_value(rows, i, hits, n);
        for (size_t side = 0; side < 2; side++) {
            size_t code = misses_code(o->pair.q[side], n, hits, len);
            g[side] =
                g_at(&three, o->table + side * ASSAY_SPECIMEN_TABLE + MASKS,
                     code, v);
        }
        size_t m4 = row_mask(&o4, rows, i, n, &none);
        out[i] = values + g[0] - g[1] + mask_ratio(&o4, m4);
    }
}

#define SPARSE(label, text, eps, n, kind, true_eps, bad, prep, ratio_fn, ...)  \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(eps, 0),               \
        .truth = true_eps, .violates = bad, .width = n, .num_inputs = n,       \
        .neighbours = kind, .param = {__VA_ARGS__}, .draw = draw_svt,          \
        .prepare = prep, .llr = ratio_fn                                       \
    }
#define SVT(label, text, true_eps, bad, prep, ratio_fn, ...)                   \
    SPARSE(label, text, 0.1, 10, ASSAY_PAIR_ALL, true_eps, bad, prep,          \
           ratio_fn, __VA_ARGS__)
/* StatDP's own parameters: epsilon 0.7, ten queries, one hit; the truth of the
 * broken ones is that of the usual inputs. */
#define STATDP(label, text, true_eps, bad, prep, ratio_fn, ...)                \
    SPARSE("StatDP-" label, text, 0.7, 10, ASSAY_PAIR_ALL, true_eps, bad,      \
           prep, ratio_fn, __VA_ARGS__)
/* DP-Finder's: four queries, threshold 0. Its upper bounds, where they are
 * not the epsilon itself: AT3 0.2, AT4 0.175, AT 0.45. */
#define DPFINDER(label, text, true_eps, bad, prep, ratio_fn, ...)              \
    SPARSE("DPFinder-" label, text, 0.1, 4, ASSAY_PAIR_ALL, true_eps, bad,     \
           prep, ratio_fn, __VA_ARGS__)

#define MONOTONE(label, text, to, ...)                                         \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(0.1, 0), .truth = 0.1, \
        .width = 10, .num_inputs = 10, .num_pairs = 1,                         \
        .pairs =                                                               \
            (const assay_pair[]){                                              \
                {{{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},                              \
                  {to, to, to, to, to, to, to, to, to, to}}}},                 \
        .param = {__VA_ARGS__}, .draw = draw_svt, .prepare = prepare_masks,    \
        .llr = llr_masks                                                       \
    }

const assay_specimen assay_specimens_svt[] = {
    SVT("SVT1", "correct", 0.1, 0, prepare_masks, llr_masks, 20, 40, 1, 0.5),
    SVT("SVT2", "correct", 0.1, 0, prepare_masks, llr_masks, 20, 40, 1, 1, 0, 0,
        1),
    SVT("SVT2-two-hits", "correct: threshold redrawn after a hit", 0.1, 0,
        prepare_redrawn, llr_masks, 40, 80, 2, 1, 0, 0, 1),
    SVT("SVT2-no-redraw", "correct: one threshold for two hits", 0.075, 0,
        prepare_masks, llr_masks, 40, 80, 2, 1),
    SVT("SVT3", "puts out the compared value", 0.5, 1, prepare_values,
        llr_values, 20, 20, 1, 1, 1),
    SVT("SVT4", "noise not scaled by c", 0.175, 1, prepare_masks, llr_masks, 40,
        40.0 / 3, 1, 1),
    SVT("SVT4-two-hits", "noise not scaled by c = 2", 0.325, 1, prepare_masks,
        llr_masks, 40, 40.0 / 3, 2, 1),
    SVT("SVT5", "no query noise, no stop", INFINITY, 1, prepare_masks,
        llr_masks, 20, 0, 0, 1),
    SVT("SVT6", "no stop", 0.42, 1, prepare_masks, llr_masks, 20, 20, 0, 1),
    SVT("NumericalSVT", "correct: fresh noise on hits", 0.1, 0, prepare_masks,
        llr_masks, 30, 120, 2, 1, 2, 60),
    MONOTONE("SVT-monotone", "correct for counts that grow", 2, 20, 20, 1, 1),
    MONOTONE("SVT-decreasing", "correct for counts that fall", 0, 20, 20, 1, 1),
    MONOTONE("SVT4-monotone", "SVT4 is correct for counts that grow", 2, 40,
             40.0 / 3, 1, 1),
    {.name = "SVT34Parallel",
     .note = "SVT3 beside SVT4, c = 2",
     .claim = ASSAY_EPS(0.2, 0),
     .truth = NAN,
     .violates = 1,
     .width = 20,
     .num_inputs = 10,
     .neighbours = ASSAY_PAIR_ALL,
     .param = {20, 0, 2, 1},
     .draw = draw_34,
     .prepare = prepare_34,
     .llr = llr_34},
    STATDP("SVT", "correct", 0.7, 0, prepare_masks, llr_masks, 2 / 0.7, 4 / 0.7,
           1, 0.5),
    STATDP("iSVT1", "no query noise, no stop", INFINITY, 1, prepare_masks,
           llr_masks, 2 / 0.7, 0, 0, 1),
    STATDP("iSVT2", "no stop", 3.0918, 1, prepare_masks, llr_masks, 2 / 0.7,
           2 / 0.7, 0, 1),
    STATDP("iSVT3", "noise not scaled by c", 1.2173, 1, prepare_masks,
           llr_masks, 4 / 0.7, 4 / 2.1, 1, 1),
    STATDP("iSVT4", "puts out the compared value", 3.5, 1, prepare_values,
           llr_values, 2 / 0.7, 2 / 0.7, 1, 1, 1),
    DPFINDER("AT1", "correct", 0.1, 0, prepare_masks, llr_masks, 20, 40, 1, 0),
    DPFINDER("AT3", "puts out the compared value", 0.2, 1, prepare_values,
             llr_values, 20, 20, 1, 0, 1),
    DPFINDER("AT4", "noise not scaled by c", 0.175, 1, prepare_masks, llr_masks,
             40, 40.0 / 3, 1, 0),
    DPFINDER("AT5", "no query noise, no stop", INFINITY, 1, prepare_masks,
             llr_masks, 20, 0, 0, 0),
    DPFINDER("AT", "no stop", NAN, 1, prepare_masks, llr_masks, 20, 20, 0, 0),
    {.name = NULL},
};
