/* ring: glue */
/*
 * Finitely many losses: discrete Laplace and discrete Gaussian noise with
 * integer shifts, randomised response, and everything with a fixed
 * (epsilon, delta), which binary randomised response dominates (Kairouz, Oh,
 * Viswanath 2015).
 *
 * Vectors. For log-concave noise on the integers, independent per coordinate,
 * a change of l1 length D is dominated by one coordinate moving by D: the
 * trade-off functions of shifts satisfy f_a(1 - f_b) = f_{a+b}, and a change in
 * steps is dominated by that composition (Dong, Roth, Su 2022, Theorem 2.14).
 * For a squared l2 length of 1, 2 or 3 the integer change is that many ones.
 */
#include "accountant/account.h"
#include "accountant/pmf_parts.h"
#include "core/rational.h"

#define MAX_ATOMS 40000

typedef struct sink {
    assay_pmf *remove;
    assay_pmf *add;
    int poisson;
    int fold;
    int bits;
    arb_t rate, stay, placed;
    assay_atoms *exact; /* collect the atoms as they are instead */
} sink;

static int fixed_epsilon(assay_mechanism m)
{
    return m == ASSAY_PURE || m == ASSAY_APPROXIMATE || m == ASSAY_NOISY_MAX ||
           m == ASSAY_PERMUTE_AND_FLIP || m == ASSAY_SPARSE_VECTOR ||
           m == ASSAY_SNAPPING || m == ASSAY_TREE_LAPLACE ||
           m == ASSAY_EXPONENTIAL || m == ASSAY_SHUFFLE ||
           m == ASSAY_POST_PROCESSING || m == ASSAY_UNKNOWN_KEYS;
}

static int integer_below(const mpq_t q, unsigned long limit)
{
    return mpz_cmp_ui(mpq_denref(q), 1) == 0 &&
           mpz_cmp_ui(mpq_numref(q), limit) <= 0;
}

/* Cells that change by at most `entry` each: that many shifts (counts-pld). Not
   under sampling or a coin, which all cells share. */
static int counted(const assay_event *event)
{
    return event->cells > 0 && event->group == 1 &&
           event->sampling == ASSAY_SAMPLE_ALL &&
           mpq_cmp_ui(event->coin, 1, 1) == 0;
}

static unsigned long laplace_shift(const assay_event *event)
{
    return counted(event)
               ? event->entry
               : mpz_get_ui(mpq_numref(event->sensitivity)) * event->group;
}

/* Integer shift of a discrete Gaussian, 0 if not known: one number, or 1. */
static unsigned long gaussian_shift(const assay_event *event)
{
    if (event->cells > 0) {
        return counted(event) ? event->entry : 0;
    }
    mpz_t root;
    unsigned long shift = 0;
    mpz_init(root);
    mpz_fdiv_q(root, mpq_numref(event->sensitivity2),
               mpq_denref(event->sensitivity2));
    if (event->dimension == 1) {
        mpz_sqrt(root, root);
        if (mpz_cmp_ui(root, 1000) <= 0 && event->group <= 1000) {
            shift = mpz_get_ui(root) * event->group;
        }
    } else if (event->group == 1) {
        /* 1: one coordinate. 2 or 3: that many ones (assay_pmf_repeats), but
           not where sampling or a coin ties them together. */
        int alone = event->sampling == ASSAY_SAMPLE_ALL &&
                    mpq_cmp_ui(event->coin, 1, 1) == 0;
        shift = mpz_cmp_ui(root, alone ? 3 : 1) <= 0;
    }
    mpz_clear(root);
    return shift;
}

uint64_t assay_pmf_repeats(const assay_event *event)
{
    if (event->cells > 0) {
        return counted(event) ? event->cells : 1;
    }
    if (event->mechanism != ASSAY_DISCRETE_GAUSSIAN || event->dimension == 1) {
        return 1;
    }
    mpz_t whole;
    mpz_init(whole);
    mpz_fdiv_q(whole, mpq_numref(event->sensitivity2),
               mpq_denref(event->sensitivity2));
    uint64_t n = mpz_cmp_ui(whole, 3) <= 0 ? mpz_get_ui(whole) : 1;
    mpz_clear(whole);
    return n > 0 ? n : 1;
}

const char *assay_pmf_vector_id(const assay_event *event)
{
    int one =
        event->dimension == 1 || mpq_cmp_ui(event->sensitivity, 1, 1) <= 0;
    if (counted(event)) {
        return "counts-pld";
    }
    return event->mechanism == ASSAY_DISCRETE_LAPLACE && !one
               ? "vector-noise-loss"
               : NULL;
}

int assay_pmf_is_atomic(const assay_event *event)
{
    if (event->mechanism == ASSAY_DISCRETE_LAPLACE && counted(event)) {
        return 1;
    }
    if (event->mechanism == ASSAY_DISCRETE_LAPLACE) {
        return event->group <= 10000 &&
               integer_below(event->sensitivity, 10000) &&
               (event->group == 1 || event->sampling == ASSAY_SAMPLE_ALL) &&
               mpz_get_ui(mpq_numref(event->sensitivity)) * event->group <=
                   MAX_ATOMS;
    }
    if (event->mechanism == ASSAY_DISCRETE_GAUSSIAN) {
        return gaussian_shift(event) > 0 &&
               mpq_cmp_ui(event->sigma2, 250000, 1) <= 0 &&
               (event->group == 1 || event->sampling == ASSAY_SAMPLE_ALL);
    }
    return event->sampling == ASSAY_SAMPLE_ALL &&
           (event->mechanism == ASSAY_RANDOMIZED_RESPONSE ||
            fixed_epsilon(event->mechanism));
}

/* One atom of the unsampled pair: loss z, masses p (with) and q (without). */
static void put_atom(sink *s, const arb_t z, const arb_t p, const arb_t q)
{
    slong prec = ASSAY_PMF_PREC;
    if (s->exact != NULL) {
        if (s->exact->num < s->exact->capacity) {
            arb_set(&s->exact->loss[s->exact->num], z);
            arb_set(&s->exact->mass[s->exact->num++], p);
        }
        return;
    }
    if (!s->poisson && !s->fold) {
        assay_pmf_atom(s->remove, z, p, q, s->bits);
        return;
    }
    arb_t loss, mixed;
    arb_init(loss);
    arb_init(mixed);
    arb_expm1(loss, z, prec);
    arb_mul(loss, loss, s->rate, prec);
    arb_log1p(loss, loss, prec);
    arb_mul(mixed, p, s->rate, prec);
    arb_addmul(mixed, q, s->stay, prec);
    if (s->poisson) {
        assay_pmf_atom(s->remove, loss, mixed, q, s->bits);
        arb_neg(loss, loss);
        assay_pmf_atom(s->add, loss, q, mixed, s->bits);
    } else if (arb_is_positive(loss)) {
        assay_pmf_atom(s->remove, loss, mixed, q, s->bits);
        arb_neg(loss, loss);
        assay_pmf_atom(s->remove, loss, q, mixed, s->bits);
        arb_add(s->placed, s->placed, mixed, prec);
        arb_add(s->placed, s->placed, q, prec);
    }
    arb_clear(loss);
    arb_clear(mixed);
}

/* r^k (1-r)/(1+r), or r^k/(1+r) for a whole tail */
static void laplace_mass(arb_t out, const arb_t r, ulong k, int tail)
{
    slong prec = ASSAY_PMF_PREC;
    arb_t t;
    arb_init(t);
    arb_pow_ui(out, r, k, prec);
    arb_add_ui(t, r, 1, prec);
    arb_div(out, out, t, prec);
    if (!tail) {
        arb_sub_ui(t, r, 1, prec);
        arb_neg(t, t);
        arb_mul(out, out, t, prec);
    }
    arb_clear(t);
}

static void laplace_atoms(sink *s, const assay_event *event)
{
    slong prec = ASSAY_PMF_PREC;
    ulong shift = laplace_shift(event);
    arb_t r, z, p, q;
    mpq_t one;
    arb_init(r);
    arb_init(z);
    arb_init(p);
    arb_init(q);
    mpq_init(one);
    mpq_inv(one, event->scale);
    mpq_neg(one, one);
    assay_arb_set_mpq(r, one, prec);
    arb_exp(r, r, prec);
    mpq_neg(one, one);
    for (ulong x = 0; x <= shift; x++) {
        int edge = x == 0 || x == shift;
        laplace_mass(q, r, x, edge);
        laplace_mass(p, r, shift - x, edge);
        mpq_t loss;
        mpq_init(loss);
        mpq_set_si(loss, 2 * (long)x - (long)shift, 1);
        mpq_mul(loss, loss, one);
        assay_arb_set_mpq(z, loss, prec);
        mpq_clear(loss);
        put_atom(s, z, p, q);
    }
    mpq_clear(one);
    arb_clear(r);
    arb_clear(z);
    arb_clear(p);
    arb_clear(q);
}

/* exp(-x^2 / (2 sigma2)) */
static void gaussian_weight(arb_t out, slong x, mpq_srcptr sigma2)
{
    mpq_t e;
    mpq_init(e);
    mpq_set_si(e, -x, 2);
    mpq_canonicalize(e);
    mpq_t square;
    mpq_init(square);
    mpq_set_si(square, x, 1);
    mpq_mul(e, e, square);
    mpq_div(e, e, sigma2);
    assay_arb_set_mpq(out, e, ASSAY_PMF_PREC);
    arb_exp(out, out, ASSAY_PMF_PREC);
    mpq_clear(e);
    mpq_clear(square);
}

/* sum_{x > n} e^{-x^2/(2v)} <= w(n+1) / (1 - e^{-(2n+3)/(2v)}) */
static void gaussian_rest(arb_t out, slong n, mpq_srcptr sigma2)
{
    mpq_t e;
    arb_t t;
    slong prec = ASSAY_PMF_PREC;
    mpq_init(e);
    arb_init(t);
    gaussian_weight(out, n + 1, sigma2);
    mpq_set_si(e, -(2 * n + 3), 2);
    mpq_canonicalize(e);
    mpq_div(e, e, sigma2);
    assay_arb_set_mpq(t, e, prec);
    arb_expm1(t, t, prec);
    arb_neg(t, t);
    arb_div(out, out, t, prec);
    mpq_clear(e);
    arb_clear(t);
}

/* Z = 1 + 2 sum_{1..n} + rest, as a ball that holds it */
static void gaussian_total(arb_t total, slong n, mpq_srcptr sigma2)
{
    arb_t w, rest;
    slong prec = ASSAY_PMF_PREC;
    arb_init(w);
    arb_init(rest);
    arb_zero(total);
    for (slong x = 1; x <= n; x++) {
        gaussian_weight(w, x, sigma2);
        arb_add(total, total, w, prec);
    }
    gaussian_rest(rest, n, sigma2);
    arb_zero(w);
    arb_union(rest, rest, w, prec);
    arb_add(total, total, rest, prec);
    arb_mul_2exp_si(total, total, 1);
    arb_add_ui(total, total, 1, prec);
    arb_clear(w);
    arb_clear(rest);
}

static void gaussian_masses(arb_t p, arb_t q, slong x, slong shift,
                            const arb_t total, mpq_srcptr sigma2)
{
    gaussian_weight(q, x, sigma2);
    gaussian_weight(p, x - shift, sigma2);
    arb_div(q, q, total, ASSAY_PMF_PREC);
    arb_div(p, p, total, ASSAY_PMF_PREC);
}

/* Beyond x = n + shift (P there is the tail past n): P to infinity; its mirror
   x < -n (Q's tail past n) goes up to the lowest loss. */
static void gaussian_ends(sink *s, slong n, const arb_t total,
                          mpq_srcptr sigma2, int64_t lowest)
{
    arb_t rest;
    arb_init(rest);
    gaussian_rest(rest, n, sigma2);
    arb_div(rest, rest, total, ASSAY_PMF_PREC);
    double mass = assay_ball_up(rest);
    s->remove->infinite = mass;
    s->add->infinite = mass;
    assay_pmf_put(s->remove, s->fold || s->poisson ? 0 : lowest, mass);
    assay_pmf_put(s->add, 0, mass);
    arb_clear(rest);
}

static assay_status gaussian_atoms(sink *s, const assay_event *event,
                                   const assay_grid *grid, assay_error *err)
{
    slong shift = (slong)gaussian_shift(event);
    double sigma = sqrt(mpq_get_d(event->sigma2));
    double reach = sigma * sqrt(fmax(2.0, -2.0 * log(grid->tail))) + 2.0;
    if (reach * 2 + (double)shift > MAX_ATOMS) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "discrete-gaussian: too many losses for pld");
    }
    slong n = (slong)reach;
    arb_t total, z, p, q;
    mpq_t loss;
    arb_init(total);
    arb_init(z);
    arb_init(p);
    arb_init(q);
    mpq_init(loss);
    gaussian_total(total, n + shift, event->sigma2);
    double low = -(2.0 * (double)n + (double)shift) * (double)shift /
                 (2.0 * mpq_get_d(event->sigma2));
    gaussian_ends(s, n, total, event->sigma2,
                  (int64_t)ceil(ldexp(low, grid->bits)) + 1);
    for (slong x = -n; x <= n + shift; x++) {
        gaussian_masses(p, q, x, shift, total, event->sigma2);
        mpq_set_si(loss, (2 * x - shift) * shift, 2);
        mpq_canonicalize(loss);
        mpq_div(loss, loss, event->sigma2);
        assay_arb_set_mpq(z, loss, ASSAY_PMF_PREC);
        put_atom(s, z, p, q);
    }
    mpq_clear(loss);
    arb_clear(total);
    arb_clear(z);
    arb_clear(p);
    arb_clear(q);
    return ASSAY_OK;
}

/* Three losses: e, 0, -e with own = (1-p) + p/k and other = p/k. */
static void response_atoms(sink *s, const assay_event *event)
{
    slong prec = ASSAY_PMF_PREC;
    arb_t own, other, z, rest;
    mpq_t a, b;
    arb_init(own);
    arb_init(other);
    arb_init(z);
    arb_init(rest);
    mpq_init(a);
    mpq_init(b);
    assay_mpz_set_u64(mpq_numref(b), event->k);
    mpq_div(b, event->p, b); /* p/k */
    mpq_set_ui(a, 1, 1);
    mpq_sub(a, a, event->p);
    mpq_add(a, a, b);
    assay_arb_set_mpq(own, a, prec);
    assay_arb_set_mpq(other, b, prec);
    mpq_div(a, a, b);
    assay_arb_set_mpq(z, a, prec);
    arb_log(z, z, prec);
    put_atom(s, z, own, other);
    arb_neg(z, z);
    put_atom(s, z, other, own);
    if (event->k > 2) {
        assay_mpz_set_u64(mpq_numref(a), event->k - 2);
        mpz_set_ui(mpq_denref(a), 1);
        mpq_mul(a, a, b);
        assay_arb_set_mpq(rest, a, prec);
        arb_zero(z);
        put_atom(s, z, rest, rest);
    }
    mpq_clear(a);
    mpq_clear(b);
    arb_clear(own);
    arb_clear(other);
    arb_clear(z);
    arb_clear(rest);
}

/* delta at infinity, (1-delta) of randomised response at epsilon */
static void fixed_atoms(sink *s, const assay_cost *cost)
{
    slong prec = ASSAY_PMF_PREC;
    arb_t z, p, q, keep;
    arb_init(z);
    arb_init(p);
    arb_init(q);
    arb_init(keep);
    assay_arb_set_mpq(keep, cost->delta, prec);
    s->remove->infinite = assay_ball_up(keep);
    arb_sub_ui(keep, keep, 1, prec);
    arb_neg(keep, keep);
    assay_arb_set_mpq(z, cost->epsilon, prec);
    arb_neg(q, z);
    arb_exp(q, q, prec);
    arb_add_ui(p, q, 1, prec);
    arb_inv(p, p, prec); /* 1/(1+e^-eps) */
    arb_mul(q, q, p, prec);
    arb_mul(p, p, keep, prec);
    arb_mul(q, q, keep, prec);
    put_atom(s, z, p, q);
    arb_neg(z, z);
    put_atom(s, z, q, p);
    arb_clear(z);
    arb_clear(p);
    arb_clear(q);
    arb_clear(keep);
}

static void fold_rest(sink *s)
{
    arb_sub_ui(s->placed, s->placed, 1, ASSAY_PMF_PREC);
    arb_neg(s->placed, s->placed);
    assay_pmf_put(s->remove, 0, assay_ball_up(s->placed));
}

static assay_status fixed_event(sink *s, const assay_event *event,
                                assay_error *err)
{
    assay_cost cost;
    assay_cost_init(&cost);
    assay_status status =
        assay_event_cost(&cost, event,
                         event->mechanism == ASSAY_SHUFFLE ? ASSAY_REPLACE_ONE
                                                           : ASSAY_ADD_REMOVE,
                         err);
    if (status == ASSAY_OK && !cost.has_pure) {
        status = assay_fail(err, ASSAY_UNSUPPORTED, "%s: no fixed epsilon",
                            assay_mechanism_name(event->mechanism));
    }
    if (status == ASSAY_OK) {
        fixed_atoms(s, &cost);
    }
    assay_cost_clear(&cost);
    return status;
}

assay_status assay_pmf_atoms(assay_pmf *remove, assay_pmf *add,
                             const assay_event *event, const assay_grid *grid,
                             assay_error *err)
{
    assay_status status = ASSAY_OK;
    sink s = {.remove = remove, .add = add, .bits = grid->bits};
    mpq_t rate;
    mpq_init(rate);
    mpq_set(rate, event->rate);
    s.poisson = event->sampling == ASSAY_SAMPLE_POISSON;
    s.fold = event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT;
    if (s.fold) {
        assay_mpz_set_u64(mpq_numref(rate), event->batch);
        assay_mpz_set_u64(mpq_denref(rate), event->population);
        mpq_canonicalize(rate);
    }
    arb_init(s.rate);
    arb_init(s.stay);
    arb_init(s.placed);
    assay_arb_set_mpq(s.rate, rate, ASSAY_PMF_PREC);
    arb_sub_ui(s.stay, s.rate, 1, ASSAY_PMF_PREC);
    arb_neg(s.stay, s.stay);
    if (event->mechanism == ASSAY_DISCRETE_LAPLACE) {
        laplace_atoms(&s, event);
    } else if (event->mechanism == ASSAY_DISCRETE_GAUSSIAN) {
        status = gaussian_atoms(&s, event, grid, err);
    } else if (event->mechanism == ASSAY_RANDOMIZED_RESPONSE) {
        response_atoms(&s, event);
    } else {
        status = fixed_event(&s, event, err);
    }
    if (s.fold && status == ASSAY_OK) {
        fold_rest(&s);
    }
    arb_clear(s.rate);
    arb_clear(s.stay);
    arb_clear(s.placed);
    mpq_clear(rate);
    return status;
}

assay_status assay_atoms_event(assay_atoms *out, const assay_event *event,
                               double tail, assay_error *err)
{
    assay_pmf pmf[2];
    assay_grid grid = {.tail = tail};
    sink s = {.remove = &pmf[0], .add = &pmf[1], .exact = out};
    if (!assay_pmf_is_atomic(event) || event->sampling != ASSAY_SAMPLE_ALL) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "%s: its losses do not lie on a lattice",
                          assay_mechanism_name(event->mechanism));
    }
    assay_pmf_init(&pmf[0]);
    assay_pmf_init(&pmf[1]);
    assay_status status = ASSAY_OK;
    if (event->mechanism == ASSAY_DISCRETE_LAPLACE) {
        laplace_atoms(&s, event);
    } else if (event->mechanism == ASSAY_DISCRETE_GAUSSIAN) {
        status = gaussian_atoms(&s, event, &grid, err);
    } else if (event->mechanism == ASSAY_RANDOMIZED_RESPONSE) {
        response_atoms(&s, event);
    } else {
        status = fixed_event(&s, event, err);
    }
    out->infinite = pmf[0].infinite;
    if (event->mechanism == ASSAY_DISCRETE_GAUSSIAN) {
        out->infinite = assay_up(2.0 * out->infinite); /* both tails */
    }
    if (status == ASSAY_OK && out->num == out->capacity) {
        status = assay_fail(err, ASSAY_UNSUPPORTED, "too many losses");
    }
    assay_pmf_clear(&pmf[0]);
    assay_pmf_clear(&pmf[1]);
    return status;
}
