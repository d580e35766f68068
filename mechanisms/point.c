/* ring: kernel */
#include "mechanisms/point.h"

int64_t assay_point_of(const int64_t *sorted, size_t i, int64_t lo,
                       uint64_t offset)
{
    int64_t start = i == 0 ? lo : sorted[i - 1] + 1;
    return start + (int64_t)offset;
}
