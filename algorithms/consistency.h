/* ring: glue */
/**
 * The consistency projection of DP-APVI, in closed form.
 *
 *   min_x max_i |x_i - y_i|   with  |sum x - total| <= slack,  x >= 0
 *
 * for y >= 0, total >= 0 and slack >= 0. The solution is x_i = max(y_i - t, 0)
 * for one number t. If sum y is within the slack, t = 0. If it is too small,
 * t < 0: every coordinate rises by (total - slack - sum y)/n. If it is too
 * large, t > 0 is the water level at which the sum is total + slack. Each is
 * optimal: a smaller largest change could not move the sum as far.
 */
#ifndef ASSAY_ALGORITHMS_CONSISTENCY_H
#define ASSAY_ALGORITHMS_CONSISTENCY_H

#include <stddef.h>

/** The t of the projection; `sum` is the sum of y. */
double assay_consistency_level(const double *y, size_t n, double sum,
                               double total, double slack);

#endif
