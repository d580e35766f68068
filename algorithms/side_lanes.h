/* ring: glue */
/** Four rows side by side in the lanes of AVX2: what both users need. Included
 *  behind `#pragma GCC target("avx2")`. */
#ifndef ASSAY_ALGORITHMS_SIDE_LANES_H
#define ASSAY_ALGORITHMS_SIDE_LANES_H

#include <immintrin.h>
#include <stdint.h>

#define ASSAY_SIDE 4u
#define ASSAY_SIDE_SAFE                                                        \
    ((int64_t)1 << 44)            /* sums of 24 entries: below 2^49, exact */
#define ASSAY_SIDE_MAGIC 0x1.8p52 /* + y has the integer y in its last bits */
#define ASSAY_SIDE_INLINE static inline __attribute__((always_inline))

ASSAY_SIDE_INLINE __m256i assay_side_load(const int64_t *from)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)from);
}

ASSAY_SIDE_INLINE __m256d assay_side_double(__m256i c)
{
    const __m256d magic = _mm256_set1_pd(ASSAY_SIDE_MAGIC);
    c = _mm256_add_epi64(c, _mm256_castpd_si256(magic));
    return _mm256_sub_pd(_mm256_castsi256_pd(c), magic);
}

ASSAY_SIDE_INLINE __m256i assay_side_integer(__m256d x)
{
    const __m256d magic = _mm256_set1_pd(ASSAY_SIDE_MAGIC);
    return _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(x, magic)),
                            _mm256_castpd_si256(magic));
}

/* Two entries of two rows. */
ASSAY_SIDE_INLINE __m256i assay_side_pair(const int64_t *low,
                                          const int64_t *high)
{
    const __m128i *from = (const __m128i *)(const void *)low;
    const __m128i *then = (const __m128i *)(const void *)high;
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(from)), _mm_loadu_si128(then),
        1);
}

#endif
