/* ring: kernel */
#include "mechanisms/tree_nodes.h"

#define HALF ((int64_t)1 << 61)

uint64_t assay_tree_levels(uint64_t horizon)
{
    uint64_t levels = 1;
    uint64_t size = 2;
    /*@ loop invariant size: size == Power2(levels);
        loop invariant below: Power2(levels - 1) <= horizon;
        loop invariant range: 1 <= levels < size <= 2 * horizon;
        loop assigns levels, size;
        loop variant 2 * horizon - size;
    */
    while (size <= horizon) {
        levels++;
        size *= 2;
    }
    return levels;
}

uint64_t assay_tree_closing(uint64_t t)
{
    uint64_t level = 0;
    uint64_t rest = t;
    //@ ghost uint64_t size = 1;
    /*@ loop invariant range: 0 <= level < size <= t && rest >= 1;
        loop invariant size: size == Power2(level);
        loop invariant split: t == rest * size;
        loop assigns level, rest, size;
        loop variant rest;
    */
    while (rest % 2 == 0) {
        //@ ghost uint64_t half = rest / 2;
        //@ assert even: rest == 2 * half;
        //@ assert split: t == half * (2 * size);
        //@ assert small: 2 * size <= t;
        rest /= 2;
        level++;
        //@ ghost size *= 2;
    }
    return level;
}

void assay_tree_add_row(int64_t *a, const int64_t *b, size_t n)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant done: \forall integer j; 0 <= j < i ==>
          a[j] == Clip(\at(a[j], Pre) + b[j], -4611686018427387904,
                       4611686018427387904);
        loop invariant rest: \forall integer j; i <= j < n ==>
          a[j] == \at(a[j], Pre);
        loop assigns i, a[0 .. n - 1];
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        if (-HALF <= a[i] && a[i] <= HALF && -HALF <= b[i] && b[i] <= HALF) {
            a[i] += b[i]; /* |a + b| <= 2^62: nothing to clip, and no call */
        } else {
            a[i] = assay_add_clamped(a[i], b[i]);
        }
    }
}

void assay_tree_zero_row(int64_t *a, size_t n)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant zero: \forall integer j; 0 <= j < i ==> a[j] == 0;
        loop assigns i, a[0 .. n - 1];
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        a[i] = 0;
    }
}
