/* ring: glue */
#include "accountant/pmf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/pmf_parts.h"

void assay_pmf_init(assay_pmf *pmf)
{
    memset(pmf, 0, sizeof *pmf);
}

void assay_pmf_clear(assay_pmf *pmf)
{
    free(pmf->index);
    free(pmf->mass);
    memset(pmf, 0, sizeof *pmf);
}

static int grow(assay_pmf *pmf)
{
    size_t wanted = pmf->capacity == 0 ? 256 : 2 * pmf->capacity;
    int64_t *index = realloc(pmf->index, wanted * sizeof *index);
    if (index == NULL) {
        pmf->failed = 1;
        return 0;
    }
    pmf->index = index;
    double *mass = realloc(pmf->mass, wanted * sizeof *mass);
    if (mass == NULL) {
        pmf->failed = 1;
        return 0;
    }
    pmf->mass = mass;
    pmf->capacity = wanted;
    return 1;
}

void assay_pmf_put(assay_pmf *pmf, int64_t index, double mass)
{
    if (mass <= 0.0) {
        return;
    }
    if (pmf->num > 0 && pmf->index[pmf->num - 1] == index) {
        pmf->mass[pmf->num - 1] = assay_up(pmf->mass[pmf->num - 1] + mass);
        return;
    }
    if (pmf->num == pmf->capacity && !grow(pmf)) {
        return;
    }
    pmf->index[pmf->num] = index;
    pmf->mass[pmf->num++] = mass;
}

typedef struct item {
    int64_t index;
    double mass;
} item;

static int by_index(const void *a, const void *b)
{
    int64_t x = ((const item *)a)->index;
    int64_t y = ((const item *)b)->index;
    return (x > y) - (x < y);
}

void assay_pmf_sort(assay_pmf *pmf)
{
    item *items = malloc((pmf->num + 1) * sizeof *items);
    if (items == NULL) {
        pmf->failed = 1;
        return;
    }
    size_t n = pmf->num;
    for (size_t i = 0; i < n; i++) {
        items[i] = (item){pmf->index[i], pmf->mass[i]};
    }
    qsort(items, n, sizeof *items, by_index);
    pmf->num = 0;
    for (size_t i = 0; i < n; i++) {
        assay_pmf_put(pmf, items[i].index, items[i].mass);
    }
    free(items);
}

/* ---- splitting one cell ---- */

double assay_ball_up(const arb_t x)
{
    arf_t bound;
    arf_init(bound);
    arb_get_ubound_arf(bound, x, 64);
    double d = arf_get_d(bound, ARF_RND_CEIL);
    arf_clear(bound);
    return d > 0.0 ? d : 0.0;
}

double assay_ball_down(const arb_t x)
{
    arf_t bound;
    arf_init(bound);
    arb_get_lbound_arf(bound, x, 64);
    double d = arf_get_d(bound, ARF_RND_FLOOR);
    arf_clear(bound);
    return d > 0.0 ? d : 0.0;
}

/* b = (p - q e^{l0}) / (1 - e^{l0 - l1}), a = p - b */
void assay_pmf_split(assay_pmf *out, int64_t low, int64_t high, const arb_t p,
                     const arb_t q, int bits)
{
    slong prec = ASSAY_PMF_PREC;
    if (low == high) {
        assay_pmf_put(out, low, assay_ball_up(p));
        return;
    }
    arb_t a, b, t;
    arb_init(a);
    arb_init(b);
    arb_init(t);
    arb_set_si(t, low);
    arb_mul_2exp_si(t, t, -bits);
    arb_exp(t, t, prec);
    arb_mul(b, q, t, prec);
    arb_sub(b, p, b, prec);
    arb_set_si(t, low - high);
    arb_mul_2exp_si(t, t, -bits);
    arb_expm1(t, t, prec);
    arb_neg(t, t);
    arb_div(b, b, t, prec);
    if (arb_is_negative(b)) {
        arb_zero(b);
    }
    arb_sub(a, p, b, prec);
    assay_pmf_put(out, low, assay_ball_up(a));
    assay_pmf_put(out, high, assay_ball_up(b));
    arb_clear(a);
    arb_clear(b);
    arb_clear(t);
}

/* An atom at the ball `loss` with masses p, q: to the nodes around it. */
void assay_pmf_atom(assay_pmf *out, const arb_t loss, const arb_t p,
                    const arb_t q, int bits)
{
    double near = arf_get_d(arb_midref(loss), ARF_RND_NEAR);
    double scaled = ldexp(near, bits);
    int64_t low = (int64_t)floor(scaled);
    double rest = scaled - (double)low;
    arb_t node;
    arb_init(node);
    arb_set_si(node, rest > 0.5 ? low + 1 : low);
    arb_mul_2exp_si(node, node, -bits);
    if (arb_eq(node, loss)) { /* exactly on the grid */
        assay_pmf_put(out, rest > 0.5 ? low + 1 : low, assay_ball_up(p));
    } else if (rest > 0.5 && arb_gt(loss, node)) {
        assay_pmf_split(out, low + 1, low + 2, p, q, bits);
    } else if (rest <= 0.5 && arb_lt(loss, node)) {
        assay_pmf_split(out, low - 1, low, p, q, bits);
    } else {
        assay_pmf_split(out, low, low + 1, p, q, bits);
    }
    arb_clear(node);
}

/* ---- the public coin ---- */

static void apply_coin(assay_pmf *pmf, mpq_srcptr coin)
{
    if (mpq_cmp_ui(coin, 1, 1) >= 0) {
        return;
    }
    arb_t c;
    arb_init(c);
    assay_arb_set_mpq(c, coin, ASSAY_PMF_PREC);
    double run = assay_ball_up(c);
    arb_sub_ui(c, c, 1, ASSAY_PMF_PREC);
    arb_neg(c, c);
    for (size_t i = 0; i < pmf->num; i++) {
        pmf->mass[i] = assay_up(pmf->mass[i] * run);
    }
    pmf->infinite = assay_up(pmf->infinite * run);
    assay_pmf_put(pmf, 0, assay_ball_up(c));
    arb_clear(c);
}

assay_status assay_pmf_covers(const assay_event *event, assay_error *err)
{
    return assay_pmf_is_smooth(event) || assay_pmf_is_atomic(event)
               ? ASSAY_OK
               : assay_fail(err, ASSAY_UNSUPPORTED,
                            "%s%s: no dominating pair is known here for these "
                            "parameters",
                            event->sampling == ASSAY_SAMPLE_ALL ? ""
                                                                : "sampled ",
                            assay_mechanism_name(event->mechanism));
}

assay_status assay_pmf_event(assay_pmf *remove, assay_pmf *add, int *symmetric,
                             const assay_event *event, const assay_grid *grid,
                             assay_error *err)
{
    assay_status status = assay_pmf_covers(event, err);
    if (status != ASSAY_OK) {
        return status;
    }
    *symmetric = event->sampling != ASSAY_SAMPLE_POISSON;
    status = assay_pmf_is_smooth(event)
                 ? assay_pmf_smooth(remove, add, event, grid, err)
                 : assay_pmf_atoms(remove, add, event, grid, err);
    if (status != ASSAY_OK) {
        return status;
    }
    apply_coin(remove, event->coin);
    apply_coin(add, event->coin);
    assay_pmf_sort(remove);
    assay_pmf_sort(add);
    return remove->failed || add->failed
               ? assay_fail(err, ASSAY_MEMORY, "no memory for a distribution")
               : ASSAY_OK;
}

/* A loss as the grid point at or below it. */
static int64_t floor_of(const arb_t loss, int bits)
{
    arf_t low;
    arf_init(low);
    arb_get_lbound_arf(low, loss, 64);
    double l = arf_get_d(low, ARF_RND_FLOOR);
    arf_clear(low);
    return (int64_t)floor(ldexp(l, bits));
}

/* An atom of loss z and mass p under Poisson sampling at a rate: the mixture
   rate P + (1 - rate) Q, Q = P e^-z, against Q, or the other way round. */
static void sample_atom(arb_t z, arb_t p, const arb_t rate, int add)
{
    slong prec = ASSAY_PMF_PREC;
    arb_t q, mixed;
    arb_init(q);
    arb_init(mixed);
    arb_neg(q, z);
    arb_exp(q, q, prec);
    arb_mul(q, q, p, prec);
    arb_sub(mixed, p, q, prec);
    arb_mul(mixed, mixed, rate, prec);
    arb_add(mixed, mixed, q, prec);
    arb_expm1(z, z, prec);
    arb_mul(z, z, rate, prec);
    arb_log1p(z, z, prec);
    if (add) {
        arb_neg(z, z);
        arb_set(p, q);
    } else {
        arb_set(p, mixed);
    }
    arb_clear(q);
    arb_clear(mixed);
}

/* The atoms of the event without its sampling. */
static assay_status whole_atoms(assay_atoms *out, const assay_event *event,
                                double tail, assay_error *err)
{
    assay_event whole;
    assay_status status = assay_event_copy(&whole, event, err);
    if (status != ASSAY_OK) {
        return status;
    }
    whole.sampling = ASSAY_SAMPLE_ALL;
    mpq_set_ui(whole.rate, 1, 1);
    status = assay_atoms_event(out, &whole, tail, err);
    assay_event_clear(&whole);
    return status;
}

/* Atoms move down to the grid. */
static assay_status atoms_lower(assay_pmf *out, const assay_event *event,
                                const assay_grid *grid, int add,
                                assay_error *err)
{
    assay_atoms atoms = {.capacity = 50000};
    atoms.loss = _arb_vec_init((slong)atoms.capacity);
    atoms.mass = _arb_vec_init((slong)atoms.capacity);
    assay_status status = atoms.loss != NULL && atoms.mass != NULL
                              ? whole_atoms(&atoms, event, grid->tail, err)
                              : ASSAY_MEMORY;
    arb_t rate;
    arb_init(rate);
    assay_arb_set_mpq(rate, event->rate, ASSAY_PMF_PREC);
    for (size_t i = 0; i < atoms.num && status == ASSAY_OK; i++) {
        if (event->sampling == ASSAY_SAMPLE_POISSON) {
            sample_atom(&atoms.loss[i], &atoms.mass[i], rate, add);
        }
        assay_pmf_put(out, floor_of(&atoms.loss[i], grid->bits),
                      assay_ball_down(&atoms.mass[i]));
    }
    arb_clear(rate);
    _arb_vec_clear(atoms.loss, (slong)atoms.capacity);
    _arb_vec_clear(atoms.mass, (slong)atoms.capacity);
    return status;
}

static void coin_lower(assay_pmf *pmf, mpq_srcptr coin)
{
    if (mpq_cmp_ui(coin, 1, 1) >= 0) {
        return;
    }
    arb_t c;
    arb_init(c);
    assay_arb_set_mpq(c, coin, ASSAY_PMF_PREC);
    double run = assay_ball_down(c);
    arb_sub_ui(c, c, 1, ASSAY_PMF_PREC);
    arb_neg(c, c);
    for (size_t i = 0; i < pmf->num; i++) {
        pmf->mass[i] = nextafter(pmf->mass[i] * run, 0.0);
    }
    assay_pmf_put(pmf, 0, assay_ball_down(c));
    arb_clear(c);
}

/* assay_pmf_put rounds sums up: take two units off each mass that was summed,
   which is what every mass loses here. */
static void settle(assay_pmf *pmf)
{
    for (size_t i = 0; i < pmf->num; i++) {
        pmf->mass[i] *= 1.0 - 0x1p-40;
    }
}

assay_status assay_pmf_event_lower(assay_pmf *out, const assay_event *event,
                                   const assay_grid *grid, int add,
                                   assay_error *err)
{
    if (event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "sampling without replacement has no lower bound");
    }
    assay_status status =
        assay_pmf_is_smooth(event)
            ? assay_pmf_smooth_lower(out, event, grid, add, err)
            : atoms_lower(out, event, grid, add, err);
    if (status != ASSAY_OK) {
        return status;
    }
    coin_lower(out, event->coin);
    assay_pmf_sort(out);
    settle(out);
    return out->failed
               ? assay_fail(err, ASSAY_MEMORY, "no memory for a distribution")
               : ASSAY_OK;
}
