/* ring: glue */
/**
 * The consistency projection of DP-APVI, in closed form.
 *
 *   min_x max_i |x_i - y_i|   with  |sum x - total| <= slack,  x >= 0
 *
 * for y >= 0, total >= 0 and slack >= 0. If sum y is within the slack, x = y.
 * If it is too small, every coordinate rises by (total - slack - sum y)/n. If
 * it is too large, x_i = max(y_i - t, 0) with the one t >= 0 (water filling)
 * for which the sum is total + slack. Each is optimal: a smaller largest
 * change could not move the sum as far.
 */
#ifndef ASSAY_ALGORITHMS_CONSISTENCY_H
#define ASSAY_ALGORITHMS_CONSISTENCY_H

#include <stddef.h>

/** `x` holds y and becomes the projection; returns its sum. */
double assay_consistency_project(double *x, size_t n, double total,
                                 double slack);

/** Sum of an array in a fixed order of its own (four partial sums). */
double assay_consistency_sum(const double *x, size_t n);

#endif
