/* ring: glue */
/* zCDP to (epsilon, delta) with MPFR, every rounding directed:
     ln delta = (a-1)(a rho - eps) - ln(a-1) + a ln(1 - 1/a). */
#include <ctype.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/recheck.h"

#define PREC 320
#define DIGITS 15

int assay_recheck_number(mpq_t out, const char *text)
{
    size_t len = text != NULL ? strlen(text) : 0;
    if (len == 0 || len > 40000 || !isdigit((unsigned char)text[0]) ||
        !isdigit((unsigned char)text[len - 1]) ||
        text[strspn(text, "0123456789/")] != '\0' ||
        strchr(text, '/') != strrchr(text, '/')) {
        return 0;
    }
    mpq_t value;
    mpq_init(value);
    int ok =
        mpq_set_str(value, text, 10) == 0 && mpz_sgn(mpq_denref(value)) > 0;
    if (ok) {
        char *again = NULL;
        mpq_canonicalize(value);
        again = mpq_get_str(NULL, 10, value);
        ok = again != NULL && strcmp(again, text) == 0;
        void (*release)(void *, size_t) = NULL;
        mp_get_memory_functions(NULL, NULL, &release);
        if (again != NULL) {
            release(again, strlen(again) + 1);
        }
    }
    if (ok) {
        mpq_set(out, value);
    }
    mpq_clear(value);
    return ok;
}

/* digits and a power of ten */
static int read_decimal(mpq_t out, const char *text)
{
    char digits[1100];
    size_t k = 0;
    long shift = 0;
    int seen = 0;
    for (; isdigit((unsigned char)*text) || (*text == '.' && !seen); text++) {
        if (k >= 1000) {
            return 0;
        }
        if (*text == '.') {
            seen = 1;
        } else {
            digits[k++] = *text;
            shift -= seen;
        }
    }
    digits[k] = '\0';
    if (*text == 'e' || *text == 'E') {
        char *end = NULL;
        shift += strtol(text + 1, &end, 10);
        text = end;
    }
    if (k == 0 || *text != '\0' || labs(shift) > 2000) {
        return 0;
    }
    mpq_set_ui(out, 0, 1);
    mpz_ui_pow_ui(mpq_denref(out), 10, (unsigned long)labs(shift));
    if (shift >= 0) {
        mpz_set(mpq_numref(out), mpq_denref(out));
        mpz_set_ui(mpq_denref(out), 1);
    } else {
        mpz_set_ui(mpq_numref(out), 1);
    }
    mpz_t whole;
    mpz_init(whole);
    int ok = mpz_set_str(whole, digits, 10) == 0;
    mpz_mul(mpq_numref(out), mpq_numref(out), whole);
    mpq_canonicalize(out);
    mpz_clear(whole);
    return ok;
}

int assay_recheck_decimal(mpq_t out, const char *text)
{
    if (text == NULL || strlen(text) > 1000) {
        return 0;
    }
    if (strchr(text, '/') == NULL) {
        return read_decimal(out, text);
    }
    if (text[strspn(text, "0123456789/")] != '\0' ||
        mpq_set_str(out, text, 10) != 0 || mpz_sgn(mpq_denref(out)) <= 0) {
        return 0;
    }
    mpq_canonicalize(out);
    return 1;
}

static mpfr_rnd_t opposite(mpfr_rnd_t round)
{
    return round == MPFR_RNDU ? MPFR_RNDD : MPFR_RNDU;
}

/* a ln(1 - 1/a) - ln(a - 1), rounded in direction `round`; a > 1 */
static void order_term(mpfr_t out, const mpq_t alpha, mpfr_rnd_t round)
{
    mpq_t q, one;
    mpfr_t x;
    mpq_init(q);
    mpq_init(one);
    mpfr_init2(x, PREC);
    mpq_set_ui(one, 1, 1);
    mpq_inv(q, alpha);
    mpq_sub(q, one, q); /* 1 - 1/a in (0,1): its logarithm is negative */
    mpfr_set_q(x, q, round);
    mpfr_log(x, x, round);
    mpfr_set_q(out, alpha, opposite(round));
    mpfr_mul(out, out, x, round);
    mpq_sub(q, alpha, one);
    mpfr_set_q(x, q, opposite(round));
    mpfr_log(x, x, opposite(round));
    mpfr_sub(out, out, x, round);
    mpq_clear(q);
    mpq_clear(one);
    mpfr_clear(x);
}

/* alpha rho + (order_term - ln delta) / (alpha - 1) */
static void epsilon_at(mpfr_t out, const mpq_t rho, const mpq_t delta,
                       const mpq_t alpha, mpfr_rnd_t round)
{
    mpq_t q, one;
    mpfr_t x;
    mpq_init(q);
    mpq_init(one);
    mpfr_init2(x, PREC);
    mpq_set_ui(one, 1, 1);
    order_term(out, alpha, round);
    mpfr_set_q(x, delta, opposite(round));
    mpfr_log(x, x, opposite(round));
    mpfr_sub(out, out, x, round);
    mpq_sub(q, alpha, one);
    mpq_inv(q, q);
    /* times 1/(a-1) > 0: away from or towards zero by the sign */
    mpfr_set_q(x, q, mpfr_sgn(out) >= 0 ? round : opposite(round));
    mpfr_mul(out, out, x, round);
    mpq_mul(q, alpha, rho);
    mpfr_set_q(x, q, round);
    mpfr_add(out, out, x, round);
    mpq_clear(q);
    mpq_clear(one);
    mpfr_clear(x);
}

static void delta_at(mpfr_t out, const mpq_t rho, const mpq_t epsilon,
                     const mpq_t alpha, mpfr_rnd_t round)
{
    mpq_t q, r;
    mpfr_t x;
    mpq_init(q);
    mpq_init(r);
    mpfr_init2(x, PREC);
    mpq_mul(q, alpha, rho);
    mpq_sub(q, q, epsilon);
    mpq_set_ui(r, 1, 1);
    mpq_sub(r, alpha, r);
    mpq_mul(q, q, r); /* (a-1)(a rho - eps), exactly */
    mpfr_set_q(x, q, round);
    order_term(out, alpha, round);
    mpfr_add(out, out, x, round);
    mpfr_exp(out, out, round);
    mpq_clear(q);
    mpq_clear(r);
    mpfr_clear(x);
}

/* q > 0 times 10^power */
static void shift_decimal(mpq_t q, long power)
{
    mpq_t ten;
    mpq_init(ten);
    mpz_ui_pow_ui(mpq_numref(ten), 10, (unsigned long)labs(power));
    if (power >= 0) {
        mpq_mul(q, q, ten);
    } else {
        mpq_div(q, q, ten);
    }
    mpq_clear(ten);
}

static void round_up(mpq_t q, unsigned digits)
{
    mpz_t whole, low, high;
    if (mpq_sgn(q) <= 0) {
        return;
    }
    mpz_init(whole);
    mpz_init(low);
    mpz_init(high);
    mpz_ui_pow_ui(low, 10, digits - 1);
    mpz_ui_pow_ui(high, 10, digits);
    long power = (long)digits - (long)mpz_sizeinbase(mpq_numref(q), 10) +
                 (long)mpz_sizeinbase(mpq_denref(q), 10);
    shift_decimal(q, power);
    for (; mpq_cmp_z(q, high) >= 0; power--) {
        shift_decimal(q, -1);
    }
    for (; mpq_cmp_z(q, low) < 0; power++) {
        shift_decimal(q, 1);
    }
    mpz_cdiv_q(whole, mpq_numref(q), mpq_denref(q));
    mpq_set_z(q, whole);
    shift_decimal(q, -power);
    mpz_clear(whole);
    mpz_clear(low);
    mpz_clear(high);
}

int assay_recheck_is_rounded(const mpq_t stated, const mpq_t exact)
{
    mpq_t value;
    int ok = 0;
    mpq_init(value);
    for (unsigned digits = DIGITS; digits <= DIGITS + 1; digits++) {
        mpq_set(value, exact);
        round_up(value, digits);
        ok |= mpq_equal(stated, value);
    }
    mpq_clear(value);
    return ok;
}

/* At least the upper end, and one of the two ends rounded up. */
static int is_tight(const mpq_t stated, mpfr_t low, mpfr_t high)
{
    mpq_t a, b;
    if (!mpfr_number_p(low) || !mpfr_number_p(high)) {
        return 0;
    }
    mpq_init(a);
    mpq_init(b);
    mpfr_get_q(a, low);
    mpfr_get_q(b, high);
    int ok = mpq_cmp(stated, b) >= 0 && (assay_recheck_is_rounded(stated, a) ||
                                         assay_recheck_is_rounded(stated, b));
    mpq_clear(a);
    mpq_clear(b);
    return ok;
}

typedef void evaluate(mpfr_t out, const mpq_t rho, const mpq_t given,
                      const mpq_t alpha, mpfr_rnd_t round);

static int agrees(evaluate *at, const mpq_t stated, const mpq_t rho,
                  const mpq_t given, const mpq_t alpha)
{
    mpfr_t low, high;
    if (mpq_cmp_ui(alpha, 1, 1) <= 0) {
        return 0;
    }
    mpfr_init2(low, PREC);
    mpfr_init2(high, PREC);
    at(low, rho, given, alpha, MPFR_RNDD);
    at(high, rho, given, alpha, MPFR_RNDU);
    int ok = is_tight(stated, low, high);
    mpfr_clear(low);
    mpfr_clear(high);
    return ok;
}

int assay_recheck_epsilon(const mpq_t epsilon, const mpq_t rho,
                          const mpq_t delta, const mpq_t alpha)
{
    if (mpq_sgn(rho) == 0) {
        return mpq_sgn(epsilon) == 0;
    }
    return mpq_sgn(delta) > 0 && mpq_cmp_ui(delta, 1, 1) < 0 &&
           agrees(epsilon_at, epsilon, rho, delta, alpha);
}

int assay_recheck_delta(const mpq_t delta, const mpq_t rho, const mpq_t epsilon,
                        const mpq_t alpha)
{
    mpfr_t low;
    if (mpq_sgn(rho) == 0) {
        return mpq_sgn(delta) == 0;
    }
    if (mpq_cmp_ui(delta, 1, 1) == 0 && mpq_cmp_ui(alpha, 1, 1) > 0) {
        /* the bound says nothing here: it is at least 1 */
        mpfr_init2(low, PREC);
        delta_at(low, rho, epsilon, alpha, MPFR_RNDD);
        int ok = mpfr_cmp_ui(low, 1) >= 0;
        mpfr_clear(low);
        return ok;
    }
    return agrees(delta_at, delta, rho, epsilon, alpha);
}
