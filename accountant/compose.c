/* ring: glue */
#include "accountant/compose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/fft.h"
#include "accountant/numeric.h"
#include "accountant/pmf_parts.h"

#define MAX_LENGTH 22
#define UNIT 0x1p-53
#define MAX_PEAKS 12
#define TINY 1e-250 /* squared modulus below which a factor is zero */

/* ---- doubles, for choices only ---- */

static double near_one(const assay_pmf *pmf, int bits, double tilt)
{
    double top = -INFINITY;
    double sum = 0.0;
    double h = ldexp(1.0, -bits);
    for (size_t i = 0; i < pmf->num; i++) {
        double e = tilt * h * (double)pmf->index[i] + log(pmf->mass[i]);
        if (e > top) {
            sum = sum * exp(top - e) + 1.0;
            top = e;
        } else {
            sum += exp(e - top);
        }
    }
    return pmf->num > 0 ? top + log(sum) : -1e300;
}

double assay_compose_near(const assay_part *parts, size_t num_parts, int bits,
                          double tilt)
{
    double sum = 0.0;
    for (size_t i = 0; i < num_parts; i++) {
        sum += (double)parts[i].count * near_one(parts[i].pmf, bits, tilt);
    }
    return sum;
}

double assay_compose_tilt(const assay_part *parts, size_t num_parts, int bits,
                          double epsilon, double start)
{
    double low = log(start) - 7.0;
    double high = log(start) + 4.0;
    for (int i = 0; i < 16; i++) {
        double a = low + 0.381966 * (high - low);
        double b = high - 0.381966 * (high - low);
        double fa = assay_compose_near(parts, num_parts, bits, exp(a)) -
                    exp(a) * epsilon;
        double fb = assay_compose_near(parts, num_parts, bits, exp(b)) -
                    exp(b) * epsilon;
        if (fa < fb) {
            high = b;
        } else {
            low = a;
        }
    }
    return exp(0.5 * (low + high));
}

/* The smallest bound on |L| on one side with log mass below `goal` by Markov:
   min over s of (K(base + side s) - shift - goal) / s. *best is that s. */
static double reach(const assay_part *parts, size_t num_parts, int bits,
                    double base, double shift, int side, double goal,
                    double start, double *best)
{
    double low = log(start) - 7.0;
    double high = log(start) + 5.0;
    double found = INFINITY;
    for (int i = 0; i < 14; i++) {
        double s[2] = {low + 0.381966 * (high - low),
                       high - 0.381966 * (high - low)};
        double f[2];
        for (int k = 0; k < 2; k++) {
            double e = exp(s[k]);
            f[k] =
                (assay_compose_near(parts, num_parts, bits, base + side * e) -
                 shift - goal) /
                e;
            f[k] = isnan(f[k]) ? INFINITY : f[k];
            if (f[k] < found) {
                found = f[k];
                *best = e;
            }
        }
        if (f[0] < f[1]) {
            high = s[1];
        } else {
            low = s[0];
        }
    }
    return found;
}

/* ---- the transform ---- */

typedef struct work {
    assay_fft fft;
    size_t n;
    assay_complex *x;
    assay_complex *product;
    double theta;
    double weighted;  /* sum of n_i e_i */
    double relative;  /* sum of 2.1 n_i f_i e^{2 n_i (e_i + f_i)} */
    double small;     /* sum of n_i f_i 0.51^(n_i - 1) */
    double log_bound; /* log of prod (s_i + e_i)^{n_i} */
    double mults;     /* complex products per point */
    int lower;        /* round masses down */
} work;

static void work_clear(work *w)
{
    assay_fft_clear(&w->fft);
    free(w->x);
    free(w->product);
}

static assay_status work_init(work *w, unsigned length, assay_error *err)
{
    memset(w, 0, sizeof *w);
    w->n = (size_t)1 << length;
    assay_status status = assay_fft_init(&w->fft, length, err);
    w->x = calloc(w->n, sizeof *w->x);
    w->product = malloc(w->n * sizeof *w->product);
    if (status == ASSAY_OK && (w->x == NULL || w->product == NULL)) {
        (void)assay_fail(err, ASSAY_MEMORY, "no memory for a convolution");
        status = ASSAY_MEMORY;
    }
    if (status != ASSAY_OK || w->product == NULL) {
        work_clear(w);
        return status;
    }
    w->theta = assay_fft_error(length);
    for (size_t i = 0; i < w->n; i++) {
        w->product[i] = (assay_complex){1.0, 0.0};
    }
    return ASSAY_OK;
}

/* x[j mod N] += up(p[j] e^{t j h} / M), M a dyadic near the moment; its
   logarithm times the count is added to log_scale. */
static void load(work *w, const assay_part *part, int bits, double tilt,
                 arb_t log_scale)
{
    const assay_pmf *pmf = part->pmf;
    slong prec = 96;
    arb_t e, t, scale;
    arb_init(e);
    arb_init(t);
    arb_init(scale);
    double log_m = near_one(pmf, bits, tilt);
    arb_set_d(scale, log_m);
    arb_set_ui(t, part->count);
    arb_addmul(log_scale, scale, t, ASSAY_PREC);
    arb_set_d(t, tilt);
    arb_mul_2exp_si(t, t, -bits);
    memset(w->x, 0, w->n * sizeof *w->x);
    for (size_t i = 0; i < pmf->num; i++) {
        arb_mul_si(e, t, pmf->index[i], prec);
        arb_sub(e, e, scale, prec);
        arb_exp(e, e, prec);
        double factor = w->lower ? assay_ball_down(e) : assay_ball_up(e);
        size_t at = (size_t)pmf->index[i] & (w->n - 1);
        double toward = w->lower ? 0.0 : INFINITY;
        w->x[at].re = nextafter(
            w->x[at].re + nextafter(pmf->mass[i] * factor, toward), toward);
    }
    arb_clear(e);
    arb_clear(t);
    arb_clear(scale);
}

/* The largest entries are transformed by themselves: an atom r at j has the
   transform r w^{jk}, wrong by a few units in the last place at every point,
   while the error of a fast transform is spread over all points. */
typedef struct peak {
    size_t at;
    double mass;
} peak;

static size_t take_peaks(work *w, peak peaks[MAX_PEAKS])
{
    size_t num = 0;
    for (size_t i = 0; i < w->n; i++) {
        double m = w->x[i].re;
        if (m <= 0.0 || (num == MAX_PEAKS && m <= peaks[num - 1].mass)) {
            continue;
        }
        size_t k = num < MAX_PEAKS ? num++ : num - 1;
        for (; k > 0 && peaks[k - 1].mass < m; k--) {
            peaks[k] = peaks[k - 1];
        }
        peaks[k] = (peak){i, m};
    }
    for (size_t k = 0; k < num; k++) {
        w->x[peaks[k].at].re = 0.0;
    }
    return num;
}

/* What the transform of the rest (l2: e) and of the peaks (pointwise: f) may be
   wrong by. |X| <= sum + e + f at every point. */
static void charge(work *w, const peak *peaks, size_t num_peaks, double count)
{
    double sum = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < w->n; i++) {
        sum += w->x[i].re;
        squares += w->x[i].re * w->x[i].re;
    }
    for (size_t k = 0; k < num_peaks; k++) {
        sum += peaks[k].mass;
    }
    double slack = 1.0 + 4.0 * (double)w->n * UNIT;
    double e = w->theta * sqrt((double)w->n) * sqrt(squares) * slack * slack;
    double f = ((double)num_peaks + 6.0) * UNIT * (sum * slack + e);
    w->weighted += count * e * 1.0000001;
    w->relative += 2.1 * count * f * exp(fmin(2.0 * count * (e + f), 700.0));
    w->small += 1.01 * count * f * pow(0.51, count - 1.0);
    w->log_bound +=
        fmax(0.0, count * log(sum * slack + e + f)) * 1.0000001 + 1e-12;
}

static inline assay_complex product(assay_complex a, assay_complex b)
{
    return (assay_complex){a.re * b.re - a.im * b.im,
                           a.re * b.im + a.im * b.re};
}

static inline int negligible(assay_complex a)
{
    return a.re * a.re + a.im * a.im < TINY;
}

/* product *= z^n; a factor below 1e-125 makes it zero (charged in finish) */
static assay_complex times_power(assay_complex out, assay_complex z, uint64_t n)
{
    for (; n > 0; n >>= 1) {
        if (negligible(z) || negligible(out)) {
            return (assay_complex){0.0, 0.0};
        }
        if (n & 1) {
            out = product(out, z);
        }
        if (n > 1) {
            z = product(z, z);
        }
    }
    return out;
}

/* Adds the peaks' transforms; the result is in the order of the transform, so
   frequencies are found by reversing digits. */
static void add_peaks(work *w, const peak *peaks, size_t num_peaks)
{
    const assay_complex *twiddles = w->fft.twiddles;
    for (size_t i = 0; i < w->n; i++) {
        size_t k = assay_fft_frequency(&w->fft, i);
        assay_complex z = w->x[i];
        for (size_t j = 0; j < num_peaks; j++) {
            assay_complex t = twiddles[(k * peaks[j].at) & (w->n - 1)];
            z.re += peaks[j].mass * t.re;
            z.im += peaks[j].mass * t.im;
        }
        w->x[i] = z;
    }
}

static void multiply_part(work *w, const assay_part *part, int bits,
                          double tilt, arb_t log_scale)
{
    peak peaks[MAX_PEAKS];
    load(w, part, bits, tilt, log_scale);
    size_t num_peaks = take_peaks(w, peaks);
    charge(w, peaks, num_peaks, (double)part->count);
    w->mults += (double)part->count + 1.0;
    assay_fft_forward(&w->fft, w->x);
    add_peaks(w, peaks, num_peaks);
    for (size_t i = 0; i < w->n; i++) {
        w->product[i] = times_power(w->product[i], w->x[i], part->count);
    }
}

/* Transforms back into window order and bounds the error. With B a bound on all
   |prod X_i^{n_i}|, C the computed product, and an error d_k + f_i at point k
   (||d|| <= e_i): |z^n - (z-D)^n| <= n |D| (|z|+|D|)^{n-1}; where |z| >= 1/2
   the part with f is at most 2 n f |z|^n e^{2n(e+f)}, elsewhere n f 0.51^{n-1}.
   So
   ||dC|| <= B sum n_i e_i + sum 2.1 n_i f_i e^{2 n_i (e_i+f_i)} ||C||
             + B sqrt(N) sum n_i f_i 0.51^{n_i-1} + rho ||C|| + N 1e-100,
   rho = sqrt(5) u per product; then theta ||C|| for the way back; all over
   sqrt(N). */
static assay_status finish(assay_composed *out, work *w, assay_error *err)
{
    double squares = 0.0;
    for (size_t i = 0; i < w->n; i++) {
        squares += w->product[i].re * w->product[i].re +
                   w->product[i].im * w->product[i].im;
    }
    double norm = sqrt(squares) * (1.0 + 4.0 * (double)w->n * UNIT);
    double rho = w->mults * 2.2360679775 * UNIT;
    if (w->log_bound > 1.0 || rho > 0.01 || w->relative > 0.01) {
        return assay_fail(err, ASSAY_RANGE,
                          "pld: too many events for the transform's error");
    }
    rho *= 1.03;
    double root = sqrt((double)w->n);
    double error = exp(w->log_bound) * (w->weighted + w->small * root) +
                   (rho + w->relative) * 1.02 * norm + (double)w->n * 1e-100;
    assay_fft_backward(&w->fft, w->product);
    out->error2 = (error + w->theta * (norm + error)) / root * 1.000001;
    out->x = malloc((w->n + 1) * sizeof *out->x);
    if (out->x == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a convolution");
    }
    double inverse = 1.0 / (double)w->n;
    double total = 0.0;
    for (size_t i = 0; i < w->n; i++) {
        size_t at = (size_t)(out->first + (int64_t)i) & (w->n - 1);
        out->x[i] = w->product[at].re * inverse;
        total += fabs(out->x[i]);
    }
    out->total = total * 1.000001 + root * out->error2;
    return ASSAY_OK;
}

/* log prod E[e^{s loss}]^{n_i} as a ball; `lost` gets the masses at infinity */
static void log_moment(arb_t out, arb_t lost, const assay_part *parts,
                       size_t num_parts, int bits, double s)
{
    slong prec = 96;
    arb_t sum, e, t, n, mass;
    arb_init(sum);
    arb_init(e);
    arb_init(t);
    arb_init(n);
    arb_init(mass);
    arb_zero(out);
    arb_zero(lost);
    arb_set_d(t, s);
    arb_mul_2exp_si(t, t, -bits);
    for (size_t i = 0; i < num_parts; i++) {
        const assay_pmf *pmf = parts[i].pmf;
        arb_zero(sum);
        for (size_t j = 0; j < pmf->num; j++) {
            arb_mul_si(e, t, pmf->index[j], prec);
            arb_exp(e, e, prec);
            arb_set_d(mass, pmf->mass[j]);
            arb_addmul(sum, e, mass, prec);
        }
        arb_log(sum, sum, prec);
        arb_set_ui(n, parts[i].count);
        arb_addmul(out, sum, n, prec);
        arb_set_d(e, pmf->infinite);
        arb_addmul(lost, e, n, prec);
    }
    arb_clear(sum);
    arb_clear(e);
    arb_clear(t);
    arb_clear(n);
    arb_clear(mass);
}

/* out += e^{log_moment(order) - a - b} */
static void add_markov(arb_t out, const assay_part *parts, size_t num_parts,
                       int bits, double order, double a, double b)
{
    slong prec = 96;
    arb_t log_total, lost, t;
    arb_init(log_total);
    arb_init(lost);
    arb_init(t);
    log_moment(log_total, lost, parts, num_parts, bits, order);
    arb_set_d(t, a);
    arb_sub(log_total, log_total, t, prec);
    arb_set_d(t, b);
    arb_sub(log_total, log_total, t, prec);
    arb_exp(t, log_total, prec);
    arb_add(out, out, t, prec);
    arb_clear(log_total);
    arb_clear(lost);
    arb_clear(t);
}

/* e^{-s top} prod E[e^{s loss}]^{n_i}, plus the masses at infinity */
static void bound_rest(arb_t out, const assay_part *parts, size_t num_parts,
                       int bits, double s, int64_t top)
{
    slong prec = 96;
    arb_t log_total, lost, t;
    arb_init(log_total);
    arb_init(lost);
    arb_init(t);
    log_moment(log_total, lost, parts, num_parts, bits, s);
    arb_set_d(t, s);
    arb_mul_2exp_si(t, t, -bits);
    arb_mul_si(t, t, top, prec);
    arb_sub(log_total, log_total, t, prec);
    arb_exp(out, log_total, prec);
    arb_add(out, out, lost, prec);
    arb_clear(log_total);
    arb_clear(lost);
    arb_clear(t);
}

/* Bottom, top and length of a window for one tilt: a mass of e^log_lost lies
   above it, e^-18 of the tilted sum below it, and what folds back from beyond
   epsilon + length adds e^log_lost to delta. */
typedef struct window {
    double bottom, top, length, s;
    double below, fold; /* the orders of Markov's bound on either side */
} window;

static window window_for(const assay_part *parts, size_t num_parts, int bits,
                         double t, double epsilon, double log_lost)
{
    window w = {0};
    double k = assay_compose_near(parts, num_parts, bits, t);
    double h = ldexp(1.0, -bits);
    w.top = reach(parts, num_parts, bits, 0.0, 0.0, 1, log_lost,
                  fmax(2.0 * t, 0.3), &w.s);
    w.bottom =
        -reach(parts, num_parts, bits, t, k, -1, -18.0, fmax(t, 0.1), &w.below);
    double fold = reach(parts, num_parts, bits, t, k, 1,
                        log_lost - (k - t * epsilon), fmax(t, 0.1), &w.fold);
    w.top = fmax(w.top, epsilon + 4.0 * h);
    w.bottom = fmin(w.bottom, epsilon - 4.0 * h);
    w.length = fmax(w.top - w.bottom, fold - epsilon);
    return w;
}

/* A smaller tilt folds less; it costs accuracy, of which there is plenty. */
static assay_status choose_window(assay_composed *out, const assay_part *parts,
                                  size_t num_parts, double epsilon,
                                  double log_lost, window *best_out,
                                  assay_error *err)
{
    double h = ldexp(1.0, -out->bits);
    double t = out->tilt;
    window best = {.length = INFINITY};
    double first = INFINITY;
    double tilt = t;
    for (int i = 0; i < 6; i++, tilt *= 0.6) {
        double k = assay_compose_near(parts, num_parts, out->bits, tilt);
        first = fmin(first, k - tilt * epsilon);
        if (k - tilt * epsilon - first > 6.0) {
            break;
        }
        window w =
            window_for(parts, num_parts, out->bits, tilt, epsilon, log_lost);
        if (!(w.length < 0.75 * best.length)) {
            continue;
        }
        best = w;
        out->tilt = tilt;
    }
    double points = best.length / h + 16.0;
    out->length = 6;
    while (out->length <= MAX_LENGTH && ldexp(1.0, (int)out->length) < points) {
        out->length++;
    }
    if (out->length > MAX_LENGTH || !isfinite(points)) {
        return assay_fail(err, ASSAY_RANGE,
                          "pld: the grid would need more than 2^%d points",
                          MAX_LENGTH);
    }
    *best_out = best;
    out->first = (int64_t)floor(best.bottom / h);
    return ASSAY_OK;
}

/* What folding may have added to delta at any epsilon from `epsilon` on:
   e^{-t eps} (E[e^{tL}; L > eps + N h] + E[e^{tL}; L < first]). */
static void bound_fold(assay_composed *out, const assay_part *parts,
                       size_t num_parts, const window *w, double epsilon)
{
    double h = ldexp(1.0, -out->bits);
    double t = out->tilt;
    double high = epsilon + ldexp(1.0, (int)out->length) * h - h;
    double low = (double)out->first * h;
    /* doubles only choose the exponent's parts; a relative 2^-50 is added */
    double up = w->fold * high;
    double down = -w->below * low;
    add_markov(out->fold, parts, num_parts, out->bits, t + w->fold,
               up - fabs(up) * 0x1p-49, t * epsilon - t * epsilon * 0x1p-49);
    add_markov(out->fold, parts, num_parts, out->bits, t - w->below,
               down - fabs(down) * 0x1p-49,
               t * epsilon - t * epsilon * 0x1p-49);
}

assay_status assay_compose(assay_composed *out, const assay_part *parts,
                           size_t num_parts, int bits, double tilt,
                           double epsilon, double log_lost, int lower,
                           assay_error *err)
{
    window chosen = {0};
    work w;
    memset(out, 0, sizeof *out);
    arb_init(out->log_scale);
    arb_init(out->extra);
    arb_init(out->fold);
    out->bits = bits;
    out->tilt = tilt;
    assay_status status =
        choose_window(out, parts, num_parts, epsilon, log_lost, &chosen, err);
    if (status == ASSAY_OK) {
        status = work_init(&w, out->length, err);
    }
    if (status == ASSAY_OK) {
        w.lower = lower;
        for (size_t i = 0; i < num_parts; i++) {
            multiply_part(&w, &parts[i], bits, out->tilt, out->log_scale);
        }
        status = finish(out, &w, err);
        work_clear(&w);
    }
    if (status != ASSAY_OK) {
        assay_composed_clear(out);
    } else if (lower) {
        bound_fold(out, parts, num_parts, &chosen, 0.9 * epsilon);
    } else {
        bound_rest(out->extra, parts, num_parts, bits, chosen.s,
                   out->first + ((int64_t)1 << out->length));
    }
    return status;
}

void assay_composed_clear(assay_composed *composed)
{
    free(composed->x);
    composed->x = NULL;
    arb_clear(composed->log_scale);
    arb_clear(composed->extra);
    arb_clear(composed->fold);
}

/* ---- delta at epsilon ---- */

/* e^{-rate d} to 2^-63, from a ball */
static long double long_exp(double rate, long double d)
{
    arb_t x, y;
    arf_t high;
    arb_init(x);
    arb_init(y);
    arf_init(high);
    arb_set_d(x, (double)d);
    arb_set_d(y, (double)(d - (long double)(double)d));
    arb_add(x, x, y, 192);
    arb_set_d(y, -rate);
    arb_mul(x, x, y, 192);
    arb_clear(y);
    arb_exp(x, x, 128);
    double top = arf_get_d(arb_midref(x), ARF_RND_NEAR);
    arf_set_d(high, top);
    arf_sub(high, arb_midref(x), high, 128, ARF_RND_NEAR);
    long double out = (long double)top + arf_get_d(high, ARF_RND_NEAR);
    arb_clear(x);
    arf_clear(high);
    return out;
}

typedef struct sums {
    long double value;  /* sum w_j x_j */
    long double size;   /* sum e^{-t d_j} |x_j| */
    long double square; /* sum w_j^2 */
    long double last;   /* e^{-t d} where the sum was cut */
    double terms;
} sums;

static sums add_up(const assay_composed *c, double epsilon)
{
    size_t n = (size_t)1 << c->length;
    double h = ldexp(1.0, -c->bits);
    double from = floor(epsilon / h) + 1.0 - (double)c->first;
    sums s = {0};
    long double a = long_exp(c->tilt, (long double)h);
    long double b = long_exp(1.0, (long double)h);
    if (from >= (double)n) {
        return s;
    }
    size_t start = from > 0.0 ? (size_t)from : 0;
    long double d = (long double)h * (long double)(c->first + (int64_t)start) -
                    (long double)epsilon;
    long double u = long_exp(c->tilt, d);
    long double v = long_exp(1.0, d);
    size_t i = start;
    for (; i < n && u > 1e-30L; i++) {
        long double w = u * (1.0L - v);
        long double x = (long double)c->x[i];
        s.value += w * x;
        s.size += u * fabsl(x);
        s.square += w * w;
        u *= a;
        v *= b;
    }
    /* what underflows is still charged */
    s.last = i < n ? fmaxl(u, 1e-300L) : 0.0L;
    s.terms = (double)(i - start) + 16.0;
    return s;
}

/* The value of the sum and what must be charged for errors, times F. */
static void value_and_charge(arb_t value, arb_t charges,
                             const assay_composed *c, double epsilon)
{
    slong prec = 96;
    arb_t t, e;
    sums s = add_up(c, epsilon);
    /* rounding: each u, v, w is within (terms + 16) 2^-61 of the truth */
    double rounding = (double)s.size * s.terms * 0x1p-59;
    double noise = c->error2 * sqrt((double)s.square) * 1.000001;
    double cut = (double)s.last * c->total * 1.01;
    arb_init(t);
    arb_init(e);
    arb_set_d(value, (double)s.value);
    arb_set_d(charges,
              rounding + noise + cut + fabs((double)s.value) * 3e-16 + 1e-300);
    arb_set_d(t, c->tilt);
    arb_set_d(e, epsilon);
    arb_mul(t, t, e, prec);
    arb_sub(t, c->log_scale, t, prec);
    arb_exp(t, t, prec);
    arb_mul(value, value, t, prec);
    arb_mul(charges, charges, t, prec);
    arb_clear(e);
    arb_clear(t);
}

/* Losses above epsilon but below the window would fold to its top and be
   untilted there, which makes them smaller: no answer then. */
static int window_holds(const assay_composed *c, double epsilon)
{
    return floor(ldexp(epsilon, c->bits)) + 1.0 >= (double)c->first;
}

void assay_composed_delta(arb_t out, const assay_composed *c, double epsilon)
{
    slong prec = 96;
    arb_t charges;
    if (!window_holds(c, epsilon)) {
        arb_indeterminate(out);
        return;
    }
    arb_init(charges);
    value_and_charge(out, charges, c, epsilon);
    arb_add(charges, charges, out, prec);
    arb_add(charges, charges, c->extra, prec);
    arb_union(out, out, charges, prec);
    arb_clear(charges);
}

void assay_composed_delta_lower(arb_t out, const assay_composed *c,
                                double epsilon)
{
    slong prec = 96;
    arb_t charges;
    arb_init(charges);
    value_and_charge(out, charges, c, epsilon);
    arb_sub(out, out, charges, prec);
    arb_sub(out, out, c->fold, prec);
    arb_clear(charges);
}
