/* ring: glue */
#include "mechanisms/smooth.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/noise.h"
#include "mechanisms/sampler.h"

static assay_status charge(assay_custodian *custodian, const mpq_t epsilon,
                           const mpq_t delta, const char *label,
                           assay_error *err)
{
    assay_event event;
    assay_event_init(&event, ASSAY_APPROXIMATE);
    mpq_set(event.epsilon, epsilon);
    mpq_set(event.delta, delta);
    event.assumed = 1;
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

static assay_status make_sampler(assay_sampler **out, long step_bits,
                                 int exponent, assay_error *err)
{
    int e = exponent < ASSAY_SMOOTH_LEAST  ? ASSAY_SMOOTH_LEAST
            : exponent > ASSAY_SMOOTH_MOST ? ASSAY_SMOOTH_MOST
                                           : exponent;
    mpq_t sigma2;
    mpq_init(sigma2);
    mpq_set_ui(sigma2, 1, 1);
    if (e >= 0) {
        mpq_mul_2exp(sigma2, sigma2, (mp_bitcnt_t)e);
    } else {
        mpq_div_2exp(sigma2, sigma2, (mp_bitcnt_t)-e);
    }
    assay_status status =
        assay_sampler_new_rounded_gaussian(out, sigma2, step_bits, err);
    mpq_clear(sigma2);
    return status;
}

assay_status assay_release_smooth_gaussian(assay_custodian *custodian,
                                           int64_t *out, const int64_t *in,
                                           size_t n, long step_bits,
                                           int exponent, const mpq_t epsilon,
                                           const mpq_t delta, const char *label,
                                           assay_error *err)
{
    assay_sampler *sampler = NULL;
    if (custodian == NULL || n == 0 || n > ((size_t)1 << 32)) {
        return assay_fail(err, ASSAY_INVALID,
                          "a release needs a custodian and 1 to 2^32 values");
    }
    int64_t *noise = malloc(n * sizeof *noise);
    if (noise == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu values", n);
    }
    assay_status status = make_sampler(&sampler, step_bits, exponent, err);
    if (status == ASSAY_OK) {
        status = charge(custodian, epsilon, delta, label, err);
    }
    if (status == ASSAY_OK) {
        status = assay_sampler_fill(sampler, &custodian->tape, noise, n, err);
    }
    if (status == ASSAY_OK) {
        assay_noise_add(noise, in, n);
        memcpy(out, noise, n * sizeof *noise);
    }
    assay_sampler_free(sampler);
    OPENSSL_cleanse(noise, n * sizeof *noise);
    free(noise);
    return status;
}
