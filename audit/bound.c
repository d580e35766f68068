/* ring: glue */
#include "audit/bound.h"

#include <gmp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/binomial.h"
#include "core/rational.h"

/* ---- claims ------------------------------------------------------------- */

static assay_status read_up(double *out, const char *text, const char *what,
                            assay_error *err)
{
    mpq_t q;
    mpq_init(q);
    assay_status status = assay_rational_parse(q, text, what, err);
    if (status == ASSAY_OK && mpq_sgn(q) < 0) {
        status =
            assay_fail(err, ASSAY_INVALID, "%s must not be negative", what);
    }
    if (status == ASSAY_OK) {
        double d = mpq_get_d(q); /* truncates towards zero */
        mpq_t back;
        mpq_init(back);
        mpq_set_d(back, d);
        *out = mpq_cmp(back, q) < 0 ? nextafter(d, INFINITY) : d;
        mpq_clear(back);
    }
    mpq_clear(q);
    return status;
}

static assay_status read_pair(assay_claim *out, char *item, int *have,
                              assay_error *err)
{
    char *eq = strchr(item, '=');
    if (eq == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "claim '%.60s': write eps=1, eps=1,delta=1e-6, "
                          "rho=0.5 or mu=1",
                          item);
    }
    *eq = '\0';
    if (strcmp(item, "delta") == 0) {
        assay_status status = read_up(&out->delta, eq + 1, "delta", err);
        if (status == ASSAY_OK && out->delta >= 1) {
            return assay_fail(err, ASSAY_INVALID, "delta must be below 1");
        }
        return status;
    }
    static const char *const names[] = {"eps", "rho", "mu"};
    for (int k = 0; k < 3; k++) {
        if (strcmp(item, names[k]) == 0 && !*have) {
            *have = 1;
            out->kind = (assay_claim_kind)k;
            return read_up(&out->value, eq + 1, names[k], err);
        }
    }
    return assay_fail(err, ASSAY_INVALID,
                      "claim: '%.20s' is not one of eps, delta, rho, mu, or "
                      "comes twice",
                      item);
}

assay_status assay_claim_parse(assay_claim *out, const char *text,
                               assay_error *err)
{
    char copy[200];
    assay_claim claim = {ASSAY_CLAIM_EPS, 0, 0};
    int have = 0;
    if (text == NULL || strlen(text) >= sizeof copy) {
        return assay_fail(err, ASSAY_INVALID, "claim: too long or missing");
    }
    (void)snprintf(copy, sizeof copy, "%s", text);
    char *rest = NULL;
    for (char *item = strtok_r(copy, ",", &rest); item != NULL;
         item = strtok_r(NULL, ",", &rest)) {
        assay_status status = read_pair(&claim, item, &have, err);
        if (status != ASSAY_OK) {
            return status;
        }
    }
    if (!have) {
        return assay_fail(err, ASSAY_INVALID,
                          "claim: state eps, rho or mu, e.g. eps=1");
    }
    if (claim.kind != ASSAY_CLAIM_EPS && claim.delta > 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "claim: delta goes with eps only");
    }
    *out = claim;
    return ASSAY_OK;
}

void assay_claim_text(char *out, size_t len, const assay_claim *claim)
{
    static const char *const names[] = {"eps", "rho", "mu"};
    if (claim->delta > 0) {
        (void)snprintf(out, len, "eps=%g,delta=%g", claim->value, claim->delta);
    } else {
        (void)snprintf(out, len, "%s=%g", names[claim->kind], claim->value);
    }
}

/* ---- what an event forces ----------------------------------------------- */

/* ln(p^a q^(1-a) + (1-p)^a (1-q)^(1-a)) / (a (a-1)) for 0 < q < p < 1. */
static double two_point(double p, double q, double a)
{
    double x = a * log(p) + (1 - a) * log(q);
    double y = a * log1p(-p) + (1 - a) * log1p(-q);
    double m = fmax(x, y);
    return (m + log(exp(x - m) + exp(y - m))) / (a * (a - 1));
}

static double forced_rho(double p, double q)
{
    if (q <= 0) {
        return INFINITY;
    }
    if (p >= 1) {
        p = 1 - 0x1p-53;
    }
    double best = 0;
    for (double a = 1.05; a < 200; a *= 1.12) {
        best = fmax(best, two_point(p, q, a));
    }
    return best;
}

double assay_claim_forced(const assay_claim *claim, double p1, double p2)
{
    if (!(p1 > p2)) {
        return 0;
    }
    if (claim->kind == ASSAY_CLAIM_RHO) {
        return forced_rho(p1, p2);
    }
    if (claim->kind == ASSAY_CLAIM_MU) {
        return assay_normal_quantile(p1) - assay_normal_quantile(p2);
    }
    double top = p1 - claim->delta;
    if (!(top > p2)) {
        return 0;
    }
    return log(top) - log(p2);
}

double assay_bound_union(const assay_claim *claim,
                         const assay_audit_counts *counts, double level)
{
    double p1 = assay_binomial_lower(counts->k1, counts->n1, level / 2);
    double p2 = assay_binomial_upper(counts->k2, counts->n2, level / 2);
    double e = assay_claim_forced(claim, p1, p2);
    return e * (1 - 1e-12);
}

/* ---- the joint bound ---------------------------------------------------- */

#define MAX_NODES 160
#define BOX_SHARE 0.004 /* of the level, for each end of p1's range */

typedef struct joint {
    const assay_claim *claim;
    const assay_audit_counts *counts;
    double z, w1, w2;
    size_t num;
    double t[MAX_NODES], p1[MAX_NODES], p2[MAX_NODES];
} joint;

static void node_set(joint *j, size_t i, double t)
{
    const assay_audit_counts *c = j->counts;
    double s = (j->z - j->w1 * t) / j->w2;
    double a = assay_normal_cdf(-t);
    double b = assay_normal_cdf(-s);
    j->t[i] = t;
    a = fmax(a, 1e-290);
    b = fmin(b, 1 - 1e-12); /* a larger p2: safe */
    j->p1[i] = assay_binomial_lower(c->k1, c->n1, fmin(a, 1 - 1e-12));
    j->p2[i] = b > 1e-290 ? assay_binomial_upper(c->k2, c->n2, b) : 1;
}

static void node_insert(joint *j, size_t at, double t)
{
    for (size_t i = j->num; i > at; i--) {
        j->t[i] = j->t[i - 1];
        j->p1[i] = j->p1[i - 1];
        j->p2[i] = j->p2[i - 1];
    }
    j->num++;
    node_set(j, at, t);
}

/* Both p1(t) and p2(t) fall with t, so on a cell the forced parameter is at
 * least that of p1 at its right end and p2 at its left end. */
static double cell_floor(const joint *j, size_t i)
{
    return assay_claim_forced(j->claim, j->p1[i + 1], j->p2[i]);
}

static double joint_minimum(joint *j)
{
    for (;;) {
        double floor_min = INFINITY, seen = INFINITY;
        size_t at = 0;
        for (size_t i = 0; i < j->num; i++) {
            seen = fmin(seen, assay_claim_forced(j->claim, j->p1[i], j->p2[i]));
            if (i + 1 < j->num && cell_floor(j, i) < floor_min) {
                floor_min = cell_floor(j, i);
                at = i;
            }
        }
        if (floor_min > seen - 1e-5 - 2e-5 * seen || j->num >= MAX_NODES ||
            seen <= 0) {
            return floor_min;
        }
        node_insert(j, at + 1, 0.5 * (j->t[at] + j->t[at + 1]));
    }
}

/* The smallest forced parameter over all (p1, p2) with w z1 + sqrt(1-w^2) z2
 * <= z and p1 within its own limits at level `box` on each end. */
static double joint_least(const assay_claim *claim, const assay_audit_counts *c,
                          double z, double box, double w)
{
    if (c->k1 == 0 || c->n1 == 0 || c->n2 == 0) {
        return 0;
    }
    joint j = {.claim = claim, .counts = c, .z = z, .num = 0};
    j.w1 = fmin(fmax(w, 1e-3), 0.999999);
    j.w2 = sqrt(1 - j.w1 * j.w1);
    /* p1 is below its own upper limit and above its lower one */
    double top = assay_binomial_upper(c->k1, c->n1, box);
    double below = assay_binomial_at_most(c->k1 - 1, c->n1, top);
    double t_min = assay_normal_quantile(fmax(below * (1 - 1e-6), 1e-280));
    double t_max = -assay_normal_quantile(box);
    static const double at[] = {0, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 1};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        node_set(&j, i, t_min + at[i] * (t_max - t_min));
        j.num++;
    }
    return joint_minimum(&j) * (1 - 1e-12);
}

double assay_bound_joint(const assay_claim *claim,
                         const assay_audit_counts *counts, double level,
                         double w)
{
    if (!(level > 0)) {
        return 0;
    }
    level *= 1 - 1e-9; /* the normal quantiles are good to 1e-14 */
    return joint_least(claim, counts,
                       -assay_normal_quantile(level * (1 - 2 * BOX_SHARE)),
                       level * BOX_SHARE, w);
}

/* If the true parameter survives (both stages' p1 within their limits, too), Z1
 * <= t or Z2 <= (z - v1 t)/v2 for every t: it is at least the smaller of what
 * these leave. The first falls with t, the second grows. */
static double two_stages(const assay_claim *claim,
                         const assay_audit_counts *counts, const double *w,
                         double level)
{
    double n = (double)counts[0].n1 + (double)counts[1].n1;
    double v1 = sqrt((double)counts[0].n1 / n), v2 = sqrt(1 - v1 * v1);
    double z = -assay_normal_quantile(level * (1 - 4 * BOX_SHARE)), best = 0;
    double lo = v1 * z - 4, hi = v1 * z + 4, t = v1 * z;
    for (int i = 0; i < 14; i++) {
        double a = joint_least(claim, &counts[0], t, level * BOX_SHARE, w[0]);
        double b = joint_least(claim, &counts[1], (z - v1 * t) / v2,
                               level * BOX_SHARE, w[1]);
        best = fmax(best, fmin(a, b));
        if (fabs(a - b) < 1e-4 * best) {
            break;
        }
        *(a > b ? &lo : &hi) = t;
        t = 0.5 * (lo + hi);
    }
    return best;
}

double assay_bound_stages(const assay_claim *claim,
                          const assay_audit_counts *counts, const double *w,
                          size_t num, double level)
{
    if (num == 0 || !(level > 0)) {
        return 0;
    }
    if (num == 2 && counts[0].n1 > 0 && counts[1].n1 > 0) {
        return two_stages(claim, counts, w, level * (1 - 1e-9));
    }
    size_t only = num == 2 && counts[0].n1 == 0 ? 1 : 0;
    return assay_bound_joint(claim, &counts[only], level, w[only]);
}

double assay_bound_weight(double p1, uint64_t n1, double p2, uint64_t n2)
{
    double a = fmax(p1, 0.5 / (double)n1), b = fmax(p2, 0.5 / (double)n2);
    double v1 = fmax(1 - a, 1e-9) / (a * (double)n1);
    double v2 = fmax(1 - b, 1e-9) / (b * (double)n2);
    return sqrt(fmin(fmax(v1 / (v1 + v2), 1e-6), 1 - 1e-6));
}

static double shift(double p, double z, double n)
{
    double a = asin(sqrt(fmin(fmax(p, 0), 1))) + z / (2 * sqrt(n));
    a = fmin(fmax(a, 0), 1.57079632679489661923);
    return sin(a) * sin(a);
}

double assay_bound_fast(const assay_claim *claim, double k1, double n1,
                        double k2, double n2, double level)
{
    double z = -assay_normal_quantile(level);
    double a = k1 / n1, b = (k2 + 1) / n2;
    double v1 = fmax(1 - a, 1e-9) / fmax(k1, 0.5);
    double v2 = fmax(1 - b, 1e-9) / (k2 + 1);
    double w1 = sqrt(v1 / (v1 + v2)), w2 = sqrt(v2 / (v1 + v2));
    return assay_claim_forced(claim, shift(a, -z * w1, n1),
                              shift(b, z * w2, n2));
}

/* ---- detection limit ----------------------------------------------------- */

/* The p1 that an exactly-`value` mechanism allows at p2 (approximately, for
 * rho: through the Gaussian of the same rho). */
static double allowed(const assay_claim *claim, double value, double p2)
{
    if (claim->kind == ASSAY_CLAIM_EPS) {
        return exp(value) * p2 + claim->delta;
    }
    double mu = claim->kind == ASSAY_CLAIM_MU ? value : sqrt(2 * value);
    return assay_normal_cdf(assay_normal_quantile(p2) + mu);
}

static int found(const assay_claim *claim, double value, double p2, double n,
                 double level)
{
    double p1 = allowed(claim, value, p2);
    if (!(p1 < 1)) {
        return 0;
    }
    double w = assay_bound_weight(p1, (uint64_t)n, p2, (uint64_t)n);
    double k1 = n * shift(p1, -1.645 * w, n);
    double k2 = n * shift(p2, 1.645 * sqrt(1 - w * w), n);
    assay_claim plain = *claim;
    if (plain.kind == ASSAY_CLAIM_RHO) { /* the profile sees the Gaussian */
        plain.kind = ASSAY_CLAIM_MU;
        plain.value = sqrt(2 * claim->value);
    }
    return assay_bound_fast(&plain, k1, n, k2, n, level) > plain.value;
}

static double limit_at(const assay_claim *claim, double p2, double n,
                       double level)
{
    /* the largest parameter whose p1 stays below 1 */
    double top = log((1 - claim->delta) * (1 - 1e-9) / p2);
    if (claim->kind != ASSAY_CLAIM_EPS) {
        double mu = assay_normal_quantile(1 - 1e-9) - assay_normal_quantile(p2);
        top = claim->kind == ASSAY_CLAIM_MU ? mu : mu * mu / 2;
    }
    if (top <= claim->value || !found(claim, top, p2, n, level)) {
        return INFINITY;
    }
    double lo = claim->value, hi = top;
    for (int i = 0; i < 60; i++) {
        double mid = 0.5 * (lo + hi);
        if (found(claim, mid, p2, n, level)) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    return hi;
}

double assay_bound_detection_limit(const assay_claim *claim, uint64_t n,
                                   double level, double *mass)
{
    double best = INFINITY;
    *mass = 0;
    for (double p2 = 0.6; p2 > 0.5 / (double)n; p2 *= 0.8) {
        double x = limit_at(claim, p2, (double)n, level);
        if (x < best) {
            best = x;
            *mass = p2;
        }
    }
    return best;
}
