/* ring: glue */
/**
 * The values of DP-APVI's rows, and a way for short rows that takes projection
 * and penalty in one go. algorithms/dp_apvi_plan.c and dp_apvi_side.c write
 * the same formulas: one of them, here, so that they give the same bits.
 */
#ifndef ASSAY_ALGORITHMS_DP_APVI_SIDE_H
#define ASSAY_ALGORITHMS_DP_APVI_SIDE_H

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "algorithms/consistency_lanes.h"

#define ASSAY_DP_APVI_TIE 0x1p-30
#define ASSAY_DP_APVI_TOP ((int64_t)1 << 50) /* of a count, as projected */

/* What the rows of one step have in common. A count is above its noise from
 * `noise` = E on; Bernstein's penalty takes 1 variance + 0, Hoeffding's
 * 0 variance + H^2. */
typedef struct assay_dp_apvi_terms {
    double noise, slack, iota, c1, second;
    double variance_weight, variance_base;
    double uniform, largest; /* of a count within its noise: C H */
    double top;              /* H - h */
} assay_dp_apvi_terms;

/* Exact for 0 <= x <= ASSAY_DP_APVI_TOP: 2^52 + x has x in its last bits.
 * Vectors of most CPUs have no other way. */
static inline double assay_dp_apvi_double(int64_t x)
{
#ifdef __FRAMAC__
    return (double)x;
#else
    int64_t bits = x + INT64_C(0x4330000000000000);
    double sum;
    memcpy(&sum, &bits, sizeof sum);
    return sum - 0x1p52;
#endif
}

/* The visits of a row, -1 where the projection is not needed: the row's sum
 * would be at most total + slack. */
static inline double assay_dp_apvi_total(const assay_dp_apvi_terms *c,
                                         int64_t visits)
{
    int64_t low = visits > 0 ? visits : 0;
    double sum =
        assay_dp_apvi_double(low < ASSAY_DP_APVI_TOP ? low : ASSAY_DP_APVI_TOP);
    return sum + c->slack <= c->noise ? -1.0 : sum;
}

/* The pessimistic value of a row from its sums of x, x v and x v^2, clipped to
 * [0, H-h]. No jumps, so that several rows go at once; `n` is a count that may
 * be divided by. One division serves 1/n and 1/(n - noise): divisions are most
 * of the work of a short row. */
static inline double assay_dp_apvi_value(const assay_dp_apvi_terms *c,
                                         double reward, double sum,
                                         double first, double second)
{
    int enough = sum > c->noise;
    double n = enough ? sum : c->noise + 1.0;
    double above = n - c->noise;
    double both = 1.0 / (n * above);
    double inverse = above * both;
    double mean = first * inverse;
    double variance = second * inverse - mean * mean;
    double positive = variance > 0.0 ? variance : 0.0;
    double factor = positive * c->variance_weight + c->variance_base;
    double spread = sqrt(factor * c->iota * (n * both));
    double seen = mean - (c->c1 * spread + c->second * inverse);
    /* uniform over states, and the largest penalty */
    double y = reward + (enough ? seen : c->uniform - c->largest);
    y = y > 0.0 ? y : 0.0;
    return y < c->top ? y : c->top;
}

/* Rows of one step that lie behind each other, their visits and rewards. */
typedef struct assay_dp_apvi_rows {
    const int64_t *row; /* of n entries */
    const int64_t *visits;
    const double *reward;
    const double *v; /* the values of the n states */
    size_t n, count;
    const int64_t *next; /* as many rows that memory is asked for */
} assay_dp_apvi_rows;

#ifdef ASSAY_CONSISTENCY_SIDE
#define ASSAY_DP_APVI_NONE UINT_MAX
/**
 * The values of at most ASSAY_CONSISTENCY_ROWS rows, a multiple of 4, and their
 * levels: the bits of assay_consistency_project and assay_dp_apvi_value. A row
 * has its t at once if t <= 0, or if all its entries are above t and above the
 * guess: Newton's steps then see all of them each time. Most rows whose counts
 * are above their noise are of this kind.
 *
 * Bit k of the result: one of the rows 4k to 4k + 3 is not, or has a number
 * that is not within [0, 2^44). Their levels are as before, their values no
 * values. ASSAY_DP_APVI_NONE: there are too many of them, no value is one (but
 * levels are). The CPU must have AVX2; n is at most ASSAY_CONSISTENCY_SHORT,
 * and guesses are within [-1, 2^44).
 */
unsigned assay_dp_apvi_side(double *q, int64_t *level,
                            const assay_dp_apvi_terms *terms,
                            const assay_dp_apvi_rows *x);

/** The same for a multiple of 8 rows; those that are not found go by eight, two
 *  bits each. The CPU must have AVX-512 F and DQ. */
unsigned assay_dp_apvi_side8(double *q, int64_t *level,
                             const assay_dp_apvi_terms *terms,
                             const assay_dp_apvi_rows *x);

/**
 * The best of num_actions actions for every state, the lowest of those within
 * ASSAY_DP_APVI_TIE, and its value; q is [s][a], at least 0. The CPU must have
 * AVX2, and the states are at least 4.
 */
void assay_dp_apvi_side_choose(uint32_t *action, double *value, const double *q,
                               size_t num_states, size_t num_actions);
#endif

#endif
