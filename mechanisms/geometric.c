/* ring: driver */
#include "mechanisms/geometric.h"

/* U uniform below t, kept with probability exp(-U/t). */
/*@ requires rate: 0 < t <= 4611686018427387904;
    requires valid: \valid(tape) && \valid(out) && \separated(tape, out);
    terminates \false;
    exits \false;
    assigns *out, tape->position;
    ensures below: \result == ASSAY_OK ==> *out < t;
    ensures value: \result == ASSAY_OK ==>
      GeometricLow(t, \old(tape->position), *out, tape->position);
    ensures fails: \result != ASSAY_OK ==>
      \result == ASSAY_ENTROPY || \result == ASSAY_RANGE;
*/
static assay_status remainder_part(assay_tape *tape, uint64_t t, uint64_t *out)
{
    /*@ loop invariant rejected: GeometricRejected(
          t, \at(tape->position, Pre), tape->position);
        loop assigns *out, tape->position;
    */
    for (;;) {
        int keep = 0;
        assay_status status = assay_uniform_below(tape, t, out);
        if (status != ASSAY_OK) {
            return status;
        }
        status = assay_bernoulli_exp_unit(tape, *out, t, &keep);
        if (status != ASSAY_OK) {
            return status;
        }
        if (keep == 1) {
            return ASSAY_OK;
        }
    }
}

assay_status assay_geometric(assay_tape *tape, uint64_t s, uint64_t t,
                             int64_t *out)
{
    uint64_t x = 0; /* U + t V */
    int more = 0;
    assay_status status = remainder_part(tape, t, &x);
    if (status != ASSAY_OK) {
        return status;
    }
    //@ ghost uint64_t u = x;
    //@ ghost uint64_t V = 0;
    /*@ loop invariant ones:
          Ones(\at(tape->position, LoopEntry), V, tape->position);
        loop invariant sum: x == u + t * V;
        loop invariant range: 0 <= x <= INT64_MAX && V <= x;
        loop invariant frame: *out == \at(*out, Pre);
        loop assigns x, more, status, V, tape->position;
    */
    for (;;) {
        status = assay_bernoulli_exp_unit(tape, 1, 1, &more);
        if (status != ASSAY_OK) {
            return status;
        }
        if (more == 0) {
            *out = (int64_t)(x / s);
            return ASSAY_OK;
        }
        if (x > INT64_MAX - t) {
            return ASSAY_RANGE;
        }
        x += t;
        //@ assert next: x == u + t * (V + 1);
        //@ ghost V = V + 1;
    }
}
