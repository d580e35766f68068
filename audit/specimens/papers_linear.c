/* ring: glue */
/*
 * DP-VAPVI as printed elsewhere in the paper (docs/paper-claims.md), one step
 * of the horizon. Every released number is Gaussian, so a pair is the two
 * lists of means, and a specimen is the list of variances times rho0.
 */
#include <math.h>

#include "audit/specimens/specimens.h"

/* param[0] is rho0; param[1] the number of matrix cells in front, of which
 * every third is off the diagonal: (Z + Z')/sqrt 2 with Z ~ 1/(4 rho0);
 * param[2] the variance times rho0 of the others. */
static double deviation(const assay_specimen *s, size_t j)
{
    double rho0 = s->param[0];
    if ((double)j < s->param[1]) {
        return sqrt((j % 3 == 2 ? 0.25 : 0.5) / rho0);
    }
    return sqrt(s->param[2] / rho0);
}

static void draw_means(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    for (size_t j = 0; j < s->width; j++) {
        assay_rng_gauss(rng, out->value[j], n, q[j], deviation(s, j));
    }
}

static void llr_means(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const double *a = o->pair.q[0];
    const double *b = o->pair.q[1];
    for (size_t i = 0; i < rows->num; i++) {
        out[i] = 0;
        for (size_t j = 0; j < o->specimen->width; j++) {
            double sd = deviation(o->specimen, j);
            double x = rows->value[j][i];
            out[i] += ((x - b[j]) * (x - b[j]) - (x - a[j]) * (x - a[j])) /
                      (2 * sd * sd);
        }
    }
}

/* phi1 = phi V^2 and phi2 = phi V with V = H = 20, phi = 1 against -1: at
 * cosine -1 the matrix does not change. With phi1 ~ 2 H^2/rho0, where V^2 needs
 * 2 H^4/rho0, a step costs rho0 (H^2 + 1) = 401 rho0 instead of 5 rho0. */
static const assay_pair opposite[] = {{{{400, 20}, {-400, -20}}}};

/* Two features of the usual +-1 map of norm 3, orthogonal: phi phi' (twice:
 * both matrices) as (11, 22, 12), and phi three times. With norm 1 the cost is
 * 4 + 1.5 in units of rho0, here 4 * 81 + 1.5 * 9. */
static const assay_pair orthogonal[] = {
    {{{9, 0, 0, 9, 0, 0, 3, 0, 3, 0, 3, 0},
      {0, 9, 0, 0, 9, 0, 0, 3, 0, 3, 0, 3}}}};

const assay_specimen assay_specimens_papers_linear[] = {
    {.name = "VAPVI-phi1-printed",
     .note = "one step of H = 20, phi1 ~ 2H^2/rho0",
     .claim = {ASSAY_CLAIM_RHO, 0.05, 0},
     .truth = 4.01,
     .violates = 1,
     .width = 2,
     .num_inputs = 2,
     .num_pairs = 1,
     .pairs = opposite,
     .param = {0.01, 0, 800},
     .draw = draw_means,
     .llr = llr_means},
    {.name = "VAPVI-phi1-corrected",
     .note = "one step of H = 20, phi1 ~ 2H^4/rho0 (in units of H)",
     .claim = {ASSAY_CLAIM_RHO, 0.05, 0},
     .truth = 0.02,
     .width = 2,
     .num_inputs = 2,
     .num_pairs = 1,
     .pairs = (const assay_pair[]){{{{1, 1}, {-1, -1}}}},
     .param = {0.01, 0, 2},
     .draw = draw_means,
     .llr = llr_means},
    {.name = "VAPVI-norm-3",
     .note = "features not divided by their norm",
     .claim = {ASSAY_CLAIM_RHO, 1, 0},
     .truth = 67.5,
     .violates = 1,
     .width = 12,
     .num_inputs = 12,
     .num_pairs = 1,
     .pairs = orthogonal,
     .param = {0.2, 6, 2},
     .draw = draw_means,
     .llr = llr_means},
    {.name = NULL},
};
