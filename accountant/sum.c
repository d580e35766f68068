/* ring: glue */
/* Exact sums of many rationals, in stages so that the long ones are touched
   rarely; too long an exact sum is left for a fixed point, rounded up. */
#include "accountant/account.h"
#include "core/rational.h"

#define SMALL_BITS 384
#define CHUNK_BITS 4096
#define TOTAL_BITS 16384
#define GRID_BITS 512

void assay_sum_init(assay_sum *sum)
{
    mpq_init(sum->total);
    mpq_init(sum->chunk);
    mpq_init(sum->small);
    mpz_init(sum->fixed);
    mpz_init(sum->step);
    sum->rounded = 0;
}

void assay_sum_clear(assay_sum *sum)
{
    mpq_clear(sum->total);
    mpq_clear(sum->chunk);
    mpq_clear(sum->small);
    mpz_clear(sum->fixed);
    mpz_clear(sum->step);
}

/* fixed += ceil(2^GRID_BITS count term): never below, above by less than one
   unit a term */
static void add_fixed(assay_sum *sum, const mpq_t term, uint64_t count)
{
    mpz_ptr step = sum->step;
    if (count == 1) {
        mpz_mul_2exp(step, mpq_numref(term), GRID_BITS);
    } else {
        assay_mpz_set_u64(step, count);
        mpz_mul(step, step, mpq_numref(term));
        mpz_mul_2exp(step, step, GRID_BITS);
    }
    mpz_cdiv_q(step, step, mpq_denref(term));
    mpz_add(sum->fixed, sum->fixed, step);
}

/* small += c/d without looking for common factors: that is done once a flush */
static void add_small(assay_sum *sum, const mpq_t term)
{
    mpz_ptr num = mpq_numref(sum->small);
    mpz_ptr den = mpq_denref(sum->small);
    mpz_mul(num, num, mpq_denref(term));
    mpz_addmul(num, den, mpq_numref(term));
    mpz_mul(den, den, mpq_denref(term));
}

static void flush_small(assay_sum *sum)
{
    mpq_canonicalize(sum->small);
    mpq_add(sum->chunk, sum->chunk, sum->small);
    mpq_set_ui(sum->small, 0, 1);
}

static void flush(assay_sum *sum)
{
    mpq_add(sum->total, sum->total, sum->chunk);
    mpq_set_ui(sum->chunk, 0, 1);
    if (mpz_sizeinbase(mpq_denref(sum->total), 2) > TOTAL_BITS) {
        add_fixed(sum, sum->total, 1);
        mpq_set_ui(sum->total, 0, 1);
        sum->rounded = 1;
    }
}

void assay_sum_add(assay_sum *sum, const mpq_t term, uint64_t count)
{
    if (mpq_sgn(term) == 0) {
        return;
    }
    if (sum->rounded) {
        add_fixed(sum, term, count);
        return;
    }
    if (count == 1) {
        add_small(sum, term);
    } else {
        mpq_t scaled;
        mpz_t n;
        mpq_init(scaled);
        mpz_init(n);
        assay_mpz_set_u64(n, count);
        mpz_mul(mpq_numref(scaled), mpq_numref(term), n);
        mpz_set(mpq_denref(scaled), mpq_denref(term));
        add_small(sum, scaled);
        mpz_clear(n);
        mpq_clear(scaled);
    }
    if (mpz_sizeinbase(mpq_denref(sum->small), 2) > SMALL_BITS) {
        flush_small(sum);
        if (mpz_sizeinbase(mpq_denref(sum->chunk), 2) > CHUNK_BITS) {
            flush(sum);
        }
    }
}

void assay_sum_get(mpq_t out, assay_sum *sum)
{
    flush_small(sum);
    flush(sum);
    mpq_set_z(out, sum->fixed);
    mpq_div_2exp(out, out, GRID_BITS);
    mpq_add(out, out, sum->total);
}
