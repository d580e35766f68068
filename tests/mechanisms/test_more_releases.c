/* ring: glue */
/* Local reports, quantiles, unknown keys, snapping. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mechanisms/keys.h"
#include "mechanisms/local.h"
#include "mechanisms/quantile.h"
#include "mechanisms/snapping.h"
#include "tests/support/custodian.h"

static void set(mpq_t q, long n, unsigned long d)
{
    mpq_init(q);
    mpq_set_si(q, n, d);
}

/* 6 standard deviations of a binomial */
static void check_rate(int hits, int draws, double p)
{
    if (fabs(hits - draws * p) > 6 * sqrt(draws * p * (1 - p)) + 1) {
        fail_msg("%d of %d, expected %.3f", hits, draws, draws * p);
    }
}

static void responses_have_their_law_and_cost(void **state)
{
    enum { DRAWS = 2000 };
    int hits[3] = {0};
    test_vault v;
    mpq_t p;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(p, 1, 2);
    test_vault_open(&v, "1000000", "0", NULL, 1);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t out = 9;
        assert_int_equal(
            assay_release_response(&v.custodian, &out, 1, 3, p, "r", &err),
            ASSAY_OK);
        hits[out]++;
        if (i == 0) { /* ln(1 + 3 (1/2) / (1/2)) = ln 4 */
            assert_true(fabs(test_vault_spent_epsilon(&v) - log(4)) < 1e-9);
        }
    }
    check_rate(hits[1], DRAWS, 2.0 / 3);
    check_rate(hits[0], DRAWS, 1.0 / 6);
    test_vault_close(&v);
    mpq_clear(p);
}

static void unary_reports_have_their_law_and_cost(void **state)
{
    enum { DRAWS = 60, BITS = 200 };
    uint8_t out[BITS];
    int zeros = 0;
    int ones = 0;
    int hot = 0;
    test_vault v;
    mpq_t p;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(p, 1, 2);
    test_vault_open(&v, "1000000", "0", NULL, 1);
    for (int i = 0; i < DRAWS; i++) {
        assert_int_equal(
            assay_release_unary(&v.custodian, out, 7, BITS, p, "u", &err),
            ASSAY_OK);
        if (i == 0) { /* 2 ln((2 - p) / p) = 2 ln 3 */
            assert_true(fabs(test_vault_spent_epsilon(&v) - 2 * log(3)) < 1e-9);
        }
        for (int j = 0; j < BITS; j++) {
            zeros += j != 7 && out[j] == 1;
        }
        hot += out[7];
    }
    check_rate(zeros, DRAWS * (BITS - 1), 0.25);
    check_rate(hot, DRAWS, 0.75);
    double before = test_vault_spent_epsilon(&v);
    mpq_set_ui(p, 1, 5);
    for (int i = 0; i < DRAWS; i++) {
        assert_int_equal(assay_release_unary_optimised(&v.custodian, out, 500,
                                                       BITS, p, "o", &err),
                         ASSAY_OK);
        if (i == 0) { /* ln((1-q)/q) = ln 4 */
            double cost = test_vault_spent_epsilon(&v) - before;
            assert_true(fabs(cost - log(4)) < 1e-9);
        }
        for (int j = 0; j < BITS - 1; j++) {
            ones += out[j];
        }
    }
    check_rate(ones, DRAWS * (BITS - 1), 0.2);
    test_vault_close(&v);
    mpq_clear(p);
}

static void local_reports_refuse_nonsense(void **state)
{
    test_vault v;
    uint64_t out = 9;
    uint64_t none[1] = {0};
    mpq_t half;
    mpq_t zero;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(half, 1, 2);
    set(zero, 0, 1);
    test_vault_open(&v, "10", "0", NULL, 0);
    assert_int_equal(
        assay_release_response(&v.custodian, &out, 1, 3, half, "r", &err),
        ASSAY_INVALID); /* an add-remove ledger */
    test_vault_close(&v);
    test_vault_open_recorded(&v, "10", "0", NULL, 1, none, 0);
    assert_int_equal(
        assay_release_response(&v.custodian, &out, 1, 1, half, "r", &err),
        ASSAY_INVALID);
    assert_int_equal(
        assay_release_response(&v.custodian, &out, 1, 3, zero, "r", &err),
        ASSAY_INVALID);
    assert_int_equal(test_vault_rows(&v), 0);
    assert_int_equal(
        assay_release_response(&v.custodian, &out, 1, 3, half, "r", &err),
        ASSAY_ENTROPY);
    assert_int_equal(out, 9);
    assert_int_equal(test_vault_rows(&v), 1);
    test_vault_close(&v);
    mpq_clear(half);
    mpq_clear(zero);
}

static void quantiles_are_near_their_rank(void **state)
{
    enum { N = 1000 };
    int64_t x[N];
    uint64_t cells[101] = {0};
    int64_t out = -1;
    size_t cell = 0;
    test_vault v;
    mpq_t q;
    mpq_t epsilon;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(q, 1, 4);
    set(epsilon, 5, 1);
    test_vault_open(&v, "100", "0", NULL, 0);
    for (int i = 0; i < N; i++) {
        x[i] = (i * 7919) % N; /* a permutation of 0 .. 999 */
        cells[x[i] / 10]++;
    }
    assert_int_equal(assay_release_quantile(&v.custodian, &out, x, N, 0, 5000,
                                            1, q, epsilon, "q", &err),
                     ASSAY_OK);
    assert_true(llabs(out - 250) < 40);
    assert_int_equal(assay_release_quantile_cell(&v.custodian, &cell, cells,
                                                 101, 1, q, epsilon, "q", &err),
                     ASSAY_OK);
    assert_true(cell >= 22 && cell <= 28);
    assert_true(fabs(test_vault_spent_epsilon(&v) - 10) < 1e-9);
    /* no data: uniform over the range, and no failure */
    assert_int_equal(assay_release_quantile(&v.custodian, &out, x, 0, -5, 5, 1,
                                            q, epsilon, "q", &err),
                     ASSAY_OK);
    assert_true(out >= -5 && out <= 5);
    mpq_set_si(q, 3, 2);
    assert_int_equal(assay_release_quantile(&v.custodian, &out, x, N, 0, 10, 1,
                                            q, epsilon, "q", &err),
                     ASSAY_INVALID);
    test_vault_close(&v);
    mpq_clear(q);
    mpq_clear(epsilon);
}

/* Values {0, 10} on [0, 10], median: 0 has none below (distance 1), 1..10 has
 * one below (distance 0): P[0] = e / (e + 10) with e = exp(-epsilon). */
static void quantiles_have_their_law(void **state)
{
    enum { DRAWS = 2000 };
    const int64_t x[2] = {0, 10};
    int zero = 0;
    int ten = 0;
    test_vault v;
    mpq_t q;
    mpq_t epsilon;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(q, 1, 2);
    set(epsilon, 1, 1);
    test_vault_open(&v, "100000", "0", NULL, 0);
    for (int i = 0; i < DRAWS; i++) {
        int64_t out = -1;
        assert_int_equal(assay_release_quantile(&v.custodian, &out, x, 2, 0, 10,
                                                1, q, epsilon, "q", &err),
                         ASSAY_OK);
        assert_true(out >= 0 && out <= 10);
        zero += out == 0;
        ten += out == 10;
    }
    double e = exp(-1.0);
    check_rate(zero, DRAWS, e / (e + 10));
    check_rate(ten, DRAWS, 1 / (e + 10));
    test_vault_close(&v);
    mpq_clear(q);
    mpq_clear(epsilon);
}

static void rare_keys_stay_hidden(void **state)
{
    const int64_t counts[4] = {1, 1000, 1, 500};
    int64_t noisy[4] = {-7, -7, -7, -7};
    uint8_t shown[4] = {9, 9, 9, 9};
    int64_t threshold = 0;
    test_vault v;
    mpq_t one;
    mpq_t delta;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(one, 1, 1);
    set(delta, 1, 1000000000);
    test_vault_open(&v, "10", "1/1000", NULL, 0);
    assert_int_equal(
        assay_release_keys_threshold(&threshold, 1, 1, one, delta, &err),
        ASSAY_OK);
    assert_int_equal(threshold, 1 + 21); /* ceil(ln 10^9) = 21 */
    assert_int_equal(assay_release_keys(&v.custodian, noisy, shown, counts, 4,
                                        1, 1, one, delta, "k", &err),
                     ASSAY_OK);
    assert_true(shown[0] == 0 && shown[2] == 0);
    assert_true(shown[1] == 1 && shown[3] == 1);
    assert_true(noisy[0] == 0 && llabs(noisy[1] - 1000) < 60);
    mpq_set_si(delta, 0, 1);
    assert_int_equal(assay_release_keys(&v.custodian, noisy, shown, counts, 4,
                                        1, 1, one, delta, "k", &err),
                     ASSAY_INVALID);
    test_vault_close(&v);
    mpq_clear(one);
    mpq_clear(delta);
}

static void snapping_clamps_and_snaps(void **state)
{
    const double in[4] = {3.3, -1e300, NAN, INFINITY};
    test_vault v;
    mpq_t scale;
    mpq_t bound;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(scale, 3, 4);
    set(bound, 100, 1);
    test_vault_open(&v, "1000", "0", NULL, 0);
    for (int i = 0; i < 4; i++) {
        double out = -7;
        assert_int_equal(assay_release_snapping(&v.custodian, &out, in[i],
                                                scale, bound, "s", &err),
                         ASSAY_OK);
        assert_true(fabs(out) <= 100 && floor(out) == out); /* grid 1 */
    }
    mpq_set_ui(scale, 1, 3); /* not a double */
    double out = -7;
    assert_int_equal(
        assay_release_snapping(&v.custodian, &out, 1, scale, bound, "s", &err),
        ASSAY_INVALID);
    mpq_set_ui(scale, 200, 1); /* the theorem needs scale < bound */
    assert_true(assay_release_snapping(&v.custodian, &out, 1, scale, bound, "s",
                                       &err) != ASSAY_OK);
    assert_true(out == -7);
    assert_int_equal(test_vault_rows(&v), 4);
    test_vault_close(&v);
    mpq_clear(scale);
    mpq_clear(bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(responses_have_their_law_and_cost),
        cmocka_unit_test(unary_reports_have_their_law_and_cost),
        cmocka_unit_test(local_reports_refuse_nonsense),
        cmocka_unit_test(quantiles_are_near_their_rank),
        cmocka_unit_test(quantiles_have_their_law),
        cmocka_unit_test(rare_keys_stay_hidden),
        cmocka_unit_test(snapping_clamps_and_snaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
