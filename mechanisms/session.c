/* ring: glue */
#include "mechanisms/session.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/noise.h"
#include "mechanisms/sampler.h"

#define MAX_PARTS 64u
#define MAX_ENTRIES ((size_t)1 << 32)

struct assay_session {
    assay_custodian *custodian;
    size_t num_parts;
    mpq_t left[MAX_PARTS];     /* of the allowance */
    unsigned draws[MAX_PARTS]; /* that are paid for */
    int broken;                /* the tape failed */
};

/* One part is a zCDP event; several are in parallel. */
static assay_status fill_event(assay_event *event, size_t num_parts,
                               const mpq_t cost2, assay_error *err)
{
    if (num_parts == 1) {
        mpq_div_2exp(event->rho, cost2, 1);
        return ASSAY_OK;
    }
    event->parts = calloc(num_parts, sizeof *event->parts);
    if (event->parts == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for parts");
    }
    for (size_t i = 0; i < num_parts; i++) {
        assay_event_init(&event->parts[i], ASSAY_ZCDP);
        mpq_div_2exp(event->parts[i].rho, cost2, 1);
        event->num_parts++;
    }
    return ASSAY_OK;
}

static assay_status charge(assay_custodian *custodian, size_t num_parts,
                           const mpq_t cost2, const char *label,
                           assay_error *err)
{
    assay_event event;
    assay_event_init(&event, num_parts == 1 ? ASSAY_ZCDP : ASSAY_PARALLEL);
    assay_status status = fill_event(&event, num_parts, cost2, err);
    if (status == ASSAY_OK) {
        status = assay_event_validate(&event, err);
    }
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

assay_status assay_session_new(assay_session **out, assay_custodian *custodian,
                               size_t num_parts, const mpq_t cost2,
                               const char *label, assay_error *err)
{
    if (custodian == NULL || num_parts == 0 || num_parts > MAX_PARTS ||
        mpq_sgn(cost2) <= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "a session needs a custodian, 1 to 64 parts and an "
                          "allowance above zero");
    }
    assay_session *session = calloc(1, sizeof *session);
    if (session == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a session");
    }
    assay_status status = charge(custodian, num_parts, cost2, label, err);
    if (status != ASSAY_OK) {
        free(session);
        return status;
    }
    session->custodian = custodian;
    session->num_parts = num_parts;
    for (size_t i = 0; i < num_parts; i++) {
        mpq_init(session->left[i]);
        mpq_set(session->left[i], cost2);
    }
    *out = session;
    return ASSAY_OK;
}

assay_status assay_session_pay(assay_session *session, size_t part,
                               const mpq_t cost2, unsigned num_draws,
                               assay_error *err)
{
    if (part >= session->num_parts || mpq_sgn(cost2) <= 0 || num_draws == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "a payment needs a part of the session, a cost above "
                          "zero and at least one draw");
    }
    if (mpq_cmp(cost2, session->left[part]) > 0) {
        return assay_fail(err, ASSAY_BUDGET,
                          "the session's allowance does not cover this");
    }
    mpq_sub(session->left[part], session->left[part], cost2);
    session->draws[part] = num_draws;
    return ASSAY_OK;
}

static assay_status fill_run(assay_session *session, int64_t *noise,
                             const assay_noise_run *run, assay_error *err)
{
    assay_sampler *sampler = NULL;
    assay_status status =
        assay_sampler_new_discrete_gaussian(&sampler, run->sigma2, NULL, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_fill(sampler, &session->custodian->tape, noise,
                                    run->length, err);
    }
    assay_sampler_free(sampler);
    return status;
}

static assay_status fill_runs(assay_session *session, int64_t *noise,
                              const assay_noise_run *runs, size_t num_runs,
                              assay_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < num_runs; i++) {
        if (runs[i].length == 0) {
            continue;
        }
        assay_status status = fill_run(session, noise + at, &runs[i], err);
        if (status != ASSAY_OK) {
            return status;
        }
        at += runs[i].length;
    }
    return ASSAY_OK;
}

static size_t entries(const assay_noise_run *runs, size_t num_runs)
{
    size_t n = 0;
    for (size_t i = 0; i < num_runs; i++) {
        n = runs[i].length > MAX_ENTRIES - n ? MAX_ENTRIES : n + runs[i].length;
    }
    return n;
}

assay_status assay_session_draw(assay_session *session, size_t part,
                                int64_t *out, const int64_t *in,
                                const assay_noise_run *runs, size_t num_runs,
                                assay_error *err)
{
    size_t n = entries(runs, num_runs);
    if (part >= session->num_parts || session->draws[part] == 0 ||
        session->broken) {
        return assay_fail(err, ASSAY_INVALID, "this draw is not paid for");
    }
    if (n == 0 || n >= MAX_ENTRIES) {
        return assay_fail(err, ASSAY_INVALID,
                          "a draw needs between 1 and 2^32 values");
    }
    int64_t *noise = malloc(n * sizeof *noise);
    if (noise == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu values", n);
    }
    session->draws[part]--;
    assay_status status = fill_runs(session, noise, runs, num_runs, err);
    if (status == ASSAY_OK) {
        assay_noise_add(noise, in, n);
        memcpy(out, noise, n * sizeof *noise);
    }
    session->broken = status != ASSAY_OK;
    OPENSSL_cleanse(noise, n * sizeof *noise);
    free(noise);
    return status;
}

void assay_session_free(assay_session *session)
{
    if (session == NULL) {
        return;
    }
    for (size_t i = 0; i < session->num_parts; i++) {
        mpq_clear(session->left[i]);
    }
    free(session);
}
