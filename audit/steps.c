/* ring: glue */
/* Step functions and tables: the log-likelihood ratio of one feature. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/attacker.h"
#include "audit/rng.h"

#define SAMPLE 16384

int assay_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many edges are below x; no branch depends on x. */
static size_t lower_bin(const double *edge, size_t n, double x)
{
    size_t lo = 0, len = n;
    while (len > 0) {
        size_t half = (len + 1) / 2;
        lo += edge[lo + half - 1] < x ? half : 0;
        len -= half;
    }
    return lo;
}

/* Count n numbers into bins, NaN aside; `edge` has up to 1023 edges. A guide
 * says between which edges the numbers of a cell lie: cells are equally
 * wide, and `cell_of` rises with x, so that the edges of lower cells are
 * below x. The search takes a strip of numbers one step at a time, so that
 * it can use vectors. */
#define STRIP 256
#define PADDED 2048
#define CELLS 2048

typedef struct guide {
    double low, inverse;
    int64_t start[CELLS]; /* edges in lower cells */
    int64_t first;        /* step of the search in a cell */
    double edge[PADDED];
} guide;

static inline double cell_of(const guide *g, double x)
{
    double t = (x - g->low) * g->inverse;
    t = t > 0 ? t : 0; /* NaN too */
    return t < CELLS - 1 ? t : CELLS - 1;
}

static void make_guide(guide *g, const double *edge, size_t num)
{
    int64_t most = 0, at = 0;
    g->low = num > 0 ? edge[0] : 0;
    double range = num > 0 ? edge[num - 1] - edge[0] : 0;
    g->inverse = range > 0 && isfinite(range) ? (CELLS - 2) / range : 0;
    for (size_t k = 0; k < PADDED; k++) {
        g->edge[k] = k < num ? edge[k] : INFINITY;
    }
    for (int cell = 0; cell < CELLS; cell++) {
        g->start[cell] = at;
        while (at < (int64_t)num && (int)cell_of(g, edge[at]) == cell) {
            at++;
        }
        most = at - g->start[cell] > most ? at - g->start[cell] : most;
    }
    g->first = 1;
    while (2 * g->first <= most) {
        g->first *= 2;
    }
}

ASSAY_SIMD
static void search_strip(const guide *restrict g, const double *restrict x,
                         size_t n, int64_t *restrict at)
{
    const double *restrict edge = g->edge;
    for (size_t i = 0; i < n; i++) {
        at[i] = (int32_t)cell_of(g, x[i]);
    }
    for (size_t i = 0; i < n; i++) {
        at[i] = g->start[at[i]];
    }
    for (int64_t step = g->first; step > 0; step /= 2) {
        for (size_t i = 0; i < n; i++) {
            at[i] += edge[at[i] + step - 1] < x[i] ? step : 0;
        }
    }
}

/* Returns how many are NaN. */
static double count_bins(double *count, const double *edge, size_t num_edges,
                         const double *x, size_t n)
{
    guide g;
    double missing = 0;
    make_guide(&g, edge, num_edges);
    for (size_t i = 0; i < n; i += STRIP) {
        int64_t at[STRIP];
        size_t m = n - i < STRIP ? n - i : STRIP;
        search_strip(&g, x + i, m, at);
        for (size_t k = 0; k < m; k++) {
            int none = isnan(x[i + k]);
            missing += none;
            count[at[k]] += !none;
        }
    }
    return missing;
}

/* Up to SAMPLE numbers of x, evenly spaced, NaN left out. */
static size_t take_sample(double *out, const double *x, size_t n)
{
    size_t stride = n / SAMPLE + 1, m = 0;
    for (size_t i = 0; i < n; i += stride) {
        if (!isnan(x[i])) {
            out[m++] = x[i];
        }
    }
    return m;
}

static size_t unique(double *x, size_t n)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (m == 0 || x[i] > x[m - 1]) {
            x[m++] = x[i];
        }
    }
    return m;
}

/* Quantile edges; a repeated quantile is an atom and gets an edge just below,
 * so that it has a step of its own. */
static size_t quantile_edges(double *edge, const double *s, size_t m,
                             size_t quantiles)
{
    size_t n = 0;
    for (size_t q = 1; q < quantiles; q++) {
        size_t at = q * m / quantiles;
        if (at == 0 || at >= m) {
            continue;
        }
        if (s[at] == s[at - 1]) {
            edge[n++] = nextafter(s[at], -INFINITY);
        }
        edge[n++] = s[at];
    }
    qsort(edge, n, sizeof *edge, assay_compare_doubles);
    return unique(edge, n);
}

#define FEW 64
ASSAY_SIMD
static int any_beyond(const double *x, size_t n, double cut, int high)
{
    double sign = high ? 1 : -1, at = sign * cut;
    int any = 0;
    for (size_t i = 0; i < n; i++) {
        any |= sign * x[i] > at;
    }
    return any;
}

/* Beyond the outer edges: halve the number of values again and again. */
static size_t tail_edges(double *edge, size_t n, const double *const x[2],
                         const size_t len[2], int high)
{
    double cut = high ? edge[n - 1] : edge[0];
    size_t room = 1 << 16, m = 0, added = 0;
    double *t = malloc(room * sizeof *t);
    for (int s = 0; t != NULL && s < 2; s++) {
        for (size_t i = 0; i < len[s]; i += FEW) {
            size_t few = len[s] - i < FEW ? len[s] - i : FEW;
            if (!any_beyond(x[s] + i, few, cut, high)) {
                continue;
            }
            for (size_t k = i; k < i + few && m < room; k++) {
                if (high ? x[s][k] > cut : x[s][k] < cut) {
                    t[m++] = x[s][k];
                }
            }
        }
    }
    if (m >= 8) {
        qsort(t, m, sizeof *t, assay_compare_doubles);
        for (size_t k = m / 2; k >= 4 && added < 20; k /= 2) {
            edge[n + added++] = high ? t[m - k] : t[k];
        }
        /* the extreme values themselves: one side may stop here */
        edge[n + added++] = high ? t[m - 1] : nextafter(t[0], -INFINITY);
    }
    free(t);
    return n + added;
}

typedef struct bins {
    size_t num;
    double *edge; /* num - 1 */
    double *c[2]; /* counts */
    double *gain; /* loss of merging bin i with i + 1 */
} bins;

static double xlogx(double x)
{
    return x > 0 ? x * log(x) : 0;
}

/* The G statistic of homogeneity of two neighbouring bins. */
static double split_gain(const bins *b, size_t i)
{
    double a1 = b->c[0][i], a2 = b->c[1][i];
    double b1 = b->c[0][i + 1], b2 = b->c[1][i + 1];
    double g = xlogx(a1) + xlogx(a2) + xlogx(b1) + xlogx(b2) - xlogx(a1 + a2) -
               xlogx(b1 + b2) - xlogx(a1 + b1) - xlogx(a2 + b2) +
               xlogx(a1 + a2 + b1 + b2);
    return 2 * g;
}

static void merge_bins(bins *b, double strict)
{
    for (size_t i = 0; i + 1 < b->num; i++) {
        b->gain[i] = split_gain(b, i);
    }
    while (b->num > 1) {
        size_t at = 0;
        for (size_t i = 1; i + 1 < b->num; i++) {
            at = b->gain[i] < b->gain[at] ? i : at;
        }
        if (b->gain[at] > strict) {
            return;
        }
        b->c[0][at] += b->c[0][at + 1];
        b->c[1][at] += b->c[1][at + 1];
        size_t rest = b->num - at - 2;
        memmove(b->c[0] + at + 1, b->c[0] + at + 2, rest * sizeof(double));
        memmove(b->c[1] + at + 1, b->c[1] + at + 2, rest * sizeof(double));
        memmove(b->edge + at, b->edge + at + 1, rest * sizeof(double));
        memmove(b->gain + at, b->gain + at + 1, rest * sizeof(double));
        b->num--;
        if (at > 0) {
            b->gain[at - 1] = split_gain(b, at - 1);
        }
        if (at + 1 < b->num) {
            b->gain[at] = split_gain(b, at);
        }
    }
}

/* Log-likelihood of a segment with a left and b right values. */
static double segment(double a, double b)
{
    return xlogx(a) + xlogx(b) - xlogx(a + b);
}

/* Move edge i of the merged bins to where the likelihood of its two bins is
 * largest. `fine` are the edges before merging, cum[s][k] the number of values
 * of side s up to fine edge k. */
static void refine_edge(bins *b, size_t i, const double *fine, size_t n,
                        double *const cum[2])
{
    double from = i == 0 ? -INFINITY : b->edge[i - 1];
    double to = i + 2 < b->num ? b->edge[i + 1] : INFINITY;
    double before[2], all[2], best = -INFINITY;
    size_t lo = 0, hi = n, at = n;
    while (lo < n && fine[lo] <= from) {
        lo++;
    }
    while (hi > 0 && fine[hi - 1] >= to) {
        hi--;
    }
    for (int s = 0; s < 2; s++) {
        before[s] = lo == 0 ? 0 : cum[s][lo - 1];
        all[s] = b->c[s][i] + b->c[s][i + 1];
    }
    for (size_t k = lo; k < hi; k++) {
        double x = cum[0][k] - before[0], y = cum[1][k] - before[1];
        double l = segment(x, y) + segment(all[0] - x, all[1] - y);
        if (l > best) {
            best = l;
            at = k;
        }
    }
    if (at < n) {
        b->edge[i] = fine[at];
        for (int s = 0; s < 2; s++) {
            b->c[s][i] = cum[s][at] - before[s];
            b->c[s][i + 1] = all[s] - b->c[s][i];
        }
    }
}

/* Log ratio of the counts, shrunk by its own uncertainty. */
static double smoothed(double c1, double c2, double n1, double n2)
{
    double r = log((c1 + 0.5) / (n1 + 1)) - log((c2 + 0.5) / (n2 + 1));
    double v = 1 / (c1 + 0.5) + 1 / (c2 + 0.5);
    return r == 0 ? 0 : r * r * r / (r * r + v);
}

static assay_status steps_from(assay_steps *out, const bins *b,
                               const double missing[2], const size_t len[2],
                               assay_error *err)
{
    out->num_edges = b->num - 1;
    out->edge = calloc(b->num, sizeof(double));
    out->weight = calloc(b->num, sizeof(double));
    if (out->edge == NULL || out->weight == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    memcpy(out->edge, b->edge, (b->num - 1) * sizeof(double));
    for (size_t i = 0; i < b->num; i++) {
        out->weight[i] =
            smoothed(b->c[0][i], b->c[1][i], (double)len[0], (double)len[1]);
    }
    out->missing =
        missing[0] + missing[1] > 0
            ? smoothed(missing[0], missing[1], (double)len[0], (double)len[1])
            : 0;
    return ASSAY_OK;
}

static size_t make_edges(double *edge, double *sample, const double *const x[2],
                         const size_t len[2], size_t quantiles)
{
    size_t m = take_sample(sample, x[0], len[0]);
    m += take_sample(sample + m, x[1], len[1]);
    if (m < 4) {
        return 0;
    }
    qsort(sample, m, sizeof *sample, assay_compare_doubles);
    size_t n = quantile_edges(edge, sample, m, quantiles);
    if (n == 0) {
        return 0;
    }
    n = tail_edges(edge, n, x, len, 1);
    qsort(edge, n, sizeof *edge, assay_compare_doubles);
    n = tail_edges(edge, n, x, len, 0);
    qsort(edge, n, sizeof *edge, assay_compare_doubles);
    return unique(edge, n);
}

assay_status assay_steps_fit(assay_steps *out, const double *left,
                             const double *right, size_t n_left, size_t n_right,
                             size_t quantiles, double strict, assay_error *err)
{
    const double *const x[2] = {left, right};
    const size_t len[2] = {n_left, n_right};
    size_t room = 2 * quantiles + 64;
    double *memory = calloc(7 * room + 2 * SAMPLE, sizeof *memory);
    double missing[2] = {0, 0};
    memset(out, 0, sizeof *out);
    if (memory == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    bins b = {0, memory, {memory + room, memory + 2 * room}, memory + 3 * room};
    double *fine = memory + 4 * room;
    double *cum[2] = {memory + 5 * room, memory + 6 * room};
    size_t n = make_edges(b.edge, memory + 7 * room, x, len, quantiles);
    b.num = n + 1;
    for (int s = 0; s < 2; s++) {
        missing[s] = count_bins(b.c[s], b.edge, n, x[s], len[s]);
    }
    memcpy(fine, b.edge, n * sizeof *fine);
    for (size_t k = 0; k < n; k++) {
        cum[0][k] = b.c[0][k] + (k == 0 ? 0 : cum[0][k - 1]);
        cum[1][k] = b.c[1][k] + (k == 0 ? 0 : cum[1][k - 1]);
    }
    merge_bins(&b, strict);
    for (size_t k = 0; k < 2 * (b.num - 1); k++) {
        refine_edge(&b, k % (b.num - 1), fine, n, cum);
    }
    assay_status status = steps_from(out, &b, missing, len, err);
    free(memory);
    return status;
}

void assay_steps_clear(assay_steps *steps)
{
    free(steps->edge);
    free(steps->weight);
    memset(steps, 0, sizeof *steps);
}

double assay_steps_at(const assay_steps *steps, double x)
{
    if (isnan(x)) {
        return steps->missing;
    }
    return steps->weight[lower_bin(steps->edge, steps->num_edges, x)];
}

/* The key's slot; SIZE_MAX if it is not there. */
size_t assay_table_slot(const assay_table *table, uint64_t key)
{
    key |= 1;
    for (size_t i = (key >> 7) & table->mask;; i = (i + 1) & table->mask) {
        if (table->key[i] == key) {
            return i;
        }
        if (table->key[i] == 0) {
            return SIZE_MAX;
        }
    }
}

double assay_table_at(const assay_table *table, uint64_t key)
{
    key |= 1;
    for (size_t i = (key >> 7) & table->mask;; i = (i + 1) & table->mask) {
        if (table->key[i] == key) {
            return table->weight[i];
        }
        if (table->key[i] == 0) {
            return table->other;
        }
    }
}
