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

/* 1 if a < b, for numbers below 2^63: the top bit of 2^63 - 1 + b - a */
/*@ requires small: a < 9223372036854775808 && b < 9223372036854775808;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures less: \result == (a < b ? 1 : 0);
*/
static inline uint64_t less(uint64_t a, uint64_t b)
{
    return (9223372036854775807u + b - a) / 9223372036854775808u;
}

/* The loop has no branch on data; let the compiler use what the machine has. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__FRAMAC__)
__attribute__((target_clones("default", "avx2", "avx512f")))
#endif
assay_status
assay_inverse_scan(uint32_t *out, const uint64_t *halves, uint32_t size,
                   uint64_t w)
{
    const uint64_t half = w >> 1;
    uint64_t num_below = 0;
    uint64_t num_above = 0;
    /*@ loop invariant bound: 0 <= i <= size;
        loop invariant counts: 0 <= num_below && 0 <= num_above &&
          num_below + num_above <= i;
        loop invariant below: \forall integer j; 0 <= j < i ==>
          (halves[j] < half <==> j < num_below);
        loop invariant above: \forall integer j; 0 <= j < i ==>
          (halves[j] > half <==> j >= i - num_above);
        loop assigns i, num_below, num_above;
        loop variant size - i;
    */
    for (uint32_t i = 0; i < size; i++) {
        /*@ assert all_below: halves[i] < half ==> num_below == i ||
              (i > 0 && halves[i - 1] < half); */
        /*@ assert none_above: halves[i] <= half ==> num_above == 0 ||
              (i > 0 && halves[i - 1] <= half); */
        num_below += less(halves[i], half);
        num_above += less(half, halves[i]);
    }
    *out = (uint32_t)num_below;
    return num_below + num_above == size ? ASSAY_OK : ASSAY_AGAIN;
}
