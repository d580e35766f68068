/* ring: driver */
#include "mechanisms/permutation.h"

assay_status assay_permutation(assay_tape *tape, uint64_t *a, size_t n)
{
    /*@ loop invariant bound: 0 <= i <= n;
        loop invariant own: \forall integer k; 0 <= k < i ==> a[k] == k;
        loop assigns i, a[0 .. n - 1];
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        a[i] = i;
    }
    //@ assert start: Swaps(n, n, unmoved, tape->position, tape->position);
    //@ assert own: \forall integer k; 0 <= k < n ==> a[k] == place(unmoved, k);
    /*@ loop invariant bound: \min(n, 1) <= i <= n;
        loop invariant history: \exists history s;
          Swaps(n, i, s, \at(tape->position, Pre), tape->position) &&
          (\forall integer k; 0 <= k < n ==> a[k] == place(s, k));
        loop assigns i, a[0 .. n - 1], tape->position;
        loop variant i;
    */
    for (size_t i = n; i > 1; i--) {
        uint64_t j = 0;
        uint64_t kept = a[i - 1];
        if (assay_uniform_below(tape, i, &j) != ASSAY_OK) {
            return ASSAY_ENTROPY;
        }
        a[i - 1] = a[j];
        a[j] = kept;
        /*@ assert moved: a[i - 1] == \at(a[\at(j, Here)], LoopCurrent) &&
              a[j] == \at(a[i - 1], LoopCurrent); */
        /*@ assert still: \forall integer k;
              0 <= k < n && k != i - 1 && k != j ==>
              a[k] == \at(a[k], LoopCurrent); */
        /*@ assert words: \forall history s;
              Swaps(n, i, s, \at(tape->position, Pre),
                    \at(tape->position, LoopCurrent)) ==>
              Swaps(n, i - 1, swapped(s, i - 1, j), \at(tape->position, Pre),
                    tape->position); */
        /*@ assert first: \forall history s;
              (\forall integer k; 0 <= k < n ==>
                \at(a[k], LoopCurrent) == place(s, k)) ==>
              a[i - 1] == place(s, j) && a[j] == place(s, i - 1) &&
              (\forall integer k; 0 <= k < n && k != i - 1 && k != j ==>
                a[k] == place(s, k)); */
        /*@ assert second: \forall history s;
              a[i - 1] == place(s, j) && a[j] == place(s, i - 1) &&
              (\forall integer k; 0 <= k < n && k != i - 1 && k != j ==>
                a[k] == place(s, k)) ==>
              (\forall integer k; 0 <= k < n ==>
                a[k] == place(swapped(s, i - 1, j), k)); */
        /*@ assert places: \forall history s;
              (\forall integer k; 0 <= k < n ==>
                \at(a[k], LoopCurrent) == place(s, k)) ==>
              (\forall integer k; 0 <= k < n ==>
                a[k] == place(swapped(s, i - 1, j), k)); */
    }
    return ASSAY_OK;
}
