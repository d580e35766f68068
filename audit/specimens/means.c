/* ring: glue */
/* Means of people who may come and go, and gradient descent. */
#include <math.h>

#include "audit/specimens/laws.h"

#define P(k) (s->param[k])

/* ---- means -------------------------------------------------------------- */

/* A dataset of zeros and ones: q[0] records, q[1] of them ones. param: 0
 * epsilon; 1 version (0 right; 1 true n twice; 2 true n in the scale only; 3
 * true n in the mean only); 2 zero for Laplace noise, else the Gaussian's
 * sqrt(2 ln(1.25/(delta/2))). */
static double unit(const assay_specimen *s)
{
    return 2 * (P(2) > 0 ? P(2) : 1) / P(0);
}

static void noise(const assay_specimen *s, assay_rng *rng, double *out,
                  size_t n, double location, double scale)
{
    if (P(2) > 0) {
        assay_rng_gauss(rng, out, n, location, scale);
    } else {
        assay_rng_laplace(rng, out, n, location, scale);
    }
}

static void draw_mean(const assay_specimen *s, const double *q, assay_rng *rng,
                      size_t n, assay_rows *out)
{
    double m[ASSAY_ROWS_BLOCK], x[ASSAY_ROWS_BLOCK];
    int version = (int)P(1);
    noise(s, rng, m, n, q[0], unit(s));
    noise(s, rng, x, n, 0, 1);
    for (size_t i = 0; i < n; i++) {
        double noisy = fmax(m[i], 1e-12);
        double by = version == 0 || version == 2 ? noisy : q[0];
        double scale = version == 0 || version == 3 ? noisy : q[0];
        double y = q[1] / by + unit(s) / scale * x[i];
        /* q[1] / 1e-12 swallows bits below 2^-13: a floating-point leak, but
         * this specimen is about the formula */
        out->value[0][i] = nearbyint(y * 256) / 256;
    }
}

/* The true n in mean and scale: one Laplace or Gaussian. */
static double log_density1(const assay_specimen *s, const double *q, double x)
{
    double b = unit(s) / q[0], z = fabs(x - q[1] / q[0]) / b;
    return (P(2) > 0 ? -z * z / 2 : -z) - log(b);
}

/* P[noise <= x], of scale 1. */
static double noise_cdf(const assay_specimen *s, double x)
{
    return P(2) > 0 ? erfc(-x * 0.70710678118654752) / 2
                    : assay_law_laplace_cdf(x, 1);
}

/* So far out the noisy n was 1e-12 and only the sign is left to see, that of
 * q[1] + noise if both use it. With the noisy n in the mean only, nobody
 * without ones is there. */
static double log_atom(const assay_specimen *s, const double *q, double x)
{
    double chance = noise_cdf(s, -q[0] / unit(s)), sign = x > 0 ? 1 : -1;
    switch ((int)P(1)) {
    case 0:
        return log(chance * noise_cdf(s, sign * q[1] / unit(s)));
    case 2:
        return q[1] == 0 || sign < 0 ? -1000 : log(chance);
    default:
        return log(chance / 2);
    }
}

/* Laplace noise, a noisy n in the scale: the difference from the mean is a
 * quotient (with a noisy n in the mean too, the whole is). Far out it behaves
 * as the chance that the noisy n is tiny. */
static double log_density3(const assay_specimen *s, const double *q, double x)
{
    double mean = P(1) > 0.5 ? q[1] / q[0] : 0;
    assay_quotient z = {q[1] - mean * q[0], unit(s), q[0], unit(s), 0};
    return fabs(x) > 1e6 ? log_atom(s, q, x)
                         : log(assay_law_quotient_above(&z, x - mean));
}

/*
 * The other versions by quadrature: log densities at sinh(s) for s on a grid,
 * the integral over the noisy n = t > 0 on a grid of ln t. A given n leaves a
 * Laplace or Gaussian around q[1]/t or the mean, of scale unit/t or unit/n.
 */
#define REACH 15.0 /* sinh(15) = 1.6e6 */
#define CELLS 4096
#define POINTS 6000
#define LEAST_LOG -16.0

static double noise_pdf(const assay_specimen *s, double x, double scale)
{
    double z = x / scale;
    return P(2) > 0 ? exp(-z * z / 2) / (2.5066282746310002 * scale)
                    : assay_law_laplace_pdf(x, scale);
}

static double mean_pdf(const assay_specimen *s, const double *q, double y)
{
    double top = log(q[0] + 60 * unit(s)), p = 0;
    double step = (top - LEAST_LOG) / POINTS;
    if (P(1) > 0.5 && q[1] == 0) { /* the noisy n is not used */
        return noise_pdf(s, y, unit(s) / q[0]);
    }
    for (size_t k = 0; k < POINTS; k++) {
        double t = exp(LEAST_LOG + ((double)k + 0.5) * step);
        double scale = unit(s) / (P(1) < 0.5 ? t : q[0]);
        p += step * t * noise_pdf(s, t - q[0], unit(s)) *
             noise_pdf(s, y - q[1] / t, scale);
    }
    return p;
}

static void prepare_mean(assay_oracle *o)
{
    double step = 2 * REACH / (CELLS - 1);
    for (int side = 0; side < 2; side++) {
        double *log_p = o->table + (size_t)side * ASSAY_SPECIMEN_TABLE;
        for (size_t k = 0; k < CELLS; k++) {
            double y = sinh((double)k * step - REACH);
            log_p[k] = log(mean_pdf(o->specimen, o->pair.q[side], y) + 1e-300);
        }
    }
}

static double table_at(const double *table, double y)
{
    double step = 2 * REACH / (CELLS - 1);
    double k = (asinh(y) + REACH) / step;
    size_t at = (size_t)k;
    return table[at] + (k - (double)at) * (table[at + 1] - table[at]);
}

static void llr_table(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double l[2], x = rows->value[0][i];
        for (int side = 0; side < 2; side++) {
            const double *t = o->table + (size_t)side * ASSAY_SPECIMEN_TABLE;
            l[side] = fabs(x) > 1e6 ? log_atom(s, o->pair.q[side], x)
                                    : table_at(t, x);
        }
        out[i] = fmin(fmax(l[0] - l[1], -100), 100);
    }
}

static void llr_mean(const assay_oracle *o, const assay_rows *rows, double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double l[2], x = rows->value[0][i];
        for (int side = 0; side < 2; side++) {
            const double *q = o->pair.q[side];
            l[side] =
                (int)P(1) == 1 ? log_density1(s, q, x) : log_density3(s, q, x);
        }
        out[i] = l[0] - l[1];
    }
}

/* ---- gradient descent --------------------------------------------------- */

/* Noisy gradient descent on a mean, last iterate only: Gaussian with shift
 * param[0] and sd param[1] in each of `width` coordinates. */
static void draw_shift(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        assay_rng_gauss(rng, out->value[j], n, q[0] * P(0), P(1));
    }
}

static void llr_shift(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const assay_specimen *s = o->specimen;
    double a = o->pair.q[0][0] * P(0), b = o->pair.q[1][0] * P(0);
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = 0;
        for (size_t j = 0; j < s->width; j++) {
            double x = rows->value[j][i];
            out[i] +=
                ((x - b) * (x - b) - (x - a) * (x - a)) / (2 * P(1) * P(1));
        }
    }
}

/*
 * theta -= eta (mean of (theta - x) over a batch + Gaussian), STEPS times from
 * 0, with batches of one of two records: the records are 0 and q[0]. The last
 * iterate is a mixture of Gaussians over the steps that drew the second one.
 * param: 0 eta, 1 sd of the last iterate, 2 chance of the second record.
 */
#define STEPS 3
#define PATHS (1 << STEPS)

/* Where the last iterate is centred, and how likely: path k drew the record
 * in the steps of its bits. */
static double path_shift(const assay_specimen *s, int k)
{
    double theta = 0;
    for (int t = 0; t < STEPS; t++) {
        theta -= P(0) * (theta - ((k >> t) & 1));
    }
    return theta;
}

static double path_weight(const assay_specimen *s, int k)
{
    double w = 1;
    for (int t = 0; t < STEPS; t++) {
        w *= (k >> t) & 1 ? P(2) : 1 - P(2);
    }
    return w;
}

static void draw_sgd(const assay_specimen *s, const double *q, assay_rng *rng,
                     size_t n, assay_rows *out)
{
    double shift[PATHS];
    for (int k = 0; k < PATHS; k++) {
        shift[k] = q[0] * path_shift(s, k);
    }
    assay_rng_gauss(rng, out->value[0], n, 0, P(1));
    for (size_t i = 0; i < n; i++) {
        int path = 0;
        for (int t = 0; t < STEPS; t++) {
            path |= (assay_rng_u01(rng) < P(2)) << t;
        }
        out->value[0][i] += shift[path];
    }
}

static void llr_sgd(const assay_oracle *o, const assay_rows *rows, double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i], p[2] = {0, 0};
        for (int k = 0; k < 2 * PATHS; k++) {
            double at = o->pair.q[k % 2][0] * path_shift(s, k / 2);
            double z = (x - at) / P(1);
            p[k % 2] += path_weight(s, k / 2) * exp(-z * z / 2);
        }
        out[i] = log(p[0] / p[1]);
    }
}

static const assay_pair mean_pair[] = {{{{1, 0}, {2, 1}}}};
static const assay_pair zero_one[] = {{{{0}, {1}}}};

#define MEAN(label, text, true_eps, bad, version, prep, ratio)                 \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, 0),                 \
        .truth = true_eps, .violates = bad, .width = 1, .num_inputs = 2,       \
        .num_pairs = 1, .pairs = mean_pair, .param = {1, version},             \
        .draw = draw_mean, .prepare = prep, .llr = ratio                       \
    }

#define GAUSS_MEAN(label, text, true_eps, bad, version, prep, ratio)           \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, 1e-5),              \
        .truth = true_eps, .violates = bad, .width = 1, .num_inputs = 2,       \
        .num_pairs = 1, .pairs = mean_pair,                                    \
        .param = {1, version, 4.985823141035867}, .draw = draw_mean,           \
        .prepare = prep, .llr = ratio                                          \
    }

#define DESCENT(label, text, claimed, true_value, bad, w, d, l, ...)           \
    {                                                                          \
        .name = label, .note = text, .claim = claimed, .truth = true_value,    \
        .violates = bad, .width = w, .num_inputs = 1, .num_pairs = 1,          \
        .pairs = zero_one, .param = {__VA_ARGS__}, .draw = d, .llr = l         \
    }
#define MU_CLAIM                                                               \
    {                                                                          \
        ASSAY_CLAIM_MU, 0.7637626158259735, 0                                  \
    }
#define SGD_CLAIM ASSAY_EPS(1.2114, 1e-3)
#define BACKPROP_CLAIM ASSAY_EPS(0.21, 1e-5)

/*
 * The backpropagation clipping bug (Tramer et al. 2022) at the size of two
 * layers and eight steps: the layers' sums over the steps move by 8, and mu =
 * sqrt(2 * 8)/sigma with the sd sqrt(8) sigma. mu = 0.06414141278133234 is
 * (0.21, 1e-5); noise for a sensitivity that is too small by a batch of 16
 * gives mu = 1.0262626045013175.
 */
#define BACKPROP_SD 176.38695514167865

const assay_specimen assay_specimens_means[] = {
    MEAN("DPLaplaceMean", "correct", 1, 0, 0, NULL, llr_mean),
    MEAN("NonDPLaplace1", "true n used twice", INFINITY, 1, 1, NULL, llr_mean),
    MEAN("NonDPLaplace2", "true n in the scale", INFINITY, 1, 2, prepare_mean,
         llr_table),
    MEAN("NonDPLaplace2-mean", "true n in the mean", 1.225184880837833, 1, 3,
         NULL, llr_mean),
    GAUSS_MEAN("DPGaussianMean", "correct", NAN, 0, 0, prepare_mean, llr_table),
    GAUSS_MEAN("NonDPGaussian1", "true n used twice", INFINITY, 1, 1, NULL,
               llr_mean),
    GAUSS_MEAN("NonDPGaussian2", "true n in the scale", INFINITY, 1, 2,
               prepare_mean, llr_table),
    DESCENT("NoisySGD", "correct: last of 3 steps, eta = 1/2", MU_CLAIM,
            0.7637626158259734, 0, 1, draw_shift, llr_shift, 0.4375,
            0.5728219618694798),
    DESCENT("GradientDescent-0.8", "0.8 of the noise", MU_CLAIM,
            0.9547032697824668, 1, 1, draw_shift, llr_shift, 0.4375,
            0.4582575694955838),
    DESCENT("NoisySGD-batches", "correct: batches of 1 of 2, sigma = 2",
            SGD_CLAIM, 1.2113446099465344, 0, 1, draw_sgd, llr_sgd, 0.5,
            1.14564392373896, 0.5),
    DESCENT("NoisySGD-every-step", "amplified claim, record in every batch",
            SGD_CLAIM, 2.255004965116007, 1, 1, draw_sgd, llr_sgd, 0.5,
            1.14564392373896, 1),
    DESCENT("BackpropClip", "sensitivity too small by the batch of 16",
            BACKPROP_CLAIM, 4.510667218618684, 1, 2, draw_shift, llr_shift, 8,
            BACKPROP_SD / 16),
    DESCENT("BackpropClip-corrected", "full sensitivity", BACKPROP_CLAIM, 0.21,
            0, 2, draw_shift, llr_shift, 8, BACKPROP_SD),
    {.name = NULL},
};
