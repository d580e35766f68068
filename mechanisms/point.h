/* ring: kernel */
/**
 * Where a drawn interval becomes a point: the declassifier of quantiles. The
 * interval was drawn by the exponential mechanism and the offset is uniform in
 * it, so the point has the mechanism's law.
 */
#ifndef ASSAY_MECHANISMS_POINT_H
#define ASSAY_MECHANISMS_POINT_H

#include <stddef.h>
#include <stdint.h>

/** Point number `offset` of interval i, which begins behind sorted[i - 1], or
 *  at lo if i is 0. */
/*@ requires readable: i > 0 ==> \valid_read(sorted + (i - 1));
    requires range: -2305843009213693952 <= lo <= 2305843009213693952;
    requires inside: i > 0 ==>
      -2305843009213693952 <= sorted[i - 1] <= 2305843009213693952;
    requires offset: offset <= 4611686018427387904;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures first: i == 0 ==> \result == lo + offset;
    ensures value: i > 0 ==> \result == sorted[i - 1] + 1 + offset;
*/
int64_t assay_point_of(const int64_t *sorted, size_t i, int64_t lo,
                       uint64_t offset);

#endif
