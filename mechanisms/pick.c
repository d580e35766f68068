/* ring: glue */
#include "mechanisms/pick.h"

#include "core/rational.h"
#include "mechanisms/bernoulli.h"
#include "mechanisms/big.h"
#include "mechanisms/gap.h"
#include "mechanisms/uniform.h"

/* A coin of probability exp(-gap * rate), rate = num / den. */
typedef struct coin {
    mpz_t num;
    mpz_t den;
    mpz_t product;
    int small; /* the rate fits 64 bits */
    uint64_t num64;
    uint64_t den64;
} coin;

static void coin_init(coin *c, const mpq_t rate)
{
    mpz_init_set(c->num, mpq_numref(rate));
    mpz_init_set(c->den, mpq_denref(rate));
    mpz_init(c->product);
    c->small = assay_mpz_fits_u64(c->num) && assay_mpz_fits_u64(c->den);
    c->num64 = c->small ? assay_mpz_get_u64(c->num) : 0;
    c->den64 = c->small ? assay_mpz_get_u64(c->den) : 1;
}

static void coin_clear(coin *c)
{
    mpz_clear(c->num);
    mpz_clear(c->den);
    assay_big_wipe(c->product);
}

static assay_status coin_flip(coin *c, assay_tape *tape, uint64_t gap,
                              int *out)
{
    if (c->small && (gap == 0 || c->num64 <= UINT64_MAX / gap)) {
        return assay_bernoulli_exp(tape, gap * c->num64, c->den64, out);
    }
    assay_mpz_set_u64(c->product, gap);
    mpz_mul(c->product, c->product, c->num);
    return assay_big_bernoulli_exp(tape, c->product, c->den, out);
}

/* Uniform proposals, kept with probability exp(-rate gap): given that one is
 * kept its law is the exponential mechanism's. */
static assay_status propose(assay_tape *tape, coin *c, size_t *out,
                            const int64_t *score, size_t n)
{
    const int64_t best = assay_gap_best(score, n);
    for (;;) {
        uint64_t i = 0;
        int keep = 0;
        assay_status status = assay_uniform_below(tape, n, &i);
        if (status == ASSAY_OK) {
            status = coin_flip(c, tape, assay_gap(best, score[i]), &keep);
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
    coin c;
    coin_init(&c, rate);
    assay_status status = propose(tape, &c, out, score, n);
    coin_clear(&c);
    return status;
}

/* Fisher-Yates one step at a time; the best candidate's coin is always 1, so
 * the loop ends within n steps. */
static assay_status flip_all(assay_tape *tape, coin *c, size_t *out,
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
            status = coin_flip(c, tape, assay_gap(best, score[candidate]),
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
    coin c;
    coin_init(&c, rate);
    assay_status status = flip_all(tape, &c, out, score, order, n);
    coin_clear(&c);
    return status;
}
