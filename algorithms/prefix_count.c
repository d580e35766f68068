/* ring: kernel */
#include "algorithms/prefix_count.h"

int64_t assay_prefix_term(int64_t r, int64_t p, int64_t q)
{
    //@ assert no_more: r * p <= r * q;
    //@ assert range: 0 <= r * p <= 1152921504606846976;
    int64_t t = r * p / q;
    //@ assert floor: t * q <= r * p < (t + 1) * q;
    //@ assert below: t * q <= r * q;
    return t;
}

/* w[i] = x; the sum of the entries before it is what it was */
/*@ requires valid: \valid(w + (0 .. i));
    requires small: i < ASSAY_PREFIX_MOST;
    terminates \true;
    exits \false;
    assigns w[i];
    ensures value: w[i] == x;
    ensures kept: Sum(w, i) == \old(Sum(w, i));
*/
static void put(int64_t *w, size_t i, int64_t x)
{
    w[i] = x;
    /*@ ghost
        /@ loop invariant range: 0 <= k <= i;
           loop invariant same: \forall integer m; 0 <= m <= k ==>
             Sum(w, m) == \at(Sum(w, m), Pre);
           loop assigns k;
           loop variant i - k;
        @/
        for (size_t k = 0; k < i; k++) {
        }
    */
}

int64_t assay_prefix_extend(int64_t *running, const int64_t *p, size_t n,
                            int64_t q)
{
    int64_t sum = 0;
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant done: \forall integer j; 0 <= j < i ==>
          running[j] == \at(running[j], Pre) * \at(p[j], Pre) / q;
        loop invariant ahead: \forall integer j; i <= j < n ==>
          running[j] == \at(running[j], Pre);
        loop invariant factors: \forall integer j; 0 <= j < n ==>
          p[j] == \at(p[j], Pre);
        loop invariant within: Terms(running, n, ASSAY_PREFIX_ONE);
        loop invariant value: sum == Sum(running, i);
        loop invariant bounded: 0 <= sum <= i * ASSAY_PREFIX_ONE;
        loop assigns i, sum, running[0 .. n - 1];
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        put(running, i, assay_prefix_term(running[i], p[i], q));
        sum += running[i];
    }
    return sum;
}

int64_t assay_prefix_query(int64_t count)
{
    return count / ASSAY_PREFIX_RATIO;
}

void assay_prefix_balance(int64_t *w, size_t n, int64_t least)
{
    int64_t left = ASSAY_PREFIX_ONE;
    /* what the entries behind this one need */
    int64_t kept = (int64_t)(n - 1) * least;
    size_t i = 0;
    //@ ghost int64_t spare = kept;
    /*@ loop invariant range: 0 <= i <= n - 1;
        loop invariant value: left == ASSAY_PREFIX_ONE - Sum(w, i);
        loop invariant kept: kept == (n - 1 - i) * least;
        loop invariant room: kept + least <= left <=
          ASSAY_PREFIX_ONE - i * least;
        loop invariant least: \forall integer j; 0 <= j < i ==>
          least <= w[j] <= ASSAY_PREFIX_ONE - spare;
        loop assigns i, left, kept, w[0 .. n - 1];
        loop variant n - 1 - i;
    */
    for (; i + 1 < n; i++) {
        int64_t top = left - kept;
        //@ assert top: least <= top <= ASSAY_PREFIX_ONE - spare;
        put(w, i, assay_clip(w[i], least, top));
        left -= w[i];
        kept -= least;
    }
    //@ assert at_last: i == n - 1;
    //@ assert none: kept == 0;
    //@ assert spare: i * least == spare;
    //@ assert low: least <= left;
    //@ assert high: left <= ASSAY_PREFIX_ONE - spare;
    put(w, i, left);
    /*@ assert others: \forall integer j; 0 <= j < i ==>
          least <= w[j] <= ASSAY_PREFIX_ONE - spare; */
    //@ assert last: least <= w[i] <= ASSAY_PREFIX_ONE - spare;
    //@ assert all: \forall integer j; 0 <= j < n ==> j < i || j == i;
}
