/* ring: glue */
/**
 * Private quantiles by the exponential mechanism over the points of a lattice.
 *
 * The score of a point y is -|#{values below y} - q n|. A person has at most
 * `per_person` values, so between neighbours the score moves by at most s =
 * per_person (replace-one) or per_person max(q, 1-q) (add-remove). Points
 * between two values have the same score and are drawn as one interval.
 *
 * Law      P[y] proportional to exp(-epsilon |#{below y} - q n| / (2 s)); exact
 *          (mechanisms/weighted.h).
 * Theorem  exponential: epsilon-DP.
 * Errors   as mechanisms/release.h. q in [0, 1] with a denominator of at most
 *          2^20; at most 2^40 values.
 */
#ifndef ASSAY_MECHANISMS_QUANTILE_H
#define ASSAY_MECHANISMS_QUANTILE_H

#include "mechanisms/custodian.h"

/** Values are clipped to [lo, hi], the public range of the answer. */
assay_status assay_release_quantile(assay_custodian *custodian, int64_t *out,
                                    const int64_t *values, size_t n, int64_t lo,
                                    int64_t hi, uint32_t per_person,
                                    const mpq_t q, const mpq_t epsilon,
                                    const char *label,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** The same for values counted in `num_cells` cells; the answer is a cell. */
assay_status assay_release_quantile_cell(assay_custodian *custodian,
                                         size_t *out, const uint64_t *counts,
                                         size_t num_cells, uint32_t per_person,
                                         const mpq_t q, const mpq_t epsilon,
                                         const char *label,
                                         assay_error *err) ASSAY_MUST_CHECK;

#endif
