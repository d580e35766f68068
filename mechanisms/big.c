/* ring: glue */
#include "mechanisms/big.h"

#include <openssl/crypto.h>

#include "core/rational.h"
#include "mechanisms/discrete_gaussian.h"

void assay_big_wipe(mpz_t z)
{
    mp_size_t room = z->_mp_alloc;
    if (room > 0) {
        mp_limb_t *limbs = mpz_limbs_write(z, room);
        OPENSSL_cleanse(limbs, (size_t)room * sizeof *limbs);
    }
    mpz_limbs_finish(z, 0);
    mpz_clear(z);
}

/* k words, the first one most significant. */
static assay_status read_number(assay_tape *tape, mpz_t out, size_t k)
{
    mpz_set_ui(out, 0);
    for (size_t i = 0; i < k; i++) {
        uint64_t word = 0;
        mpz_t low;
        if (assay_tape_next(tape, &word) != ASSAY_OK) {
            return ASSAY_ENTROPY;
        }
        mpz_init(low);
        assay_mpz_set_u64(low, word);
        mpz_mul_2exp(out, out, 64);
        mpz_add(out, out, low);
        assay_big_wipe(low);
    }
    return ASSAY_OK;
}

assay_status assay_big_uniform(assay_tape *tape, mpz_t out, const mpz_t n)
{
    size_t k = (mpz_sizeinbase(n, 2) + 63) / 64;
    mpz_t limit;
    assay_status status;
    mpz_init(limit);
    mpz_setbit(limit, 64 * k);
    mpz_tdiv_q(limit, limit, n);
    mpz_mul(limit, limit, n);
    do {
        status = read_number(tape, out, k);
    } while (status == ASSAY_OK && mpz_cmp(out, limit) >= 0);
    mpz_tdiv_r(out, out, n);
    mpz_clear(limit);
    return status;
}

static assay_status bernoulli(assay_tape *tape, const mpz_t a, const mpz_t b,
                              int *out)
{
    mpz_t v;
    assay_status status;
    mpz_init(v);
    status = assay_big_uniform(tape, v, b);
    *out = mpz_cmp(v, a) < 0;
    assay_big_wipe(v);
    return status;
}

static assay_status bernoulli_exp_unit(assay_tape *tape, const mpz_t a,
                                       const mpz_t b, int *out)
{
    mpz_t K;
    mpz_t v;
    int bit = 0;
    assay_status status;
    mpz_init_set_ui(K, 1);
    mpz_init(v);
    for (;;) {
        status = bernoulli(tape, a, b, &bit);
        if (status != ASSAY_OK || bit == 0) {
            break;
        }
        status = assay_big_uniform(tape, v, K);
        if (status != ASSAY_OK || mpz_sgn(v) != 0) {
            break;
        }
        mpz_add_ui(K, K, 1);
    }
    *out = mpz_odd_p(K) != 0;
    assay_big_wipe(v);
    assay_big_wipe(K);
    return status;
}

assay_status assay_big_bernoulli_exp(assay_tape *tape, const mpz_t a,
                                     const mpz_t b, int *out)
{
    mpz_t whole;
    mpz_t rest;
    mpz_t one;
    int bit = 1;
    assay_status status = ASSAY_OK;
    mpz_inits(whole, rest, NULL);
    mpz_init_set_ui(one, 1);
    mpz_tdiv_qr(whole, rest, a, b);
    while (status == ASSAY_OK && bit && mpz_sgn(whole) > 0) {
        status = bernoulli_exp_unit(tape, one, one, &bit);
        mpz_sub_ui(whole, whole, 1);
    }
    if (status == ASSAY_OK && bit) {
        status = bernoulli_exp_unit(tape, rest, b, &bit);
    }
    if (status == ASSAY_OK) {
        *out = bit;
    }
    assay_big_wipe(whole);
    assay_big_wipe(rest);
    mpz_clear(one);
    return status;
}

assay_status assay_big_geometric(assay_tape *tape, mpz_t out, const mpz_t s,
                                 const mpz_t t)
{
    mpz_t one;
    int bit = 0;
    assay_status status = ASSAY_OK;
    mpz_init_set_ui(one, 1);
    while (status == ASSAY_OK && bit == 0) {
        status = assay_big_uniform(tape, out, t);
        if (status == ASSAY_OK) {
            status = bernoulli_exp_unit(tape, out, t, &bit);
        }
    }
    while (status == ASSAY_OK && bit == 1) {
        status = bernoulli_exp_unit(tape, one, one, &bit);
        if (status == ASSAY_OK && bit == 1) {
            mpz_add(out, out, t);
        }
    }
    mpz_tdiv_q(out, out, s);
    mpz_clear(one);
    return status;
}

assay_status assay_big_discrete_laplace(assay_tape *tape, mpz_t out,
                                        const mpz_t s, const mpz_t t)
{
    mpz_t one;
    mpz_t two;
    int negative = 1;
    assay_status status;
    mpz_init_set_ui(one, 1);
    mpz_init_set_ui(two, 2);
    do {
        status = assay_big_geometric(tape, out, s, t);
        if (status == ASSAY_OK) {
            status = bernoulli(tape, one, two, &negative);
        }
    } while (status == ASSAY_OK && negative && mpz_sgn(out) == 0);
    if (negative) {
        mpz_neg(out, out);
    }
    mpz_clears(one, two, NULL);
    return status;
}

void assay_big_gaussian_scale(mpz_t t, const mpz_t n, const mpz_t d)
{
    mpz_tdiv_q(t, n, d); /* floor(sqrt(n/d)) = floor(sqrt(floor(n/d))) */
    mpz_sqrt(t, t);
    mpz_add_ui(t, t, 1);
}

/* exp(-(|y| d t - n)^2 / (2 n d t^2)) */
static assay_status gaussian_coin(assay_tape *tape, const mpz_t y,
                                  const mpz_t n, const mpz_t d, const mpz_t t,
                                  int *out)
{
    mpz_t over;
    mpz_t under;
    assay_status status;
    mpz_inits(over, under, NULL);
    mpz_abs(over, y);
    mpz_mul(over, over, d);
    mpz_mul(over, over, t);
    mpz_sub(over, over, n);
    mpz_mul(over, over, over);
    mpz_mul(under, n, d);
    mpz_mul(under, under, t);
    mpz_mul(under, under, t);
    mpz_mul_2exp(under, under, 1);
    status = assay_big_bernoulli_exp(tape, over, under, out);
    assay_big_wipe(over);
    assay_big_wipe(under);
    return status;
}

assay_status assay_big_discrete_gaussian(assay_tape *tape, mpz_t out,
                                         const mpz_t n, const mpz_t d,
                                         const mpz_t t)
{
    mpz_t one;
    int keep = 0;
    assay_status status = ASSAY_OK;
    mpz_init_set_ui(one, 1);
    while (status == ASSAY_OK && !keep) {
        status = assay_big_discrete_laplace(tape, out, one, t);
        if (status == ASSAY_OK) {
            status = gaussian_coin(tape, out, n, d, t, &keep);
        }
    }
    mpz_clear(one);
    return status;
}

assay_status assay_big_gaussian_coin(assay_tape *tape,
                                     const assay_gaussian_64 *g, int64_t y,
                                     int *out)
{
    mpz_t n;
    mpz_t d;
    mpz_t t;
    mpz_t size;
    assay_status status;
    mpz_inits(n, d, t, size, NULL);
    assay_mpz_set_u64(n, g->n);
    assay_mpz_set_u64(d, g->d);
    assay_mpz_set_u64(t, g->t);
    assay_mpz_set_u64(size, y < 0 ? -(uint64_t)y : (uint64_t)y);
    status = gaussian_coin(tape, size, n, d, t, out);
    assay_big_wipe(size);
    mpz_clears(n, d, t, NULL);
    return status;
}
