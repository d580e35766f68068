/* ring: glue */
/**
 * Short rows side by side: lane k is row k of four, so that the water level,
 * its divisions and the moments cost four rows as much as one. Every lane does
 * what the plain way does, in the same order: the bits are the same.
 */
#include "algorithms/consistency_lanes.h"

#ifdef ASSAY_CONSISTENCY_SIDE
#pragma GCC target("avx2")
#include "algorithms/side_lanes.h"

#define SIDE ASSAY_SIDE
#define SAFE ASSAY_SIDE_SAFE
#define INLINE ASSAY_SIDE_INLINE

/* Sum and number of the entries above the bar, and the bits of all. */
typedef struct above_sums {
    __m256d bar, sum;
    __m256i number, bits;
} above_sums;

/* Four rows, entry by entry, and what is known of them. */
typedef struct four_rows {
    __m256d y[ASSAY_CONSISTENCY_SHORT];
    __m256d total, bar, t; /* bar: the level */
    __m256d sum, number;   /* of the entries above the bar */
    __m256i bits;
} four_rows;

INLINE above_sums no_sums(__m256d bar)
{
    __m256i zero = _mm256_setzero_si256();
    above_sums l = {bar, _mm256_setzero_pd(), zero, zero};
    return l;
}

INLINE void add_above(above_sums *l, __m256d y)
{
    __m256d in = _mm256_cmp_pd(y, l->bar, _CMP_GT_OQ);
    l->sum = _mm256_add_pd(l->sum, _mm256_and_pd(in, y));
    l->number = _mm256_sub_epi64(l->number, _mm256_castpd_si256(in));
}

INLINE __m256d add_entry(above_sums *l, __m256i x)
{
    __m256d y = _mm256_max_pd(assay_side_double(x), _mm256_setzero_pd());
    __m256i safe = _mm256_set1_epi64x(SAFE);
    l->bits = _mm256_or_si256(l->bits, _mm256_add_epi64(x, safe));
    add_above(l, y);
    return y;
}

/* Two entries at once, and the last of an odd number. */
INLINE void add_entries(above_sums *l, __m256d *y, size_t j,
                        const int64_t *rows, size_t n)
{
    const int64_t *c = rows + j;
    if (j + 1 < n) {
        __m256i even = assay_side_pair(c, c + 2 * n);
        __m256i odd = assay_side_pair(c + n, c + 3 * n);
        y[j] = add_entry(l, _mm256_unpacklo_epi64(even, odd));
        y[j + 1] = add_entry(l, _mm256_unpackhi_epi64(even, odd));
    } else {
        y[j] = add_entry(l, _mm256_set_epi64x(c[3 * n], c[2 * n], c[n], c[0]));
    }
}

/* Memory answers a few requests at a time and makes more of them wait: here
 * they are as far apart as they can be. Two entries of four rows are a line. */
INLINE void ask_for(uintptr_t next, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64) {
        _mm_prefetch((const char *)(next + i), _MM_HINT_T0);
    }
}

INLINE void keep_sums(four_rows *r, const above_sums *l)
{
    r->sum = l->sum;
    r->number = assay_side_double(l->number);
    r->bits = l->bits;
}

/* Rows and their sums above the first guess. */
INLINE void load_rows(four_rows *r, size_t fours, const int64_t *rows, size_t n,
                      uintptr_t next)
{
    above_sums l[2];
    for (size_t k = 0; k < fours; k++) {
        l[k] = no_sums(r[k].bar);
    }
    for (size_t j = 0; j < n; j += 2) {
        ask_for(next + j * 32 * fours, 64 * fours);
        for (size_t k = 0; k < fours; k++) {
            add_entries(&l[k], r[k].y, j, rows + k * SIDE * n, n);
        }
    }
    for (size_t k = 0; k < fours; k++) {
        keep_sums(&r[k], &l[k]);
    }
}

/* next_level of consistency_row.h */
INLINE void next_water(four_rows *r, size_t n, double slack)
{
    const __m256d zero = _mm256_setzero_pd();
    const __m256d give = _mm256_set1_pd(slack);
    __m256d low = _mm256_cmp_pd(r->bar, zero, _CMP_LE_OQ);
    __m256d over = _mm256_sub_pd(r->sum, _mm256_add_pd(r->total, give));
    __m256d under = _mm256_sub_pd(_mm256_sub_pd(r->total, give), r->sum);
    __m256d number = _mm256_max_pd(r->number, _mm256_set1_pd(1.0));
    over = _mm256_max_pd(over, zero);
    under = _mm256_max_pd(_mm256_and_pd(under, low), zero);
    number = _mm256_blendv_pd(number, _mm256_set1_pd((double)n),
                              _mm256_cmp_pd(under, zero, _CMP_GT_OQ));
    r->t = _mm256_div_pd(_mm256_sub_pd(over, under), number);
}

/* The lanes that have their answer, in all bits. Those at level 0 with t < 0
 * get it here. */
INLINE __m256d settled_lanes(four_rows *r, size_t n, __m256d next)
{
    const __m256d zero = _mm256_setzero_pd();
    __m256d out = _mm256_cmp_pd(r->total, zero, _CMP_LT_OQ);
    __m256d below = _mm256_andnot_pd(
        out, _mm256_and_pd(_mm256_cmp_pd(r->bar, zero, _CMP_EQ_OQ),
                           _mm256_cmp_pd(r->t, zero, _CMP_LT_OQ)));
    r->bar = _mm256_blendv_pd(r->bar, _mm256_set1_pd(-1.0), below);
    r->number = _mm256_blendv_pd(r->number, _mm256_set1_pd((double)n), below);
    return _mm256_or_pd(out, _mm256_cmp_pd(next, r->bar, _CMP_EQ_OQ));
}

/* Newton's steps until every lane is settled; settled lanes stay. No lane
 * begins at -1, and one that comes there has t < 0 from then on. */
INLINE void settle_rows(four_rows *r, size_t n, double slack)
{
    for (size_t i = 0; i < n + 3; i++) {
        above_sums l;
        __m256d next =
            _mm256_max_pd(_mm256_floor_pd(r->t), _mm256_set1_pd(-1.0));
        __m256d still = settled_lanes(r, n, next);
        if (_mm256_movemask_pd(still) == 0xf) {
            return;
        }
        r->bar = _mm256_blendv_pd(next, r->bar, still);
        l = no_sums(r->bar);
        for (size_t j = 0; j < n; j++) {
            add_above(&l, r->y[j]);
        }
        keep_sums(r, &l);
        next_water(r, n, slack);
    }
}

typedef struct moment_sums {
    __m256d first, second;
} moment_sums;

INLINE void add_moments(moment_sums *m, const four_rows *r, size_t j, __m256d v)
{
    __m256d x = _mm256_sub_pd(r->y[j], r->t);
    x = _mm256_mul_pd(_mm256_max_pd(x, _mm256_setzero_pd()), v);
    m->first = _mm256_add_pd(m->first, x);
    m->second = _mm256_add_pd(m->second, _mm256_mul_pd(x, v));
}

/* Rows i to i + 3 of the block. */
INLINE void write_rows(assay_consistency *out, size_t i, int64_t *level,
                       const four_rows *r, const moment_sums *m)
{
    __m256d in = _mm256_cmp_pd(r->total, _mm256_setzero_pd(), _CMP_GE_OQ);
    __m256d sum = _mm256_sub_pd(r->sum, _mm256_mul_pd(r->t, r->number));
    _mm256_storeu_pd(out->t + i, _mm256_and_pd(in, r->t));
    _mm256_storeu_pd(out->moment[0] + i, _mm256_and_pd(in, sum));
    _mm256_storeu_pd(out->moment[1] + i, _mm256_and_pd(in, m->first));
    _mm256_storeu_pd(out->moment[2] + i, _mm256_and_pd(in, m->second));
    _mm256_storeu_si256((__m256i *)(void *)(level + i),
                        assay_side_integer(r->bar));
}

INLINE void find_answers(assay_consistency *out, size_t i, int64_t *level,
                         const four_rows *r, size_t fours, const double *v,
                         size_t n)
{
    moment_sums m[2];
    for (size_t k = 0; k < fours; k++) {
        m[k].first = _mm256_setzero_pd();
        m[k].second = _mm256_setzero_pd();
    }
    for (size_t j = 0; j < n; j++) {
        for (size_t k = 0; k < fours; k++) {
            add_moments(&m[k], &r[k], j, _mm256_set1_pd(v[j]));
        }
    }
    for (size_t k = 0; k < fours; k++) {
        write_rows(out, i + k * SIDE, level, &r[k], &m[k]);
    }
}

/* The guess of four rows, at least 0. */
INLINE __m256d find_bar(const int64_t *level)
{
    __m256i guess = _mm256_loadu_si256((const __m256i *)(const void *)level);
    __m256i most = _mm256_set1_epi64x(SAFE - 1);
    guess = _mm256_blendv_epi8(guess, most, _mm256_cmpgt_epi64(guess, most));
    return _mm256_max_pd(assay_side_double(guess), _mm256_setzero_pd());
}

/* Stages: what is done with four rows does not wait for the four before. Sums
 * go by eight rows, for the same reason. */
INLINE void load_all(four_rows *r, size_t count, const int64_t *level,
                     const int64_t *rows, size_t n, const double *total,
                     const int64_t *next)
{
    size_t fours = count / SIDE;
    size_t width = SIDE * n;
    size_t k = 0;
    for (size_t i = 0; i < fours; i++) {
        r[i].total = _mm256_loadu_pd(total + i * SIDE);
        r[i].bar = find_bar(level + i * SIDE);
    }
    for (; k + 2 <= fours; k += 2) {
        load_rows(r + k, 2, rows + k * width, n,
                  (uintptr_t)next + k * width * sizeof *next);
    }
    if (k < fours) {
        load_rows(r + k, 1, rows + k * width, n,
                  (uintptr_t)next + k * width * sizeof *next);
    }
}

/* 0 if an entry is not within [-SAFE, SAFE). */
INLINE int settle_all(four_rows *r, size_t fours, size_t n, double slack)
{
    __m256i bits = _mm256_setzero_si256();
    for (size_t k = 0; k < fours; k++) {
        next_water(&r[k], n, slack);
        bits = _mm256_or_si256(bits, r[k].bits);
    }
    if (!_mm256_testz_si256(bits, _mm256_set1_epi64x(-2 * SAFE))) {
        return 0;
    }
    for (size_t k = 0; k < fours; k++) {
        settle_rows(&r[k], n, slack);
    }
    return 1;
}

int assay_consistency_project_side(assay_consistency *out, int64_t *level,
                                   const int64_t *rows, const double *v,
                                   size_t n, const double *total, double slack,
                                   size_t count, const int64_t *next)
{
    four_rows r[ASSAY_CONSISTENCY_ROWS / SIDE];
    size_t fours = count / SIDE;
    size_t k = 0;
    load_all(r, count, level, rows, n, total, next);
    if (!settle_all(r, fours, n, slack)) {
        return 0;
    }
    for (; k + 2 <= fours; k += 2) {
        find_answers(out, k * SIDE, level, r + k, 2, v, n);
    }
    if (k < fours) {
        find_answers(out, k * SIDE, level, r + k, 1, v, n);
    }
    return 1;
}
#endif
