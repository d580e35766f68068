/* ring: glue */
/** Ridge regression whose penalties are found by marginal likelihood. */
#ifndef ASSAY_AUDIT_EVIDENCE_H
#define ASSAY_AUDIT_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY_FAMILIES 27
#define ASSAY_EVIDENCE_OFF 1e9 /* a precision that silences a family */

/** A quadratic log likelihood b'g - b'Hb/2 of coefficients b that are a priori
 *  normal with mean 0 and precision lambda[family]. Family 0 is hardly
 *  penalised. */
typedef struct assay_evidence {
    size_t num; /* coefficients */
    const uint8_t *family;
    double *hess; /* num x num, lower triangle by rows */
    double *grad;
    double *work; /* num x num + num */
    double lambda[ASSAY_FAMILIES];
    uint32_t rich; /* bit f: family f has many coefficients; try it last too */
} assay_evidence;

/** Precisions (powers of ten) of large marginal likelihood: from those given,
 *  one family after the other takes its best, the one that gains most first;
 *  the same with the rich families last, if that is better. */
void assay_evidence_tune(assay_evidence *e);

/** The mode into `out`; 0 if the matrix is not positive definite. */
int assay_evidence_solve(const assay_evidence *e, double *out);

#endif
