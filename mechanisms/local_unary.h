/* ring: glue */
/**
 * Local reports of several one-hot values at once, by optimised unary encoding:
 * every person reports one value in {0, ..., k-1} for each of `blocks` places,
 * once.
 *
 * Law      in each block the bit of the value is a fair coin, every other bit
 * is one with probability q < 1/2; all coins are independent. Charge   once,
 * when the reporter is made: nobody reports twice, so all reports together cost
 * what one does [Theorem: parallel]. Theorem  local-dp and compose-pure: each
 * block costs ln((1-q)/q), as binary randomized response with p = 2q, `blocks`
 * times. Errors   as mechanisms/local.h; ASSAY_INVALID after `max_reports`.
 */
#ifndef ASSAY_MECHANISMS_LOCAL_UNARY_H
#define ASSAY_MECHANISMS_LOCAL_UNARY_H

#include "mechanisms/custodian.h"

typedef struct assay_local_unary assay_local_unary;

/** q_num / 2^32 is q, below 1/2. */
assay_status assay_local_unary_new(assay_local_unary **out,
                                   assay_custodian *custodian, size_t blocks,
                                   size_t k, uint64_t max_reports,
                                   uint32_t q_num, const char *label,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** `bits` gets blocks * k zeros and ones. A value of k or more counts as
 *  k - 1. */
assay_status assay_local_unary_report(assay_local_unary *reporter,
                                      uint8_t *bits, const uint64_t *values,
                                      assay_error *err) ASSAY_MUST_CHECK;

void assay_local_unary_free(assay_local_unary *reporter);

#endif
