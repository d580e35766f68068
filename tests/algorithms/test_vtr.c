/* UCRL-VTR: sensitivity of the reports, limits, learning. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/environments.h"
#include "algorithms/simulate.h"
#include "mechanisms/local_report.h"
#include "tests/support/custodian.h"

static const assay_shape SHAPE = {3, 2, 6};

static void random_episode(assay_online_step *steps, assay_envrand *rand)
{
    for (uint32_t h = 0; h < SHAPE.horizon; h++) {
        steps[h].s = assay_envrand_below(rand, 3);
        steps[h].a = assay_envrand_below(rand, 2);
        steps[h].s_next = assay_envrand_below(rand, 3);
        steps[h].cost = 0.0;
    }
}

/* A model with wild numbers: the user's clip must hold whatever she gets. */
static void wild_model(assay_vtr_model *model, assay_envrand *rand,
                       double *theta, double *inverse, double *visits)
{
    model->shape = SHAPE;
    model->statistics = ASSAY_VTR_PRINTED;
    model->theta = theta;
    model->inverse = inverse;
    model->visits = visits;
    model->beta = 10.0 * assay_envrand_unit(rand);
    model->ridge = 1.0;
    for (size_t i = 0; i < 90; i++) {
        theta[i] = 40.0 * assay_envrand_unit(rand) - 10.0;
    }
    for (size_t i = 0; i < 270; i++) {
        inverse[i] = assay_envrand_unit(rand);
    }
    for (size_t i = 0; i < 30; i++) {
        visits[i] = 100.0 * assay_envrand_unit(rand);
    }
}

static double distance2(const int64_t *one, const int64_t *two, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)(one[i] - two[i]);
        sum += d * d;
    }
    return sum;
}

static void reports_stay_within_the_sensitivity(void **state)
{
    assay_envrand rand;
    (void)state;
    assay_envrand_init(&rand, 6, 0);
    for (int kind = 0; kind < 2; kind++) {
        assay_vtr_params params;
        assay_vtr_user *user = NULL;
        assay_vtr_model model;
        assay_error err = ASSAY_ERROR_INIT;
        double theta[90];
        double inverse[270];
        double visits[30];
        double rewards[36];
        double bound;
        double worst = 0.0;
        int64_t one[512];
        int64_t two[512];
        mpq_t exact;
        mpq_init(exact);
        assay_vtr_params_init(&params);
        params.statistics = (assay_vtr_statistics)kind;
        assert_int_equal(assay_vtr_user_new(&user, &SHAPE, &params, &err), 0);
        assay_vtr_sensitivity(exact, &params, &SHAPE);
        bound = mpq_get_d(exact);
        for (int trial = 0; trial < 4000; trial++) {
            assay_online_step steps[6];
            size_t n = assay_vtr_report_len(&params, &SHAPE);
            assert_true(n <= 512);
            for (size_t i = 0; i < 36; i++) {
                rewards[i] = assay_envrand_unit(&rand);
            }
            wild_model(&model, &rand, theta, inverse, visits);
            model.statistics = params.statistics;
            assay_vtr_user_plan(user, &model, rewards);
            random_episode(steps, &rand);
            assay_vtr_user_statistics(one, user, steps);
            random_episode(steps, &rand);
            assay_vtr_user_statistics(two, user, steps);
            worst = fmax(worst, distance2(one, two, n));
            assert_true(distance2(one, two, n) <= bound);
        }
        assert_true(worst > 0.2 * bound);
        assay_vtr_user_free(user);
        assay_vtr_params_clear(&params);
        mpq_clear(exact);
    }
}

/* Counts: two users who never meet differ by exactly 2 (H-1). */
static void worst_case_attains_the_sensitivity(void **state)
{
    assay_vtr_params params;
    assay_vtr_user *user = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assay_online_step one[6];
    assay_online_step two[6];
    int64_t left[90];
    int64_t right[90];
    (void)state;
    assay_vtr_params_init(&params);
    assert_int_equal(assay_vtr_user_new(&user, &SHAPE, &params, &err), 0);
    for (uint32_t h = 0; h < 6; h++) {
        one[h] = (assay_online_step){0, 0, 0, 0.0};
        two[h] = (assay_online_step){1, 1, 1, 0.0};
    }
    assay_vtr_user_statistics(left, user, one);
    assay_vtr_user_statistics(right, user, two);
    assert_true(fabs(distance2(left, right, 90) - 10.0) < 1e-12);
    assay_vtr_user_free(user);
    assay_vtr_params_clear(&params);
}

static void run_curve(double *out, const assay_vtr_params *params,
                      assay_custodian *custodian)
{
    assay_mdp *mdp = NULL;
    assay_curve curve = {0, NULL, NULL};
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_environment_new(&mdp, "riverswim", &err), 0);
    assert_int_equal(assay_curve_init(&curve, params->episodes, 50, &err), 0);
    assert_int_equal(
        assay_simulate_vtr(&curve, mdp, params, custodian, 3, 0, NULL, &err),
        0);
    memcpy(out, curve.regret, 50 * sizeof(double));
    assay_curve_clear(&curve);
    assay_mdp_free(mdp);
}

static void without_noise_it_learns_and_decides_the_same(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        assay_vtr_params params;
        test_vault vault;
        double open[50];
        double closed[50];
        test_vault_open(&vault, NULL, NULL,
                        "1000000000000000000000000000000000000000000000000000",
                        1);
        assay_vtr_params_init(&params);
        params.statistics = (assay_vtr_statistics)kind;
        params.bonus = 0.3;
        run_curve(open, &params, NULL);
        assert_true(open[49] < 1000.0); /* acting at random: 12190 */
        assert_true(open[49] - open[39] < 200.0);
        params.noise = ASSAY_NOISE_GAUSSIAN;
        assert_int_equal(
            mpq_set_str(params.budget,
                        "10000000000000000000000000000000000000000000000", 10),
            0);
        run_curve(closed, &params, &vault.custodian);
        assert_memory_equal(open, closed, sizeof open);
        assert_int_equal(test_vault_rows(&vault), 1);
        assay_vtr_params_clear(&params);
        test_vault_close(&vault);
    }
}

static void reports_end_with_the_charge(void **state)
{
    assay_local_reporter *reporter = NULL;
    test_vault vault;
    assay_error err = ASSAY_ERROR_INIT;
    int64_t x[2] = {5, 6};
    mpq_t one;
    (void)state;
    mpq_init(one);
    mpq_set_ui(one, 1, 1);
    test_vault_open(&vault, NULL, NULL, "1/2", 1);
    assert_int_equal(assay_local_reporter_new_laplace(&reporter,
                                                      &vault.custodian, 2, 2,
                                                      one, one, "t", &err),
                     0);
    assert_int_equal(assay_local_report(reporter, x, x, &err), 0);
    assert_int_equal(assay_local_report(reporter, x, x, &err), 0);
    assert_int_equal(assay_local_report(reporter, x, x, &err), ASSAY_INVALID);
    assay_local_reporter_free(reporter);
    reporter = NULL;
    assert_int_equal(assay_local_reporter_new_laplace(&reporter,
                                                      &vault.custodian, 2, 2,
                                                      one, one, "t", &err),
                     ASSAY_BUDGET);
    assert_null(reporter);
    test_vault_close(&vault);
    mpq_clear(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_stay_within_the_sensitivity),
        cmocka_unit_test(worst_case_attains_the_sensitivity),
        cmocka_unit_test(without_noise_it_learns_and_decides_the_same),
        cmocka_unit_test(reports_end_with_the_charge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
