/* ring: glue */
/* Selective DP-SGD: what one expert can change, what is charged, and that it
 * learns. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/guarantee.h"
#include "algorithms/envrand.h"
#include "algorithms/rollout.h"
#include "algorithms/selective.h"
#include "mechanisms/sampled_sum.h"
#include "tests/support/custodian.h"
#include "tests/support/support.h"

#define DIM 300

static double squares(const int64_t *v, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)v[i] * (double)v[i];
    }
    return sum;
}

static void every_gradient_ends_up_in_the_ball(void **state)
{
    static const double sizes[] = {0,   1e-9, 1e-3,  1.0,
                                   1e3, 1e12, 1e200, INFINITY};
    double g[DIM];
    int64_t v[DIM];
    assay_envrand rand;
    (void)state;
    assay_envrand_init(&rand, 1, 0);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (int round = 0; round < 50; round++) {
            for (size_t i = 0; i < DIM; i++) {
                g[i] = sizes[k] * (2 * assay_envrand_unit(&rand) - 1);
            }
            g[round] = round % 3 == 0 ? NAN : g[round];
            assay_selective_bound(v, g, DIM, 9, 512);
            if (squares(v, DIM) > 512.0 * 512.0) {
                fail_msg("size %g, round %d: %g", sizes[k], round,
                         squares(v, DIM));
            }
        }
    }
}

static void the_worst_case_is_the_whole_radius(void **state)
{
    double g[4] = {1e6, 0, 0, 0};
    int64_t v[4];
    (void)state;
    assay_selective_bound(v, g, 4, 0, 512);
    assert_true(v[0] >= 500 && v[0] <= 512);
    assert_true(v[1] == 0 && v[2] == 0 && v[3] == 0);
}

static void small_gradients_are_only_rounded(void **state)
{
    double g[3] = {0.25, -0.5, 3.0 / 1024};
    int64_t v[3];
    (void)state;
    assay_selective_bound(v, g, 3, 9, 512);
    assert_int_equal(v[0], 128);
    assert_int_equal(v[1], -256);
    assert_int_equal(v[2], 2);
}

/* ---- data of scripted experts ---- */

typedef struct world {
    assay_control env;
    assay_observation see;
    assay_transitions pool, stable;
} world;

static void make_world(world *w, size_t experts)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_experts *e = NULL;
    assert_int_equal(assay_control_find(&w->env, "cartpole", NULL, &err), 0);
    assert_int_equal(
        assay_experts_scripted(&e, "cartpole", experts, 0.02, 0.3, 3, &err), 0);
    w->see = e->see;
    assert_int_equal(assay_rollout_all(&w->pool, e, &w->env, 1, 100, 1, &err),
                     0);
    assay_transitions_init(&w->stable, 4, 2);
    for (size_t i = 0; i < 3; i++) {
        assay_envrand rand;
        assay_envrand_init(&rand, 50 + i, 0);
        assert_int_equal(assay_rollout_expert(&w->stable, e, i, &w->env, 60,
                                              (uint32_t)i, &rand, &err),
                         0);
    }
    assay_experts_free(e);
}

static void clear_world(world *w)
{
    assay_transitions_clear(&w->pool);
    assay_transitions_clear(&w->stable);
}

static void set(assay_selective_params *p, const char *coin, uint64_t steps)
{
    assay_selective_params_init(p, ASSAY_CQL, "cartpole");
    support_rational(p->coin, coin);
    p->num_steps = steps;
    p->rate_bits = 1;
    p->rows_per_expert = 4;
    p->offline.hidden[0] = 8;
    p->offline.hidden[1] = 8;
    p->private_rate = 5e-3;
}

static void the_charge_is_the_event_and_is_charged_once(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_selective_params p;
    assay_selective_report report;
    assay_q_policy policy;
    assay_event event;
    test_vault vault;
    world w;
    (void)state;
    make_world(&w, 40);
    set(&p, "1/4", 60);
    assay_selective_event(&event, &p);
    assert_int_equal(event.mechanism, ASSAY_ROUNDED_GAUSSIAN);
    assert_int_equal(event.sampling, ASSAY_SAMPLE_POISSON);
    assert_int_equal(event.count, 60);
    assert_int_equal(mpq_cmp_ui(event.rate, 1, 2), 0);
    assert_int_equal(mpq_cmp_ui(event.coin, 1, 4), 0);
    assay_event_clear(&event);
    test_vault_open(&vault, "1000", "1/100000", NULL, 0);
    assert_int_equal(assay_selective_learn(&policy, &report, "cartpole",
                                           &w.stable, &w.pool, 40, &p,
                                           &vault.custodian, &err),
                     ASSAY_OK);
    assert_int_equal(test_vault_rows(&vault), 1);
    assert_int_equal(report.private_steps + report.plain_steps, 60);
    assert_true(report.private_steps < 40); /* 15 expected */
    assay_q_policy_clear(&policy);
    test_vault_close(&vault);
    assay_selective_params_clear(&p);
    clear_world(&w);
}

static void calibration_fits_the_ledger_exactly(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_selective_params p;
    assay_event_list none;
    assay_q_policy policy;
    test_vault vault;
    world w;
    double spent;
    mpq_t epsilon, delta;
    (void)state;
    mpq_inits(epsilon, delta, NULL);
    support_rational(epsilon, "2");
    support_rational(delta, "1/100000");
    make_world(&w, 40);
    set(&p, "1/2", 50);
    assay_event_list_init(&none, ASSAY_ADD_REMOVE, "person");
    assert_int_equal(
        assay_selective_calibrate(&p, &none, epsilon, delta, 0, &err), 0);
    test_vault_open(&vault, "2", "1/100000", NULL, 0);
    assert_int_equal(assay_selective_learn(&policy, NULL, "cartpole", &w.stable,
                                           &w.pool, 40, &p, &vault.custodian,
                                           &err),
                     ASSAY_OK);
    assay_q_policy_clear(&policy);
    spent = test_vault_spent_epsilon(&vault);
    assert_true(spent > 1.9 && spent <= 2.0);
    assert_int_equal(assay_selective_learn(&policy, NULL, "cartpole", &w.stable,
                                           &w.pool, 40, &p, &vault.custodian,
                                           &err),
                     ASSAY_BUDGET);
    assert_int_equal(test_vault_rows(&vault), 1);
    test_vault_close(&vault);
    assay_event_list_clear(&none);
    assay_selective_params_clear(&p);
    clear_world(&w);
    mpq_clears(epsilon, delta, NULL);
}

static void most_steps_stop_at_the_budget(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_selective_params p;
    assay_event_list none;
    uint64_t more;
    mpq_t epsilon, delta;
    (void)state;
    mpq_inits(epsilon, delta, NULL);
    support_rational(epsilon, "2");
    support_rational(delta, "1/100000");
    set(&p, "1", 1);
    assay_event_list_init(&none, ASSAY_ADD_REMOVE, "person");
    support_rational(p.sigma2, "25");
    assert_int_equal(
        assay_selective_most_steps(&p, &none, epsilon, delta, 0, &err), 0);
    more = p.num_steps;
    assert_true(more > 10);
    support_rational(p.coin, "1/2"); /* a public coin buys steps */
    assert_int_equal(
        assay_selective_most_steps(&p, &none, epsilon, delta, 0, &err), 0);
    assert_true(p.num_steps > more + more / 2);
    support_rational(p.sigma2, "1/100");
    assert_int_equal(
        assay_selective_most_steps(&p, &none, epsilon, delta, 0, &err),
        ASSAY_BUDGET);
    assay_event_list_clear(&none);
    assay_selective_params_clear(&p);
    mpq_clears(epsilon, delta, NULL);
}

static void nonsense_is_refused_before_the_charge(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_selective_params p;
    assay_transitions none;
    assay_q_policy policy;
    test_vault vault;
    world w;
    (void)state;
    make_world(&w, 10);
    assay_transitions_init(&none, 4, 2);
    test_vault_open(&vault, "1000", "1/100000", NULL, 0);
    set(&p, "1/2", 10);
    assert_int_equal(assay_selective_learn(&policy, NULL, "cartpole", &w.stable,
                                           &none, 10, &p, &vault.custodian,
                                           &err),
                     ASSAY_INVALID); /* empty pool */
    mpq_set_ui(p.coin, 0, 1);
    assert_int_equal(assay_selective_learn(&policy, NULL, "cartpole", &none,
                                           &w.pool, 10, &p, &vault.custodian,
                                           &err),
                     ASSAY_INVALID); /* nothing stable, nothing private */
    mpq_set_ui(p.coin, 1, 2);
    assert_int_equal(assay_selective_learn(&policy, NULL, "cartpole", &w.stable,
                                           &w.pool, 5, &p, &vault.custodian,
                                           &err),
                     ASSAY_INVALID); /* an expert that is not there */
    assert_int_equal(assay_selective_learn(&policy, NULL, "hiv-dt5", &w.stable,
                                           &w.pool, 10, &p, &vault.custodian,
                                           &err),
                     ASSAY_INVALID); /* another environment */
    p.num_steps = 0;
    assert_int_equal(assay_selective_learn(&policy, NULL, "cartpole", &w.stable,
                                           &w.pool, 10, &p, &vault.custodian,
                                           &err),
                     ASSAY_INVALID);
    assert_int_equal(test_vault_rows(&vault), 0);
    test_vault_close(&vault);
    assay_selective_params_clear(&p);
    clear_world(&w);
}

static void coins_come_before_draws(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_sampling_plan plan;
    assay_sampled_sum *sum = NULL;
    test_vault vault;
    uint64_t chosen[8];
    size_t n = 0;
    int64_t x[1] = {0};
    int heads = 0;
    size_t ran = 0;
    mpq_t one, third;
    (void)state;
    mpq_inits(one, third, NULL);
    support_rational(one, "1");
    support_rational(third, "1/3");
    memset(&plan, 0, sizeof plan);
    plan.poisson = 1;
    plan.population = 8;
    plan.num_steps = 3000;
    plan.dimension = 1;
    plan.sigma2 = one;
    plan.sensitivity2 = one;
    plan.coin = third;
    test_vault_open(&vault, "1000000", "1/100000", NULL, 0);
    assert_int_equal(
        assay_sampled_sum_new(&sum, &vault.custodian, &plan, "t", &err), 0);
    assert_int_equal(assay_sampled_sum_draw(sum, chosen, &n, &err),
                     ASSAY_INVALID);
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(assay_sampled_sum_coin(sum, &heads, &err), 0);
        if (heads) {
            ran++;
            assert_int_equal(assay_sampled_sum_coin(sum, &heads, &err),
                             ASSAY_INVALID);
            assert_int_equal(assay_sampled_sum_draw(sum, chosen, &n, &err), 0);
            assert_int_equal(assay_sampled_sum_release(sum, x, x, &err), 0);
        }
    }
    assert_int_equal(assay_sampled_sum_coin(sum, &heads, &err), ASSAY_INVALID);
    /* six standard deviations: fails by chance with probability 2e-9 */
    assert_true(ran > 1000 - 155 && ran < 1000 + 155);
    assay_sampled_sum_free(sum);
    test_vault_close(&vault);
    mpq_clears(one, third, NULL);
}

static void it_learns_with_a_large_budget(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_selective_params p;
    assay_q_policy policy;
    test_vault vault;
    world w;
    double mean;
    (void)state;
    make_world(&w, 300);
    set(&p, "1/2", 400);
    support_rational(p.sigma2, "1/4");
    p.offline.hidden[0] = 16;
    p.offline.hidden[1] = 16;
    test_vault_open(&vault, "1000000", "1/100000", NULL, 0);
    if (assay_selective_learn(&policy, NULL, "cartpole", &w.stable, &w.pool,
                              300, &p, &vault.custodian, &err) != ASSAY_OK) {
        fail_msg("%s", err.message);
    }
    mean = assay_rollout_evaluate(NULL, &w.env, &w.see, assay_q_policy_act,
                                  &policy, 50, 500, 7);
    (void)printf("mean return %.1f of 500\n", mean);
    assert_true(mean > 100.0); /* uniform actions: about 23 */
    assay_q_policy_clear(&policy);
    test_vault_close(&vault);
    assay_selective_params_clear(&p);
    clear_world(&w);
}

/* The first expert's rows become the last one's. */
static void renumber(assay_transitions *out, const assay_transitions *pool,
                     uint32_t experts)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_transitions_init(out, pool->dim, pool->num_actions);
    for (uint32_t i = 1; i <= experts; i++) {
        for (size_t k = 0; k < pool->num_rows; k++) {
            if (pool->expert[k] == i % experts) {
                assay_transition row = {.expert = i - 1,
                                        .trajectory = pool->trajectory[k],
                                        .t = pool->t[k],
                                        .state = pool->states + k * pool->dim,
                                        .action = pool->actions[k],
                                        .reward = pool->rewards[k],
                                        .next_state =
                                            pool->next_states + k * pool->dim,
                                        .done = pool->done[k]};
                assert_int_equal(assay_transitions_add(out, &row, &err), 0);
            }
        }
    }
}

/* All experts in every step and the same tape: the same policy to the bit. */
static void numbers_of_experts_have_no_influence(void **state)
{
    static uint64_t words[40000];
    assay_error err = ASSAY_ERROR_INIT;
    assay_selective_params p;
    assay_transitions other;
    assay_q_policy policy[2];
    test_vault vault;
    assay_envrand rand;
    world w;
    (void)state;
    assay_envrand_init(&rand, 4, 4);
    for (size_t i = 0; i < 40000; i++) {
        words[i] = assay_envrand_next(&rand);
    }
    make_world(&w, 5);
    renumber(&other, &w.pool, 5);
    set(&p, "1", 4);
    p.rate_bits = 0;
    for (int i = 0; i < 2; i++) {
        test_vault_open_recorded(&vault, "1000000", "1/100000", NULL, 0, words,
                                 40000);
        if (assay_selective_learn(&policy[i], NULL, "cartpole", &w.stable,
                                  i == 0 ? &w.pool : &other, 5, &p,
                                  &vault.custodian, &err) != ASSAY_OK) {
            fail_msg("%s", err.message);
        }
        test_vault_close(&vault);
    }
    assert_memory_equal(policy[0].net.params, policy[1].net.params,
                        policy[0].net.num_params * sizeof(double));
    assay_q_policy_clear(&policy[0]);
    assay_q_policy_clear(&policy[1]);
    assay_transitions_clear(&other);
    assay_selective_params_clear(&p);
    clear_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_experts_have_no_influence),
        cmocka_unit_test(every_gradient_ends_up_in_the_ball),
        cmocka_unit_test(the_worst_case_is_the_whole_radius),
        cmocka_unit_test(small_gradients_are_only_rounded),
        cmocka_unit_test(the_charge_is_the_event_and_is_charged_once),
        cmocka_unit_test(calibration_fits_the_ledger_exactly),
        cmocka_unit_test(most_steps_stop_at_the_budget),
        cmocka_unit_test(nonsense_is_refused_before_the_charge),
        cmocka_unit_test(coins_come_before_draws),
        cmocka_unit_test(it_learns_with_a_large_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
