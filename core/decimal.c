/* ring: glue */
#include "core/decimal.h"

#include <string.h>

#include "core/bound.h"
#include "core/rational.h"

#define MAX_LEN 400
#define MAX_DIGITS 18

__extension__ typedef unsigned __int128 wide;

static const uint64_t powers[MAX_DIGITS + 1] = {1ull,
                                                10ull,
                                                100ull,
                                                1000ull,
                                                10000ull,
                                                100000ull,
                                                1000000ull,
                                                10000000ull,
                                                100000000ull,
                                                1000000000ull,
                                                10000000000ull,
                                                100000000000ull,
                                                1000000000000ull,
                                                10000000000000ull,
                                                100000000000000ull,
                                                1000000000000000ull,
                                                10000000000000000ull,
                                                100000000000000000ull,
                                                1000000000000000000ull};

/* [-+]digits[.digits] with at most 18 digits: value = +-m / 10^places. */
typedef struct plain {
    uint64_t m;
    int places;
    int negative;
} plain;

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* 1 if the text has that form. */
static int read_plain(plain *out, const char *p, const char *end)
{
    int digits = 0;
    out->m = 0;
    out->places = 0;
    out->negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+') ? 1 : 0;
    for (; p < end && is_digit(*p); p++, digits++) {
        out->m = out->m * 10 + (uint64_t)(*p - '0');
        if (digits >= MAX_DIGITS) {
            return 0;
        }
    }
    if (p < end && *p == '.') {
        p++;
        for (; p < end && is_digit(*p); p++, digits++, out->places++) {
            out->m = out->m * 10 + (uint64_t)(*p - '0');
            if (digits >= MAX_DIGITS) {
                return 0;
            }
        }
    }
    return p == end && digits > 0;
}

/* num / den to the nearest integer, ties to even, at most `most`. */
static int64_t divide_even(wide num, wide den, int64_t most)
{
    if (num >> 64 == 0 && den >> 64 == 0) {
        uint64_t n = (uint64_t)num;
        uint64_t d = (uint64_t)den;
        uint64_t quotient = n / d;
        uint64_t rest = n % d;
        quotient += rest > d - rest || (rest == d - rest && quotient % 2 == 1);
        return quotient > (uint64_t)most ? most : (int64_t)quotient;
    }
    wide quotient = num / den;
    wide rest = num % den;
    quotient += rest > den - rest || (rest == den - rest && quotient % 2 == 1);
    return quotient > (wide)most ? most : (int64_t)quotient;
}

/* m < 10^18 < 2^60, so both shifts stay below 2^120. */
static int64_t plain_steps(const plain *x, int step_bits)
{
    wide num = x->m;
    wide den = powers[x->places];
    if (step_bits >= 0) {
        num <<= step_bits;
    } else {
        den <<= -step_bits;
    }
    int64_t steps = divide_even(num, den, ASSAY_LATTICE_MAX);
    return x->negative ? -steps : steps;
}

/* The general case through exact rationals. */
static assay_status slow_steps(int64_t *out, const char *text, size_t len,
                               const assay_lattice *lattice, assay_error *err)
{
    char copy[MAX_LEN + 1];
    mpq_t q;
    mpz_t quotient;
    mpz_t rest;
    if (len == 0 || len > MAX_LEN || memchr(text, '/', len) != NULL ||
        memchr(text, '\0', len) != NULL) {
        return assay_fail(err, ASSAY_INVALID, "not a number");
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    mpq_init(q);
    int plus = copy[0] == '+' && copy[1] != '-' && copy[1] != '+';
    if (assay_rational_parse(q, copy + plus, "a value", NULL) != ASSAY_OK) {
        mpq_clear(q);
        return assay_fail(err, ASSAY_INVALID, "not a number");
    }
    mpz_init(quotient);
    mpz_init(rest);
    if (lattice->step_bits >= 0) {
        mpq_mul_2exp(q, q, (mp_bitcnt_t)lattice->step_bits);
    } else {
        mpq_div_2exp(q, q, (mp_bitcnt_t)-lattice->step_bits);
    }
    mpz_fdiv_qr(quotient, rest, mpq_numref(q), mpq_denref(q));
    mpz_mul_2exp(rest, rest, 1);
    int order = mpz_cmp(rest, mpq_denref(q));
    if (order > 0 || (order == 0 && mpz_odd_p(quotient))) {
        mpz_add_ui(quotient, quotient, 1);
    }
    if (mpz_fits_slong_p(quotient)) {
        *out = assay_clip(mpz_get_si(quotient), lattice->lo, lattice->hi);
    } else {
        *out = mpz_sgn(quotient) < 0 ? lattice->lo : lattice->hi;
    }
    mpq_clear(q);
    mpz_clear(quotient);
    mpz_clear(rest);
    return ASSAY_OK;
}

assay_status assay_decimal_to_steps(int64_t *out, const char *text, size_t len,
                                    const assay_lattice *lattice,
                                    assay_error *err)
{
    plain x;
    while (len > 0 && (text[0] == ' ' || text[0] == '\t')) {
        text++;
        len--;
    }
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t')) {
        len--;
    }
    if (lattice->step_bits >= -60 && lattice->step_bits <= 60 &&
        read_plain(&x, text, text + len)) {
        *out = assay_clip(plain_steps(&x, lattice->step_bits), lattice->lo,
                          lattice->hi);
        return ASSAY_OK;
    }
    return slow_steps(out, text, len, lattice, err);
}
