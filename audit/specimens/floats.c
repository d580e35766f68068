/* ring: glue */
/* Floating point: the noise is right on paper, its doubles leak. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>

#include "audit/specimens/laws.h"

#define P(k) (s->param[k])

static double uniform32(assay_rng *rng)
{
    return (double)(assay_rng_u64(rng) >> 32) / 4294967296.0;
}

static double uniform53(assay_rng *rng)
{
    return (double)(assay_rng_u64(rng) >> 11) * 0x1p-53;
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
        double u = uniform53(rng) + 0x1p-54;
        out->value[0][i] =
            u < 0.5 ? q[0] + P(0) * log(2 * u) : q[0] - P(0) * log(2 - 2 * u);
    }
}

/* ---- normals in pairs --------------------------------------------------- */

static void box_muller(assay_rng *rng, double out[2])
{
    double r = sqrt(-2 * log(1 - uniform32(rng)));
    double angle = 6.283185307179586 * uniform32(rng);
    out[0] = r * cos(angle);
    out[1] = r * sin(angle);
}

/* Two uniforms in the unit disc. */
static void polar(assay_rng *rng, double (*uniform)(assay_rng *), double out[2])
{
    double t;
    do {
        out[0] = 2 * uniform(rng) - 1;
        out[1] = 2 * uniform(rng) - 1;
        t = out[0] * out[0] + out[1] * out[1];
    } while (t >= 1 || t == 0);
    double by = sqrt(-2 * log(t) / t);
    out[0] *= by;
    out[1] *= by;
}

/* param: sd, method (0 Box-Muller, 1 polar). The second column, if there is
 * one, is the second output of the same pair. */
static void draw_normal(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t i = 0; i < n; i++) {
        double x[2];
        if (P(1) < 0.5) {
            box_muller(rng, x);
        } else {
            polar(rng, uniform32, x);
        }
        out->value[0][i] = q[0] + P(0) * x[0];
        if (s->width > 1) {
            out->value[1][i] = q[0] + P(0) * x[1];
        }
    }
}

/* Half the sum of four float32 normals. param: sd. */
static void draw_float32(const assay_specimen *s, const double *q,
                         assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < 4; k++) {
            float u = (float)assay_rng_u01(rng), v = (float)assay_rng_u01(rng);
            sum += sqrtf(-2 * logf(u)) * cosf(6.2831853f * v);
        }
        float x = (float)(P(0) * (double)(sum / 2));
        out->value[0][i] = (double)((float)q[0] + x);
    }
}

/* The counts of value 1 in ten binary columns, as synthetic data generators
 * measure them first: the legacy normals of numpy (polar, 53 bits), two to a
 * column of which the second is the count's. param: sd. */
static void draw_columns(const assay_specimen *s, const double *q,
                         assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < s->width; j++) {
            double x[2];
            polar(rng, uniform53, x);
            out->value[j][i] = q[0] + (0 + P(0) * x[0]);
        }
    }
}

/* ---- the Ziggurat ------------------------------------------------------- */

#define LAYERS 256
#define TAIL_START 3.6541528853610088
#define LAYER_AREA 0.00492867323399

static double edge[LAYERS + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static double bell(double x)
{
    return exp(-x * x / 2);
}

static void make_layers(void)
{
    edge[0] = LAYER_AREA / bell(TAIL_START);
    edge[1] = TAIL_START;
    for (int k = 2; k < LAYERS; k++) {
        double y = LAYER_AREA / edge[k - 1] + bell(edge[k - 1]);
        edge[k] = sqrt(-2 * log(fmin(y, 1)));
    }
    edge[LAYERS] = 0;
}

/* Beyond the last layer: Marsaglia's test is 2 y > x^2, the benchmark's
 * x^2 > y^2. */
static double ziggurat_tail(assay_rng *rng, int benchmark)
{
    double x, y;
    do {
        x = -log(1 - uniform32(rng)) / TAIL_START;
        y = -log(1 - uniform32(rng));
    } while (benchmark ? !(x * x > y * y) : !(2 * y > x * x));
    return TAIL_START + x;
}

/* The absolute value of a normal. */
static double ziggurat(assay_rng *rng, int benchmark)
{
    for (;;) {
        size_t k = (size_t)(assay_rng_u64(rng) >> 56);
        double x = uniform32(rng) * edge[k];
        if (x < edge[k + 1]) {
            return x;
        }
        if (k == 0) {
            return ziggurat_tail(rng, benchmark);
        }
        double lo = bell(edge[k]), hi = bell(edge[k + 1]);
        if (lo + uniform32(rng) * (hi - lo) < bell(x)) {
            return x;
        }
    }
}

/* param: sd, 1 for the benchmark's tail. */
static void draw_ziggurat(const assay_specimen *s, const double *q,
                          assay_rng *rng, size_t n, assay_rows *out)
{
    (void)pthread_once(&once, make_layers);
    for (size_t i = 0; i < n; i++) {
        double x = ziggurat(rng, P(1) > 0.5);
        double sign = uniform32(rng) < 0.5 ? 1 : -1;
        out->value[0][i] = q[0] + P(0) * (sign * x);
    }
}

/* Mironov's snapping on doubles. param: epsilon, B. */
static void draw_snapping(const assay_specimen *s, const double *q,
                          assay_rng *rng, size_t n, assay_rows *out)
{
    double bound = P(1), lambda = (1 + bound * 0x1p-49) / P(0);
    double grid = assay_law_snapping_grid(s);
    double x = fmin(fmax(q[0], -bound), bound);
    for (size_t i = 0; i < n; i++) {
        double u = assay_rng_u01(rng);
        double sign = assay_rng_u64(rng) >> 63 != 0 ? -1 : 1;
        double y = grid * nearbyint((x + sign * lambda * log(u)) / grid);
        out->value[0][i] = fmin(fmax(y, -bound), bound);
    }
}

static const assay_pair zero_one[] = {{{{0.0}, {1.0}}}};

#define LEAK_IN(label, text, e, d, w, often, fn, ...)                          \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(e, d),                 \
        .truth = INFINITY, .violates = 1, .width = w, .num_inputs = 1,         \
        .num_pairs = 1, .pairs = zero_one, .param = {__VA_ARGS__}, .draw = fn, \
        .raw = 1, .slow = often                                                \
    }
#define LEAK(label, text, e, d, w, fn, ...)                                    \
    LEAK_IN(label, text, e, d, w, 4, fn, __VA_ARGS__)

/* sqrt(2 ln(1.25e6)): the classical sd for eps = 1, delta = 1e-6 */
#define SD 5.298802526850474

/* 24.8166... = sqrt(30/(2 rho)) and 60.4117... = sqrt(160/(1.8 rho)) with rho
 * = 0.0243559..., the zCDP that gives (1, 1e-6) */
const assay_specimen assay_specimens_floats[] = {
    LEAK("FloatLaplace-1", "doubles leak through their lowest bits", 1, 0, 1,
         draw_double, 1),
    LEAK("FloatLaplace-0.1", "doubles leak through their lowest bits", 0.1, 0,
         1, draw_double, 10),
    LEAK("LaplaceInversion", "32-bit uniforms", 1, 0, 1, draw_inversion, 1),
    LEAK("LaplaceInversion-0.1", "32-bit uniforms", 0.1, 0, 1, draw_inversion,
         0.1),
    LEAK("LaplaceInversion-3", "32-bit uniforms", 3, 0, 1, draw_inversion, 3),
    /* e^10 is not visible in fewer runs */
    LEAK_IN("LaplaceInversion-10", "32-bit uniforms", 10, 0, 1, 1,
            draw_inversion, 10),
    LEAK("GaussBoxMuller", "32-bit uniforms", 1, 1e-6, 1, draw_normal, SD, 0),
    LEAK("GaussBoxMuller-0.1", "32-bit uniforms", 0.1, 1e-6, 1, draw_normal,
         10 * SD, 0),
    LEAK("GaussBoxMuller-1e-3", "32-bit uniforms", 1, 1e-3, 1, draw_normal,
         3.776479532659047, 0),
    LEAK("GaussBoxMuller-pair", "both outputs of a pair", 1, 1e-6, 2,
         draw_normal, SD, 0),
    LEAK("GaussPolar", "32-bit uniforms", 1, 1e-6, 1, draw_normal, SD, 1),
    LEAK("GaussPolar-pair", "both outputs of a pair", 1, 1e-6, 2, draw_normal,
         SD, 1),
    LEAK("GaussZiggurat", "32-bit uniforms, 256 layers", 1, 1e-6, 1,
         draw_ziggurat, SD, 0),
    LEAK("GaussZiggurat-benchmark", "32-bit uniforms, tail test x^2 > y^2", 1,
         1e-6, 1, draw_ziggurat, SD, 1),
    LEAK("GaussFloat32", "sum of four float32 normals", 1, 1e-6, 1,
         draw_float32, SD),
    LEAK("MSTCounts", "ten counts with numpy's normals", 1, 1e-6, 10,
         draw_columns, 24.816636022848346),
    LEAK("AIMCounts", "ten counts with numpy's normals", 1, 1e-6, 10,
         draw_columns, 60.411694893819245),
    {.name = "FloatSnapping",
     .note = "correct",
     .claim = ASSAY_EPS(0.1, 0),
     .truth = 0.1,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = zero_one,
     .param = {0.1, 100},
     .draw = draw_snapping,
     .llr = assay_law_snapping_llr,
     .raw = 1,
     .slow = 4},
    {.name = NULL},
};
