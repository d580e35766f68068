/* ring: kernel */
/**
 * Sums over groups, in integers: a person's vector is added exactly, so that a
 * sum with the person and the sum without differ by that vector and by nothing
 * else. With the vector in the l2 ball of radius c (core/bound.h) the squared
 * distance is at most c * c.
 */
#ifndef ASSAY_ALGORITHMS_GROUP_SUM_H
#define ASSAY_ALGORITHMS_GROUP_SUM_H

#include "core/bound.h"

/** sum += one; entries of the sum stay within m + b. */
/*@ requires valid: n > 0 ==> \valid(sum + (0 .. n - 1)) &&
      \valid_read(one + (0 .. n - 1));
    requires apart: \separated(sum + (0 .. n - 1), one + (0 .. n - 1));
    requires range: 0 <= m && 0 <= b && m + b <= 4611686018427387904;
    requires sums: Within(sum, n, m);
    requires entries: Within(one, n, b);
    terminates \true;
    exits \false;
    assigns sum[0 .. n - 1];
    ensures exact: \forall integer i; 0 <= i < n ==>
      sum[i] == \old(sum[i]) + one[i];
    ensures range: Within(sum, n, m + b);
*/
void assay_group_add(int64_t *sum, const int64_t *one, size_t n, int64_t m,
                     int64_t b);

#endif
