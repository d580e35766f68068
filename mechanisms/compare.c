/* ring: kernel */
#include "mechanisms/compare.h"

/* The comparison without leaving int64_t: halves and last bits apart.
 * a + b >= c + d  <=>  2 A + p >= 2 B + q with A, B the sums of the floored
 * halves and p, q in {0, 1, 2} the sums of the last bits. */
/*@ terminates \true;
    exits \false;
    assigns \nothing;
    ensures half: 2 * \result <= x <= 2 * \result + 1;
    ensures range: -4611686018427387904 <= \result < 4611686018427387904;
*/
static int64_t floor_half(int64_t x)
{
    return x >= 0 || x % 2 == 0 ? x / 2 : x / 2 - 1;
}

int assay_compare_sums(int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t ha = floor_half(a);
    const int64_t hb = floor_half(b);
    const int64_t hc = floor_half(c);
    const int64_t hd = floor_half(d);
    const int64_t left = ha + hb;
    const int64_t right = hc + hd;
    const int64_t p = (a - 2 * ha) + (b - 2 * hb);
    const int64_t q = (c - 2 * hc) + (d - 2 * hd);
    //@ assert bits: 0 <= p <= 2 && 0 <= q <= 2;
    if (left > right) {
        return 1; /* 2 (left - right) + p >= 2 >= q */
    }
    if (left == right) {
        return p >= q ? 1 : 0;
    }
    return left + 1 == right && p == 2 && q == 0 ? 1 : 0;
}

size_t assay_compare_largest(const int64_t *value, const int64_t *noise,
                             size_t n)
{
    size_t best = 0;
    /*@ loop invariant range: 1 <= i <= n && 0 <= best < i;
        loop invariant largest: \forall integer j; 0 <= j < i ==>
          value[best] + noise[best] >= value[j] + noise[j];
        loop invariant least: \forall integer j; 0 <= j < best ==>
          value[best] + noise[best] > value[j] + noise[j];
        loop assigns i, best;
        loop variant n - i;
    */
    for (size_t i = 1; i < n; i++) {
        if (!assay_compare_sums(value[best], noise[best], value[i], noise[i])) {
            best = i;
        }
    }
    return best;
}
