/* ring: glue */
/* Gaussian means, subset selection, approximate local mechanisms, a Ziggurat,
 * and small bugs of libraries. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "audit/specimens/specimens.h"

#define P(k) (s->param[k])

/* ---- means with Gaussian noise ------------------------------------------ */

/* q[0] records, q[1] of them ones. param: epsilon, version (0 right; 1 true n
 * twice; 2 true n in the scale), sqrt(2 ln(1.25 / (delta/2))). */
static void draw_gauss_mean(const assay_specimen *s, const double *q,
                            assay_rng *rng, size_t n, assay_rows *out)
{
    double m[ASSAY_ROWS_BLOCK], x[ASSAY_ROWS_BLOCK];
    assay_rng_gauss(rng, m, n, q[0], 2 * P(2) / P(0));
    assay_rng_gauss(rng, x, n, 0, 1);
    for (size_t i = 0; i < n; i++) {
        double noisy = fmax(m[i], 1e-12);
        double by = P(1) < 0.5 || P(1) > 1.5 ? noisy : q[0];
        double scale = P(1) < 0.5 ? noisy : q[0];
        double y = q[1] / by + 2 * P(2) / (scale * P(0)) * x[i];
        out->value[0][i] = nearbyint(y * 256) / 256; /* as for Laplace */
    }
}

static void llr_gauss_mean1(const assay_oracle *o, const assay_rows *rows,
                            double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double l[2];
        for (int side = 0; side < 2; side++) {
            const double *q = o->pair.q[side];
            double sd = 2 * P(2) / (q[0] * P(0));
            double z = (rows->value[0][i] - q[1] / q[0]) / sd;
            l[side] = -z * z / 2 - log(sd);
        }
        out[i] = l[0] - l[1];
    }
}

/* ---- subset selection ------------------------------------------------------ */

/* param: size of the subset, probability that it holds the value. Output: one
 * bit for each of `width` values. */
static void draw_subset(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    size_t k = s->width, value = (size_t)q[0];
    for (size_t i = 0; i < n; i++) {
        size_t want = (size_t)P(0), left = k - 1;
        int in = assay_rng_u01(rng) < P(1);
        want -= (size_t)in;
        for (size_t j = 0; j < k; j++) {
            if (j == value) {
                out->value[j][i] = in;
                continue;
            }
            int take = assay_rng_u01(rng) * (double)left < (double)want;
            out->value[j][i] = take;
            want -= (size_t)take;
            left--;
        }
    }
}

static void llr_subset(const assay_oracle *o, const assay_rows *rows,
                       double *out)
{
    const assay_specimen *s = o->specimen;
    size_t a = (size_t)o->pair.q[0][0], b = (size_t)o->pair.q[1][0];
    double k = (double)s->width, w = P(0);
    /* a given subset with the value, and one without it */
    double with = log(P(1) * (k - w) / ((1 - P(1)) * w));
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = with * (rows->value[a][i] - rows->value[b][i]);
    }
}

/* ---- approximate local mechanisms ------------------------------------------ */

/* k-ary response. param: k, probability of the true value. */
static void draw_response(const assay_specimen *s, const double *q,
                          assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t i = 0; i < n; i++) {
        double other = floor(assay_rng_u01(rng) * (P(0) - 1));
        other += other >= q[0];
        out->value[0][i] = assay_rng_u01(rng) < P(1) ? q[0] : other;
    }
}

static void llr_response(const assay_oracle *o, const assay_rows *rows,
                         double *out)
{
    const assay_specimen *s = o->specimen;
    double r = log(P(1) * (P(0) - 1) / (1 - P(1)));
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        out[i] = x == o->pair.q[0][0] ? r : x == o->pair.q[1][0] ? -r : 0;
    }
}

/* One-hot vector with Gaussian noise. param: sd. */
static void draw_one_hot(const assay_specimen *s, const double *q,
                         assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        assay_rng_gauss(rng, out->value[j], n, (double)j == q[0], P(0));
    }
}

static void llr_one_hot(const assay_oracle *o, const assay_rows *rows,
                        double *out)
{
    const assay_specimen *s = o->specimen;
    size_t a = (size_t)o->pair.q[0][0], b = (size_t)o->pair.q[1][0];
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = (rows->value[a][i] - rows->value[b][i]) / (P(0) * P(0));
    }
}

/* ---- the Ziggurat ------------------------------------------------------------ */

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

static double uniform32(assay_rng *rng)
{
    return (double)(assay_rng_u64(rng) >> 32) / 4294967296.0;
}

/* Beyond the last layer; Marsaglia's test 2 y > x^2. */
static double ziggurat_tail(assay_rng *rng, double sign)
{
    double x, y;
    do {
        x = -log(1 - uniform32(rng)) / TAIL_START;
        y = -log(1 - uniform32(rng));
    } while (!(2 * y > x * x));
    return sign * (TAIL_START + x);
}

static double ziggurat(assay_rng *rng)
{
    for (;;) {
        size_t k = (size_t)(assay_rng_u64(rng) >> 56);
        double u = 2 * uniform32(rng) - 1, x = u * edge[k];
        if (fabs(x) < edge[k + 1]) {
            return x;
        }
        if (k == 0) {
            return ziggurat_tail(rng, u < 0 ? -1 : 1);
        }
        double lo = bell(edge[k]), hi = bell(edge[k + 1]);
        if (lo + uniform32(rng) * (hi - lo) < bell(x)) {
            return x;
        }
    }
}

static void draw_ziggurat(const assay_specimen *s, const double *q,
                          assay_rng *rng, size_t n, assay_rows *out)
{
    (void)pthread_once(&once, make_layers);
    for (size_t i = 0; i < n; i++) {
        out->value[0][i] = q[0] + P(0) * ziggurat(rng);
    }
}

/* ---- bugs of libraries -------------------------------------------------------- */

/* Counts of the classes that occur in the data: q[0] of the first, q[1] of the
 * second; a class that does not occur is not printed. param: scale. */
static void draw_classes(const assay_specimen *s, const double *q,
                         assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t j = 0; j < 2; j++) {
        assay_rng_laplace(rng, out->value[j], n, q[j], P(0));
        for (size_t i = 0; q[j] == 0 && i < n; i++) {
            assay_rows_absent(out, j, i);
        }
    }
}

/* A mean over people who may be added or removed, divided by the true number:
 * q[0] records, q[1] their sum. param: epsilon. */
static void draw_true_length(const assay_specimen *s, const double *q,
                             assay_rng *rng, size_t n, assay_rows *out)
{
    assay_rng_laplace(rng, out->value[0], n, q[1] / q[0], 1 / (q[0] * P(0)));
}

static void llr_true_length(const assay_oracle *o, const assay_rows *rows,
                            double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double l[2];
        for (int side = 0; side < 2; side++) {
            const double *q = o->pair.q[side];
            double b = 1 / (q[0] * P(0));
            l[side] = -fabs(rows->value[0][i] - q[1] / q[0]) / b - log(b);
        }
        out[i] = l[0] - l[1];
    }
}

static const assay_pair mean_pair[] = {{{{1, 0}, {2, 1}}}};
static const assay_pair zero_one[] = {{{{0}, {1}}}};
static const assay_pair new_class[] = {{{{20, 0}, {20, 1}}}};
static const assay_pair ten_people[] = {{{{10, 5}, {11, 6}}}};

#define GAUSS_MEAN(label, text, true_eps, bad, version, ratio)                 \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, 1e-5),              \
        .truth = true_eps, .violates = bad, .width = 1, .num_inputs = 2,       \
        .num_pairs = 1, .pairs = mean_pair,                                    \
        .param = {1, version, 4.985823141035867}, .draw = draw_gauss_mean, .llr = ratio   \
    }

#define LOCAL(label, text, d, true_eps, w, drawing, ratio, ...)                \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, d),                 \
        .truth = true_eps, .width = w, .num_inputs = 1, .num_pairs = 1,        \
        .pairs = zero_one, .param = {__VA_ARGS__}, .draw = drawing,            \
        .llr = ratio                                                           \
    }

const assay_specimen assay_specimens_more[] = {
    GAUSS_MEAN("DPGaussianMean", "correct", NAN, 0, 0, NULL),
    GAUSS_MEAN("NonDPGaussian1", "true n used twice", INFINITY, 1, 1,
               llr_gauss_mean1),
    GAUSS_MEAN("NonDPGaussian2", "true n in the scale", INFINITY, 1, 2, NULL),
    /* w = 2 of 6, p = w e / (w e + 6 - w) */
    LOCAL("SS", "correct: subsets of 2 of 6", 0, 1, 6, draw_subset, llr_subset,
          2, 0.5761168847658291),
    /* p = (e + 3 delta) / (e + 3), delta = 0.01 */
    LOCAL("AGRR", "correct, k = 4", 0.01, 1, 1, draw_response, llr_response, 4,
          0.48061321755448494),
    LOCAL("GM", "correct: classic Gaussian, k = 4", 1e-5, 0.7509769568672044, 4,
          draw_one_hot, llr_one_hot, 6.851589309433086),
    LOCAL("AGM", "correct: analytic Gaussian, k = 4", 1e-5, 1, 4, draw_one_hot,
          llr_one_hot, 5.27590985417482),
    {.name = "GaussZiggurat", .note = "32-bit uniforms, 256 layers",
     .claim = ASSAY_EPS(1, 1e-6), .truth = INFINITY, .violates = 1, .width = 1,
     .num_inputs = 1, .num_pairs = 1, .pairs = zero_one, .param = {5.2987},
     .draw = draw_ziggurat, .raw = 1, .slow = 4},
    {.name = "UniqueClasses", .note = "classes read off the data",
     .claim = ASSAY_EPS(1, 0), .truth = INFINITY, .violates = 1, .width = 2,
     .num_inputs = 2, .num_pairs = 1, .pairs = new_class, .param = {1},
     .draw = draw_classes},
    {.name = "MeanTrueLength", .note = "divided by the true number of people",
     .claim = ASSAY_EPS(1, 0), .truth = INFINITY, .violates = 1, .width = 1,
     .num_inputs = 2, .num_pairs = 1, .pairs = ten_people, .param = {1},
     .draw = draw_true_length, .llr = llr_true_length},
    {.name = NULL},
};
