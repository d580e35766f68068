/* ring: glue */
#include "mechanisms/coin.h"

#include "core/rational.h"
#include "mechanisms/bernoulli.h"
#include "mechanisms/big.h"

void assay_coin_init(assay_coin *c, const mpq_t rate)
{
    mpz_init_set(c->num, mpq_numref(rate));
    mpz_init_set(c->den, mpq_denref(rate));
    mpz_init(c->product);
    c->small = assay_mpz_fits_u64(c->num) && assay_mpz_fits_u64(c->den);
    c->num64 = c->small ? assay_mpz_get_u64(c->num) : 0;
    c->den64 = c->small ? assay_mpz_get_u64(c->den) : 1;
}

void assay_coin_clear(assay_coin *c)
{
    mpz_clear(c->num);
    mpz_clear(c->den);
    assay_big_wipe(c->product);
}

assay_status assay_coin_flip(assay_coin *c, assay_tape *tape, uint64_t gap,
                             int *out)
{
    if (c->small && (gap == 0 || c->num64 <= UINT64_MAX / gap)) {
        return assay_bernoulli_exp(tape, gap * c->num64, c->den64, out);
    }
    assay_mpz_set_u64(c->product, gap);
    mpz_mul(c->product, c->product, c->num);
    return assay_big_bernoulli_exp(tape, c->product, c->den, out);
}
