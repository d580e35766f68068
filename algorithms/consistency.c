/* ring: glue */
#include "algorithms/consistency.h"

double assay_consistency_sum(const double *x, size_t n)
{
    double part[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        part[0] += x[i];
        part[1] += x[i + 1];
        part[2] += x[i + 2];
        part[3] += x[i + 3];
    }
    for (; i < n; i++) {
        part[0] += x[i];
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* Sum and number of the coordinates above t. */
static double sum_above(const double *x, size_t n, double t, double *number)
{
    double part[4] = {0.0, 0.0, 0.0, 0.0};
    double count[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            part[k] += x[i + k] > t ? x[i + k] : 0.0;
            count[k] += x[i + k] > t ? 1.0 : 0.0;
        }
    }
    for (; i < n; i++) {
        part[0] += x[i] > t ? x[i] : 0.0;
        count[0] += x[i] > t ? 1.0 : 0.0;
    }
    *number = (count[0] + count[1]) + (count[2] + count[3]);
    return (part[0] + part[1]) + (part[2] + part[3]);
}

/* The t with sum max(y - t, 0) = goal < sum y, by Michelot's iteration: t only
 * rises and the set above it only shrinks, so it ends after at most n rounds
 * (three or four in practice). */
static double water_level(const double *y, size_t n, double sum, double goal)
{
    double number = (double)n;
    double t = (sum - goal) / number;
    for (size_t round = 0; round < n; round++) {
        double left;
        double above = sum_above(y, n, t, &left);
        double next;
        if (left < 1.0 || left >= number) {
            break;
        }
        next = (above - goal) / left;
        if (next <= t) {
            break;
        }
        t = next;
        number = left;
    }
    return t;
}

static void shift(double *x, size_t n, double by)
{
    for (size_t i = 0; i < n; i++) {
        double v = x[i] + by;
        x[i] = v > 0.0 ? v : 0.0;
    }
}

double assay_consistency_project(double *x, size_t n, double total,
                                 double slack)
{
    double sum = assay_consistency_sum(x, n);
    if (sum > total + slack) {
        shift(x, n, -water_level(x, n, sum, total + slack));
    } else if (sum < total - slack) {
        shift(x, n, (total - slack - sum) / (double)n);
    } else {
        return sum;
    }
    return assay_consistency_sum(x, n);
}
