/* ring: driver */
/**
 * The discrete Gaussian law of variance parameter n/d, route 2 (integers only;
 * Canonne, Kamath and Steinke 2020, Algorithm 3).
 *
 * Law     P[*out = x] proportional to exp(-x^2 d / (2 n)), x in Z.
 *                                             [Coq: sampler-discrete-gaussian]
 * Errors  as assay_geometric.
 *
 * Time and words depend on |*out|: use a sampler object in constant-time mode
 * (mechanisms/sampler.h) where that matters.
 */
#ifndef ASSAY_MECHANISMS_DISCRETE_GAUSSIAN_H
#define ASSAY_MECHANISMS_DISCRETE_GAUSSIAN_H

#include <stdint.h>

#include "mechanisms/discrete_laplace.h"

/** sigma^2 = n/d; t is floor(sigma) + 1. */
typedef struct assay_gaussian_64 {
    uint64_t n;
    uint64_t d;
    uint64_t t;
} assay_gaussian_64;

/*@ // the exponent's numerator and denominator for a proposal y
    logic integer GaussianOver(integer n, integer d, integer t, integer y) =
      (\abs(y) * d * t - n) * (\abs(y) * d * t - n);
    logic integer GaussianUnder(integer n, integer d, integer t) =
      2 * n * d * t * t;

    inductive GaussianRejected(integer n, integer d, integer t, integer p,
                               integer q) {
      case gaussian_none: \forall integer n, d, t, p; GaussianRejected(n, d, t, p, p);
      case gaussian_more: \forall integer n, d, t, p, q, y, r, s;
        GaussianRejected(n, d, t, p, q) && DiscreteLaplace(1, t, q, y, r) &&
        BernoulliExp(GaussianOver(n, d, t, y), GaussianUnder(n, d, t), r, 0, s)
        ==> GaussianRejected(n, d, t, p, s);
    }

    inductive DiscreteGaussian(integer n, integer d, integer t, integer p,
                               integer x, integer q) {
      case gaussian_value: \forall integer n, d, t, p, x, q0, r, q;
        GaussianRejected(n, d, t, p, q0) && DiscreteLaplace(1, t, q0, x, r) &&
        BernoulliExp(GaussianOver(n, d, t, x), GaussianUnder(n, d, t), r, 1, q)
        ==> DiscreteGaussian(n, d, t, p, x, q);
    }

    // the parameters for which 64 bits are enough
    predicate GaussianFits(integer n, integer d, integer t) =
      0 < n < 2147483648 && 0 < d && 0 < t && d * t < 2147483648 &&
      GaussianUnder(n, d, t) < 18446744073709551616;
*/

/** The coin of exp(-over/under) for a proposal whose `over` passes 64 bits; in
 *  GMP (mechanisms/big.c). */
/*@ requires fits: GaussianFits(g->n, g->d, g->t);
    requires valid: \valid_read(g) && \valid(tape) && \valid(out) &&
      \separated(tape, out) && \separated(tape, g);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures value: \result == ASSAY_OK ==>
      BernoulliExp(GaussianOver(g->n, g->d, g->t, y),
                   GaussianUnder(g->n, g->d, g->t), \old(tape->position), *out,
                   tape->position);
    ensures bit: \result == ASSAY_OK ==> *out == 0 || *out == 1;
    ensures fails: \result != ASSAY_OK ==>
      (\result == ASSAY_ENTROPY || \result == ASSAY_RANGE) &&
      *out == \old(*out);
*/
assay_status assay_big_gaussian_coin(assay_tape *tape,
                                     const assay_gaussian_64 *g, int64_t y,
                                     int *out) ASSAY_MUST_CHECK;

/*@ requires fits: GaussianFits(g->n, g->d, g->t);
    requires valid: \valid_read(g) && \valid(tape) && \valid(out) &&
      \separated(tape, out) && \separated(tape, g) && \separated(out, g);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures value: \result == ASSAY_OK ==>
      DiscreteGaussian(g->n, g->d, g->t, \old(tape->position), *out,
                       tape->position);
    ensures fails: \result != ASSAY_OK ==>
      (\result == ASSAY_ENTROPY || \result == ASSAY_RANGE) &&
      *out == \old(*out);
*/
assay_status assay_discrete_gaussian(assay_tape *tape,
                                     const assay_gaussian_64 *g,
                                     int64_t *out) ASSAY_MUST_CHECK;

#endif
