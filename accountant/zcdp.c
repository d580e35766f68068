/* ring: glue */
/* Zero-concentrated differential privacy: exact sums, one conversion. */
#include <math.h>

#include "accountant/account.h"
#include "accountant/numeric.h"

#define ORDER_BITS 16

/* log of conv: a ln(1 - 1/a) - ln(a - 1), as a ball */
static void log_factor(arb_t out, const arb_t a, slong prec)
{
    arb_t t;
    arb_t u;
    arb_init(t);
    arb_init(u);
    arb_sub_ui(t, a, 1, prec);
    arb_log(u, t, prec);
    arb_div(t, t, a, prec);
    arb_log(t, t, prec);
    arb_mul(t, t, a, prec);
    arb_sub(out, t, u, prec);
    arb_clear(t);
    arb_clear(u);
}

assay_status assay_zcdp_delta(mpq_t delta, const mpq_t rho, const mpq_t epsilon,
                              const mpq_t alpha, assay_error *err)
{
    if (mpq_cmp_ui(alpha, 1, 1) <= 0 || mpq_sgn(rho) < 0) {
        return assay_fail(
            err, ASSAY_INVALID,
            "zcdp: the order must be above 1 and rho not below 0");
    }
    slong prec = ASSAY_PREC;
    arb_t a, x, t;
    arb_init(a);
    arb_init(x);
    arb_init(t);
    mpq_t y;
    mpq_init(y);
    mpq_mul(y, alpha, rho);
    mpq_sub(y, y, epsilon); /* a rho - eps, exactly */
    assay_arb_set_mpq(a, alpha, prec);
    assay_arb_set_mpq(x, y, prec);
    arb_sub_ui(t, a, 1, prec);
    arb_mul(x, x, t, prec);
    log_factor(t, a, prec);
    arb_add(x, x, t, prec);
    arb_exp(x, x, prec);
    int ok = assay_arb_upper(delta, x);
    mpq_clear(y);
    arb_clear(a);
    arb_clear(x);
    arb_clear(t);
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_RANGE, "zcdp: delta is out of range");
}

/* epsilon through one order, a double: for the search only */
static double epsilon_near(double log_am1, double rho, double log_inv_delta)
{
    double b = exp(log_am1);
    double a = 1.0 + b;
    double conv = -a * log1p(1.0 / b) - log_am1;
    return a * rho + (log_inv_delta + conv) / b;
}

/* log delta through one order */
static double delta_near(double log_am1, double rho, double epsilon)
{
    double b = exp(log_am1);
    double a = 1.0 + b;
    return b * (a * rho - epsilon) - a * log1p(1.0 / b) - log_am1;
}

/* Golden section on log(a - 1). Any order is valid, so a loose search will do:
   what it finds is evaluated once, rigorously. */
static double search_order(double (*f)(double, double, double), double rho,
                           double target)
{
    double low = -40.0;
    double high = 60.0;
    for (int i = 0; i < 120; i++) {
        double x = low + 0.381966 * (high - low);
        double y = high - 0.381966 * (high - low);
        if (f(x, rho, target) < f(y, rho, target)) {
            high = y;
        } else {
            low = x;
        }
    }
    return exp(0.5 * (low + high));
}

static void set_order(mpq_t alpha, double order_minus_one)
{
    mpq_t one;
    mpq_init(one);
    mpq_set_ui(one, 1, 1);
    assay_mpq_set_near(alpha, order_minus_one, ORDER_BITS);
    mpq_add(alpha, alpha, one);
    mpq_clear(one);
}

assay_status assay_zcdp_best_delta(mpq_t delta, mpq_t alpha, const mpq_t rho,
                                   const mpq_t epsilon, assay_error *err)
{
    set_order(alpha, search_order(delta_near, exp(assay_log_double(rho)),
                                  mpq_get_d(epsilon)));
    return assay_zcdp_delta(delta, rho, epsilon, alpha, err);
}

/* eps = value + (ln(1/delta) + log_factor(a)) / (a - 1), upper end, decimal */
assay_status assay_renyi_epsilon(mpq_t epsilon, const mpq_t value,
                                 const mpq_t delta, const mpq_t alpha,
                                 assay_error *err)
{
    slong prec = ASSAY_PREC;
    arb_t a, x, t;
    arb_init(a);
    arb_init(x);
    arb_init(t);
    assay_arb_set_mpq(a, alpha, prec);
    assay_arb_set_mpq(t, delta, prec);
    arb_log(t, t, prec);
    log_factor(x, a, prec);
    arb_sub(x, x, t, prec);
    arb_sub_ui(t, a, 1, prec);
    arb_div(x, x, t, prec);
    assay_arb_set_mpq(t, value, prec);
    arb_add(x, x, t, prec);
    int ok = assay_arb_upper(epsilon, x);
    if (ok && mpq_sgn(epsilon) < 0) {
        mpq_set_ui(epsilon, 0, 1);
    }
    assay_decimal_outward(epsilon, ASSAY_DIGITS, 1);
    arb_clear(a);
    arb_clear(x);
    arb_clear(t);
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_RANGE, "epsilon is out of range");
}

assay_status assay_zcdp_epsilon(mpq_t epsilon, mpq_t alpha, const mpq_t rho,
                                const mpq_t delta, assay_error *err)
{
    if (mpq_sgn(rho) < 0 || mpq_sgn(delta) <= 0 ||
        mpq_cmp_ui(delta, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "zcdp: rho must not be negative and delta lie in "
                          "(0, 1)");
    }
    mpq_t value;
    mpq_init(value);
    set_order(alpha, search_order(epsilon_near, exp(assay_log_double(rho)),
                                  -assay_log_double(delta)));
    mpq_mul(value, alpha, rho);
    assay_status status =
        assay_renyi_epsilon(epsilon, value, delta, alpha, err);
    mpq_clear(value);
    return status;
}
