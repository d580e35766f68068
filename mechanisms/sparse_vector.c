/* ring: glue */
#include "mechanisms/sparse_vector.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "accountant/event.h"
#include "mechanisms/above.h"
#include "mechanisms/sampler.h"

struct assay_sparse_vector {
    assay_custodian *custodian;
    assay_sampler *threshold_noise;
    assay_sampler *query_noise;
    assay_event event; /* what a fresh threshold and its positives cost */
    assay_above state;
};

void assay_sparse_vector_free(assay_sparse_vector *sv)
{
    if (sv != NULL) {
        assay_sampler_free(sv->threshold_noise);
        assay_sampler_free(sv->query_noise);
        assay_event_clear(&sv->event);
        OPENSSL_cleanse(sv, sizeof *sv);
        free(sv);
    }
}

assay_status assay_sparse_vector_reset(assay_sparse_vector *sv,
                                       assay_error *err)
{
    int64_t noise = 0;
    assay_status status =
        assay_custodian_charge(sv->custodian, &sv->event, sv->event.label, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_one(sv->threshold_noise, &sv->custodian->tape,
                                   &noise, err);
    }
    if (status == ASSAY_OK) {
        assay_above_start(&sv->state, sv->event.k, noise);
    }
    OPENSSL_cleanse(&noise, sizeof noise);
    return status;
}

static assay_status set_up(assay_sparse_vector *sv, assay_error *err)
{
    assay_status status = assay_event_validate(&sv->event, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_new_discrete_laplace(&sv->threshold_noise,
                                                    sv->event.scale, NULL, err);
    }
    if (status == ASSAY_OK) {
        status = assay_sampler_new_discrete_laplace(
            &sv->query_noise, sv->event.scale2, NULL, err);
    }
    if (status == ASSAY_OK) {
        status = assay_sparse_vector_reset(sv, err);
    }
    return status;
}

static void copy_label(char *out, const char *label)
{
    size_t i = 0;
    for (; label != NULL && label[i] != 0 && i + 1 < ASSAY_LABEL_LEN; i++) {
        out[i] = label[i];
    }
    out[i] = 0;
}

assay_status assay_sparse_vector_new(
    assay_sparse_vector **out, assay_custodian *custodian, uint64_t positives,
    int monotone, const mpq_t threshold_scale, const mpq_t query_scale,
    const mpq_t sensitivity, const char *label, assay_error *err)
{
    if (positives == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "a sparse vector needs at least 1 positive");
    }
    assay_sparse_vector *sv = calloc(1, sizeof *sv);
    if (sv == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a sparse vector");
    }
    sv->custodian = custodian;
    assay_event_init(&sv->event, ASSAY_SPARSE_VECTOR);
    sv->event.k = positives;
    sv->event.monotone = monotone != 0;
    mpq_set(sv->event.scale, threshold_scale);
    mpq_set(sv->event.scale2, query_scale);
    mpq_set(sv->event.sensitivity, sensitivity);
    copy_label(sv->event.label, label);
    assay_status status = set_up(sv, err);
    if (status != ASSAY_OK) {
        assay_sparse_vector_free(sv);
        return status;
    }
    *out = sv;
    return ASSAY_OK;
}

assay_status assay_sparse_vector_ask(assay_sparse_vector *sv, int *above,
                                     int64_t query, int64_t threshold,
                                     assay_error *err)
{
    int64_t noise = 0;
    if (sv->state.left == 0) {
        return assay_fail(err, ASSAY_BUDGET,
                          "the sparse vector has given all its positive "
                          "answers: reset it, which charges again");
    }
    assay_status status =
        assay_sampler_one(sv->query_noise, &sv->custodian->tape, &noise, err);
    if (status != ASSAY_OK) {
        return status;
    }
    *above = assay_above_answer(&sv->state, query, noise, threshold);
    OPENSSL_cleanse(&noise, sizeof noise);
    return ASSAY_OK;
}

uint64_t assay_sparse_vector_left(const assay_sparse_vector *sv)
{
    return sv->state.left;
}
