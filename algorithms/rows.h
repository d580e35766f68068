/* ring: glue */
/**
 * Sums over one row of released counts, in one pass at memory speed.
 *
 * Eight partial sums in a fixed pattern: the result is the same on every
 * machine and for every number of threads.
 */
#ifndef ASSAY_ALGORITHMS_ROWS_H
#define ASSAY_ALGORITHMS_ROWS_H

#include <stddef.h>
#include <stdint.h>

/** With y_i = row[i] clipped to [0, 2^50] (exact) and U = {i: y_i > level}. */
typedef struct assay_row_sums {
    double number;      /* how many i are in U                       */
    double weighted[3]; /* sums over U of y, y v and y v^2           */
    double plain[2];    /* sums over U of v and v^2                  */
} assay_row_sums;

void assay_row_sum(assay_row_sums *out, const int64_t *row, const double *v,
                   size_t n, int64_t level);

#endif
