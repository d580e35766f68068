/* ring: glue */
/**
 * Long rows in registers of 256 bits. The sums of four rows and the moments of
 * two are added up together, and two rows share what is read of v. Eight
 * partial sums a row, in the order of the lanes: the bits are the same.
 */
#include "algorithms/consistency_lanes.h"

#ifdef ASSAY_CONSISTENCY_SIDE
#pragma GCC target("avx2")
#include "algorithms/side_lanes.h"

#define LANES 8u
#define HALF 4u
#define SAFE ((int64_t)1 << 44) /* 2^17 entries below it: their sum < 2^61 */
#define INLINE ASSAY_SIDE_INLINE

typedef struct row_sums {
    double sum, number;
    int safe;
} row_sums;

/* Memory is asked for the next rows at an even pace, half of them with the
 * sums and half with the moments: a line for two lines of these. */
INLINE void ask_for(uintptr_t at)
{
    _mm_prefetch((const char *)at, _MM_HINT_T0);
}

/* ---- sums ---------------------------------------------------------------- */

/* Entries above the bar, which is not below 0: negative ones are not among
 * them, and zeros do not change the sum. */
typedef struct level_sums {
    __m256i sum, number, bits;
} level_sums;

INLINE void level_add(level_sums *l, __m256i c, __m256i bar)
{
    __m256i in = _mm256_cmpgt_epi64(c, bar);
    c = _mm256_and_si256(c, in);
    l->bits = _mm256_or_si256(l->bits, c);
    l->sum = _mm256_add_epi64(l->sum, c);
    l->number = _mm256_sub_epi64(l->number, in);
}

/* The last n % 8 entries end the last eight: those of them that are fresh, in
 * each half. */
typedef struct row_end {
    __m256i fresh[2];
    size_t from; /* the first half with any */
} row_end;

INLINE row_end find_end(size_t n)
{
    static const int64_t step[LANES] = {0, 0, 0, 0, -1, -1, -1, -1};
    const size_t rest = n % LANES;
    row_end end = {{_mm256_setzero_si256(), _mm256_setzero_si256()}, 1};
    if (rest > HALF) {
        end.fresh[0] = assay_side_load(step + rest - HALF);
        end.from = 0;
    }
    end.fresh[1] = assay_side_load(step + (rest < HALF ? rest : HALF));
    return end;
}

INLINE level_sums sum_above(const int64_t *row, size_t n, int64_t level,
                            const row_end *end, uintptr_t next)
{
    const __m256i bar = _mm256_set1_epi64x(level > 0 ? level : 0);
    const __m256i zero = _mm256_setzero_si256();
    level_sums l = {zero, zero, zero};
    const int64_t *last = row + n - n % LANES;
    const int64_t *c = row;
    for (; last - c >= 2 * (ptrdiff_t)LANES; c += 2 * LANES) {
        ask_for(next);
        next += LANES * sizeof(int64_t);
        level_add(&l, assay_side_load(c), bar);
        level_add(&l, assay_side_load(c + HALF), bar);
        level_add(&l, assay_side_load(c + 2 * HALF), bar);
        level_add(&l, assay_side_load(c + 3 * HALF), bar);
    }
    if (c < last) {
        level_add(&l, assay_side_load(c), bar);
        level_add(&l, assay_side_load(c + HALF), bar);
    }
    for (size_t k = end->from; last < row + n && k < 2; k++) {
        __m256i x = assay_side_load(row + n - LANES + k * HALF);
        level_add(&l, _mm256_and_si256(x, end->fresh[k]), bar);
    }
    return l;
}

/* The sums of a, b, c and d. */
INLINE __m256i add_four(__m256i a, __m256i b, __m256i c, __m256i d)
{
    __m256i ab = _mm256_add_epi64(_mm256_unpacklo_epi64(a, b),
                                  _mm256_unpackhi_epi64(a, b));
    __m256i cd = _mm256_add_epi64(_mm256_unpacklo_epi64(c, d),
                                  _mm256_unpackhi_epi64(c, d));
    return _mm256_add_epi64(_mm256_permute2x128_si256(ab, cd, 0x20),
                            _mm256_permute2x128_si256(ab, cd, 0x31));
}

INLINE void keep_sums(row_sums *u, const level_sums *l, size_t rows)
{
    int64_t sum[HALF], number[HALF];
    _mm256_storeu_si256((__m256i *)(void *)sum,
                        add_four(l[0].sum, l[1].sum, l[2].sum, l[3].sum));
    _mm256_storeu_si256(
        (__m256i *)(void *)number,
        add_four(l[0].number, l[1].number, l[2].number, l[3].number));
    for (size_t k = 0; k < rows; k++) {
        u[k].sum = (double)sum[k];
        u[k].number = (double)number[k];
        u[k].safe = _mm256_testz_si256(l[k].bits, _mm256_set1_epi64x(-SAFE));
    }
}

INLINE void sum_one(row_sums *u, const int64_t *row, size_t n, int64_t level,
                    const row_end *end, uintptr_t next)
{
    const __m256i zero = _mm256_setzero_si256();
    level_sums l[HALF] = {{zero, zero, zero},
                          {zero, zero, zero},
                          {zero, zero, zero},
                          {zero, zero, zero}};
    l[0] = sum_above(row, n, level, end, next);
    keep_sums(u, l, 1);
}

INLINE void find_above(row_sums *u, const int64_t *row, size_t n, int64_t level)
{
    const row_end end = find_end(n);
    sum_one(u, row, n, level, &end, (uintptr_t)row); /* asks for nothing new */
    u->number = level < 0 ? (double)n : u->number;
}

/* No level is below 0. */
INLINE void find_all_above(row_sums *u, const int64_t *rows, size_t n,
                           const int64_t *level, size_t count, uintptr_t next)
{
    const row_end end = find_end(n);
    const size_t half = n * sizeof(int64_t) / 2; /* of a row */
    size_t i = 0;
    for (; i + HALF <= count; i += HALF) {
        level_sums l[HALF];
        for (size_t k = 0; k < HALF; k++) {
            l[k] = sum_above(rows + (i + k) * n, n, level[i + k], &end,
                             next + (i + k) * half);
        }
        keep_sums(u + i, l, HALF);
    }
    for (; i < count; i++) {
        sum_one(u + i, rows + i * n, n, level[i], &end, next + i * half);
    }
}

/* ---- moments ------------------------------------------------------------- */

typedef struct moment_sums {
    __m256d first[2], second[2];
} moment_sums;

/* x = max(y - t, 0), and -t where y < 0 and t < 0: `least` */
INLINE __m256d above_water(__m256i c, __m256d t, __m256d least)
{
    return _mm256_max_pd(_mm256_sub_pd(assay_side_double(c), t), least);
}

INLINE void moment_add(moment_sums *m, size_t k, __m256d x, __m256d v)
{
    x = _mm256_mul_pd(x, v);
    m->first[k] = _mm256_add_pd(m->first[k], x);
    m->second[k] = _mm256_add_pd(m->second[k], _mm256_mul_pd(x, v));
}

/* The sums of a, b, c and d, each (x0 + x1) + (x2 + x3). */
INLINE __m256d add_up(__m256d a, __m256d b, __m256d c, __m256d d)
{
    __m256d ab = _mm256_hadd_pd(a, b);
    __m256d cd = _mm256_hadd_pd(c, d);
    return _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20),
                         _mm256_permute2f128_pd(ab, cd, 0x31));
}

INLINE __m256d both(const __m256d *half)
{
    return _mm256_add_pd(half[0], half[1]);
}

/* First and second moment of one row or of two behind each other. */
INLINE void sum_moments(double *moment, const int64_t *row, const double *v,
                        size_t n, const double *t, size_t rows,
                        const row_end *end, uintptr_t next)
{
    const __m256d zero = _mm256_setzero_pd();
    moment_sums m[2] = {{{zero, zero}, {zero, zero}},
                        {{zero, zero}, {zero, zero}}};
    __m256d water[2], least[2];
    size_t i = 0;
    for (size_t r = 0; r < rows; r++) {
        water[r] = _mm256_set1_pd(t[r]);
        least[r] = _mm256_set1_pd(t[r] < 0.0 ? -t[r] : 0.0);
    }
    for (; i + LANES <= n; i += LANES) {
        for (size_t k = 0; k < 2; k++) {
            const int64_t *c = row + i + k * HALF;
            const __m256d weight = _mm256_loadu_pd(v + i + k * HALF);
            for (size_t r = 0; r < rows; r++) {
                __m256d x =
                    above_water(assay_side_load(c + r * n), water[r], least[r]);
                moment_add(&m[r], k, x, weight);
            }
        }
        ask_for(next + i * rows * sizeof(int64_t) / 2);
    }
    for (size_t k = end->from; i < n && k < 2; k++) {
        const int64_t *c = row + n - LANES + k * HALF;
        const __m256d weight = _mm256_loadu_pd(v + n - LANES + k * HALF);
        const __m256d fresh = _mm256_castsi256_pd(end->fresh[k]);
        for (size_t r = 0; r < rows; r++) {
            __m256d x =
                above_water(assay_side_load(c + r * n), water[r], least[r]);
            moment_add(&m[r], k, _mm256_and_pd(x, fresh), weight);
        }
    }
    _mm256_storeu_pd(moment, add_up(both(m[0].first), both(m[0].second),
                                    both(m[1].first), both(m[1].second)));
}

INLINE void find_all_moments(double *moment, const int64_t *rows,
                             const double *v, size_t n, const int64_t *level,
                             const double *t, size_t count, uintptr_t next)
{
    const row_end end = find_end(n);
    const size_t half = n * sizeof(int64_t) / 2; /* of a row */
    size_t i = 0;
    (void)level;
    for (; i + 2 <= count; i += 2) {
        sum_moments(moment + 2 * i, rows + i * n, v, n, t + i, 2, &end,
                    next + (count + i) * half);
    }
    if (i < count) {
        double room[2 * 2];
        sum_moments(room, rows + i * n, v, n, t + i, 1, &end,
                    next + (count + i) * half);
        moment[2 * i] = room[0];
        moment[2 * i + 1] = room[1];
    }
}

#define ROWS_TOGETHER 1
#include "algorithms/consistency_row.h"

int assay_consistency_project_long(assay_consistency *out, int64_t *level,
                                   const int64_t *rows, const double *v,
                                   size_t n, const double *total, double slack,
                                   size_t count, const int64_t *next)
{
    return project(out, level, rows, v, n, total, slack, count, next);
}
#endif
