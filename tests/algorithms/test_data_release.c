/* Prefix counts and the release of stable prefixes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/data_release.h"
#include "algorithms/data_source.h"
#include "algorithms/envrand.h"
#include "algorithms/prefix_count.h"
#include "algorithms/rollout.h"
#include "mechanisms/stable_prefix.h"
#include "tests/support/custodian.h"
#include "tests/support/support.h"

#define ONE ((int64_t)ASSAY_PREFIX_ONE)

static void near(double x, double y, double tolerance)
{
    if (!(fabs(x - y) <= tolerance)) {
        fail_msg("%.17g is not within %g of %.17g", x, tolerance, y);
    }
}

/* ---- counts ---- */

static void a_term_is_the_floor_and_never_grows(void **state)
{
    assay_envrand r;
    (void)state;
    assay_envrand_init(&r, 1, 1);
    for (int k = 0; k < 100000; k++) {
        int64_t q = 1 + (int64_t)(assay_envrand_next(&r) % (uint64_t)ONE);
        int64_t p = (int64_t)(assay_envrand_next(&r) % (uint64_t)(q + 1));
        int64_t x = (int64_t)(assay_envrand_next(&r) % (uint64_t)(ONE + 1));
        int64_t t = assay_prefix_term(x, p, q);
        assert_true(t >= 0 && t <= x);
        assert_true(t * q <= x * p);
        assert_true((t + 1) * q > x * p);
    }
}

/* Two sets that differ by the expert at place j, through a whole prefix. */
static void compare(assay_envrand *r, size_t n, size_t steps, int64_t q)
{
    int64_t a[33], b[32], p[33], s[32];
    size_t j = assay_envrand_below(r, (uint32_t)n + 1);
    for (size_t i = 0; i <= n; i++) {
        a[i] = ONE;
        b[i < n ? i : 0] = ONE;
    }
    for (size_t t = 0; t < steps; t++) {
        for (size_t i = 0; i <= n; i++) {
            /* often the ends of the interval */
            uint64_t kind = assay_envrand_next(r) % 3;
            p[i] = kind == 0 ? q
                   : kind == 1
                       ? 0
                       : (int64_t)(assay_envrand_next(r) % (uint64_t)(q + 1));
            p[i] = t % 2 == 0 || kind != 1 ? p[i] : q;
        }
        for (size_t i = 0; i < n; i++) {
            s[i] = p[i < j ? i : i + 1];
        }
        int64_t large = assay_prefix_extend(a, p, n + 1, q);
        int64_t small = assay_prefix_extend(b, s, n, q);
        int64_t moved = assay_prefix_query(large) - assay_prefix_query(small);
        assert_int_equal(large - small, a[j]);
        assert_true(large - small <= ONE);
        assert_true(moved >= 0 && moved <= ASSAY_PREFIX_UNIT);
    }
}

static void an_expert_moves_every_count_by_at_most_one(void **state)
{
    assay_envrand r;
    (void)state;
    assay_envrand_init(&r, 2, 1);
    for (int k = 0; k < 4000; k++) {
        size_t n = assay_envrand_below(&r, 32);
        int64_t q = k % 2 == 0 ? ONE : ONE - assay_envrand_below(&r, 1 << 28);
        compare(&r, n, 1 + assay_envrand_below(&r, 20), q);
    }
}

/* All experts at p_max, normalised: the count stays at n for every length, and
 * one expert is exactly one unit. */
static void the_bound_is_attained(void **state)
{
    int64_t q = ONE - 21474836; /* p_min 0.02, two actions */
    int64_t a[8], b[7], p[8];
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        a[i] = ONE;
        b[i < 7 ? i : 0] = ONE;
        p[i] = q;
    }
    for (int t = 0; t < 500; t++) {
        int64_t x = assay_prefix_query(assay_prefix_extend(a, p, 8, q));
        int64_t y = assay_prefix_query(assay_prefix_extend(b, p, 7, q));
        assert_int_equal(x, 8 * ASSAY_PREFIX_UNIT);
        assert_int_equal(x - y, ASSAY_PREFIX_UNIT);
    }
}

static void plain_counts_decay_as_the_product(void **state)
{
    int64_t r[1] = {ONE};
    int64_t p[1] = {(int64_t)(0.98 * (double)ONE)};
    (void)state;
    for (int t = 1; t <= 200; t++) {
        double exact = pow((double)p[0] / (double)ONE, t);
        double got = (double)assay_prefix_extend(r, p, 1, ONE) / (double)ONE;
        assert_true(got <= exact && exact - got < 60.0 / (double)ONE);
    }
}

static void weights_are_a_distribution(void **state)
{
    assay_envrand r;
    (void)state;
    assay_envrand_init(&r, 3, 1);
    for (int k = 0; k < 20000; k++) {
        int64_t w[6];
        size_t n = 1 + assay_envrand_below(&r, 6);
        int64_t least =
            assay_envrand_below(&r, (uint32_t)(ONE / (int64_t)n) + 1);
        int64_t sum = 0;
        for (size_t i = 0; i < n; i++) {
            w[i] = (int64_t)assay_envrand_next(&r) >> (k % 60);
        }
        assay_prefix_balance(w, n, least);
        for (size_t i = 0; i < n; i++) {
            assert_true(w[i] >= least);
            assert_true(w[i] <= ONE - (int64_t)(n - 1) * least);
            sum += w[i];
        }
        assert_int_equal(sum, ONE);
    }
}

/* ---- thresholds ---- */

/* P[Y - X >= s] by summation */
static double tail(double scale, int64_t s)
{
    double q = exp(-1.0 / scale);
    double c = (1.0 - q) / (1.0 + q);
    double sum = 0.0;
    for (int64_t d = s; d < s + (int64_t)(60 * scale) + 60; d++) {
        for (int64_t k = -(int64_t)(60 * scale) - 60;
             k < d + (int64_t)(60 * scale) + 60; k++) {
            sum +=
                c * c * pow(q, fabs((double)k)) * pow(q, fabs((double)(d - k)));
        }
    }
    return sum;
}

static void the_shift_is_the_least_that_bounds_the_tail(void **state)
{
    static const char *const scales[] = {"1/2", "1", "5/2"};
    mpq_t scale, delta;
    (void)state;
    mpq_inits(scale, delta, NULL);
    support_rational(delta, "1/1000");
    for (size_t i = 0; i < 3; i++) {
        assay_error err = ASSAY_ERROR_INIT;
        int64_t s = 0;
        support_rational(scale, scales[i]);
        assert_int_equal(assay_stable_shift(&s, scale, delta, &err), 0);
        assert_true(tail(mpq_get_d(scale), s) <= 1e-3);
        assert_true(s == 1 || tail(mpq_get_d(scale), s - 1) > 1e-3);
    }
    /* and at the width of a release it is the continuous formula */
    support_rational(scale, "10000");
    support_rational(delta, "1/100000000");
    assay_error err = ASSAY_ERROR_INIT;
    int64_t s = 0;
    assert_int_equal(assay_stable_shift(&s, scale, delta, &err), 0);
    double x = (double)s / 10000.0;
    near(0.5 * exp(-x) * (1.0 + x / 2.0) / 1e-8, 1.0, 1e-3);
    mpq_clears(scale, delta, NULL);
}

static void plan_of(assay_data_release_report *report, assay_stable_bar bar)
{
    assay_data_release_params p;
    assay_error err = ASSAY_ERROR_INIT;
    assay_data_release_params_init(&p);
    p.bar = bar;
    support_rational(p.epsilon, "7.5");
    support_rational(p.delta, "3e-4");
    assert_int_equal(assay_data_release_plan(report, &p, 0.02, 2, &err), 0);
    assay_data_release_params_clear(&p);
}

/* eps1 7.5, T 25: 0.089 by the printed corollary, 0.190 exactly */
static void exact_composition_doubles_epsilon(void **state)
{
    assay_data_release_report r[3];
    (void)state;
    for (int bar = 0; bar < 3; bar++) {
        assay_data_release_report_init(&r[bar]);
        plan_of(&r[bar], (assay_stable_bar)bar);
        near(mpq_get_d(r[bar].plan.epsilon), 0.1903428, 1e-6);
    }
    double e = mpq_get_d(r[0].plan.epsilon);
    double theta = 1.0 / (1.0 - exp(-e)) / 0.02;
    near(7.5 / sqrt(32.0 * 25.0 * log(2.0 / 3e-4)), 0.0894, 1e-3);
    near((double)r[0].threshold / ASSAY_PREFIX_UNIT,
         theta + 4.0 / e * log(200.0 * 50.0 / 3e-4), 0.01);
    assert_true(r[1].threshold < r[0].threshold);
    near((double)(r[1].threshold - r[2].threshold) / ASSAY_PREFIX_UNIT,
         0.02 * theta, 0.01);
    for (int bar = 0; bar < 3; bar++) {
        assay_data_release_report_clear(&r[bar]);
    }
}

/* ---- the release ---- */

static assay_experts *crowd(size_t count)
{
    assay_experts *e = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(
        assay_experts_scripted(&e, "cartpole", count, 0.02, 0.05, 7, &err), 0);
    return e;
}

typedef struct bench {
    test_vault vault;
    assay_experts *experts;
    assay_control env;
    assay_data_release_params params;
    assay_data_release_report report;
} bench;

static void bench_open(bench *b, size_t count, const char *epsilon)
{
    assay_error err = ASSAY_ERROR_INIT;
    test_vault_open_planned(&b->vault, "7.5", "3e-4");
    b->experts = crowd(count);
    assert_int_equal(assay_control_find(&b->env, "cartpole", NULL, &err), 0);
    assay_data_release_params_init(&b->params);
    support_rational(b->params.epsilon, epsilon);
    support_rational(b->params.delta, "3e-4");
    assay_data_release_report_init(&b->report);
}

static void bench_close(bench *b)
{
    assay_data_release_report_clear(&b->report);
    assay_data_release_params_clear(&b->params);
    assay_experts_free(b->experts);
    test_vault_close(&b->vault);
}

static assay_status play(bench *b, assay_transitions *out, assay_error *err)
{
    return assay_data_release_play(out, &b->report, b->experts, &b->env,
                                   &b->params, &b->vault.custodian, err);
}

static void check_rows(const assay_transitions *rows, uint64_t cap)
{
    for (size_t k = 0; k < rows->num_rows; k++) {
        assert_int_equal(rows->expert[k], 0); /* who it was stays */
        assert_true(rows->t[k] < cap);
        if (rows->t[k] > 0) {
            assert_int_equal(rows->t[k], rows->t[k - 1] + 1);
            assert_memory_equal(rows->states + k * rows->dim,
                                rows->next_states + (k - 1) * rows->dim,
                                rows->dim * sizeof(double));
        }
    }
}

static void prefixes_of_a_crowd_leave_and_the_budget_is_spent(void **state)
{
    bench b;
    assay_transitions rows;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    bench_open(&b, 1500, "7.5");
    assert_int_equal(play(&b, &rows, &err), 0);
    assert_true(b.report.num_rows == rows.num_rows && rows.num_rows > 100);
    check_rows(&rows, 200);
    assert_int_equal(test_vault_rows(&b.vault), 1);
    double spent = test_vault_spent_epsilon(&b.vault);
    assert_true(spent <= 7.5 && spent > 7.499);
    assay_transitions_clear(&rows);
    /* a second release does not fit, and changes nothing */
    assert_int_equal(play(&b, &rows, &err), ASSAY_BUDGET);
    assert_int_equal(test_vault_rows(&b.vault), 1);
    bench_close(&b);
}

static void few_experts_release_nothing_and_pay(void **state)
{
    bench b;
    assay_transitions rows;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    bench_open(&b, 5, "7.5");
    assert_int_equal(play(&b, &rows, &err), 0);
    assert_int_equal(rows.num_rows, 0);
    assert_int_equal(test_vault_rows(&b.vault), 1);
    assay_transitions_clear(&rows);
    bench_close(&b);
}

static void refused(bench *b, assay_status want, const char *text)
{
    assay_transitions rows;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(play(b, &rows, &err), want);
    if (strstr(err.message, text) == NULL) {
        fail_msg("'%s' is not in '%s'", text, err.message);
    }
    assert_int_equal(test_vault_rows(&b->vault), 0); /* nothing is charged */
}

static void nonsense_is_refused_before_the_charge(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, 300, "7.5");
    b.params.num_draws = 0;
    refused(&b, ASSAY_INVALID, "draws");
    b.params.num_draws = 25;
    b.params.cap = 1;
    refused(&b, ASSAY_INVALID, "cap");
    b.params.cap = 200;
    b.params.population = 300;
    refused(&b, ASSAY_RANGE, "too small");
    b.params.population = 0;
    support_rational(b.params.epsilon, "1e-13");
    refused(&b, ASSAY_RANGE, "too small");
    support_rational(b.params.epsilon, "7.5");
    b.env.num_actions = 3;
    refused(&b, ASSAY_INVALID, "act in");
    bench_close(&b);
}

static void a_ledger_of_replaced_persons_is_refused(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, 300, "7.5");
    test_vault_close(&b.vault);
    test_vault_open(&b.vault, "7.5", "3e-4", NULL, 1);
    refused(&b, ASSAY_INVALID, "add-remove");
    bench_close(&b);
}

/* ---- pools ---- */

static void pools_are_disjoint_and_used_once(void **state)
{
    bench b;
    assay_transitions all, first, rest, rows;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    bench_open(&b, 600, "7.5");
    b.params.num_draws = 3;
    assert_int_equal(assay_rollout_all(&all, b.experts, &b.env, 4, 40, 9, &err),
                     0);
    assert_int_equal(assay_data_release_split(&first, &rest, &all, 3, &err), 0);
    assert_int_equal(first.num_rows + rest.num_rows, all.num_rows);
    for (size_t k = 0; k < rest.num_rows; k++) {
        assert_int_equal(rest.trajectory[k], 3);
    }
    assert_int_equal(assay_data_release_logged(&rows, &b.report, b.experts,
                                               &first, &b.params,
                                               &b.vault.custodian, &err),
                     0);
    assert_true(rows.num_rows > 0); /* 1e-5: three odd first actions */
    check_rows(&rows, 40);
    assay_transitions_clear(&rows);
    /* the other pool has one trajectory of each: too few */
    assert_int_equal(assay_data_release_logged(&rows, &b.report, b.experts,
                                               &rest, &b.params,
                                               &b.vault.custodian, &err),
                     ASSAY_INVALID);
    assert_non_null(strstr(err.message, "draws need as many"));
    rest.num_rows = 0;
    assert_int_equal(assay_data_release_logged(&rows, &b.report, b.experts,
                                               &rest, &b.params,
                                               &b.vault.custodian, &err),
                     ASSAY_INVALID);
    assert_non_null(strstr(err.message, "empty"));
    assert_int_equal(test_vault_rows(&b.vault), 1);
    assay_transitions_clear(&first);
    assay_transitions_clear(&rest);
    assay_transitions_clear(&all);
    bench_close(&b);
}

/* The same expert drawn again gives another trajectory. */
static void a_logged_trajectory_never_comes_back(void **state)
{
    assay_experts *e = crowd(2);
    assay_control env;
    assay_transitions all;
    assay_data_source s;
    assay_transition row;
    assay_error err = ASSAY_ERROR_INIT;
    int more = 0;
    (void)state;
    assert_int_equal(assay_control_find(&env, "cartpole", NULL, &err), 0);
    assert_int_equal(assay_rollout_all(&all, e, &env, 3, 10, 9, &err), 0);
    assert_int_equal(assay_data_source_logged(&s, e, &all, 3, &err), 0);
    for (uint32_t k = 0; k < 3; k++) {
        uint32_t length = 0;
        assert_int_equal(assay_data_source_begin(&s, 1, &err), 0);
        do {
            assert_int_equal(assay_data_source_next(&s, &row, &more, &err), 0);
            if (more) {
                assert_int_equal(row.expert, 1);
                assert_int_equal(row.trajectory, k);
                assert_int_equal(row.t, length++);
            }
        } while (more);
        assert_true(length > 0);
    }
    assay_data_source_clear(&s);
    assay_transitions_clear(&all);
    assay_experts_free(e);
}

/* Actions follow the weights: 40000 first actions of a fixed expert. */
static void played_actions_follow_the_lattice_policy(void **state)
{
    test_vault v;
    assay_experts *e = crowd(1);
    assay_control env;
    assay_data_source s;
    assay_error err = ASSAY_ERROR_INIT;
    double expected = 0.0;
    double variance = 0.0;
    double seen = 0.0;
    int64_t least = assay_policy_least(0.02);
    (void)state;
    test_vault_open(&v, "1", "0", NULL, 0);
    assert_int_equal(assay_control_find(&env, "cartpole", NULL, &err), 0);
    assert_int_equal(
        assay_data_source_play(&s, e, &env, &v.custodian.tape, least, &err), 0);
    for (int k = 0; k < 40000; k++) {
        assay_transition row;
        int more = 0;
        int64_t w[ASSAY_EXPERTS_MAX_ACTIONS];
        assert_int_equal(assay_data_source_begin(&s, 0, &err), 0);
        assay_policy_weights(w, e, 0, s.state, least);
        assert_int_equal(assay_data_source_next(&s, &row, &more, &err), 0);
        double p = (double)w[1] / (double)ONE;
        expected += p;
        variance += p * (1.0 - p);
        seen += row.action;
    }
    assert_true(fabs(seen - expected) < 5.0 * sqrt(variance));
    assay_data_source_clear(&s);
    assay_experts_free(e);
    test_vault_close(&v);
}

/* ---- the mechanism ---- */

static void a_no_ends_the_questions_of_a_draw(void **state)
{
    test_vault v;
    assay_stable_plan plan;
    assay_stable_prefix *s = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    uint64_t who = 99;
    int yes = -1;
    (void)state;
    test_vault_open_planned(&v, "7.5", "3e-4");
    assay_stable_plan_init(&plan);
    plan.bar = ASSAY_BAR_MONOTONE;
    plan.num_draws = 2;
    plan.cap = 10;
    plan.unit = ASSAY_PREFIX_UNIT;
    support_rational(plan.least, "0.1");
    support_rational(plan.most, "0.9");
    mpq_t e, d;
    mpq_inits(e, d, NULL);
    support_rational(e, "7");
    support_rational(d, "1e-4");
    assert_int_equal(assay_stable_calibrate(&plan, e, d, &err), 0);
    assert_int_equal(
        assay_stable_prefix_new(&s, &v.custodian, &plan, "test", &err), 0);
    assert_int_equal(assay_stable_prefix_ask(s, &yes, 0, &err), ASSAY_INVALID);
    assert_int_equal(assay_stable_prefix_draw(s, &who, 7, &err), 0);
    assert_true(who < 7);
    assert_int_equal(assay_stable_prefix_ask(s, &yes, (int64_t)1 << 40, &err),
                     0);
    assert_int_equal(yes, 1);
    assert_int_equal(assay_stable_prefix_ask(s, &yes, 0, &err), 0);
    assert_int_equal(yes, 0);
    assert_int_equal(assay_stable_prefix_ask(s, &yes, (int64_t)1 << 40, &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_stable_prefix_draw(s, &who, 7, &err), 0);
    assert_int_equal(assay_stable_prefix_left(s), 0);
    assert_int_equal(assay_stable_prefix_draw(s, &who, 7, &err), ASSAY_BUDGET);
    assay_stable_prefix_free(s);
    mpq_clears(e, d, NULL);
    assay_stable_plan_clear(&plan);
    test_vault_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_term_is_the_floor_and_never_grows),
        cmocka_unit_test(an_expert_moves_every_count_by_at_most_one),
        cmocka_unit_test(the_bound_is_attained),
        cmocka_unit_test(plain_counts_decay_as_the_product),
        cmocka_unit_test(weights_are_a_distribution),
        cmocka_unit_test(the_shift_is_the_least_that_bounds_the_tail),
        cmocka_unit_test(exact_composition_doubles_epsilon),
        cmocka_unit_test(prefixes_of_a_crowd_leave_and_the_budget_is_spent),
        cmocka_unit_test(few_experts_release_nothing_and_pay),
        cmocka_unit_test(nonsense_is_refused_before_the_charge),
        cmocka_unit_test(a_ledger_of_replaced_persons_is_refused),
        cmocka_unit_test(pools_are_disjoint_and_used_once),
        cmocka_unit_test(a_logged_trajectory_never_comes_back),
        cmocka_unit_test(played_actions_follow_the_lattice_policy),
        cmocka_unit_test(a_no_ends_the_questions_of_a_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
