/* ring: kernel */
#include "mechanisms/blocks.h"

/*@ lemma blocks_product: \forall integer a, b, c, d;
      0 <= a <= c && 0 <= b <= d ==> 0 <= a * b <= c * d;
    lemma blocks_part: \forall integer j, rq, g;
      g == 0 || g == 1 ==>
      rq * (g * (2097152 * j + rq) + (1 - g) * 1048576) ==
      GammaPart(j, rq, g);
*/

/* floor(x y / 2^32) */
/*@ requires small: x < 4294967296 && y < 4294967296;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == (x * y) / 4294967296;
    ensures range: \result <= x && \result <= y;
*/
static inline uint64_t times(uint64_t x, uint64_t y)
{
    return x * y / 4294967296u;
}

/*@ requires small: x < 4294967296;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == ExpLow(x);
*/
static inline uint64_t exp_low(uint64_t x)
{
    uint64_t x2 = times(x, x);
    uint64_t x3 = times(x2, x);
    uint64_t x4 = times(x3, x);
    uint64_t x5 = times(x4, x);
    //@ assert two: x2 == Quad(x);
    //@ assert three: x3 == Cube(x);
    //@ assert four: x4 == Four(x);
    //@ assert five: x5 == Five(x);
    return 4294967296u - x + x2 / 2 + x4 / 24 - (x3 / 6 + 2) - (x5 / 120 + 2);
}

/*@ requires small: x < 4294967296;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == ExpHigh(x);
*/
static inline uint64_t exp_high(uint64_t x)
{
    uint64_t x2 = times(x, x);
    uint64_t x3 = times(x2, x);
    uint64_t x4 = times(x3, x);
    //@ assert two: x2 == Quad(x);
    //@ assert three: x3 == Cube(x);
    //@ assert four: x4 == Four(x);
    return 4294967296u - x + (x2 / 2 + 1) - x3 / 6 + (x4 / 24 + 2);
}

/* GammaPart / 2^20; gaussian is 0 or 1, chosen without a branch. */
/*@ requires range: j <= 511 && rq <= 1048576 && gaussian <= 1;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == GammaPart(j, rq, gaussian) / 1048576;
    ensures wide: \result <= 1073741824;
    ensures narrow: gaussian == 0 ==> \result <= 1048576;
*/
static inline uint64_t part(uint64_t j, uint64_t rq, uint64_t gaussian)
{
    uint64_t slope = gaussian * (2097152 * j + rq) + (1 - gaussian) * 1048576;
    //@ assert slope: slope <= 1072693248;
    //@ assert product: 0 <= rq * slope <= 1048576 * 1072693248;
    //@ assert part: rq * slope == GammaPart(j, rq, gaussian);
    return rq * slope / 1048576;
}

assay_status assay_blocks_coin(const assay_blocks *t, uint64_t j, uint64_t rq,
                               uint64_t word)
{
    uint64_t below = part(j, rq, t->gaussian);
    uint64_t above = part(j, rq + 1, t->gaussian) + 1;
    /*@ assert bound_low: 0 <= below * t->kappa <=
          (t->gaussian == 1 ? 1073741824 * 8589934592
                            : 1048576 * 549755813888); */
    /*@ assert bound_high: 0 <= above * (t->kappa + 1) <=
          (t->gaussian == 1 ? 1073741825 * 8589934593
                            : 1048577 * 549755813889); */
    uint64_t low = below * t->kappa / 268435456u;
    uint64_t high = above * (t->kappa + 1) / 268435456u + 1;
    //@ assert low: low == GammaLow(j, rq, t->gaussian, t->kappa);
    //@ assert high: high == GammaHigh(j, rq, t->gaussian, t->kappa);
    uint64_t top = word / 4294967296u;
    uint64_t keep;
    uint64_t reject;
    if (high > 4294967295u || low > high) {
        return ASSAY_AGAIN; /* gamma >= 1: only far beyond 8 sigma */
    }
    keep = top < exp_low(high);
    reject = top >= exp_high(low);
    /* OK = 0, AGAIN = 1, INVALID = 2, without a branch */
    return (assay_status)(1 - keep + reject);
}
