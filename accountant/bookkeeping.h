/* ring: kernel */
/**
 * Integer bookkeeping of the accountant: counts and sequence numbers.
 */
#ifndef ASSAY_ACCOUNTANT_BOOKKEEPING_H
#define ASSAY_ACCOUNTANT_BOOKKEEPING_H

#include <stdint.h>

#include "core/status.h"

#define ASSAY_COUNT_LIMIT 0x4000000000000000u /* 2^62 */
#define ASSAY_ORDER_MAX 4096 /* of the search for a Renyi order */

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

/**
 * A Renyi order of the search, `step` orders further on, kept within its
 * bounds: integers from 2 to ASSAY_ORDER_MAX. Any order is valid; what is below
 * 2 or beyond the end is not searched.
 */
/*@ requires order_range: 0 <= order <= ASSAY_ORDER_MAX;
    requires step_range:  -ASSAY_ORDER_MAX <= step <= ASSAY_ORDER_MAX;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures bounds: 2 <= \result <= ASSAY_ORDER_MAX;
    ensures inside: 2 <= order + step <= ASSAY_ORDER_MAX ==>
      \result == order + step;
    ensures low:    order + step < 2 ==> \result == 2;
    ensures high:   order + step > ASSAY_ORDER_MAX ==>
      \result == ASSAY_ORDER_MAX;
*/
int64_t assay_order_step(int64_t order, int64_t step);

/**
 * The next bracket of a search over 0 .. last around its best point: one point
 * on either side, as far as there are any.
 */
/*@ requires writable: \valid(low) && \valid(high) && \separated(low, high);
    requires range:    0 <= best <= last <= ASSAY_ORDER_MAX;
    terminates \true;
    exits \false;
    assigns *low, *high;
    ensures inside: 0 <= *low <= best <= *high <= last;
    ensures wide:   (best > 0 ==> *low == best - 1) &&
                    (best < last ==> *high == best + 1);
    ensures ends:   (best == 0 ==> *low == 0) &&
                    (best == last ==> *high == last);
*/
void assay_order_bracket(int64_t *low, int64_t *high, int64_t best,
                         int64_t last);

#endif
