/* ring: kernel */
/**
 * Rounding of binary fractions in integers.
 */
#ifndef ASSAY_CORE_ROUND_H
#define ASSAY_CORE_ROUND_H

#include <stdint.h>

/*@ logic integer NearestEven(integer m, integer p) =
      m % p * 2 < p ? m / p :
      m % p * 2 > p ? m / p + 1 :
      (m / p) % 2 == 0 ? m / p : m / p + 1;
*/

/** m / p to the nearest integer, ties to even. */
/*@ requires range: m <= 9007199254740992;
    requires divisor: 0 < p <= 9007199254740992 * 4;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == NearestEven(m, p);
    ensures range: \result <= m + 1;
*/
uint64_t assay_round_even(uint64_t m, uint64_t p);

#endif
