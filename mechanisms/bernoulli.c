/* ring: driver */
#include "mechanisms/bernoulli.h"

assay_status assay_bernoulli(assay_tape *tape, uint64_t a, uint64_t b, int *out)
{
    uint64_t v = 0;
    if (assay_uniform_below(tape, b, &v) != ASSAY_OK) {
        return ASSAY_ENTROPY;
    }
    *out = v < a ? 1 : 0;
    return ASSAY_OK;
}

/* Canonne, Kamath and Steinke 2020, Algorithm 1. A coin of a/(bK) is a coin of
 * a/b and a coin of 1/K, so nothing here grows beyond b and K. */
assay_status assay_bernoulli_exp_unit(assay_tape *tape, uint64_t a, uint64_t b,
                                      int *out)
{
    uint64_t K = 1;
    /*@ loop invariant rounds:
          UnitRounds(a, b, \at(tape->position, Pre), K, tape->position);
        loop invariant counter: K >= 1;
        loop invariant frame: *out == \at(*out, Pre);
        loop assigns K, tape->position;
    */
    for (;;) {
        int bit = 0;
        uint64_t v = 0;
        if (assay_bernoulli(tape, a, b, &bit) != ASSAY_OK) {
            return ASSAY_ENTROPY;
        }
        if (bit == 1) {
            if (assay_uniform_below(tape, K, &v) != ASSAY_OK) {
                return ASSAY_ENTROPY;
            }
        }
        if (bit == 0 || v != 0) {
            *out = (int)(K % 2);
            return ASSAY_OK;
        }
        if (K == UINT64_MAX) {
            return ASSAY_RANGE;
        }
        K++;
    }
}

assay_status assay_bernoulli_exp(assay_tape *tape, uint64_t a, uint64_t b,
                                 int *out)
{
    uint64_t whole = a / b;
    int bit = 0;
    /*@ loop invariant bound: 0 <= g <= whole;
        loop invariant ones:
          Ones(\at(tape->position, Pre), g, tape->position);
        loop invariant frame: *out == \at(*out, Pre);
        loop assigns g, bit, *out, tape->position;
        loop variant whole - g;
    */
    for (uint64_t g = 0; g < whole; g++) {
        assay_status status = assay_bernoulli_exp_unit(tape, 1, 1, &bit);
        if (status != ASSAY_OK) {
            return status;
        }
        if (bit == 0) {
            *out = 0;
            return ASSAY_OK;
        }
    }
    return assay_bernoulli_exp_unit(tape, a % b, b, out);
}
