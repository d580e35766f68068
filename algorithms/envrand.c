/* ring: glue */
#include "algorithms/envrand.h"

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void assay_envrand_init(assay_envrand *rand, uint64_t seed, uint64_t stream)
{
    rand->state = mix(mix(seed + UINT64_C(0x9e3779b97f4a7c15)) + stream);
}

uint64_t assay_envrand_next(assay_envrand *rand)
{
    rand->state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(rand->state);
}

double assay_envrand_unit(assay_envrand *rand)
{
    return (double)(assay_envrand_next(rand) >> 11) * 0x1p-53;
}

uint32_t assay_envrand_below(assay_envrand *rand, uint32_t n)
{
    return (uint32_t)(((assay_envrand_next(rand) >> 32) * n) >> 32);
}
