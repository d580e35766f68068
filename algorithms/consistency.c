/* ring: glue */
#include "algorithms/consistency.h"

#include "algorithms/consistency_lanes.h"

#define TOP ((int64_t)1 << 50)
#define INLINE static inline

typedef struct row_sums {
    double sum, number;
    int safe;
} row_sums;
static int64_t clipped(int64_t y)
{
    return y < 0 ? 0 : y > TOP ? TOP : y;
}

INLINE void find_above(row_sums *u, const int64_t *row, size_t n, int64_t level)
{
    u->safe = 1;
    u->sum = 0.0;
    u->number = 0.0;
    for (size_t i = 0; i < n; i++) {
        int64_t y = clipped(row[i]);
        u->sum += y > level ? (double)y : 0.0;
        u->number += y > level ? 1.0 : 0.0;
    }
}

INLINE void find_moments(double *moment, const int64_t *row, const double *v,
                         size_t n, int64_t level, double t, size_t ahead)
{
    (void)level, (void)ahead;
    moment[0] = 0.0;
    moment[1] = 0.0;
    for (size_t i = 0; i < n; i++) {
        double x = (double)clipped(row[i]) - t;
        x = x > 0.0 ? x * v[i] : 0.0;
        moment[0] += x;
        moment[1] += x * v[i];
    }
}

#include "algorithms/consistency_row.h"

void assay_consistency_project_plain(assay_consistency *out, int64_t *level,
                                     const int64_t *rows, const double *v,
                                     size_t n, const double *total,
                                     double slack, size_t count,
                                     const int64_t *next)
{
    (void)project(out, level, rows, v, n, total, slack, count, next);
}

#ifdef ASSAY_CONSISTENCY_WIDE
static int has_wide(void)
{
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq");
}
#endif

/* What the nearest cache holds, or four, which the next one does; where rows
 * are read in turn (wide), as many as there may be. */
size_t assay_consistency_rows(size_t n)
{
    size_t rows = n <= 4096 ? 4 * (512 / n + 1) : 1;
    size_t most = n <= ASSAY_CONSISTENCY_SHORT ? ASSAY_CONSISTENCY_ROWS : 16;
#ifdef ASSAY_CONSISTENCY_WIDE
    if (n > ASSAY_CONSISTENCY_SHORT && has_wide()) {
        return ASSAY_CONSISTENCY_ROWS;
    }
#endif
    return rows < most ? rows : most;
}

/* Long rows in vectors, if this machine has any and the rows allow it. */
static int project_long(assay_consistency *out, int64_t *level,
                        const int64_t *rows, const double *v, size_t n,
                        const double *total, double slack, size_t count,
                        const int64_t *next)
{
#ifdef ASSAY_CONSISTENCY_WIDE
    if (has_wide()) {
        return assay_consistency_project_wide(out, level, rows, v, n, total,
                                              slack, count, next);
    }
#endif
#ifdef ASSAY_CONSISTENCY_SIDE
    if (__builtin_cpu_supports("avx2")) {
        return assay_consistency_project_long(out, level, rows, v, n, total,
                                              slack, count, next);
    }
#endif
#ifdef ASSAY_CONSISTENCY_LANES
    return assay_consistency_project_lanes(out, level, rows, v, n, total, slack,
                                           count, next);
#else
    (void)out, (void)level, (void)rows, (void)v, (void)n, (void)total;
    (void)slack, (void)count, (void)next;
    return 0;
#endif
}

static int project_short(assay_consistency *out, int64_t *level,
                         const int64_t *rows, const double *v, size_t n,
                         const double *total, double slack, size_t count,
                         const int64_t *next)
{
#ifdef ASSAY_CONSISTENCY_SIDE
    if (count % 4 == 0 && __builtin_cpu_supports("avx2")) {
        return assay_consistency_project_side(out, level, rows, v, n, total,
                                              slack, count, next);
    }
#endif
    (void)out, (void)level, (void)rows, (void)v, (void)n, (void)total;
    (void)slack, (void)count, (void)next;
    return 0;
}

void assay_consistency_project(assay_consistency *out, int64_t *level,
                               const int64_t *rows, const double *v, size_t n,
                               const double *total, double slack, size_t count,
                               const int64_t *next)
{
    int done =
        n <= ASSAY_CONSISTENCY_SHORT
            ? project_short(out, level, rows, v, n, total, slack, count, next)
            : project_long(out, level, rows, v, n, total, slack, count, next);
    if (!done) {
        (void)project(out, level, rows, v, n, total, slack, count, next);
    }
}
