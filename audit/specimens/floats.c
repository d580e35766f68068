/* ring: glue */
/* Floating point, overflow and timing: the noise is right on paper. */
#include <math.h>
#include <stdint.h>

#include "audit/specimens/specimens.h"

#define P(k) (s->param[k])

static double uniform32(assay_rng *rng)
{
    return (double)(assay_rng_u64(rng) >> 32) / 4294967296.0;
}

/* Inversion with 32-bit uniforms. param: epsilon. */
static void draw_inversion(const assay_specimen *s, const double *q,
                           assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t i = 0; i < n; i++) {
        double x = -log(1 - uniform32(rng)) / 1.41421356237309505;
        double sign = uniform32(rng) < 0.5 ? -1 : 1;
        out->value[0][i] = q[0] + sign * x * (1.41421356237309505 / P(0));
    }
}

/* 53-bit uniforms, as numerical libraries do. param: scale. */
static void draw_double(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t w = assay_rng_u64(rng);
        double u = ((double)(w >> 11) + 0.5) * 0x1p-53;
        out->value[0][i] = u < 0.5 ? q[0] + P(0) * log(2 * u)
                                   : q[0] - P(0) * log(2 - 2 * u);
    }
}

/* param: sd, method (0 Box-Muller, 1 polar, 2 float32 sum of four halves) */
static double normal_by(const assay_specimen *s, assay_rng *rng)
{
    if (P(1) < 0.5) {
        double r = sqrt(-2 * log(1 - uniform32(rng)));
        return r * cos(6.283185307179586 * uniform32(rng));
    }
    if (P(1) < 1.5) {
        double v, w, t;
        do {
            v = 2 * uniform32(rng) - 1;
            w = 2 * uniform32(rng) - 1;
            t = v * v + w * w;
        } while (t >= 1 || t == 0);
        return v * sqrt(-2 * log(t) / t);
    }
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        float u = (float)(assay_rng_u01(rng)), v = (float)(assay_rng_u01(rng));
        sum += sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
    }
    return (double)(sum / 2);
}

static void draw_normal(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t i = 0; i < n; i++) {
        double x = P(0) * normal_by(s, rng);
        out->value[0][i] = P(1) > 1.5 ? (double)((float)q[0] + (float)x)
                                      : q[0] + x;
    }
}

/* Mironov's snapping on doubles. param: epsilon, B. */
static void draw_snapping(const assay_specimen *s, const double *q,
                          assay_rng *rng, size_t n, assay_rows *out)
{
    double bound = P(1), lambda = (1 + bound * 0x1p-49) / P(0);
    double grid = exp2(ceil(log2(lambda)));
    double x = fmin(fmax(q[0], -bound), bound);
    for (size_t i = 0; i < n; i++) {
        double u = assay_rng_u01(rng);
        double sign = assay_rng_u64(rng) >> 63 != 0 ? -1 : 1;
        double y = grid * nearbyint((x + sign * lambda * log(u)) / grid);
        out->value[0][i] = fmin(fmax(y, -bound), bound);
    }
}

/* A 32-bit sum that wraps around; "sensitivity 1". param: scale. */
static void draw_wrapped(const assay_specimen *s, const double *q,
                         assay_rng *rng, size_t n, assay_rows *out)
{
    int32_t sum = (int32_t)(uint32_t)(int64_t)q[0];
    assay_rng_laplace(rng, out->value[0], n, (double)sum, P(0));
}

/* A running sum in float32 of values clipped to [0,1]: from 2^24 + 2 a record
 * of 1 is a tie that rounds up to even, so it moves the sum by 2. Input: how
 * many records of 1 follow. param: scale. */
static void draw_float_sum(const assay_specimen *s, const double *q,
                           assay_rng *rng, size_t n, assay_rows *out)
{
    volatile float sum = 16777218.0f;
    for (int k = 0; k < (int)q[0]; k++) {
        sum = sum + 1.0f;
    }
    assay_rng_laplace(rng, out->value[0], n, (double)sum - 16777216.0, P(0));
}

/* The number is hidden but for its sign; the time is proportional to |noise|. */
static void draw_timing(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    double jitter[ASSAY_ROWS_BLOCK];
    assay_rng_gauss(rng, jitter, n, 0, 3);
    for (size_t i = 0; i < n; i++) {
        double g = floor(-log(assay_rng_u01(rng)) * P(0));
        double sign = assay_rng_u64(rng) >> 63 != 0 ? -1 : 1;
        double y = q[0] + sign * g;
        out->value[0][i] = y > 0 ? 1 : 0;
        out->value[1][i] = floor(100 + 25 * g + jitter[i]);
    }
}

static const assay_pair zero_one[] = {{{{0.0}, {1.0}}}};
static const assay_pair at_limit[] = {{{{2147483647.0}, {2147483648.0}}}};
static const assay_pair one_more[] = {{{{0}, {1}}}, {{{1}, {2}}},
                                      {{{2}, {3}}}};

#define FLOATS(label, text, e, d, true_eps, bad, fn, ...)                      \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(e, d),                 \
        .truth = true_eps, .violates = bad, .width = 1, .num_inputs = 1,       \
        .num_pairs = 1, .pairs = zero_one, .param = {__VA_ARGS__}, .draw = fn, \
        .raw = 1, .slow = 4                                                    \
    }

/* 5.2987... = sqrt(2 ln(1.25e6)): the classical sd for eps = 1, delta = 1e-6 */
const assay_specimen assay_specimens_floats[] = {
    FLOATS("FloatLaplace-1", "doubles leak through their lowest bits", 1, 0,
           INFINITY, 1, draw_double, 1),
    FLOATS("FloatLaplace-0.1", "doubles leak through their lowest bits", 0.1, 0,
           INFINITY, 1, draw_double, 10),
    FLOATS("LaplaceInversion", "32-bit uniforms", 1, 0, INFINITY, 1,
           draw_inversion, 1),
    FLOATS("GaussBoxMuller", "32-bit uniforms", 1, 1e-6, INFINITY, 1,
           draw_normal, 5.2987, 0),
    FLOATS("GaussPolar", "32-bit uniforms", 1, 1e-6, INFINITY, 1, draw_normal,
           5.2987, 1),
    FLOATS("GaussFloat32", "sum of four float32 normals", 1, 1e-6, INFINITY, 1,
           draw_normal, 5.2987, 2),
    FLOATS("FloatSnapping", "correct", 0.1, 0, 0.1, 0, draw_snapping, 0.1, 100),
    {.name = "WrappedSum", .note = "32-bit sum wraps around",
     .claim = ASSAY_EPS(1, 0), .truth = INFINITY, .violates = 1, .width = 1,
     .num_inputs = 1, .num_pairs = 1, .pairs = at_limit, .param = {1},
     .draw = draw_wrapped, .raw = 1, .slow = 4},
    {.name = "FloatSum", .note = "float32 sum rounds 1 record to 2",
     .claim = ASSAY_EPS(1, 0), .truth = 2, .violates = 1, .width = 1,
     .num_inputs = 1, .num_pairs = 3, .pairs = one_more, .param = {1},
     .draw = draw_float_sum, .slow = 4},
    {.name = "TimingGeometric", .note = "time tells |noise|",
     .claim = ASSAY_EPS(1, 0), .truth = INFINITY, .violates = 1, .width = 2,
     .num_inputs = 1, .num_pairs = 1, .pairs = zero_one, .param = {1},
     .draw = draw_timing, .slow = 4},
    {.name = NULL},
};
