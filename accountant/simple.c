/* ring: glue */
/* The oldest methods: basic and advanced composition, and zCDP with one
   conversion. */
#include <arb.h>

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
        if (zcdp && assay_gaussian_rho_fast(cost.epsilon, event)) {
            assay_sum_add(&a, cost.epsilon, event->count);
            if (out != NULL) {
                assay_bound_cite(out, assay_gaussian_id(event));
            }
            continue;
        }
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
    int fits = query->fixed_epsilon ? mpq_cmp(out->epsilon, query->target) <= 0
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
    return ASSAY_OK; /* exact sums: a budget of exactly that much fits */
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
        status =
            assay_zcdp_epsilon(out->epsilon, out->alpha, out->rho, rest, err);
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
    assay_status status = total(out->rho, slack, out, query->events, 1, err);
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

/* Sums of count * epsilon^2 and of count * delta. */
static assay_status square_sum(mpq_t squares, mpq_t slack, assay_bound *out,
                               const assay_event_list *list, assay_error *err)
{
    assay_sum a, b;
    assay_cost cost;
    mpq_t square;
    assay_status status = ASSAY_OK;
    mpq_init(square);
    assay_sum_init(&a);
    assay_sum_init(&b);
    assay_cost_init(&cost);
    for (size_t i = 0; i < list->num_events && status == ASSAY_OK; i++) {
        const assay_event *event = &list->events[i];
        assay_cost_reset(&cost);
        status = assay_event_cost(&cost, event, list->neighbours, err);
        if (status == ASSAY_OK && !cost.has_pure) {
            status = no_price(event, "fixed epsilon", err);
        }
        if (status == ASSAY_OK) {
            mpq_mul(square, cost.epsilon, cost.epsilon);
            assay_sum_add(&a, square, event->count);
            assay_sum_add(&b, cost.delta, event->count);
            assay_bound_cite(out, cost.pure_id);
            assay_bound_cite(out, cost.pure_id2);
        }
    }
    assay_sum_get(squares, &a);
    assay_sum_get(slack, &b);
    mpq_clear(square);
    assay_cost_clear(&cost);
    assay_sum_clear(&a);
    assay_sum_clear(&b);
    return status;
}

/* eps = S/2 + sqrt(2 S ln(1/delta)), or the delta that gives eps */
static assay_status advanced_ball(arb_t x, const mpq_t squares,
                                  const mpq_t target, int fixed_epsilon,
                                  assay_error *err)
{
    slong prec = ASSAY_PREC;
    arb_t s;
    arb_init(s);
    assay_arb_set_mpq(s, squares, prec);
    assay_arb_set_mpq(x, target, prec);
    assay_status status = ASSAY_OK;
    if (fixed_epsilon) {
        arb_mul_2exp_si(s, s, -1);
        arb_sub(x, x, s, prec); /* eps - S/2 */
        if (!arb_is_nonnegative(x)) {
            status = assay_fail(err, ASSAY_UNSUPPORTED,
                                "advanced composition does not reach the "
                                "target");
        }
        arb_sqr(x, x, prec);
        arb_mul_2exp_si(s, s, 2);
        arb_div(x, x, s, prec);
        arb_neg(x, x);
        arb_exp(x, x, prec);
    } else {
        arb_log(x, x, prec);
        arb_neg(x, x);
        arb_mul(x, x, s, prec);
        arb_mul_2exp_si(x, x, 1);
        arb_sqrt(x, x, prec);
        arb_mul_2exp_si(s, s, -1);
        arb_add(x, x, s, prec);
    }
    arb_clear(s);
    return status;
}

static assay_status advanced_answer(assay_bound *out, const assay_query *query,
                                    const mpq_t squares, const mpq_t slack,
                                    assay_error *err)
{
    mpq_t rest;
    arb_t x;
    mpq_init(rest);
    arb_init(x);
    mpq_sub(rest, query->target, slack);
    mpq_srcptr given = query->fixed_epsilon ? query->target : rest;
    mpq_ptr answer = query->fixed_epsilon ? out->delta : out->epsilon;
    assay_status status = ASSAY_OK;
    if (mpq_sgn(squares) == 0 ||
        (!query->fixed_epsilon && mpq_sgn(rest) <= 0)) {
        status = assay_fail(err, ASSAY_UNSUPPORTED,
                            "advanced composition needs epsilons above 0 and "
                            "a delta above the events' own");
    }
    if (status == ASSAY_OK) {
        status = advanced_ball(x, squares, given, query->fixed_epsilon, err);
    }
    if (status == ASSAY_OK && !assay_arb_upper(answer, x)) {
        status = assay_fail(err, ASSAY_RANGE, "advanced: out of range");
    }
    if (status == ASSAY_OK && query->fixed_epsilon) {
        mpq_add(answer, answer, slack);
        if (mpq_cmp_ui(answer, 1, 1) > 0) {
            mpq_set_ui(answer, 1, 1);
        }
    }
    assay_decimal_outward(answer, ASSAY_DIGITS, 1);
    mpq_set(query->fixed_epsilon ? out->epsilon : out->delta, query->target);
    mpq_clear(rest);
    arb_clear(x);
    return status;
}

assay_status assay_method_advanced(assay_bound *out, const assay_query *query,
                                   assay_error *err)
{
    mpq_t squares, slack;
    mpq_init(squares);
    mpq_init(slack);
    assay_status status = square_sum(squares, slack, out, query->events, err);
    if (status == ASSAY_OK) {
        assay_bound_cite(out, mpq_sgn(slack) > 0 ? "compose-advanced-approx"
                                                 : "compose-advanced");
        status = advanced_answer(out, query, squares, slack, err);
    }
    mpq_clear(squares);
    mpq_clear(slack);
    return status;
}
