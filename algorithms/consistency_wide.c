/* ring: glue */
#include "algorithms/consistency_lanes.h"

#ifdef ASSAY_CONSISTENCY_WIDE
#pragma GCC target("avx512f,avx512dq")
#include <immintrin.h>

#define LANES 8u
#define AHEAD 4096u /* bytes: memory answers while this row is summed */
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

INLINE void find_above(row_sums *u, const int64_t *row, size_t n, int64_t level)
{
    row_end end = find_end(n);
    __m512i bar = _mm512_set1_epi64(level > 0 ? level : 0);
    __m512i zero = _mm512_setzero_si512();
    level_sums l = {zero, zero, zero};
    size_t whole = n - n % LANES;
    int64_t number;
    for (size_t i = 0; i < whole; i += LANES) {
        _mm_prefetch((const char *)((uintptr_t)(row + i) + AHEAD), _MM_HINT_T0);
        level_add(&l, _mm512_loadu_si512(row + i), bar, 0xff);
    }
    if (whole < n) {
        level_add(&l, _mm512_maskz_loadu_epi64(end.there, row + end.at), bar,
                  end.fresh);
    }
    number = level < 0 ? (int64_t)n : _mm512_reduce_add_epi64(l.number);
    u->safe = _mm512_test_epi64_mask(l.bits, _mm512_set1_epi64(-SAFE)) == 0;
    u->sum = (double)_mm512_reduce_add_epi64(l.sum);
    u->number = (double)number;
}

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

INLINE void find_moments(double *moment, const int64_t *row, const double *v,
                         size_t n, int64_t level, double t, size_t ahead)
{
    row_end end = find_end(n);
    __m512d water = _mm512_set1_pd(t);
    __m512d least = _mm512_set1_pd(t < 0.0 ? -t : 0.0);
    moment_sums m = {_mm512_setzero_pd(), _mm512_setzero_pd()};
    size_t whole = n - n % LANES;
    (void)level;
    for (size_t i = 0; i < whole; i += LANES) {
        _mm_prefetch((const char *)((uintptr_t)(row + i) + ahead), _MM_HINT_T0);
        moment_add(&m, _mm512_loadu_si512(row + i), _mm512_loadu_pd(v + i),
                   water, least, 0xff);
    }
    if (whole < n) {
        moment_add(&m, _mm512_maskz_loadu_epi64(end.there, row + end.at),
                   _mm512_maskz_loadu_pd(end.there, v + end.at), water, least,
                   end.fresh);
    }
    moment[0] = add_up(m.first);
    moment[1] = add_up(m.second);
}

#include "algorithms/consistency_row.h"

int assay_consistency_project_wide(assay_consistency *out, int64_t *level,
                                   const int64_t *rows, const double *v,
                                   size_t n, const double *total, double slack,
                                   size_t count, const int64_t *next)
{
    return project(out, level, rows, v, n, total, slack, count, next);
}
#endif
