/* ring: glue */
/* The lattice of a noisy sum, from its public parameters. */
#include <math.h>

#include "mechanisms/sampled_sum.h"

/* Noise of 2^9 to 2^10 steps: the sampler's tables are quick there. */
#define NOISE_BITS 10
#define RADIUS_LEAST 4
#define RADIUS_MOST 20

int assay_sampled_sum_step_bits(const mpq_t clip, double multiplier)
{
    int norm = 0;
    int noise = 0;
    int bits;
    (void)frexp(mpq_get_d(clip), &norm);
    (void)frexp(mpq_get_d(clip) * multiplier, &noise);
    bits = NOISE_BITS - noise;
    bits = bits < RADIUS_LEAST + 1 - norm ? RADIUS_LEAST + 1 - norm : bits;
    return bits > RADIUS_MOST - norm ? RADIUS_MOST - norm : bits;
}

int64_t assay_sampled_sum_radius(const mpq_t clip, int bits)
{
    mpq_t steps;
    mpz_t whole;
    int64_t out;
    mpq_init(steps);
    mpz_init(whole);
    if (bits >= 0) {
        mpq_mul_2exp(steps, clip, (mp_bitcnt_t)bits);
    } else {
        mpq_div_2exp(steps, clip, (mp_bitcnt_t)-bits);
    }
    mpz_fdiv_q(whole, mpq_numref(steps), mpq_denref(steps));
    out = (int64_t)mpz_get_si(whole);
    mpz_clear(whole);
    mpq_clear(steps);
    return out;
}
