/* ring: glue */
/*
 * Exact convolution on a lattice. Where all losses of an event are multiples of
 * one unit (randomised response, a fixed epsilon, discrete noise), n runs are
 * the n-th power of a polynomial. Its coefficients are balls, so the profile
 *   delta(eps) = sum over l > eps of p(l) (1 - e^{eps - l}), plus infinity,
 * is known to any accuracy from above and below. For a fixed (epsilon, delta)
 * this is the optimal composition of Kairouz, Oh and Viswanath.
 */
#include <arb_poly.h>
#include <math.h>
#include <stdlib.h>

#include "accountant/account.h"
#include "accountant/numeric.h"
#include "accountant/pmf_parts.h"
#include "accountant/solve.h"
#include "core/rational.h"

#define MAX_LENGTH 30000.0
#define PREC 256

typedef struct lattice {
    arb_t unit;
    slong low; /* index of the first coefficient */
    slong num;
    arb_ptr above_p; /* sums over coefficients i, i+1, ... */
    arb_ptr above_q;
    arb_t infinite;
} lattice;

/* The lattice unit of an event's losses. */
static void set_unit(arb_t unit, const assay_event *event,
                     const assay_atoms *atoms)
{
    mpq_t u;
    mpq_init(u);
    if (event->mechanism == ASSAY_DISCRETE_LAPLACE) {
        mpq_inv(u, event->scale);
        assay_arb_set_mpq(unit, u, PREC);
    } else if (event->mechanism == ASSAY_DISCRETE_GAUSSIAN) {
        /* losses (2x - s) s / (2 sigma2): the gap of the first two, halved */
        arb_sub(unit, &atoms->loss[1], &atoms->loss[0], PREC);
        arb_mul_2exp_si(unit, unit, -1);
    } else {
        arb_abs(unit, &atoms->loss[0]);
    }
    mpq_clear(u);
}

static slong index_of(const arb_t loss, double unit)
{
    double l = arf_get_d(arb_midref(loss), ARF_RND_NEAR);
    return (slong)floor(l / unit + 0.5);
}

/* The event's polynomial, and the index of its first coefficient. */
static slong to_poly(arb_poly_t poly, const assay_atoms *atoms,
                     const assay_event *event, double unit)
{
    slong low = 0;
    arb_t mass, coin;
    arb_init(mass);
    arb_init(coin);
    for (size_t i = 0; i < atoms->num; i++) {
        slong at = index_of(&atoms->loss[i], unit);
        low = at < low ? at : low;
    }
    assay_arb_set_mpq(coin, event->coin, PREC);
    for (size_t i = 0; i < atoms->num; i++) {
        slong at = index_of(&atoms->loss[i], unit) - low;
        arb_poly_get_coeff_arb(mass, poly, at);
        arb_addmul(mass, &atoms->mass[i], coin, PREC);
        arb_poly_set_coeff_arb(poly, at, mass);
    }
    arb_sub_ui(coin, coin, 1, PREC);
    arb_neg(coin, coin);
    arb_poly_get_coeff_arb(mass, poly, -low);
    arb_add(mass, mass, coin, PREC);
    arb_poly_set_coeff_arb(poly, -low, mass);
    arb_clear(mass);
    arb_clear(coin);
    return low;
}

/* Suffix sums of p and of q = p e^{-l}. */
static void sums(lattice *out, const arb_poly_t power)
{
    arb_t e, step, p;
    arb_init(e);
    arb_init(step);
    arb_init(p);
    out->num = arb_poly_length(power);
    out->above_p = _arb_vec_init(out->num + 1);
    out->above_q = _arb_vec_init(out->num + 1);
    arb_mul_si(e, out->unit, -(out->low + out->num - 1), PREC);
    arb_exp(e, e, PREC);
    arb_exp(step, out->unit, PREC);
    for (slong i = out->num - 1; i >= 0; i--) {
        arb_poly_get_coeff_arb(p, power, i);
        arb_add(out->above_p + i, out->above_p + i + 1, p, PREC);
        arb_mul(p, p, e, PREC);
        arb_add(out->above_q + i, out->above_q + i + 1, p, PREC);
        arb_mul(e, e, step, PREC);
    }
    arb_clear(e);
    arb_clear(step);
    arb_clear(p);
}

static void at_index(arb_t delta, const lattice *l, slong i, const arb_t growth,
                     slong prec)
{
    i = i < 0 ? 0 : i > l->num ? l->num : i;
    arb_mul(delta, growth, l->above_q + i, prec);
    arb_sub(delta, l->above_p + i, delta, prec);
}

static void lattice_profile(arb_t delta, const mpq_t epsilon,
                            const void *context, slong prec)
{
    const lattice *l = context;
    arb_t e, place, other;
    arb_init(e);
    arb_init(place);
    arb_init(other);
    assay_arb_set_mpq(e, epsilon, prec);
    arb_div(place, e, l->unit, prec);
    double near = arf_get_d(arb_midref(place), ARF_RND_NEAR);
    slong i = (slong)floor(near) + 1 - l->low; /* first loss above epsilon */
    arb_exp(e, e, prec);
    at_index(delta, l, i, e, prec);
    /* next to a lattice point rounding may have taken the wrong side */
    at_index(other, l, i - 1, e, prec);
    arb_max(delta, delta, other, prec);
    at_index(other, l, i + 1, e, prec);
    arb_max(delta, delta, other, prec);
    arb_zero(other);
    arb_max(delta, delta, other, prec);
    arb_add(delta, delta, l->infinite, prec);
    arb_clear(e);
    arb_clear(place);
    arb_clear(other);
}

/* 1 - (1 - d)^n of infinite loss; the finite part already carries (1-d)^n. */
static void set_infinite(arb_t out, const assay_event *event,
                         const assay_atoms *atoms, uint64_t count)
{
    arb_t x;
    arb_init(x);
    arb_set_d(x, atoms->infinite);
    if (event->mechanism == ASSAY_DISCRETE_GAUSSIAN) {
        arb_union(x, x, out, PREC); /* at most that: out is 0 here */
    }
    if ((event->mechanism == ASSAY_APPROXIMATE ||
         event->mechanism == ASSAY_UNKNOWN_KEYS) &&
        event->group == 1) {
        assay_arb_set_mpq(x, event->delta, PREC);
    }
    assay_arb_set_mpq(out, event->coin, PREC);
    arb_mul(x, x, out, PREC);
    arb_neg(x, x);
    arb_log1p(x, x, PREC);
    arb_mul_ui(x, x, count, PREC);
    arb_expm1(x, x, PREC);
    arb_neg(out, x);
    arb_clear(x);
}

static assay_status build(lattice *out, const assay_event *event,
                          uint64_t count, double tail, assay_error *err)
{
    assay_atoms atoms = {.capacity = 50000};
    atoms.loss = _arb_vec_init((slong)atoms.capacity);
    atoms.mass = _arb_vec_init((slong)atoms.capacity);
    arb_poly_t poly;
    arb_poly_init(poly);
    assay_status status = atoms.loss != NULL && atoms.mass != NULL
                              ? assay_atoms_event(&atoms, event, tail, err)
                              : ASSAY_MEMORY;
    if (status == ASSAY_OK) {
        set_unit(out->unit, event, &atoms);
        double unit = arf_get_d(arb_midref(out->unit), ARF_RND_NEAR);
        if (!(unit > 0.0)) {
            status = assay_fail(err, ASSAY_UNSUPPORTED, "all losses are zero");
        }
        slong low = status == ASSAY_OK ? to_poly(poly, &atoms, event, unit) : 0;
        double length = (double)count * (double)arb_poly_length(poly);
        if (status == ASSAY_OK && length > MAX_LENGTH) {
            status =
                assay_fail(err, ASSAY_UNSUPPORTED, "lattice: too many losses");
        }
        if (status == ASSAY_OK) {
            arb_poly_pow_ui(poly, poly, count, PREC);
            out->low = low * (slong)count;
            sums(out, poly);
            set_infinite(out->infinite, event, &atoms, count);
        }
    }
    arb_poly_clear(poly);
    _arb_vec_clear(atoms.loss, (slong)atoms.capacity);
    _arb_vec_clear(atoms.mass, (slong)atoms.capacity);
    return status;
}

/* All events of one kind: the sum of their counts. */
static assay_status one_kind(uint64_t *count, const assay_event_list *list,
                             assay_error *err)
{
    *count = 0;
    for (size_t i = 0; i < list->num_events; i++) {
        const assay_event *event = &list->events[i];
        if (i > 0 && !assay_event_same_kind(event, &list->events[0])) {
            return assay_fail(err, ASSAY_UNSUPPORTED,
                              "lattice: the events are of several kinds");
        }
        if (event->count > 1000000 || *count > 1000000) {
            return assay_fail(err, ASSAY_UNSUPPORTED,
                              "lattice: too many losses");
        }
        *count += event->count * assay_pmf_repeats(event);
    }
    return list->num_events > 0
               ? ASSAY_OK
               : assay_fail(err, ASSAY_UNSUPPORTED, "lattice: no events");
}

static void cite(assay_bound *out, const assay_event *event)
{
    assay_cost cost;
    assay_cost_init(&cost);
    if (event->mechanism == ASSAY_DISCRETE_LAPLACE ||
        event->mechanism == ASSAY_DISCRETE_GAUSSIAN) {
        assay_bound_cite(out, "discrete-noise-loss");
        assay_bound_cite(out, assay_pmf_vector_id(event));
    } else if (assay_event_cost(&cost, event, ASSAY_REPLACE_ONE, NULL) ==
               ASSAY_OK) {
        assay_bound_cite(out, cost.pure_id);
        assay_bound_cite(out, cost.pure_id2);
        assay_bound_cite(out, event->mechanism == ASSAY_RANDOMIZED_RESPONSE
                                  ? NULL
                                  : "response-dominates");
    }
    assay_bound_cite(out,
                     mpq_cmp_ui(event->coin, 1, 1) < 0 ? "public-coin" : NULL);
    assay_bound_cite(out, "dominating-pair-composition");
    assay_cost_clear(&cost);
}

assay_status assay_method_lattice(assay_bound *out, const assay_query *query,
                                  assay_error *err)
{
    uint64_t count = 0;
    lattice l = {0};
    assay_status status = one_kind(&count, query->events, err);
    if (status != ASSAY_OK) {
        return status;
    }
    const assay_event *event = &query->events->events[0];
    double log_delta =
        query->fixed_epsilon ? -300.0 : assay_log_double(query->target);
    double tail = exp(fmax(-600.0, log_delta - 40.0 - log((double)count)));
    arb_init(l.unit);
    arb_init(l.infinite);
    cite(out, event);
    status = build(&l, event, count, tail, err);
    if (status == ASSAY_OK) {
        status = assay_solve_profile(out, query, lattice_profile, &l, err);
    }
    if (l.above_p != NULL) {
        _arb_vec_clear(l.above_p, l.num + 1);
        _arb_vec_clear(l.above_q, l.num + 1);
    }
    arb_clear(l.unit);
    arb_clear(l.infinite);
    return status;
}
