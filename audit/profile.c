/* ring: glue */
/* Anytime-valid test, Renyi profile and one-run audit (bound.h). */
#include <math.h>

#include "audit/binomial.h"
#include "audit/bound.h"

/* ---- anytime-valid ------------------------------------------------------- */

#define NUM_BETTORS 40

/* Rounded down: the error of four products of a count and a log1p is below
 * 1e-14 of the sum of their sizes. */
static double log_wealth_one(double lambda, double ratio, double delta,
                             const assay_pairs *pairs)
{
    const double x[4] = {1 - ratio - delta, 1 - delta, -ratio - delta, -delta};
    const uint64_t count[4] = {pairs->both, pairs->left, pairs->right,
                               pairs->none};
    double sum = 0, size = 0;
    for (int i = 0; i < 4; i++) {
        if (count[i] > 0) {
            double term = (double)count[i] * log1p(lambda * x[i]);
            sum += term;
            size += fabs(term);
        }
    }
    return sum - 1e-14 * size;
}

double assay_bound_log_wealth(double eps, double delta,
                              const assay_pairs *pairs)
{
    double ratio = exp(eps) * (1 + 1e-15);
    double cap = 0.999 / (ratio + delta);
    double best = -INFINITY, sum = 0;
    double w[NUM_BETTORS];
    for (int i = 0; i < NUM_BETTORS; i++) {
        double lambda = cap * pow(2.0, -0.5 * i); /* cap ... cap 2^-19.5 */
        w[i] = log_wealth_one(lambda, ratio, delta, pairs);
        best = fmax(best, w[i]);
    }
    for (int i = 0; i < NUM_BETTORS; i++) {
        sum += exp(w[i] - best);
    }
    return best + log(sum / NUM_BETTORS) - 1e-12;
}

double assay_bound_anytime(double delta, const assay_pairs *pairs, double level)
{
    double need = log(1 / level) + 1e-12;
    if (assay_bound_log_wealth(0, delta, pairs) < need) {
        return 0;
    }
    /* every epsilon below the result must be refuted: walk up, then bisect */
    double lo = 0, hi = 0;
    while (hi < 60) {
        hi = lo + fmax(0.002, 0.01 * lo);
        if (assay_bound_log_wealth(hi, delta, pairs) < need) {
            break;
        }
        lo = hi;
    }
    return lo;
}

/* ---- Renyi profile ------------------------------------------------------- */

typedef struct moments {
    double mean, variance, range, n;
} moments;

static moments moments_of(const double *g, const uint64_t *count,
                          size_t num_bins, double power)
{
    moments m = {0, 0, 0, 0};
    double lo = INFINITY, hi = -INFINITY, sum = 0, square = 0;
    for (size_t i = 0; i < num_bins; i++) {
        double x = exp(power * g[i]);
        lo = fmin(lo, x);
        hi = fmax(hi, x);
        m.n += (double)count[i];
        sum += (double)count[i] * x;
    }
    m.mean = sum / m.n;
    for (size_t i = 0; i < num_bins; i++) {
        double d = exp(power * g[i]) - m.mean;
        square += (double)count[i] * d * d;
    }
    m.variance = square / (m.n - 1);
    m.range = hi - lo;
    return m;
}

/* Maurer and Pontil 2009, Theorem 4: one side, level `level`. */
static double slack_of(const moments *m, double level)
{
    double l = log(2 / level);
    return sqrt(2 * m->variance * l / m->n) +
           7 * m->range * l / (3 * (m->n - 1));
}

double assay_bound_renyi(const double *g, const uint64_t *left,
                         const uint64_t *right, size_t num_bins, double alpha,
                         double level)
{
    moments p = moments_of(g, left, num_bins, alpha - 1);
    moments q = moments_of(g, right, num_bins, alpha);
    if (!(p.n > 1) || !(q.n > 1)) {
        return 0;
    }
    double low = p.mean - slack_of(&p, level / 2);
    double high = q.mean + slack_of(&q, level / 2);
    if (!(low > 0)) {
        return 0;
    }
    double d = alpha / (alpha - 1) * log(low) - log(high);
    double rho = d / alpha - 1e-9;
    return rho > 0 ? rho : 0;
}

/* ---- one run ------------------------------------------------------------ */

/* P[Bin(r,q) = v - i] by stepping down from v. */
double assay_bound_one_run_p(uint64_t m, uint64_t r, uint64_t v, double eps,
                             double delta)
{
    double q = 1 / (1 + exp(-eps));
    double tail = assay_binomial_at_least(v, r, q);
    if (delta <= 0 || v == 0) {
        return fmin(1, tail);
    }
    double at_least = tail, alpha = 0;
    /* mass(v-1) from two tails, then the recurrence */
    double mass = assay_binomial_at_least(v - 1, r, q) - tail;
    if (v - 1 == 0) {
        mass = 1 - tail;
    }
    double sum = 0;
    for (uint64_t i = 1; i <= v; i++) {
        sum += mass;
        alpha = fmax(alpha, sum / (double)i);
        uint64_t j = v - i; /* mass is that of j; next is j - 1 */
        if (j > 0) {
            mass *= (double)j / (double)(r - j + 1) * (1 - q) / q;
        }
        if (mass < 1e-18 * sum && sum < (double)i * alpha) {
            break;
        }
    }
    double p = at_least + alpha * delta * 2 * (double)m;
    return fmin(1, p * (1 + 1e-9));
}

double assay_bound_one_run(uint64_t m, uint64_t r, uint64_t v, double delta,
                           double level)
{
    if (r == 0 || v > r || assay_bound_one_run_p(m, r, v, 0, delta) > level) {
        return 0;
    }
    double lo = 0, hi = 60;
    for (int i = 0; i < 60; i++) {
        double mid = 0.5 * (lo + hi);
        if (assay_bound_one_run_p(m, r, v, mid, delta) <= level) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return lo;
}
