/* ring: glue */
/*
 * The printed constants of five papers beside the corrected ones
 * (docs/paper-claims.md). Only the coordinates that a neighbour can change are
 * drawn: the others have the same law on both sides.
 */
#include <math.h>

#include "audit/specimens/specimens.h"

#define P(k) (s->param[k])

/* Tabular counters: every changed coordinate moves by 1 on each of the tree's
 * nodes. Input 0 or 1; param: Laplace scale. */
static void draw_counters(const assay_specimen *s, const double *q,
                          assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        assay_rng_laplace(rng, out->value[j], n, j % 2 == 0 ? q[0] : -q[0],
                          P(0));
    }
}

static void llr_counters(const assay_oracle *o, const assay_rows *rows,
                         double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = 0;
        for (size_t j = 0; j < s->width; j++) {
            double sign = j % 2 == 0 ? 1 : -1, x = rows->value[j][i];
            out[i] += (fabs(x - sign * o->pair.q[1][0]) -
                       fabs(x - sign * o->pair.q[0][0])) /
                      P(0);
        }
    }
}

/* DP-VAPVI without a split, one step, d = 2: two matrices phi phi' with noise
 * (Z + Z')/sqrt 2, Z ~ N(0, 1/(4 rho0)), and three vectors phi with noise
 * variance 2/rho0. Input: the feature phi; param: rho0. */
static double vapvi_cell(const assay_specimen *s, const double *q, size_t j,
                         double *sd)
{
    static const int row[3] = {0, 1, 0}, col[3] = {0, 1, 1};
    if (j < 6) {
        size_t k = j % 3;
        *sd = sqrt((k == 2 ? 0.25 : 0.5) / P(0));
        return q[row[k]] * q[col[k]];
    }
    *sd = sqrt(2 / P(0));
    return q[j % 2];
}

static void draw_vapvi(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        double sd, mean = vapvi_cell(s, q, j, &sd);
        assay_rng_gauss(rng, out->value[j], n, mean, sd);
    }
}

static void llr_vapvi(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = 0;
        for (size_t j = 0; j < o->specimen->width; j++) {
            double sd, x = rows->value[j][i];
            double a = vapvi_cell(o->specimen, o->pair.q[0], j, &sd);
            double b = vapvi_cell(o->specimen, o->pair.q[1], j, &sd);
            out[i] += ((x - b) * (x - b) - (x - a) * (x - a)) / (2 * sd * sd);
        }
    }
}

/* One number with Gaussian noise: q[0] + N(param[0]). */
static void draw_gauss(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    assay_rng_gauss(rng, out->value[0], n, q[0], P(0));
}

static void llr_gauss(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const assay_specimen *s = o->specimen;
    double a = o->pair.q[0][0], b = o->pair.q[1][0];
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        out[i] = ((x - b) * (x - b) - (x - a) * (x - a)) / (2 * P(0) * P(0));
    }
}

/* GPOPE: N noisy gradients, each moved by the distance (unit of h) with
 * probability 1/m on the right side; the attacker keeps the largest. param:
 * sigma, N, m, distance. The largest of N Gaussians by inversion. */
static double upper_quantile(double tail)
{
    /* sd units x with P[N(0,1) > x] = tail, by Newton on erfc */
    double x = sqrt(fmax(-2 * log(fmin(tail * 2.5, 0.9)), 0.01));
    for (int k = 0; k < 6; k++) {
        double f = 0.5 * erfc(x * 0.7071067811865476) - tail;
        x += f * 2.5066282746310002 * exp(0.5 * x * x);
    }
    return x;
}

static void draw_gpope(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    double shift[ASSAY_ROWS_BLOCK];
    assay_rng_gauss(rng, shift, n, P(3), P(0));
    for (size_t i = 0; i < n; i++) {
        /* 1 - u^(1/N) */
        double tail = -expm1(log(assay_rng_u01(rng)) / P(1));
        double top = P(0) * upper_quantile(tail);
        /* the replaced trajectory is drawn at least once */
        int drawn = assay_rng_u01(rng) < -expm1(P(1) * log1p(-1 / P(2)));
        if (q[0] > 0.5 && drawn && shift[i] > top) {
            top = shift[i];
        }
        out->value[0][i] = top;
    }
}

/* A public coin decides whether the step uses the data at all; then Poisson
 * sampling. param: p, q0, sd. Column 1 is the coin. */
static void draw_coin(const assay_specimen *s, const double *q, assay_rng *rng,
                      size_t n, assay_rows *out)
{
    assay_rng_gauss(rng, out->value[0], n, 0, P(2));
    for (size_t i = 0; i < n; i++) {
        int coin = assay_rng_u01(rng) < P(0);
        int drawn = assay_rng_u01(rng) < P(1);
        out->value[0][i] += coin && drawn ? q[0] : 0;
        out->value[1][i] = coin;
    }
}

static void llr_coin(const assay_oracle *o, const assay_rows *rows, double *out)
{
    const assay_specimen *s = o->specimen;
    double sign = o->pair.q[0][0] > 0.5 ? 1 : -1;
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        double l = log1p(P(1) * expm1((2 * x - 1) / (2 * P(2) * P(2))));
        out[i] = rows->value[1][i] > 0.5 ? sign * l : 0;
    }
}

static const assay_pair one_zero[] = {{{{1}, {0}}}};
/* unit vectors at cosine -3/16 */
static const assay_pair vapvi_pair[] = {
    {{{1, 0}, {-0.1875, 0.98226460284385684}}}};
/* an estimated value below zero: V = -40 H (H = 3) against H; u = V^2 */
static const assay_pair vtr_pair[] = {{{{14400}, {9}}}};
static const assay_pair vtr_clipped[] = {{{{9}, {-9}}}};

#define COUNTERS(label, text, true_eps, bad, w, scale)                         \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, 0),                 \
        .truth = true_eps, .violates = bad, .width = w, .num_inputs = 1,       \
        .num_pairs = 1, .pairs = one_zero, .param = {scale},                   \
        .draw = draw_counters, .llr = llr_counters                             \
    }

/* H = 1, K = 4 episodes: L = 2 levels, 6 H L = 12 coordinates, log K = 1.386 */
const assay_specimen assay_specimens_papers[] = {
    COUNTERS("CentralPrivatizer-printed", "eps/(3H log K): inverted",
             12 * 3 * 1.3862943611198906, 1, 12, 1 / (3 * 1.3862943611198906)),
    COUNTERS("CentralPrivatizer-intended", "3H log K/eps",
             12 / (3 * 1.3862943611198906), 1, 12, 3 * 1.3862943611198906),
    COUNTERS("CentralPrivatizer-corrected", "6HL/eps", 1, 0, 12, 12),
    COUNTERS("LocalPrivatizer-printed", "3H/eps", 2, 1, 6, 3),
    COUNTERS("LocalPrivatizer-corrected", "6H/eps", 1, 0, 6, 6),
    {.name = "VAPVI-unsplit",
     .note = "rho0 = rho/(5H) without a split",
     .claim = {ASSAY_CLAIM_RHO, 1, 0},
     .truth = 1.128125,
     .violates = 1,
     .width = 12,
     .num_inputs = 2,
     .num_pairs = 1,
     .pairs = vapvi_pair,
     .param = {0.2},
     .draw = draw_vapvi,
     .llr = llr_vapvi},
    {.name = "VAPVI-corrected",
     .note = "rho0 = rho/(5.640625 H)",
     .claim = {ASSAY_CLAIM_RHO, 1, 0},
     .truth = 1,
     .width = 12,
     .num_inputs = 2,
     .num_pairs = 1,
     .pairs = vapvi_pair,
     .param = {1 / 5.640625},
     .draw = draw_vapvi,
     .llr = llr_vapvi},
    /* 4 H^3 sqrt(2 ln(2.5 H/delta)) = 561.06 at H = 3, delta = 1e-5 */
    {.name = "VTR-unclipped",
     .note = "value not clipped below",
     .claim = ASSAY_EPS(1, 1e-5),
     .truth = NAN,
     .violates = 1,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = vtr_pair,
     .param = {561.06},
     .draw = draw_gauss,
     .llr = llr_gauss},
    {.name = "VTR-clipped",
     .note = "sound, far too noisy",
     .claim = ASSAY_EPS(1, 1e-5),
     .truth = NAN,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = vtr_clipped,
     .param = {561.06},
     .draw = draw_gauss,
     .llr = llr_gauss},
    {.name = "GPOPE-printed",
     .note = "m 10000, N 100: sigma 0.43",
     .claim = ASSAY_EPS(0.1, 1e-5),
     .truth = 6.8,
     .violates = 1,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = one_zero,
     .param = {0.43, 100, 10000, 2},
     .draw = draw_gpope,
     .slow = 4},
    {.name = "GPOPE-corrected",
     .note = "m 10000, N 100: sigma 1.09",
     .claim = ASSAY_EPS(0.1, 1e-5),
     .truth = 0.1,
     .width = 1,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = one_zero,
     .param = {1.09, 100, 10000, 2},
     .draw = draw_gpope,
     .slow = 4},
    {.name = "PublicCoin-printed",
     .note = "q = p b/m though the coin is public",
     .claim = ASSAY_EPS(0.5795, 0.001),
     .truth = 2.1806,
     .violates = 1,
     .width = 2,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = one_zero,
     .param = {0.1, 0.9, 1},
     .draw = draw_coin,
     .llr = llr_coin},
    {.name = "PublicCoin-corrected",
     .note = "p times the subsampled Gaussian",
     .claim = ASSAY_EPS(2.1806, 0.001),
     .truth = 2.1806,
     .width = 2,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = one_zero,
     .param = {0.1, 0.9, 1},
     .draw = draw_coin,
     .llr = llr_coin},
    {.name = NULL},
};
