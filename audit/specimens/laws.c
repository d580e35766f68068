/* ring: glue */
#include "audit/specimens/laws.h"

#include <math.h>

#define P(k) (s->param[k])

double assay_law_laplace_pdf(double x, double b)
{
    return exp(-fabs(x) / b) / (2 * b);
}

double assay_law_laplace_cdf(double x, double b)
{
    if (b <= 0) {
        return x > 0 ? 1 : 0;
    }
    return x < 0 ? exp(x / b) / 2 : 1 - exp(-x / b) / 2;
}

/* ---- quotients ---------------------------------------------------------- */

/* The integral of t exp(a t + b); a < 0 if `to` is infinite. */
static double moment(double from, double to, double a, double b)
{
    double width = to - from;
    if (fabs(a * width) < 1e-4) { /* the antiderivative would cancel */
        double mid = (from + to) / 2;
        return exp(a * mid + b) * width * (mid + a * width * width / 12);
    }
    double end = isinf(to) ? 0 : exp(a * to + b) * (to / a - 1 / (a * a));
    return end - exp(a * from + b) * (from / a - 1 / (a * a));
}

/* The integral of f_N(t) t f_S(r t) over t > least, between the corners of the
 * two exponents. */
double assay_law_quotient_above(const assay_quotient *q, double r)
{
    double corner = r != 0 ? q->s / r : 0, p = 0;
    double c1 = fmax(fmin(q->n, corner), q->least);
    double c2 = fmax(fmax(q->n, corner), q->least);
    const double cut[4] = {q->least, c1, c2, INFINITY};
    for (int k = 0; k < 3; k++) {
        double t = k < 2 ? (cut[k] + cut[k + 1]) / 2 : cut[k] + 1;
        double u = t < q->n ? 1 : -1, v = r * t < q->s ? 1 : -1;
        if (cut[k + 1] > cut[k]) {
            p += moment(cut[k], cut[k + 1], u / q->b2 + v * r / q->b1,
                        -u * q->n / q->b2 - v * q->s / q->b1);
        }
    }
    return p / (4 * q->b1 * q->b2);
}

double assay_law_quotient(const assay_quotient *q, double r)
{
    return assay_law_laplace_cdf(q->least - q->n, q->b2) * q->least *
               assay_law_laplace_pdf(r * q->least - q->s, q->b1) +
           assay_law_quotient_above(q, r);
}

/* ---- snapping ----------------------------------------------------------- */

static double snapping_scale(const assay_specimen *s)
{
    return (1 + P(1) * 0x1p-49) / P(0);
}

double assay_law_snapping_grid(const assay_specimen *s)
{
    return exp2(ceil(log2(snapping_scale(s))));
}

/* The chance of y, a multiple of the grid or the bound. A raw zero has a sign:
 * that of what was rounded. */
static double snapping_chance(const assay_specimen *s, double q, double y)
{
    double bound = P(1), grid = assay_law_snapping_grid(s), half = grid / 2;
    double b = snapping_scale(s), x = fmin(fmax(q, -bound), bound);
    double top = grid * ceil(bound / grid) - half; /* clamped from there on */
    double lo = y >= bound ? top : y - half, hi = y <= -bound ? -top : y + half;
    if (s->raw && y == 0) {
        lo = signbit(y) != 0 ? lo : 0;
        hi = signbit(y) != 0 ? 0 : hi;
    }
    double below = y <= -bound ? 0 : assay_law_laplace_cdf(lo - x, b);
    double above = y >= bound ? 1 : assay_law_laplace_cdf(hi - x, b);
    return above - below;
}

void assay_law_snapping_llr(const assay_oracle *o, const assay_rows *rows,
                            double *out)
{
    const assay_specimen *s = o->specimen;
    for (size_t i = 0; i < rows->num; i++) {
        double y = rows->value[0][i];
        out[i] = log(snapping_chance(s, o->pair.q[0][0], y) /
                     snapping_chance(s, o->pair.q[1][0], y));
    }
}
