/* ring: glue */
#include "accountant/numeric.h"

#include <math.h>

#include <flint/fmpq.h>

void assay_arb_set_mpq(arb_t out, mpq_srcptr q, slong prec)
{
    fmpq_t f;
    fmpq_init(f);
    fmpq_set_mpq(f, q);
    arb_set_fmpq(out, f, prec);
    fmpq_clear(f);
}

static int from_arf(mpq_t out, const arf_t x)
{
    if (!arf_is_finite(x)) {
        return 0;
    }
    fmpz_t mantissa;
    fmpz_t exponent;
    fmpz_init(mantissa);
    fmpz_init(exponent);
    arf_get_fmpz_2exp(mantissa, exponent, x);
    int ok = fmpz_cmpabs(exponent, (fmpz[]){1 << 24}) < 0;
    if (ok) {
        slong e = fmpz_get_si(exponent);
        mpz_t z;
        mpz_init(z);
        fmpz_get_mpz(z, mantissa);
        mpq_set_z(out, z);
        if (e >= 0) {
            mpq_mul_2exp(out, out, (mp_bitcnt_t)e);
        } else {
            mpq_div_2exp(out, out, (mp_bitcnt_t)(-e));
        }
        mpz_clear(z);
    }
    fmpz_clear(mantissa);
    fmpz_clear(exponent);
    return ok;
}

int assay_arb_upper(mpq_t out, const arb_t x)
{
    arf_t bound;
    arf_init(bound);
    arb_get_ubound_arf(bound, x, ASSAY_PREC);
    int ok = arb_is_finite(x) && from_arf(out, bound);
    arf_clear(bound);
    return ok;
}

int assay_arb_lower(mpq_t out, const arb_t x)
{
    arf_t bound;
    arf_init(bound);
    arb_get_lbound_arf(bound, x, ASSAY_PREC);
    int ok = arb_is_finite(x) && from_arf(out, bound);
    arf_clear(bound);
    return ok;
}

/* floor(log10 |q|), or one less */
static long decimal_exponent(const mpq_t q)
{
    long bits = (long)mpz_sizeinbase(mpq_numref(q), 2) -
                (long)mpz_sizeinbase(mpq_denref(q), 2);
    return (long)floor((double)(bits - 1) * 0.30102999566);
}

static void scale_power(mpq_t q, long power)
{
    mpz_t ten;
    mpq_t factor;
    mpz_init(ten);
    mpq_init(factor);
    mpz_ui_pow_ui(ten, 10, (unsigned long)labs(power));
    mpq_set_z(factor, ten);
    if (power >= 0) {
        mpq_mul(q, q, factor);
    } else {
        mpq_div(q, q, factor);
    }
    mpq_clear(factor);
    mpz_clear(ten);
}

void assay_decimal_outward(mpq_t q, int digits, int up)
{
    if (mpq_sgn(q) == 0) {
        return;
    }
    long shift = digits - 1 - decimal_exponent(q);
    mpz_t whole;
    mpz_init(whole);
    scale_power(q, shift);
    if (up) {
        mpz_cdiv_q(whole, mpq_numref(q), mpq_denref(q));
    } else {
        mpz_fdiv_q(whole, mpq_numref(q), mpq_denref(q));
    }
    mpq_set_z(q, whole);
    scale_power(q, -shift);
    mpz_clear(whole);
}

double assay_log_double(const mpq_t q)
{
    long num_exp = 0;
    long den_exp = 0;
    double num = mpz_get_d_2exp(&num_exp, mpq_numref(q));
    double den = mpz_get_d_2exp(&den_exp, mpq_denref(q));
    if (num <= 0.0) {
        return -INFINITY;
    }
    return log(num / den) + (double)(num_exp - den_exp) * 0.69314718055994531;
}

void assay_mpq_set_near(mpq_t out, double value, int bits)
{
    int exponent = 0;
    double mantissa = frexp(value, &exponent);
    mpq_set_d(out, ldexp(nearbyint(ldexp(mantissa, bits)), exponent - bits));
}
