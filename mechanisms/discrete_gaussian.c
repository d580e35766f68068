/* ring: driver */
#include "mechanisms/discrete_gaussian.h"

/*@ lemma square_bound: \forall integer m;
      -2147483648 <= m <= 2147483648 ==>
      0 <= m * m <= 4611686018427387904;
    lemma times_bound: \forall integer a, b, c;
      0 <= a <= b && 0 <= c ==> 0 <= a * c <= b * c;
*/

/* The coin that keeps a proposal y. */
/*@ requires fits: GaussianFits(g->n, g->d, g->t);
    requires not_least: y > INT64_MIN;
    requires valid: \valid_read(g) && \valid(tape) && \valid(out) &&
      \separated(tape, out) && \separated(tape, g) && \separated(out, g);
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
static assay_status keep_coin(assay_tape *tape, const assay_gaussian_64 *g,
                              int64_t y, int *out)
{
    uint64_t size = y < 0 ? (uint64_t)-y : (uint64_t)y;
    uint64_t dt = g->d * g->t;
    uint64_t most = 2147483647 / dt;
    //@ assert dt: dt == g->d * g->t && 0 < dt < 2147483648;
    //@ assert size: size == \abs(y);
    if (size > most) {
        return assay_big_gaussian_coin(tape, g, y, out);
    }
    //@ assert most: most * dt <= 2147483647;
    //@ assert product: 0 <= size * dt <= most * dt;
    uint64_t left = size * dt;
    uint64_t m = left < g->n ? g->n - left : left - g->n;
    //@ assert same: m * m == (left - g->n) * (left - g->n);
    //@ assert over: m * m == GaussianOver(g->n, g->d, g->t, y);
    uint64_t nd = 2 * g->n * g->d;
    //@ assert under: nd * g->t * g->t == GaussianUnder(g->n, g->d, g->t);
    //@ assert step: 0 < nd * g->t <= nd * g->t * g->t;
    uint64_t under = nd * g->t * g->t;
    return assay_bernoulli_exp(tape, m * m, under, out);
}

assay_status assay_discrete_gaussian(assay_tape *tape,
                                     const assay_gaussian_64 *g, int64_t *out)
{
    /*@ loop invariant rejected: GaussianRejected(
          g->n, g->d, g->t, \at(tape->position, Pre), tape->position);
        loop invariant frame: *out == \at(*out, Pre);
        loop assigns tape->position;
    */
    for (;;) {
        int64_t y = 0;
        int keep = 0;
        assay_status status = assay_discrete_laplace(tape, 1, g->t, &y);
        if (status != ASSAY_OK) {
            return status;
        }
        status = keep_coin(tape, g, y, &keep);
        if (status != ASSAY_OK) {
            return status;
        }
        if (keep == 1) {
            *out = y;
            return ASSAY_OK;
        }
    }
}
