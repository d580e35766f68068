/* Policy evaluation: closed forms, clipping, accounting, learning. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "algorithms/envrand.h"
#include "algorithms/ope.h"
#include "mechanisms/sampled_sum.h"
#include "tests/support/custodian.h"
#include "tests/support/support.h"

#define GAMMA 0.99
#define D 39

static assay_episodes *chain(size_t m, uint64_t seed)
{
    assay_episodes *e = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_episodes_chain(&e, 40, m, seed, &err), 0);
    return e;
}

static assay_ope_model *exact_with(double fixed_length)
{
    assay_ope_model *m = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_ope_model_chain(&m, 40, GAMMA, fixed_length, &err),
                     0);
    return m;
}

static assay_ope_model *exact(void)
{
    return exact_with(0.0);
}

static double mspbe(const assay_ope_model *model, const double *theta)
{
    double out = -1.0;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_ope_mspbe(&out, model, theta, &err), 0);
    return out;
}

/* V(s) = gamma^-1 x^(n-s) with x = (gamma/2)/(1 - gamma/2) */
static double chain_value(size_t s)
{
    double x = 0.5 * GAMMA / (1.0 - 0.5 * GAMMA);
    return pow(x, (double)(D - s)) / GAMMA;
}

static void the_exact_model_has_the_known_value(void **state)
{
    assay_ope_model *m = exact_with(40.0);
    assay_error err = ASSAY_ERROR_INIT;
    double theta[D];
    double zero[D] = {0.0};
    (void)state;
    assert_int_equal(assay_lstd(theta, m, 0.0, &err), 0);
    for (size_t s = 0; s < D; s++) {
        assert_true(fabs(theta[s] - chain_value(s)) < 1e-9);
    }
    assert_true(mspbe(m, theta) < 1e-20);
    assert_true(fabs(mspbe(m, zero) - 0.0125) < 1e-9); /* 1/(2 40) */
    assay_ope_model_free(m);
    m = exact(); /* as printed: another fixed point */
    assert_int_equal(assay_lstd(theta, m, 0.0, &err), 0);
    assert_true(mspbe(m, theta) < 1e-20);
    assert_true(fabs(theta[D - 1] - chain_value(D - 1)) > 1e-3);
    /* of predicting zero: b^2/C at the last state; 0.0377 by simulation */
    assert_true(fabs(mspbe(m, zero) - 0.0366884) < 1e-6);
    assay_ope_model_free(m);
}

static void the_mean_of_episodes_is_the_exact_model(void **state)
{
    assay_episodes *e = chain(100000, 4);
    assay_ope_model *m = exact();
    assay_ope_model *fit = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    double theta[D];
    (void)state;
    assert_int_equal(assay_ope_model_fit(&fit, e, GAMMA, &err), 0);
    for (size_t i = 0; i < D * D; i++) {
        assert_true(fabs(fit->a[i] - m->a[i]) < 2e-3);
        assert_true(fabs(fit->c[i] - m->c[i]) < 2e-3);
    }
    assert_true(fabs(fit->b[D - 1] - m->b[D - 1]) < 2e-3);
    assert_int_equal(assay_lstd(theta, fit, 0.0, &err), 0);
    assert_true(mspbe(m, theta) < 1e-5);
    assay_ope_model_free(fit);
    assay_ope_model_free(m);
    assay_episodes_free(e);
}

/* Off-policy: data of a coin p, target a coin q; weights make up for it. */
static void weights_make_lstd_evaluate_the_target(void **state)
{
    assay_episodes *e = NULL;
    assay_ope_model *fit = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assay_envrand rand;
    double theta[4];
    double x = 0.8 * 0.9 / (1.0 - 0.2 * 0.9); /* advance 0.8, gamma 0.9 */
    (void)state;
    assert_int_equal(assay_episodes_new(&e, 4, 10.0, &err), 0);
    assert_int_equal(assay_episodes_add_units(e, &err), 0);
    e->fixed_length = 5.0;
    assay_envrand_init(&rand, 2, 0);
    for (int i = 0; i < 60000; i++) {
        uint32_t s = assay_envrand_below(&rand, 4);
        while (s < 4) {
            uint32_t go = assay_envrand_unit(&rand) < 0.5;
            assert_int_equal(assay_episodes_add_step(
                                 e, s, s + go == 4 ? ASSAY_TERMINAL : s + go,
                                 s + go == 4 ? 1.0 : 0.0, go ? 1.6 : 0.4, &err),
                             0);
            s += go;
        }
        assert_int_equal(assay_episodes_end(e, &err), 0);
    }
    assert_int_equal(assay_ope_model_fit(&fit, e, 0.9, &err), 0);
    assert_int_equal(assay_lstd(theta, fit, 0.0, &err), 0);
    for (size_t s = 0; s < 4; s++) {
        double v = pow(x, (double)(4 - s)) / 0.9;
        assert_true(fabs(theta[s] - v) < 0.02);
    }
    assay_ope_model_free(fit);
    assay_episodes_free(e);
}

static void gtd2_comes_near_the_fixed_point(void **state)
{
    assay_episodes *e = chain(3000, 5);
    assay_ope_model *m = exact();
    assay_error err = ASSAY_ERROR_INIT;
    double theta[D];
    double zero[D] = {0.0};
    (void)state;
    for (int diminishing = 0; diminishing < 2; diminishing++) {
        assay_step_size size = {2.0, diminishing, 0.0};
        assert_int_equal(assay_gtd2(theta, e, GAMMA, size, 30000, 1, &err), 0);
        assert_true(mspbe(m, theta) < 0.2 * mspbe(m, zero));
    }
    assay_ope_model_free(m);
    assay_episodes_free(e);
}

static double norm2(const int64_t *x, const int64_t *y, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)(x[i] - (y == NULL ? 0 : y[i]));
        sum += d * d;
    }
    return sum;
}

/* Two episodes on a line whose gradients are opposite: distance 2h. */
static void opposite_gradients_attain_twice_the_clip(void **state)
{
    assay_episodes *e = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assay_envrand rand;
    double one = 1.0;
    double x[2] = {0.0, 0.0};
    double work[2];
    int64_t left[2];
    int64_t right[2];
    (void)state;
    assert_int_equal(assay_episodes_new(&e, 1, 1e6, &err), 0);
    assert_int_equal(assay_episodes_add_vector(e, &one, NULL, &err), 0);
    assert_int_equal(
        assay_episodes_add_step(e, 0, ASSAY_TERMINAL, 1e5, 1.0, &err), 0);
    assert_int_equal(assay_episodes_end(e, &err), 0);
    assert_int_equal(
        assay_episodes_add_step(e, 0, ASSAY_TERMINAL, -1e5, 1.0, &err), 0);
    assert_int_equal(assay_episodes_end(e, &err), 0);
    assay_gpope_gradient(left, work, e, 0, 0.9, x, 10, 1024);
    assay_gpope_gradient(right, work, e, 1, 0.9, x, 10, 1024);
    assert_int_equal((int64_t)norm2(left, right, 2), 4 * 1024 * 1024);
    assay_envrand_init(&rand, 9, 0);
    for (int i = 0; i < 5000; i++) { /* whatever the iterate and the weights */
        x[0] = ldexp(assay_envrand_unit(&rand) - 0.5, i % 60);
        x[1] = ldexp(assay_envrand_unit(&rand) - 0.5, i % 47);
        e->weight[0] = assay_envrand_unit(&rand) * 1e6;
        assay_gpope_gradient(left, work, e, 0, 0.9, x, 10, 1024);
        assert_true(norm2(left, NULL, 2) <= 1024.0 * 1024.0);
    }
    assay_episodes_free(e);
}

static void rate_and_order_are_as_charged(void **state)
{
    assay_sampled_sum *sum = NULL;
    assay_sampling_plan plan;
    assay_error err = ASSAY_ERROR_INIT;
    test_vault vault;
    uint64_t chosen[1000];
    uint64_t hits[2] = {0, 0};
    size_t n = 0;
    int64_t x[1] = {7};
    mpq_t one;
    (void)state;
    mpq_init(one);
    mpq_set_ui(one, 1, 1);
    memset(&plan, 0, sizeof plan);
    plan.poisson = 1;
    plan.rate_bits = 3;
    plan.population = 1000;
    plan.num_steps = 400;
    plan.dimension = 1;
    plan.sigma2 = one;
    plan.sensitivity2 = one;
    test_vault_open(&vault, "100000", "1/100000", NULL, 0);
    assert_int_equal(
        assay_sampled_sum_new(&sum, &vault.custodian, &plan, "t", &err), 0);
    assert_int_equal(test_vault_rows(&vault), 1);
    assert_int_equal(assay_sampled_sum_release(sum, x, x, &err), ASSAY_INVALID);
    for (int i = 0; i < 400; i++) {
        assert_int_equal(assay_sampled_sum_draw(sum, chosen, &n, &err), 0);
        for (size_t k = 0; k < n; k++) {
            assert_true(chosen[k] < 1000);
            assert_true(k == 0 || chosen[k] > chosen[k - 1]);
            hits[chosen[k] >= 500]++;
        }
        assert_int_equal(assay_sampled_sum_draw(sum, chosen, &n, &err),
                         ASSAY_INVALID);
        assert_int_equal(assay_sampled_sum_release(sum, x, x, &err), 0);
    }
    assert_int_equal(assay_sampled_sum_draw(sum, chosen, &n, &err),
                     ASSAY_INVALID);
    /* 200000 coins each: 25000 +- 148; 7 deviations */
    assert_true(fabs((double)hits[0] - 25000.0) < 1036.0);
    assert_true(fabs((double)hits[1] - 25000.0) < 1036.0);
    assay_sampled_sum_free(sum);
    test_vault_close(&vault);
    test_vault_open(&vault, NULL, NULL, "100000", 1); /* wrong relation */
    sum = NULL;
    assert_int_not_equal(
        assay_sampled_sum_new(&sum, &vault.custodian, &plan, "t", &err), 0);
    assert_null(sum);
    test_vault_close(&vault);
    mpq_clear(one);
}

static double calibrated(int poisson, unsigned bits, uint64_t m, uint64_t steps,
                         const char *epsilon)
{
    assay_gpope_params p;
    assay_error err = ASSAY_ERROR_INIT;
    mpq_t eps;
    mpq_t delta;
    mpq_t sigma;
    double out;
    mpq_init(eps);
    mpq_init(delta);
    mpq_init(sigma);
    support_rational(eps, epsilon);
    support_rational(delta, "1e-5");
    assay_gpope_params_init(&p);
    p.poisson = poisson;
    p.rate_bits = bits;
    p.num_steps = steps;
    assert_int_equal(
        assay_gpope_calibrate(sigma, &p, m, eps, delta, NULL, &err), 0);
    out = mpq_get_d(sigma);
    assay_gpope_params_clear(&p);
    mpq_clear(eps);
    mpq_clear(delta);
    mpq_clear(sigma);
    return out;
}

/* Needed sigma at distance 2h against the printed one. */
static void calibration_needs_more_than_the_print(void **state)
{
    double a = calibrated(0, 0, 10000, 10000, "0.1");
    double b = calibrated(0, 0, 1000, 1000, "1");
    double c = calibrated(1, 10, 1024, 1000, "1");
    (void)state;
    print_message("sigma: m=10000 eps=0.1 %.4f, m=1000 eps=1 %.4f, Poisson "
                  "%.4f\n",
                  a, b, c);
    assert_true(a > 1.14 && a < 1.75); /* printed 1.14, needed 1.51 */
    assert_true(b > 0.57 && b < 1.5);  /* printed 0.57, needed 1.29 */
    assert_true(c < b);                /* half the distance */
}

static void gpope_learns_and_is_charged(void **state)
{
    assay_ope_model *m = exact();
    double zero[D] = {0.0};
    (void)state;
    for (int poisson = 0; poisson < 2; poisson++) {
        assay_episodes *e = chain(8192, 6);
        assay_gpope_params p;
        assay_error err = ASSAY_ERROR_INIT;
        test_vault vault;
        double theta[D];
        test_vault_open(&vault, "100", "1/100000", NULL, !poisson);
        assay_gpope_params_init(&p);
        p.poisson = poisson;
        p.rate_bits = 13;
        p.num_steps = 8192;
        mpq_set_ui(p.sigma, 3, 2);
        assert_int_equal(assay_gpope(theta, e, &p, &vault.custodian, &err), 0);
        assert_int_equal(test_vault_rows(&vault), 1);
        assert_true(test_vault_spent_epsilon(&vault) > 0.0);
        print_message("poisson %d: MSPBE %.5f of %.5f, epsilon %.3f\n", poisson,
                      mspbe(m, theta), mspbe(m, zero),
                      test_vault_spent_epsilon(&vault));
        assert_true(mspbe(m, theta) < 0.5 * mspbe(m, zero));
        assay_gpope_params_clear(&p);
        test_vault_close(&vault);
        assay_episodes_free(e);
    }
    assay_ope_model_free(m);
}

/* With next to no noise GPOPE is GTD2 with clipping: it learns as well. */
static void without_noise_gpope_comes_near(void **state)
{
    assay_episodes *e = chain(1024, 7);
    assay_ope_model *m = exact();
    assay_gpope_params p;
    assay_error err = ASSAY_ERROR_INIT;
    test_vault vault;
    double theta[D];
    double zero[D] = {0.0};
    (void)state;
    test_vault_open(&vault, "1000000000000000000", "1/100000", NULL, 0);
    assay_gpope_params_init(&p);
    p.num_steps = 20000;
    p.size.beta = 1.0;
    mpq_set_ui(p.clip, 100, 1);
    mpq_set_ui(p.sigma, 1, 1000000);
    assert_int_equal(assay_gpope(theta, e, &p, &vault.custodian, &err), 0);
    assert_true(mspbe(m, theta) < 0.25 * mspbe(m, zero));
    assay_gpope_params_clear(&p);
    test_vault_close(&vault);
    assay_ope_model_free(m);
    assay_episodes_free(e);
}

/* Formulas of the paper on numbers worked out by hand. */
static void output_scales_follow_the_formulas(void **state)
{
    assay_output_params p;
    uint64_t visits[2] = {4, 1};
    double logs = log(2.0 / 1e-5);
    double alpha = 5.0 * sqrt(2.0 * logs);
    double beta = 1.0 / (4.0 * (2.0 + logs));
    double k0;
    double k3;
    (void)state;
    memset(&p, 0, sizeof p);
    mpq_init(p.epsilon);
    mpq_init(p.delta);
    support_rational(p.epsilon, "1");
    support_rational(p.delta, "1e-5");
    p.gamma = 0.5;
    p.max_reward = 1.0;
    p.lambda = 3.0;
    /* k = 0: 1/16 + 1; k = 3: e^{-3 beta} 2 is the largest */
    k0 = 1.0625;
    k3 = exp(-3.0 * beta) * 2.0;
    assert_true(fabs(assay_output_sigma(&p, visits, 2, 10) -
                     alpha * 2.0 * sqrt(fmax(k0, k3))) < 1e-9);
    p.kind = ASSAY_LSL;
    double best = 0.0;
    for (int k = 0; k <= 10; k++) {
        double sum = fmin(4.0 + k, 10.0) + fmin(1.0 + k, 10.0);
        double root = sqrt(sum / 6.0) + sqrt(2.0);
        best = fmax(best, exp(-beta * k) * root * root);
    }
    assert_true(fabs(assay_output_sigma(&p, visits, 2, 10) -
                     2.0 * alpha * 2.0 / 2.0 * sqrt(best)) < 1e-9);
    mpq_clear(p.epsilon);
    mpq_clear(p.delta);
}

static void output_perturbation_runs_and_is_marked_assumed(void **state)
{
    assay_episodes *e = chain(500, 8);
    assay_output_params p;
    (void)state;
    memset(&p, 0, sizeof p);
    mpq_init(p.epsilon);
    mpq_init(p.delta);
    support_rational(p.epsilon, "1/10");
    support_rational(p.delta, "1e-5");
    p.gamma = GAMMA;
    p.max_reward = 1.0;
    p.lambda = 500.0;
    for (int kind = 0; kind < 2; kind++) {
        assay_error err = ASSAY_ERROR_INIT;
        test_vault vault;
        double theta[D];
        double sigma = 0.0;
        assay_status status;
        test_vault_open(&vault, "1", "1/100000", NULL, 1);
        p.kind = (assay_output_kind)kind;
        status =
            assay_output_evaluate(theta, &sigma, e, &p, &vault.custodian, &err);
        if (status != ASSAY_OK) {
            print_message("%s\n", err.message);
        }
        assert_int_equal(status, 0);
        assert_true(sigma > 1.0 && isfinite(theta[0]));
        assert_true(test_vault_spent_epsilon(&vault) >= 0.0999);
        test_vault_close(&vault);
    }
    mpq_clear(p.epsilon);
    mpq_clear(p.delta);
    assay_episodes_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exact_model_has_the_known_value),
        cmocka_unit_test(the_mean_of_episodes_is_the_exact_model),
        cmocka_unit_test(weights_make_lstd_evaluate_the_target),
        cmocka_unit_test(gtd2_comes_near_the_fixed_point),
        cmocka_unit_test(opposite_gradients_attain_twice_the_clip),
        cmocka_unit_test(rate_and_order_are_as_charged),
        cmocka_unit_test(calibration_needs_more_than_the_print),
        cmocka_unit_test(gpope_learns_and_is_charged),
        cmocka_unit_test(without_noise_gpope_comes_near),
        cmocka_unit_test(output_scales_follow_the_formulas),
        cmocka_unit_test(output_perturbation_runs_and_is_marked_assumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
