/* ring: glue */
/**
 * Gaussian noise whose scale follows the data by a smooth sensitivity.
 *
 * The caller's paper shows (epsilon, delta)-DP for this scale; Assay has no
 * proof of it and charges the event as assumed. The scale is sigma^2 =
 * 2^exponent, from a fixed range, so that no error tells it.
 *
 * Law      out = round(in * step + N(0, 2^exponent)) / step per entry.
 * Theorem  none here: the ledger and every certificate say "assumed".
 * Errors   as mechanisms/release.h.
 */
#ifndef ASSAY_MECHANISMS_SMOOTH_H
#define ASSAY_MECHANISMS_SMOOTH_H

#include "mechanisms/custodian.h"

#define ASSAY_SMOOTH_LEAST (-20)
#define ASSAY_SMOOTH_MOST 80

assay_status assay_release_smooth_gaussian(assay_custodian *custodian,
                                           int64_t *out, const int64_t *in,
                                           size_t n, long step_bits,
                                           int exponent, const mpq_t epsilon,
                                           const mpq_t delta, const char *label,
                                           assay_error *err) ASSAY_MUST_CHECK;

#endif
