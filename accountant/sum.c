/* ring: glue */
/* Exact sums of many rationals, in two stages so that the long one is touched
   rarely. */
#include "accountant/account.h"
#include "core/rational.h"

#define CHUNK_BITS 512
#define TOTAL_BITS 16384
#define GRID_BITS 512

void assay_sum_init(assay_sum *sum)
{
    mpq_init(sum->total);
    mpq_init(sum->chunk);
    sum->rounded = 0;
}

void assay_sum_clear(assay_sum *sum)
{
    mpq_clear(sum->total);
    mpq_clear(sum->chunk);
}

static void round_up(mpq_t q)
{
    mpz_t whole;
    mpz_init(whole);
    mpz_mul_2exp(whole, mpq_numref(q), GRID_BITS);
    mpz_cdiv_q(whole, whole, mpq_denref(q));
    mpq_set_z(q, whole);
    mpq_div_2exp(q, q, GRID_BITS);
    mpz_clear(whole);
}

static void flush(assay_sum *sum)
{
    mpq_add(sum->total, sum->total, sum->chunk);
    mpq_set_ui(sum->chunk, 0, 1);
    if (mpz_sizeinbase(mpq_denref(sum->total), 2) > TOTAL_BITS) {
        round_up(sum->total);
        sum->rounded = 1;
    }
}

void assay_sum_add(assay_sum *sum, const mpq_t term, uint64_t count)
{
    if (count == 1) {
        mpq_add(sum->chunk, sum->chunk, term);
    } else {
        mpq_t scaled;
        mpz_t n;
        mpq_init(scaled);
        mpz_init(n);
        assay_mpz_set_u64(n, count);
        mpq_set_z(scaled, n);
        mpq_mul(scaled, scaled, term);
        mpq_add(sum->chunk, sum->chunk, scaled);
        mpz_clear(n);
        mpq_clear(scaled);
    }
    if (mpz_sizeinbase(mpq_denref(sum->chunk), 2) > CHUNK_BITS) {
        flush(sum);
    }
}

void assay_sum_get(mpq_t out, assay_sum *sum)
{
    flush(sum);
    mpq_set(out, sum->total);
}
