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

void assay_layers_toss(assay_layer_counts *counts, assay_rng *rng)
{
    for (size_t k = 0; k < counts->num; k++) {
        counts->coin[k] = assay_rng_u01(rng);
    }
}

/* ---- the bound ----------------------------------------------------------- */

#define LEAST 8 /* runs in a slice; weights may depend on left + right */

typedef struct layer {
    uint64_t k, m;
    double weight, coin;
} layer;

/* Never too small: both tails are not. */
static double tail_of(const layer *l, double p)
{
    double from = assay_binomial_at_least(l->k, l->m, p);
    double above = l->k < l->m && l->coin > 0
                       ? assay_binomial_at_least(l->k + 1, l->m, p)
                       : 0;
    return (1 - l->coin) * from + l->coin * above;
}

/* The combined normal score against epsilon, rounded down; `sum` is that of
 * stages without slices. */
static double score_at(const layer *list, size_t num, double eps, double sum)
{
    double p = 1 / (1 + exp(-eps));
    p = fmin(p * (1 + 1e-15), 1 - 1e-16);
    for (size_t i = 0; i < num; i++) {
        sum -= list[i].weight * assay_normal_quantile(tail_of(&list[i], p));
    }
    return sum;
}

/* A stage's slices; their squared weights sum to `share`. A stage without any
 * speaks by a coin: were it left out, the others would speak louder whenever
 * they like to be the last. */
static size_t collect(layer *list, const assay_layer_counts *c, double share,
                      double *coins)
{
    size_t used = 0;
    double square = 0;
    for (size_t i = 0; i < c->num; i++) {
        uint64_t left = c->count[0][i], m = left + c->count[1][i];
        if (c->weight[i] != 0 && m >= LEAST) {
            double w = fabs(c->weight[i]) * sqrt((double)m);
            list[used++] =
                (layer){c->weight[i] > 0 ? left : m - left, m, w, c->coin[i]};
            square += w * w;
        }
    }
    if (used == 0 && share > 0) {
        *coins -= sqrt(share) * assay_normal_quantile(1 - c->coin[0]);
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
    layer list[ASSAY_LAYER_STAGES * ASSAY_PROFILE_BINS];
    double runs = 0, coins = 0;
    size_t used = 0;
    if (!(level > 0) || num_stages > ASSAY_LAYER_STAGES) {
        return 0;
    }
    for (size_t k = 0; k < num_stages; k++) {
        runs += runs_of(&stage[k]);
    }
    for (size_t k = 0; k < num_stages; k++) {
        double share = runs > 0 ? runs_of(&stage[k]) / runs : 0;
        used += collect(list + used, &stage[k], share, &coins);
    }
    double need = -assay_normal_quantile(level * (1 - 1e-9)) + 1e-9;
    if (used == 0 || !(score_at(list, used, 0, coins) > need)) {
        return 0;
    }
    double lo = 0, hi = 0.01;
    while (hi < 40 && score_at(list, used, hi, coins) > need) {
        lo = hi;
        hi *= 2;
    }
    for (int i = 0; i < 36 && hi - lo > 1e-7 * hi; i++) {
        double mid = 0.5 * (lo + hi);
        if (score_at(list, used, mid, coins) > need) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}

/* ---- choosing slices and weights ---------------------------------------- */

#define MAX_SLICES 400

/* Neighbouring scores: how many of either side, and the estimated share of
 * the left input among them. */
typedef struct slice {
    double left, right, model; /* model: sum of calibrated log ratios */
    double rate;               /* its mean, level beyond some point */
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

/* A score of cell k: its top, where there is one. */
static float score_of(const assay_cells *c, size_t k)
{
    return c->top[k + 1 < c->num ? k : c->num - 2];
}

static void cut(slices *out, const assay_cells *c, const assay_choice *o)
{
    double total = 0, begun = 0;
    slice now = {0, 0, 0, 0, 0, 0, 0};
    out->num = 0;
    for (size_t k = 0; k < c->num; k++) {
        total += (double)(c->count[0][k] + c->count[1][k]);
    }
    for (size_t k = 0; k < c->num; k++) {
        double m = (double)(c->count[0][k] + c->count[1][k]);
        now.left += (double)c->count[0][k];
        now.right += (double)c->count[1][k];
        now.top = c->top[k];
        now.model += m * assay_work_curve(o, (double)score_of(c, k));
        double rest = total - begun - now.left - now.right;
        int full = now.left + now.right >= enough(begun, total) &&
                   rest >= enough(total, total) && out->num + 1 < MAX_SLICES;
        if (full || k + 1 == c->num) {
            begun += now.left + now.right;
            out->s[out->num++] = now;
            now = (slice){0, 0, 0, 0, 0, 0, 0};
        }
    }
}

/* What is known of the slices' log ratios: the calibration, and how far the
 * counts are off it. That difference is taken for a random walk from slice to
 * slice, whose steps grow with the calibration's: counts decide where they are
 * many, and where they are few the neighbours do. */
typedef struct walk {
    double mean[MAX_SLICES], var[MAX_SLICES]; /* of the difference */
    double ahead[MAX_SLICES];                 /* variance before the counts */
} walk;

static double rate_of(const slice *s)
{
    return s->model / (s->left + s->right);
}

static double log_likelihood(const slice *s, double rate)
{
    return -s->left * log1p(exp(-rate)) - s->right * log1p(exp(rate));
}

/* The ratio of Laplace noise is level beyond the answers, where a line
 * fitted to the score still rises. Most of the belief, before the counts
 * speak, goes to the line; the rest to all points of an end from which on
 * the ratio is level, or rises half as much. The mean of all by their
 * likelihood. */
#define LINE 0.8
typedef struct beliefs {
    double weight;
    double sum[MAX_SLICES]; /* of weights times log ratios */
} beliefs;

static double beyond(double rate, double bar, double slope)
{
    return bar + slope * (rate - bar);
}

static void believe(beliefs *b, const slices *c, size_t num, int high,
                    double slope, double prior)
{
    const size_t last = c->num - 1;
    for (size_t i = 0; i < num; i++) {
        double bar = rate_of(&c->s[high ? last - i : i]), gain = 0;
        for (size_t k = 0; k < i; k++) {
            const slice *s = &c->s[high ? last - k : k];
            double rate = rate_of(s);
            gain += log_likelihood(s, beyond(rate, bar, slope)) -
                    log_likelihood(s, rate);
        }
        double weight = prior * exp(fmin(gain, 500));
        b->weight += weight;
        for (size_t k = 0; k < num; k++) {
            double rate = rate_of(&c->s[high ? last - k : k]);
            b->sum[k] += weight * (k < i ? beyond(rate, bar, slope) : rate);
        }
    }
}

static void level_off(slices *c, int high)
{
    static _Thread_local beliefs b;
    const size_t last = c->num - 1;
    size_t num = 0; /* slices on this side of ratio 1 */
    while (num < c->num &&
           (high ? rate_of(&c->s[last - num]) > 0 : rate_of(&c->s[num]) < 0)) {
        num++;
    }
    memset(&b, 0, sizeof b);
    b.weight = LINE;
    for (size_t k = 0; k < num; k++) {
        b.sum[k] = LINE * rate_of(&c->s[high ? last - k : k]);
    }
    double each = (1 - LINE) / 2 / (double)(num + 1);
    believe(&b, c, num, high, 0, each);
    believe(&b, c, num, high, 0.5, each);
    for (size_t k = 0; k < num; k++) {
        c->s[high ? last - k : k].rate = b.sum[k] / b.weight;
    }
}

static void find_rates(slices *c)
{
    for (size_t k = 0; k < c->num; k++) {
        c->s[k].rate = rate_of(&c->s[k]);
    }
    level_off(c, 0);
    level_off(c, 1);
}

static double step_of(const slices *c, size_t k)
{
    return fabs(rate_of(&c->s[k]) - rate_of(&c->s[k - 1]));
}

/* Kalman's filter; returns the log likelihood of the counts. */
static double walk_forward(walk *w, const slices *c, double roughness)
{
    double value = 0, mean = 0, var = 1;
    for (size_t k = 0; k < c->num; k++) {
        const slice *s = &c->s[k];
        double a = s->left + 0.5, b = s->right + 0.5;
        double noise = 1 / a + 1 / b, off = log(a / b) - s->rate;
        var += k > 0 ? roughness * step_of(c, k) : 0;
        w->ahead[k] = var;
        double all = var + noise, gain = var / all, surprise = off - mean;
        value -= 0.5 * (log(all) + surprise * surprise / all);
        mean += gain * surprise;
        var *= 1 - gain;
        w->mean[k] = mean;
        w->var[k] = var;
    }
    return value;
}

/* Rauch, Tung and Striebel's smoother: later slices speak for earlier ones. */
static void walk_back(walk *w, size_t num)
{
    for (size_t next = num; next-- > 1;) {
        size_t k = next - 1;
        double gain = w->var[k] / w->ahead[next];
        w->mean[k] += gain * (w->mean[next] - w->mean[k]);
        w->var[k] += gain * gain * (w->var[next] - w->ahead[next]);
    }
}

/* Expected counts by the walk of the likeliest roughness, ratios brought nearer
 * to 1 by some standard deviations. However well the counts agree with the
 * calibration, it is doubted by a fourteenth of its range. */
#define CAUTION 0.25
#define LEAST_ROUGH 0.005
static void smooth(slices *c)
{
    walk w;
    double best = -INFINITY, chosen = 0, range = 0;
    for (size_t k = 1; k < c->num; k++) {
        range += step_of(c, k);
    }
    for (double share = LEAST_ROUGH; share < 10; share *= 4) {
        double value = walk_forward(&w, c, share * range);
        chosen = value > best ? share * range : chosen;
        best = fmax(best, value);
    }
    (void)walk_forward(&w, c, chosen);
    walk_back(&w, c->num);
    for (size_t k = 0; k < c->num; k++) {
        slice *s = &c->s[k];
        double r = s->rate + w.mean[k], m = s->left + s->right;
        r = copysign(fmax(fabs(r) - CAUTION * sqrt(w.var[k]), 0), r);
        s->a = m / (1 + exp(-r));
        s->b = m - s->a;
    }
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

/* The epsilon at which all slices signal `share` of what the level asks for. */
static double predict(const slices *c, double n, const assay_choice *o,
                      double share)
{
    double z = -assay_normal_quantile(o->level) * share, lo = 0, hi = 12;
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

/* Evenly spaced scores of a side, for the calibration; returns how many. */
#define SAMPLE 32768
static size_t sample(float *out, const assay_cells *c, size_t side)
{
    double n = 0, at = 0;
    size_t num = 0;
    for (size_t k = 0; k < c->num; k++) {
        n += (double)c->count[side][k];
    }
    for (size_t k = 0; k < c->num; k++) {
        at += (double)c->count[side][k];
        while (num < SAMPLE && ((double)num + 0.5) * n < at * SAMPLE) {
            out[num++] = score_of(c, k);
        }
    }
    return num;
}

/* The slices of a score with what is known of their ratios; how many runs of a
 * side are in them, 0 if they are too few. */
static double known_slices(slices *out, const assay_cells *cells,
                           assay_choice *o)
{
    static _Thread_local float left[SAMPLE], right[SAMPLE];
    double n = 0;
    if (cells->num < 3 || sample(left, cells, 0) < SAMPLE ||
        sample(right, cells, 1) < SAMPLE) {
        return 0;
    }
    assay_work_calibrate(o, left, right, SAMPLE);
    cut(out, cells, o);
    find_rates(out);
    smooth(out);
    for (size_t k = 0; k < out->num; k++) {
        n += out->s[k].left;
    }
    return n;
}

/* Weights are made for a larger epsilon than promised, by half of what half
 * the noise would add: the promise is a careful one, and weights that are
 * too flat let slices speak that have nothing to say. */
#define SHARPER 0.5
double assay_layers_fit(assay_certify *z)
{
    static _Thread_local slices c;
    assay_choice o = {
        .target = z->layers_target, .level = z->layers_level, .straight = 1};
    double n = known_slices(&c, &z->cells, &o);
    z->num_bins = 0;
    if (!(n > 0)) {
        return 0;
    }
    double eps = predict(&c, n, &o, 1);
    double more = predict(&c, n, &o, 0.5);
    merge(z, &c, eps + SHARPER * (more - eps));
    return eps;
}

/* The event of all slices up to k from one end. */
static void consider(assay_audit_event *best, const slices *c, size_t k,
                     int swapped, double p1, double p2,
                     const assay_claim *claim, const assay_choice *o)
{
    double top = p1 - claim->delta;
    double v = p1 * (1 - p1) / (top * top) + (1 - p2) / p2;
    double z = -assay_normal_quantile(o->level);
    double merit = log(top / p2) - z * sqrt(v / o->target);
    if (top > 0 && merit > best->merit) {
        best->merit = merit;
        best->swapped = swapped;
        best->threshold =
            swapped ? c->s[k].top : nextafterf(c->s[k - 1].top, INFINITY);
        best->p[0] = p1;
        best->p[1] = p2;
    }
}

int assay_layers_event(assay_audit_event *best, const assay_cells *cells,
                       const assay_claim *claim, double target, double level)
{
    static _Thread_local slices c;
    assay_choice o = {.target = target, .level = level, .straight = 1};
    double n = known_slices(&c, cells, &o), a = 0, b = 0;
    best->merit = -10;
    for (size_t k = n > 0 ? c.num - 1 : 0; k > 0; k--) {
        a += c.s[k].a / n;
        b += c.s[k].b / n;
        consider(best, &c, k, 0, a, b, claim, &o);
    }
    a = b = 0;
    for (size_t k = 0; n > 0 && k + 1 < c.num; k++) {
        a += c.s[k].b / n;
        b += c.s[k].a / n;
        consider(best, &c, k, 1, a, b, claim, &o);
    }
    return best->merit > -10;
}

void assay_layers_refit(assay_certify *z)
{
    if (z->num_past == ASSAY_REFITS || z->num_bins == 0) {
        return;
    }
    assay_layer_counts *past = &z->past[z->num_past++];
    past->num = z->num_bins;
    memcpy(past->weight, z->g, sizeof z->g);
    memcpy(past->edge, z->edge, sizeof z->edge);
    memcpy(past->count, z->bin, sizeof z->bin);
    memset(z->bin, 0, sizeof z->bin);
    (void)assay_layers_fit(z);
}

/* ---- cells -------------------------------------------------------------- */

#define BEYOND 16 /* cells beyond either end */

static void add_top(assay_cells *c, float top)
{
    if (c->num + 1 < ASSAY_CELLS && (c->num == 0 || top > c->top[c->num - 1])) {
        c->top[c->num++] = top;
    }
}

/* The next of both sides' scores. */
static float take_next(const float *left, const float *right, size_t n,
                       size_t *i, size_t *j)
{
    int from_left = *j == n || (*i < n && left[*i] <= right[*j]);
    return from_left ? left[(*i)++] : right[(*j)++];
}

/* Tops at ranks that are a hundredth of the distance from the nearer end
 * apart. */
static void place_tops(assay_cells *c, const float *left, const float *right,
                       size_t n)
{
    size_t i = 0, j = 0;
    double next = 1, total = 2 * (double)n;
    for (double rank = 1; rank <= total; rank++) {
        float t = take_next(left, right, n, &i, &j);
        if (rank >= next) {
            add_top(c, t);
            next = rank + fmax(1, 0.01 * fmin(rank, total - rank));
        }
    }
}

static void count_sorted(assay_cells *c, size_t side, const float *x, size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        while (k + 1 < c->num && x[i] > c->top[k]) {
            k++;
        }
        c->count[side][k]++;
    }
}

void assay_layers_cells(assay_cells *out, const float *left, const float *right,
                        size_t n)
{
    memset(out, 0, sizeof *out);
    if (n < 1000) {
        return;
    }
    float low = fminf(left[0], right[0]),
          high = fmaxf(left[n - 1], right[n - 1]);
    float below = (fminf(left[50], right[50]) - low) / 8;
    float above = (high - fmaxf(left[n - 51], right[n - 51])) / 8;
    for (int k = BEYOND; k > 0 && below > 0; k--) {
        add_top(out, low - (float)k * below);
    }
    place_tops(out, left, right, n);
    add_top(out, high);
    for (int k = 1; k <= BEYOND && above > 0; k++) {
        add_top(out, high + (float)k * above);
    }
    out->top[out->num++] = INFINITY;
    count_sorted(out, 0, left, n);
    count_sorted(out, 1, right, n);
}

/* ---- the oracle --------------------------------------------------------- */

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
        double got =
            exact_information(left, n, mid) + exact_information(right, n, mid);
        if (got > need) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}
