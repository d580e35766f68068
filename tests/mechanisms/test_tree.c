/* ring: glue */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mechanisms/tree.h"
#include "mechanisms/tree_nodes.h"
#include "tests/support/custodian.h"

static void set(mpq_t q, long n, unsigned long d)
{
    mpq_init(q);
    mpq_set_si(q, n, d);
}

/* With noise 0 almost surely (P[not 0] < 10^-200 a draw) answers are exact. */
static void check_exact(uint64_t horizon, uint64_t steps, int refined)
{
    test_vault v;
    assay_tree *tree = NULL;
    mpq_t sigma2;
    mpq_t one;
    int64_t sum[2] = {0, 0};
    assay_error err = ASSAY_ERROR_INIT;
    set(sigma2, 1, 1000);
    set(one, 1, 1);
    test_vault_open(&v, NULL, NULL, "100000", 0);
    assert_int_equal(assay_tree_new_gaussian(&tree, &v.custodian, 2, horizon,
                                             sigma2, one, "tree", &err),
                     ASSAY_OK);
    if (refined) {
        assert_int_equal(assay_tree_refine(tree, &err), ASSAY_OK);
    }
    for (uint64_t t = 1; t <= steps; t++) {
        int64_t step[2] = {(int64_t)(t % 7), -(int64_t)t};
        int64_t prefix[2];
        sum[0] += step[0];
        sum[1] += step[1];
        assert_int_equal(assay_tree_add(tree, step, prefix, &err), ASSAY_OK);
        assert_int_equal(prefix[0], sum[0]);
        assert_int_equal(prefix[1], sum[1]);
    }
    assert_int_equal(assay_tree_steps(tree), steps);
    assert_int_equal(assay_tree_refine(tree, &err), ASSAY_INVALID);
    if (horizon > 0) {
        int64_t step[2] = {1, 1};
        assert_int_equal(assay_tree_add(tree, step, NULL, &err), ASSAY_INVALID);
    }
    assert_int_equal(test_vault_rows(&v), 1);
    assay_tree_free(tree);
    test_vault_close(&v);
    mpq_clear(sigma2);
    mpq_clear(one);
}

static void prefixes_are_sums(void **state)
{
    (void)state;
    for (uint64_t k = 1; k <= 40; k++) {
        check_exact(k, k, (int)(k % 2));
    }
    check_exact(1000, 1000, 0);
    check_exact(1000, 1000, 1);
}

static void doubling_counters_never_end(void **state)
{
    (void)state;
    check_exact(0, 1, 0);
    check_exact(0, 2, 0);
    check_exact(0, 1500, 0);
    check_exact(0, 1500, 1);
}

static void levels_and_closings_match_their_definition(void **state)
{
    (void)state;
    assert_int_equal(assay_tree_levels(1), 1);
    assert_int_equal(assay_tree_levels(2), 2);
    assert_int_equal(assay_tree_levels(3), 2);
    assert_int_equal(assay_tree_levels(4), 3);
    assert_int_equal(assay_tree_levels(((uint64_t)1 << 62) - 1), 62);
    for (uint64_t t = 1; t < 5000; t++) {
        uint64_t j = assay_tree_closing(t);
        assert_true(t % ((uint64_t)1 << j) == 0 && (t >> j & 1) == 1);
    }
}

/* The cost is levels * sensitivity / scale. */
static void the_charge_covers_all_levels(void **state)
{
    test_vault v;
    assay_tree *tree = NULL;
    mpq_t scale;
    mpq_t two;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(scale, 100, 1);
    set(two, 2, 1);
    test_vault_open(&v, "1", "0", NULL, 0);
    assert_int_equal(assay_tree_new_laplace(&tree, &v.custodian, 1, 1000, scale,
                                            two, "t", &err),
                     ASSAY_OK);
    assert_true(fabs(test_vault_spent_epsilon(&v) - 0.2) < 1e-12);
    assay_tree_free(tree);
    tree = NULL;
    assert_int_equal(assay_tree_new_laplace(&tree, &v.custodian, 1, 0, scale,
                                            two, "t", &err),
                     ASSAY_OK);
    assert_true(fabs(test_vault_spent_epsilon(&v) - 0.22) < 1e-12);
    assay_tree_free(tree);
    tree = NULL;
    mpq_set_ui(scale, 1, 1);
    assert_int_equal(assay_tree_new_laplace(&tree, &v.custodian, 1, 1000, scale,
                                            two, "t", &err),
                     ASSAY_BUDGET);
    assert_null(tree);
    mpq_clear(scale);
    mpq_clear(two);
    test_vault_close(&v);
}

/* Noise once per node: after 2^m steps only the root's noise is in the answer;
 * variance is that of one node. 4000 cells, 6 standard deviations. */
static void check_variances(int refined, const double *expect)
{
    enum { CELLS = 4000 };
    test_vault v;
    assay_tree *tree = NULL;
    static int64_t step[CELLS];
    static int64_t prefix[CELLS];
    mpq_t sigma2;
    mpq_t one;
    assay_error err = ASSAY_ERROR_INIT;
    set(sigma2, 100, 1);
    set(one, 1, 1);
    test_vault_open(&v, NULL, NULL, "100000", 0);
    assert_int_equal(assay_tree_new_gaussian(&tree, &v.custodian, CELLS, 8,
                                             sigma2, one, "tree", &err),
                     ASSAY_OK);
    if (refined) {
        assert_int_equal(assay_tree_refine(tree, &err), ASSAY_OK);
    }
    for (int t = 0; t < 8; t++) {
        double sum = 0;
        assert_int_equal(assay_tree_add(tree, step, prefix, &err), ASSAY_OK);
        for (int i = 0; i < CELLS; i++) {
            sum += (double)prefix[i] * (double)prefix[i];
        }
        assert_true(fabs(sum / CELLS / expect[t] - 1) < 6 * sqrt(2.0 / CELLS));
    }
    assay_tree_free(tree);
    test_vault_close(&v);
    mpq_clear(sigma2);
    mpq_clear(one);
}

static void noise_is_drawn_once_per_node(void **state)
{
    const double expect[] = {100, 100, 200, 100, 200, 200, 300, 100};
    (void)state;
    check_variances(0, expect);
}

/* v = 1, 2/3, 4/7, 8/15 of a node's variance at levels 0 to 3, and 1/12 for
 * rounding the answer. */
static void refining_lowers_the_variance(void **state)
{
    const double r = 1.0 / 12;
    const double v1 = 200.0 / 3;
    const double v2 = 400.0 / 7;
    const double expect[] = {
        100,          v1 + r,      v1 + 100 + r,      v2 + r,
        v2 + 100 + r, v2 + v1 + r, v2 + v1 + 100 + r, 800.0 / 15 + r};
    (void)state;
    check_variances(1, expect);
}

static void a_failed_step_changes_nothing(void **state)
{
    test_vault v;
    assay_tree *tree = NULL;
    uint64_t words[2] = {5, 6};
    int64_t step[40] = {0};
    int64_t prefix[40];
    mpq_t sigma2;
    mpq_t one;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(sigma2, 100, 1);
    set(one, 1, 1);
    prefix[0] = -7;
    test_vault_open_recorded(&v, NULL, NULL, "100000", 0, words, 2);
    assert_int_equal(assay_tree_new_gaussian(&tree, &v.custodian, 40, 8, sigma2,
                                             one, "tree", &err),
                     ASSAY_OK);
    assert_int_equal(assay_tree_add(tree, step, prefix, &err), ASSAY_ENTROPY);
    assert_int_equal(prefix[0], -7);
    assert_int_equal(assay_tree_steps(tree), 0);
    assay_tree_free(tree);
    test_vault_close(&v);
    mpq_clear(sigma2);
    mpq_clear(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes_are_sums),
        cmocka_unit_test(doubling_counters_never_end),
        cmocka_unit_test(levels_and_closings_match_their_definition),
        cmocka_unit_test(the_charge_covers_all_levels),
        cmocka_unit_test(noise_is_drawn_once_per_node),
        cmocka_unit_test(refining_lowers_the_variance),
        cmocka_unit_test(a_failed_step_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
