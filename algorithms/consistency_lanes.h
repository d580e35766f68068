/* ring: glue */
/**
 * The projection of algorithms/consistency.h in vectors. Long rows have eight
 * partial sums, in vectors that the compiler makes (lanes) or in registers of
 * 256 (long) or 512 bits (wide): all give the same bits. Short rows go side by
 * side, one a lane, and give the bits of the plain way. All return 0 if an
 * entry is too large for them: from 2^44 on, short rows also from -2^44 down.
 * What they have written then is not an answer.
 */
#ifndef ASSAY_ALGORITHMS_CONSISTENCY_LANES_H
#define ASSAY_ALGORITHMS_CONSISTENCY_LANES_H

#include "algorithms/consistency.h"

/* The flow analysis reads one number after the other. */
#if defined(__GNUC__) && !defined(__FRAMAC__)
#define ASSAY_CONSISTENCY_LANES 1
int assay_consistency_project_lanes(assay_consistency *out, int64_t *level,
                                    const int64_t *rows, const double *v,
                                    size_t n, const double *total, double slack,
                                    size_t count, const int64_t *next);

#if defined(__x86_64__) && !defined(__clang__)
#define ASSAY_CONSISTENCY_SIDE 1
/** The CPU must have AVX2; n is at most ASSAY_CONSISTENCY_SHORT and `count` a
 *  multiple of 4. */
int assay_consistency_project_side(assay_consistency *out, int64_t *level,
                                   const int64_t *rows, const double *v,
                                   size_t n, const double *total, double slack,
                                   size_t count, const int64_t *next);

/** The CPU must have AVX2, and n is at least 8. */
int assay_consistency_project_long(assay_consistency *out, int64_t *level,
                                   const int64_t *rows, const double *v,
                                   size_t n, const double *total, double slack,
                                   size_t count, const int64_t *next);

#define ASSAY_CONSISTENCY_WIDE 1
/** The CPU must have AVX-512 F and DQ. */
int assay_consistency_project_wide(assay_consistency *out, int64_t *level,
                                   const int64_t *rows, const double *v,
                                   size_t n, const double *total, double slack,
                                   size_t count, const int64_t *next);
#endif
#endif

#endif
