/* ring: glue */
#include "audit/layers.h"

#include <math.h>
#include <string.h>

#include "audit/binomial.h"

/* ---- thinning ------------------------------------------------------------ */

/* Poisson by inversion, outwards from the mode. The head is good to 1e-9 for
 * means up to 1e9 (long double). */
static uint64_t draw_poisson(assay_rng *rng, double mean)
{
    uint64_t mode = (uint64_t)mean, up = mode, down = mode;
    long double m = (long double)mode, x = (long double)mean;
    double top = (double)expl(m * logl(x) - x - lgammal(m + 1));
    double above = top, below = top, u = assay_rng_u01(rng) - top;
    while (u > 0) {
        up++;
        above *= mean / (double)up;
        u -= above;
        if (u <= 0 || (above < 1e-18 && down == 0)) {
            return up;
        }
        if (down > 0) {
            below *= (double)down / mean;
            down--;
            u -= below;
            if (u <= 0 || (above < 1e-18 && below < 1e-18)) {
                return down;
            }
        }
    }
    return mode;
}

static void remove_one(uint64_t *count, size_t num, uint64_t total,
                       assay_rng *rng)
{
    uint64_t at = (uint64_t)(assay_rng_u01(rng) * (double)total);
    for (size_t k = 0; k < num; k++) {
        if (at < count[k]) {
            count[k]--;
            return;
        }
        at -= count[k];
    }
}

double assay_layers_thin(uint64_t *count, size_t num, assay_rng *rng)
{
    uint64_t n = 0;
    for (size_t k = 0; k < num; k++) {
        n += count[k];
    }
    double mean = (double)n - 6 * sqrt((double)n);
    if (!(mean > 1)) {
        memset(count, 0, num * sizeof *count);
        return 0;
    }
    uint64_t keep = draw_poisson(rng, mean);
    for (uint64_t total = n; total > keep; total--) {
        remove_one(count, num, total, rng);
    }
    /* Chernoff for keep > n, and the error of the head */
    double u = (double)n / mean;
    return exp(-mean * (u * log(u) - u + 1)) + 2e-9;
}

/* ---- the bound ----------------------------------------------------------- */

#define LEAST 24 /* runs in a slice; weights may depend on left + right */

typedef struct layer {
    uint64_t k, m;
    double weight;
} layer;

/* The combined normal score against epsilon, rounded down. */
static double score_at(const layer *list, size_t num, double eps)
{
    double p = 1 / (1 + exp(-eps)), sum = 0;
    p = fmin(p * (1 + 1e-15), 1 - 1e-16);
    for (size_t i = 0; i < num; i++) {
        double tail = assay_binomial_at_least(list[i].k, list[i].m, p);
        sum -= list[i].weight * assay_normal_quantile(tail);
    }
    return sum;
}

/* A stage's slices; their squared weights sum to `share`. */
static size_t collect(layer *list, const assay_layer_counts *c, double share)
{
    size_t used = 0;
    double square = 0;
    for (size_t i = 0; i < c->num; i++) {
        uint64_t left = c->count[0][i], m = left + c->count[1][i];
        if (c->weight[i] != 0 && m >= LEAST) {
            double w = fabs(c->weight[i]) * sqrt((double)m);
            list[used++] = (layer){c->weight[i] > 0 ? left : m - left, m, w};
            square += w * w;
        }
    }
    for (size_t i = 0; i < used; i++) {
        list[i].weight *= sqrt(share / square);
    }
    return used;
}

static double runs_of(const assay_layer_counts *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->num; i++) {
        sum += (double)c->count[0][i] + (double)c->count[1][i];
    }
    return sum;
}

double assay_bound_layers(const assay_layer_counts *stage, size_t num_stages,
                          double level)
{
    layer list[2 * ASSAY_PROFILE_BINS];
    double runs = 0;
    size_t used = 0;
    if (!(level > 0) || num_stages > 2) {
        return 0;
    }
    for (size_t k = 0; k < num_stages; k++) {
        runs += runs_of(&stage[k]);
    }
    for (size_t k = 0; k < num_stages; k++) {
        used += collect(list + used, &stage[k], runs_of(&stage[k]) / runs);
    }
    double need = -assay_normal_quantile(level * (1 - 1e-9)) + 1e-9;
    if (used == 0 || !(score_at(list, used, 0) > need)) {
        return 0;
    }
    double lo = 0, hi = 0.01;
    while (hi < 40 && score_at(list, used, hi) > need) {
        lo = hi;
        hi *= 2;
    }
    for (int i = 0; i < 36 && hi - lo > 1e-7 * hi; i++) {
        double mid = 0.5 * (lo + hi);
        if (score_at(list, used, mid) > need) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* ---- choosing slices and weights ------------------------------------------ */

#define MAX_SLICES 400

/* Neighbouring scores: how many of either side, and the estimated share of
 * the left input among them. */
typedef struct slice {
    double left, right, model; /* model: sum of calibrated log ratios */
    double a, b;               /* expected counts by calibration */
    float top;
} slice;

typedef struct slices {
    size_t num;
    slice s[MAX_SLICES];
} slices;

/* Small slices at the ends, larger ones inside. */
static double enough(double rank, double total)
{
    double end = fmin(rank, total - rank);
    return fmin(fmax(0.2 * end, 60), total / 64);
}

static void cut(slices *out, const float *left, const float *right, size_t n,
                const assay_choice *o)
{
    size_t i = 0, j = 0;
    double total = 2 * (double)n, begun = 0;
    slice now = {0, 0, 0, 0, 0, 0};
    out->num = 0;
    while (i < n || j < n) {
        float t = j >= n || (i < n && left[i] < right[j]) ? left[i] : right[j];
        size_t i0 = i, j0 = j;
        while (i < n && left[i] == t) {
            i++;
        }
        while (j < n && right[j] == t) {
            j++;
        }
        now.left += (double)(i - i0);
        now.right += (double)(j - j0);
        now.top = t;
        now.model += (double)(i - i0 + j - j0) *
                     assay_work_curve(o, (double)t);
        int last = i == n && j == n;
        if (last || (now.left + now.right >= enough(begun, total) &&
                     out->num + 1 < MAX_SLICES)) {
            begun += now.left + now.right;
            out->s[out->num++] = now;
            now = (slice){0, 0, 0, 0, 0, 0};
        }
    }
}

/* The calibrated log ratio of a slice: few parameters, hardly any luck. */
static void smooth(slice *s)
{
    double m = s->left + s->right;
    s->a = m / (1 + exp(-s->model / m));
    s->b = m - s->a;
}

/* Signal of a slice in standard deviations: first side a, second b. */
static double signal(double a, double b, double eps)
{
    return (a - exp(eps) * b) / sqrt(exp(eps) * (a + b));
}

static double information(const slices *c, double eps)
{
    double sum = 0;
    for (size_t k = 0; k < c->num; k++) {
        const slice *s = &c->s[k];
        double t = fmax(signal(s->a, s->b, eps), signal(s->b, s->a, eps));
        sum += t > 0 ? t * t : 0;
    }
    return sum;
}

static double predict(const slices *c, double n, const assay_choice *o)
{
    double z = -assay_normal_quantile(o->level), lo = 0, hi = 12;
    double need = z * z * n / o->target;
    for (int i = 0; i < 40; i++) {
        double mid = 0.5 * (lo + hi);
        if (information(c, mid) > need) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* Where slices of one direction are merged: about an eighth of the information
 * each. */
typedef struct merging {
    double a, b, got;
    int sign;
} merging;

static void close_bin(assay_certify *z, merging *m, float top, double eps)
{
    if (z->num_bins + 1 >= ASSAY_PROFILE_BINS) {
        return; /* the rest joins one unused bin */
    }
    size_t k = z->num_bins++;
    z->edge[k] = top;
    z->g[k] = 0;
    if (m->sign > 0) {
        z->g[k] = fmax(m->a - exp(eps) * m->b, 0) / (m->a + m->b);
    } else if (m->sign < 0) {
        z->g[k] = -fmax(m->b - exp(eps) * m->a, 0) / (m->a + m->b);
    }
    *m = (merging){0, 0, 0, 0};
}

static void merge(assay_certify *z, const slices *c, double eps)
{
    double share = fmax(information(c, eps), 1e-9) / 16;
    merging m = {0, 0, 0, 0};
    z->num_bins = 0;
    for (size_t k = 0; k < c->num; k++) {
        const slice *s = &c->s[k];
        double x = signal(s->a, s->b, eps), y = signal(s->b, s->a, eps);
        int sign = x > 0 ? 1 : y > 0 ? -1 : 0;
        if (k > 0 && (sign != m.sign || (sign != 0 && m.got > share))) {
            close_bin(z, &m, c->s[k - 1].top, eps);
        }
        m.sign = sign;
        m.a += s->a;
        m.b += s->b;
        m.got += sign != 0 ? fmax(x, y) * fmax(x, y) : 0;
    }
    if (z->num_bins + 1 >= ASSAY_PROFILE_BINS) { /* no room: not used */
        m.sign = 0;
        z->num_bins--;
    }
    close_bin(z, &m, INFINITY, eps);
}

/* Weights are made for a smaller epsilon than promised: a promise that does not
 * come true costs more than weights that are a little flat. */
#define MODEST 0.93

double assay_layers_fit(assay_certify *z, const float *left,
                        const float *right, size_t n,
                        const assay_choice *choice)
{
    slices c;
    cut(&c, left, right, n, choice);
    for (size_t k = 0; k < c.num; k++) {
        smooth(&c.s[k]);
    }
    double eps = predict(&c, (double)n, choice);
    merge(z, &c, MODEST * eps);
    return eps;
}

/* ---- the oracle ----------------------------------------------------------- */

/* The mean of (1 - e^(eps - r))^2 / (e^eps (1 + e^-r)) over r > eps, ratios
 * sorted downwards. */
static double exact_information(const float *ratio, size_t n, double eps)
{
    double sum = 0, e = exp(eps);
    for (size_t i = 0; i < n && (double)ratio[i] > eps; i++) {
        double q = exp(-(double)ratio[i]), x = 1 - e * q;
        sum += x * x / (e * (1 + q));
    }
    return sum / (double)n;
}

double assay_layers_oracle(const float *left, const float *right, size_t n,
                           double samples, double level)
{
    double z = -assay_normal_quantile(level), lo = 0, hi = 12;
    double need = z * z / samples;
    for (int i = 0; i < 24; i++) {
        double mid = 0.5 * (lo + hi);
        double got = exact_information(left, n, mid) +
                     exact_information(right, n, mid);
        if (got > need) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}
