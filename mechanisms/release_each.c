/* ring: glue */
/* Gaussian releases whose entries have variances of their own. */
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/noise.h"
#include "mechanisms/release.h"
#include "mechanisms/sampler.h"

#define MAX_VALUES ((size_t)1 << 32)

/* One sampler per run of equal variances; the number of runs is public. */
typedef struct batch {
    size_t num_runs;
    size_t *length;
    assay_sampler **sampler;
} batch;

static void batch_clear(batch *b)
{
    for (size_t i = 0; b->sampler != NULL && i < b->num_runs; i++) {
        assay_sampler_free(b->sampler[i]);
    }
    free(b->sampler);
    free(b->length);
}

static assay_status batch_add(batch *b, const mpq_t sigma2, assay_error *err)
{
    assay_status status = assay_sampler_new_discrete_gaussian(
        &b->sampler[b->num_runs], sigma2, NULL, err);
    if (status == ASSAY_OK) {
        b->length[b->num_runs] = 1;
        b->num_runs++;
    }
    return status;
}

static assay_status batch_init(batch *b, const mpq_t *sigma2, size_t n,
                               assay_error *err)
{
    b->num_runs = 0;
    b->length = calloc(n, sizeof *b->length);
    b->sampler = calloc(n, sizeof *b->sampler);
    if (b->length == NULL || b->sampler == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu samplers", n);
    }
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && mpq_equal(sigma2[i], sigma2[i - 1])) {
            b->length[b->num_runs - 1]++;
            continue;
        }
        assay_status status = batch_add(b, sigma2[i], err);
        if (status != ASSAY_OK) {
            return status;
        }
    }
    return ASSAY_OK;
}

static assay_status batch_fill(batch *b, assay_tape *tape, int64_t *noise,
                               assay_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < b->num_runs; i++) {
        assay_status status = assay_sampler_fill(b->sampler[i], tape,
                                                 noise + at, b->length[i], err);
        if (status != ASSAY_OK) {
            return status;
        }
        at += b->length[i];
    }
    return ASSAY_OK;
}

/* rho = cost2 / 2: the event of a Gaussian of variance 1 moved by cost2. */
static assay_status charge_cost(assay_custodian *custodian, const mpq_t cost2,
                                const char *label, assay_error *err)
{
    assay_event event;
    assay_event_init(&event, ASSAY_DISCRETE_GAUSSIAN);
    mpq_set_ui(event.sigma2, 1, 1);
    mpq_set(event.sensitivity2, cost2);
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

static assay_status draw_each(assay_custodian *custodian, int64_t *noise,
                              const int64_t *in, size_t n, const mpq_t *sigma2,
                              const mpq_t cost2, const char *label,
                              assay_error *err)
{
    batch b;
    assay_status status = batch_init(&b, sigma2, n, err);
    if (status == ASSAY_OK) {
        status = charge_cost(custodian, cost2, label, err);
    }
    if (status == ASSAY_OK) {
        status = batch_fill(&b, &custodian->tape, noise, err);
    }
    if (status == ASSAY_OK) {
        assay_noise_add(noise, in, n);
    }
    batch_clear(&b);
    return status;
}

assay_status assay_release_gaussian_each(assay_custodian *custodian,
                                         int64_t *out, const int64_t *in,
                                         size_t n, const mpq_t *sigma2,
                                         const mpq_t cost2, const char *label,
                                         assay_error *err)
{
    if (custodian == NULL || out == NULL || in == NULL || n == 0 ||
        n > MAX_VALUES) {
        return assay_fail(err, ASSAY_INVALID,
                          "a release needs a custodian, input, output and "
                          "between 1 and 2^32 values");
    }
    int64_t *noise = malloc(n * sizeof *noise);
    if (noise == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu values", n);
    }
    assay_status status =
        draw_each(custodian, noise, in, n, sigma2, cost2, label, err);
    if (status == ASSAY_OK) {
        memcpy(out, noise, n * sizeof *noise);
    }
    OPENSSL_cleanse(noise, n * sizeof *noise);
    free(noise);
    return status;
}

static void pack(int64_t *triangle, const int64_t *matrix, size_t d)
{
    size_t at = 0;
    for (size_t i = 0; i < d; i++) {
        triangle[at++] = matrix[i * d + i];
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i + 1; j < d; j++) {
            triangle[at++] = matrix[i * d + j];
        }
    }
}

static void unpack(int64_t *matrix, const int64_t *triangle, size_t d)
{
    size_t at = 0;
    for (size_t i = 0; i < d; i++) {
        matrix[i * d + i] = triangle[at++];
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i + 1; j < d; j++) {
            matrix[i * d + j] = triangle[at];
            matrix[j * d + i] = triangle[at++];
        }
    }
}

/* Diagonal first, then the rest: two runs of equal variances. `work` holds the
 * packed input and then the packed output. */
static assay_status symmetric_noise(assay_custodian *custodian, int64_t *noise,
                                    const int64_t *work, size_t d,
                                    const mpq_t diagonal, const mpq_t off,
                                    const mpq_t cost2, const char *label,
                                    assay_error *err)
{
    size_t n = d * (d + 1) / 2;
    assay_sampler *first = NULL;
    assay_sampler *second = NULL;
    assay_tape *tape = &custodian->tape;
    assay_status status =
        assay_sampler_new_discrete_gaussian(&first, diagonal, NULL, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_new_discrete_gaussian(&second, off, NULL, err);
    }
    if (status == ASSAY_OK) {
        status = charge_cost(custodian, cost2, label, err);
    }
    if (status == ASSAY_OK) {
        status = assay_sampler_fill(first, tape, noise, d, err);
    }
    if (status == ASSAY_OK && n > d) {
        status = assay_sampler_fill(second, tape, noise + d, n - d, err);
    }
    if (status == ASSAY_OK) {
        assay_noise_add(noise, work, n);
    }
    assay_sampler_free(first);
    assay_sampler_free(second);
    return status;
}

/* f2 / min(diagonal, 2 off) */
static assay_status symmetric_cost(mpq_t cost2, const mpq_t diagonal,
                                   const mpq_t off, const mpq_t frobenius2,
                                   assay_error *err)
{
    if (mpq_sgn(diagonal) <= 0 || mpq_sgn(off) <= 0) {
        return assay_fail(err, ASSAY_INVALID, "a variance must be positive");
    }
    mpq_mul_2exp(cost2, off, 1);
    if (mpq_cmp(diagonal, cost2) < 0) {
        mpq_set(cost2, diagonal);
    }
    mpq_div(cost2, frobenius2, cost2);
    return ASSAY_OK;
}

assay_status assay_release_gaussian_symmetric(
    assay_custodian *custodian, int64_t *out, const int64_t *in, size_t d,
    const mpq_t sigma2_diagonal, const mpq_t sigma2_off, const mpq_t frobenius2,
    const char *label, assay_error *err)
{
    mpq_t cost2;
    if (custodian == NULL || out == NULL || in == NULL || d == 0 || d > 65535) {
        return assay_fail(err, ASSAY_INVALID,
                          "a matrix release needs a custodian, input, output "
                          "and a side from 1 to 65535");
    }
    size_t n = d * (d + 1) / 2;
    int64_t *work = malloc(2 * n * sizeof *work);
    if (work == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu values", n);
    }
    mpq_init(cost2);
    assay_status status =
        symmetric_cost(cost2, sigma2_diagonal, sigma2_off, frobenius2, err);
    if (status == ASSAY_OK) {
        pack(work, in, d);
        status = symmetric_noise(custodian, work + n, work, d, sigma2_diagonal,
                                 sigma2_off, cost2, label, err);
    }
    if (status == ASSAY_OK) {
        unpack(out, work + n, d);
    }
    mpq_clear(cost2);
    OPENSSL_cleanse(work, 2 * n * sizeof *work);
    free(work);
    return status;
}
