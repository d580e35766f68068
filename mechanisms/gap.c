/* ring: kernel */
#include "mechanisms/gap.h"

int64_t assay_gap_best(const int64_t *score, size_t n)
{
    int64_t best = score[0];
    /*@ loop invariant range: 1 <= i <= n;
        loop invariant bound: \forall integer j; 0 <= j < i ==>
          score[j] <= best;
        loop invariant member: \exists integer j; 0 <= j < i &&
          score[j] == best;
        loop assigns i, best;
        loop variant n - i;
    */
    for (size_t i = 1; i < n; i++) {
        if (score[i] > best) {
            best = score[i];
        }
    }
    return best;
}

uint64_t assay_gap(int64_t best, int64_t score)
{
    if (score >= 0 || best < 0) {
        return (uint64_t)(best - score);
    }
    /* best >= 0 > score: -(score + 1) fits */
    return (uint64_t)best + (uint64_t)(-(score + 1)) + 1;
}
