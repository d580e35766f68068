/* ring: glue */
/* Plain noise, histograms and sums. */
#include <math.h>

#include "audit/specimens/laws.h"

#define P(k) (s->param[k])

/* param: scale. Each answer with Laplace noise. */
static void draw_laplace(const assay_specimen *s, const double *q,
                         assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        assay_rng_laplace(rng, out->value[j], n, q[s->num_inputs == 1 ? 0 : j],
                          P(0));
    }
}

static void llr_laplace(const assay_oracle *o, const assay_rows *rows,
                        double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = 0;
    }
    for (size_t j = 0; j < s->width; j++) {
        size_t k = s->num_inputs == 1 ? 0 : j;
        double a = o->pair.q[0][k], b = o->pair.q[1][k];
        for (size_t i = 0; i < rows->num; i++) {
            double x = rows->value[j][i];
            out[i] += (fabs(x - b) - fabs(x - a)) / P(0);
        }
    }
}

/* Prefix sums of noisy answers. */
static void draw_prefix(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    draw_laplace(s, q, rng, n, out);
    for (size_t j = 1; j < s->width; j++) {
        for (size_t i = 0; i < n; i++) {
            out->value[j][i] += out->value[j - 1][i];
        }
    }
}

static void llr_prefix(const assay_oracle *o, const assay_rows *rows,
                       double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double last = 0, sum = 0;
        for (size_t j = 0; j < s->width; j++) {
            double x = rows->value[j][i] - last;
            last = rows->value[j][i];
            sum += fabs(x - o->pair.q[1][j]) - fabs(x - o->pair.q[0][j]);
        }
        out[i] = sum / P(0);
    }
}

static double total(const assay_specimen *s, const double *q)
{
    double sum = 0;
    for (size_t j = 0; j < s->num_inputs; j++) {
        sum += q[j];
    }
    return sum;
}

static void draw_sum(const assay_specimen *s, const double *q, assay_rng *rng,
                     size_t n, assay_rows *out)
{
    assay_rng_laplace(rng, out->value[0], n, total(s, q), P(0));
}

static void llr_sum(const assay_oracle *o, const assay_rows *rows, double *out)
{
    const assay_specimen *s = o->specimen;
    double a = total(s, o->pair.q[0]), b = total(s, o->pair.q[1]);
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        out[i] = (fabs(x - b) - fabs(x - a)) / P(0);
    }
}

/* Mironov's snapping: param: epsilon, B. */
static void draw_snapping(const assay_specimen *s, const double *q,
                          assay_rng *rng, size_t n, assay_rows *out)
{
    double bound = P(1), lambda = (1 + bound * 0x1p-49) / P(0);
    double grid = assay_law_snapping_grid(s);
    double x = fmin(fmax(q[0], -bound), bound);
    assay_rng_laplace(rng, out->value[0], n, x, lambda);
    for (size_t i = 0; i < n; i++) {
        double y = grid * nearbyint(out->value[0][i] / grid);
        out->value[0][i] = fmin(fmax(y, -bound), bound);
    }
}

/* Balcer and Vadhan's GeoSample. param: k, n people. Input: the count c. */
static double geo_cdf(double k, double n, double c, double z)
{
    double t = exp2(k), d = (2 * t + 1) * pow(t + 1, n - 1);
    if (z < 0) {
        return 0;
    }
    if (z >= n) {
        return 1;
    }
    if (z < c) {
        return exp2(k * (c - z)) * pow(t + 1, n - (c - z)) / d;
    }
    return 1 - exp2(k * (z - c + 1)) * pow(t + 1, n - 1 - (z - c)) / d;
}

static void draw_geo(const assay_specimen *s, const double *q, assay_rng *rng,
                     size_t n, assay_rows *out)
{
    double cdf[16];
    int people = (int)P(1);
    for (int z = 0; z <= people; z++) {
        cdf[z] = geo_cdf(P(0), P(1), q[0], z);
    }
    assay_rng_uniform(rng, out->value[0], n);
    for (size_t i = 0; i < n; i++) {
        double u = out->value[0][i];
        int z = 0;
        while (z < people && cdf[z] < u) {
            z++;
        }
        out->value[0][i] = z;
    }
}

static void llr_geo(const assay_oracle *o, const assay_rows *rows, double *out)
{
    const assay_specimen *s = o->specimen;
    double llr[16] = {0};
    for (int z = 0; z <= (int)P(1); z++) {
        double p[2];
        for (int side = 0; side < 2; side++) {
            double c = o->pair.q[side][0];
            p[side] = geo_cdf(P(0), P(1), c, z) - geo_cdf(P(0), P(1), c, z - 1);
        }
        llr[z] = log(p[0] / p[1]);
    }
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = llr[(int)rows->value[0][i]];
    }
}

/* Gaussian noise on each answer. param: sd. */
static void draw_gauss(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        assay_rng_gauss(rng, out->value[j], n, q[j], P(0));
    }
}

static void llr_gauss(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double sum = 0;
        for (size_t j = 0; j < s->width; j++) {
            double a = rows->value[j][i] - o->pair.q[0][j];
            double b = rows->value[j][i] - o->pair.q[1][j];
            sum += (b * b - a * a) / (2 * P(0) * P(0));
        }
        out[i] = sum;
    }
}

static const assay_pair zero_one[] = {{{{0}, {1}}}};
static const assay_pair geo_pairs[] = {
    {{{0}, {1}}}, {{{2}, {3}}}, {{{4}, {5}}}};

#define LAPLACE(label, text, eps, true_eps, bad, w, inputs, pairs_kind, scale) \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(eps, 0),               \
        .truth = true_eps, .violates = bad, .width = w, .num_inputs = inputs,  \
        .neighbours = pairs_kind, .num_pairs = 1, .pairs = zero_one,           \
        .param = {scale}, .draw = draw_laplace, .llr = llr_laplace             \
    }

const assay_specimen assay_specimens_noise[] = {
    LAPLACE("Laplace", "correct", 0.1, 0.1, 0, 1, 1, ASSAY_PAIR_ONE, 10),
    LAPLACE("Laplace-1", "correct", 1, 1, 0, 1, 1, ASSAY_PAIR_ONE, 1),
    LAPLACE("LaplaceParallel", "correct: 20 coordinates", 0.1, 0.1, 0, 20, 1,
            ASSAY_PAIR_GIVEN, 200),
    LAPLACE("NoisyHist1", "correct", 0.1, 0.1, 0, 5, 5, ASSAY_PAIR_ONE, 10),
    LAPLACE("NoisyHist2", "scale inverted", 0.1, 10, 1, 5, 5, ASSAY_PAIR_ONE,
            0.1),
    LAPLACE("StatDP-histogram", "correct", 0.7, 0.7, 0, 5, 5, ASSAY_PAIR_ONE,
            1 / 0.7),
    LAPLACE("StatDP-histogram_eps", "scale inverted", 0.7, 1 / 0.7, 1, 5, 5,
            ASSAY_PAIR_ONE, 0.7),
    {.name = "Snapping",
     .note = "correct",
     .claim = ASSAY_EPS(0.1, 0),
     .truth = 0.1,
     .width = 1,
     .num_inputs = 1,
     .neighbours = ASSAY_PAIR_ONE,
     .param = {0.1, 100},
     .draw = draw_snapping,
     .llr = assay_law_snapping_llr},
    {.name = "TruncatedGeometric",
     .note = "k from ln instead of log2",
     .claim = ASSAY_EPS(0.1, 0),
     .truth = 0.11778303565638346,
     .violates = 1,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 3,
     .pairs = geo_pairs,
     .param = {3, 5},
     .draw = draw_geo,
     .llr = llr_geo},
    {.name = "TruncatedGeometric-log2",
     .note = "correct",
     .claim = ASSAY_EPS(0.1, 0),
     .truth = 0.030771658666753687,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 3,
     .pairs = geo_pairs,
     .param = {5, 5},
     .draw = draw_geo,
     .llr = llr_geo},
    {.name = "PrefixSum",
     .note = "claim holds under ONE, tested under ALL",
     .claim = ASSAY_EPS(0.1, 0),
     .truth = 1,
     .violates = 1,
     .width = 10,
     .num_inputs = 10,
     .neighbours = ASSAY_PAIR_ALL,
     .param = {10},
     .draw = draw_prefix,
     .llr = llr_prefix},
    {.name = "PrefixSum-ONE",
     .note = "correct",
     .claim = ASSAY_EPS(0.1, 0),
     .truth = 0.1,
     .width = 10,
     .num_inputs = 10,
     .neighbours = ASSAY_PAIR_ONE,
     .param = {10},
     .draw = draw_prefix,
     .llr = llr_prefix},
    {.name = "PartialSum",
     .note = "correct",
     .claim = ASSAY_EPS(0.1, 0),
     .truth = 0.1,
     .width = 1,
     .num_inputs = 4,
     .neighbours = ASSAY_PAIR_ONE,
     .param = {10},
     .draw = draw_sum,
     .llr = llr_sum},
    {.name = "BadPartialSum",
     .note = "half the noise",
     .claim = ASSAY_EPS(0.1, 0),
     .truth = 0.2,
     .violates = 1,
     .width = 1,
     .num_inputs = 4,
     .neighbours = ASSAY_PAIR_ONE,
     .param = {5},
     .draw = draw_sum,
     .llr = llr_sum},
    {.name = "Gauss-mu",
     .note = "correct: mu = 1",
     .claim = {ASSAY_CLAIM_MU, 1, 0},
     .truth = 1,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = zero_one,
     .param = {1},
     .draw = draw_gauss,
     .llr = llr_gauss},
    {.name = "Gauss-rho",
     .note = "correct: rho = 1/2",
     .claim = {ASSAY_CLAIM_RHO, 0.5, 0},
     .truth = 0.5,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = zero_one,
     .param = {1},
     .draw = draw_gauss,
     .llr = llr_gauss},
    {.name = "Gauss-rho-0.9",
     .note = "noise 0.9 of what rho needs",
     .claim = {ASSAY_CLAIM_RHO, 0.5, 0},
     .truth = 0.5 / 0.81,
     .violates = 1,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = zero_one,
     .param = {0.9},
     .draw = draw_gauss,
     .llr = llr_gauss},
    {.name = NULL},
};
