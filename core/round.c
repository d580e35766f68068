/* ring: kernel */
#include "core/round.h"

uint64_t assay_round_even(uint64_t m, uint64_t p)
{
    uint64_t quotient = m / p;
    uint64_t rest = m % p;
    //@ assert split: m == quotient * p + rest;
    //@ assert small: quotient <= m;
    if (rest > p - rest) {
        return quotient + 1;
    }
    if (rest < p - rest) {
        return quotient;
    }
    return quotient + quotient % 2;
}
