/* ring: kernel */
/**
 * Where a private query meets its noise and a threshold: the declassifiers of
 * sparse vector and report noisy max. Sums are exact; nothing wraps.
 */
#ifndef ASSAY_MECHANISMS_COMPARE_H
#define ASSAY_MECHANISMS_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/** 1 if a + b >= c + d in the integers, else 0. */
/*@ terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == (a + b >= c + d ? 1 : 0);
*/
int assay_compare_sums(int64_t a, int64_t b, int64_t c, int64_t d);

/** The least i whose value[i] + noise[i] is largest. */
/*@ requires some: n > 0;
    requires values: \valid_read(value + (0 .. n - 1));
    requires noises: \valid_read(noise + (0 .. n - 1));
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures range: 0 <= \result < n;
    ensures largest: \forall integer i; 0 <= i < n ==>
      value[\result] + noise[\result] >= value[i] + noise[i];
    ensures least: \forall integer i; 0 <= i < \result ==>
      value[\result] + noise[\result] > value[i] + noise[i];
*/
size_t assay_compare_largest(const int64_t *value, const int64_t *noise,
                             size_t n);

#endif
