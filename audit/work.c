/* ring: glue */
#include "audit/work.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/binomial.h"

static int is_alone;

void assay_work_alone(void)
{
    is_alone = 1;
    openblas_set_num_threads(1);
}

int assay_work_threads(int wanted)
{
    long cores = is_alone ? 1 : sysconf(_SC_NPROCESSORS_ONLN);
    int n = wanted > 0 ? wanted : (int)(cores > 0 ? cores : 1);
    return n > ASSAY_MAX_THREADS ? ASSAY_MAX_THREADS : n;
}

typedef struct shared {
    const assay_source *source;
    uint64_t next, end;
    size_t unit;
    assay_unit_fn fn;
    void *arg;
    pthread_mutex_t lock;
    assay_status status;
    assay_error err;
} shared;

typedef struct job {
    shared *all;
    int thread;
} job;

static int take(shared *s, uint64_t *first, size_t *n)
{
    int got = 0;
    (void)pthread_mutex_lock(&s->lock);
    if (s->status == ASSAY_OK && s->next < s->end) {
        *first = s->next;
        *n = s->end - s->next < s->unit ? (size_t)(s->end - s->next) : s->unit;
        s->next += *n;
        got = 1;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return got;
}

static void stop(shared *s, assay_status status, const assay_error *err)
{
    (void)pthread_mutex_lock(&s->lock);
    if (s->status == ASSAY_OK) {
        s->status = status;
        s->err = *err;
    }
    (void)pthread_mutex_unlock(&s->lock);
}

static void *run(void *data)
{
    job *j = data;
    shared *s = j->all;
    assay_rows rows[2];
    assay_error err = ASSAY_ERROR_INIT;
    memset(rows, 0, sizeof rows);
    assay_status status = assay_rows_init(&rows[0], s->source->width, &err);
    if (status == ASSAY_OK) {
        status = assay_rows_init(&rows[1], s->source->width, &err);
    }
    uint64_t first;
    size_t n;
    while (status == ASSAY_OK && take(s, &first, &n)) {
        for (int side = 0; status == ASSAY_OK && side < 2; side++) {
            status =
                assay_source_fill(s->source, side, first, n, &rows[side], &err);
        }
        if (status == ASSAY_OK) {
            status = s->fn(s->arg, j->thread, first, &rows[0], &rows[1], &err);
        }
    }
    if (status != ASSAY_OK) {
        stop(s, status, &err);
    }
    assay_rows_clear(&rows[0]);
    assay_rows_clear(&rows[1]);
    return NULL;
}

assay_status assay_work_units(const assay_source *source, uint64_t first,
                              uint64_t end, size_t unit, int threads,
                              assay_unit_fn fn, void *arg, assay_error *err)
{
    shared s = {.source = source,
                .next = first,
                .end = end,
                .unit = unit,
                .fn = fn,
                .arg = arg,
                .status = ASSAY_OK};
    pthread_t id[ASSAY_MAX_THREADS];
    job jobs[ASSAY_MAX_THREADS];
    int started = 0;
    int wanted = source->serial ? 1 : assay_work_threads(threads);
    (void)pthread_mutex_init(&s.lock, NULL);
    for (int t = 0; t < wanted; t++) {
        jobs[t] = (job){&s, t};
        if (t + 1 < wanted &&
            pthread_create(&id[started], NULL, run, &jobs[t]) == 0) {
            started++;
        }
    }
    (void)run(&jobs[wanted - 1]); /* this thread works too */
    for (int t = 0; t < started; t++) {
        (void)pthread_join(id[t], NULL);
    }
    (void)pthread_mutex_destroy(&s.lock);
    if (s.status != ASSAY_OK && err != NULL) {
        *err = s.err;
    }
    return s.status;
}

/* ---- sorting: least-significant digit first, 11 bits a pass ------------- */

static uint32_t float_key(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b ^ ((b >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

void assay_work_sort(float *x, float *spare, size_t n)
{
    float *from = x, *to = spare;
    for (unsigned shift = 0; shift < 33; shift += 11) {
        size_t count[2048] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) {
            count[(float_key(from[i]) >> shift) & 2047]++;
        }
        for (size_t k = 0; k < 2048; k++) {
            size_t c = count[k];
            count[k] = sum;
            sum += c;
        }
        for (size_t i = 0; i < n; i++) {
            to[count[(float_key(from[i]) >> shift) & 2047]++] = from[i];
        }
        float *last = from;
        from = to;
        to = last;
    }
    memcpy(x, from, n * sizeof *x); /* three passes end in the spare */
}

/* ---- choosing ----------------------------------------------------------- */

#define TAIL 20 /* order statistics of the second side used for its tail */

/* Exponential tails of both sides beyond an anchor: the log ratio of the
 * events there is then a line in the threshold. */
typedef struct tails {
    int is_set;
    double at;           /* the anchor */
    double ratio, slope; /* log ratio there, and per unit of threshold */
    double v_ratio, v_slope;
} tails;

typedef struct sweep {
    const assay_claim *claim;
    double n;
    const assay_choice *o;
    double other; /* expected count of the second side by calibration */
    double doubt; /* standard deviation of its logarithm, 0: by rule */
    tails tails;
    double tail_at, tail_scale; /* exponential tail; scale 0: none */
    assay_audit_event best;
} sweep;

/* Estimates of rare events are the ones that luck inflates most: the fewer the
 * counts, the more standard deviations they are worsened by. */
static double luck(const sweep *s, double k1, double k2)
{
    return s->o->bold ? 0 : 2.5 / sqrt(1 + (k1 + k2) / 200);
}

static double care(const sweep *s, double k1, double k2)
{
    return s->o->caution + luck(s, k1, k2);
}

/* Counting estimates the log ratio of a rare event poorly; a calibrated score
 * knows it to a few percent, less well where few rows checked it. Weigh both,
 * unless they disagree. */
static double log_ratio(const sweep *s, double top, double k1, double k2,
                        double v, double *penalty)
{
    double counted = log(top * s->n / k2), sd = sqrt(v / s->n);
    *penalty = care(s, k1, k2) * sd;
    if (s->o->plain || !(s->other > 0)) {
        return counted;
    }
    double modelled = log(top * s->n / s->other);
    double w = (0.08 + 0.7 / sqrt(k1 + k2)) * fabs(modelled) + 1e-4;
    w = s->doubt > 0 ? s->doubt : w;
    if (fabs(modelled - counted) > 2 * sqrt(sd * sd + w * w)) {
        return counted;
    }
    double a = 1 / (sd * sd), b = 1 / (w * w);
    *penalty = s->o->caution / sqrt(a + b) + luck(s, k1, k2) * sd * a / (a + b);
    return (a * counted + b * modelled) / (a + b);
}

/* Predicted bound, epsilon, many counts: the estimate minus the noise of the
 * certification and some of that of the estimate itself. It may be negative,
 * so that weak attackers can still be told apart. */
static double merit_many(const sweep *s, double k1, double k2)
{
    double p1 = k1 / s->n, p2 = k2 / s->n, top = p1 - s->claim->delta;
    if (!(top > 0)) {
        return -10;
    }
    double v = p1 * (1 - p1) / (top * top) + (1 - p2) / p2, penalty;
    double z = -assay_normal_quantile(s->o->level);
    double x = log_ratio(s, top, k1, k2, v, &penalty);
    return x - z * sqrt(v / s->o->target) - penalty;
}

/* Beyond the second side's last observation its count is extrapolated by an
 * exponential tail fitted to the last TAIL of them: to a fiftieth of a run at
 * the least, since nothing has been seen out there. */
#define UNSEEN 0.02
static double tail_count(const sweep *s, double threshold, int swapped)
{
    if (!(s->tail_scale > 0) || s->o->plain) {
        return INFINITY;
    }
    double gap = swapped ? s->tail_at - threshold : threshold - s->tail_at;
    return gap > 0 ? fmax(TAIL * exp(-gap / s->tail_scale), UNSEEN) : INFINITY;
}

/* The second side's count, from its own few and from the calibrated score. */
static double bold_count(const sweep *s, double k1, double k2)
{
    double w = 0.05 + (0.08 + 0.7 / sqrt(k1 + k2)) * fabs(log(k1 / s->other));
    double a = k2 + 0.5, b = 1 / (w * w);
    double x = (a * log(k2 + 0.5) + b * log(s->other)) / (a + b);
    return exp(x + s->o->caution / sqrt(a + b));
}

/* The same as a mean, where the calibrated ratio is one that calibration can
 * know (no number of rows tells a ratio of e^10 from none at all): few or no
 * counts of the second side may be luck. Their own number elsewhere. */
#define KNOWN 4.5
static double likely_count(const sweep *s, double k1, double k2)
{
    double ratio = s->other > 0 ? log(k1 / s->other) : INFINITY;
    if (s->o->plain || !s->o->is_ratio || !(ratio > 0 && ratio < KNOWN)) {
        return k2;
    }
    double w = 0.05 + (0.08 + 0.7 / sqrt(k1 + k2)) * ratio;
    double a = 1 / (w * w); /* a Gamma law of mean `other` before the counts */
    return fmax((a + k2) / (a / s->other + 1), k2);
}

static double merit_few(const sweep *s, double k1, double k2, double threshold,
                        int swapped)
{
    double target = s->o->target, scale = target / s->n, c = care(s, k1, k2);
    double a = k1 - c * sqrt(k1 * (1 - k1 / s->n));
    double b = k2 + 0.3 + c * sqrt((k2 + 0.3) * (1 - k2 / s->n));
    if (!(a > 0)) {
        return -10;
    }
    if (k2 < 1) {
        b = fmin(b, 1.5 * tail_count(s, threshold, swapped));
    }
    if (s->doubt > 0 && !s->o->plain) { /* both tails are known */
        b = fmin(b, s->other * exp(s->o->caution * s->doubt));
        a = fmax(a, k1 - s->o->caution * sqrt(k1));
    }
    if (s->o->bold && s->o->is_ratio && s->other > 0) {
        b = fmin(b, bold_count(s, k1, k2));
    }
    b = fmax(b, likely_count(s, k1, k2));
    double bound = assay_bound_fast(s->claim, a * scale, target, b * scale,
                                    target, s->o->level);
    return bound > 0 ? bound : (a - b) / (s->n + a + b) - 1;
}

/* A threshold where k1 of the first side and k2 of the second are inside. */
static void consider(sweep *s, double k1, double k2, float threshold,
                     int swapped)
{
    if (k1 < s->o->mass_min * s->n || k1 > s->o->mass_max * s->n) {
        return;
    }
    int many = s->claim->kind == ASSAY_CLAIM_EPS && k1 > 40 && k2 > 40;
    double merit = many ? merit_many(s, k1, k2)
                        : merit_few(s, k1, k2, (double)threshold, swapped);
    if (merit > s->best.merit) {
        s->best.merit = merit;
        s->best.threshold = threshold;
        s->best.swapped = swapped;
        s->best.p[0] = k1 / s->n;
        s->best.p[1] = (many ? k2 : likely_count(s, k1, k2)) / s->n;
    }
}

/* Mean excess of the second side's TAIL most extreme scores, if they differ. */
static void fit_tail(sweep *s, const float *b, size_t n, int swapped)
{
    s->tail_scale = 0;
    if (n < 4 * TAIL) {
        return;
    }
    size_t differ = 0;
    double sum = 0, at = (double)b[swapped ? TAIL - 1 : n - TAIL];
    for (size_t k = 0; k + 1 < TAIL; k++) {
        size_t i = swapped ? k : n - 1 - k;
        size_t next = swapped ? i + 1 : i - 1;
        sum += fabs((double)b[i] - at);
        differ += b[i] != b[next];
    }
    if (differ + 4 >= TAIL) {
        s->tail_at = at;
        s->tail_scale = sum / (TAIL - 1);
    }
}

/* How far the i-th most extreme score lies from the end's inside. */
static double extreme(const float *x, size_t n, size_t i, int swapped)
{
    return swapped ? -(double)x[i] : (double)x[n - 1 - i];
}

/* Number, mean and squared coefficient of variation of the excesses over an
 * anchor; 0 if the scores are too few or repeat. */
static size_t excess(const float *x, size_t n, int swapped, double anchor,
                     double *mean, double *cv2)
{
    double sum = 0, square = 0;
    size_t k = 0, differ = 0;
    while (k < n && extreme(x, n, k, swapped) > anchor) {
        double e = extreme(x, n, k, swapped) - anchor;
        differ +=
            k == 0 || x[swapped ? k : n - 1 - k] != x[swapped ? k - 1 : n - k];
        sum += e;
        square += e * e;
        k++;
    }
    if (k < 200 || 4 * differ < 3 * k) {
        return 0;
    }
    *mean = sum / (double)k;
    *cv2 = square / (double)k / (*mean * *mean) - 1;
    return k;
}

/* The deepest-reaching anchor beyond which both tails look exponential. */
static void fit_tails(sweep *s, const float *first, const float *second,
                      size_t n, int swapped)
{
    static const size_t depth[] = {16000, 4000, 1000, 300};
    s->tails.is_set = 0;
    for (size_t d = 0; d < 4; d++) {
        if (8 * depth[d] > n) {
            continue;
        }
        double at = extreme(second, n, depth[d], swapped);
        double m1, m2, c1, c2;
        size_t k1 = excess(first, n, swapped, at, &m1, &c1);
        size_t k2 = excess(second, n, swapped, at, &m2, &c2);
        if (k1 == 0 || k2 == 0 || fabs(c1 - 1) > 8 / sqrt((double)k1) ||
            fabs(c2 - 1) > 8 / sqrt((double)k2)) {
            continue;
        }
        double v1 = 1 / (double)k1, v2 = 1 / (double)k2;
        double slope = 1 / m2 - 1 / m1;
        double v = v1 / (m1 * m1) + v2 / (m2 * m2);
        slope *= fmax(1 - 4 * v / (slope * slope + 1e-300), 0); /* luck */
        s->tails =
            (tails){1, at, log((double)k1 / (double)k2), slope, v1 + v2, v};
        return;
    }
}

/* The second side's count beyond a threshold, by the tails. */
static void use_tails(sweep *s, double k1, double threshold, int swapped)
{
    double gap = (swapped ? -threshold : threshold) - s->tails.at;
    s->doubt = s->other = 0;
    if (s->tails.is_set && gap > 0) {
        double rise = gap * s->tails.slope;
        s->other = k1 * exp(-s->tails.ratio - rise);
        s->doubt = sqrt(s->tails.v_ratio + gap * gap * s->tails.v_slope +
                        0.01 * rise * rise);
    }
}

/* Where the cubic is not trusted any more it goes on as a straight line. */
#define TRUSTED 5

static double standard(const assay_choice *o, double s)
{
    return fmin(fmax((s - o->centre) / o->width, -TRUSTED), TRUSTED);
}

static double cubic(const double *c, double x)
{
    return c[0] + x * (c[1] + x * (c[2] + x * c[3]));
}

double assay_work_curve(const assay_choice *o, double s)
{
    double x = (s - o->centre) / o->width, in = standard(o, s);
    const double *c = o->curve;
    double slope = c[1] + TRUSTED * TRUSTED * c[3]; /* of the chord */
    return cubic(c, in) + fmax(slope, 0) * (x - in);
}

/* From the top (events score >= t, `a` in front) or, swapped, from the bottom
 * (score <= t, `b` in front). Looks at masses that grow by 1 %. */
static void walk(sweep *s, const float *a, const float *b, size_t n,
                 int swapped)
{
    size_t i = 0, j = 0;
    double next = 1;
    s->other = 0;
    s->doubt = 0;
    fit_tail(s, swapped ? a : b, n, swapped);
    s->tails.is_set = 0;
    if (!s->o->is_ratio && s->claim->kind == ASSAY_CLAIM_EPS) {
        fit_tails(s, swapped ? b : a, swapped ? a : b, n, swapped);
    }
    while (i < n || j < n) {
        float x = i < n ? a[swapped ? i : n - 1 - i] : 0;
        float y = j < n ? b[swapped ? j : n - 1 - j] : 0;
        float t;
        if (i >= n) {
            t = y;
        } else if (j >= n) {
            t = x;
        } else {
            t = swapped ? (x < y ? x : y) : (x > y ? x : y);
        }
        size_t i0 = i, j0 = j;
        while (i < n && a[swapped ? i : n - 1 - i] == t) {
            i++;
        }
        while (j < n && b[swapped ? j : n - 1 - j] == t) {
            j++;
        }
        if (s->o->is_ratio) {
            double r = assay_work_curve(s->o, (double)t);
            s->other += swapped ? (double)(j - j0) * exp(r)
                                : (double)(i - i0) * exp(-r);
        }
        if (!s->o->is_ratio) {
            use_tails(s, (double)(swapped ? j : i), (double)t, swapped);
        }
        if ((double)(i + j) >= next) {
            consider(s, (double)(swapped ? j : i), (double)(swapped ? i : j), t,
                     swapped);
            next = 1.01 * (double)(i + j);
        }
    }
}

assay_audit_event assay_work_choose(const assay_claim *claim, const float *left,
                                    const float *right, size_t n,
                                    const assay_choice *choice)
{
    sweep s = {
        .claim = claim, .n = (double)n, .o = choice, .best = {.merit = -20}};
    walk(&s, left, right, n, 0);
    walk(&s, left, right, n, 1);
    return s.best;
}

/* The scores are sorted: every stride-th of them has nearly their distribution,
 * much nearer than a sample would. */
#define CALIBRATED 32768
static size_t stride_of(size_t n)
{
    return n / CALIBRATED + 1;
}

/* One Newton step of the logistic regression of degree 1 or 3; returns its
 * size. The higher terms have a prior deviation of 0.15 of the slope. */
static double calibrate_step(assay_choice *o, int degree, const float *left,
                             const float *right, size_t n)
{
    size_t stride = stride_of(n), num = n / stride, p = (size_t)degree + 1;
    double g[4] = {0}, h[16] = {0}, *c = o->curve;
    for (size_t i = 0; i < 2 * num; i++) {
        int is_left = i < num;
        size_t at = (is_left ? i : i - num) * stride + stride / 2;
        double s = standard(o, (double)(is_left ? left[at] : right[at]));
        const double x[4] = {1, s, s * s, s * s * s};
        double r = c[0] + s * (c[1] + s * (c[2] + s * c[3]));
        double q = 1 / (1 + exp(-r));
        for (size_t k = 0; k < p; k++) {
            g[k] += (is_left - q) * x[k];
            for (size_t l = 0; l <= k; l++) {
                h[p * k + l] += q * (1 - q) * x[k] * x[l];
            }
        }
    }
    double prior = 1 / (0.0225 * c[1] * c[1] + 1e-12) / (double)stride;
    for (size_t k = 0; k < p; k++) {
        h[p * k + k] += k < 2 ? 1e-9 : prior;
        g[k] -= k < 2 ? 0 : prior * c[k];
    }
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)p, 1, h, (lapack_int)p,
                      g, 1) != 0) {
        return 0;
    }
    double size = 0;
    for (size_t k = 0; k < p; k++) {
        c[k] += fmin(fmax(g[k], -2), 2);
        size += fabs(g[k]);
    }
    return size;
}

/* Mean and deviation of both sides' scores, outliers clipped. */
static void centre_scores(assay_choice *o, const float *left,
                          const float *right, size_t n)
{
    double sum = 0, square = 0;
    size_t stride = stride_of(n), num = n / stride;
    for (int pass = 0; pass < 2; pass++) {
        double a = 0, b = 0;
        for (size_t i = stride / 2; i < num * stride; i += stride) {
            double x = (double)left[i], y = (double)right[i];
            if (pass == 1) {
                double lo = sum - 5 * square, hi = sum + 5 * square;
                x = fmin(fmax(x, lo), hi);
                y = fmin(fmax(y, lo), hi);
            }
            a += x + y;
            b += x * x + y * y;
        }
        sum = a / (2 * (double)num);
        square = sqrt(fmax(b / (2 * (double)num) - sum * sum, 0));
    }
    o->centre = sum;
    o->width = square > 0 ? square : 1;
}

void assay_work_calibrate(assay_choice *choice, const float *left,
                          const float *right, size_t n)
{
    double *c = choice->curve;
    memset(c, 0, sizeof choice->curve);
    centre_scores(choice, left, right, n);
    for (int it = 0; it < 9; it++) {
        int degree = it < 4 || choice->straight ? 1 : 3;
        double moved = calibrate_step(choice, degree, left, right, n);
        if (it >= 4 && moved < 1e-6) {
            break;
        }
    }
    choice->is_ratio = isfinite(c[0] + c[1] + c[2] + c[3]);
}
