/* ring: glue */
#include "accountant/stable.h"

#include "accountant/calibrate.h"
#include "accountant/numeric.h"

#define MOST ((int64_t)1 << 50)

void assay_stable_plan_init(assay_stable_plan *plan)
{
    *plan = (assay_stable_plan){0};
    plan->unit = 1;
    mpq_inits(plan->least, plan->most, plan->epsilon, plan->delta, NULL);
}

void assay_stable_plan_clear(assay_stable_plan *plan)
{
    mpq_clears(plan->least, plan->most, plan->epsilon, plan->delta, NULL);
}

void assay_stable_event(assay_event *event, const assay_stable_plan *plan)
{
    assay_event_init(event, ASSAY_APPROXIMATE);
    mpq_mul_2exp(event->epsilon, plan->epsilon, 1);
    mpq_set(event->delta, plan->delta);
    event->count = plan->num_draws;
    event->assumed = 1;
}

static assay_status check(const assay_stable_plan *plan, assay_error *err)
{
    if (plan->num_draws == 0 || plan->num_draws > ((uint64_t)1 << 20)) {
        return assay_fail(err, ASSAY_INVALID,
                          "a release of prefixes needs 1 to 2^20 draws");
    }
    if (plan->cap < 2 || plan->cap > ((uint64_t)1 << 20) || plan->unit < 1) {
        return assay_fail(err, ASSAY_INVALID,
                          "the length cap must lie in 2 to 2^20");
    }
    if (mpq_sgn(plan->least) <= 0 || mpq_cmp_ui(plan->most, 1, 1) > 0 ||
        mpq_cmp(plan->least, plan->most) > 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs 0 < p_min <= p_max <= 1: a prefix of experts "
                          "who never do something is never stable");
    }
    return ASSAY_OK;
}

assay_status assay_stable_calibrate(assay_stable_plan *plan,
                                    const mpq_t epsilon, const mpq_t delta,
                                    assay_error *err)
{
    static const assay_account_options exact = {.method = "lattice"};
    assay_event event;
    assay_event_list list;
    assay_target target;
    assay_status status = check(plan, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (mpq_sgn(epsilon) <= 0 || mpq_sgn(delta) <= 0 ||
        mpq_cmp_ui(delta, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs epsilon above 0 and delta in (0, 1)");
    }
    mpq_set_ui(plan->delta, 1, (unsigned long)(2 * plan->num_draws));
    mpq_mul(plan->delta, plan->delta, delta);
    mpq_set_ui(plan->epsilon, 1, 1);
    assay_stable_event(&event, plan);
    assay_event_list_init(&list, ASSAY_ADD_REMOVE, "expert");
    assay_target_init(&target);
    mpq_set(target.epsilon, epsilon);
    mpq_set(target.delta, delta);
    status = assay_event_list_add(&list, &event, err);
    if (status == ASSAY_OK) {
        status = assay_calibrate_noise(&list, 0, &target, &exact, NULL, err);
    }
    if (status == ASSAY_OK) {
        mpq_div_2exp(plan->epsilon, list.events[0].epsilon, 1);
    }
    assay_target_clear(&target);
    assay_event_list_clear(&list);
    assay_event_clear(&event);
    return status;
}

void assay_stable_scales(mpq_t threshold, mpq_t query,
                         const assay_stable_plan *plan)
{
    mpq_set_si(threshold, 2 * plan->unit, 1);
    mpq_div(threshold, threshold, plan->epsilon);
    mpq_set(query, threshold);
    if (plan->bar == ASSAY_BAR_PRINTED) {
        mpq_mul_2exp(query, query, 1);
    }
}

/* 1 if the tail at s is certainly at most delta */
static int tail_fits(int64_t s, const arb_t q, const arb_t delta)
{
    arb_t a, b, one;
    int fits;
    arb_init(a);
    arb_init(b);
    arb_init(one);
    arb_add_ui(one, q, 1, ASSAY_PREC); /* 1 + q */
    arb_sub_ui(a, q, 1, ASSAY_PREC);
    arb_neg(a, a);
    arb_mul_si(a, a, s + 1, ASSAY_PREC);
    arb_add(a, a, q, ASSAY_PREC);
    arb_mul(b, q, q, ASSAY_PREC);
    arb_mul_2exp_si(b, b, 1);
    arb_div(b, b, one, ASSAY_PREC);
    arb_add(a, a, b, ASSAY_PREC);
    arb_div(a, a, one, ASSAY_PREC);
    arb_div(a, a, one, ASSAY_PREC);
    arb_pow_ui(b, q, (ulong)s, ASSAY_PREC);
    arb_mul(a, a, b, ASSAY_PREC);
    fits = arb_le(a, delta);
    arb_clear(a);
    arb_clear(b);
    arb_clear(one);
    return fits;
}

static assay_status too_small(assay_error *err)
{
    return assay_fail(err, ASSAY_RANGE,
                      "epsilon is too small to release anything: the "
                      "threshold passes 2^50 steps");
}

assay_status assay_stable_shift(int64_t *out, const mpq_t scale,
                                const mpq_t delta, assay_error *err)
{
    int64_t low = 0;
    int64_t high = 1;
    arb_t q, d;
    arb_init(q);
    arb_init(d);
    assay_arb_set_mpq(q, scale, ASSAY_PREC);
    arb_inv(q, q, ASSAY_PREC);
    arb_neg(q, q);
    arb_exp(q, q, ASSAY_PREC);
    assay_arb_set_mpq(d, delta, ASSAY_PREC);
    while (high < MOST && !tail_fits(high, q, d)) {
        low = high;
        high *= 2;
    }
    while (high < MOST && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        int fits = tail_fits(middle, q, d);
        high = fits ? middle : high;
        low = fits ? low : middle;
    }
    arb_clear(q);
    arb_clear(d);
    if (high >= MOST) {
        return too_small(err);
    }
    *out = high;
    return ASSAY_OK;
}

/* ceil(x), or 0 if it is not certainly below 2^50 */
static int64_t up(const arb_t x)
{
    mpq_t top;
    mpz_t whole;
    int64_t value = 0;
    mpq_init(top);
    mpz_init(whole);
    if (assay_arb_upper(top, x)) {
        mpz_cdiv_q(whole, mpq_numref(top), mpq_denref(top));
        value = mpz_cmp_si(whole, MOST) < 0 ? mpz_get_si(whole) : 0;
    }
    mpq_clear(top);
    mpz_clear(whole);
    return value;
}

/* unit * c_min / p_min, times p_max where counts are normalised */
static int64_t theta(const assay_stable_plan *plan)
{
    arb_t x;
    mpq_t r;
    arb_init(x);
    mpq_init(r);
    assay_arb_set_mpq(x, plan->epsilon, ASSAY_PREC);
    arb_neg(x, x);
    arb_expm1(x, x, ASSAY_PREC);
    arb_neg(x, x);
    arb_inv(x, x, ASSAY_PREC);
    mpq_inv(r, plan->least);
    if (plan->bar == ASSAY_BAR_NORMALISED) {
        mpq_mul(r, r, plan->most);
    }
    mpz_mul_si(mpq_numref(r), mpq_numref(r), plan->unit);
    mpq_canonicalize(r);
    arb_t y;
    arb_init(y);
    assay_arb_set_mpq(y, r, ASSAY_PREC);
    arb_mul(x, x, y, ASSAY_PREC);
    int64_t value = up(x);
    arb_clear(x);
    arb_clear(y);
    mpq_clear(r);
    return value;
}

/* (4/epsilon) log(1/delta) in steps: `scale` is the queries' */
static int64_t printed_shift(const mpq_t scale, const mpq_t delta)
{
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    assay_arb_set_mpq(x, delta, ASSAY_PREC);
    arb_log(x, x, ASSAY_PREC);
    arb_neg(x, x);
    assay_arb_set_mpq(y, scale, ASSAY_PREC);
    arb_mul(x, x, y, ASSAY_PREC);
    int64_t value = up(x);
    arb_clear(x);
    arb_clear(y);
    return value;
}

assay_status assay_stable_threshold(int64_t *out, const assay_stable_plan *plan,
                                    assay_error *err)
{
    int64_t base;
    int64_t shift = 0;
    mpq_t threshold, query, delta;
    assay_status status = check(plan, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (mpq_sgn(plan->epsilon) <= 0 || mpq_sgn(plan->delta) <= 0 ||
        mpq_cmp_ui(plan->delta, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID, "the plan is not calibrated");
    }
    mpq_inits(threshold, query, delta, NULL);
    assay_stable_scales(threshold, query, plan);
    mpq_set_ui(delta, 1, (unsigned long)plan->cap);
    mpq_mul(delta, delta, plan->delta);
    if (plan->bar == ASSAY_BAR_PRINTED) {
        shift = printed_shift(query, delta);
    } else {
        status = assay_stable_shift(&shift, query, delta, err);
    }
    base = theta(plan);
    if (status == ASSAY_OK && (base <= 0 || shift <= 0)) {
        status = too_small(err);
    }
    if (status == ASSAY_OK) {
        *out = base + shift;
    }
    mpq_clears(threshold, query, delta, NULL);
    return status;
}
