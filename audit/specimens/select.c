/* ring: glue */
/* Selection: report noisy max and its broken cousins. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "audit/specimens/laws.h"

#define P(k) (s->param[k])

/* param: scale, noise (0 Laplace, 1 exponential, 2 Gumbel), value released? */
static void noise(const assay_specimen *s, assay_rng *rng, double *x, size_t n,
                  double location)
{
    if (P(1) < 0.5) {
        assay_rng_laplace(rng, x, n, location, P(0));
    } else if (P(1) < 1.5) {
        assay_rng_exponential(rng, x, n, location, P(0));
    } else {
        assay_rng_gumbel(rng, x, n, location, P(0));
    }
}

static void draw_max(const assay_specimen *s, const double *q, assay_rng *rng,
                     size_t n, assay_rows *out)
{
    double best[ASSAY_ROWS_BLOCK], x[ASSAY_ROWS_BLOCK];
    double *index = out->value[0];
    noise(s, rng, best, n, q[0]);
    for (size_t i = 0; i < n; i++) {
        index[i] = 0;
    }
    for (size_t j = 1; j < s->num_inputs; j++) {
        noise(s, rng, x, n, q[j]);
        for (size_t i = 0; i < n; i++) {
            index[i] = x[i] > best[i] ? (double)j : index[i];
            best[i] = x[i] > best[i] ? x[i] : best[i];
        }
    }
    for (size_t i = 0; P(2) > 0.5 && i < n; i++) {
        index[i] = best[i];
    }
}

static double pdf(const assay_specimen *s, double x)
{
    double b = P(0);
    if (P(1) < 0.5) {
        return assay_law_laplace_pdf(x, b);
    }
    if (P(1) < 1.5) {
        return x < 0 ? 0 : exp(-x / b) / b;
    }
    return exp(-x / b - exp(-x / b)) / b;
}

static double cdf(const assay_specimen *s, double x)
{
    double b = P(0);
    if (P(1) < 0.5) {
        return assay_law_laplace_cdf(x, b);
    }
    if (P(1) < 1.5) {
        return x < 0 ? 0 : -expm1(-x / b);
    }
    return exp(-exp(-x / b));
}

/* Density at x of "answer j is x and the largest" for each j: by products of
 * the cdfs before and after j, so that each is computed once. */
static void wins(double *out, const assay_specimen *s, const double *q,
                 double x)
{
    double below[ASSAY_SPECIMEN_INPUTS] = {0}, before = 1, after = 1;
    for (size_t j = 0; j < s->num_inputs; j++) {
        out[j] = pdf(s, x - q[j]) * before;
        below[j] = cdf(s, x - q[j]);
        before *= below[j];
    }
    for (size_t j = s->num_inputs; j-- > 0;) {
        out[j] *= after;
        after *= below[j];
    }
}

static void prepare_index(assay_oracle *o)
{
    const assay_specimen *s = o->specimen;
    double p[ASSAY_SPECIMEN_INPUTS], h = P(0) / 500;
    for (int side = 0; side < 2; side++) {
        double *sum = o->table + (size_t)side * ASSAY_SPECIMEN_TABLE;
        memset(sum, 0, s->num_inputs * sizeof *sum);
        for (double x = -30 * P(0) + h / 3; x < 40 * P(0); x += h) {
            wins(p, s, o->pair.q[side], x);
            for (size_t j = 0; j < s->num_inputs; j++) {
                sum[j] += p[j] * h;
            }
        }
    }
}

static void llr_index(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    for (size_t i = 0; i < rows->num; i++) {
        size_t j = (size_t)rows->value[0][i];
        out[i] = log(o->table[j] / o->table[ASSAY_SPECIMEN_TABLE + j]);
    }
}

static void llr_value(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double p[2] = {0, 0}, each[ASSAY_SPECIMEN_INPUTS];
        for (int side = 0; side < 2; side++) {
            wins(each, s, o->pair.q[side], rows->value[0][i]);
            for (size_t j = 0; j < s->num_inputs; j++) {
                p[side] += each[j];
            }
        }
        out[i] = fmin(fmax(log(p[0] / p[1]), -100), 100);
    }
}

#define CHOICE(label, text, eps, n, true_eps, bad, kind, value, domain)        \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(eps, 0),               \
        .truth = true_eps, .violates = bad, .width = 1, .num_inputs = n,       \
        .neighbours = ASSAY_PAIR_ALL, .param = {2 / (eps), kind, value},       \
        .draw = draw_max, .prepare = value ? NULL : prepare_index,             \
        .llr = value ? llr_value : llr_index, .search = domain                 \
    }
#define RNM(label, text, true_eps, bad, kind, value, domain)                   \
    CHOICE(label, text, 0.1, 5, true_eps, bad, kind, value, domain)
#define STATDP(label, text, true_eps, bad, kind, value)                        \
    CHOICE("StatDP-" label, text, 0.7, 10, true_eps, bad, kind, value, 0)

const assay_specimen assay_specimens_select[] = {
    RNM("RNM1", "correct", 0.1, 0, 0, 0, 0),
    RNM("RNM2", "correct", 0.1, 0, 1, 0, 0),
    RNM("RNM3", "value released", 0.25, 1, 0, 1, 0),
    RNM("RNM4", "value of one-sided noise released", INFINITY, 1, 1, 1, 10),
    RNM("NoisyMax-Gumbel", "correct", 0.1, 0, 2, 0, 0),
    STATDP("noisy_max_v1a", "correct", 0.7, 0, 0, 0),
    STATDP("noisy_max_v2a", "correct", 0.7, 0, 1, 0),
    STATDP("noisy_max_v1b", "value released", 3.5, 1, 0, 1),
    STATDP("noisy_max_v2b", "value of one-sided noise released", INFINITY, 1, 1,
           1),
    {.name = NULL},
};
