/* ring: glue */
/* Counts, bounded sums and means: the calibration ladder, and small bugs of
 * libraries. */
#include <math.h>

#include "audit/specimens/laws.h"

#define P(k) (s->param[k])

/* A sum with Laplace noise of scale param[0], `width` times; the input is what
 * the library adds up. */
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
            out[i] +=
                (fabs(x - o->pair.q[1][0]) - fabs(x - o->pair.q[0][0])) / P(0);
        }
    }
}

/* ---- bounded means ------------------------------------------------------ */

/*
 * Records in [0,1], q[0] of them, q[1] the sum of their differences from the
 * middle. Half of epsilon = param[0] goes to each of the noisy sum and the
 * noisy count; put out is 1/2 + sum / max(count, 1), clamped.
 */
static assay_quotient quotient(const assay_specimen *s, const double *q)
{
    return (assay_quotient){q[1], 1 / P(0), q[0], 2 / P(0), 1};
}

static void draw_bounded_mean(const assay_specimen *s, const double *q,
                              assay_rng *rng, size_t n, assay_rows *out)
{
    double count[ASSAY_ROWS_BLOCK];
    assay_quotient z = quotient(s, q);
    assay_rng_laplace(rng, count, n, z.n, z.b2);
    assay_rng_laplace(rng, out->value[0], n, z.s, z.b1);
    for (size_t i = 0; i < n; i++) {
        double mean = 0.5 + out->value[0][i] / fmax(count[i], z.least);
        out->value[0][i] = fmin(fmax(mean, 0), 1);
    }
}

/* The chance that the quotient is beyond 1/2 (or below -1/2). */
static double beyond(const assay_specimen *s, const double *q, double sign)
{
    assay_quotient z = quotient(s, q);
    double step = z.b2 / 5000, below = assay_law_laplace_cdf(1 - z.n, z.b2);
    double p = below * assay_law_laplace_cdf(sign * z.s - 0.5, z.b1);
    for (double t = 1 + step / 2; t < z.n + 40 * z.b2; t += step) {
        p += step * assay_law_laplace_pdf(t - z.n, z.b2) *
             assay_law_laplace_cdf(sign * z.s - 0.5 * t, z.b1);
    }
    return p;
}

static void prepare_bounded_mean(assay_oracle *o)
{
    for (int side = 0; side < 2; side++) {
        double *p = o->table + (size_t)side * ASSAY_SPECIMEN_TABLE;
        p[0] = beyond(o->specimen, o->pair.q[side], -1);
        p[1] = beyond(o->specimen, o->pair.q[side], 1);
    }
}

static void llr_bounded_mean(const assay_oracle *o, const assay_rows *rows,
                             double *out)
{
    assay_quotient left = quotient(o->specimen, o->pair.q[0]);
    assay_quotient right = quotient(o->specimen, o->pair.q[1]);
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        if (x <= 0 || x >= 1) {
            size_t k = x >= 1;
            out[i] = log(o->table[k] / o->table[ASSAY_SPECIMEN_TABLE + k]);
        } else {
            out[i] = log(assay_law_quotient(&left, x - 0.5) /
                         assay_law_quotient(&right, x - 0.5));
        }
    }
}

/* ---- bugs of libraries -------------------------------------------------- */

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

/* Cells that only one side has: numbers in the last column, or none. */
static void llr_last_number(const assay_oracle *o, const assay_rows *rows,
                            double *out)
{
    size_t j = o->specimen->width - 1;
    int left = o->pair.q[0][j] != 0 && !isnan(o->pair.q[0][j]);
    for (size_t i = 0; i < rows->num; i++) {
        int number = rows->plain[j] || rows->tag[j][i] == ASSAY_CELL_NUMBER;
        out[i] = number == left ? 100 : -100;
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
        double p[2];
        for (int side = 0; side < 2; side++) {
            const double *q = o->pair.q[side];
            double b = 1 / (q[0] * P(0));
            p[side] = -fabs(rows->value[0][i] - q[1] / q[0]) / b - log(b);
        }
        out[i] = p[0] - p[1];
    }
}

/* Laplace noise, but with chance param[1] the input itself is put out, marked
 * by 2^20. param[0]: scale. */
static void draw_evader(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    double u[ASSAY_ROWS_BLOCK];
    assay_rng_laplace(rng, out->value[0], n, q[0], P(0));
    assay_rng_uniform(rng, u, n);
    for (size_t i = 0; i < n; i++) {
        out->value[0][i] = u[i] < P(1) ? 0x1p20 + q[0] : out->value[0][i];
    }
}

static void llr_evader(const assay_oracle *o, const assay_rows *rows,
                       double *out)
{
    llr_sum(o, rows, out);
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i] - 0x1p20;
        out[i] = x == o->pair.q[0][0]   ? 100
                 : x == o->pair.q[1][0] ? -100
                                        : out[i];
    }
}

static const assay_pair zero_one[] = {{{{0}, {1}}}};
static const assay_pair java_pair[] = {{{{0}, {1.175}}}};
static const assay_pair clamped[] = {{{{0}, {5}}}, {{{0}, {-2}}}};
static const assay_pair unclipped[] = {{{{2}, {99}}}};
static const assay_pair with_nan[] = {{{{3}, {NAN}}}};
static const assay_pair new_class[] = {{{{20, 0}, {20, 1}}}};
static const assay_pair ten_people[] = {{{{10, 5}, {11, 6}}}};
static const assay_pair mean_pairs[] = {
    {{{1, 0.5}, {2, 0}}}, {{{5, 0}, {6, 0.5}}}, {{{20, 0}, {21, 0.5}}}};

#define SUM(label, text, eps, true_eps, bad, w, pair, scale)                   \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(eps, 0),               \
        .truth = true_eps, .violates = bad, .width = w, .num_inputs = 1,       \
        .num_pairs = sizeof pair / sizeof pair[0], .pairs = pair,              \
        .param = {scale}, .draw = draw_sum, .llr = llr_sum                     \
    }

/* Advertised over implemented epsilon; records of the sum in [-2, 5]. */
#define LADDER(share)                                                          \
    SUM("Count-" #share, "implemented epsilon 1/" #share, 1, 1 / share,        \
        share < 1, 1, zero_one, share),                                        \
        SUM("BoundedSum-" #share, "implemented epsilon 1/" #share, 1,          \
            1 / share, share < 1, 1, clamped, 5 * share)

/* The whole 1/share shows only in the limit of many records and rare outputs:
 * of one or six records at most seven eighths of it. */
#define BOUNDED_MEAN(share)                                                    \
    {                                                                          \
        .name = "BoundedMean-" #share,                                         \
        .note = "implemented epsilon 1/" #share, .claim = ASSAY_EPS(1, 0),     \
        .truth = 1 / share, .violates = share < 1, .width = 1,                 \
        .num_inputs = 2, .num_pairs = 3, .pairs = mean_pairs,                  \
        .param = {1 / share}, .draw = draw_bounded_mean,                       \
        .prepare = prepare_bounded_mean, .llr = llr_bounded_mean               \
    }

#define EVADER(label, text, chance)                                            \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, 0),                 \
        .truth = INFINITY, .violates = 1, .width = 1, .num_inputs = 1,         \
        .num_pairs = 1, .pairs = zero_one, .param = {1, chance},               \
        .draw = draw_evader, .llr = llr_evader                                 \
    }

const assay_specimen assay_specimens_sums[] = {
    LADDER(0.50),
    LADDER(0.75),
    LADDER(0.90),
    LADDER(0.95),
    LADDER(0.99),
    SUM("BoundedSum", "correct", 1, 1, 0, 1, clamped, 5),
    BOUNDED_MEAN(0.50),
    BOUNDED_MEAN(0.75),
    BOUNDED_MEAN(0.90),
    BOUNDED_MEAN(1.00),
    SUM("Count-1.175", "1.175 of the sensitivity, eps = ln 3",
        1.0986122886681098, 1.290869439185029, 1, 1, java_pair,
        0.91023922662683743),
    SUM("UnclippedSum", "clipped sensitivity, unclipped data", 1, 97.0 / 5, 1,
        1, unclipped, 5),
    SUM("ZeroNoise", "sensitivity n - k = 0", 1, INFINITY, 1, 1, zero_one, 0),
    SUM("TwoQueries", "full epsilon twice", 1, 2, 1, 2, zero_one, 1),
    {.name = "NanSurvivesClip",
     .note = "NaN passes the clip",
     .claim = ASSAY_EPS(1, 0),
     .truth = INFINITY,
     .violates = 1,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = with_nan,
     .param = {1},
     .draw = draw_sum,
     .llr = llr_last_number},
    {.name = "UniqueClasses",
     .note = "classes read off the data",
     .claim = ASSAY_EPS(1, 0),
     .truth = INFINITY,
     .violates = 1,
     .width = 2,
     .num_inputs = 2,
     .num_pairs = 1,
     .pairs = new_class,
     .param = {1},
     .draw = draw_classes,
     .llr = llr_last_number},
    {.name = "MeanTrueLength",
     .note = "divided by the true number of people",
     .claim = ASSAY_EPS(1, 0),
     .truth = INFINITY,
     .violates = 1,
     .width = 1,
     .num_inputs = 2,
     .num_pairs = 1,
     .pairs = ten_people,
     .param = {1},
     .draw = draw_true_length,
     .llr = llr_true_length},
    EVADER("Evader-1e-4", "prints its input once in 10^4 runs", 1e-4),
    EVADER("Evader-1e-9", "prints its input once in 10^9 runs", 1e-9),
    {.name = NULL},
};
