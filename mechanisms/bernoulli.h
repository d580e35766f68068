/* ring: driver */
/**
 * Exact coins.
 *
 * Law     assay_bernoulli: P[*out = 1] = a/b.          [Coq: sampler-bernoulli]
 *         assay_bernoulli_exp: P[*out = 1] = exp(-a/b), for every a >= 0.
 *                                                  [Coq: sampler-bernoulli-exp]
 * Errors  ASSAY_ENTROPY; ASSAY_RANGE if a counter would pass 2^64 (probability
 *         below 1/(2^64)!). *out is untouched then.
 */
#ifndef ASSAY_MECHANISMS_BERNOULLI_H
#define ASSAY_MECHANISMS_BERNOULLI_H

#include <stdint.h>

#include "mechanisms/tape.h"
#include "mechanisms/uniform.h"

/*@ inductive Bernoulli(integer a, integer b, integer p, integer bit,
                        integer q) {
      case bernoulli_yes: \forall integer a, b, p, v, q;
        Uniform(b, p, v, q) && v < a ==> Bernoulli(a, b, p, 1, q);
      case bernoulli_no: \forall integer a, b, p, v, q;
        Uniform(b, p, v, q) && v >= a ==> Bernoulli(a, b, p, 0, q);
    }

    // K - 1 rounds of the loop of bernoulli_exp_unit lead from p to q
    inductive UnitRounds(integer a, integer b, integer p, integer K,
                         integer q) {
      case unit_start: \forall integer a, b, p; UnitRounds(a, b, p, 1, p);
      case unit_round: \forall integer a, b, p, K, q, r, s;
        UnitRounds(a, b, p, K, q) && Bernoulli(a, b, q, 1, r) &&
        Uniform(K, r, 0, s) ==> UnitRounds(a, b, p, K + 1, s);
    }

    inductive BernoulliExpUnit(integer a, integer b, integer p, integer bit,
                               integer q) {
      case unit_first: \forall integer a, b, p, K, r, q;
        UnitRounds(a, b, p, K, r) && Bernoulli(a, b, r, 0, q) ==>
        BernoulliExpUnit(a, b, p, K % 2, q);
      case unit_second: \forall integer a, b, p, K, r, s, v, q;
        UnitRounds(a, b, p, K, r) && Bernoulli(a, b, r, 1, s) &&
        Uniform(K, s, v, q) && v != 0 ==> BernoulliExpUnit(a, b, p, K % 2, q);
    }

    // g coins of exp(-1), all true, lead from p to q
    inductive Ones(integer p, integer g, integer q) {
      case ones_none: \forall integer p; Ones(p, 0, p);
      case ones_more: \forall integer p, g, q, r;
        Ones(p, g, q) && BernoulliExpUnit(1, 1, q, 1, r) ==> Ones(p, g + 1, r);
    }

    inductive BernoulliExp(integer a, integer b, integer p, integer bit,
                           integer q) {
      case exp_whole: \forall integer a, b, p, g, r, q;
        Ones(p, g, r) && g < a / b && BernoulliExpUnit(1, 1, r, 0, q) ==>
        BernoulliExp(a, b, p, 0, q);
      case exp_rest: \forall integer a, b, p, r, bit, q;
        Ones(p, a / b, r) && BernoulliExpUnit(a % b, b, r, bit, q) ==>
        BernoulliExp(a, b, p, bit, q);
    }
*/

/** One with probability a/b. */
/*@ requires fraction: a <= b && b > 0;
    requires valid: \valid(tape) && \valid(out) && \separated(tape, out);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures value: \result == ASSAY_OK ==>
      Bernoulli(a, b, \old(tape->position), *out, tape->position);
    ensures bit: \result == ASSAY_OK ==> *out == 0 || *out == 1;
    ensures fails: \result != ASSAY_OK ==>
      \result == ASSAY_ENTROPY && *out == \old(*out);
*/
assay_status assay_bernoulli(assay_tape *tape, uint64_t a, uint64_t b,
                             int *out) ASSAY_MUST_CHECK;

/** One with probability exp(-a/b), a <= b. */
/*@ requires fraction: a <= b && b > 0;
    requires valid: \valid(tape) && \valid(out) && \separated(tape, out);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures value: \result == ASSAY_OK ==>
      BernoulliExpUnit(a, b, \old(tape->position), *out, tape->position);
    ensures bit: \result == ASSAY_OK ==> *out == 0 || *out == 1;
    ensures fails: \result != ASSAY_OK ==>
      (\result == ASSAY_ENTROPY || \result == ASSAY_RANGE) &&
      *out == \old(*out);
*/
assay_status assay_bernoulli_exp_unit(assay_tape *tape, uint64_t a, uint64_t b,
                                      int *out) ASSAY_MUST_CHECK;

/** One with probability exp(-a/b), any a. */
/*@ requires fraction: b > 0;
    requires valid: \valid(tape) && \valid(out) && \separated(tape, out);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures value: \result == ASSAY_OK ==>
      BernoulliExp(a, b, \old(tape->position), *out, tape->position);
    ensures bit: \result == ASSAY_OK ==> *out == 0 || *out == 1;
    ensures fails: \result != ASSAY_OK ==>
      (\result == ASSAY_ENTROPY || \result == ASSAY_RANGE) &&
      *out == \old(*out);
*/
assay_status assay_bernoulli_exp(assay_tape *tape, uint64_t a, uint64_t b,
                                 int *out) ASSAY_MUST_CHECK;

#endif
