/* ring: driver */
#include "mechanisms/uniform.h"

/*@ lemma quotient: \forall integer n, q, r;
      n > 0 && 0 <= r < n ==> (q * n + r) / n == q || q * n + r < 0;
*/

assay_status assay_uniform_try(uint64_t *out, uint64_t n, uint64_t x)
{
    /* rest = 2^64 mod n; 2^64 = limit + rest: x < limit iff x <= max - rest */
    uint64_t last = UINT64_MAX % n;
    uint64_t rest = last == n - 1 ? 0 : last + 1;
    //@ ghost uint64_t q = UINT64_MAX / n;
    //@ assert whole: 18446744073709551616 == q * n + last + 1;
    //@ assert wrap: rest == 0 ==> 18446744073709551616 == (q + 1) * n + 0;
    //@ assert plain: rest != 0 ==> 18446744073709551616 == q * n + rest;
    //@ assert limit: UniformLimit(n) == 18446744073709551616 - rest;
    if (x > UINT64_MAX - rest) {
        return ASSAY_AGAIN;
    }
    *out = x % n;
    return ASSAY_OK;
}

assay_status assay_uniform_below(assay_tape *tape, uint64_t n, uint64_t *out)
{
    uint64_t word = 0;
    uint64_t value = 0;
    /*@ loop invariant from: \at(tape->position, Pre) <= tape->position;
        loop invariant rejected: \forall integer i;
          \at(tape->position, Pre) <= i < tape->position ==>
          TapeWord(i) >= UniformLimit(n);
        loop assigns word, value, tape->position;
    */
    for (;;) {
        if (assay_tape_next(tape, &word) != ASSAY_OK) {
            return ASSAY_ENTROPY;
        }
        if (assay_uniform_try(&value, n, word) == ASSAY_OK) {
            *out = value;
            return ASSAY_OK;
        }
    }
}
