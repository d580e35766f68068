/* ring: glue */
/** Densities that several specimens share. */
#ifndef ASSAY_AUDIT_LAWS_H
#define ASSAY_AUDIT_LAWS_H

#include "audit/specimens/specimens.h"

/** Laplace with scale b; b = 0 is the point 0, with cdf 1 for x > 0 only. */
double assay_law_laplace_pdf(double x, double b);
double assay_law_laplace_cdf(double x, double b);

/**
 * S / max(N, least) with S Laplace around s of scale b1 and N Laplace around n
 * of scale b2, independent.
 */
typedef struct assay_quotient {
    double s, b1, n, b2, least;
} assay_quotient;

/** The density at r of the part N > least, and all of it. */
double assay_law_quotient_above(const assay_quotient *q, double r);
double assay_law_quotient(const assay_quotient *q, double r);

/** Mironov's snapping: param: epsilon, B. The grid, and the log ratio. */
double assay_law_snapping_grid(const assay_specimen *s);
void assay_law_snapping_llr(const assay_oracle *o, const assay_rows *rows,
                            double *out);

#endif
