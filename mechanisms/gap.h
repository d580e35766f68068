/* ring: kernel */
/** Distances of scores from the best one, exact in 64 bits. */
#ifndef ASSAY_MECHANISMS_GAP_H
#define ASSAY_MECHANISMS_GAP_H

#include <stddef.h>
#include <stdint.h>

/** The largest of n > 0 scores. */
/*@ requires some: n > 0;
    requires readable: \valid_read(score + (0 .. n - 1));
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures bound: \forall integer i; 0 <= i < n ==> score[i] <= \result;
    ensures member: \exists integer i; 0 <= i < n && score[i] == \result;
*/
int64_t assay_gap_best(const int64_t *score, size_t n);

/** best - score. */
/*@ requires order: score <= best;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == best - score;
*/
uint64_t assay_gap(int64_t best, int64_t score);

#endif
