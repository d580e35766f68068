/* ring: glue */
/**
 * Long rows in registers of 512 bits. While the moments of a row are added up,
 * a later one is read for the first time, for its sums, and memory is asked for
 * one still later: at the even pace of one pass, with all the arithmetic
 * meanwhile. Eight partial sums a row, in the order of the lanes: the bits are
 * the same.
 */
#include "algorithms/consistency_lanes.h"

#ifdef ASSAY_CONSISTENCY_WIDE
#pragma GCC target("avx512f,avx512dq")
#include <immintrin.h>

#define LANES 8u
#define AHEAD 8192u /* bytes: memory answers while these are summed */
#define SAFE ((int64_t)1 << 44) /* 2^17 entries below it: their sum < 2^61 */
#define INLINE static inline __attribute__((always_inline))

typedef struct row_sums {
    double sum, number;
    int safe;
} row_sums;

/* The last `n % 8` entries: the end of a vector of eight, or, in a row of less
 * than eight, its beginning. */
typedef struct row_end {
    size_t at;
    __mmask8 there; /* what may be read */
    __mmask8 fresh; /* what is not in the vectors before */
} row_end;

INLINE row_end find_end(size_t n)
{
    unsigned rest = (unsigned)(n % LANES);
    row_end end = {n - LANES, 0xff, (__mmask8)(0xff00u >> rest)};
    if (n < LANES) {
        end.at = 0;
        end.there = (__mmask8)((1u << rest) - 1u);
        end.fresh = end.there;
    }
    return end;
}

/* Into the second cache: fewer requests for the first can be open at a time,
 * too few for all that memory gives. */
INLINE void ask_for(uintptr_t at)
{
    _mm_prefetch((const char *)at, _MM_HINT_T1);
}

/* ---- sums ---------------------------------------------------------------- */

/* Entries above the bar, which is not below 0: negative ones are not among
 * them, and zeros do not change the sum. */
typedef struct level_sums {
    __m512i sum, number, bits;
} level_sums;

INLINE void level_add(level_sums *l, __m512i c, __m512i bar, __mmask8 fresh)
{
    __mmask8 in = _mm512_mask_cmpgt_epi64_mask(fresh, c, bar);
    __m512i one = _mm512_set1_epi64(1);
    l->bits = _mm512_mask_or_epi64(l->bits, in, l->bits, c);
    l->sum = _mm512_mask_add_epi64(l->sum, in, l->sum, c);
    l->number = _mm512_mask_add_epi64(l->number, in, l->number, one);
}

INLINE void keep_sums(row_sums *u, const level_sums *l)
{
    u->safe = _mm512_test_epi64_mask(l->bits, _mm512_set1_epi64(-SAFE)) == 0;
    u->sum = (double)_mm512_reduce_add_epi64(l->sum);
    u->number = (double)_mm512_reduce_add_epi64(l->number);
}

INLINE void find_above(row_sums *u, const int64_t *row, size_t n, int64_t level)
{
    const row_end end = find_end(n);
    const __m512i bar = _mm512_set1_epi64(level > 0 ? level : 0);
    const __m512i zero = _mm512_setzero_si512();
    level_sums l = {zero, zero, zero};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        level_add(&l, _mm512_loadu_si512(row + i), bar, 0xff);
    }
    if (i < n) {
        level_add(&l, _mm512_maskz_loadu_epi64(end.there, row + end.at), bar,
                  end.fresh);
    }
    keep_sums(u, &l);
    u->number = level < 0 ? (double)n : u->number;
}

/* ---- moments ------------------------------------------------------------- */

INLINE double add_up(__m512d x)
{
    __m256d h =
        _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd(x, 1));
    return (h[0] + h[1]) + (h[2] + h[3]);
}

typedef struct moment_sums {
    __m512d first, second;
} moment_sums;

/* x = max(y - t, 0), and -t where y < 0 and t < 0: `least` */
INLINE void moment_add(moment_sums *m, __m512i c, __m512d v, __m512d t,
                       __m512d least, __mmask8 fresh)
{
    __m512d x = _mm512_sub_pd(_mm512_cvtepi64_pd(c), t);
    x = _mm512_mul_pd(_mm512_maskz_max_pd(fresh, x, least), v);
    m->first = _mm512_add_pd(m->first, x);
    m->second = _mm512_add_pd(m->second, _mm512_mul_pd(x, v));
}

/* ---- both at once -------------------------------------------------------- */

#define ROWS_IN_TURN 1
#include "algorithms/consistency_row.h"

/* The rows of a block, and what is known of them. */
typedef struct block {
    const int64_t *rows;
    const double *v;
    size_t n;
    row_end end;
    row_sums u[ASSAY_CONSISTENCY_ROWS];
} block;

/* First and second moment of row i above the water t, and sums of row j above
 * the level, into *u. */
INLINE void read_rows(double *moment, row_sums *u, const block *b, size_t i,
                      double t, size_t j, int64_t level, uintptr_t next)
{
    const int64_t *row = b->rows + i * b->n;
    const int64_t *later = b->rows + j * b->n;
    const row_end end = b->end;
    const __m512d water = _mm512_set1_pd(t);
    const __m512d least = _mm512_set1_pd(t < 0.0 ? -t : 0.0);
    const __m512i bar = _mm512_set1_epi64(level);
    const __m512i zero = _mm512_setzero_si512();
    moment_sums m = {_mm512_setzero_pd(), _mm512_setzero_pd()};
    level_sums l = {zero, zero, zero};
    size_t k = 0;
    for (; k + LANES <= b->n; k += LANES) {
        ask_for(next + k * sizeof(int64_t));
        level_add(&l, _mm512_loadu_si512(later + k), bar, 0xff);
        moment_add(&m, _mm512_loadu_si512(row + k), _mm512_loadu_pd(b->v + k),
                   water, least, 0xff);
    }
    if (k < b->n) {
        /* one line left out would cost as much as all the others */
        ask_for(next + k * sizeof(int64_t));
        level_add(&l, _mm512_maskz_loadu_epi64(end.there, later + end.at), bar,
                  end.fresh);
        moment_add(&m, _mm512_maskz_loadu_epi64(end.there, row + end.at),
                   _mm512_maskz_loadu_pd(end.there, b->v + end.at), water,
                   least, end.fresh);
    }
    moment[0] = add_up(m.first);
    moment[1] = add_up(m.second);
    keep_sums(u, &l);
}

/* By how many rows the sums are before the moments: where rows are short, so
 * many that a row's t is known before it is needed; else one, so that a row
 * stays in the nearest cache. */
INLINE size_t rows_between(size_t n)
{
    return n < 512 ? 3 : 1;
}

/* The water of row i is found once its sums are there. The last rows have none
 * behind them, and their own sums are made once more, for nobody. */
int assay_consistency_project_wide(assay_consistency *out, int64_t *level,
                                   const int64_t *rows, const double *v,
                                   size_t n, const double *total, double slack,
                                   size_t count, const int64_t *next)
{
    double moment[2 * ASSAY_CONSISTENCY_ROWS];
    block b = {.rows = rows, .v = v, .n = n};
    const size_t lag = rows_between(n) < count ? rows_between(n) : count;
    const size_t ahead = lag + AHEAD / (n * sizeof(int64_t)) + 1;
    b.end = find_end(n);
    limit_guesses(level, count);
    for (size_t i = 0; i < lag; i++) {
        find_above(&b.u[i], rows + i * n, n, level[i]);
        find_water(out, &b.u[i], level, rows, n, total, slack, i);
    }
    for (size_t i = 0; i < count; i++) {
        const int more = i + lag < count;
        const size_t j = more ? i + lag : i;
        const int64_t bar = level[j] > 0 ? level[j] : 0;
        const size_t then = i + ahead;
        row_sums u;
        read_rows(moment + 2 * i, &u, &b, i, out->t[i], j, bar,
                  then < count
                      ? (uintptr_t)(rows + then * n)
                      : (uintptr_t)next + (then - count) * n * sizeof(int64_t));
        if (more) {
            b.u[j] = u;
            find_water(out, &b.u[j], level, rows, n, total, slack, j);
        }
    }
    find_answers(out, b.u, moment, total, count);
    return all_safe(b.u, count);
}
#endif
