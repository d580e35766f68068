/* ring: glue */
/**
 * Sums over one row of released counts, at memory speed.
 *
 * Eight partial sums in a fixed pattern: the result is the same on every
 * machine and for every number of threads.
 */
#ifndef ASSAY_ALGORITHMS_ROWS_H
#define ASSAY_ALGORITHMS_ROWS_H

#include <stddef.h>
#include <stdint.h>

/** x[i] = row[i] clipped to [0, 2^50], exact; returns the sum. */
double assay_row_load(double *x, const int64_t *row, size_t n);

/** sum_i max(x[i] - t, 0), and how many x[i] exceed t. */
double assay_row_above(const double *x, size_t n, double t, double *number);

/** With y_i = max(x[i] - t, 0): sum y, sum y v and sum y v^2. */
void assay_row_moments(double out[3], const double *x, const double *v,
                       size_t n, double t);

#endif
