/* ring: kernel */
#include "mechanisms/report.h"

/* Written without a branch on the coin or the value; the compiler is free to
 * choose, so timing is tested and not proved. */
uint64_t assay_report_choose(int lie, uint64_t answer, uint64_t value,
                             uint64_t k)
{
    uint64_t take[2];
    take[0] = value < k ? value : k - 1;
    take[1] = answer;
    return take[lie];
}

void assay_report_unary(uint8_t *bits, size_t k, uint64_t value)
{
    const uint64_t last = k > 0 ? (uint64_t)k - 1 : 0;
    const uint64_t hot = value < last ? value : last;
    /*@ loop invariant range: 0 <= i <= k;
        loop invariant on: \forall integer j; 0 <= j < i && j == hot ==>
          bits[j] == \at(bits[j], Pre) / 2;
        loop invariant off: \forall integer j; 0 <= j < i && j != hot ==>
          bits[j] == \at(bits[j], Pre) % 2;
        loop invariant rest: \forall integer j; i <= j < k ==>
          bits[j] == \at(bits[j], Pre);
        loop assigns i, bits[0 .. k - 1];
        loop variant k - i;
    */
    for (size_t i = 0; i < k; i++) {
        uint8_t on = (uint8_t)(bits[i] / 2);
        uint8_t off = (uint8_t)(bits[i] % 2);
        bits[i] = (uint64_t)i == hot ? on : off;
    }
}
