/* ring: glue */
/* Means, gradient descent, the calibration ladder and small library bugs. */
#include <math.h>

#include "audit/specimens/specimens.h"

#define P(k) (s->param[k])

/* A dataset of zeros and ones: q[0] records, q[1] of them ones.
 * param: epsilon, version (0 right; 1 true n twice; 2 true n in the scale). */
static void draw_mean(const assay_specimen *s, const double *q, assay_rng *rng,
                      size_t n, assay_rows *out)
{
    double m[ASSAY_ROWS_BLOCK], x[ASSAY_ROWS_BLOCK];
    assay_rng_laplace(rng, m, n, q[0], 2 / P(0));
    assay_rng_laplace(rng, x, n, 0, 1);
    for (size_t i = 0; i < n; i++) {
        double noisy = fmax(m[i], 1e-12);
        double by = P(1) < 0.5 || P(1) > 1.5 ? noisy : q[0];
        double scale = P(1) < 0.5 ? noisy : q[0];
        double y = q[1] / by + 2 / (scale * P(0)) * x[i];
        /* q[1] / 1e-12 swallows bits below 2^-13: a floating-point leak, but
         * this specimen is about the formula */
        out->value[0][i] = nearbyint(y * 256) / 256;
    }
}

static void llr_mean1(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double l[2];
        for (int side = 0; side < 2; side++) {
            const double *q = o->pair.q[side];
            double b = 2 / (q[0] * P(0));
            l[side] = -fabs(rows->value[0][i] - q[1] / q[0]) / b - log(b);
        }
        out[i] = l[0] - l[1];
    }
}

/* Noisy gradient descent on a mean, last iterate only: Gaussian with shift
 * param[0] and sd param[1]. */
static void draw_shift(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    assay_rng_gauss(rng, out->value[0], n, q[0] * P(0), P(1));
}

static void llr_shift(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const assay_specimen *s = o->specimen;
    double a = o->pair.q[0][0] * P(0), b = o->pair.q[1][0] * P(0);
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        out[i] = ((x - b) * (x - b) - (x - a) * (x - a)) / (2 * P(1) * P(1));
    }
}

/* A sum with Laplace noise of scale param[0]; the input is what the buggy
 * library adds up. */
static void draw_sum(const assay_specimen *s, const double *q, assay_rng *rng,
                     size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        assay_rng_laplace(rng, out->value[j], n, q[0], P(0));
    }
}

static void llr_sum(const assay_oracle *o, const assay_rows *rows, double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = 0;
        for (size_t j = 0; j < s->width; j++) {
            double x = rows->value[j][i];
            out[i] += (fabs(x - o->pair.q[1][0]) - fabs(x - o->pair.q[0][0])) /
                      P(0);
        }
    }
}

static const assay_pair mean_pair[] = {{{{1, 0}, {2, 1}}}};
static const assay_pair zero_one[] = {{{{0}, {1}}}};
static const assay_pair unclipped[] = {{{{2}, {99}}}};
static const assay_pair with_nan[] = {{{{3}, {NAN}}}};

#define SUM(label, text, true_eps, bad, pair, w, scale)                        \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, 0),                 \
        .truth = true_eps, .violates = bad, .width = w, .num_inputs = 1,       \
        .num_pairs = 1, .pairs = pair, .param = {scale}, .draw = draw_sum,     \
        .llr = llr_sum                                                         \
    }

#define MEAN(label, text, true_eps, bad, version, ratio)                       \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, 0),                 \
        .truth = true_eps, .violates = bad, .width = 1, .num_inputs = 2,       \
        .num_pairs = 1, .pairs = mean_pair, .param = {1, version},             \
        .draw = draw_mean, .llr = ratio                                        \
    }

const assay_specimen assay_specimens_means[] = {
    MEAN("DPLaplaceMean", "correct", 1, 0, 0, NULL),
    MEAN("NonDPLaplace1", "true n used twice", INFINITY, 1, 1, llr_mean1),
    MEAN("NonDPLaplace2", "true n in the scale", INFINITY, 1, 2, NULL),
    {.name = "NoisySGD", .note = "correct: last of 3 steps, eta = 1/2",
     .claim = {ASSAY_CLAIM_MU, 0.7637626158259735, 0},
     .truth = 0.7637626158259734, .width = 1, .num_inputs = 1, .num_pairs = 1,
     .pairs = zero_one, .param = {0.4375, 0.5728219618694798},
     .draw = draw_shift, .llr = llr_shift},
    {.name = "GradientDescent-0.8", .note = "0.8 of the noise",
     .claim = {ASSAY_CLAIM_MU, 0.7637626158259735, 0},
     .truth = 0.9547032697824668, .violates = 1, .width = 1, .num_inputs = 1,
     .num_pairs = 1, .pairs = zero_one, .param = {0.4375, 0.4582575694955838},
     .draw = draw_shift, .llr = llr_shift},
    SUM("Count-0.90", "noise for 0.9 of the sensitivity", 1 / 0.9, 1, zero_one,
        1, 0.9),
    SUM("Count-0.99", "noise for 0.99 of the sensitivity", 1 / 0.99, 1,
        zero_one, 1, 0.99),
    SUM("UnclippedSum", "clipped sensitivity, unclipped data", 97.0 / 5, 1,
        unclipped, 1, 5),
    SUM("ZeroNoise", "sensitivity n - k = 0", INFINITY, 1, zero_one, 1, 0),
    SUM("TwoQueries", "full epsilon twice", 2, 1, zero_one, 2, 1),
    {.name = "NanSurvivesClip", .note = "NaN passes the clip",
     .claim = ASSAY_EPS(1, 0), .truth = INFINITY, .violates = 1, .width = 1,
     .num_inputs = 1, .num_pairs = 1, .pairs = with_nan, .param = {1},
     .draw = draw_sum},
    {.name = NULL},
};
