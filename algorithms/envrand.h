/* ring: glue */
/**
 * Randomness of simulated environments: SplitMix64, seeded, reproducible.
 *
 * It plays nature (transitions, behaviour policies, random models) and never
 * draws noise: every private release takes its randomness from the tape of
 * mechanisms/tape.h.
 */
#ifndef ASSAY_ALGORITHMS_ENVRAND_H
#define ASSAY_ALGORITHMS_ENVRAND_H

#include <stdint.h>

typedef struct assay_envrand {
    uint64_t state;
} assay_envrand;

/** A stream for (seed, stream): different streams are independent runs. */
void assay_envrand_init(assay_envrand *rand, uint64_t seed, uint64_t stream);

/** The next 64 bits. */
uint64_t assay_envrand_next(assay_envrand *rand);

/** A number in [0, 1): 53 bits. */
double assay_envrand_unit(assay_envrand *rand);

/** An integer in {0, ..., n-1}; n > 0. */
uint32_t assay_envrand_below(assay_envrand *rand, uint32_t n);

#endif
