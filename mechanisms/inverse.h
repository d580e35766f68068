/* ring: kernel */
/**
 * The inverse transform by table: one word decides unless it ties.
 *
 * digits[i] = floor(2^64 F(first + i)), nondecreasing, from 0 up to 2^64 - 1:
 * the two ends stand for the infinitely many k beyond the table.
 *
 * Law     given ASSAY_OK, first + *out is the k with F(k-1) <= U < F(k), where U
 *         is any real number whose first digit in base 2^64 is the word; a tie
 *         is resolved with more digits (mechanisms/cdf.h). [Coq: sampler-inverse]
 */
#ifndef ASSAY_MECHANISMS_INVERSE_H
#define ASSAY_MECHANISMS_INVERSE_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/** guide[w >> shift] is an index at which the search may start. */
typedef struct assay_inverse {
    const uint64_t *digits;
    const uint32_t *guide;
    uint32_t size;
    uint32_t shift; /* 64 - log2(number of guide entries), 1 to 63 */
} assay_inverse;

/*@ predicate InverseTable(uint64_t *digits, integer size) =
      2 <= size <= 4294967295 && \valid_read(digits + (0 .. size - 1)) &&
      digits[0] == 0 && digits[size - 1] == 18446744073709551615 &&
      (\forall integer i, j; 0 <= i <= j < size ==> digits[i] <= digits[j]);

    // every index before guide[b] has a digit below all words of bucket b
    predicate InverseGuide(assay_inverse *t) =
      1 <= t->shift <= 63 &&
      (\forall integer w; 0 <= w <= 18446744073709551615 ==>
        \valid_read(t->guide + (w >> t->shift)) &&
        t->guide[w >> t->shift] < t->size &&
        (\forall integer i; 0 <= i < t->guide[w >> t->shift] ==>
          t->digits[i] < w));

    // the word decides for index k: it lies strictly between its neighbours
    predicate InverseDecides(uint64_t *digits, integer size, integer w,
                             integer k) =
      0 < k < size && digits[k - 1] < w < digits[k];

    predicate InverseTies(uint64_t *digits, integer size, integer w) =
      \exists integer i; 0 <= i < size && digits[i] == w;
*/

/** One word. ASSAY_AGAIN on a tie. */
/*@ requires table: \valid_read(t) && InverseTable(t->digits, t->size) &&
      InverseGuide(t);
    requires writable: \valid(out) && \separated(out, t) &&
      \separated(out, t->digits + (0 .. t->size - 1)) &&
      \separated(out, t->guide + (w >> t->shift));
    terminates \true;
    exits \false;
    assigns *out;
    ensures value: \result == ASSAY_OK ==>
      InverseDecides(t->digits, t->size, w, *out);
    ensures tie: \result == ASSAY_AGAIN ==>
      InverseTies(t->digits, t->size, w) && *out == \old(*out);
    ensures codes: \result == ASSAY_OK || \result == ASSAY_AGAIN;
*/
assay_status assay_inverse_try(uint32_t *out, const assay_inverse *t,
                               uint64_t w) ASSAY_MUST_CHECK;

/**
 * The same by comparing with every entry: neither time nor the memory that is
 * touched depends on w. halves[i] = digits[i] / 2, so that one subtraction
 * compares (halves[k-1] < w/2 < halves[k] gives digits[k-1] < w < digits[k]); a
 * word whose upper 63 bits tie is left to the exact path too.
 */
/*@ requires halves: 2 <= size <= 65536 &&
      \valid_read(halves + (0 .. size - 1)) && halves[0] == 0 &&
      halves[size - 1] == 9223372036854775807 &&
      (\forall integer i, j; 0 <= i <= j < size ==> halves[i] <= halves[j]);
    requires writable: \valid(out) &&
      \separated(out, halves + (0 .. size - 1));
    terminates \true;
    exits \false;
    assigns *out;
    ensures value: \result == ASSAY_OK ==>
      0 < *out < size && halves[*out - 1] < w / 2 < halves[*out];
    ensures tie: \result == ASSAY_AGAIN ==>
      \exists integer i; 0 <= i < size && halves[i] == w / 2;
    ensures codes: \result == ASSAY_OK || \result == ASSAY_AGAIN;
*/
assay_status assay_inverse_scan(uint32_t *out, const uint64_t *halves,
                                uint32_t size, uint64_t w) ASSAY_MUST_CHECK;

#endif
