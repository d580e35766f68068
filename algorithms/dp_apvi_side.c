/* ring: glue */
/* Short rows side by side: lane k is row k of four. Every lane does what the
 * plain way does, in the same order: the bits are the same. */
#include "algorithms/dp_apvi_side.h"

#ifdef ASSAY_CONSISTENCY_SIDE
#pragma GCC target("avx2")
#include "algorithms/side_lanes.h"

/* ---- the lanes of algorithms/dp_apvi_rows.h --------------------------------
 */

#define SIDE ASSAY_SIDE
typedef __m256d vd;
typedef __m256i vi;
typedef __m256d vm;

ASSAY_SIDE_INLINE vd vd_set(double x)
{
    return _mm256_set1_pd(x);
}
ASSAY_SIDE_INLINE vi vi_set(int64_t x)
{
    return _mm256_set1_epi64x(x);
}
ASSAY_SIDE_INLINE vd vd_load(const double *x)
{
    return _mm256_loadu_pd(x);
}
ASSAY_SIDE_INLINE void vd_store(double *to, vd x)
{
    _mm256_storeu_pd(to, x);
}
ASSAY_SIDE_INLINE vi vi_load(const int64_t *x)
{
    return assay_side_load(x);
}
ASSAY_SIDE_INLINE void vi_store(int64_t *to, vi x)
{
    _mm256_storeu_si256((__m256i *)(void *)to, x);
}
ASSAY_SIDE_INLINE vd vd_max(vd x, vd y)
{
    return _mm256_max_pd(x, y);
}
ASSAY_SIDE_INLINE vd vd_min(vd x, vd y)
{
    return _mm256_min_pd(x, y);
}
ASSAY_SIDE_INLINE vd vd_floor(vd x)
{
    return _mm256_floor_pd(x);
}
ASSAY_SIDE_INLINE vd vd_sqrt(vd x)
{
    return _mm256_sqrt_pd(x);
}
ASSAY_SIDE_INLINE vm vd_le(vd x, vd y)
{
    return _mm256_cmp_pd(x, y, _CMP_LE_OQ);
}
ASSAY_SIDE_INLINE vm vd_gt(vd x, vd y)
{
    return _mm256_cmp_pd(x, y, _CMP_GT_OQ);
}
ASSAY_SIDE_INLINE vd vd_pick(vm set, vd yes, vd no)
{
    return _mm256_blendv_pd(no, yes, set);
}
ASSAY_SIDE_INLINE vm vm_and(vm x, vm y)
{
    return _mm256_and_pd(x, y);
}
ASSAY_SIDE_INLINE int vm_any_out(vm x, vm y)
{
    return !_mm256_testc_pd(y, x);
}
ASSAY_SIDE_INLINE vd vi_double(vi x)
{
    return assay_side_double(x);
}
ASSAY_SIDE_INLINE vi vd_integer(vd x)
{
    return assay_side_integer(x);
}
ASSAY_SIDE_INLINE int vi_any(vi x, int64_t bits)
{
    return !_mm256_testz_si256(x, _mm256_set1_epi64x(bits));
}
ASSAY_SIDE_INLINE vi load_one(const int64_t *c, size_t n)
{
    return _mm256_set_epi64x(c[3 * n], c[2 * n], c[n], c[0]);
}
ASSAY_SIDE_INLINE void load_two(vi *first, vi *second, const int64_t *c,
                                size_t n)
{
    vi even = assay_side_pair(c, c + 2 * n);
    vi odd = assay_side_pair(c + n, c + 3 * n);
    *first = _mm256_unpacklo_epi64(even, odd);
    *second = _mm256_unpackhi_epi64(even, odd);
}

#include "algorithms/dp_apvi_rows.h"

unsigned assay_dp_apvi_side(double *q, int64_t *level,
                            const assay_dp_apvi_terms *terms,
                            const assay_dp_apvi_rows *x)
{
    return rows_in_one_go(q, level, terms, x);
}

/* Action a of four states. */
INLINE __m256d load_action(const double *q, size_t a, size_t num_actions)
{
    q += a;
    return _mm256_set_pd(q[3 * num_actions], q[2 * num_actions], q[num_actions],
                         q[0]);
}

INLINE void choose_four(uint32_t *action, double *value, const double *q,
                        size_t num_actions)
{
    const __m256i low_halves = _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0);
    __m256d top = _mm256_setzero_pd();
    __m256d bar;
    __m256d best = _mm256_setzero_pd();
    for (size_t a = 0; a < num_actions; a++) {
        top = _mm256_max_pd(load_action(q, a, num_actions), top);
    }
    bar = _mm256_sub_pd(top, _mm256_set1_pd(ASSAY_DP_APVI_TIE));
    for (size_t a = num_actions; a-- > 0;) {
        __m256d y = load_action(q, a, num_actions);
        __m256i at = _mm256_set1_epi64x((int64_t)a);
        best = _mm256_blendv_pd(_mm256_castsi256_pd(at), best,
                                _mm256_cmp_pd(y, bar, _CMP_LT_OQ));
    }
    _mm256_storeu_pd(value, top);
    _mm_storeu_si128((__m128i *)(void *)action,
                     _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
                         _mm256_castpd_si256(best), low_halves)));
}

void assay_dp_apvi_side_choose(uint32_t *action, double *value, const double *q,
                               size_t num_states, size_t num_actions)
{
    for (size_t s = 0; s < num_states; s += SIDE) {
        /* the last four: some of them for the second time */
        size_t at = s + SIDE <= num_states ? s : num_states - SIDE;
        choose_four(action + at, value + at, q + at * num_actions, num_actions);
    }
}
#endif
