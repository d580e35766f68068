/* DP-APVI: sensitivity, learning, limits, errors before charges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/dp_apvi.h"
#include "algorithms/environments.h"
#include "tests/support/custodian.h"

#define MAX_H 16

typedef struct fixture {
    assay_mdp *mdp;
    double *behaviour;
    assay_counts *counts;
} fixture;

static void setup(fixture *f, const char *env, uint64_t users, uint64_t seed)
{
    assay_error err = ASSAY_ERROR_INIT;
    f->counts = NULL;
    assert_int_equal(assay_environment_new(&f->mdp, env, &err), 0);
    assert_int_equal(
        assay_environment_behaviour(&f->behaviour, env, f->mdp, &err), 0);
    assert_int_equal(assay_counts_simulate(&f->counts, f->mdp, f->behaviour,
                                           users, seed, &err),
                     0);
}

static void teardown(fixture *f)
{
    assay_counts_free(f->counts);
    free(f->behaviour);
    assay_mdp_free(f->mdp);
}

static void add_random(assay_counts *counts, assay_envrand *rand,
                       uint32_t states)
{
    const assay_shape *shape = &counts->shape;
    for (uint32_t h = 0; h < shape->horizon; h++) {
        assay_counts_add(counts, h, assay_envrand_below(rand, states),
                         assay_envrand_below(rand, shape->num_actions),
                         assay_envrand_below(rand, states));
    }
}

/* Two datasets that share everything but one trajectory. */
static void sensitivity_is_never_exceeded(void **state)
{
    static const assay_shape shape = {4, 3, 7};
    assay_envrand rand;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assay_envrand_init(&rand, 21, 0);
    for (int trial = 0; trial < 3000; trial++) {
        assay_counts *one = NULL;
        assay_counts *two = NULL;
        assay_envrand common;
        int64_t l1 = 0;
        int64_t l2 = 0;
        assert_int_equal(assay_counts_new(&one, &shape, &err), 0);
        assert_int_equal(assay_counts_new(&two, &shape, &err), 0);
        common = rand;
        add_random(one, &common, 4);
        common = rand;
        add_random(two, &common, 4);
        (void)assay_envrand_next(&rand);
        add_random(one, &rand, 1 + (uint32_t)(trial % 4));
        add_random(two, &rand, 1 + (uint32_t)(trial % 4));
        assay_counts_distance(&l1, &l2, one, two, 0);
        assert_true(l1 <= 4 * 7 && l2 <= 4 * 7);
        assay_counts_distance(&l1, &l2, one, two, 1);
        assert_true(l1 <= 2 * 7 && l2 <= 2 * 7);
        assay_counts_free(one);
        assay_counts_free(two);
    }
}

/* A stays in state 0, B in state 1: every step differs in both counts. */
static void worst_case_attains_the_sensitivity(void **state)
{
    static const assay_shape shape = {2, 1, 9};
    assay_dp_apvi_params params;
    assay_counts *one = NULL;
    assay_counts *two = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    int64_t l1 = 0;
    int64_t l2 = 0;
    (void)state;
    assay_dp_apvi_params_init(&params, ASSAY_PRESET_PAPER);
    assert_int_equal(assay_counts_new(&one, &shape, &err), 0);
    assert_int_equal(assay_counts_new(&two, &shape, &err), 0);
    for (uint32_t h = 0; h < 9; h++) {
        assay_counts_add(one, h, 0, 0, 0);
        assay_counts_add(two, h, 1, 0, 1);
    }
    assay_counts_distance(&l1, &l2, one, two, 0);
    assert_int_equal(l1, assay_dp_apvi_sensitivity(&params, &shape));
    assert_int_equal(l2, assay_dp_apvi_sensitivity(&params, &shape));
    params.triples_only = 1;
    assay_counts_distance(&l1, &l2, one, two, 1);
    assert_int_equal(l1, assay_dp_apvi_sensitivity(&params, &shape));
    assert_int_equal(l2, assay_dp_apvi_sensitivity(&params, &shape));
    assay_counts_free(one);
    assay_counts_free(two);
    assay_dp_apvi_params_clear(&params);
}

/* E_rho = 4 sqrt(H log(4 H S^2 A/delta)/rho). */
static void width_is_the_printed_one(void **state)
{
    static const assay_shape shape = {5, 3, 20};
    assay_dp_apvi_params params;
    assay_dp_apvi_widths width;
    double want;
    (void)state;
    assay_dp_apvi_params_init(&params, ASSAY_PRESET_PAPER);
    mpq_set_ui(params.budget, 1, 4);
    assay_dp_apvi_widths_get(&width, &params, &shape);
    want = 4.0 * sqrt(20.0 * log(4.0 * 20 * 25 * 3 / 0.1) / 0.25);
    assert_true(fabs(2.0 * width.pair - want) < 1e-9 * want);
    assert_true(fabs(2.0 * width.triple - want) < 1e-9 * want);
    assay_dp_apvi_params_clear(&params);
}

static double gap(const fixture *f, const assay_policy *policy)
{
    assay_error err = ASSAY_ERROR_INIT;
    double best = 0.0;
    double value = 0.0;
    assert_int_equal(assay_mdp_optimum(&best, NULL, f->mdp, &err), 0);
    assert_int_equal(assay_mdp_evaluate(&value, f->mdp, policy, &err), 0);
    return best - value;
}

static void apvi_finds_the_optimum_with_enough_data(void **state)
{
    static const char *const envs[] = {"riverswim", "random:S=4,A=3,H=5"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        fixture f;
        assay_dp_apvi_params params;
        assay_policy *policy = NULL;
        assay_error err = ASSAY_ERROR_INIT;
        setup(&f, envs[i % 2], 400000, 3);
        assay_dp_apvi_params_init(&params, ASSAY_PRESET_PRACTICAL);
        params.noise = ASSAY_NOISE_NONE;
        params.penalty =
            i < 2 ? ASSAY_PENALTY_BERNSTEIN : ASSAY_PENALTY_HOEFFDING;
        assert_int_equal(assay_dp_apvi_learn(&policy, f.counts, f.mdp->reward,
                                             &params, NULL, &err),
                         0);
        if (gap(&f, policy) > 1e-12) {
            print_error("%s gap %g\n", envs[i % 2], gap(&f, policy));
        }
        assert_true(gap(&f, policy) <= 1e-12);
        assay_policy_free(policy);
        assay_dp_apvi_params_clear(&params);
        teardown(&f);
    }
}

/* rho so large that the noise is zero: the same decisions, bit for bit. */
static void without_noise_the_decisions_are_the_same(void **state)
{
    static const char *const envs[] = {"riverswim", "clinic",
                                       "random:S=6,A=3,H=5"};
    (void)state;
    for (int i = 0; i < 12; i++) {
        fixture f;
        fixture g;
        assay_dp_apvi_params params;
        assay_policy *open = NULL;
        assay_policy *closed = NULL;
        test_vault ledger;
        assay_error err = ASSAY_ERROR_INIT;
        size_t n;
        test_vault_open(&ledger, NULL, NULL,
                        "1"
                        "000000000000000000000000000000"
                        "000000000000000000000000000000"
                        "000000000000000000000000000000",
                        1);
        setup(&f, envs[i % 3], 2000, (uint64_t)i);
        setup(&g, envs[i % 3], 2000, (uint64_t)i);
        n = (size_t)f.mdp->shape.horizon * f.mdp->shape.num_states;
        assay_dp_apvi_params_init(&params, i < 6 ? ASSAY_PRESET_PRACTICAL
                                                 : ASSAY_PRESET_PAPER);
        params.noise = i % 2 == 0 ? ASSAY_NOISE_GAUSSIAN : ASSAY_NOISE_LAPLACE;
        params.triples_only = i >= 9;
        assert_int_equal(mpq_set_str(params.budget,
                                     "1"
                                     "00000000000000000000"
                                     "00000000000000000000",
                                     10),
                         0);
        assert_int_equal(assay_dp_apvi_learn(&closed, f.counts, f.mdp->reward,
                                             &params, &ledger.custodian, &err),
                         0);
        params.noise = ASSAY_NOISE_NONE;
        assert_int_equal(assay_dp_apvi_learn(&open, g.counts, g.mdp->reward,
                                             &params, NULL, &err),
                         0);
        if (memcmp(open->action, closed->action, n * sizeof(uint32_t)) != 0) {
            print_error("case %d (%s)\n", i, envs[i % 3]);
        }
        assert_memory_equal(open->action, closed->action, n * sizeof(uint32_t));
        assay_policy_free(open);
        assay_policy_free(closed);
        assay_dp_apvi_params_clear(&params);
        teardown(&f);
        teardown(&g);
        test_vault_close(&ledger);
    }
}

/* The charge is the budget exactly, once. */
static void one_charge_of_exactly_rho(void **state)
{
    fixture f;
    test_vault ledger;
    assay_dp_apvi_params params;
    assay_policy *policy = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    test_vault_open(&ledger, NULL, NULL, "1/3", 1);
    setup(&f, "riverswim", 5000, 1);
    assay_dp_apvi_params_init(&params, ASSAY_PRESET_PRACTICAL);
    mpq_set_ui(params.budget, 1, 3);
    assert_int_equal(assay_dp_apvi_learn(&policy, f.counts, f.mdp->reward,
                                         &params, &ledger.custodian, &err),
                     0);
    assert_int_equal(test_vault_rows(&ledger), 1);
    assay_policy_free(policy);
    policy = NULL;
    mpq_set_ui(params.budget, 1, 1000000000);
    assert_int_equal(assay_dp_apvi_learn(&policy, f.counts, f.mdp->reward,
                                         &params, &ledger.custodian, &err),
                     ASSAY_BUDGET);
    assert_null(policy);
    assay_dp_apvi_params_clear(&params);
    teardown(&f);
    test_vault_close(&ledger);
}

/* An uneven split is two charges that sum to rho, with the stated widths. */
static void a_split_costs_the_same(void **state)
{
    fixture f;
    test_vault ledger;
    assay_dp_apvi_params params;
    assay_dp_apvi_widths width;
    assay_policy *policy = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    double logs;
    (void)state;
    test_vault_open(&ledger, NULL, NULL, "2", 1);
    setup(&f, "riverswim", 5000, 1);
    assay_dp_apvi_params_init(&params, ASSAY_PRESET_PRACTICAL);
    mpq_set_ui(params.budget, 2, 1);
    mpq_set_ui(params.pair_share, 1, 5);
    assert_int_equal(assay_dp_apvi_learn(&policy, f.counts, f.mdp->reward,
                                         &params, &ledger.custodian, &err),
                     0);
    assert_int_equal(test_vault_rows(&ledger), 2);
    assert_true(fabs(test_vault_spent_rho(&ledger) - 2.0) < 1e-15);
    /* sigma^2 = H/(share rho), H = 6 */
    assay_dp_apvi_widths_get(&width, &params, &f.mdp->shape);
    logs = log(4.0 * 6 * 9 * 2 / 0.1);
    assert_true(fabs(width.pair - sqrt(2.0 * logs * 6.0 / 0.4)) < 1e-9);
    assert_true(fabs(width.triple - sqrt(2.0 * logs * 6.0 / 1.6)) < 1e-9);
    assay_policy_free(policy);
    assay_dp_apvi_params_clear(&params);
    teardown(&f);
    test_vault_close(&ledger);
}

static void bad_parameters_cost_nothing(void **state)
{
    fixture f;
    test_vault ledger;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    test_vault_open(&ledger, NULL, NULL, "10", 1);
    setup(&f, "riverswim", 100, 1);
    for (int i = 0; i < 5; i++) {
        assay_dp_apvi_params params;
        assay_policy *policy = NULL;
        double keep = f.mdp->reward[3];
        assay_dp_apvi_params_init(&params, ASSAY_PRESET_PAPER);
        if (i == 0) {
            params.c1 = NAN;
        } else if (i == 1) {
            params.failure = 1.0;
        } else if (i == 2) {
            mpq_set_ui(params.budget, 0, 1);
        } else if (i == 3) {
            params.c2 = -1.0;
        } else {
            f.mdp->reward[3] = 1.5;
        }
        assert_int_equal(assay_dp_apvi_learn(&policy, f.counts, f.mdp->reward,
                                             &params, &ledger.custodian, &err),
                         ASSAY_INVALID);
        assert_int_equal(test_vault_rows(&ledger), 0);
        f.mdp->reward[3] = keep;
        assay_dp_apvi_params_clear(&params);
    }
    teardown(&f);
    test_vault_close(&ledger);
}

/* Planning in strips gives the same policy for every number of threads. */
static void threads_do_not_change_the_policy(void **state)
{
    static const assay_shape shape = {120, 8, 3};
    assay_counts *counts = NULL;
    assay_dp_apvi_params params;
    assay_policy *policy[3] = {NULL, NULL, NULL};
    double *rewards = calloc(assay_shape_pairs(&shape), sizeof(double));
    double *value = calloc(3 * 120, sizeof(double));
    assay_envrand rand;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_non_null(rewards);
    assert_non_null(value);
    assert_int_equal(assay_counts_new(&counts, &shape, &err), 0);
    assay_envrand_init(&rand, 8, 0);
    for (size_t i = 0; i < counts->num_pairs + counts->num_triples; i++) {
        counts->cell[i] = (int64_t)assay_envrand_below(&rand, 200) - 40;
    }
    for (size_t i = 0; i < counts->num_pairs; i++) {
        counts->cell[i] += 9000;
        rewards[i] = assay_envrand_unit(&rand);
    }
    assay_dp_apvi_params_init(&params, ASSAY_PRESET_PRACTICAL);
    for (uint32_t k = 0; k < 3; k++) {
        params.num_threads = k + 1;
        assert_int_equal(assay_dp_apvi_plan(&policy[k], value + k * 120, counts,
                                            rewards, &params, &err),
                         0);
        assert_memory_equal(policy[0]->action, policy[k]->action,
                            3 * 120 * sizeof(uint32_t));
        assert_memory_equal(value, value + k * 120, 120 * sizeof(double));
    }
    for (uint32_t k = 0; k < 3; k++) {
        assay_policy_free(policy[k]);
    }
    assay_counts_free(counts);
    assay_dp_apvi_params_clear(&params);
    free(rewards);
    free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sensitivity_is_never_exceeded),
        cmocka_unit_test(worst_case_attains_the_sensitivity),
        cmocka_unit_test(width_is_the_printed_one),
        cmocka_unit_test(apvi_finds_the_optimum_with_enough_data),
        cmocka_unit_test(without_noise_the_decisions_are_the_same),
        cmocka_unit_test(one_charge_of_exactly_rho),
        cmocka_unit_test(a_split_costs_the_same),
        cmocka_unit_test(bad_parameters_cost_nothing),
        cmocka_unit_test(threads_do_not_change_the_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
