/* ring: glue */
#include "mechanisms/local_unary.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/bernoulli.h"
#include "mechanisms/report.h"

#define DEN (UINT64_C(1) << 32)

struct assay_local_unary {
    assay_custodian *custodian;
    size_t blocks, k;
    uint64_t left; /* reports that may still be made */
    uint32_t q_num;
    uint8_t *coins; /* blocks * k */
};

static assay_status charge(assay_local_unary *r, const char *label,
                           assay_error *err)
{
    assay_event event;
    assay_status status;
    assay_event_init(&event, ASSAY_RANDOMIZED_RESPONSE);
    mpq_set_ui(event.p, r->q_num, 1);
    mpq_div_2exp(event.p, event.p, 31); /* p = 2q */
    event.k = 2;
    event.count = r->blocks;
    status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(r->custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

assay_status assay_local_unary_new(assay_local_unary **out,
                                   assay_custodian *custodian, size_t blocks,
                                   size_t k, uint64_t max_reports,
                                   uint32_t q_num, const char *label,
                                   assay_error *err)
{
    assay_local_unary *r;
    assay_status status;
    if (custodian == NULL || blocks == 0 || k < 2 || max_reports == 0 ||
        q_num == 0 || q_num >= DEN / 2 || blocks > ((size_t)1 << 32) / k) {
        return assay_fail(err, ASSAY_INVALID,
                          "unary reports need a custodian, 2 to 2^32 bits, "
                          "at least one report and 0 < q < 1/2");
    }
    r = calloc(1, sizeof *r);
    if (r != NULL) {
        r->custodian = custodian;
        r->blocks = blocks;
        r->k = k;
        r->left = max_reports;
        r->q_num = q_num;
        r->coins = calloc(blocks * k, 1);
    }
    if (r == NULL || r->coins == NULL) {
        free(r);
        return assay_fail(err, ASSAY_MEMORY, "no memory for reports");
    }
    status = charge(r, label, err);
    if (status != ASSAY_OK) {
        assay_local_unary_free(r);
        return status;
    }
    *out = r;
    return ASSAY_OK;
}

/* Two coins a bit, 2 * on + off: a fair one and one of probability q. */
static assay_status draw(assay_local_unary *r)
{
    assay_tape *tape = &r->custodian->tape;
    size_t n = r->blocks * r->k;
    for (size_t i = 0; i < n; i++) {
        int on = 0;
        int off = 0;
        assay_status status = assay_bernoulli(tape, 1, 2, &on);
        if (status == ASSAY_OK) {
            status = assay_bernoulli(tape, r->q_num, DEN, &off);
        }
        if (status != ASSAY_OK) {
            return status;
        }
        r->coins[i] = (uint8_t)(2 * on + off);
    }
    return ASSAY_OK;
}

assay_status assay_local_unary_report(assay_local_unary *reporter,
                                      uint8_t *bits, const uint64_t *values,
                                      assay_error *err)
{
    assay_local_unary *r = reporter;
    size_t n = r->blocks * r->k;
    if (r->left == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "all reports that were charged have been made");
    }
    if (draw(r) != ASSAY_OK) {
        r->left = 0;
        return assay_fail(err, ASSAY_ENTROPY, "no randomness for a report");
    }
    for (size_t b = 0; b < r->blocks; b++) {
        assay_report_unary(r->coins + b * r->k, r->k, values[b]);
    }
    memcpy(bits, r->coins, n);
    OPENSSL_cleanse(r->coins, n);
    r->left--;
    return ASSAY_OK;
}

void assay_local_unary_free(assay_local_unary *reporter)
{
    if (reporter != NULL) {
        OPENSSL_cleanse(reporter->coins, reporter->blocks * reporter->k);
        free(reporter->coins);
        free(reporter);
    }
}
