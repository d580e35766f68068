/* ring: glue */
#include "core/rational.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXT 1000
#define MAX_POWER 400

static assay_status bad(const char *text, const char *what, assay_error *err)
{
    return assay_fail(err, ASSAY_INVALID,
                      "%s: '%.40s' is not an exact number; write 7, 7/3 or "
                      "1.1e-6",
                      what, text);
}

/* Reads [0-9]+ at *at into digits (appending); moves *at behind it. */
static size_t take_digits(const char **at, char *digits, size_t *used)
{
    size_t count = 0;
    while (isdigit((unsigned char)**at)) {
        digits[(*used)++] = *(*at)++;
        count++;
    }
    digits[*used] = '\0';
    return count;
}

static int take_power(const char **at, long *power)
{
    int negative = 0;
    long value = 0;
    if (**at != 'e' && **at != 'E') {
        *power = 0;
        return 1;
    }
    (*at)++;
    if (**at == '+' || **at == '-') {
        negative = *(*at)++ == '-';
    }
    if (!isdigit((unsigned char)**at)) {
        return 0;
    }
    while (isdigit((unsigned char)**at)) {
        value = value * 10 + (*(*at)++ - '0');
        if (value > MAX_POWER) {
            return 0;
        }
    }
    *power = negative ? -value : value;
    return 1;
}

static void set_scaled(mpq_t out, const char *digits, long power)
{
    mpz_t scale;
    mpz_init(scale);
    mpz_ui_pow_ui(scale, 10, (unsigned long)labs(power));
    mpz_set_str(mpq_numref(out), digits, 10);
    mpz_set_ui(mpq_denref(out), 1);
    if (power >= 0) {
        mpz_mul(mpq_numref(out), mpq_numref(out), scale);
    } else {
        mpz_set(mpq_denref(out), scale);
    }
    mpq_canonicalize(out);
    mpz_clear(scale);
}

/* digits [. digits] [e power], or digits / digits; 0 if it is neither. */
static int parse_unsigned(mpq_t out, const char *at)
{
    char digits[MAX_TEXT + 1];
    size_t used = 0;
    size_t whole = take_digits(&at, digits, &used);
    size_t fraction = 0;
    long power = 0;
    if (whole > 0 && *at == '/') {
        char below[MAX_TEXT + 1];
        size_t below_used = 0;
        at++;
        if (take_digits(&at, below, &below_used) == 0 || *at != '\0') {
            return 0;
        }
        mpz_set_str(mpq_denref(out), below, 10);
        if (mpz_sgn(mpq_denref(out)) == 0) {
            mpz_set_ui(mpq_denref(out), 1);
            return 0;
        }
        mpz_set_str(mpq_numref(out), digits, 10);
        mpq_canonicalize(out);
        return 1;
    }
    if (*at == '.') {
        at++;
        fraction = take_digits(&at, digits, &used);
        if (fraction == 0) {
            return 0;
        }
    }
    if (whole + fraction == 0 || !take_power(&at, &power) || *at != '\0') {
        return 0;
    }
    set_scaled(out, digits, power - (long)fraction);
    return 1;
}

assay_status assay_rational_parse(mpq_t out, const char *text, const char *what,
                                  assay_error *err)
{
    mpq_t value;
    int negative;
    int ok;
    if (text == NULL || text[0] == '\0' || strlen(text) > MAX_TEXT) {
        return bad(text == NULL ? "" : text, what, err);
    }
    negative = text[0] == '-';
    mpq_init(value);
    ok = parse_unsigned(value, text + (negative || text[0] == '+'));
    if (ok) {
        if (negative) {
            mpq_neg(value, value);
        }
        mpq_set(out, value);
    }
    mpq_clear(value);
    return ok ? ASSAY_OK : bad(text, what, err);
}

assay_status assay_rational_parse_positive(mpq_t out, const char *text,
                                           const char *what, assay_error *err)
{
    mpq_t value;
    assay_status status;
    mpq_init(value);
    status = assay_rational_parse(value, text, what, err);
    if (status == ASSAY_OK && mpq_sgn(value) <= 0) {
        status =
            assay_fail(err, ASSAY_INVALID,
                       "%s: '%.40s' must be greater than zero", what, text);
    }
    if (status == ASSAY_OK) {
        mpq_set(out, value);
    }
    mpq_clear(value);
    return status;
}

char *assay_rational_text(const mpq_t q)
{
    size_t len = mpz_sizeinbase(mpq_numref(q), 10) +
                 mpz_sizeinbase(mpq_denref(q), 10) + 3;
    char *text = malloc(len);
    if (text != NULL) {
        (void)mpq_get_str(text, 10, q);
    }
    return text;
}

/* m * 10^shift with exactly `digits` digits of m bounds |q| on the asked side
   (up: from above). Integers only, so an exact decimal stays exact. */
static long decimal_mantissa(mpz_t m, const mpq_t q, int digits, int up)
{
    long guess = (long)mpz_sizeinbase(mpq_numref(q), 10) -
                 (long)mpz_sizeinbase(mpq_denref(q), 10) - digits - 1;
    mpz_t num, den, ten;
    mpz_inits(num, den, ten, NULL);
    for (;; guess++) {
        mpz_ui_pow_ui(ten, 10, (unsigned long)labs(guess));
        mpz_abs(num, mpq_numref(q));
        mpz_set(den, mpq_denref(q));
        mpz_mul(guess < 0 ? num : den, guess < 0 ? num : den, ten);
        if (up) {
            mpz_cdiv_q(m, num, den);
        } else {
            mpz_fdiv_q(m, num, den);
        }
        mpz_ui_pow_ui(ten, 10, (unsigned long)digits);
        if (mpz_cmp(m, ten) < 0) {
            break;
        }
    }
    mpz_clears(num, den, ten, NULL);
    return guess;
}

/* The digits of m with a point or a power of ten, no zeros at the end. */
static char *decimal_format(const mpz_t m, long shift, int negative)
{
    size_t room = mpz_sizeinbase(m, 10) + 40;
    char *digits = malloc(room);
    char *text = malloc(room);
    if (digits == NULL || text == NULL) {
        free(digits);
        free(text);
        return NULL;
    }
    (void)mpz_get_str(digits, 10, m);
    long len = (long)strlen(digits);
    long power = len - 1 + shift; /* of the first digit */
    while (len > 1 && digits[len - 1] == '0') {
        digits[--len] = '\0';
    }
    const char *sign = negative ? "-" : "";
    if (power < -6 || power > 20) {
        (void)snprintf(text, room, "%s%c%s%se%ld", sign, digits[0],
                       len > 1 ? "." : "", digits + 1, power);
    } else if (power < 0) {
        (void)snprintf(text, room, "%s0.%.*s%s", sign, (int)(-power - 1),
                       "000000", digits);
    } else if (power + 1 >= len) {
        (void)snprintf(text, room, "%s%s%.*s", sign, digits,
                       (int)(power + 1 - len), "00000000000000000000");
    } else {
        (void)snprintf(text, room, "%s%.*s.%s", sign, (int)(power + 1), digits,
                       digits + power + 1);
    }
    free(digits);
    return text;
}

char *assay_rational_decimal(const mpq_t q, int digits, int up)
{
    mpz_t m;
    mpz_init(m);
    int negative = mpq_sgn(q) < 0;
    long shift = mpq_sgn(q) == 0
                     ? 0
                     : decimal_mantissa(m, q, digits, negative ? !up : up);
    char *text = decimal_format(m, shift, negative);
    mpz_clear(m);
    return text;
}

void assay_mpz_set_u64(mpz_t out, uint64_t value)
{
    mpz_import(out, 1, -1, sizeof value, 0, 0, &value);
}

int assay_mpz_fits_u64(const mpz_t value)
{
    return mpz_sgn(value) >= 0 && mpz_sizeinbase(value, 2) <= 64;
}

uint64_t assay_mpz_get_u64(const mpz_t value)
{
    uint64_t out = 0;
    size_t count = 0;
    mpz_export(&out, &count, -1, sizeof out, 0, 0, value);
    return count == 0 ? 0 : out;
}

assay_status assay_u64_parse(uint64_t *out, const char *text, const char *what,
                             assay_error *err)
{
    mpq_t value;
    assay_status status;
    mpq_init(value);
    status = assay_rational_parse(value, text, what, err);
    if (status == ASSAY_OK && (mpz_cmp_ui(mpq_denref(value), 1) != 0 ||
                               !assay_mpz_fits_u64(mpq_numref(value)))) {
        status = assay_fail(err, ASSAY_INVALID,
                            "%s: '%.40s' is not a whole number from 0 to "
                            "2^64-1",
                            what, text);
    }
    if (status == ASSAY_OK) {
        *out = assay_mpz_get_u64(mpq_numref(value));
    }
    mpq_clear(value);
    return status;
}
