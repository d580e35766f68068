/* ring: glue */
/**
 * Picks from scores by exact coins of the tape: the draws behind
 * mechanisms/choose.h, which charges for them.
 *
 * Law     assay_pick_exponential: P[i] proportional to exp(rate score[i]).
 *         assay_pick_permute_and_flip: the first candidate, in uniformly random
 *         order, whose coin of probability exp(-rate (max - score[i])) is one.
 * Errors  ASSAY_ENTROPY; *out is untouched then.
 */
#ifndef ASSAY_MECHANISMS_PICK_H
#define ASSAY_MECHANISMS_PICK_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

#include "mechanisms/tape.h"

/** n > 0, rate > 0. */
assay_status assay_pick_exponential(assay_tape *tape, size_t *out,
                                    const int64_t *score, size_t n,
                                    const mpq_t rate) ASSAY_MUST_CHECK;

/** `order` is room for n numbers; the caller wipes it. */
assay_status assay_pick_permute_and_flip(assay_tape *tape, size_t *out,
                                         const int64_t *score, size_t *order,
                                         size_t n,
                                         const mpq_t rate) ASSAY_MUST_CHECK;

#endif
