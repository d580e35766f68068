/* ring: driver */
/**
 * The discrete Laplace law of scale t/s, route 2 (integers only).
 *
 * Law     P[*out = x] = (1 - e^(-s/t)) / (1 + e^(-s/t)) e^(-|x| s/t), x in Z.
 *                                              [Coq: sampler-discrete-laplace]
 * Errors  as assay_geometric.
 *
 * Time and words depend on |*out|: use a sampler object in constant-time mode
 * (mechanisms/sampler.h) where that matters.
 */
#ifndef ASSAY_MECHANISMS_DISCRETE_LAPLACE_H
#define ASSAY_MECHANISMS_DISCRETE_LAPLACE_H

#include <stdint.h>

#include "mechanisms/geometric.h"

/*@ // rounds that gave "minus zero" lead from p to q
    inductive LaplaceRejected(integer s, integer t, integer p, integer q) {
      case laplace_none: \forall integer s, t, p; LaplaceRejected(s, t, p, p);
      case laplace_more: \forall integer s, t, p, q, r, e;
        LaplaceRejected(s, t, p, q) && Geometric(s, t, q, 0, r) &&
        Bernoulli(1, 2, r, 1, e) ==> LaplaceRejected(s, t, p, e);
    }

    inductive DiscreteLaplace(integer s, integer t, integer p, integer x,
                              integer q) {
      case laplace_plus: \forall integer s, t, p, y, q0, r, q;
        LaplaceRejected(s, t, p, q0) && Geometric(s, t, q0, y, r) &&
        Bernoulli(1, 2, r, 0, q) ==> DiscreteLaplace(s, t, p, y, q);
      case laplace_minus: \forall integer s, t, p, y, q0, r, q;
        LaplaceRejected(s, t, p, q0) && Geometric(s, t, q0, y, r) && y != 0 &&
        Bernoulli(1, 2, r, 1, q) ==> DiscreteLaplace(s, t, p, -y, q);
    }
*/

/*@ requires rate: s > 0 && 0 < t <= 4611686018427387904;
    requires valid: \valid(tape) && \valid(out) && \separated(tape, out);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures value: \result == ASSAY_OK ==>
      DiscreteLaplace(s, t, \old(tape->position), *out, tape->position);
    ensures range: \result == ASSAY_OK ==> *out > INT64_MIN;
    ensures fails: \result != ASSAY_OK ==>
      (\result == ASSAY_ENTROPY || \result == ASSAY_RANGE) &&
      *out == \old(*out);
*/
assay_status assay_discrete_laplace(assay_tape *tape, uint64_t s, uint64_t t,
                                    int64_t *out) ASSAY_MUST_CHECK;

#endif
