/* ring: glue */
/**
 * The spline attacker: the log ratio as a sum of piecewise linear functions of
 * the row's numbers, and of weights of its words and patterns. Every function
 * is the sum of one for all columns, one for the columns that lean the same way
 * and one of its own; how much each of these may say is decided by marginal
 * likelihood (audit/evidence.h), so that exchangeable columns share strength
 * and others do not.
 */
#ifndef ASSAY_AUDIT_SPLINE_H
#define ASSAY_AUDIT_SPLINE_H

#include "audit/attacker.h"

/** What the columns hold. */
typedef struct assay_spline_shape {
    const int *numeric_col;
    int mixed;
    const int *word;
    size_t num_words;
} assay_spline_shape;

/** Fit; *out has no pieces if the rows say nothing. The caller clears it. */
assay_status assay_spline_fit(assay_model *out, const assay_training *data,
                              const assay_spline_shape *shape,
                              assay_error *err) ASSAY_MUST_CHECK;

#endif
