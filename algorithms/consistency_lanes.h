/* ring: glue */
/**
 * The projection of algorithms/consistency.h with eight partial sums: in
 * vectors that the compiler makes (lanes), or in registers of 512 bits (wide).
 * Both give the same bits. They return 0 and do nothing if an entry or the
 * level is 2^44 or more.
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
                                    size_t count);

#if defined(__x86_64__) && !defined(__clang__)
#define ASSAY_CONSISTENCY_WIDE 1
/** The CPU must have AVX-512 F and DQ. */
int assay_consistency_project_wide(assay_consistency *out, int64_t *level,
                                   const int64_t *rows, const double *v,
                                   size_t n, const double *total, double slack,
                                   size_t count);
#endif
#endif

#endif
