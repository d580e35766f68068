/* ring: glue */
/*
 * The accountant against closed forms computed here at 300 bits, by MPFR alone:
 * never below, and above by at most 1e-9 relative. Each form gives delta at an
 * epsilon, so delta is compared at the epsilon asked for, and the epsilon that
 * the accountant answers is put back into the form.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gmp.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "accountant/event_yaml.h"
#include "accountant/guarantee.h"
#include "core/rational.h"

#define BITS 300
#define UP MPFR_RNDN

/* Phi(x) = erfc(-x / sqrt 2) / 2 */
static void normal_cdf(mpfr_t out, const mpfr_t x)
{
    mpfr_t r;
    mpfr_init2(r, BITS);
    mpfr_sqrt_ui(r, 2, UP);
    mpfr_div(out, x, r, UP);
    mpfr_neg(out, out, UP);
    mpfr_erfc(out, out, UP);
    mpfr_div_2ui(out, out, 1, UP);
    mpfr_clear(r);
}

/* delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), mu^2 = n/sigma2 */
static void gaussian_form(mpfr_t delta, const mpq_t epsilon, unsigned n,
                          const mpq_t parameter)
{
    mpfr_t mu, x, t;
    mpfr_inits2(BITS, mu, x, t, (mpfr_ptr)0);
    mpfr_set_ui(mu, n, UP);
    mpfr_div_q(mu, mu, parameter, UP);
    mpfr_sqrt(mu, mu, UP);
    mpfr_set_q(x, epsilon, UP);
    mpfr_div(x, x, mu, UP);
    mpfr_div_2ui(mu, mu, 1, UP);
    mpfr_sub(t, mu, x, UP);
    normal_cdf(delta, t);
    mpfr_add(t, mu, x, UP);
    mpfr_neg(t, t, UP);
    normal_cdf(x, t);
    mpfr_set_q(t, epsilon, UP);
    mpfr_exp(t, t, UP);
    mpfr_mul(x, x, t, UP);
    mpfr_sub(delta, delta, x, UP);
    mpfr_clears(mu, x, t, (mpfr_ptr)0);
}

/* Kairouz, Oh and Viswanath: sum over k of C(n,k) (a^(n-k) b^k -
   e^eps a^k b^(n-k))+, where one answer has probability a or b. */
static void two_points(mpfr_t delta, const mpq_t epsilon, unsigned n,
                       const mpfr_t a, const mpfr_t b)
{
    mpfr_t factor, p, q;
    mpz_t ways;
    mpfr_inits2(BITS, factor, p, q, (mpfr_ptr)0);
    mpz_init(ways);
    mpfr_set_q(factor, epsilon, UP);
    mpfr_exp(factor, factor, UP);
    mpfr_set_ui(delta, 0, UP);
    for (unsigned k = 0; k <= n; k++) {
        mpfr_pow_ui(p, a, n - k, UP);
        mpfr_pow_ui(q, b, k, UP);
        mpfr_mul(p, p, q, UP);
        mpfr_pow_ui(q, a, k, UP);
        mpfr_mul(q, q, factor, UP);
        mpfr_t last;
        mpfr_init2(last, BITS);
        mpfr_pow_ui(last, b, n - k, UP);
        mpfr_mul(q, q, last, UP);
        mpfr_clear(last);
        mpfr_sub(p, p, q, UP);
        if (mpfr_sgn(p) > 0) {
            mpz_bin_uiui(ways, n, k);
            mpfr_mul_z(p, p, ways, UP);
            mpfr_add(delta, delta, p, UP);
        }
    }
    mpfr_clears(factor, p, q, (mpfr_ptr)0);
    mpz_clear(ways);
}

/* binary randomised response, parameter p: true with 1 - p/2 */
static void response_form(mpfr_t delta, const mpq_t epsilon, unsigned n,
                          const mpq_t parameter)
{
    mpfr_t a, b;
    mpfr_inits2(BITS, a, b, (mpfr_ptr)0);
    mpfr_set_q(b, parameter, UP);
    mpfr_div_2ui(b, b, 1, UP);
    mpfr_ui_sub(a, 1, b, UP);
    two_points(delta, epsilon, n, a, b);
    mpfr_clears(a, b, (mpfr_ptr)0);
}

/* a fixed epsilon: a = e^eps0/(1 + e^eps0) */
static void pure_form(mpfr_t delta, const mpq_t epsilon, unsigned n,
                      const mpq_t parameter)
{
    mpfr_t a, b;
    mpfr_inits2(BITS, a, b, (mpfr_ptr)0);
    mpfr_set_q(a, parameter, UP);
    mpfr_exp(a, a, UP);
    mpfr_add_ui(b, a, 1, UP);
    mpfr_div(a, a, b, UP);
    mpfr_ui_div(b, 1, b, UP);
    two_points(delta, epsilon, n, a, b);
    mpfr_clears(a, b, (mpfr_ptr)0);
}

typedef void form(mpfr_t delta, const mpq_t epsilon, unsigned n,
                  const mpq_t parameter);

/* truth <= value <= truth (1 + 1e-9), up to the 300 bits of the form */
static void check(const char *what, const mpq_t value, const mpfr_t truth)
{
    mpfr_t low, high;
    mpfr_inits2(BITS, low, high, (mpfr_ptr)0);
    mpfr_set_ui_2exp(low, 1, -200, UP);
    mpfr_ui_sub(low, 1, low, UP);
    mpfr_mul(low, low, truth, UP);
    mpfr_set_ui(high, 1000000001u, UP);
    mpfr_div_ui(high, high, 1000000000u, UP);
    mpfr_mul(high, high, truth, UP);
    if (mpfr_cmp_q(low, value) > 0 || mpfr_cmp_q(high, value) < 0) {
        fail_msg("%s: %.17g where the truth is %.17g", what, mpq_get_d(value),
                 mpfr_get_d(truth, UP));
    }
    mpfr_clears(low, high, (mpfr_ptr)0);
}

/* The form's epsilon at delta by bisection, to 2^-120. */
static void invert(mpq_t out, form *delta_of, const mpq_t delta, unsigned n,
                   const mpq_t parameter)
{
    mpq_t low, high;
    mpfr_t d;
    mpq_inits(low, high, NULL);
    mpfr_init2(d, BITS);
    mpq_set_ui(high, 1024, 1);
    for (int i = 0; i < 130; i++) {
        mpq_add(out, low, high);
        mpq_div_2exp(out, out, 1);
        delta_of(d, out, n, parameter);
        mpq_set(mpfr_cmp_q(d, delta) > 0 ? low : high, out);
    }
    mpq_clears(low, high, NULL);
    mpfr_clear(d);
}

static void compare(const char *event, const char *parameter_text, unsigned n,
                    const char *epsilon_text, form *delta_of)
{
    char yaml[256];
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_file file;
    assay_guarantee g;
    mpq_t epsilon, parameter, delta;
    mpfr_t truth;
    mpq_inits(epsilon, parameter, delta, NULL);
    mpfr_init2(truth, BITS);
    assay_guarantee_init(&g);
    assert_int_equal(assay_rational_parse(epsilon, epsilon_text, "e", &err), 0);
    assert_int_equal(assay_rational_parse(parameter, parameter_text, "p", &err),
                     0);
    (void)snprintf(yaml, sizeof yaml, "events: [{%s: %s, count: %u}]", event,
                   parameter_text, n);
    assert_int_equal(assay_event_file_parse(&file, yaml, strlen(yaml), &err),
                     0);
    delta_of(truth, epsilon, n, parameter);
    if (assay_account_delta(&g, &file.list, epsilon, NULL, &err) != ASSAY_OK) {
        fail_msg("%s: %s", yaml, err.message);
    }
    check(yaml, g.bounds[0].delta, truth);
    const char *deltas[] = {"1e-3", "1e-6", "1e-20"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(assay_rational_parse(delta, deltas[i], "d", &err), 0);
        assert_int_equal(assay_account(&g, &file.list, delta, NULL, &err), 0);
        invert(epsilon, delta_of, delta, n, parameter);
        mpfr_set_q(truth, epsilon, UP);
        mpfr_mul_d(truth, truth, 1 - 1e-15, UP); /* bisected to 2^-120 */
        check(yaml, g.bounds[0].epsilon, truth);
    }
    assay_guarantee_clear(&g);
    assay_event_file_clear(&file);
    mpq_clears(epsilon, parameter, delta, NULL);
    mpfr_clear(truth);
}

static void gaussian_composition(void **state)
{
    (void)state;
    compare("mechanism: gaussian, sigma2", "1", 1, "1", gaussian_form);
    compare("mechanism: gaussian, sigma2", "4", 3, "2", gaussian_form);
    compare("mechanism: gaussian, sigma2", "121/100", 100, "60", gaussian_form);
    compare("mechanism: gaussian, sigma2", "9/100", 7, "100", gaussian_form);
    compare("mechanism: gaussian, sigma2", "1000000", 1000, "1/10",
            gaussian_form);
}

static void randomised_response(void **state)
{
    (void)state;
    compare("mechanism: randomized-response, p", "1/2", 20, "3", response_form);
    compare("mechanism: randomized-response, p", "9/10", 200, "5",
            response_form);
    compare("mechanism: randomized-response, p", "1/100", 3, "7",
            response_form);
}

static void optimal_composition_of_a_fixed_epsilon(void **state)
{
    (void)state;
    compare("mechanism: pure, epsilon", "1/10", 50, "2", pure_form);
    compare("mechanism: pure, epsilon", "1", 10, "4", pure_form);
    compare("mechanism: pure, epsilon", "1/100", 500, "1/2", pure_form);
}

/* Three kinds of fixed epsilons e_j/100, n_j runs each: k_j answers of the more
   likely kind have probability prod C(n,k) a^k b^(n-k), a = 1/(1 + e^-e), and
   the loss sum (2k - n) e. */
typedef struct mixture {
    unsigned e[3], n[3];
} mixture;

static void mixture_mass(mpfr_t mass, mpfr_t loss, const mixture *m,
                         const unsigned k[3])
{
    mpfr_t e, a;
    mpfr_inits2(BITS, e, a, (mpfr_ptr)0);
    mpfr_set_ui(mass, 1, UP);
    mpfr_set_ui(loss, 0, UP);
    for (int j = 0; j < 3; j++) {
        mpz_t ways;
        mpz_init(ways);
        mpz_bin_uiui(ways, m->n[j], k[j]);
        mpfr_mul_z(mass, mass, ways, UP);
        mpz_clear(ways);
        mpfr_set_ui(e, m->e[j], UP);
        mpfr_div_ui(e, e, 100, UP);
        mpfr_neg(a, e, UP);
        mpfr_exp(a, a, UP);
        mpfr_add_ui(a, a, 1, UP);
        mpfr_pow_si(a, a, -(long)m->n[j], UP); /* a^n */
        mpfr_mul(mass, mass, a, UP);
        mpfr_mul_si(a, e, -(long)(m->n[j] - k[j]), UP);
        mpfr_exp(a, a, UP); /* (b/a)^(n-k) */
        mpfr_mul(mass, mass, a, UP);
        mpfr_mul_si(a, e, 2 * (long)k[j] - (long)m->n[j], UP);
        mpfr_add(loss, loss, a, UP);
    }
    mpfr_clears(e, a, (mpfr_ptr)0);
}

static void mixture_delta(mpfr_t delta, const mixture *m, const mpq_t epsilon)
{
    mpfr_t mass, loss;
    mpfr_inits2(BITS, mass, loss, (mpfr_ptr)0);
    mpfr_set_ui(delta, 0, UP);
    unsigned k[3];
    for (k[0] = 0; k[0] <= m->n[0]; k[0]++) {
        for (k[1] = 0; k[1] <= m->n[1]; k[1]++) {
            for (k[2] = 0; k[2] <= m->n[2]; k[2]++) {
                mixture_mass(mass, loss, m, k);
                mpfr_neg(loss, loss, UP);
                mpfr_add_q(loss, loss, epsilon, UP);
                if (mpfr_sgn(loss) < 0) { /* times 1 - e^(epsilon - loss) */
                    mpfr_expm1(loss, loss, UP);
                    mpfr_mul(mass, mass, loss, UP);
                    mpfr_sub(delta, delta, mass, UP);
                }
            }
        }
    }
    mpfr_clears(mass, loss, (mpfr_ptr)0);
}

static void compare_mixture(const mixture *m, const char *epsilon_text)
{
    char yaml[300];
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_file file;
    assay_guarantee g;
    mpq_t epsilon;
    mpfr_t truth;
    mpq_init(epsilon);
    mpfr_init2(truth, BITS);
    assay_guarantee_init(&g);
    assert_int_equal(assay_rational_parse(epsilon, epsilon_text, "e", &err), 0);
    (void)snprintf(yaml, sizeof yaml,
                   "events: [{mechanism: pure, epsilon: %u/100, count: %u}, "
                   "{mechanism: noisy-max, epsilon: %u/100, count: %u}, "
                   "{mechanism: pure, epsilon: %u/100, count: %u}]",
                   m->e[0], m->n[0], m->e[1], m->n[1], m->e[2], m->n[2]);
    assert_int_equal(assay_event_file_parse(&file, yaml, strlen(yaml), &err),
                     0);
    mixture_delta(truth, m, epsilon);
    assert_int_equal(assay_account_delta(&g, &file.list, epsilon, NULL, &err),
                     0);
    if (mpfr_cmp_q(truth, g.bounds[0].delta) > 0) {
        fail_msg("%s at %s: %.17g below %.17g", yaml, epsilon_text,
                 mpq_get_d(g.bounds[0].delta), mpfr_get_d(truth, UP));
    }
    /* back: the epsilon at that delta is between this one and 0.1 % more */
    mpq_t delta;
    mpq_init(delta);
    mpq_set(delta, g.bounds[0].delta);
    assert_int_equal(assay_account(&g, &file.list, delta, NULL, &err), 0);
    mpq_clear(delta);
    double e = mpq_get_d(g.bounds[0].epsilon);
    if (e > mpq_get_d(epsilon) * 1.001) {
        fail_msg("%s: %.12g, not %s", yaml, e, epsilon_text);
    }
    assay_guarantee_clear(&g);
    assay_event_file_clear(&file);
    mpq_clear(epsilon);
    mpfr_clear(truth);
}

static void different_epsilons_from_above(void **state)
{
    (void)state;
    const mixture m[4] = {{{10, 25, 100}, {20, 10, 3}},
                          {{379, 111, 50}, {3, 4, 2}},
                          {{3, 200, 71}, {30, 1, 8}},
                          {{7, 11, 13}, {12, 14, 16}}};
    compare_mixture(&m[0], "2");
    compare_mixture(&m[0], "6");
    compare_mixture(&m[1], "12");
    compare_mixture(&m[1], "16");
    compare_mixture(&m[2], "3");
    compare_mixture(&m[3], "1");
    compare_mixture(&m[3], "4");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_composition),
        cmocka_unit_test(randomised_response),
        cmocka_unit_test(optimal_composition_of_a_fixed_epsilon),
        cmocka_unit_test(different_epsilons_from_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
