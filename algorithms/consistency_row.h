/* ring: glue */
/**
 * The projection of one row, whatever way its entries are summed. Included
 * once a way (algorithms/consistency.c, _lanes.c, _long.c, _wide.c), which
 * defines
 *
 *   row_sums      sum and number of entries, and `safe`: all below 2^44
 *   find_above    sums the entries y > level, or all of them for level = -1
 *   find_moments  sums of x v and x v^2, x = max(y - t, 0); asks memory for
 * what lies `ahead` bytes on, the next rows
 *
 * or, with ROWS_TOGETHER, find_all_moments for all rows in place of the last,
 * and find_all_above beside find_above. With ROWS_IN_TURN it has its own order
 * of rows, and defines find_above alone.
 *
 * Sums of integers are exact, and lanes, long and wide add the moments in the
 * same order: they give the same bits.
 */
#ifndef ASSAY_ALGORITHMS_CONSISTENCY_ROW_H
#define ASSAY_ALGORITHMS_CONSISTENCY_ROW_H

#define MOST (((int64_t)1 << 44) - 1) /* of a guess */

/* The t that goes with the entries above `level`; 0 to begin anew at 0. At most
 * one of `over` and `under` is not 0. No jumps: the rows would mislead their
 * prediction. */
INLINE double next_level(const row_sums *u, int64_t level, size_t n,
                         double total, double slack)
{
    double over = u->sum - (total + slack);
    double under = level <= 0 ? total - slack - u->sum : 0.0;
    double number = u->number > 1.0 ? u->number : 1.0;
    over = over > 0.0 ? over : 0.0;
    under = under > 0.0 ? under : 0.0;
    return (over - under) / (under > 0.0 ? (double)n : number);
}

/* floor(t), -1 for every t < 0; a t that is too large has no entries. */
INLINE int64_t level_of(double t)
{
    return t < 0.0 ? -1 : t < 0x1p62 ? (int64_t)t : (int64_t)1 << 62;
}

/* Where t is 0 the entries that are 0 do not matter. */
INLINE int settled(int64_t level, double t)
{
    return level == level_of(t) || (level == -1 && t <= 0.0);
}

/* Newton's steps of one row; at most n different sets, and two steps down from
 * too high a guess. From 0 to -1 only zeros are added: the sum stays. */
INLINE void settle(row_sums *u, double *t, int64_t *level, const int64_t *row,
                   size_t n, double total, double slack)
{
    for (size_t i = 0; u->safe && i < n + 3 && !settled(*level, *t); i++) {
        if (*level == 0 && *t < 0.0) {
            *level = -1;
            u->number = (double)n;
            return;
        }
        *level = level_of(*t);
        find_above(u, row, n, *level);
        *t = next_level(u, *level, n, total, slack);
    }
}

/* Level and t of row i, from its sums above the guess. */
INLINE void find_water(assay_consistency *out, row_sums *u, int64_t *level,
                       const int64_t *rows, size_t n, const double *total,
                       double slack, size_t i)
{
    out->t[i] = next_level(u, level[i], n, total[i], slack);
    if (total[i] >= 0.0) {
        settle(u, &out->t[i], &level[i], rows + i * n, n, total[i], slack);
    }
}

INLINE void limit_guesses(int64_t *level, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        level[i] = level[i] < 0 ? 0 : level[i] < MOST ? level[i] : MOST;
    }
}

INLINE int all_safe(const row_sums *u, size_t count)
{
    int safe = 1;
    for (size_t i = 0; i < count; i++) {
        safe &= u[i].safe;
    }
    return safe;
}

/* The answers, and the moments that go with them. */
INLINE void find_answers(assay_consistency *out, const row_sums *u,
                         const double *moment, const double *total,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int in = total[i] >= 0.0;
        out->moment[0][i] = in ? u[i].sum - out->t[i] * u[i].number : 0.0;
        out->moment[1][i] = in ? moment[2 * i] : 0.0;
        out->moment[2][i] = in ? moment[2 * i + 1] : 0.0;
        out->t[i] = in ? out->t[i] : 0.0;
    }
}

#ifndef ROWS_IN_TURN
#ifndef ROWS_TOGETHER
/* One row after the other. */
INLINE void find_all_above(row_sums *u, const int64_t *rows, size_t n,
                           const int64_t *level, size_t count, uintptr_t next)
{
    (void)next;
    for (size_t i = 0; i < count; i++) {
        find_above(&u[i], rows + i * n, n, level[i]);
    }
}

INLINE void find_all_moments(double *moment, const int64_t *rows,
                             const double *v, size_t n, const int64_t *level,
                             const double *t, size_t count, uintptr_t next)
{
    size_t ahead = next - (uintptr_t)rows;
    for (size_t i = 0; i < count; i++) {
        find_moments(moment + 2 * i, rows + i * n, v, n, level[i], t[i], ahead);
    }
}
#endif

INLINE int project(assay_consistency *out, int64_t *level, const int64_t *rows,
                   const double *v, size_t n, const double *total, double slack,
                   size_t count, const int64_t *next)
{
    row_sums u[ASSAY_CONSISTENCY_ROWS];
    double moment[2 * ASSAY_CONSISTENCY_ROWS];
    int safe;
    limit_guesses(level, count);
    find_all_above(u, rows, n, level, count, (uintptr_t)next);
    for (size_t i = 0; i < count; i++) {
        find_water(out, &u[i], level, rows, n, total, slack, i);
    }
    safe = all_safe(u, count);
    if (safe) {
        find_all_moments(moment, rows, v, n, level, out->t, count,
                         (uintptr_t)next);
        find_answers(out, u, moment, total, count);
    }
    return safe;
}
#endif

#endif
