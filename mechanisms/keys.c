/* ring: glue */
#include "mechanisms/keys.h"

#include <mpfr.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/noise.h"
#include "mechanisms/sampler.h"

#define MAX_CONTRIBUTION ((uint64_t)1 << 31)

static assay_status check(uint64_t keys_per_person, uint64_t per_key,
                          const mpq_t epsilon, const mpq_t delta,
                          assay_error *err)
{
    if (keys_per_person == 0 || keys_per_person > MAX_CONTRIBUTION ||
        per_key == 0 || per_key > MAX_CONTRIBUTION) {
        return assay_fail(err, ASSAY_INVALID,
                          "a person's contribution must be between 1 and 2^31");
    }
    if (mpq_sgn(epsilon) <= 0 || mpq_sgn(delta) <= 0 ||
        mpq_cmp_ui(delta, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "unknown keys need epsilon > 0 and 0 < delta < 1");
    }
    return ASSAY_OK;
}

/* keys_per_person * per_key / epsilon */
static void set_scale(mpq_t scale, uint64_t keys_per_person, uint64_t per_key,
                      const mpq_t epsilon)
{
    mpq_set_ui(scale, keys_per_person * per_key, 1);
    mpq_div(scale, scale, epsilon);
}

assay_status assay_release_keys_threshold(int64_t *out,
                                          uint64_t keys_per_person,
                                          uint64_t per_key, const mpq_t epsilon,
                                          const mpq_t delta, assay_error *err)
{
    mpfr_t x;
    mpq_t q;
    assay_status status = check(keys_per_person, per_key, epsilon, delta, err);
    if (status != ASSAY_OK) {
        return status;
    }
    mpfr_init2(x, 192);
    mpq_init(q);
    mpq_set_ui(q, keys_per_person, 1);
    mpq_div(q, q, delta); /* above 1: the logarithm is positive */
    (void)mpfr_set_q(x, q, MPFR_RNDU);
    (void)mpfr_log(x, x, MPFR_RNDU);
    set_scale(q, keys_per_person, per_key, epsilon);
    (void)mpfr_mul_q(x, x, q, MPFR_RNDU);
    (void)mpfr_ceil(x, x);
    (void)mpfr_add_ui(x, x, per_key, MPFR_RNDU);
    if (mpfr_cmp_ui_2exp(x, 1, 61) > 0) {
        status = assay_fail(err, ASSAY_RANGE, "the threshold passes 2^61");
    } else {
        *out = (int64_t)mpfr_get_sj(x, MPFR_RNDU);
    }
    mpfr_clear(x);
    mpq_clear(q);
    return status;
}

static assay_status charge(assay_custodian *custodian, const mpq_t epsilon,
                           const mpq_t delta, const char *label,
                           assay_error *err)
{
    assay_event event;
    assay_event_init(&event, ASSAY_UNKNOWN_KEYS);
    mpq_set(event.epsilon, epsilon);
    mpq_set(event.delta, delta);
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

/* Post-processing of the noisy counts. */
static void show(int64_t *noisy, uint8_t *shown, const int64_t *work, size_t n,
                 int64_t threshold)
{
    for (size_t i = 0; i < n; i++) {
        shown[i] = work[i] >= threshold ? 1 : 0;
        noisy[i] = shown[i] ? work[i] : 0;
    }
}

size_t assay_keys_shown(size_t *at, const uint8_t *shown, size_t n)
{
    size_t num = 0;
    for (size_t i = 0; i < n; i++) {
        if (shown[i]) {
            at[num++] = i;
        }
    }
    return num;
}

char *assay_keys_name(char **names, size_t at)
{
    char *name = names[at];
    names[at] = NULL;
    return name;
}

static assay_status draw(assay_custodian *custodian, assay_sampler *sampler,
                         int64_t *work, const int64_t *counts, size_t n,
                         assay_error *err)
{
    assay_status status =
        assay_sampler_fill(sampler, &custodian->tape, work, n, err);
    if (status == ASSAY_OK) {
        assay_noise_add(work, counts, n);
    }
    return status;
}

assay_status assay_release_keys(assay_custodian *custodian, int64_t *noisy,
                                uint8_t *shown, const int64_t *counts, size_t n,
                                uint64_t keys_per_person, uint64_t per_key,
                                const mpq_t epsilon, const mpq_t delta,
                                const char *label, assay_error *err)
{
    int64_t threshold = 0;
    assay_sampler *sampler = NULL;
    mpq_t scale;
    assay_status status = assay_release_keys_threshold(
        &threshold, keys_per_person, per_key, epsilon, delta, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (assay_custodian_replaces(custodian)) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "unknown keys need an add-remove ledger");
    }
    int64_t *work = calloc(n + 1, sizeof *work);
    if (work == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the keys");
    }
    mpq_init(scale);
    set_scale(scale, keys_per_person, per_key, epsilon);
    status = assay_sampler_new_discrete_laplace(&sampler, scale, NULL, err);
    if (status == ASSAY_OK) {
        status = charge(custodian, epsilon, delta, label, err);
    }
    if (status == ASSAY_OK && n > 0) {
        status = draw(custodian, sampler, work, counts, n, err);
    }
    if (status == ASSAY_OK) {
        show(noisy, shown, work, n, threshold);
    }
    assay_sampler_free(sampler);
    mpq_clear(scale);
    OPENSSL_cleanse(work, (n + 1) * sizeof *work);
    free(work);
    return status;
}
