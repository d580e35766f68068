/* ring: glue */
/** Inner part of the spline attacker: which terms there are, and their
 *  values. */
#ifndef ASSAY_AUDIT_SPLINE_TERMS_H
#define ASSAY_AUDIT_SPLINE_TERMS_H

#include "audit/spline.h"

#define ASSAY_SPLINE_TERMS 320
#define ASSAY_SPLINE_CURVES (2 * ASSAY_ROWS_WIDTH + 24)
#define ASSAY_SPLINE_KNOTS 10
#define ASSAY_SPLINE_JUMPS 4
#define ASSAY_SPLINE_PATTERNS 100
#define ASSAY_SPLINE_SPAN 12 /* a tail's line ends after this many scales */

/* Families of terms with a common precision. A kind of curve has three: lines,
 * tails and jumps. */
enum {
    ASSAY_TERM_FREE,
    ASSAY_TERM_WORD,
    ASSAY_TERM_PATTERN,
    ASSAY_TERM_POOLED,
    ASSAY_TERM_LEAN = ASSAY_TERM_POOLED + 3,
    ASSAY_TERM_COLUMN = ASSAY_TERM_LEAN + 3,
    ASSAY_TERM_SUMMARY = ASSAY_TERM_COLUMN + 3,
    ASSAY_TERM_DIFFERENCE = ASSAY_TERM_SUMMARY + 3,
    ASSAY_TERM_OWN_DIFFERENCE = ASSAY_TERM_DIFFERENCE + 3,
    ASSAY_TERM_COUNT = ASSAY_TERM_OWN_DIFFERENCE + 3,
    ASSAY_TERM_PRODUCT = ASSAY_TERM_COUNT + 3
};

/* A broken line: a straight one, clamps between neighbouring knots, the two
 * tails, then jumps (Laplace noise makes the ratio jump where an answer
 * was). With a mask the sum over the columns in it. */
typedef struct assay_spline_curve {
    assay_feature feature; /* its column is set in turn for a mask */
    uint64_t mask;
    size_t num_knots, first; /* first term */
    double knot[ASSAY_SPLINE_KNOTS];
    double scale; /* of the tails */
    size_t num_jumps;
    double jump[ASSAY_SPLINE_JUMPS];
    double sharp[ASSAY_SPLINE_JUMPS]; /* their local contrast, in deviations */
    assay_feature
        times; /* multiplied by this, standardised; scale 0: by nothing */
    double times_centre, times_scale;
} assay_spline_curve;

typedef struct assay_spline_indicator {
    size_t col, term;
    int word; /* -1: a number */
} assay_spline_indicator;

typedef struct assay_spline {
    size_t num_terms, num_curves, num_indicators, num_patterns;
    uint8_t family[ASSAY_SPLINE_TERMS];
    assay_spline_curve curve[ASSAY_SPLINE_CURVES];
    assay_spline_indicator indicator[ASSAY_SPLINE_TERMS];
    uint64_t pattern[ASSAY_SPLINE_PATTERNS]; /* sorted keys */
    size_t pattern_first;
    double beta[ASSAY_SPLINE_TERMS];
    double most; /* that a curve or a word says */
} assay_spline;

/** List the terms that suit the rows; *out is all zero. */
assay_status assay_spline_list(assay_spline *out, const assay_training *data,
                               const assay_spline_shape *shape,
                               assay_error *err) ASSAY_MUST_CHECK;

/** The terms of a block: x[term * ASSAY_ROWS_BLOCK + row]. */
void assay_spline_fill(const assay_spline *s, const assay_rows *rows, float *x);

#endif
