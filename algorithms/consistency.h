/* ring: glue */
/**
 * The consistency projection of DP-APVI, in closed form.
 *
 *   min_x max_i |x_i - y_i|   with  |sum x - total| <= slack,  x >= 0
 *
 * for integers y >= 0, total >= 0 and slack >= 0. The solution is
 * x_i = max(y_i - t, 0) for one number t. If sum y is within the slack, t = 0.
 * If it is too small, t < 0: every coordinate rises by
 * (total - slack - sum y)/n. If it is too large, t > 0 is the water level at
 * which the sum is total + slack. Each is optimal: a smaller largest change
 * could not move the sum as far.
 *
 * Above the water are the y > floor(t), so what has to be found is a whole
 * number. Newton's iteration on it: from any start the second value is at most
 * the solution, from there it only rises. A start that is right costs one
 * pass, which gives the moments too.
 */
#ifndef ASSAY_ALGORITHMS_CONSISTENCY_H
#define ASSAY_ALGORITHMS_CONSISTENCY_H

#include "algorithms/rows.h"

typedef struct assay_consistency {
    double t;
    double moment[3]; /* sums of x, x v and x v^2 */
} assay_consistency;

/** Projects y = row clipped to [0, 2^50]. *level is a guess of floor(t), at
 *  least -1, and then the answer (-1 for every t < 0). */
void assay_consistency_project(assay_consistency *out, int64_t *level,
                               const int64_t *row, const double *v, size_t n,
                               double total, double slack);

#endif
