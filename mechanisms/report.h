/* ring: kernel */
/**
 * Where a person's value meets her coins: the declassifiers of local reports.
 * No branch depends on the value.
 */
#ifndef ASSAY_MECHANISMS_REPORT_H
#define ASSAY_MECHANISMS_REPORT_H

#include <stddef.h>
#include <stdint.h>

/** `answer` if lie is 1, `value` (k - 1 if it is larger) if it is 0. */
/*@ requires coin: lie == 0 || lie == 1;
    requires some: k > 0;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures lie: lie == 1 ==> \result == answer;
    ensures truth: lie == 0 && value < k ==> \result == value;
    ensures last: lie == 0 && value >= k ==> \result == k - 1;
*/
uint64_t assay_report_choose(int lie, uint64_t answer, uint64_t value,
                             uint64_t k);

/** bits[i] holds two coins, 2 * on + off: bit `value` (k - 1 if it is larger)
 *  keeps its on-coin, every other bit its off-coin. */
/*@ requires valid: k > 0 ==> \valid(bits + (0 .. k - 1));
    requires coins: \forall integer i; 0 <= i < k ==> 0 <= bits[i] <= 3;
    terminates \true;
    exits \false;
    assigns bits[0 .. k - 1];
    ensures on: \forall integer i; 0 <= i < k && i == \min(value, k - 1) ==>
      bits[i] == \old(bits[i]) / 2;
    ensures off: \forall integer i; 0 <= i < k && i != \min(value, k - 1) ==>
      bits[i] == \old(bits[i]) % 2;
*/
void assay_report_unary(uint8_t *bits, size_t k, uint64_t value);

#endif
