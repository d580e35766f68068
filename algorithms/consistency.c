/* ring: glue */
#include "algorithms/consistency.h"

#include "algorithms/rows.h"

/* The t with sum max(y - t, 0) = goal < sum y, by Newton's (Michelot's)
 * iteration: t only rises and the set above it only shrinks, so it ends after
 * at most n rounds (about three in practice). */
static double water_level(const double *y, size_t n, double sum, double goal)
{
    double number = (double)n;
    double t = (sum - goal) / number;
    for (size_t round = 0; round < n; round++) {
        double left;
        double above = assay_row_above(y, n, t, &left);
        double next;
        if (left < 1.0 || left >= number) {
            break;
        }
        next = t + (above - goal) / left;
        if (next <= t) {
            break;
        }
        t = next;
        number = left;
    }
    return t;
}

double assay_consistency_level(const double *y, size_t n, double sum,
                               double total, double slack)
{
    if (sum > total + slack) {
        return water_level(y, n, sum, total + slack);
    }
    if (sum < total - slack) {
        return -(total - slack - sum) / (double)n;
    }
    return 0.0;
}
