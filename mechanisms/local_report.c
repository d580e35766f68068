/* ring: glue */
#include "mechanisms/local_report.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/noise.h"
#include "mechanisms/sampler.h"

struct assay_local_reporter {
    assay_custodian *custodian;
    assay_sampler *sampler;
    size_t dimension;
    uint64_t left; /* reports that may still be made */
    int64_t *noise;
};

static assay_status allocate(assay_local_reporter **out,
                             assay_custodian *custodian, size_t dimension,
                             uint64_t max_reports, assay_error *err)
{
    assay_local_reporter *r;
    if (custodian == NULL || dimension == 0 || dimension > ((size_t)1 << 32) ||
        max_reports == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "local reports need a custodian, 1 to 2^32 entries "
                          "and at least one report");
    }
    r = calloc(1, sizeof *r);
    if (r != NULL) {
        r->custodian = custodian;
        r->dimension = dimension;
        r->left = max_reports;
        r->noise = calloc(dimension, sizeof(int64_t));
    }
    if (r == NULL || r->noise == NULL) {
        free(r);
        return assay_fail(err, ASSAY_MEMORY, "no memory for reports");
    }
    *out = r;
    return ASSAY_OK;
}

/* Charges the event of one report and hands the reporter out, or frees it. */
static assay_status finish(assay_local_reporter **out, assay_local_reporter *r,
                           assay_status made, const assay_event *event,
                           const char *label, assay_error *err)
{
    assay_status status = made;
    if (status == ASSAY_OK) {
        status = assay_event_validate(event, err);
    }
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(r->custodian, event, label, err);
    }
    if (status != ASSAY_OK) {
        assay_local_reporter_free(r);
        return status;
    }
    *out = r;
    return ASSAY_OK;
}

assay_status assay_local_reporter_new_laplace(
    assay_local_reporter **out, assay_custodian *custodian, size_t dimension,
    uint64_t max_reports, const mpq_t scale, const mpq_t sensitivity,
    const char *label, assay_error *err)
{
    assay_local_reporter *r = NULL;
    assay_event event;
    assay_status status = allocate(&r, custodian, dimension, max_reports, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_event_init(&event, ASSAY_DISCRETE_LAPLACE);
    mpq_set(event.scale, scale);
    mpq_set(event.sensitivity, sensitivity);
    status = assay_sampler_new_discrete_laplace(&r->sampler, scale, NULL, err);
    status = finish(out, r, status, &event, label, err);
    assay_event_clear(&event);
    return status;
}

assay_status assay_local_reporter_new_gaussian(
    assay_local_reporter **out, assay_custodian *custodian, size_t dimension,
    uint64_t max_reports, const mpq_t sigma2, const mpq_t sensitivity2,
    const char *label, assay_error *err)
{
    assay_local_reporter *r = NULL;
    assay_event event;
    assay_status status = allocate(&r, custodian, dimension, max_reports, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_event_init(&event, ASSAY_DISCRETE_GAUSSIAN);
    mpq_set(event.sigma2, sigma2);
    mpq_set(event.sensitivity2, sensitivity2);
    status =
        assay_sampler_new_discrete_gaussian(&r->sampler, sigma2, NULL, err);
    status = finish(out, r, status, &event, label, err);
    assay_event_clear(&event);
    return status;
}

assay_status assay_local_report(assay_local_reporter *reporter, int64_t *out,
                                const int64_t *in, assay_error *err)
{
    assay_local_reporter *r = reporter;
    assay_status status;
    if (r->left == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "all reports that were charged have been made");
    }
    status = assay_sampler_fill(r->sampler, &r->custodian->tape, r->noise,
                                r->dimension, err);
    if (status != ASSAY_OK) {
        r->left = 0;
        return status;
    }
    assay_noise_add(r->noise, in, r->dimension);
    memcpy(out, r->noise, r->dimension * sizeof *out);
    OPENSSL_cleanse(r->noise, r->dimension * sizeof *out);
    r->left--;
    return ASSAY_OK;
}

void assay_local_reporter_free(assay_local_reporter *reporter)
{
    if (reporter == NULL) {
        return;
    }
    assay_sampler_free(reporter->sampler);
    OPENSSL_cleanse(reporter->noise,
                    reporter->dimension * sizeof *reporter->noise);
    free(reporter->noise);
    free(reporter);
}
