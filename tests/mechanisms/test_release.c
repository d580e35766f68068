/* ring: glue */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/rational.h"
#include "mechanisms/release.h"
#include "tests/support/custodian.h"

typedef struct numbers {
    mpq_t one, two, four, tiny, zero, minus, big;
} numbers;

static void numbers_init(numbers *q)
{
    mpq_inits(q->one, q->two, q->four, q->tiny, q->zero, q->minus, q->big,
              NULL);
    mpq_set_si(q->one, 1, 1);
    mpq_set_si(q->two, 2, 1);
    mpq_set_si(q->four, 4, 1);
    mpq_set_ui(q->tiny, 1, 1000);
    mpq_set_si(q->minus, -1, 1);
    mpq_set_ui(q->big, 1000000, 1);
}

static void numbers_clear(numbers *q)
{
    mpq_clears(q->one, q->two, q->four, q->tiny, q->zero, q->minus, q->big,
               NULL);
}

static void gaussian_vector_charges_rho(void **state)
{
    test_vault v;
    numbers q;
    int64_t in[3] = {10, 20, 30};
    int64_t out[3] = {0, 0, 0};
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    test_vault_open(&v, NULL, NULL, "1", 0);
    assert_int_equal(assay_release_gaussian_vector(&v.custodian, out, in, 3,
                                                   q.four, q.two, "t", &err),
                     ASSAY_OK);
    assert_true(test_vault_spent_rho(&v) == 0.25);
    assert_int_equal(test_vault_rows(&v), 1);
    for (int i = 0; i < 3; i++) {
        assert_true(llabs(out[i] - in[i]) < 100);
    }
    test_vault_close(&v);
    numbers_clear(&q);
}

static void budget_gone_writes_nothing(void **state)
{
    test_vault v;
    numbers q;
    int64_t in[2] = {10, 20};
    int64_t out[2] = {-7, -7};
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    test_vault_open(&v, "1", "0", NULL, 0);
    uint64_t before = v.custodian.tape.position;
    assert_int_equal(assay_release_laplace_vector(&v.custodian, out, in, 2,
                                                  q.one, q.two, "t", &err),
                     ASSAY_BUDGET);
    assert_int_equal(v.custodian.tape.position, before);
    assert_int_equal(out[0], -7);
    assert_int_equal(test_vault_rows(&v), 0);
    assert_true(strlen(err.message) > 0);
    assert_int_equal(assay_release_laplace_vector(&v.custodian, out, in, 2,
                                                  q.two, q.two, "t", &err),
                     ASSAY_OK);
    assert_true(test_vault_spent_epsilon(&v) == 1.0);
    test_vault_close(&v);
    numbers_clear(&q);
}

static void a_tape_that_ends_writes_nothing_but_keeps_the_charge(void **state)
{
    test_vault v;
    numbers q;
    uint64_t words[3] = {1, 2, 3};
    int64_t in[64];
    int64_t out[64];
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    for (int i = 0; i < 64; i++) {
        in[i] = i;
        out[i] = -7;
    }
    test_vault_open_recorded(&v, NULL, NULL, "10", 0, words, 3);
    assert_int_equal(assay_release_gaussian_vector(&v.custodian, out, in, 64,
                                                   q.four, q.one, "t", &err),
                     ASSAY_ENTROPY);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(out[i], -7);
    }
    assert_int_equal(test_vault_rows(&v), 1);
    test_vault_close(&v);
    numbers_clear(&q);
}

/* A fresh output holds what the vector release would write, and zeros once the
 * tape ends; one that overlaps the input is refused before the charge. */
static void a_fresh_release_is_the_same_or_nothing(void **state)
{
    test_vault v;
    numbers q;
    uint64_t words[3] = {1, 2, 3};
    int64_t in[64];
    int64_t out[2][64];
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    for (int i = 0; i < 64; i++) {
        in[i] = 1000 + i;
        out[0][i] = -7;
    }
    test_vault_open_recorded(&v, NULL, NULL, "10", 0, words, 3);
    assert_int_equal(assay_release_gaussian_fresh(&v.custodian, in + 1, in, 32,
                                                  q.four, q.one, "t", &err),
                     ASSAY_INVALID);
    assert_int_equal(test_vault_rows(&v), 0);
    assert_int_equal(assay_release_gaussian_fresh(&v.custodian, out[0], in, 64,
                                                  q.four, q.one, "t", &err),
                     ASSAY_ENTROPY);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(out[0][i], 0);
    }
    assert_int_equal(test_vault_rows(&v), 1);
    test_vault_close(&v);
    for (int k = 0; k < 2; k++) {
        test_vault_open_recorded(&v, NULL, NULL, "10", 0, words, 3);
        assert_int_equal(
            (k == 0 ? assay_release_gaussian_fresh
                    : assay_release_gaussian_vector)(
                &v.custodian, out[k], in, 2, q.four, q.one, "t", &err),
            ASSAY_OK);
        test_vault_close(&v);
    }
    assert_memory_equal(out[0], out[1], 2 * sizeof in[0]);
    numbers_clear(&q);
}

static void nonsense_is_refused_before_the_charge(void **state)
{
    test_vault v;
    numbers q;
    int64_t x = 5;
    int64_t out = -7;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    test_vault_open(&v, NULL, NULL, "10", 0);
    assay_custodian *c = &v.custodian;
    assert_int_equal(
        assay_release_gaussian(c, &out, x, q.zero, q.one, "t", &err),
        ASSAY_INVALID);
    assert_int_equal(
        assay_release_laplace(c, &out, x, q.minus, q.one, "t", &err),
        ASSAY_INVALID);
    assert_int_equal(
        assay_release_laplace(c, &out, x, q.one, q.minus, "t", &err),
        ASSAY_INVALID);
    assert_int_equal(assay_release_count(c, &out, x, q.zero, "t", &err),
                     ASSAY_INVALID);
    assert_int_equal(
        assay_release_gaussian_vector(c, &out, &x, 0, q.one, q.one, "t", &err),
        ASSAY_INVALID);
    assert_int_equal(
        assay_release_gaussian_vector(c, NULL, &x, 1, q.one, q.one, "t", &err),
        ASSAY_INVALID);
    assert_int_equal(out, -7);
    assert_int_equal(test_vault_rows(&v), 0);
    test_vault_close(&v);
    numbers_clear(&q);
}

static void values_saturate_and_do_not_wrap(void **state)
{
    test_vault v;
    numbers q;
    int64_t in[2] = {INT64_MAX, INT64_MIN};
    int64_t out[2];
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    test_vault_open(&v, NULL, NULL, "10", 0);
    assert_int_equal(assay_release_gaussian_vector(&v.custodian, out, in, 2,
                                                   q.big, q.one, "t", &err),
                     ASSAY_OK);
    assert_true(out[0] == ASSAY_RELEASE_MAX);
    assert_true(out[1] == -ASSAY_RELEASE_MAX);
    test_vault_close(&v);
    numbers_clear(&q);
}

static void a_count_pays_epsilon(void **state)
{
    test_vault v;
    numbers q;
    int64_t out = 0;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    test_vault_open(&v, "5", "0", NULL, 0);
    assert_int_equal(
        assay_release_count(&v.custodian, &out, 1000, q.two, "c", &err),
        ASSAY_OK);
    assert_true(test_vault_spent_epsilon(&v) == 2.0);
    assert_true(llabs(out - 1000) < 100);
    test_vault_close(&v);
    numbers_clear(&q);
}

static void rounded_releases_have_their_variance(void **state)
{
    enum { N = 20000 };
    test_vault v;
    numbers q;
    static int64_t in[N];
    static int64_t out[N];
    double sum = 0;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    test_vault_open(&v, "100", "1/1000000", NULL, 0);
    assert_int_equal(assay_release_rounded_gaussian_vector(&v.custodian, out,
                                                           in, N, 10, q.four,
                                                           q.one, "t", &err),
                     ASSAY_OK);
    for (int i = 0; i < N; i++) {
        sum += ldexp((double)out[i], -10) * ldexp((double)out[i], -10);
    }
    assert_true(fabs(sum / N - 4) < 0.3); /* 7 standard deviations */
    assert_int_equal(assay_release_rounded_laplace_vector(
                         &v.custodian, out, in, N, 10, q.two, q.one, "t", &err),
                     ASSAY_OK);
    sum = 0;
    for (int i = 0; i < N; i++) {
        sum += fabs(ldexp((double)out[i], -10));
    }
    assert_true(fabs(sum / N - 2) < 0.1); /* 7 standard deviations */
    assert_int_equal(test_vault_rows(&v), 2);
    test_vault_close(&v);
    numbers_clear(&q);
}

static void symmetric_matrices_stay_symmetric(void **state)
{
    test_vault v;
    numbers q;
    int64_t m[9] = {100, 2, 3, 9, 200, 6, 9, 9, 300};
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    test_vault_open(&v, NULL, NULL, "10", 0);
    assert_int_equal(assay_release_gaussian_symmetric(&v.custodian, m, m, 3,
                                                      q.four, q.two, q.two, "m",
                                                      &err),
                     ASSAY_OK);
    assert_true(m[1] == m[3] && m[2] == m[6] && m[5] == m[7]);
    assert_true(llabs(m[0] - 100) < 60 && llabs(m[8] - 300) < 60);
    assert_true(test_vault_spent_rho(&v) == 0.25); /* 2 / (2 * 4) */
    test_vault_close(&v);
    numbers_clear(&q);
}

static void each_entry_has_its_own_variance(void **state)
{
    test_vault v;
    numbers q;
    mpq_t sigma2[3];
    int64_t in[3] = {0, 0, 0};
    int64_t out[3];
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    numbers_init(&q);
    for (int i = 0; i < 3; i++) {
        mpq_init(sigma2[i]);
        mpq_set(sigma2[i], i < 2 ? q.tiny : q.big);
    }
    test_vault_open(&v, NULL, NULL, "1000", 0);
    assert_int_equal(assay_release_gaussian_each(&v.custodian, out, in, 3,
                                                 (const mpq_t *)sigma2, q.four,
                                                 "e", &err),
                     ASSAY_OK);
    assert_true(out[0] == 0 && out[1] == 0); /* P[not 0] < 10^-200 */
    assert_true(test_vault_spent_rho(&v) == 2.0);
    for (int i = 0; i < 3; i++) {
        mpq_clear(sigma2[i]);
    }
    test_vault_close(&v);
    numbers_clear(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_vector_charges_rho),
        cmocka_unit_test(budget_gone_writes_nothing),
        cmocka_unit_test(a_tape_that_ends_writes_nothing_but_keeps_the_charge),
        cmocka_unit_test(a_fresh_release_is_the_same_or_nothing),
        cmocka_unit_test(nonsense_is_refused_before_the_charge),
        cmocka_unit_test(values_saturate_and_do_not_wrap),
        cmocka_unit_test(a_count_pays_epsilon),
        cmocka_unit_test(rounded_releases_have_their_variance),
        cmocka_unit_test(symmetric_matrices_stay_symmetric),
        cmocka_unit_test(each_entry_has_its_own_variance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
