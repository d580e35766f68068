/* ring: kernel */
#include "algorithms/group_sum.h"

void assay_group_add(int64_t *sum, const int64_t *one, size_t n, int64_t m,
                     int64_t b)
{
    (void)m;
    (void)b;
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant done: \forall integer j; 0 <= j < i ==>
          sum[j] == \at(sum[j], Pre) + one[j];
        loop invariant rest: \forall integer j; i <= j < n ==>
          sum[j] == \at(sum[j], Pre);
        loop assigns i, sum[0 .. n - 1];
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        sum[i] += one[i];
    }
}
