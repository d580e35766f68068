/* ring: glue */
#include "mechanisms/stable_prefix.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "accountant/ledger.h"
#include "mechanisms/compare.h"
#include "mechanisms/sampler.h"
#include "mechanisms/uniform.h"

struct assay_stable_prefix {
    assay_custodian *custodian;
    assay_sampler *threshold_noise;
    assay_sampler *query_noise;
    int64_t threshold;
    int64_t noise; /* of the threshold, fresh in every draw */
    uint64_t left;
    int asking;
};

void assay_stable_prefix_free(assay_stable_prefix *stable)
{
    if (stable != NULL) {
        assay_sampler_free(stable->threshold_noise);
        assay_sampler_free(stable->query_noise);
        OPENSSL_cleanse(stable, sizeof *stable);
        free(stable);
    }
}

static assay_status make_samplers(assay_stable_prefix *stable,
                                  const assay_stable_plan *plan,
                                  assay_error *err)
{
    mpq_t threshold, query;
    mpq_inits(threshold, query, NULL);
    assay_stable_scales(threshold, query, plan);
    assay_status status = assay_sampler_new_discrete_laplace(
        &stable->threshold_noise, threshold, NULL, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_new_discrete_laplace(&stable->query_noise, query,
                                                    NULL, err);
    }
    mpq_clears(threshold, query, NULL);
    return status;
}

static assay_status charge(assay_custodian *custodian,
                           const assay_stable_plan *plan, const char *label,
                           assay_error *err)
{
    assay_event event;
    assay_stable_event(&event, plan);
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

assay_status assay_stable_prefix_new(assay_stable_prefix **out,
                                     assay_custodian *custodian,
                                     const assay_stable_plan *plan,
                                     const char *label, assay_error *err)
{
    int64_t threshold = 0;
    assay_status status = assay_stable_threshold(&threshold, plan, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (custodian == NULL || assay_custodian_replaces(custodian)) {
        return assay_fail(err, ASSAY_INVALID,
                          "stable prefixes protect against adding or removing "
                          "an expert: create the ledger with --neighbours "
                          "add-remove");
    }
    assay_stable_prefix *stable = calloc(1, sizeof *stable);
    if (stable == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for stable prefixes");
    }
    stable->custodian = custodian;
    stable->threshold = threshold;
    stable->left = plan->num_draws;
    status = make_samplers(stable, plan, err);
    if (status == ASSAY_OK) {
        status = charge(custodian, plan, label, err);
    }
    if (status != ASSAY_OK) {
        assay_stable_prefix_free(stable);
        return status;
    }
    *out = stable;
    return ASSAY_OK;
}

assay_status assay_stable_prefix_draw(assay_stable_prefix *stable,
                                      uint64_t *index, uint64_t population,
                                      assay_error *err)
{
    uint64_t at = 0;
    if (stable->left == 0) {
        return assay_fail(err, ASSAY_BUDGET, "all draws are used");
    }
    if (population == 0) {
        return assay_fail(err, ASSAY_INVALID, "there are no experts to draw");
    }
    if (assay_uniform_below(&stable->custodian->tape, population, &at) !=
        ASSAY_OK) {
        return assay_fail(err, ASSAY_ENTROPY, "the tape has failed");
    }
    assay_status status = assay_sampler_one(
        stable->threshold_noise, &stable->custodian->tape, &stable->noise, err);
    if (status == ASSAY_OK) {
        stable->left--;
        stable->asking = 1;
        *index = at;
    }
    return status;
}

assay_status assay_stable_prefix_ask(assay_stable_prefix *stable, int *yes,
                                     int64_t query, assay_error *err)
{
    int64_t noise = 0;
    if (!stable->asking) {
        return assay_fail(err, ASSAY_INVALID,
                          "no more questions after a no: draw again");
    }
    assay_status status = assay_sampler_one(
        stable->query_noise, &stable->custodian->tape, &noise, err);
    if (status != ASSAY_OK) {
        stable->asking = 0;
        return status;
    }
    /* no if threshold + X >= query + Y */
    stable->asking =
        !assay_compare_sums(stable->threshold, stable->noise, query, noise);
    *yes = stable->asking;
    OPENSSL_cleanse(&noise, sizeof noise);
    return ASSAY_OK;
}

int64_t assay_stable_prefix_threshold(const assay_stable_prefix *stable)
{
    return stable->threshold;
}

uint64_t assay_stable_prefix_left(const assay_stable_prefix *stable)
{
    return stable->left;
}
