/* ring: glue */
/* The price of one event in pure, approximate and zero-concentrated terms. */
#include <arb.h>

#include "accountant/account.h"
#include "accountant/numeric.h"
#include "core/rational.h"

void assay_cost_init(assay_cost *cost)
{
    *cost = (assay_cost){0};
    mpq_init(cost->epsilon);
    mpq_init(cost->delta);
    mpq_init(cost->rho);
    mpq_init(cost->rho_delta);
}

void assay_cost_reset(assay_cost *cost)
{
    cost->has_pure = 0;
    cost->has_rho = 0;
    mpq_set_ui(cost->epsilon, 0, 1);
    mpq_set_ui(cost->delta, 0, 1);
    mpq_set_ui(cost->rho, 0, 1);
    mpq_set_ui(cost->rho_delta, 0, 1);
    cost->pure_id = NULL;
    cost->rho_id = NULL;
    cost->pure_id2 = NULL;
    cost->rho_id2 = NULL;
}

void assay_cost_clear(assay_cost *cost)
{
    mpq_clear(cost->epsilon);
    mpq_clear(cost->delta);
    mpq_clear(cost->rho);
    mpq_clear(cost->rho_delta);
}

static void set_u64(mpq_t out, uint64_t n)
{
    assay_mpz_set_u64(mpq_numref(out), n);
    mpz_set_ui(mpq_denref(out), 1);
}

/* out *= n^power */
static void scale_u64(mpq_t out, uint64_t n, int power)
{
    if (n == 1) {
        return;
    }
    mpq_t factor;
    mpq_init(factor);
    set_u64(factor, n);
    for (int i = 0; i < power; i++) {
        mpq_mul(out, out, factor);
    }
    mpq_clear(factor);
}

/* rho = levels * group^2 * sensitivity2 / (2 sigma2) */
static void price_gaussian(assay_cost *out, const assay_event *event,
                           const char *id)
{
    mpq_div(out->rho, event->sensitivity2, event->sigma2);
    mpq_div_2exp(out->rho, out->rho, 1);
    scale_u64(out->rho, event->group, 2);
    if (event->mechanism == ASSAY_TREE_GAUSSIAN) {
        scale_u64(out->rho, event->levels, 1);
    }
    out->has_rho = 1;
    out->rho_id = id;
    out->rho_id2 = event->group > 1 ? "group-zcdp" : NULL;
}

int assay_gaussian_rho_fast(mpq_t out, const assay_event *event)
{
    if (event->group != 1 || event->sampling != ASSAY_SAMPLE_ALL ||
        (event->mechanism != ASSAY_GAUSSIAN &&
         event->mechanism != ASSAY_ROUNDED_GAUSSIAN &&
         event->mechanism != ASSAY_DISCRETE_GAUSSIAN)) {
        return 0;
    }
    mpz_mul(mpq_numref(out), mpq_numref(event->sensitivity2),
            mpq_denref(event->sigma2));
    mpz_mul(mpq_denref(out), mpq_denref(event->sensitivity2),
            mpq_numref(event->sigma2));
    mpz_mul_2exp(mpq_denref(out), mpq_denref(out), 1);
    return 1;
}

/* From epsilon (delta 0): rho = epsilon^2 / 2. */
static void pure_to_rho(assay_cost *out)
{
    mpq_mul(out->rho, out->epsilon, out->epsilon);
    mpq_div_2exp(out->rho, out->rho, 1);
    out->has_rho = 1;
    out->rho_id = out->pure_id;
    out->rho_id2 = "pure-to-zcdp";
}

static void price_pure(assay_cost *out, const assay_event *event,
                       const char *id)
{
    scale_u64(out->epsilon, event->group, 1);
    out->has_pure = 1;
    out->pure_id = id;
    out->pure_id2 = event->group > 1 ? "group-pure" : NULL;
    pure_to_rho(out);
}

static void price_laplace(assay_cost *out, const assay_event *event,
                          const char *id)
{
    mpq_div(out->epsilon, event->sensitivity, event->scale);
    if (event->mechanism == ASSAY_TREE_LAPLACE) {
        scale_u64(out->epsilon, event->levels, 1);
    }
    price_pure(out, event, id);
}

/* eps = D/scale + c k D/scale2, c = 1 for monotone counts, otherwise 2 */
static void price_sparse(assay_cost *out, const assay_event *event)
{
    mpq_t second;
    mpq_init(second);
    mpq_div(out->epsilon, event->sensitivity, event->scale);
    mpq_div(second, event->sensitivity, event->scale2);
    scale_u64(second, event->k, 1);
    if (!event->monotone) {
        mpq_mul_2exp(second, second, 1);
    }
    mpq_add(out->epsilon, out->epsilon, second);
    mpq_clear(second);
    price_pure(out, event,
               event->monotone ? "sparse-vector-monotone" : "sparse-vector");
}

/* eps = ln(1 + k (1-p)/p), rounded up; the ball is 1e-50 wide */
static assay_status price_response(assay_cost *out, const assay_event *event,
                                   assay_error *err)
{
    mpq_t ratio;
    arb_t x;
    mpq_init(ratio);
    arb_init(x);
    mpq_set_ui(ratio, 1, 1);
    mpq_sub(ratio, ratio, event->p);
    mpq_div(ratio, ratio, event->p);
    scale_u64(ratio, event->k, 1);
    assay_arb_set_mpq(x, ratio, ASSAY_PREC);
    arb_log1p(x, x, ASSAY_PREC);
    int ok = assay_arb_upper(out->epsilon, x);
    mpq_clear(ratio);
    arb_clear(x);
    if (!ok) {
        return assay_fail(err, ASSAY_RANGE,
                          "randomized-response: p is too "
                          "small to price");
    }
    price_pure(out, event, "randomized-response");
    return ASSAY_OK;
}

/* range-bounded: rho = eps^2 / 8 (Cesar and Rogers 2021) */
static void price_exponential(assay_cost *out, const assay_event *event)
{
    mpq_set(out->epsilon, event->epsilon);
    price_pure(out, event, "exponential");
    mpq_div_2exp(out->rho, out->rho, 2);
    out->rho_id = "exponential";
    out->rho_id2 = "bounded-range-zcdp";
}

/* Mironov 2012, Theorem 1: (1 + 2^-49 B)/lambda for lambda < B < 2^46 lambda */
static assay_status price_snapping(assay_cost *out, const assay_event *event,
                                   assay_error *err)
{
    mpq_t limit;
    mpq_init(limit);
    mpq_mul_2exp(limit, event->scale, 46);
    int fits = mpq_cmp(event->bound, event->scale) > 0 &&
               mpq_cmp(event->bound, limit) < 0;
    mpq_div_2exp(out->epsilon, event->bound, 49);
    mpq_set_ui(limit, 1, 1);
    mpq_add(out->epsilon, out->epsilon, limit);
    mpq_div(out->epsilon, out->epsilon, event->scale);
    mpq_clear(limit);
    if (!fits) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "snapping: its theorem needs scale < bound < "
                          "2^46 scale");
    }
    price_pure(out, event, "snapping");
    return ASSAY_OK;
}

/* group-approx: (k eps, delta (e^{k eps} - 1)/(e^eps - 1)) */
static assay_status group_delta(mpq_t delta, const mpq_t epsilon,
                                uint64_t group, assay_error *err)
{
    if (group == 1 || mpq_sgn(delta) == 0) {
        return ASSAY_OK;
    }
    if (mpq_sgn(epsilon) == 0) {
        scale_u64(delta, group, 1);
        return ASSAY_OK;
    }
    arb_t x, y;
    arb_init(x);
    arb_init(y);
    assay_arb_set_mpq(x, epsilon, ASSAY_PREC);
    mpq_t k;
    mpq_init(k);
    set_u64(k, group);
    assay_arb_set_mpq(y, k, ASSAY_PREC);
    arb_mul(y, y, x, ASSAY_PREC);
    arb_expm1(y, y, ASSAY_PREC);
    arb_expm1(x, x, ASSAY_PREC);
    arb_div(y, y, x, ASSAY_PREC);
    assay_arb_set_mpq(x, delta, ASSAY_PREC);
    arb_mul(y, y, x, ASSAY_PREC);
    int ok = assay_arb_upper(delta, y);
    mpq_clear(k);
    arb_clear(x);
    arb_clear(y);
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_RANGE, "group: delta is out of range");
}

static assay_status price_approximate(assay_cost *out, const assay_event *event,
                                      const char *id, assay_error *err)
{
    mpq_set(out->delta, event->delta);
    mpq_set(out->epsilon, event->epsilon);
    assay_status status =
        group_delta(out->delta, out->epsilon, event->group, err);
    if (status != ASSAY_OK) {
        return status;
    }
    price_pure(out, event, id);
    out->pure_id2 = event->group > 1 ? "group-approx" : NULL;
    mpq_set(out->rho_delta, out->delta);
    if (mpq_sgn(out->delta) > 0) {
        out->rho_id2 = "approximate-split";
    }
    return ASSAY_OK;
}

/* Feldman, McMillan, Talwar 2021, Theorem 3.1: n shuffled eps0-DP reports are
   (ln(1 + (e-1)/(e+1) (8 sqrt(e ln(4/delta)/n) + 8 e/n)), delta)-DP, e =
   e^eps0, when a report is replaced, for eps0 <= ln(n / (16 ln(2/delta))). */
static int shuffle_ball(arb_t x, const assay_event *event)
{
    slong prec = ASSAY_PREC;
    arb_t e, n, d, t;
    arb_init(e);
    arb_init(n);
    arb_init(d);
    arb_init(t);
    assay_arb_set_mpq(e, event->epsilon, prec);
    arb_exp(e, e, prec);
    mpq_t q;
    mpq_init(q);
    set_u64(q, event->population);
    assay_arb_set_mpq(n, q, prec);
    mpq_clear(q);
    assay_arb_set_mpq(d, event->delta, prec);
    arb_inv(d, d, prec);
    arb_mul_2exp_si(t, d, 1);
    arb_log(t, t, prec);
    arb_mul(t, t, e, prec);
    arb_mul_2exp_si(t, t, 4);
    int fits = arb_le(t, n); /* e <= n / (16 ln(2/delta)) */
    arb_mul_2exp_si(d, d, 2);
    arb_log(d, d, prec);
    arb_mul(d, d, e, prec);
    arb_div(d, d, n, prec);
    arb_sqrt(d, d, prec);
    arb_div(t, e, n, prec);
    arb_add(d, d, t, prec);
    arb_mul_2exp_si(d, d, 3);
    arb_sub_ui(t, e, 1, prec);
    arb_mul(d, d, t, prec);
    arb_add_ui(t, e, 1, prec);
    arb_div(d, d, t, prec);
    arb_log1p(x, d, prec);
    arb_clear(e);
    arb_clear(n);
    arb_clear(d);
    arb_clear(t);
    return fits;
}

static assay_status price_shuffle(assay_cost *out, const assay_event *event,
                                  assay_neighbours neighbours, assay_error *err)
{
    arb_t x;
    arb_init(x);
    int fits = mpq_sgn(event->delta) > 0 && shuffle_ball(x, event) &&
               assay_arb_upper(out->epsilon, x);
    arb_clear(x);
    if (neighbours != ASSAY_REPLACE_ONE || event->group > 1) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "shuffle: its theorem is for replace-one neighbours "
                          "and single persons");
    }
    /* never worse than the reports themselves */
    if (!fits || mpq_cmp(out->epsilon, event->epsilon) >= 0) {
        mpq_set(out->epsilon, event->epsilon);
        price_pure(out, event, "postprocess");
        return ASSAY_OK;
    }
    mpq_set(out->delta, event->delta);
    price_pure(out, event, "shuffling");
    mpq_set(out->rho_delta, out->delta);
    out->rho_id2 = "approximate-split";
    return ASSAY_OK;
}

static void price_zcdp(assay_cost *out, const assay_event *event)
{
    mpq_set(out->rho, event->rho);
    scale_u64(out->rho, event->group, 2);
    out->has_rho = 1;
    out->rho_id2 = event->group > 1 ? "group-zcdp" : NULL;
}

static void keep_larger(mpq_t out, const mpq_t value)
{
    if (mpq_cmp(value, out) > 0) {
        mpq_set(out, value);
    }
}

/* parallel: the largest part; a part that ran n times costs n times. */
static assay_status price_parallel(assay_cost *out, const assay_event *event,
                                   assay_neighbours neighbours,
                                   assay_error *err)
{
    if (event->group > 1) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "parallel: its theorem is for single persons; give "
                          "the group to the parts");
    }
    out->has_pure = 1;
    out->has_rho = 1;
    out->pure_id = "parallel";
    out->rho_id = "parallel-zcdp";
    for (size_t i = 0; i < event->num_parts; i++) {
        assay_cost part;
        assay_cost_init(&part);
        assay_status s =
            assay_event_cost(&part, &event->parts[i], neighbours, err);
        if (s == ASSAY_OK) {
            uint64_t n = event->parts[i].count;
            scale_u64(part.epsilon, n, 1);
            scale_u64(part.delta, n, 1);
            scale_u64(part.rho, n, 1);
            scale_u64(part.rho_delta, n, 1);
            out->has_pure &= part.has_pure;
            out->has_rho &= part.has_rho;
            keep_larger(out->epsilon, part.epsilon);
            keep_larger(out->delta, part.delta);
            keep_larger(out->rho, part.rho);
            keep_larger(out->rho_delta, part.rho_delta);
        }
        assay_cost_clear(&part);
        if (s != ASSAY_OK) {
            return s;
        }
    }
    return ASSAY_OK;
}

static assay_status price_given(assay_cost *out, const assay_event *event,
                                assay_neighbours neighbours, assay_error *err)
{
    switch (event->mechanism) {
    case ASSAY_PURE:
        mpq_set(out->epsilon, event->epsilon);
        price_pure(out, event, NULL);
        return ASSAY_OK;
    case ASSAY_NOISY_MAX:
    case ASSAY_PERMUTE_AND_FLIP:
        mpq_set(out->epsilon, event->epsilon);
        price_pure(out, event, assay_mechanism_name(event->mechanism));
        return ASSAY_OK;
    case ASSAY_APPROXIMATE:
        return price_approximate(out, event, NULL, err);
    case ASSAY_UNKNOWN_KEYS:
        return price_approximate(out, event, "keys-threshold", err);
    case ASSAY_ZCDP:
        price_zcdp(out, event);
        return ASSAY_OK;
    case ASSAY_POST_PROCESSING:
        out->has_pure = 1;
        out->has_rho = 1;
        out->pure_id = "postprocess";
        out->rho_id = "postprocess";
        return ASSAY_OK;
    case ASSAY_PARALLEL:
        return price_parallel(out, event, neighbours, err);
    case ASSAY_SHUFFLE:
        return price_shuffle(out, event, neighbours, err);
    default:
        return ASSAY_OK; /* no pure or zCDP price: the caller sees it */
    }
}

const char *assay_gaussian_id(const assay_event *event)
{
    switch (event->mechanism) {
    case ASSAY_GAUSSIAN:
        return "gaussian-continuous";
    case ASSAY_GAUSSIAN_DP:
        return "gaussian-dp";
    case ASSAY_ROUNDED_GAUSSIAN:
        return "rounded-gaussian-vector";
    case ASSAY_DISCRETE_GAUSSIAN:
        return event->dimension == 1 ? "gaussian-scalar-zcdp"
                                     : "gaussian-vector-zcdp";
    case ASSAY_TREE_GAUSSIAN:
        return "tree-gaussian";
    default:
        return NULL;
    }
}

assay_status assay_event_cost(assay_cost *out, const assay_event *event,
                              assay_neighbours neighbours, assay_error *err)
{
    switch (event->mechanism) {
    case ASSAY_GAUSSIAN:
    case ASSAY_GAUSSIAN_DP:
    case ASSAY_ROUNDED_GAUSSIAN:
    case ASSAY_DISCRETE_GAUSSIAN:
    case ASSAY_TREE_GAUSSIAN:
        price_gaussian(out, event, assay_gaussian_id(event));
        return ASSAY_OK;
    case ASSAY_LAPLACE:
        price_laplace(out, event, "laplace-continuous");
        return ASSAY_OK;
    case ASSAY_ROUNDED_LAPLACE:
        price_laplace(out, event, "rounded-laplace-vector");
        return ASSAY_OK;
    case ASSAY_DISCRETE_LAPLACE:
        price_laplace(out, event, "laplace-vector");
        return ASSAY_OK;
    case ASSAY_TREE_LAPLACE:
        price_laplace(out, event, "tree-laplace");
        return ASSAY_OK;
    case ASSAY_SPARSE_VECTOR:
        price_sparse(out, event);
        return ASSAY_OK;
    case ASSAY_RANDOMIZED_RESPONSE:
        return price_response(out, event, err);
    case ASSAY_EXPONENTIAL:
        price_exponential(out, event);
        return ASSAY_OK;
    case ASSAY_SNAPPING:
        return price_snapping(out, event, err);
    default:
        return price_given(out, event, neighbours, err);
    }
}
