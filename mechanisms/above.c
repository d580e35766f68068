/* ring: kernel */
#include "mechanisms/above.h"

#include "mechanisms/compare.h"

void assay_above_start(assay_above *state, uint64_t positives, int64_t noise)
{
    state->left = positives;
    state->noise = noise;
}

int assay_above_answer(assay_above *state, int64_t query, int64_t noise,
                       int64_t threshold)
{
    const int above = assay_compare_sums(query, noise, threshold, state->noise);
    if (above == 1) {
        state->left--;
    }
    return above;
}
