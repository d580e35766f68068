/* ring: glue */
/**
 * One draw from weights w_i exp(-rate d_i), exact for any rational rate.
 *
 * Law     P[i] = w_i exp(-rate d_i) / sum_j w_j exp(-rate d_j), to the last
 *         digit: the tape's words are the digits of a uniform number, partial
 *         sums are MPFR intervals, and digits, precision and the number of far
 *         candidates that are looked at grow until the answer is certain.
 * Errors  ASSAY_ENTROPY, ASSAY_MEMORY; ASSAY_INVALID if all weights are zero.
 */
#ifndef ASSAY_MECHANISMS_WEIGHTED_H
#define ASSAY_MECHANISMS_WEIGHTED_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "mechanisms/tape.h"

assay_status assay_weighted_draw(assay_tape *tape, size_t *out,
                                 const uint64_t *weight,
                                 const uint64_t *distance, size_t n,
                                 const mpq_t rate,
                                 assay_error *err) ASSAY_MUST_CHECK;

#endif
