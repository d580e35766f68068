/* ring: kernel */
#include "mechanisms/inverse.h"

assay_status assay_inverse_try(uint32_t *out, const assay_inverse *t,
                               uint64_t w)
{
    const uint64_t *digits = t->digits;
    uint32_t i = t->guide[w >> t->shift];
    /*@ loop invariant bound: 0 <= i < t->size;
        loop invariant below: \forall integer j; 0 <= j < i ==>
          digits[j] < w;
        loop assigns i;
        loop variant t->size - i;
    */
    while (digits[i] < w) {
        i++;
    }
    if (digits[i] == w) {
        return ASSAY_AGAIN;
    }
    *out = i;
    return ASSAY_OK;
}

/* 1 if a < b, without a branch (Hacker's Delight, 2-12) */
/*@ terminates \true;
    exits \false;
    assigns \nothing;
    ensures less: \result == (a < b ? 1 : 0);
*/
static inline uint32_t less(uint64_t a, uint64_t b)
{
    return a < b;
}

assay_status assay_inverse_scan(uint32_t *out, const uint64_t *digits,
                                uint32_t size, uint64_t w)
{
    uint32_t num_below = 0;
    uint32_t num_to = 0;
    /*@ loop invariant bound: 0 <= i <= size;
        loop invariant counts: 0 <= num_below <= num_to <= i;
        loop invariant below: \forall integer j; 0 <= j < i ==>
          (digits[j] < w <==> j < num_below);
        loop invariant to: \forall integer j; 0 <= j < i ==>
          (digits[j] <= w <==> j < num_to);
        loop assigns i, num_below, num_to;
        loop variant size - i;
    */
    for (uint32_t i = 0; i < size; i++) {
        num_below += less(digits[i], w);
        num_to += 1 - less(w, digits[i]);
    }
    *out = num_below;
    return num_below == num_to ? ASSAY_OK : ASSAY_AGAIN;
}
