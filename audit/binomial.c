/* ring: glue */
#include "audit/binomial.h"

#include <math.h>
#include <mpfr.h>

#define PREC 192

double assay_normal_cdf(double x)
{
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* Acklam's rational start (1e-9), then two Halley steps on erfc. */
static double quantile_start(double u)
{
    static const double a[6] = {-3.969683028665376e+01, 2.209460984245205e+02,
                                -2.759285104469687e+02, 1.383577518672690e+02,
                                -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[5] = {-5.447609879822406e+01, 1.615858368580409e+02,
                                -1.556989798598866e+02, 6.680131188771972e+01,
                                -1.328068155288572e+01};
    static const double c[6] = {-7.784894002430293e-03, -3.223964580411365e-01,
                                -2.400758277161838e+00, -2.549732539343734e+00,
                                4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[4] = {7.784695709041462e-03, 3.224671290700398e-01,
                                2.445134137142996e+00, 3.754408661907416e+00};
    if (u < 0.02425) {
        double q = sqrt(-2 * log(u));
        return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q +
                c[5]) /
               ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    }
    double q = u - 0.5;
    double r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r +
            a[5]) *
           q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

double assay_normal_quantile(double u)
{
    if (!(u > 0)) {
        return -INFINITY;
    }
    if (!(u < 1)) {
        return INFINITY;
    }
    if (u > 0.5) {
        return -assay_normal_quantile(1 - u);
    }
    double x = quantile_start(u);
    for (int i = 0; i < 2; i++) {
        double e = assay_normal_cdf(x) - u;
        double h = e * 2.50662827463100050242 * exp(0.5 * x * x);
        x -= h / (1 + 0.5 * x * h);
    }
    return x;
}

/* The same in long double: for n <= SMALL the sum is below 2^18 and its error
 * below 2^18 * 2^-62 * 8 < 1e-12. */
#define SMALL 20000

static double point_mass_small(uint64_t k, uint64_t n, double p)
{
    long double a = (long double)k, b = (long double)(n - k);
    long double x = lgammal((long double)n + 1) - lgammal(a + 1) -
                    lgammal(b + 1) + a * logl(p) + b * log1pl(-(long double)p);
    return (double)expl(x);
}

/* log (n choose k). Solving for p asks for the same few again and again: they
 * are kept, each as the sum of two long doubles, good to 2^-126 of the
 * logarithm, which is far more than a mass needs. */
#define KEPT 4

typedef struct kept_choose {
    uint64_t k, n; /* n = 0: none */
    long double high, low;
} kept_choose;

static void log_choose(mpfr_t sum, uint64_t k, uint64_t n)
{
    static _Thread_local kept_choose kept[KEPT];
    kept_choose *c = &kept[k % KEPT];
    mpfr_t x, y;
    mpfr_inits2(PREC, x, y, (mpfr_ptr)0);
    const uint64_t at[3] = {n, k, n - k};
    if (c->k == k && c->n == n) {
        mpfr_set_ld(sum, c->high, MPFR_RNDN);
        mpfr_set_ld(x, c->low, MPFR_RNDN);
        mpfr_add(sum, sum, x, MPFR_RNDN);
        mpfr_clears(x, y, (mpfr_ptr)0);
        return;
    }
    for (int i = 0; i < 3; i++) {
        mpfr_set_ui(x, (unsigned long)at[i], MPFR_RNDN);
        mpfr_add_ui(x, x, 1, MPFR_RNDN);
        mpfr_lngamma(y, x, MPFR_RNDN);
        if (i == 0) {
            mpfr_set(sum, y, MPFR_RNDN);
        } else {
            mpfr_sub(sum, sum, y, MPFR_RNDN);
        }
    }
    c->k = k;
    c->n = n;
    c->high = mpfr_get_ld(sum, MPFR_RNDN);
    mpfr_set_ld(x, c->high, MPFR_RNDN);
    mpfr_sub(x, sum, x, MPFR_RNDN);
    c->low = mpfr_get_ld(x, MPFR_RNDN);
    mpfr_clears(x, y, (mpfr_ptr)0);
}

/* P[Bin(n,p) = k] by MPFR; 0 < p < 1, 0 <= k <= n. */
static double point_mass(uint64_t k, uint64_t n, double p)
{
    if (n <= SMALL) {
        return point_mass_small(k, n, p);
    }
    mpfr_t sum, x, y;
    mpfr_inits2(PREC, sum, x, y, (mpfr_ptr)0);
    log_choose(sum, k, n);
    mpfr_set_d(x, p, MPFR_RNDN);
    mpfr_log(y, x, MPFR_RNDN);
    mpfr_mul_ui(y, y, (unsigned long)k, MPFR_RNDN);
    mpfr_add(sum, sum, y, MPFR_RNDN);
    mpfr_neg(x, x, MPFR_RNDN);
    mpfr_log1p(y, x, MPFR_RNDN);
    mpfr_mul_ui(y, y, (unsigned long)(n - k), MPFR_RNDN);
    mpfr_add(sum, sum, y, MPFR_RNDN);
    mpfr_exp(sum, sum, MPFR_RNDN);
    double mass = mpfr_get_d(sum, MPFR_RNDN);
    mpfr_clears(sum, x, y, (mpfr_ptr)0);
    return mass;
}

/* The number of terms limits the relative error of the recurrence: four
 * roundings a term, 2^-53 each. 1e-12 covers head and summation too. */
static double error_of(double terms)
{
    return 1e-12 + 1e-15 * terms;
}

/*
 * Sum of point masses from k away from the mean: upwards (k, k+1, ..., n) or
 * downwards (k, k-1, ..., 0). Exact enclosure [*low, *high].
 */
static void tail_sum(uint64_t k, uint64_t n, double p, int up, double *low,
                     double *high)
{
    double head = point_mass(k, n, p);
    double odds = p / (1 - p);
    double sum = 1, term = 1, terms = 1;
    uint64_t j = k;
    while (up ? j < n : j > 0) {
        double r = up ? (double)(n - j) / (double)(j + 1) * odds
                      : (double)j / (double)(n - j + 1) / odds;
        term *= r;
        sum += term;
        terms += 1;
        j = up ? j + 1 : j - 1;
        if (r < 1 && term * r / (1 - r) < 1e-13 * sum) {
            break;
        }
    }
    double err = error_of(terms) + 2e-13;
    *low = head * sum * (1 - err);
    *high = head * sum * (1 + err) + 1e-300;
}

double assay_binomial_at_least(uint64_t k, uint64_t n, double p)
{
    if (k == 0 || p >= 1) {
        return 1;
    }
    if (k > n || p <= 0) {
        return 0;
    }
    double low, high;
    if ((double)k >= (double)n * p) {
        tail_sum(k, n, p, 1, &low, &high);
        return high < 1 ? high : 1;
    }
    tail_sum(k - 1, n, p, 0, &low, &high);
    return 1 - low * (1 - 1e-15) + 1e-16;
}

double assay_binomial_at_most(uint64_t k, uint64_t n, double p)
{
    if (k >= n || p <= 0) {
        return 1;
    }
    if (p >= 1) {
        return 0;
    }
    double low, high;
    if ((double)k <= (double)n * p) {
        tail_sum(k, n, p, 0, &low, &high);
        return high < 1 ? high : 1;
    }
    tail_sum(k + 1, n, p, 1, &low, &high);
    return 1 - low * (1 - 1e-15) + 1e-16;
}

typedef double (*tail_fn)(uint64_t, uint64_t, double);

/*
 * The p where tail(p) = level, on the side where tail(p) <= level for certain.
 * `grows` says whether the tail grows with p. Safeguarded secant steps on the
 * probit of the tail, which is nearly linear in asin(sqrt(p)).
 */
static double solve(tail_fn tail, uint64_t k, uint64_t n, double level,
                    int grows, double a)
{
    double lo = 0, hi = 1.57079632679489661923;
    double target = assay_normal_quantile(level);
    double slope = 2 * sqrt((double)n) * (grows ? 1 : -1);
    double good = grows ? 0 : 1;
    double last_a = -1, last_v = 0;
    for (int i = 0; i < 80 && hi - lo > 1e-15; i++) {
        if (!(a > lo && a < hi)) {
            a = 0.5 * (lo + hi);
        }
        double p = sin(a) * sin(a);
        double u = tail(k, n, p);
        if (u <= level) {
            good = grows ? fmax(good, p) : fmin(good, p);
        }
        if ((u <= level) == (grows != 0)) {
            lo = a;
        } else {
            hi = a;
        }
        if (u <= level && u > level * (1 - 1e-7)) {
            break;
        }
        double v = assay_normal_quantile(u) - target;
        if (last_a >= 0 && isfinite(v) && isfinite(last_v) && a != last_a &&
            v != last_v) {
            slope = (v - last_v) / (a - last_a);
        }
        last_a = a;
        last_v = v;
        /* aim a hair inside the safe side */
        a = isfinite(v) ? a - (v + 1e-9 * (1 + fabs(target))) / slope
                        : 0.5 * (lo + hi);
    }
    return good;
}

static double start_angle(uint64_t k, uint64_t n, double z)
{
    double f = ((double)k + (z > 0 ? 0.75 : 0.25)) / ((double)n + 1);
    return asin(sqrt(f)) + z / (2 * sqrt((double)n));
}

double assay_binomial_lower(uint64_t k, uint64_t n, double level)
{
    if (k == 0 || n == 0 || !(level > 0)) {
        return 0;
    }
    double a = start_angle(k, n, assay_normal_quantile(level));
    return solve(assay_binomial_at_least, k, n, level, 1, a);
}

double assay_binomial_upper(uint64_t k, uint64_t n, double level)
{
    if (k >= n || n == 0 || !(level > 0)) {
        return 1;
    }
    double a = start_angle(k, n, -assay_normal_quantile(level));
    return solve(assay_binomial_at_most, k, n, level, 0, a);
}
