/* ring: kernel */
#include "mechanisms/tree_nodes.h"

/*@ lemma power_positive: \forall integer j; 0 <= j ==>
      Power2(j + 1) == 2 * Power2(j);
*/

unsigned assay_tree_levels(uint64_t horizon)
{
    unsigned levels = 1;
    uint64_t size = 2;
    /*@ loop invariant range: 1 <= levels <= 62;
        loop invariant size: size == Power2(levels);
        loop invariant below: Power2(levels - 1) <= horizon;
        loop invariant small: size <= 4611686018427387904;
        loop invariant room: levels == 62 ==> size > horizon;
        loop invariant exact: (levels == 62 ==> size == 4611686018427387904) &&
          (levels < 62 ==> size * 2 <= 4611686018427387904);
        loop assigns levels, size;
        loop variant 62 - levels;
    */
    while (size <= horizon) {
        levels++;
        size *= 2;
    }
    return levels;
}

unsigned assay_tree_closing(uint64_t t)
{
    unsigned level = 0;
    uint64_t rest = t;
    //@ ghost uint64_t size = 1;
    /*@ loop invariant range: 0 <= level <= 61;
        loop invariant positive: rest >= 1;
        loop invariant size: size == Power2(level) && size >= 1;
        loop invariant split: t == rest * size;
        loop invariant room: size * rest < 4611686018427387904;
        loop assigns level, rest, size;
        loop variant rest;
    */
    while (rest % 2 == 0) {
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
        a[i] = assay_add_clamped(a[i], b[i]);
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
