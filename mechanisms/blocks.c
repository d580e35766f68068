/* ring: kernel */
#include "mechanisms/blocks.h"

uint64_t assay_blocks_coarse(uint64_t r, uint32_t bits)
{
    return bits > 20 ? r >> (bits - 20) : r << (20 - bits);
}

/* floor(x y / 2^32), x, y <= 2^32 */
static inline uint64_t times(uint64_t x, uint64_t y)
{
    return (x * y) >> 32;
}

static inline uint64_t exp_low(uint64_t x)
{
    uint64_t x2 = times(x, x);
    uint64_t x3 = times(x2, x);
    uint64_t x4 = times(x3, x);
    uint64_t x5 = times(x4, x);
    return 4294967296u - x + x2 / 2 - (x3 / 6 + 2) + x4 / 24 - (x5 / 120 + 2);
}

static inline uint64_t exp_high(uint64_t x)
{
    uint64_t x2 = times(x, x);
    uint64_t x3 = times(x2, x);
    uint64_t x4 = times(x3, x);
    return 4294967296u - x + (x2 / 2 + 1) - x3 / 6 + (x4 / 24 + 2);
}

static inline uint64_t part(uint64_t j, uint64_t rq, uint32_t gaussian)
{
    /* gaussian is 0 or 1: chosen without a branch */
    return rq * (gaussian * (2097152 * j + rq) + (1 - gaussian) * 1048576);
}

assay_status assay_blocks_coin(const assay_blocks *t, uint64_t j, uint64_t rq,
                               uint64_t word)
{
    uint64_t low = ((part(j, rq, t->gaussian) >> 20) * t->kappa) >> 28;
    uint64_t high =
        ((((part(j, rq + 1, t->gaussian) >> 20) + 1) * (t->kappa + 1)) >> 28) +
        1;
    uint64_t top = word >> 32;
    if (high > 4294967295u) {
        return ASSAY_AGAIN; /* gamma >= 1: only far beyond 16 sigma */
    }
    uint64_t keep = top < exp_low(high);
    uint64_t reject = top >= exp_high(low);
    /* OK = 0, AGAIN = 1, INVALID = 2 */
    return (assay_status)(1 - keep + reject);
}
