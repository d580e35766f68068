/* ring: glue */
/* The two oldest methods: basic composition, and zCDP with one conversion. */
#include "accountant/account.h"
#include "accountant/numeric.h"

static assay_status no_price(const assay_event *event, const char *notion,
                             assay_error *err)
{
    return assay_fail(err, ASSAY_UNSUPPORTED, "%s%s: no theorem gives it a %s",
                      event->sampling == ASSAY_SAMPLE_ALL ? "" : "sampled ",
                      assay_mechanism_name(event->mechanism), notion);
}

/* Sums over the list: (epsilon, delta) or (rho, rho_delta). */
static assay_status total(mpq_t first, mpq_t second, assay_bound *out,
                          const assay_event_list *list, int zcdp,
                          assay_error *err)
{
    assay_sum a, b;
    assay_cost cost;
    assay_status status = ASSAY_OK;
    assay_sum_init(&a);
    assay_sum_init(&b);
    assay_cost_init(&cost);
    for (size_t i = 0; i < list->num_events && status == ASSAY_OK; i++) {
        const assay_event *event = &list->events[i];
        assay_cost_reset(&cost);
        status = assay_event_cost(&cost, event, list->neighbours, err);
        if (status == ASSAY_OK && !(zcdp ? cost.has_rho : cost.has_pure)) {
            status = no_price(event, zcdp ? "rho" : "fixed epsilon", err);
        }
        if (status == ASSAY_OK) {
            assay_sum_add(&a, zcdp ? cost.rho : cost.epsilon, event->count);
            assay_sum_add(&b, zcdp ? cost.rho_delta : cost.delta, event->count);
            if (out != NULL) {
                assay_bound_cite(out, zcdp ? cost.rho_id : cost.pure_id);
                assay_bound_cite(out, zcdp ? cost.rho_id2 : cost.pure_id2);
                assay_bound_cite(out, event->sampling != ASSAY_SAMPLE_ALL
                                          ? "sampling-no-worse"
                                          : NULL);
            }
        }
    }
    assay_sum_get(first, &a);
    assay_sum_get(second, &b);
    assay_cost_clear(&cost);
    assay_sum_clear(&a);
    assay_sum_clear(&b);
    return status;
}

assay_status assay_account_rho(mpq_t out, const assay_event_list *events,
                               assay_error *err)
{
    mpq_t slack;
    mpq_init(slack);
    assay_status status = total(out, slack, NULL, events, 1, err);
    if (status == ASSAY_OK && mpq_sgn(slack) > 0) {
        status = assay_fail(err, ASSAY_UNSUPPORTED,
                            "an event with delta > 0 has no rho");
    }
    mpq_clear(slack);
    return status;
}

assay_status assay_method_basic(assay_bound *out, const assay_query *query,
                                assay_error *err)
{
    assay_status status =
        total(out->epsilon, out->delta, out, query->events, 0, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_bound_cite(out, "compose-basic");
    int fits = query->fixed_epsilon
                   ? mpq_cmp(out->epsilon, query->target) <= 0
                   : mpq_cmp(out->delta, query->target) <= 0;
    if (!fits) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "basic composition does not reach the target");
    }
    if (query->fixed_epsilon) {
        mpq_set(out->epsilon, query->target);
    } else {
        mpq_set(out->delta, query->target);
    }
    assay_decimal_outward(out->epsilon, ASSAY_DIGITS, 1);
    return ASSAY_OK;
}

static assay_status zcdp_epsilon(assay_bound *out, const mpq_t slack,
                                 const mpq_t delta, assay_error *err)
{
    mpq_t rest;
    mpq_init(rest);
    mpq_sub(rest, delta, slack);
    mpq_set(out->delta, delta);
    assay_status status = ASSAY_OK;
    if (mpq_sgn(out->rho) == 0 && mpq_sgn(rest) >= 0) {
        mpq_set_ui(out->epsilon, 0, 1);
    } else if (mpq_sgn(rest) <= 0) {
        status = assay_fail(err, ASSAY_UNSUPPORTED,
                            "zcdp needs a delta above the events' own");
    } else {
        status = assay_zcdp_epsilon(out->epsilon, out->alpha, out->rho, rest,
                                    err);
    }
    mpq_clear(rest);
    return status;
}

static assay_status zcdp_delta(assay_bound *out, const mpq_t slack,
                               const mpq_t epsilon, assay_error *err)
{
    assay_status status = ASSAY_OK;
    mpq_set(out->epsilon, epsilon);
    if (mpq_sgn(out->rho) == 0) {
        mpq_set_ui(out->delta, 0, 1);
    } else {
        status = assay_zcdp_best_delta(out->delta, out->alpha, out->rho,
                                       epsilon, err);
    }
    mpq_add(out->delta, out->delta, slack);
    if (mpq_cmp_ui(out->delta, 1, 1) > 0) {
        mpq_set_ui(out->delta, 1, 1);
    }
    assay_decimal_outward(out->delta, ASSAY_DIGITS, 1);
    return status;
}

assay_status assay_method_zcdp(assay_bound *out, const assay_query *query,
                               assay_error *err)
{
    mpq_t slack;
    mpq_init(slack);
    assay_status status =
        total(out->rho, slack, out, query->events, 1, err);
    if (status == ASSAY_OK) {
        assay_bound_cite(out, "compose-zcdp");
        assay_bound_cite(out, "zcdp-to-dp");
        status = query->fixed_epsilon
                     ? zcdp_delta(out, slack, query->target, err)
                     : zcdp_epsilon(out, slack, query->target, err);
    }
    mpq_clear(slack);
    return status;
}
