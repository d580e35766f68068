/* ring: kernel */
#include "mechanisms/blocks.h"

uint64_t assay_blocks_coarse(uint64_t r, uint32_t bits)
{
    return bits > 20 ? r >> (bits - 20) : r << (20 - bits);
}

/*@ lemma blocks_product: \forall integer a, b, c, d;
      0 <= a <= c && 0 <= b <= d ==> 0 <= a * b <= c * d;
    lemma blocks_part: \forall integer j, rq, g;
      g == 0 || g == 1 ==>
      rq * (g * (2097152 * j + rq) + (1 - g) * 1048576) ==
      GammaPart(j, rq, g);
*/

/* floor(x y / 2^32), x, y <= 2^32 */
/*@ requires small: x < 4294967296 && y < 4294967296;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == (x * y) / 4294967296;
    ensures range: \result <= x && \result <= y;
*/
static inline uint64_t times(uint64_t x, uint64_t y)
{
    return (x * y) >> 32;
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
    return 4294967296u - x + x2 / 2 - (x3 / 6 + 2) + x4 / 24 - (x5 / 120 + 2);
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
    return 4294967296u - x + (x2 / 2 + 1) - x3 / 6 + (x4 / 24 + 2);
}

/*@ requires range: j <= 511 && rq <= 1048576 && gaussian <= 1;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == GammaPart(j, rq, gaussian);
    ensures range: 0 <= \result <= 1125899906842624;
*/
static inline uint64_t part(uint64_t j, uint64_t rq, uint32_t gaussian)
{
    /* gaussian is 0 or 1: chosen without a branch */
    return rq * (gaussian * (2097152 * j + rq) + (1 - gaussian) * 1048576);
}

assay_status assay_blocks_coin(const assay_blocks *t, uint64_t j, uint64_t rq,
                               uint64_t word)
{
    uint64_t low = ((part(j, rq, t->gaussian) >> 20) * t->kappa) >> 28;
    uint64_t high =
        ((((part(j, rq + 1, t->gaussian) >> 20) + 1) * (t->kappa + 1)) >> 28) +
        1;
    uint64_t top = word >> 32;
    if (high > 4294967295u) {
        return ASSAY_AGAIN; /* gamma >= 1: only far beyond 16 sigma */
    }
    uint64_t keep = top < exp_low(high);
    uint64_t reject = top >= exp_high(low);
    /* OK = 0, AGAIN = 1, INVALID = 2 */
    return (assay_status)(1 - keep + reject);
}
