/* ring: glue */
/* Local mechanisms: RAPPOR and the frequency oracles. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/specimens/murmur.h"
#include "audit/specimens/specimens.h"

#define P(k) (s->param[k])

/* ---- RAPPOR ------------------------------------------------------------- */

#define RAPPOR_BITS 20
#define RAPPOR_HASHES 4

static void bloom(int value, int bit[RAPPOR_BITS])
{
    char text[16];
    memset(bit, 0, RAPPOR_BITS * sizeof *bit);
    (void)snprintf(text, sizeof text, "%d", value);
    for (uint32_t seed = 0; seed < RAPPOR_HASHES; seed++) {
        int32_t h = (int32_t)assay_murmur3(text, strlen(text), seed);
        int at = h % RAPPOR_BITS;
        bit[at < 0 ? at + RAPPOR_BITS : at] = 1;
    }
}

/* param: probability of reporting 1 for a set bit, for a clear bit. */
static void draw_bits(const double *p, size_t num, assay_rng *rng, size_t n,
                      assay_rows *out)
{
    for (size_t j = 0; j < num; j++) {
        assay_rng_uniform(rng, out->value[j], n);
        for (size_t i = 0; i < n; i++) {
            out->value[j][i] = out->value[j][i] < p[j] ? 1 : 0;
        }
    }
}

static void rappor_p(const assay_specimen *s, double input, double *p)
{
    int bit[RAPPOR_BITS];
    bloom((int)input, bit);
    for (int j = 0; j < RAPPOR_BITS; j++) {
        p[j] = bit[j] ? P(0) : P(1);
    }
}

static void draw_rappor(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    double p[RAPPOR_BITS];
    rappor_p(s, q[0], p);
    draw_bits(p, RAPPOR_BITS, rng, n, out);
}

static void llr_bits(const double *a, const double *b, size_t num,
                     const assay_rows *rows, double *out)
{
    memset(out, 0, rows->num * sizeof *out);
    for (size_t j = 0; j < num; j++) {
        double one = log(a[j] / b[j]), zero = log((1 - a[j]) / (1 - b[j]));
        for (size_t i = 0; i < rows->num; i++) {
            out[i] += rows->value[j][i] > 0.5 ? one : zero;
        }
    }
}

static void llr_rappor(const assay_oracle *o, const assay_rows *rows,
                       double *out)
{
    double a[RAPPOR_BITS], b[RAPPOR_BITS];
    rappor_p(o->specimen, o->pair.q[0][0], a);
    rappor_p(o->specimen, o->pair.q[1][0], b);
    llr_bits(a, b, RAPPOR_BITS, rows, out);
}

/* ---- unary encodings ---------------------------------------------------- */

static void unary_p(const assay_specimen *s, double input, double *p)
{
    for (size_t j = 0; j < s->width; j++) {
        p[j] = (double)j == input ? P(0) : P(1);
    }
}

static void draw_unary(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    double p[ASSAY_ROWS_WIDTH];
    unary_p(s, q[0], p);
    draw_bits(p, s->width, rng, n, out);
}

static void llr_unary(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    double a[ASSAY_ROWS_WIDTH] = {0}, b[ASSAY_ROWS_WIDTH] = {0};
    unary_p(o->specimen, o->pair.q[0][0], a);
    unary_p(o->specimen, o->pair.q[1][0], b);
    llr_bits(a, b, o->specimen->width, rows, out);
}

/* ---- randomised response, hashing, histogram encoding ------------------- */

/* param: k, probability of the truth. */
static void draw_grr(const assay_specimen *s, const double *q, assay_rng *rng,
                     size_t n, assay_rows *out)
{
    double k = P(0), p = P(1);
    assay_rng_uniform(rng, out->value[0], n);
    for (size_t i = 0; i < n; i++) {
        double u = out->value[0][i], v = q[0];
        if (u >= p) { /* one of the k - 1 others, evenly */
            v = floor((u - p) / (1 - p) * (k - 1));
            v += v >= q[0];
        }
        out->value[0][i] = v;
    }
}

static void llr_grr(const assay_oracle *o, const assay_rows *rows, double *out)
{
    const assay_specimen *s = o->specimen;
    double other = (1 - P(1)) / (P(0) - 1), l = log(P(1) / other);
    for (size_t i = 0; i < rows->num; i++) {
        double v = rows->value[0][i];
        out[i] = l * ((v == o->pair.q[0][0]) - (v == o->pair.q[1][0]));
    }
}

/* Local hashing: a random hash (shown by what it makes of inputs 0 and 1), then
 * randomised response on the hashed value. param: g, probability of truth. */
static void draw_hash(const assay_specimen *s, const double *q, assay_rng *rng,
                      size_t n, assay_rows *out)
{
    double u[2][ASSAY_ROWS_BLOCK], g = P(0), p = P(1);
    for (int c = 0; c < 2; c++) {
        assay_rng_uniform(rng, u[c], n);
        for (size_t i = 0; i < n; i++) {
            out->value[c][i] = floor(u[c][i] * g);
        }
    }
    assay_rng_uniform(rng, out->value[2], n);
    for (size_t i = 0; i < n; i++) {
        double x = out->value[2][i], truth = out->value[(int)q[0]][i];
        double v = truth;
        if (x >= p) {
            v = floor((x - p) / (1 - p) * (g - 1));
            v += v >= truth;
        }
        out->value[2][i] = v;
    }
}

static void llr_hash(const assay_oracle *o, const assay_rows *rows, double *out)
{
    const assay_specimen *s = o->specimen;
    double l = log(P(1) * (P(0) - 1) / (1 - P(1)));
    for (size_t i = 0; i < rows->num; i++) {
        double y = rows->value[2][i];
        out[i] = l * ((y == rows->value[(int)o->pair.q[0][0]][i]) -
                      (y == rows->value[(int)o->pair.q[1][0]][i]));
    }
}

/* Histogram encoding with Laplace noise; param: scale, threshold (bits if
 * set). */
static void draw_histogram(const assay_specimen *s, const double *q,
                           assay_rng *rng, size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        assay_rng_laplace(rng, out->value[j], n, (double)j == q[0] ? 1 : 0,
                          P(0));
        for (size_t i = 0; P(1) > 0 && i < n; i++) {
            out->value[j][i] = out->value[j][i] > P(1) ? 1 : 0;
        }
    }
}

static void llr_histogram(const assay_oracle *o, const assay_rows *rows,
                          double *out)
{
    const assay_specimen *s = o->specimen;
    size_t a = (size_t)o->pair.q[0][0], b = (size_t)o->pair.q[1][0];
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[a][i], y = rows->value[b][i];
        out[i] = (fabs(x) - fabs(x - 1) + fabs(y - 1) - fabs(y)) / P(0);
    }
}

/* Thresholded, the histogram is bits. */
static double over(const assay_specimen *s, double location)
{
    double z = (P(1) - location) / P(0);
    return z < 0 ? 1 - exp(z) / 2 : exp(-z) / 2;
}

static void llr_threshold(const assay_oracle *o, const assay_rows *rows,
                          double *out)
{
    const assay_specimen *s = o->specimen;
    double p[2][ASSAY_ROWS_WIDTH] = {{0}};
    for (int side = 0; side < 2; side++) {
        for (size_t j = 0; j < s->width; j++) {
            p[side][j] = over(s, (double)j == o->pair.q[side][0] ? 1 : 0);
        }
    }
    llr_bits(p[0], p[1], s->width, rows, out);
}

/* ---- subset selection --------------------------------------------------- */

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

/* Filters that differ in 6, 5 and all 8 bits. */
static const assay_pair rappor_pairs[] = {
    {{{1}, {0}}}, {{{1}, {2}}}, {{{3}, {4}}}};
static const assay_pair first_two[] = {{{{0}, {1}}}};

#define APPROXIMATE(label, text, delta, true_eps, bad, w, d, l, ...)           \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, delta),             \
        .truth = true_eps, .violates = bad, .width = w, .num_inputs = 1,       \
        .num_pairs = 1, .pairs = first_two, .param = {__VA_ARGS__}, .draw = d, \
        .llr = l                                                               \
    }
#define LDP(label, text, true_eps, bad, w, d, l, ...)                          \
    APPROXIMATE(label, text, 0, true_eps, bad, w, d, l, __VA_ARGS__)

/*
 * epsilon = 1: e/(e+3), sqrt(e)/(sqrt(e)+1), 1/(e+1), e/(e+1); SS: w = 2 of 6,
 * p = w e / (w e + 6 - w). With delta = 0.01: AGRR (e + 3 delta)/(e + 3), ASUE
 * (e - r)/(e - 1) and (r - 1)/(e - 1), r = sqrt(e (1 - delta) + delta), ABLH
 * and AOLH as AGRR on g = 2 and 4 values (the best g rounds 3.9). Two inputs
 * share a hash once in g times, so their epsilon at delta is a little below 1.
 */
const assay_specimen assay_specimens_ldp[] = {
    {.name = "Rappor",
     .note = "correct",
     .claim = ASSAY_EPS(0.4002, 0),
     .truth = 0.400083364597,
     .width = 20,
     .num_inputs = 1,
     .num_pairs = 3,
     .pairs = rappor_pairs,
     .param = {0.5125, 0.4875},
     .draw = draw_rappor,
     .llr = llr_rappor},
    {.name = "OneTimeRappor",
     .note = "correct",
     .claim = ASSAY_EPS(0.8007, 0),
     .truth = 0.800667668456,
     .width = 20,
     .num_inputs = 1,
     .num_pairs = 3,
     .pairs = rappor_pairs,
     .param = {0.525, 0.475},
     .draw = draw_rappor,
     .llr = llr_rappor},
    LDP("GRR", "correct, k = 4", 1, 0, 1, draw_grr, llr_grr, 4,
        0.47536688641867),
    LDP("SUE", "correct, k = 6", 1, 0, 6, draw_unary, llr_unary,
        0.62245933120185, 0.37754066879815),
    LDP("OUE", "correct, k = 6", 1, 0, 6, draw_unary, llr_unary, 0.5,
        0.26894142136999512),
    LDP("SUE-bug", "full epsilon for each of two bits", 2, 1, 6, draw_unary,
        llr_unary, 0.73105857863000488, 0.26894142136999512),
    LDP("BLH", "correct", 1, 0, 3, draw_hash, llr_hash, 2, 0.73105857863000488),
    LDP("OLH", "correct, g = 4", 1, 0, 3, draw_hash, llr_hash, 4,
        0.47536688641867),
    LDP("SHE", "correct, k = 4", 1, 0, 4, draw_histogram, llr_histogram, 2, 0),
    LDP("THE", "correct, k = 4", 0.8891585610444702, 0, 4, draw_histogram,
        llr_threshold, 2, 0.7),
    LDP("SS", "correct: subsets of 2 of 6", 1, 0, 6, draw_subset, llr_subset, 2,
        0.5761168847658291),
    APPROXIMATE("AGRR", "correct, k = 4", 0.01, 1, 0, 1, draw_grr, llr_grr, 4,
                0.48061321755448494),
    APPROXIMATE("ASUE", "correct, k = 6", 0.01, 1, 0, 6, draw_unary, llr_unary,
                0.6254967922139799, 0.3745032077860201),
    APPROXIMATE("ABLH", "correct", 0.01, 0.986086693227944, 0, 3, draw_hash,
                llr_hash, 2, 0.7337479928437048),
    APPROXIMATE("AOLH", "correct, g = 4", 0.01, 0.9928918394601774, 0, 3,
                draw_hash, llr_hash, 4, 0.48061321755448494),
    APPROXIMATE("GM", "correct: classic Gaussian, k = 4", 1e-5,
                0.7509769568672044, 0, 4, draw_one_hot, llr_one_hot,
                6.851589309433086),
    APPROXIMATE("AGM", "correct: analytic Gaussian, k = 4", 1e-5, 1, 0, 4,
                draw_one_hot, llr_one_hot, 5.27590985417482),
    {.name = NULL},
};
