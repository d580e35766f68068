/* ring: glue */
#include "accountant/profile.h"

#include <stdlib.h>
#include <string.h>

#include "accountant/numeric.h"
#include "core/rational.h"

void assay_profile_clear(assay_profile *profile)
{
    for (size_t i = 0; i < profile->num_points; i++) {
        mpq_clear(profile->epsilons[i]);
        mpq_clear(profile->deltas[i]);
    }
    free(profile->epsilons);
    free(profile->deltas);
    free(profile->methods);
    memset(profile, 0, sizeof *profile);
}

static assay_status allocate(assay_profile *out, size_t n, assay_error *err)
{
    memset(out, 0, sizeof *out);
    out->epsilons = calloc(n, sizeof *out->epsilons);
    out->deltas = calloc(n, sizeof *out->deltas);
    out->methods = calloc(n, sizeof *out->methods);
    if (out->epsilons == NULL || out->deltas == NULL || out->methods == NULL) {
        assay_profile_clear(out);
        return assay_fail(err, ASSAY_MEMORY, "no memory for a profile");
    }
    for (; out->num_points < n; out->num_points++) {
        mpq_init(out->epsilons[out->num_points]);
        mpq_init(out->deltas[out->num_points]);
    }
    return ASSAY_OK;
}

/* The epsilon at delta = 1e-12 by the cheap methods, to two digits. */
static assay_status last_epsilon(mpq_t out, const assay_event_list *events,
                                 assay_error *err)
{
    static const assay_account_options cheap = {.cheap = 1};
    assay_guarantee g;
    mpq_t delta;
    mpq_init(delta);
    assay_guarantee_init(&g);
    mpq_set_str(delta, "1/1000000000000", 10);
    assay_status status = assay_account(&g, events, delta, &cheap, err);
    if (status != ASSAY_OK) {
        status = assay_account(&g, events, delta, NULL, err);
    }
    if (status == ASSAY_OK) {
        mpq_set(out, g.bounds[0].epsilon);
        assay_decimal_outward(out, 2, 1);
    }
    assay_guarantee_clear(&g);
    mpq_clear(delta);
    return status;
}

static assay_status one_point(assay_profile *out, size_t i,
                              const assay_event_list *events,
                              const assay_account_options *options,
                              assay_error *err)
{
    assay_guarantee g;
    assay_guarantee_init(&g);
    assay_status status =
        assay_account_delta(&g, events, out->epsilons[i], options, err);
    if (status == ASSAY_OK) {
        mpq_set(out->deltas[i], g.bounds[0].delta);
        memcpy(out->methods[i], g.bounds[0].method, sizeof out->methods[i]);
    }
    assay_guarantee_clear(&g);
    return status;
}

assay_status assay_profile_compute(assay_profile *out,
                                   const assay_event_list *events,
                                   size_t num_points,
                                   const assay_account_options *options,
                                   assay_error *err)
{
    if (num_points < 2 || num_points > 10000) {
        return assay_fail(err, ASSAY_INVALID,
                          "a profile has 2 to 10000 points");
    }
    assay_status status = allocate(out, num_points, err);
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_t last;
    mpq_init(last);
    status = last_epsilon(last, events, err);
    for (size_t i = 0; i < num_points && status == ASSAY_OK; i++) {
        mpq_set_ui(out->epsilons[i], i, num_points - 1);
        mpq_canonicalize(out->epsilons[i]);
        mpq_mul(out->epsilons[i], out->epsilons[i], last);
        status = one_point(out, i, events, options, err);
    }
    mpq_clear(last);
    if (status != ASSAY_OK) {
        assay_profile_clear(out);
    }
    return status;
}
