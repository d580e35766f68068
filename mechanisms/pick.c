/* ring: glue */
#include "mechanisms/pick.h"

#include "mechanisms/coin.h"
#include "mechanisms/gap.h"
#include "mechanisms/uniform.h"

/* Uniform proposals, kept with probability exp(-rate gap): given that one is
 * kept its law is the exponential mechanism's. */
static assay_status propose(assay_tape *tape, assay_coin *c, size_t *out,
                            const int64_t *score, size_t n)
{
    const int64_t best = assay_gap_best(score, n);
    for (;;) {
        uint64_t i = 0;
        int keep = 0;
        assay_status status = assay_uniform_below(tape, n, &i);
        if (status == ASSAY_OK) {
            status = assay_coin_flip(c, tape, assay_gap(best, score[i]), &keep);
        }
        if (status != ASSAY_OK) {
            return status;
        }
        if (keep) {
            *out = (size_t)i;
            return ASSAY_OK;
        }
    }
}

assay_status assay_pick_exponential(assay_tape *tape, size_t *out,
                                    const int64_t *score, size_t n,
                                    const mpq_t rate)
{
    assay_coin c;
    assay_coin_init(&c, rate);
    assay_status status = propose(tape, &c, out, score, n);
    assay_coin_clear(&c);
    return status;
}

/* Fisher-Yates one step at a time; the best candidate's coin is always 1, so
 * the loop ends within n steps. */
static assay_status flip_all(assay_tape *tape, assay_coin *c, size_t *out,
                             const int64_t *score, size_t *order, size_t n)
{
    const int64_t best = assay_gap_best(score, n);
    for (size_t i = 0; i < n; i++) {
        order[i] = i;
    }
    for (size_t left = n; left > 0; left--) {
        uint64_t pick = 0;
        int keep = 0;
        assay_status status = assay_uniform_below(tape, left, &pick);
        size_t candidate = order[pick];
        order[pick] = order[left - 1];
        if (status == ASSAY_OK) {
            status = assay_coin_flip(c, tape, assay_gap(best, score[candidate]),
                                     &keep);
        }
        if (status != ASSAY_OK) {
            return status;
        }
        if (keep) {
            *out = candidate;
            return ASSAY_OK;
        }
    }
    return ASSAY_INTERNAL;
}

assay_status assay_pick_permute_and_flip(assay_tape *tape, size_t *out,
                                         const int64_t *score, size_t *order,
                                         size_t n, const mpq_t rate)
{
    assay_coin c;
    assay_coin_init(&c, rate);
    assay_status status = flip_all(tape, &c, out, score, order, n);
    assay_coin_clear(&c);
    return status;
}
