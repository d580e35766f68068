/* ring: kernel */
#include "accountant/bookkeeping.h"

assay_status assay_count_add(uint64_t *out, uint64_t a, uint64_t b)
{
    if (a > ASSAY_COUNT_LIMIT || b > ASSAY_COUNT_LIMIT - a) {
        return ASSAY_RANGE;
    }
    *out = a + b;
    return ASSAY_OK;
}

assay_status assay_count_multiply(uint64_t *out, uint64_t a, uint64_t b)
{
    if (b != 0 && a > ASSAY_COUNT_LIMIT / b) {
        return ASSAY_RANGE;
    }
    *out = a * b;
    return ASSAY_OK;
}

int assay_sequence_follows(uint64_t previous, uint64_t sequence)
{
    return previous < ASSAY_COUNT_LIMIT && sequence == previous + 1;
}

int64_t assay_order_step(int64_t order, int64_t step)
{
    const int64_t next = order + step;
    if (next < 2) {
        return 2;
    }
    return next > ASSAY_ORDER_MAX ? ASSAY_ORDER_MAX : next;
}

void assay_order_bracket(int64_t *low, int64_t *high, int64_t best,
                         int64_t last)
{
    *low = best > 0 ? best - 1 : 0;
    *high = best < last ? best + 1 : last;
}
