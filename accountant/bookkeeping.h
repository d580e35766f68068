/* ring: kernel */
/**
 * Integer bookkeeping of the accountant: counts and sequence numbers.
 */
#ifndef ASSAY_ACCOUNTANT_BOOKKEEPING_H
#define ASSAY_ACCOUNTANT_BOOKKEEPING_H

#include <stdint.h>

#include "core/status.h"

#define ASSAY_COUNT_LIMIT 0x4000000000000000u /* 2^62 */

/**
 * The sum of two counts.
 *
 * Errors  ASSAY_RANGE if it passes 2^62; *out is untouched then.
 */
/*@ requires writable: \valid(out);
    terminates \true;
    exits \false;
    assigns *out;
    ensures fits:  \result == ASSAY_OK <==> a + b <= ASSAY_COUNT_LIMIT;
    ensures value: \result == ASSAY_OK ==> *out == a + b;
    ensures range: \result != ASSAY_OK ==> \result == ASSAY_RANGE;
    ensures frame: \result == ASSAY_RANGE ==> *out == \old(*out);
*/
assay_status assay_count_add(uint64_t *out, uint64_t a,
                             uint64_t b) ASSAY_MUST_CHECK;

/**
 * The product of two counts (an event of count b inside a part that ran a
 * times).
 *
 * Errors  ASSAY_RANGE if it passes 2^62; *out is untouched then.
 */
/*@ requires writable: \valid(out);
    terminates \true;
    exits \false;
    assigns *out;
    ensures fits:  \result == ASSAY_OK <==> a * b <= ASSAY_COUNT_LIMIT;
    ensures value: \result == ASSAY_OK ==> *out == a * b;
    ensures range: \result != ASSAY_OK ==> \result == ASSAY_RANGE;
    ensures frame: \result == ASSAY_RANGE ==> *out == \old(*out);
*/
assay_status assay_count_multiply(uint64_t *out, uint64_t a,
                                  uint64_t b) ASSAY_MUST_CHECK;

/**
 * Whether row `sequence` may follow a row `previous`: a chain has no gaps and
 * no repeats.
 */
/*@ terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == 1 <==>
      (previous < ASSAY_COUNT_LIMIT && sequence == previous + 1);
    ensures bool:  \result == 0 || \result == 1;
*/
int assay_sequence_follows(uint64_t previous, uint64_t sequence);

#endif
