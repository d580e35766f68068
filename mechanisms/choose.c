/* ring: glue */
#include "mechanisms/choose.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "accountant/event.h"
#include "mechanisms/compare.h"
#include "mechanisms/pick.h"
#include "mechanisms/sampler.h"

#define MAX_CANDIDATES ((size_t)1 << 40)

/* epsilon / (2 sensitivity) */
static void set_rate(mpq_t rate, const mpq_t epsilon, const mpq_t sensitivity)
{
    mpq_div(rate, epsilon, sensitivity);
    mpq_div_2exp(rate, rate, 1);
}

static assay_status check(const assay_custodian *custodian, const size_t *out,
                          const int64_t *score, size_t n, const mpq_t epsilon,
                          const mpq_t sensitivity, assay_error *err)
{
    if (custodian == NULL || out == NULL || score == NULL || n == 0 ||
        n > MAX_CANDIDATES) {
        return assay_fail(err, ASSAY_INVALID,
                          "a choice needs a custodian, scores, an output and "
                          "between 1 and 2^40 candidates");
    }
    if (mpq_sgn(epsilon) <= 0 || mpq_sgn(sensitivity) <= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "epsilon and sensitivity must be positive");
    }
    return ASSAY_OK;
}

static assay_status charge(assay_custodian *custodian,
                           assay_mechanism mechanism, const mpq_t epsilon,
                           const char *label, assay_error *err)
{
    assay_event event;
    assay_event_init(&event, mechanism);
    mpq_set(event.epsilon, epsilon);
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

assay_status assay_choose_exponential(assay_custodian *custodian, size_t *out,
                                      const int64_t *score, size_t n,
                                      const mpq_t epsilon,
                                      const mpq_t sensitivity,
                                      const char *label, assay_error *err)
{
    mpq_t rate;
    assay_status status =
        check(custodian, out, score, n, epsilon, sensitivity, err);
    if (status == ASSAY_OK) {
        status = charge(custodian, ASSAY_EXPONENTIAL, epsilon, label, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_init(rate);
    set_rate(rate, epsilon, sensitivity);
    status = assay_pick_exponential(&custodian->tape, out, score, n, rate);
    mpq_clear(rate);
    return status == ASSAY_OK ? ASSAY_OK : no_words(status, err);
}

assay_status assay_choose_permute_and_flip(assay_custodian *custodian,
                                           size_t *out, const int64_t *score,
                                           size_t n, const mpq_t epsilon,
                                           const mpq_t sensitivity,
                                           const char *label, assay_error *err)
{
    mpq_t rate;
    assay_status status =
        check(custodian, out, score, n, epsilon, sensitivity, err);
    if (status != ASSAY_OK) {
        return status;
    }
    size_t *order = malloc(n * sizeof *order);
    if (order == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu candidates", n);
    }
    status = charge(custodian, ASSAY_PERMUTE_AND_FLIP, epsilon, label, err);
    if (status == ASSAY_OK) {
        mpq_init(rate);
        set_rate(rate, epsilon, sensitivity);
        status = assay_pick_permute_and_flip(&custodian->tape, out, score,
                                             order, n, rate);
        mpq_clear(rate);
        if (status != ASSAY_OK) {
            status = no_words(status, err);
        }
    }
    OPENSSL_cleanse(order, n * sizeof *order);
    free(order);
    return status;
}

static assay_status noisy_max(assay_custodian *custodian, size_t *out,
                              const int64_t *score, int64_t *noise, size_t n,
                              assay_sampler *sampler, const mpq_t epsilon,
                              const char *label, assay_error *err)
{
    assay_status status =
        charge(custodian, ASSAY_NOISY_MAX, epsilon, label, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_fill(sampler, &custodian->tape, noise, n, err);
    }
    if (status == ASSAY_OK) {
        *out = assay_compare_largest(score, noise, n);
    }
    OPENSSL_cleanse(noise, n * sizeof *noise);
    return status;
}

assay_status assay_choose_noisy_max(assay_custodian *custodian, size_t *out,
                                    const int64_t *score, size_t n,
                                    const mpq_t epsilon,
                                    const mpq_t sensitivity, const char *label,
                                    assay_error *err)
{
    assay_sampler *sampler = NULL;
    mpq_t scale;
    assay_status status =
        check(custodian, out, score, n, epsilon, sensitivity, err);
    if (status != ASSAY_OK) {
        return status;
    }
    int64_t *noise = malloc(n * sizeof *noise);
    if (noise == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu candidates", n);
    }
    mpq_init(scale);
    mpq_div(scale, sensitivity, epsilon);
    mpq_mul_2exp(scale, scale, 1);
    status = assay_sampler_new_discrete_laplace(&sampler, scale, NULL, err);
    if (status == ASSAY_OK) {
        status = noisy_max(custodian, out, score, noise, n, sampler, epsilon,
                           label, err);
    }
    assay_sampler_free(sampler);
    free(noise);
    mpq_clear(scale);
    return status;
}
