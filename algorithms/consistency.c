/* ring: glue */
#include "algorithms/consistency.h"

/* The t that goes with the entries above `level`; 0 to begin anew at 0. */
static double next_level(const assay_row_sums *sums, int64_t level, size_t n,
                         double total, double slack)
{
    double sum = sums->weighted[0]; /* of all entries if level <= 0 */
    if (sum > total + slack) {
        return (sum - (total + slack)) / sums->number;
    }
    if (level <= 0 && sum < total - slack) {
        return -(total - slack - sum) / (double)n;
    }
    return 0.0;
}

/* Where t is 0 the entries that are 0 do not matter. */
static int settled(int64_t level, double t)
{
    int64_t wanted = t < 0.0 ? -1 : (int64_t)t;
    return level == wanted || (level == -1 && t <= 0.0);
}

void assay_consistency_project(assay_consistency *out, int64_t *level,
                               const int64_t *row, const double *v, size_t n,
                               double total, double slack)
{
    assay_row_sums sums;
    double t;
    assay_row_sum(&sums, row, v, n, *level);
    t = next_level(&sums, *level, n, total, slack);
    /* at most n different sets, and two steps down from too high a guess */
    for (size_t round = 0; round < n + 3 && !settled(*level, t); round++) {
        *level = t < 0.0 ? -1 : (int64_t)t;
        assay_row_sum(&sums, row, v, n, *level);
        t = next_level(&sums, *level, n, total, slack);
    }
    out->t = t;
    out->moment[0] = sums.weighted[0] - t * sums.number;
    out->moment[1] = sums.weighted[1] - t * sums.plain[0];
    out->moment[2] = sums.weighted[2] - t * sums.plain[1];
}
