/* ring: driver */
/**
 * Uniform integers.
 *
 * Law     P[*out = v] = 1/n for every v in {0, ..., n-1}, and it stops almost
 *         surely.                                    [Coq: sampler-uniform]
 */
#ifndef ASSAY_MECHANISMS_UNIFORM_H
#define ASSAY_MECHANISMS_UNIFORM_H

#include <stdint.h>

#include "mechanisms/tape.h"

/*@ // the largest multiple of n that is at most 2^64
    logic integer UniformLimit(integer n) = (18446744073709551616 / n) * n;

    // reading from position p gives v and ends at position q
    predicate Uniform(integer n, integer p, integer v, integer q) =
      p < q &&
      (\forall integer i; p <= i < q - 1 ==> TapeWord(i) >= UniformLimit(n)) &&
      TapeWord(q - 1) < UniformLimit(n) && v == TapeWord(q - 1) % n;
*/

/**
 * One step: x is a word.
 *
 * Law     If x is uniform on {0, ..., 2^64 - 1}, then given ASSAY_OK the value
 *         *out is uniform on {0, ..., n-1}.
 * Errors  ASSAY_AGAIN only, with probability (2^64 mod n) / 2^64.
 */
/*@ requires positive: n > 0;
    requires writable: \valid(out);
    terminates \true;
    exits \false;
    assigns *out;
    ensures accept: \result == ASSAY_OK <==> x < UniformLimit(n);
    ensures value:  \result == ASSAY_OK ==> *out == x % n;
    ensures again:  \result != ASSAY_OK ==> \result == ASSAY_AGAIN;
    ensures frame:  \result == ASSAY_AGAIN ==> *out == \old(*out);
*/
assay_status assay_uniform_try(uint64_t *out, uint64_t n,
                               uint64_t x) ASSAY_MUST_CHECK;

/** A uniform integer below n. */
/*@ requires positive: n > 0;
    requires valid: \valid(tape) && \valid(out) && \separated(tape, out);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures value: \result == ASSAY_OK ==>
      Uniform(n, \old(tape->position), *out, tape->position);
    ensures range: \result == ASSAY_OK ==> *out < n;
    ensures fails: \result != ASSAY_OK ==>
      \result == ASSAY_ENTROPY && *out == \old(*out);
*/
assay_status assay_uniform_below(assay_tape *tape, uint64_t n,
                                 uint64_t *out) ASSAY_MUST_CHECK;

#endif
