/* ring: glue */
/**
 * Small symmetric systems after a release (LAPACK; post-processing).
 */
#ifndef ASSAY_ALGORITHMS_LINEAR_SOLVE_H
#define ASSAY_ALGORITHMS_LINEAR_SOLVE_H

#include <stddef.h>

#include "core/error.h"

/**
 * The inverse of a symmetric matrix whose eigenvalues below `floor` are raised
 * to it: how a noisy matrix that is not positive definite is repaired. It is
 * never drawn again. floor > 0.
 */
assay_status assay_floor_inverse(double *inverse, const double *matrix,
                                 size_t d, double floor,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** x with matrix x = b for a general square matrix; ASSAY_RANGE if singular. */
assay_status assay_solve(double *x, const double *matrix, const double *b,
                         size_t d, assay_error *err) ASSAY_MUST_CHECK;

/** y = M x, and x' M x. */
void assay_times(double *y, const double *matrix, const double *x, size_t d);
double assay_quadratic(const double *matrix, const double *x, size_t d);

#endif
