/* ring: driver */
/**
 * The geometric law of rate s/t.
 *
 * Law     P[*out = y] = (1 - e^(-s/t)) e^(-y s/t), y = 0, 1, 2, ...
 *                                                     [Coq: sampler-geometric]
 * Errors  ASSAY_ENTROPY; ASSAY_RANGE if U + t V passes 2^63 - 1, which has
 *         probability at most exp(1 - (2^63 - 1) / t). *out is untouched.
 */
#ifndef ASSAY_MECHANISMS_GEOMETRIC_H
#define ASSAY_MECHANISMS_GEOMETRIC_H

#include <stdint.h>

#include "mechanisms/bernoulli.h"

/*@ // rounds of the first loop that were rejected lead from p to q
    inductive GeometricRejected(integer t, integer p, integer q) {
      case geometric_none: \forall integer t, p; GeometricRejected(t, p, p);
      case geometric_more: \forall integer t, p, q, u, r, s;
        GeometricRejected(t, p, q) && Uniform(t, q, u, r) &&
        BernoulliExpUnit(u, t, r, 0, s) ==> GeometricRejected(t, p, s);
    }

    // U: uniform below t, kept with probability exp(-U/t)
    inductive GeometricLow(integer t, integer p, integer u, integer q) {
      case geometric_low: \forall integer t, p, u, q0, q1, q;
        GeometricRejected(t, p, q0) && Uniform(t, q0, u, q1) &&
        BernoulliExpUnit(u, t, q1, 1, q) ==> GeometricLow(t, p, u, q);
    }

    inductive Geometric(integer s, integer t, integer p, integer y,
                        integer q) {
      case geometric_value: \forall integer s, t, p, u, V, x, q2, q3, q;
        GeometricLow(t, p, u, q2) && Ones(q2, V, q3) &&
        BernoulliExpUnit(1, 1, q3, 0, q) && x == u + t * V ==>
        Geometric(s, t, p, x / s, q);
    }
*/

/*@ requires rate: s > 0 && 0 < t <= 4611686018427387904;
    requires valid: \valid(tape) && \valid(out) && \separated(tape, out);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures value: \result == ASSAY_OK ==>
      Geometric(s, t, \old(tape->position), *out, tape->position);
    ensures range: \result == ASSAY_OK ==> *out >= 0;
    ensures fails: \result != ASSAY_OK ==>
      (\result == ASSAY_ENTROPY || \result == ASSAY_RANGE) &&
      *out == \old(*out);
*/
assay_status assay_geometric(assay_tape *tape, uint64_t s, uint64_t t,
                             int64_t *out) ASSAY_MUST_CHECK;

#endif
