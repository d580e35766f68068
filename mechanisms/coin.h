/* ring: glue */
/**
 * A coin of probability exp(-gap * rate) for any rational rate > 0 and any
 * 64-bit gap: 64-bit arithmetic where the product fits, GMP beyond.
 *
 * Law     P[*out = 1] = exp(-gap rate)       [Coq: sampler-bernoulli-exp]
 * Errors  ASSAY_ENTROPY, and ASSAY_RANGE as in mechanisms/bernoulli.h.
 */
#ifndef ASSAY_MECHANISMS_COIN_H
#define ASSAY_MECHANISMS_COIN_H

#include <gmp.h>
#include <stdint.h>

#include "mechanisms/tape.h"

typedef struct assay_coin {
    mpz_t num; /* rate = num / den */
    mpz_t den;
    mpz_t product;
    int small; /* the rate fits 64 bits */
    uint64_t num64;
    uint64_t den64;
} assay_coin;

void assay_coin_init(assay_coin *coin, const mpq_t rate);
void assay_coin_clear(assay_coin *coin);
assay_status assay_coin_flip(assay_coin *coin, assay_tape *tape, uint64_t gap,
                             int *out) ASSAY_MUST_CHECK;

#endif
