/* ring: glue */
#include "mechanisms/release.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/noise.h"
#include "mechanisms/sampler.h"

#define MAX_LENGTH ((size_t)1 << 40)

/* What is common to all: one sampler, n values. */
typedef struct plan {
    assay_custodian *custodian;
    int64_t *out;
    const int64_t *in;
    size_t n;
    const char *label;
    int fresh; /* `out` is apart from `in`, and nobody has seen it */
    assay_sampler *sampler;
    assay_event event;
} plan;

/* As addresses: they may belong to different objects. */
static int are_apart(const int64_t *x, const int64_t *y, size_t n)
{
    uintptr_t a = (uintptr_t)x;
    uintptr_t b = (uintptr_t)y;
    return (a < b ? b - a : a - b) >= n * sizeof *x;
}

static assay_status check_arrays(const plan *p, assay_error *err)
{
    if (p->custodian == NULL || p->out == NULL || p->in == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "a release needs a custodian, an input and an "
                          "output");
    }
    if (p->n == 0 || p->n > MAX_LENGTH) {
        return assay_fail(err, ASSAY_INVALID,
                          "a release needs between 1 and 2^40 values");
    }
    if (p->fresh && !are_apart(p->out, p->in, p->n)) {
        return assay_fail(err, ASSAY_INVALID,
                          "a fresh output must be apart from the input");
    }
    return ASSAY_OK;
}

static void wipe_and_free(int64_t *values, size_t n)
{
    if (values != NULL) {
        OPENSSL_cleanse(values, n * sizeof *values);
        free(values);
    }
}

/* Charge, draw, write. Memory is taken before the charge: after it only the
 * tape can fail, and then `out` is untouched. */
static assay_status charge_draw_write(plan *p, assay_error *err)
{
    int64_t *noise = malloc(p->n * sizeof *noise);
    if (noise == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu values", p->n);
    }
    assay_status status =
        assay_custodian_charge(p->custodian, &p->event, p->label, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_fill(p->sampler, &p->custodian->tape, noise,
                                    p->n, err);
    }
    if (status == ASSAY_OK) {
        assay_noise_add(noise, p->in, p->n);
        memcpy(p->out, noise, p->n * sizeof *noise);
    }
    wipe_and_free(noise, p->n);
    return status;
}

/* The same where nobody has seen `out`: noise is drawn there, and wiped if the
 * tape fails. */
static assay_status charge_draw_in_place(plan *p, assay_error *err)
{
    assay_status status =
        assay_custodian_charge(p->custodian, &p->event, p->label, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status =
        assay_sampler_fill(p->sampler, &p->custodian->tape, p->out, p->n, err);
    if (status == ASSAY_OK) {
        assay_noise_add(p->out, p->in, p->n);
    } else {
        OPENSSL_cleanse(p->out, p->n * sizeof *p->out);
    }
    return status;
}

static assay_status begin(plan *p, assay_mechanism mechanism, const mpq_t noise,
                          const mpq_t sensitivity, assay_error *err)
{
    assay_status status = check_arrays(p, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_event_init(&p->event, mechanism);
    if (mechanism == ASSAY_DISCRETE_GAUSSIAN ||
        mechanism == ASSAY_ROUNDED_GAUSSIAN) {
        mpq_set(p->event.sigma2, noise);
        mpq_set(p->event.sensitivity2, sensitivity);
    } else {
        mpq_set(p->event.scale, noise);
        mpq_set(p->event.sensitivity, sensitivity);
    }
    if (mechanism == ASSAY_DISCRETE_GAUSSIAN && p->n == 1) {
        p->event.dimension = 1;
    }
    return ASSAY_OK;
}

static assay_status make_sampler(plan *p, assay_mechanism mechanism,
                                 const mpq_t noise, long step_bits,
                                 assay_error *err)
{
    switch (mechanism) {
    case ASSAY_DISCRETE_GAUSSIAN:
        return assay_sampler_new_discrete_gaussian(&p->sampler, noise, NULL,
                                                   err);
    case ASSAY_ROUNDED_GAUSSIAN:
        return assay_sampler_new_rounded_gaussian(&p->sampler, noise, step_bits,
                                                  err);
    case ASSAY_ROUNDED_LAPLACE:
        return assay_sampler_new_rounded_laplace(&p->sampler, noise, step_bits,
                                                 err);
    default:
        return assay_sampler_new_discrete_laplace(&p->sampler, noise, NULL,
                                                  err);
    }
}

/* `step_bits` matters to rounded noise alone. */
static assay_status release(plan *p, assay_mechanism mechanism,
                            const mpq_t noise, const mpq_t sensitivity,
                            long step_bits, assay_error *err)
{
    assay_status status = begin(p, mechanism, noise, sensitivity, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = make_sampler(p, mechanism, noise, step_bits, err);
    if (status == ASSAY_OK) {
        status = assay_event_validate(&p->event, err);
    }
    if (status == ASSAY_OK) {
        status =
            p->fresh ? charge_draw_in_place(p, err) : charge_draw_write(p, err);
    }
    assay_sampler_free(p->sampler);
    assay_event_clear(&p->event);
    return status;
}

assay_status assay_release_gaussian_vector(assay_custodian *custodian,
                                           int64_t *out, const int64_t *in,
                                           size_t n, const mpq_t sigma2,
                                           const mpq_t sensitivity2,
                                           const char *label, assay_error *err)
{
    plan p = {custodian, out, in, n, label, .fresh = 0};
    return release(&p, ASSAY_DISCRETE_GAUSSIAN, sigma2, sensitivity2, 0, err);
}

assay_status assay_release_laplace_vector(assay_custodian *custodian,
                                          int64_t *out, const int64_t *in,
                                          size_t n, const mpq_t scale,
                                          const mpq_t sensitivity,
                                          const char *label, assay_error *err)
{
    plan p = {custodian, out, in, n, label, .fresh = 0};
    return release(&p, ASSAY_DISCRETE_LAPLACE, scale, sensitivity, 0, err);
}

assay_status assay_release_gaussian_fresh(assay_custodian *custodian,
                                          int64_t *out, const int64_t *in,
                                          size_t n, const mpq_t sigma2,
                                          const mpq_t sensitivity2,
                                          const char *label, assay_error *err)
{
    plan p = {custodian, out, in, n, label, .fresh = 1};
    return release(&p, ASSAY_DISCRETE_GAUSSIAN, sigma2, sensitivity2, 0, err);
}

assay_status assay_release_laplace_fresh(assay_custodian *custodian,
                                         int64_t *out, const int64_t *in,
                                         size_t n, const mpq_t scale,
                                         const mpq_t sensitivity,
                                         const char *label, assay_error *err)
{
    plan p = {custodian, out, in, n, label, .fresh = 1};
    return release(&p, ASSAY_DISCRETE_LAPLACE, scale, sensitivity, 0, err);
}

assay_status assay_release_rounded_gaussian_vector(
    assay_custodian *custodian, int64_t *out, const int64_t *in, size_t n,
    long step_bits, const mpq_t sigma2, const mpq_t sensitivity2,
    const char *label, assay_error *err)
{
    plan p = {custodian, out, in, n, label, .fresh = 0};
    return release(&p, ASSAY_ROUNDED_GAUSSIAN, sigma2, sensitivity2, step_bits,
                   err);
}

assay_status assay_release_rounded_laplace_vector(
    assay_custodian *custodian, int64_t *out, const int64_t *in, size_t n,
    long step_bits, const mpq_t scale, const mpq_t sensitivity,
    const char *label, assay_error *err)
{
    plan p = {custodian, out, in, n, label, .fresh = 0};
    return release(&p, ASSAY_ROUNDED_LAPLACE, scale, sensitivity, step_bits,
                   err);
}

assay_status assay_release_gaussian(assay_custodian *custodian, int64_t *out,
                                    int64_t in, const mpq_t sigma2,
                                    const mpq_t sensitivity2, const char *label,
                                    assay_error *err)
{
    return assay_release_gaussian_vector(custodian, out, &in, 1, sigma2,
                                         sensitivity2, label, err);
}

assay_status assay_release_laplace(assay_custodian *custodian, int64_t *out,
                                   int64_t in, const mpq_t scale,
                                   const mpq_t sensitivity, const char *label,
                                   assay_error *err)
{
    return assay_release_laplace_vector(custodian, out, &in, 1, scale,
                                        sensitivity, label, err);
}

assay_status assay_release_count(assay_custodian *custodian, int64_t *out,
                                 int64_t count, const mpq_t epsilon,
                                 const char *label, assay_error *err)
{
    mpq_t scale;
    mpq_t one;
    if (mpq_sgn(epsilon) <= 0) {
        return assay_fail(err, ASSAY_INVALID, "epsilon must be positive");
    }
    mpq_init(scale);
    mpq_init(one);
    mpq_inv(scale, epsilon);
    mpq_set_ui(one, 1, 1);
    assay_status status =
        assay_release_laplace(custodian, out, count, scale, one, label, err);
    mpq_clear(scale);
    mpq_clear(one);
    return status;
}
