/* ring: glue */
/*
 * Rényi composition: add the moments at one order, convert once. Any order is
 * valid: the search is loose and in doubles, the order found is evaluated once
 * in balls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/account.h"
#include "accountant/bookkeeping.h"
#include "accountant/moment.h"
#include "accountant/numeric.h"
#include "core/rational.h"

#define MAX_ORDER ((double)ASSAY_ORDER_MAX)
#define ROW 24

typedef struct renyi {
    size_t num;
    assay_moment *moments;
    mpq_t slack; /* sum of the events' own deltas */
    int integer_only;
    double target; /* -log delta, or epsilon */
    int fixed_epsilon;
} renyi;

static void renyi_clear(renyi *r)
{
    for (size_t i = 0; i < r->num; i++) {
        assay_moment_clear(&r->moments[i]);
    }
    free(r->moments);
    mpq_clear(r->slack);
}

static assay_status renyi_init(renyi *r, assay_bound *out,
                               const assay_query *query, assay_error *err)
{
    const assay_event_list *list = query->events;
    *r = (renyi){0};
    mpq_init(r->slack);
    r->moments = calloc(list->num_events + 1, sizeof *r->moments);
    if (r->moments == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for moments");
    }
    assay_sum slack;
    assay_status status = ASSAY_OK;
    assay_sum_init(&slack);
    for (size_t i = 0; i < list->num_events && status == ASSAY_OK; i++) {
        assay_moment *m = &r->moments[r->num];
        status = assay_moment_init(m, &list->events[i], list->neighbours, err);
        if (status == ASSAY_OK) {
            r->num++;
            r->integer_only |= m->integer_only;
            assay_sum_add(&slack, m->cost.delta, list->events[i].count);
            assay_moment_cite(out, m);
        }
    }
    assay_sum_get(r->slack, &slack);
    assay_sum_clear(&slack);
    return status;
}

/* The answer through one order, near: epsilon, or log delta. */
static double objective(const renyi *r, double order)
{
    double moment = 0.0;
    for (size_t i = 0; i < r->num; i++) {
        moment += assay_moment_near(&r->moments[i], order);
    }
    double b = order - 1.0;
    double conv = order * log1p(-1.0 / order) - log(b);
    if (!isfinite(moment)) {
        return 1e300;
    }
    return r->fixed_epsilon ? moment - b * r->target + conv
                            : (moment + r->target + conv) / b;
}

static double clean(const renyi *r, double log_b)
{
    double order = fmin(1.0 + exp(log_b), MAX_ORDER);
    return r->integer_only
               ? (double)assay_order_step((int64_t)floor(order + 0.5), 0)
               : order;
}

/* The objective may have several valleys (sampling without replacement): the
   best of a coarse row of orders says which one to descend into. */
static void bracket(const renyi *r, double *low, double *high)
{
    double from = *low;
    double step = (*high - from) / ROW;
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i <= ROW; i++) {
        double value = objective(r, clean(r, from + step * i));
        if (value < least) {
            least = value;
            best = i;
        }
    }
    int64_t first = 0;
    int64_t last = 0;
    assay_order_bracket(&first, &last, best, ROW);
    *low = from + step * (double)first;
    *high = from + step * (double)last;
}

static double search(const renyi *r)
{
    double low = r->integer_only ? 0.0 : -6.0;
    double high = log(MAX_ORDER);
    bracket(r, &low, &high);
    for (int i = 0; i < 40 && high - low > 1e-9; i++) {
        double x = low + 0.381966 * (high - low);
        double y = high - 0.381966 * (high - low);
        double cx = clean(r, x);
        double cy = clean(r, y);
        if (r->integer_only && fabs(cx - cy) < 0.5) {
            break;
        }
        if (objective(r, cx) <= objective(r, cy)) {
            high = y;
        } else {
            low = x;
        }
    }
    double best = clean(r, 0.5 * (low + high));
    if (r->integer_only) {
        int64_t around = (int64_t)best;
        for (int i = -2; i <= 2; i++) {
            double o = (double)assay_order_step(around, i);
            best = objective(r, o) < objective(r, best) ? o : best;
        }
    }
    return best;
}

static int total_ball(arb_t out, const renyi *r, const mpq_t order)
{
    arb_t one, n;
    mpz_t count;
    int ok = 1;
    arb_init(one);
    arb_init(n);
    mpz_init(count);
    arb_zero(out);
    for (size_t i = 0; i < r->num && ok; i++) {
        fmpz_t c;
        fmpz_init(c);
        ok = assay_moment_ball(one, &r->moments[i], order, ASSAY_PREC);
        assay_mpz_set_u64(count, r->moments[i].event->count);
        fmpz_set_mpz(c, count);
        arb_addmul_fmpz(out, one, c, ASSAY_PREC);
        fmpz_clear(c);
    }
    mpz_clear(count);
    arb_clear(n);
    arb_clear(one);
    return ok && arb_is_finite(out);
}

/* Rounded up, so that a certificate can carry it. */
static int divergence(mpq_t value, const renyi *r, const mpq_t order)
{
    arb_t moment, b;
    arb_init(moment);
    arb_init(b);
    int ok = total_ball(moment, r, order);
    if (ok) {
        assay_arb_set_mpq(b, order, ASSAY_PREC);
        arb_sub_ui(b, b, 1, ASSAY_PREC);
        arb_div(moment, moment, b, ASSAY_PREC);
        ok = assay_arb_upper(value, moment);
        if (ok && mpq_sgn(value) < 0) {
            mpq_set_ui(value, 0, 1);
        }
        assay_decimal_outward(value, ASSAY_DIGITS + 5, 1);
    }
    arb_clear(moment);
    arb_clear(b);
    return ok;
}

static assay_status finish(assay_bound *out, const renyi *r,
                           const assay_query *query, assay_error *err)
{
    mpq_t rest, rho;
    assay_status status = ASSAY_OK;
    mpq_init(rest);
    mpq_init(rho);
    mpq_div(rho, out->value, out->alpha); /* D_a = a rho, at this order only */
    if (query->fixed_epsilon) {
        mpq_set(out->epsilon, query->target);
        status =
            assay_zcdp_delta(out->delta, rho, query->target, out->alpha, err);
        mpq_add(out->delta, out->delta, r->slack);
        if (mpq_cmp_ui(out->delta, 1, 1) > 0) {
            mpq_set_ui(out->delta, 1, 1);
        }
        assay_decimal_outward(out->delta, ASSAY_DIGITS, 1);
    } else {
        mpq_set(out->delta, query->target);
        mpq_sub(rest, query->target, r->slack);
        status = assay_renyi_epsilon(out->epsilon, out->value, rest, out->alpha,
                                     err);
    }
    mpq_clear(rest);
    mpq_clear(rho);
    return status;
}

static assay_status run(assay_bound *out, renyi *r, const assay_query *query,
                        assay_error *err)
{
    mpq_t rest;
    mpq_init(rest);
    mpq_sub(rest, query->target, r->slack);
    r->fixed_epsilon = query->fixed_epsilon;
    r->target = query->fixed_epsilon ? mpq_get_d(query->target)
                                     : -assay_log_double(rest);
    int fits = query->fixed_epsilon || mpq_sgn(rest) > 0;
    mpq_clear(rest);
    if (!fits) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "renyi needs a delta above the events' own");
    }
    double order = search(r);
    if (r->integer_only) {
        mpq_set_d(out->alpha, order);
    } else {
        mpq_t one;
        mpq_init(one);
        mpq_set_ui(one, 1, 1);
        assay_mpq_set_near(out->alpha, order - 1.0, 16);
        mpq_add(out->alpha, out->alpha, one);
        mpq_clear(one);
    }
    if (!divergence(out->value, r, out->alpha)) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "renyi: no order of the curve fits");
    }
    return finish(out, r, query, err);
}

assay_status assay_method_renyi(assay_bound *out, const assay_query *query,
                                assay_error *err)
{
    renyi r;
    assay_status status = renyi_init(&r, out, query, err);
    if (status == ASSAY_OK) {
        assay_bound_cite(out, "compose-renyi");
        assay_bound_cite(out, "renyi-to-dp");
        status = run(out, &r, query, err);
    }
    renyi_clear(&r);
    return status;
}
