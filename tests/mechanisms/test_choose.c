/* ring: glue */
/* Exact laws of small choices against 40,000 draws; each cell is within 6
 * standard deviations (false alarm below 10^-7 over all cells). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mechanisms/above.h"
#include "mechanisms/choose.h"
#include "mechanisms/compare.h"
#include "mechanisms/gap.h"
#include "mechanisms/pick.h"
#include "mechanisms/sampler.h"
#include "mechanisms/sparse_vector.h"
#include "mechanisms/weighted.h"
#include "tests/support/custodian.h"

__extension__ typedef __int128 wide;

enum { DRAWS = 40000, WEIGHTED_DRAWS = 40000 };

static void set(mpq_t q, long n, unsigned long d)
{
    mpq_init(q);
    mpq_set_si(q, n, d);
}

static void check_law(const double *p, const int *count, size_t n, int draws)
{
    for (size_t i = 0; i < n; i++) {
        double sd = sqrt(p[i] * (1 - p[i]) * draws);
        double diff = fabs(count[i] - p[i] * draws);
        if (diff > 6 * sd + 1) {
            fail_msg("cell %zu: %d draws, expected %.1f +- %.1f", i, count[i],
                     p[i] * draws, sd);
        }
    }
}

static void exponential_has_its_law(void **state)
{
    const int64_t score[4] = {3, 5, -2, 5};
    double p[4];
    double total = 0;
    int count[4] = {0};
    assay_tape tape;
    mpq_t rate;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(rate, 1, 4);
    assert_int_equal(assay_tape_init(&tape, &err), ASSAY_OK);
    for (int i = 0; i < 4; i++) {
        p[i] = exp((double)score[i] / 4);
        total += p[i];
    }
    for (int i = 0; i < 4; i++) {
        p[i] /= total;
    }
    for (int i = 0; i < DRAWS; i++) {
        size_t pick = 9;
        assert_int_equal(assay_pick_exponential(&tape, &pick, score, 4, rate),
                         ASSAY_OK);
        count[pick]++;
    }
    check_law(p, count, 4, DRAWS);
    assay_tape_clear(&tape);
    mpq_clear(rate);
}

/* Two candidates, gap g: the worse one wins iff it comes first and its coin is
 * one: q/2, q = exp(-g/2). */
static void permute_and_flip_has_its_law(void **state)
{
    const int64_t score[2] = {INT64_MAX, INT64_MAX - 1};
    double q = exp(-0.5);
    double p[2] = {1 - q / 2, q / 2};
    int count[2] = {0};
    size_t order[2];
    assay_tape tape;
    mpq_t rate;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(rate, 1, 2);
    assert_int_equal(assay_tape_init(&tape, &err), ASSAY_OK);
    for (int i = 0; i < DRAWS; i++) {
        size_t pick = 9;
        assert_int_equal(
            assay_pick_permute_and_flip(&tape, &pick, score, order, 2, rate),
            ASSAY_OK);
        count[pick]++;
    }
    check_law(p, count, 2, DRAWS);
    assay_tape_clear(&tape);
    mpq_clear(rate);
}

/* P[Z >= k] of the discrete Laplace law of scale b, by symmetry for k <= 0 */
static double tail(double b, int k)
{
    double q = exp(-1 / b);
    return k > 0 ? pow(q, k) / (1 + q) : 1 - pow(q, 1 - k) / (1 + q);
}

static double mass(double b, int k)
{
    return tail(b, k) - tail(b, k + 1);
}

/* The first largest of score + noise: all before it below, none after above. */
static void noisy_max_has_its_law(void **state)
{
    const int64_t score[3] = {4, 6, 5};
    double p[3] = {0};
    int count[3] = {0};
    assay_tape tape;
    mpq_t scale;
    assay_sampler *sampler = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(scale, 2, 1);
    for (int i = 0; i < 3; i++) {
        for (int y = -80; y <= 90; y++) { /* the sum at i */
            double one = mass(2, y - (int)score[i]);
            for (int j = 0; j < 3; j++) {
                int most = j < i ? y - 1 : y;
                one *= j == i ? 1 : 1 - tail(2, most - (int)score[j] + 1);
            }
            p[i] += one;
        }
    }
    assert_true(fabs(p[0] + p[1] + p[2] - 1) < 1e-12);
    assert_int_equal(assay_tape_init(&tape, &err), ASSAY_OK);
    assert_int_equal(
        assay_sampler_new_discrete_laplace(&sampler, scale, NULL, &err), 0);
    for (int i = 0; i < DRAWS; i++) {
        int64_t noise[3];
        assert_int_equal(assay_sampler_fill(sampler, &tape, noise, 3, &err), 0);
        count[assay_compare_largest(score, noise, 3)]++;
    }
    check_law(p, count, 3, DRAWS);
    assay_sampler_free(sampler);
    assay_tape_clear(&tape);
    mpq_clear(scale);
}

/* Two questions against one noisy threshold, at most one "above": 1, 01, 00. */
static void sparse_vector_has_its_law(void **state)
{
    double p[3] = {0};
    int count[3] = {0};
    assay_tape tape;
    mpq_t scale[2];
    assay_sampler *sampler[2] = {NULL, NULL};
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(scale[0], 2, 1);
    set(scale[1], 4, 1);
    for (int z = -90; z <= 90; z++) { /* queries 9 and 12 against 10 */
        double first = tail(4, 10 + z - 9);
        double second = tail(4, 10 + z - 12);
        p[0] += mass(2, z) * first;
        p[1] += mass(2, z) * (1 - first) * second;
        p[2] += mass(2, z) * (1 - first) * (1 - second);
    }
    assert_int_equal(assay_tape_init(&tape, &err), ASSAY_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(assay_sampler_new_discrete_laplace(
                             &sampler[i], scale[i], NULL, &err),
                         0);
    }
    for (int i = 0; i < DRAWS; i++) {
        assay_above above;
        int64_t z = 0;
        int cell = 0;
        assert_int_equal(assay_sampler_one(sampler[0], &tape, &z, &err), 0);
        assay_above_start(&above, 1, z);
        for (int question = 0; question < 2 && above.left > 0; question++) {
            assert_int_equal(assay_sampler_one(sampler[1], &tape, &z, &err), 0);
            cell += !assay_above_answer(&above, question == 0 ? 9 : 12, z, 10);
        }
        count[cell]++;
    }
    check_law(p, count, 3, DRAWS);
    for (int i = 0; i < 2; i++) {
        assay_sampler_free(sampler[i]);
        mpq_clear(scale[i]);
    }
    assay_tape_clear(&tape);
}

static void far_apart_scores_are_no_problem(void **state)
{
    const int64_t score[3] = {INT64_MIN, INT64_MAX, 0};
    size_t pick = 9;
    test_vault v;
    mpq_t one;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(one, 1, 1);
    test_vault_open(&v, "100", "0", NULL, 0);
    assert_int_equal(assay_choose_exponential(&v.custodian, &pick, score, 3,
                                              one, one, "e", &err),
                     ASSAY_OK);
    assert_int_equal(pick, 1);
    assert_int_equal(assay_choose_noisy_max(&v.custodian, &pick, score, 3, one,
                                            one, "e", &err),
                     ASSAY_OK);
    assert_int_equal(pick, 1);
    assert_true(assay_gap(INT64_MAX, INT64_MIN) == UINT64_MAX);
    assert_int_equal(
        assay_compare_sums(INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN), 1);
    assert_int_equal(
        assay_compare_sums(INT64_MIN, INT64_MIN, INT64_MAX, INT64_MAX), 0);
    const int64_t edge[] = {INT64_MIN, INT64_MIN + 1, -3,       -2, -1, 0, 1, 2,
                            3,         INT64_MAX - 1, INT64_MAX};
    for (size_t i = 0; i < 11 * 11 * 11 * 11; i++) {
        int64_t a = edge[i % 11];
        int64_t b = edge[i / 11 % 11];
        int64_t c = edge[i / 121 % 11];
        int64_t d = edge[i / 1331];
        assert_int_equal(assay_compare_sums(a, b, c, d),
                         (wide)a + b >= (wide)c + d);
    }
    assert_int_equal(assay_compare_sums(3, -4, 1, -2), 1);
    test_vault_close(&v);
    mpq_clear(one);
}

static void weighted_draws_have_their_law(void **state)
{
    const uint64_t weight[5] = {10, 0, 3, 1000000, 1};
    const uint64_t distance[5] = {7, 0, 5, 30, 4000000};
    double p[5];
    double total = 0;
    int count[5] = {0};
    assay_tape tape;
    mpq_t rate;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(rate, 1, 2);
    for (int i = 0; i < 5; i++) {
        p[i] = (double)weight[i] * exp(-(double)distance[i] / 2);
        total += p[i];
    }
    for (int i = 0; i < 5; i++) {
        p[i] /= total;
    }
    assert_int_equal(assay_tape_init(&tape, &err), ASSAY_OK);
    for (int i = 0; i < WEIGHTED_DRAWS; i++) {
        size_t pick = 9;
        assert_int_equal(
            assay_weighted_draw(&tape, &pick, weight, distance, 5, rate, &err),
            ASSAY_OK);
        count[pick]++;
    }
    check_law(p, count, 5, WEIGHTED_DRAWS);
    assay_tape_clear(&tape);
    mpq_clear(rate);
}

/* Equal weights 1/2, 1/2: the word 2^63 lies on the boundary and needs more
 * digits; far candidates beyond the first reach are found when hit. */
static void weighted_ties_take_more_words(void **state)
{
    const uint64_t weight[2] = {1, 1};
    const uint64_t distance[2] = {4, 4};
    const uint64_t far[2] = {0, 400};
    uint64_t words[4] = {UINT64_C(1) << 63, 0, 0, 5};
    size_t pick = 9;
    assay_tape tape;
    mpq_t rate;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(rate, 1, 1);
    assay_tape_init_unsafe_recorded(&tape, words, 4);
    assert_int_equal(
        assay_weighted_draw(&tape, &pick, weight, distance, 2, rate, &err),
        ASSAY_OK);
    assert_int_equal(pick, 1);
    words[0] = (UINT64_C(1) << 63) - 1;
    words[1] = UINT64_MAX;
    assay_tape_init_unsafe_recorded(&tape, words, 2);
    assert_int_equal(
        assay_weighted_draw(&tape, &pick, weight, distance, 2, rate, &err),
        ASSAY_OK);
    assert_int_equal(pick, 0);
    uint64_t ones[20];
    memset(ones, 0xff, sizeof ones);
    ones[11] = 0;
    assay_tape_init_unsafe_recorded(&tape, ones, 20);
    assert_int_equal(
        assay_weighted_draw(&tape, &pick, weight, far, 2, rate, &err),
        ASSAY_OK);
    assert_int_equal(pick, 1); /* P = exp(-400) */
    assert_true(tape.position >= 10);
    assay_tape_init_unsafe_recorded(&tape, ones, 3);
    pick = 9;
    assert_int_equal(
        assay_weighted_draw(&tape, &pick, weight, far, 2, rate, &err),
        ASSAY_ENTROPY);
    assert_int_equal(pick, 9);
    mpq_clear(rate);
}

static void choices_refuse_nonsense_and_overspending(void **state)
{
    const int64_t score[2] = {1, 2};
    size_t pick = 9;
    uint64_t none[1] = {0};
    test_vault v;
    mpq_t one;
    mpq_t zero;
    mpq_t big;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(one, 1, 1);
    set(zero, 0, 1);
    set(big, 100, 1);
    test_vault_open_recorded(&v, "10", "0", NULL, 0, none, 0);
    assay_custodian *c = &v.custodian;
    assert_int_equal(
        assay_choose_exponential(c, &pick, score, 0, one, one, "e", &err),
        ASSAY_INVALID);
    assert_int_equal(
        assay_choose_noisy_max(c, &pick, score, 2, zero, one, "e", &err),
        ASSAY_INVALID);
    assert_int_equal(
        assay_choose_permute_and_flip(c, &pick, score, 2, one, zero, "e", &err),
        ASSAY_INVALID);
    assert_int_equal(
        assay_choose_exponential(c, &pick, score, 2, big, one, "e", &err),
        ASSAY_BUDGET);
    assert_int_equal(test_vault_rows(&v), 0);
    assert_int_equal(
        assay_choose_exponential(c, &pick, score, 2, one, one, "e", &err),
        ASSAY_ENTROPY);
    assert_int_equal(
        assay_choose_permute_and_flip(c, &pick, score, 2, one, one, "e", &err),
        ASSAY_ENTROPY);
    assert_int_equal(
        assay_choose_noisy_max(c, &pick, score, 2, one, one, "e", &err),
        ASSAY_ENTROPY);
    assert_int_equal(pick, 9);
    assert_int_equal(test_vault_rows(&v), 3);
    test_vault_close(&v);
    mpq_clears(one, zero, big, NULL);
}

static void sparse_vector_stops_after_its_positives(void **state)
{
    test_vault v;
    assay_sparse_vector *sv = NULL;
    int above = -1;
    mpq_t scale;
    mpq_t one;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(scale, 10, 1);
    set(one, 1, 1);
    test_vault_open(&v, "1", "0", NULL, 0);
    assert_int_equal(assay_sparse_vector_new(&sv, &v.custodian, 2, 0, scale,
                                             scale, one, "sv", &err),
                     ASSAY_OK);
    assert_true(fabs(test_vault_spent_epsilon(&v) - 0.5) < 1e-12);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(assay_sparse_vector_ask(sv, &above, -100000, 0, &err),
                         ASSAY_OK);
        assert_int_equal(above, 0);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(assay_sparse_vector_ask(sv, &above, 100000, 0, &err),
                         ASSAY_OK);
        assert_int_equal(above, 1);
    }
    above = -1;
    assert_int_equal(assay_sparse_vector_ask(sv, &above, 100000, 0, &err),
                     ASSAY_BUDGET);
    assert_int_equal(above, -1);
    assert_int_equal(assay_sparse_vector_reset(sv, &err), ASSAY_OK);
    assert_int_equal(assay_sparse_vector_left(sv), 2);
    assert_true(fabs(test_vault_spent_epsilon(&v) - 1.0) < 1e-12);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(assay_sparse_vector_ask(sv, &above, 100000, 0, &err),
                         ASSAY_OK);
    }
    assert_int_equal(assay_sparse_vector_reset(sv, &err), ASSAY_BUDGET);
    assert_int_equal(assay_sparse_vector_left(sv), 0);
    assay_sparse_vector_free(sv);
    test_vault_close(&v);
    mpq_clear(scale);
    mpq_clear(one);
}

static void monotone_sparse_vector_costs_less(void **state)
{
    test_vault v;
    assay_sparse_vector *sv = NULL;
    mpq_t scale;
    mpq_t one;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    set(scale, 2, 1);
    set(one, 1, 1);
    test_vault_open(&v, "1", "0", NULL, 0);
    assert_int_equal(assay_sparse_vector_new(&sv, &v.custodian, 1, 1, scale,
                                             scale, one, "sv", &err),
                     ASSAY_OK);
    assert_true(fabs(test_vault_spent_epsilon(&v) - 1.0) < 1e-12);
    assay_sparse_vector_free(sv);
    sv = NULL;
    assert_int_equal(assay_sparse_vector_new(&sv, &v.custodian, 0, 1, scale,
                                             scale, one, "sv", &err),
                     ASSAY_INVALID);
    assert_null(sv);
    test_vault_close(&v);
    mpq_clear(scale);
    mpq_clear(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponential_has_its_law),
        cmocka_unit_test(permute_and_flip_has_its_law),
        cmocka_unit_test(noisy_max_has_its_law),
        cmocka_unit_test(sparse_vector_has_its_law),
        cmocka_unit_test(far_apart_scores_are_no_problem),
        cmocka_unit_test(weighted_draws_have_their_law),
        cmocka_unit_test(weighted_ties_take_more_words),
        cmocka_unit_test(choices_refuse_nonsense_and_overspending),
        cmocka_unit_test(sparse_vector_stops_after_its_positives),
        cmocka_unit_test(monotone_sparse_vector_costs_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
