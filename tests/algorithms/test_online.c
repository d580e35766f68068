/* Online learners: sensitivity, limits, learning, charges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/board.h"
#include "algorithms/environments.h"
#include "algorithms/simulate.h"
#include "tests/support/custodian.h"

#define HUGE_BUDGET                                                            \
    "1"                                                                        \
    "00000000000000000000000000000000000000000000000000"                       \
    "00000000000000000000000000000000000000000000000000"

static const assay_shape SHAPE = {3, 2, 6};

static void random_episode(assay_online_step *steps, assay_envrand *rand)
{
    for (uint32_t h = 0; h < SHAPE.horizon; h++) {
        steps[h].s = assay_envrand_below(rand, 3);
        steps[h].a = assay_envrand_below(rand, 2);
        steps[h].s_next = assay_envrand_below(rand, 3);
        steps[h].cost = assay_envrand_unit(rand) * 3.0 - 1.0; /* clipped */
    }
}

/* l1 and squared l2 distance, costs in units of 1. */
static void distance(double *l1, double *l2, const assay_online_step *one,
                     const assay_online_step *two, int triples_only)
{
    int64_t cell[2][36 + 108] = {{0}, {0}};
    int64_t cost[2][36] = {{0}, {0}};
    assay_board_contribution(cell[0], cost[0], &SHAPE, 10, one);
    assay_board_contribution(cell[1], cost[1], &SHAPE, 10, two);
    *l1 = 0.0;
    *l2 = 0.0;
    for (size_t i = triples_only ? 36 : 0; i < 144; i++) {
        double d = (double)(cell[0][i] - cell[1][i]);
        *l1 += fabs(d);
        *l2 += d * d;
    }
    for (size_t i = 0; i < 36; i++) {
        double d = (double)(cost[0][i] - cost[1][i]) / 1024.0;
        *l1 += fabs(d);
        *l2 += d * d;
    }
}

static void contributions_stay_within_the_sensitivity(void **state)
{
    assay_envrand rand;
    assay_online_params params;
    (void)state;
    assay_online_params_init(&params);
    assay_envrand_init(&rand, 4, 0);
    for (int trial = 0; trial < 20000; trial++) {
        assay_online_step one[6];
        assay_online_step two[6];
        double l1;
        double l2;
        random_episode(one, &rand);
        random_episode(two, &rand);
        for (int t = 0; t < 2; t++) {
            double bound;
            params.triples_only = t;
            bound = (double)assay_online_sensitivity(&params, &SHAPE);
            distance(&l1, &l2, one, two, t);
            assert_true(l1 <= bound && l2 <= bound);
        }
    }
    assay_online_params_clear(&params);
}

static void worst_case_attains_the_sensitivity(void **state)
{
    assay_online_step one[6];
    assay_online_step two[6];
    double l1;
    double l2;
    (void)state;
    for (uint32_t h = 0; h < 6; h++) {
        one[h] = (assay_online_step){0, 0, 0, 1.0};
        two[h] = (assay_online_step){1, 1, 1, 1.0};
    }
    distance(&l1, &l2, one, two, 0);
    assert_true(l1 >= 36.0 && l2 >= 36.0);
    distance(&l1, &l2, one, two, 1);
    assert_true(l1 >= 24.0 && l2 >= 24.0);
}

static assay_mdp *riverswim(void)
{
    assay_mdp *mdp = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_environment_new(&mdp, "riverswim", &err), 0);
    return mdp;
}

static double regret_of(const assay_online_params *params,
                        assay_custodian *custodian, double *curve_out)
{
    assay_mdp *mdp = riverswim();
    assay_curve curve = {0, NULL, NULL};
    assay_error err = ASSAY_ERROR_INIT;
    double end;
    assert_int_equal(assay_curve_init(&curve, params->episodes, 50, &err), 0);
    if (assay_simulate_online(&curve, mdp, params, custodian, 7, 0, NULL,
                              &err) != ASSAY_OK) {
        print_error("%s\n", err.message);
        fail();
    }
    end = curve.regret[curve.num_points - 1];
    if (curve_out != NULL) {
        memcpy(curve_out, curve.regret, 50 * sizeof(double));
    }
    assay_curve_clear(&curve);
    assay_mdp_free(mdp);
    return end;
}

/* With a budget so large that no noise is drawn the regret curve is the same
 * to the last bit: the same decisions in every episode. */
static void without_noise_the_decisions_are_the_same(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        assay_online_params params;
        double open[50];
        double closed[50];
        test_vault vault;
        test_vault_open(&vault, NULL, NULL, HUGE_BUDGET, 1);
        assay_online_params_init(&params);
        params.rule = (assay_online_rule)(i % 4);
        params.episodes = 600;
        params.triples_only = i >= 12;
        assert_int_equal(
            mpq_set_str(params.budget,
                        "10000000000000000000000000000000000000000", 10),
            0);
        (void)regret_of(&params, NULL, open);
        params.trust = i % 8 < 4 ? ASSAY_TRUST_CENTRAL : ASSAY_TRUST_LOCAL;
        params.noise = i < 8 ? ASSAY_NOISE_LAPLACE : ASSAY_NOISE_GAUSSIAN;
        (void)regret_of(&params, &vault.custodian, closed);
        assert_memory_equal(open, closed, sizeof open);
        assert_int_equal(test_vault_rows(&vault), 2);
        assay_online_params_clear(&params);
        test_vault_close(&vault);
    }
}

/* UCB-VI and PUCB end in the optimal policy: nothing is lost any more. */
static void learners_without_noise_find_the_optimum(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        static const assay_online_rule rules[] = {ASSAY_UCB_VI, ASSAY_PUCB,
                                                  ASSAY_LDP_OB};
        assay_online_params params;
        double curve[50];
        double slope;
        assay_online_params_init(&params);
        params.rule = rules[i];
        params.episodes = 50000;
        params.bonus_scale = 0.02;
        (void)regret_of(&params, NULL, curve);
        slope = (curve[49] - curve[39]) / 10000.0;
        assert_true(slope < 1e-3);
        assay_online_params_clear(&params);
    }
}

/* UCB-PO improves slowly; it must beat acting at random by far. */
static void policy_optimisation_improves(void **state)
{
    assay_online_params params;
    double regret;
    (void)state;
    assay_online_params_init(&params);
    params.rule = ASSAY_UCB_PO;
    params.episodes = 20000;
    params.bonus_scale = 0.02;
    regret = regret_of(&params, NULL, NULL);
    assert_true(regret < 0.5 * 1.2191615 * 20000.0);
    assay_online_params_clear(&params);
}

/* Two charges for a whole run, whose epsilons sum to the budget exactly. */
static void the_run_costs_the_budget(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        assay_online_params params;
        test_vault vault;
        /* rho of pure epsilon e is e^2/2: 1/18 + 2/9 for 1/3 + 2/3 */
        test_vault_open(&vault, NULL, NULL, i % 2 == 0 ? "5/18" : "1", 1);
        assay_online_params_init(&params);
        params.episodes = 100;
        params.trust = i < 2 ? ASSAY_TRUST_CENTRAL : ASSAY_TRUST_LOCAL;
        params.noise = i % 2 == 0 ? ASSAY_NOISE_LAPLACE : ASSAY_NOISE_GAUSSIAN;
        (void)regret_of(&params, &vault.custodian, NULL);
        assert_int_equal(test_vault_rows(&vault), 2);
        assert_true(fabs(test_vault_spent_rho(&vault) -
                         (i % 2 == 0 ? 5.0 / 18.0 : 1.0)) < 1e-12);
        assay_online_params_clear(&params);
        test_vault_close(&vault);
    }
}

static void no_budget_no_learner(void **state)
{
    assay_online_params params;
    assay_online *learner = NULL;
    test_vault vault;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    test_vault_open(&vault, NULL, NULL, "1/10", 1);
    assay_online_params_init(&params);
    params.trust = ASSAY_TRUST_CENTRAL;
    assert_int_equal(
        assay_online_new(&learner, &SHAPE, &params, &vault.custodian, &err),
        ASSAY_BUDGET);
    assert_null(learner);
    assert_int_equal(assay_online_new(&learner, &SHAPE, &params, NULL, &err),
                     ASSAY_INVALID);
    test_vault_close(&vault);
    test_vault_open(&vault, NULL, NULL, "100", 0);
    assert_int_equal(
        assay_online_new(&learner, &SHAPE, &params, &vault.custodian, &err),
        ASSAY_INVALID); /* an add-remove ledger */
    assert_int_equal(test_vault_rows(&vault), 0);
    test_vault_close(&vault);
    assay_online_params_clear(&params);
}

/* Unary encoding: the debiased sums are right on average, and the charge is
 * within the budget. 5 standard deviations; 20000 reports. */
static void unary_sums_are_unbiased(void **state)
{
    assay_online_params params;
    assay_board board;
    assay_online_step steps[6];
    test_vault vault;
    assay_error err = ASSAY_ERROR_INIT;
    double q;
    double limit;
    (void)state;
    test_vault_open(&vault, "10", "0", NULL, 1);
    assay_online_params_init(&params);
    params.episodes = 20001;
    params.trust = ASSAY_TRUST_LOCAL;
    params.noise = ASSAY_NOISE_UNARY;
    mpq_set_ui(params.budget, 10, 1);
    q = (double)assay_board_unary_q(&params, &SHAPE) / 4294967296.0;
    assert_true(6.0 * log((1.0 - q) / q) <= 5.0);
    assert_true(6.0 * log((1.0 - q) / q) > 4.999);
    assert_int_equal(
        assay_board_init(&board, &SHAPE, &params, &vault.custodian, &err), 0);
    for (uint32_t h = 0; h < 6; h++) {
        steps[h] = (assay_online_step){h % 3, h % 2, (h + 1) % 3, 0.5};
    }
    for (int k = 0; k < 20000; k++) {
        assert_int_equal(assay_board_add(&board, steps, &err), 0);
    }
    limit = 5.0 * sqrt(20000.0 * q * (1.0 - q)) / (0.5 - q);
    limit = fmax(limit, 5.0 * sqrt(20000.0 * 0.25) / (0.5 - q)) + 1.0;
    for (uint32_t h = 0; h < 6; h++) {
        size_t hit = assay_shape_pair(&SHAPE, h, h % 3, h % 2) * 3;
        for (size_t i = 0; i < 18; i++) {
            size_t at = (size_t)h * 18 + i;
            double want = at == hit + (h + 1) % 3 ? 20000.0 : 0.0;
            assert_true(fabs((double)board.cell[36 + at] - want) < limit);
        }
    }
    assert_int_equal(test_vault_rows(&vault), 2);
    assert_true(test_vault_spent_epsilon(&vault) <= 10.0);
    assert_true(test_vault_spent_epsilon(&vault) > 9.99);
    assay_board_clear(&board);
    assay_online_params_clear(&params);
    test_vault_close(&vault);
}

/* What user k is told does not change with her own data (billboard). */
static void a_user_sees_a_board_without_herself(void **state)
{
    assay_online_params params;
    assay_online *learner = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assay_online_step bad[6];
    uint32_t before[18];
    (void)state;
    assay_online_params_init(&params);
    assert_int_equal(assay_online_new(&learner, &SHAPE, &params, NULL, &err),
                     0);
    (void)assay_online_plan(learner);
    memcpy(before, assay_online_policy(learner)->action, sizeof before);
    for (uint32_t h = 0; h < 6; h++) {
        bad[h] = (assay_online_step){0, 0, 0, 1.0};
    }
    assert_int_equal(assay_online_observe(learner, bad, &err), 0);
    assert_memory_equal(before, assay_online_policy(learner)->action,
                        sizeof before);
    bad[2].s = 3;
    assert_int_equal(assay_online_observe(learner, bad, &err), ASSAY_INVALID);
    assay_online_free(learner);
    assay_online_params_clear(&params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contributions_stay_within_the_sensitivity),
        cmocka_unit_test(worst_case_attains_the_sensitivity),
        cmocka_unit_test(without_noise_the_decisions_are_the_same),
        cmocka_unit_test(learners_without_noise_find_the_optimum),
        cmocka_unit_test(policy_optimisation_improves),
        cmocka_unit_test(the_run_costs_the_budget),
        cmocka_unit_test(no_budget_no_learner),
        cmocka_unit_test(unary_sums_are_unbiased),
        cmocka_unit_test(a_user_sees_a_board_without_herself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
