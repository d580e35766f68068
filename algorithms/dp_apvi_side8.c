/* ring: glue */
/* Short rows side by side in registers of 512 bits: lane k is row k of eight.
 * The same operations in the same order as with four: the bits are the same. */
#include "algorithms/dp_apvi_side.h"

#ifdef ASSAY_CONSISTENCY_SIDE
#pragma GCC target("avx512f,avx512dq")
#include <immintrin.h>

#define ASSAY_SIDE_SAFE ((int64_t)1 << 44)
#define ASSAY_SIDE_INLINE static inline __attribute__((always_inline))

/* ---- the lanes of algorithms/dp_apvi_rows.h --------------------------------
 */

#define SIDE 8u
typedef __m512d vd;
typedef __m512i vi;
typedef __mmask8 vm;

ASSAY_SIDE_INLINE vd vd_set(double x)
{
    return _mm512_set1_pd(x);
}
ASSAY_SIDE_INLINE vi vi_set(int64_t x)
{
    return _mm512_set1_epi64(x);
}
ASSAY_SIDE_INLINE vd vd_load(const double *x)
{
    return _mm512_loadu_pd(x);
}
ASSAY_SIDE_INLINE void vd_store(double *to, vd x)
{
    _mm512_storeu_pd(to, x);
}
ASSAY_SIDE_INLINE vi vi_load(const int64_t *x)
{
    return _mm512_loadu_si512(x);
}
ASSAY_SIDE_INLINE void vi_store(int64_t *to, vi x)
{
    _mm512_storeu_si512(to, x);
}
ASSAY_SIDE_INLINE vd vd_max(vd x, vd y)
{
    return _mm512_max_pd(x, y);
}
ASSAY_SIDE_INLINE vd vd_min(vd x, vd y)
{
    return _mm512_min_pd(x, y);
}
ASSAY_SIDE_INLINE vd vd_floor(vd x)
{
    return _mm512_floor_pd(x);
}
ASSAY_SIDE_INLINE vd vd_sqrt(vd x)
{
    return _mm512_sqrt_pd(x);
}
ASSAY_SIDE_INLINE vm vd_le(vd x, vd y)
{
    return _mm512_cmp_pd_mask(x, y, _CMP_LE_OQ);
}
ASSAY_SIDE_INLINE vm vd_gt(vd x, vd y)
{
    return _mm512_cmp_pd_mask(x, y, _CMP_GT_OQ);
}
ASSAY_SIDE_INLINE vd vd_pick(vm set, vd yes, vd no)
{
    return _mm512_mask_blend_pd(set, no, yes);
}
ASSAY_SIDE_INLINE vm vm_and(vm x, vm y)
{
    return (vm)(x & y);
}
ASSAY_SIDE_INLINE int vm_any_out(vm x, vm y)
{
    return (x & ~y & 0xff) != 0;
}
ASSAY_SIDE_INLINE vd vi_double(vi x)
{
    return _mm512_cvtepi64_pd(x);
}
ASSAY_SIDE_INLINE vi vd_integer(vd x)
{
    return _mm512_cvtpd_epi64(x);
}
ASSAY_SIDE_INLINE int vi_any(vi x, int64_t bits)
{
    return _mm512_test_epi64_mask(x, _mm512_set1_epi64(bits)) != 0;
}
ASSAY_SIDE_INLINE vi load_one(const int64_t *c, size_t n)
{
    return _mm512_set_epi64(c[7 * n], c[6 * n], c[5 * n], c[4 * n], c[3 * n],
                            c[2 * n], c[n], c[0]);
}
ASSAY_SIDE_INLINE __m128i two_of(const int64_t *c)
{
    return _mm_loadu_si128((const __m128i *)(const void *)c);
}
/* Two entries of every other row. */
ASSAY_SIDE_INLINE vi four_rows(const int64_t *c, size_t n)
{
    __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(two_of(c)),
                                          two_of(c + 2 * n), 1);
    __m256i high = _mm256_inserti128_si256(
        _mm256_castsi128_si256(two_of(c + 4 * n)), two_of(c + 6 * n), 1);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
ASSAY_SIDE_INLINE void load_two(vi *first, vi *second, const int64_t *c,
                                size_t n)
{
    vi even = four_rows(c, n);
    vi odd = four_rows(c + n, n);
    *first = _mm512_unpacklo_epi64(even, odd);
    *second = _mm512_unpackhi_epi64(even, odd);
}

#include "algorithms/dp_apvi_rows.h"

unsigned assay_dp_apvi_side8(double *q, int64_t *level,
                             const assay_dp_apvi_terms *terms,
                             const assay_dp_apvi_rows *x)
{
    return rows_in_one_go(q, level, terms, x);
}
#endif
