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
 * pass over the row, in integers; one more pass gives the moments.
 *
 * Short rows are summed from left to right, long ones in eight partial sums in
 * a fixed pattern: the result is the same on every machine and for every number
 * of threads.
 */
#ifndef ASSAY_ALGORITHMS_CONSISTENCY_H
#define ASSAY_ALGORITHMS_CONSISTENCY_H

#include <stddef.h>
#include <stdint.h>

#define ASSAY_CONSISTENCY_ROWS 64u
#define ASSAY_CONSISTENCY_SHORT 24u /* entries of a short row, at most */

/* Row i has t[i] and the sums of x, x v and x v^2. */
typedef struct assay_consistency {
    double t[ASSAY_CONSISTENCY_ROWS];
    double moment[3][ASSAY_CONSISTENCY_ROWS];
} assay_consistency;

/**
 * Projects y = row clipped to [0, 2^50] for `count` rows of n entries that lie
 * behind each other, at most ASSAY_CONSISTENCY_ROWS; n is at most 2^17. Rows
 * with total[i] < 0 are left out: zeros. level[i] is a guess of floor(t), at
 * least -1, and then the answer (-1 for every t < 0). Several rows at once
 * because the CPU then waits for none of them; meanwhile memory is asked for
 * as many rows from `next` on, which need not exist.
 */
void assay_consistency_project(assay_consistency *out, int64_t *level,
                               const int64_t *rows, const double *v, size_t n,
                               const double *total, double slack, size_t count,
                               const int64_t *next);

/** How many rows of n entries go best at once on this CPU. */
size_t assay_consistency_rows(size_t n);

/** The same, one number after the other: what the others are tested against. */
void assay_consistency_project_plain(assay_consistency *out, int64_t *level,
                                     const int64_t *rows, const double *v,
                                     size_t n, const double *total,
                                     double slack, size_t count,
                                     const int64_t *next);

#endif
