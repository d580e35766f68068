/* ring: glue */
#include "mechanisms/local.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "core/rational.h"
#include "mechanisms/bernoulli.h"
#include "mechanisms/report.h"
#include "mechanisms/uniform.h"

#define MAX_BITS ((uint64_t)1 << 32)

typedef struct fraction {
    uint64_t num;
    uint64_t den;
} fraction;

static assay_status check_report(const assay_custodian *custodian, uint64_t k,
                                 uint64_t most, assay_error *err)
{
    if (!assay_custodian_replaces(custodian)) {
        return assay_fail(err, ASSAY_INVALID,
                          "a local report needs a replace-one ledger: create "
                          "it with --neighbours replace-one");
    }
    if (k < 2 || k > most) {
        return assay_fail(err, ASSAY_INVALID,
                          "a report needs at least 2 possible values");
    }
    return ASSAY_OK;
}

/* 0 < p <= most, in 64-bit parts */
static assay_status get_fraction(fraction *out, const mpq_t p, int half,
                                 assay_error *err)
{
    mpq_t most;
    mpq_init(most);
    mpq_set_ui(most, 1, half ? 2 : 1);
    int fits = mpq_sgn(p) > 0 && mpq_cmp(p, most) <= 0 &&
               assay_mpz_fits_u64(mpq_numref(p)) &&
               assay_mpz_fits_u64(mpq_denref(p));
    mpq_clear(most);
    if (!fits) {
        return assay_fail(err, ASSAY_INVALID,
                          "the probability must be above 0 and at most %s, "
                          "with parts below 2^64",
                          half ? "1/2" : "1");
    }
    out->num = assay_mpz_get_u64(mpq_numref(p));
    out->den = assay_mpz_get_u64(mpq_denref(p));
    return ASSAY_OK;
}

/* `count` randomized responses with k answers each */
static assay_status charge_response(assay_custodian *custodian, uint64_t k,
                                    const mpq_t p, uint64_t count,
                                    const char *label, assay_error *err)
{
    assay_event event;
    assay_event_init(&event, ASSAY_RANDOMIZED_RESPONSE);
    event.k = k;
    event.count = count;
    mpq_set(event.p, p);
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

static assay_status no_words(assay_status status, assay_error *err)
{
    return assay_fail(err, status, "no randomness: nothing was released");
}

assay_status assay_release_response(assay_custodian *custodian, uint64_t *out,
                                    uint64_t value, uint64_t k, const mpq_t p,
                                    const char *label, assay_error *err)
{
    fraction f;
    uint64_t answer = 0;
    int lie = 0;
    assay_status status = check_report(custodian, k, UINT64_MAX, err);
    if (status == ASSAY_OK) {
        status = get_fraction(&f, p, 0, err);
    }
    if (status == ASSAY_OK) {
        status = charge_response(custodian, k, p, 1, label, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    /* Both are always drawn: words used do not tell whether it lies. */
    status = assay_bernoulli(&custodian->tape, f.num, f.den, &lie);
    if (status == ASSAY_OK) {
        status = assay_uniform_below(&custodian->tape, k, &answer);
    }
    if (status != ASSAY_OK) {
        return no_words(status, err);
    }
    *out = assay_report_choose(lie, answer, value, k);
    return ASSAY_OK;
}

/* Two coins a bit, kept as 2 * on + off until the value picks one. */
static assay_status draw_bits(assay_tape *tape, uint8_t *bits, size_t k,
                              fraction one, fraction zero)
{
    for (size_t i = 0; i < k; i++) {
        int on = 0;
        int off = 0;
        assay_status status = assay_bernoulli(tape, one.num, one.den, &on);
        if (status == ASSAY_OK) {
            status = assay_bernoulli(tape, zero.num, zero.den, &off);
        }
        if (status != ASSAY_OK) {
            return status;
        }
        bits[i] = (uint8_t)(on * 2 + off);
    }
    return ASSAY_OK;
}

static assay_status report_bits(assay_custodian *custodian, uint8_t *out,
                                uint64_t value, uint64_t k, fraction one,
                                fraction zero, const mpq_t p, uint64_t count,
                                const char *label, assay_error *err)
{
    uint8_t *bits = malloc((size_t)k);
    if (bits == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the report");
    }
    assay_status status = charge_response(custodian, 2, p, count, label, err);
    if (status == ASSAY_OK) {
        status = draw_bits(&custodian->tape, bits, (size_t)k, one, zero);
        if (status != ASSAY_OK) {
            status = no_words(status, err);
        }
    }
    if (status == ASSAY_OK) {
        assay_report_unary(bits, (size_t)k, value);
        memcpy(out, bits, (size_t)k);
    }
    OPENSSL_cleanse(bits, (size_t)k);
    free(bits);
    return status;
}

assay_status assay_release_unary(assay_custodian *custodian, uint8_t *out,
                                 uint64_t value, uint64_t k, const mpq_t p,
                                 const char *label, assay_error *err)
{
    fraction one;
    fraction zero;
    mpq_t half;
    mpq_t stay;
    assay_status status = check_report(custodian, k, MAX_BITS, err);
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_init(half);
    mpq_init(stay);
    mpq_div_2exp(half, p, 1); /* a zero becomes one */
    mpq_set_ui(stay, 1, 1);
    mpq_sub(stay, stay, half); /* a one stays one */
    status = get_fraction(&zero, half, 1, err);
    if (status == ASSAY_OK) {
        status = get_fraction(&one, stay, 0, err);
    }
    if (status == ASSAY_OK) {
        status =
            report_bits(custodian, out, value, k, one, zero, p, 2, label, err);
    }
    mpq_clear(half);
    mpq_clear(stay);
    return status;
}

assay_status assay_release_unary_optimised(assay_custodian *custodian,
                                           uint8_t *out, uint64_t value,
                                           uint64_t k, const mpq_t q,
                                           const char *label, assay_error *err)
{
    const fraction one = {.num = 1, .den = 2};
    fraction zero;
    mpq_t p;
    assay_status status = check_report(custodian, k, MAX_BITS, err);
    if (status == ASSAY_OK) {
        status = get_fraction(&zero, q, 1, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_init(p);
    mpq_mul_2exp(p, q, 1);
    status = report_bits(custodian, out, value, k, one, zero, p, 1, label, err);
    mpq_clear(p);
    return status;
}
