/* ring: glue */
/*
 * Assay's own releases through a custodian with its ledger and tape: nothing
 * may be refuted. A block of runs is one vector release, whose coordinates are
 * independent runs of the mechanism; local responses are one release each.
 */
#include <gmp.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/scratch.h"
#include "audit/specimens/specimens.h"
#include "core/rational.h"
#include "mechanisms/local.h"
#include "mechanisms/quantile.h"
#include "mechanisms/release.h"

#define P(k) (s->param[k])
enum { LAPLACE, GAUSSIAN, ROUNDED_LAPLACE, RESPONSE, QUANTILE };

static assay_scratch vault;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void close_vault(void)
{
    assay_scratch_close(&vault);
}

static assay_status open_vault(void)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status =
        assay_scratch_open(&vault, NULL, ASSAY_REPLACE_ONE, 1, &err);
    if (status == ASSAY_OK) {
        (void)atexit(close_vault);
    } else {
        close_vault();
        (void)fprintf(stderr, "audit of releases: %s\n", err.message);
    }
    return status;
}

static assay_status vector(int kind, int64_t *x, size_t n, const mpq_t one,
                           assay_error *err)
{
    if (kind == LAPLACE) {
        return assay_release_laplace_vector(&vault.custodian, x, x, n, one, one,
                                            "audit", err);
    }
    if (kind == GAUSSIAN) {
        return assay_release_gaussian_vector(&vault.custodian, x, x, n, one,
                                             one, "audit", err);
    }
    return assay_release_rounded_laplace_vector(&vault.custodian, x, x, n, 10,
                                                one, one, "audit", err);
}

static assay_status single(int kind, int64_t *x, double input, const mpq_t half,
                           const mpq_t one, assay_error *err)
{
    if (kind == RESPONSE) { /* p = 1/2, k = 4: e^eps = 5 */
        uint64_t y = 0;
        assay_status status = assay_release_response(
            &vault.custodian, &y, (uint64_t)input, 4, half, "audit", err);
        *x = (int64_t)y;
        return status;
    }
    const int64_t values[5] = {1, 3, 5, 7, (int64_t)input};
    return assay_release_quantile(&vault.custodian, x, values, 5, 0, 10, 1,
                                  half, one, "audit", err);
}

/* param: kind, unit of the output. A failure shows as NaN on both sides. */
static void draw_release(const assay_specimen *s, const double *q,
                         assay_rng *rng, size_t n, assay_rows *out)
{
    int64_t x[ASSAY_ROWS_BLOCK];
    int kind = (int)P(0);
    mpq_t one, half;
    assay_error err = ASSAY_ERROR_INIT;
    (void)rng;
    mpq_inits(one, half, NULL);
    mpq_set_ui(one, 1, 1);
    mpq_set_ui(half, 1, 2);
    (void)pthread_mutex_lock(&lock);
    assay_status status = vault.open ? ASSAY_OK : open_vault();
    for (size_t i = 0; i < n; i++) {
        x[i] = (int64_t)(q[0] / P(1));
        if (status == ASSAY_OK && kind >= RESPONSE) {
            status = single(kind, &x[i], q[0], half, one, &err);
        }
    }
    if (status == ASSAY_OK && kind < RESPONSE) {
        status = vector(kind, x, n, one, &err);
    }
    (void)pthread_mutex_unlock(&lock);
    mpq_clears(one, half, NULL);
    for (size_t i = 0; i < n; i++) {
        out->value[0][i] = status == ASSAY_OK ? P(1) * (double)x[i] : NAN;
    }
}

static const assay_pair zero_one[] = {{{{0}, {1}}}};
static const assay_pair ends[] = {{{{0}, {10}}}};

#define RELEASE(label, claim_value, pair, kind, unit, divisor)                 \
    {                                                                          \
        .name = label, .note = "correct: Assay's own, with its ledger",        \
        .claim = claim_value, .truth = NAN, .width = 1, .num_inputs = 1,       \
        .num_pairs = 1, .pairs = pair, .param = {kind, unit},                  \
        .draw = draw_release, .raw = 1, .fresh = 1, .slow = divisor            \
    }
#define EPS_1 ASSAY_EPS(1, 0)
#define EPS_LN5 ASSAY_EPS(1.6094379124341005, 0)
#define RHO_HALF                                                               \
    {                                                                          \
        ASSAY_CLAIM_RHO, 0.5, 0                                                \
    }

const assay_specimen assay_specimens_releases[] = {
    RELEASE("Release-Laplace", EPS_1, zero_one, LAPLACE, 1, 4),
    RELEASE("Release-Gaussian", RHO_HALF, zero_one, GAUSSIAN, 1, 4),
    RELEASE("Release-rounded-Laplace", EPS_1, zero_one, ROUNDED_LAPLACE,
            0.0009765625, 200),
    RELEASE("Release-response", EPS_LN5, zero_one, RESPONSE, 1, 1000),
    RELEASE("Release-quantile", EPS_1, ends, QUANTILE, 1, 1000),
    {.name = NULL},
};
