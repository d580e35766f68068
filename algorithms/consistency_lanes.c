/* ring: glue */
#include "algorithms/consistency_lanes.h"

#ifdef ASSAY_CONSISTENCY_LANES
#include <string.h>

#define LANES 8u
#define AHEAD 4096u /* bytes: memory answers while this row is summed */
#define SAFE ((int64_t)1 << 44) /* 2^17 entries below it: their sum < 2^61 */
#define INLINE static inline __attribute__((always_inline))
#define SPREAD(x)                                                              \
    {                                                                          \
        (x), (x), (x), (x)                                                     \
    }
/* Eight lanes are two of these. */
typedef double lane __attribute__((vector_size(32)));
typedef int64_t mask __attribute__((vector_size(32)));

typedef struct row_sums {
    double sum, number;
    int safe;
} row_sums;

/* The last `n % 8` entries: the end of a vector of eight, or, in a row of less
 * than eight, its beginning. -1 in `fresh`: not in the vectors before. */
INLINE void find_fresh(mask *fresh, size_t n)
{
    static const int64_t step[3 * LANES] = {0,  0,  0,  0,  0,  0,  0,  0,
                                            -1, -1, -1, -1, -1, -1, -1, -1};
    const int64_t *from = step + (n < LANES ? 2 * LANES - n : n % LANES);
    memcpy(&fresh[0], from, sizeof *fresh);
    memcpy(&fresh[1], from + LANES / 2, sizeof *fresh);
}

/* Those entries of a row or of v, both of 8 bytes. */
INLINE const void *find_end(int64_t *room, const void *from, size_t n)
{
    if (n >= LANES) {
        return (const char *)from + (n - LANES) * sizeof *room;
    }
    memset(room, 0, LANES * sizeof *room);
    return memcpy(room, from, n * sizeof *room);
}

#define ADD_UP(x) (((x)[0] + (x)[1]) + ((x)[2] + (x)[3]))

/* Entries above the bar, which is not below 0: negative ones are not among
 * them, and zeros do not change the sum. */
typedef struct level_sums {
    mask sum[2], number[2], bits;
} level_sums;

INLINE void level_add(level_sums *l, const int64_t *from, const mask *bar,
                      const mask *fresh)
{
    for (size_t k = 0; k < 2; k++) {
        mask c, in;
        memcpy(&c, from + k * LANES / 2, sizeof c);
        in = (c > *bar) & fresh[k];
        c &= in;
        l->bits |= c;
        l->sum[k] += c;
        l->number[k] -= in;
    }
}

INLINE void find_above(row_sums *u, const int64_t *row, size_t n, int64_t level)
{
    int64_t room[LANES];
    level_sums l = {{SPREAD(0), SPREAD(0)}, {SPREAD(0), SPREAD(0)}, SPREAD(0)};
    const mask bar = SPREAD(level > 0 ? level : 0);
    const mask all[2] = {SPREAD(-1), SPREAD(-1)};
    mask fresh[2];
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        __builtin_prefetch((const void *)((uintptr_t)(row + i) + AHEAD));
        level_add(&l, row + i, &bar, all);
    }
    if (whole < n) {
        find_fresh(fresh, n);
        level_add(&l, find_end(room, row, n), &bar, fresh);
    }
    l.sum[0] += l.sum[1];
    l.number[0] += l.number[1];
    u->safe = (l.bits[0] | l.bits[1] | l.bits[2] | l.bits[3]) < SAFE;
    u->sum = (double)ADD_UP(l.sum[0]);
    u->number = (double)(level < 0 ? (int64_t)n : ADD_UP(l.number[0]));
}

typedef struct moment_sums {
    lane first[2], second[2];
} moment_sums;

/* Exact conversion: 2^52 + 2^51 + y has |y| < 2^51 in its last bits, and y
 * below that gives something negative or no number. Negative entries count as 0
 * if the water is `below` 0, and else not at all. */
INLINE void moment_add(moment_sums *m, const int64_t *from, const double *v,
                       int below, const lane *t, const mask *fresh)
{
    const lane magic = SPREAD(0x1.8p52);
    for (size_t k = 0; k < 2; k++) {
        mask c, in;
        lane x, y;
        memcpy(&c, from + k * LANES / 2, sizeof c);
        memcpy(&x, v + k * LANES / 2, sizeof x);
        c = below ? c & (c > 0) : c;
        y = ((lane)(c + (mask)magic) - magic) - *t;
        in = below ? fresh[k] : (y > 0.0) & fresh[k];
        y = (lane)((mask)y & in) * x;
        m->first[k] += y;
        m->second[k] += y * x;
    }
}

INLINE void sum_moments(double *moment, const int64_t *row, const double *v,
                        size_t n, int below, double t, size_t ahead)
{
    int64_t room[LANES];
    int64_t v_room[LANES];
    moment_sums m = {{SPREAD(0.0), SPREAD(0.0)}, {SPREAD(0.0), SPREAD(0.0)}};
    const lane water = SPREAD(t);
    const mask all[2] = {SPREAD(-1), SPREAD(-1)};
    mask fresh[2];
    size_t whole = n - n % LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        __builtin_prefetch((const void *)((uintptr_t)(row + i) + ahead));
        moment_add(&m, row + i, v + i, below, &water, all);
    }
    if (whole < n) {
        find_fresh(fresh, n);
        moment_add(&m, find_end(room, row, n), find_end(v_room, v, n), below,
                   &water, fresh);
    }
    m.first[0] += m.first[1];
    m.second[0] += m.second[1];
    moment[0] = ADD_UP(m.first[0]);
    moment[1] = ADD_UP(m.second[0]);
}

INLINE void find_moments(double *moment, const int64_t *row, const double *v,
                         size_t n, int64_t level, double t, size_t ahead)
{
    if (level < 0) {
        sum_moments(moment, row, v, n, 1, t, ahead);
    } else {
        sum_moments(moment, row, v, n, 0, t, ahead);
    }
}

#include "algorithms/consistency_row.h"

int assay_consistency_project_lanes(assay_consistency *out, int64_t *level,
                                    const int64_t *rows, const double *v,
                                    size_t n, const double *total, double slack,
                                    size_t count, const int64_t *next)
{
    return project(out, level, rows, v, n, total, slack, count, next);
}
#endif
