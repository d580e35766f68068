/* ring: glue */
/* The samplers as functions of recorded tapes: edges, ties and far tails. */
#include <mpfr.h>
#include <string.h>

#include "core/rational.h"
#include "mechanisms/blocks.h"
#include "mechanisms/big.h"
#include "mechanisms/cdf.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/permutation.h"
#include "tests/support/support.h"

#define MAX UINT64_MAX

static void uniform_try_rejects_exactly_the_last_incomplete_block(void **state)
{
    /* 2^64 mod 3 = 1, 2^64 mod 10 = 6, 2^64 mod 2^63+1 = 2^63-1 */
    static const uint64_t n[] = {1, 2, 3, 10, ((uint64_t)1 << 63) + 1, MAX};
    static const uint64_t rest[] = {0, 0, 1, 6, ((uint64_t)1 << 63) - 1, 1};
    (void)state;
    for (size_t i = 0; i < sizeof n / sizeof n[0]; i++) {
        uint64_t out = 77;
        uint64_t last = MAX - rest[i];
        assert_int_equal(assay_uniform_try(&out, n[i], last), ASSAY_OK);
        assert_int_equal(out, last % n[i]);
        assert_int_equal(last % n[i], n[i] - 1);
        if (rest[i] > 0) {
            out = 77;
            assert_int_equal(assay_uniform_try(&out, n[i], last + 1),
                             ASSAY_AGAIN);
            assert_int_equal(out, 77);
        }
    }
}

/* A simple generator for tapes; nothing private is drawn from it. */
static uint64_t mix(uint64_t *s)
{
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

#define TAPE 4096

static void random_tape(uint64_t *words, uint64_t seed)
{
    for (int i = 0; i < TAPE; i++) {
        words[i] = mix(&seed);
    }
}

static void gmp_and_64_bit_drivers_agree_in_value_and_words(void **state)
{
    static uint64_t words[TAPE];
    assay_gaussian_64 g = {70, 3, 5};
    mpz_t n, d, t, one, x;
    (void)state;
    mpz_init_set_ui(n, g.n);
    mpz_init_set_ui(d, g.d);
    mpz_init_set_ui(t, g.t);
    mpz_init_set_ui(one, 1);
    mpz_init(x);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        assay_tape a;
        assay_tape b;
        int64_t value = 0;
        random_tape(words, seed);
        assay_tape_init_unsafe_recorded(&a, words, TAPE);
        assay_tape_init_unsafe_recorded(&b, words, TAPE);
        assert_int_equal(assay_discrete_gaussian(&a, &g, &value), ASSAY_OK);
        assert_int_equal(assay_big_discrete_gaussian(&b, x, n, d, t), ASSAY_OK);
        assert_int_equal(mpz_get_si(x), value);
        assert_int_equal(a.position, b.position);
        assert_int_equal(assay_discrete_laplace(&a, 2, 7, &value), ASSAY_OK);
        mpz_set_ui(n, 2);
        mpz_set_ui(d, 7);
        assert_int_equal(assay_big_discrete_laplace(&b, x, n, d), ASSAY_OK);
        assert_int_equal(mpz_get_si(x), value);
        assert_int_equal(a.position, b.position);
        mpz_set_ui(n, g.n);
        mpz_set_ui(d, g.d);
    }
    mpz_clears(n, d, t, one, x, NULL);
}

static void a_big_uniform_reads_two_words_most_significant_first(void **state)
{
    uint64_t words[4] = {1, 5, MAX, MAX};
    assay_tape tape;
    mpz_t n;
    mpz_t x;
    (void)state;
    mpz_init(n);
    mpz_init(x);
    mpz_setbit(n, 127);
    assay_tape_init_unsafe_recorded(&tape, words, 4);
    assert_int_equal(assay_big_uniform(&tape, x, n), ASSAY_OK);
    assert_int_equal(tape.position, 2);
    mpz_setbit(n, 0); /* 2^127 + 1: rejects above it */
    mpz_sub_ui(x, x, 5);
    assert_int_equal(mpz_scan1(x, 0), 64);
    assert_int_equal(mpz_sizeinbase(x, 2), 65);
    assert_int_equal(assay_big_uniform(&tape, x, n), ASSAY_ENTROPY);
    mpz_clears(n, x, NULL);
}

/* floor(2^256 x) as four words, first one most significant */
static void four_words(uint64_t *words, const mpz_t x)
{
    mpz_t w;
    mpz_init(w);
    for (int i = 0; i < 4; i++) {
        mpz_fdiv_q_2exp(w, x, (mp_bitcnt_t)(192 - 64 * i));
        mpz_fdiv_r_2exp(w, w, 64);
        words[i] = assay_mpz_get_u64(w);
    }
    mpz_clear(w);
}

/* floor(2^256 (1 - P[X >= j])) for the discrete Laplace law of scale t, from
 * MPFR and the closed form e^(-j/t) / (1 + e^(-1/t)). */
static void laplace_edge(mpz_t out, unsigned long t, unsigned long j)
{
    mpfr_t a;
    mpfr_t b;
    mpfr_inits2(1024, a, b, NULL);
    mpfr_set_ui(a, j, MPFR_RNDN);
    mpfr_div_ui(a, a, t, MPFR_RNDN);
    mpfr_neg(a, a, MPFR_RNDN);
    mpfr_exp(a, a, MPFR_RNDN);
    mpfr_set_si(b, -1, MPFR_RNDN);
    mpfr_div_ui(b, b, t, MPFR_RNDN);
    mpfr_exp(b, b, MPFR_RNDN);
    mpfr_add_ui(b, b, 1, MPFR_RNDN);
    mpfr_div(a, a, b, MPFR_RNDN);
    mpfr_ui_sub(a, 1, a, MPFR_RNDN);
    mpfr_mul_2ui(a, a, 256, MPFR_RNDN);
    mpfr_get_z(out, a, MPFR_RNDD);
    mpfr_clears(a, b, NULL);
}

static int64_t draw_from(assay_sampler *sampler, const mpz_t u,
                         uint64_t *position)
{
    uint64_t words[64];
    int64_t value = 0;
    assay_tape tape;
    memset(words, 0x5a, sizeof words);
    four_words(words, u);
    assay_tape_init_unsafe_recorded(&tape, words, 64);
    assert_int_equal(assay_sampler_one(sampler, &tape, &value, NULL), ASSAY_OK);
    *position = tape.position;
    return value;
}

/* Just below and just above the edge between X = j-1 and X = j, 2^-256 apart:
 * the middle (one word decides), far in the tail (four words needed). */
static void far_tails_switch_exactly_at_the_edge(void **state)
{
    static const unsigned long j[] = {1, 2, 10, 44, 100, 150};
    assay_sampler *sampler =
        support_sampler("laplace", "1", ASSAY_ROUTE_INVERSE, 0);
    mpz_t edge;
    (void)state;
    mpz_init(edge);
    for (size_t i = 0; i < sizeof j / sizeof j[0]; i++) {
        uint64_t used = 0;
        laplace_edge(edge, 1, j[i]);
        mpz_add_ui(edge, edge, 1);
        assert_int_equal(draw_from(sampler, edge, &used), j[i]);
        assert_int_equal(used, 4);
        mpz_sub_ui(edge, edge, 2);
        assert_int_equal(draw_from(sampler, edge, &used), j[i] - 1);
        assert_int_equal(used, 4);
    }
    mpz_clear(edge);
    assay_sampler_free(sampler);
}

/* The same for the Gaussian by the digits of its own distribution function,
 * which the law tests compare with MPFR: 12 sigma out. */
static void gaussian_tails_reach_beyond_ten_sigma(void **state)
{
    assay_cdf *cdf = NULL;
    assay_sampler *sampler =
        support_sampler("gaussian", "100", ASSAY_ROUTE_INVERSE, 0);
    mpq_t v;
    mpz_t edge;
    (void)state;
    mpq_init(v);
    mpz_init(edge);
    mpq_set_ui(v, 100, 1);
    assert_int_equal(assay_cdf_new(&cdf, ASSAY_CDF_GAUSSIAN, 0, v, 0, NULL),
                     ASSAY_OK);
    for (int64_t k = -120; k <= 120; k += 40) {
        uint64_t used = 0;
        assay_cdf_digit(cdf, edge, k, 4);
        mpz_add_ui(edge, edge, 1);
        assert_int_equal(draw_from(sampler, edge, &used), k + 1);
        assert_int_equal(used, 4);
        mpz_sub_ui(edge, edge, 2);
        assert_int_equal(draw_from(sampler, edge, &used), k);
    }
    assay_cdf_free(cdf);
    assay_sampler_free(sampler);
    mpq_clear(v);
    mpz_clear(edge);
}

static void words_at_both_ends_of_the_line_are_refined(void **state)
{
    uint64_t low[3] = {0, 0, 1};
    uint64_t high[3] = {MAX, MAX, MAX - 1};
    assay_sampler *sampler =
        support_sampler("gaussian", "1", ASSAY_ROUTE_INVERSE, 0);
    assay_tape tape;
    int64_t a = 0;
    int64_t b = 0;
    (void)state;
    assay_tape_init_unsafe_recorded(&tape, low, 3);
    assert_int_equal(assay_sampler_one(sampler, &tape, &a, NULL), ASSAY_OK);
    assert_int_equal(tape.position, 3);
    assay_tape_init_unsafe_recorded(&tape, high, 3);
    assert_int_equal(assay_sampler_one(sampler, &tape, &b, NULL), ASSAY_OK);
    assert_true(a < -14 && a > -18); /* P[X <= a] about 2^-191 */
    assert_int_equal(b, -a);
    assay_tape_init_unsafe_recorded(&tape, low, 2);
    assert_int_equal(assay_sampler_one(sampler, &tape, &a, NULL),
                     ASSAY_ENTROPY);
    assay_sampler_free(sampler);
}

/* A tie with the table: the second word decides, both ways. */
static void a_tie_is_decided_by_the_next_word(void **state)
{
    assay_sampler *sampler =
        support_sampler("laplace", "3", ASSAY_ROUTE_INVERSE, 0);
    assay_cdf *cdf = NULL;
    mpq_t t;
    mpz_t d;
    (void)state;
    mpq_init(t);
    mpz_init(d);
    mpq_set_ui(t, 3, 1);
    assert_int_equal(assay_cdf_new(&cdf, ASSAY_CDF_LAPLACE, 0, t, 0, NULL),
                     ASSAY_OK);
    for (int64_t k = -9; k <= 9; k++) {
        uint64_t words[2];
        uint64_t second;
        int64_t value = 0;
        assay_tape tape;
        assay_cdf_digit(cdf, d, k, 2);
        second = mpz_fdiv_ui(d, 4294967296u);
        mpz_fdiv_q_2exp(d, d, 32);
        second += (uint64_t)mpz_fdiv_ui(d, 4294967296u) << 32;
        mpz_fdiv_q_2exp(d, d, 32);
        words[0] = assay_mpz_get_u64(d);
        words[1] = second - 1;
        assay_tape_init_unsafe_recorded(&tape, words, 2);
        assert_int_equal(assay_sampler_one(sampler, &tape, &value, NULL),
                         ASSAY_OK);
        assert_int_equal(value, k);
        assert_int_equal(tape.position, 2);
        words[1] = second + 1;
        assay_tape_init_unsafe_recorded(&tape, words, 2);
        assert_int_equal(assay_sampler_one(sampler, &tape, &value, NULL),
                         ASSAY_OK);
        assert_int_equal(value, k + 1);
        words[1] = second; /* ties again: the tape is too short */
        assay_tape_init_unsafe_recorded(&tape, words, 2);
        assert_int_equal(assay_sampler_one(sampler, &tape, &value, NULL),
                         ASSAY_ENTROPY);
    }
    mpq_clear(t);
    mpz_clear(d);
    assay_cdf_free(cdf);
    assay_sampler_free(sampler);
}

static void fill_equals_one_by_one(void **state)
{
    static const char *const laws[] = {"gaussian", "laplace"};
    static uint64_t words[TAPE];
    (void)state;
    for (int i = 0; i < 8; i++) {
        assay_sampler *s =
            support_sampler(laws[i % 2], i < 4 ? "9" : "16777216",
                            ASSAY_ROUTE_INVERSE, (i / 2) % 2 && i < 4);
        int64_t many[300];
        int64_t one = 0;
        assay_tape a;
        assay_tape b;
        random_tape(words, (uint64_t)i);
        assay_tape_init_unsafe_recorded(&a, words, TAPE);
        assay_tape_init_unsafe_recorded(&b, words, TAPE);
        assert_int_equal(assay_sampler_fill(s, &a, many, 300, NULL), ASSAY_OK);
        for (int k = 0; k < 300; k++) {
            assert_int_equal(assay_sampler_one(s, &b, &one, NULL), ASSAY_OK);
            assert_int_equal(one, many[k]);
        }
        assert_int_equal(a.position, b.position);
        assay_sampler_free(s);
    }
}

/* The fast coin of the block sampler, against exact digits of exp(-gamma). */
static void the_fast_coin_never_contradicts_exact_digits(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        assay_blocks t = {0, (uint32_t)(mix(&seed) % 2), 20};
        uint64_t j = mix(&seed) % 160;
        uint64_t rq = mix(&seed) % 1048576;
        uint64_t exact_word;
        assay_status status;
        mpfr_t g;
        mpz_t z;
        t.kappa = t.gaussian ? 2147483648u + mix(&seed) % 6442450944u
                             : 137438953472u + mix(&seed) % 412316860416u;
        mpfr_init2(g, 256);
        mpz_init(z);
        mpfr_set_ui(g, t.gaussian ? 2097152 * j + rq : 1048576, MPFR_RNDN);
        mpfr_mul_ui(g, g, rq, MPFR_RNDN);
        mpfr_mul_ui(g, g, t.kappa, MPFR_RNDN);
        mpfr_div_2ui(g, g, 80, MPFR_RNDN);
        mpfr_neg(g, g, MPFR_RNDN);
        mpfr_exp(g, g, MPFR_RNDN);
        mpfr_mul_2ui(g, g, 64, MPFR_RNDN);
        mpfr_get_z(z, g, MPFR_RNDD);
        exact_word = mpz_sizeinbase(z, 2) > 64 ? MAX : assay_mpz_get_u64(z);
        for (int k = -3; k <= 3; k++) { /* words close to the edge */
            uint64_t word = exact_word + (uint64_t)(k * 40) * 4294967296u;
            if ((k < 0) != (word < exact_word)) {
                continue; /* wrapped */
            }
            status = assay_blocks_coin(&t, j, rq, word);
            if (status == ASSAY_OK) {
                assert_true(word < exact_word);
            }
            if (status == ASSAY_INVALID) {
                assert_true(word > exact_word);
            }
        }
        mpz_clear(z);
        mpfr_clear(g);
    }
}

static void parameters_that_make_no_sense_are_refused(void **state)
{
    assay_sampler_options ct = {ASSAY_ROUTE_AUTO, 1};
    assay_sampler *s = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    mpq_t q;
    (void)state;
    mpq_init(q);
    assert_int_equal(assay_sampler_new_discrete_gaussian(&s, q, NULL, &err),
                     ASSAY_INVALID);
    mpq_set_si(q, -3, 1);
    assert_int_equal(assay_sampler_new_discrete_laplace(&s, q, NULL, &err),
                     ASSAY_INVALID);
    assert_non_null(strstr(err.message, "greater than zero"));
    mpq_set_ui(q, 5000, 1);
    assert_int_equal(assay_sampler_new_discrete_laplace(&s, q, &ct, &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_sampler_new_rounded_gaussian(&s, q, 201, &err),
                     ASSAY_INVALID);
    mpz_setbit(mpq_numref(q), 130);
    assert_int_equal(assay_sampler_new_discrete_gaussian(&s, q, NULL, &err),
                     ASSAY_INVALID);
    assert_null(s);
    mpq_clear(q);
}

static void a_value_beyond_64_bits_is_an_error_and_never_wraps(void **state)
{
    static const uint64_t ones[2000] = {0}; /* every coin true at first */
    assay_sampler *s;
    assay_error err = ASSAY_ERROR_INIT;
    int64_t value = 42;
    assay_tape tape;
    mpq_t q;
    (void)state;
    mpq_init(q);
    mpz_setbit(mpq_numref(q), 70);
    assert_int_equal(assay_sampler_new_geometric(&s, q, &err), ASSAY_OK);
    assert_int_equal(assay_tape_init(&tape, &err), ASSAY_OK);
    /* scale 2^70: below 2^63 has probability 2^-7 */
    for (int i = 0; i < 50; i++) {
        assay_status status = assay_sampler_one(s, &tape, &value, &err);
        assert_true(status == ASSAY_RANGE ||
                    (status == ASSAY_OK && value >= 0));
    }
    assay_tape_clear(&tape);
    assay_tape_init_unsafe_recorded(&tape, ones, 10);
    value = 42;
    assert_int_equal(assay_geometric(&tape, 1, 3, &value), ASSAY_ENTROPY);
    assert_int_equal(value, 42);
    assay_sampler_free(s);
    mpq_clear(q);
}

static void permutations_of_four_are_all_reached(void **state)
{
    unsigned seen[256] = {0};
    int num = 0;
    assay_tape tape;
    (void)state;
    assert_int_equal(assay_tape_init(&tape, NULL), ASSAY_OK);
    for (int i = 0; i < 2000; i++) {
        uint64_t a[4] = {9, 9, 9, 9};
        unsigned key;
        assert_int_equal(assay_permutation(&tape, a, 4), ASSAY_OK);
        assert_int_equal((1 << a[0]) | (1 << a[1]) | (1 << a[2]) | (1 << a[3]),
                         15);
        key = (unsigned)(a[0] * 64 + a[1] * 16 + a[2] * 4 + a[3]);
        num += seen[key]++ == 0;
    }
    assert_int_equal(num, 24);
    assay_tape_clear(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_try_rejects_exactly_the_last_incomplete_block),
        cmocka_unit_test(gmp_and_64_bit_drivers_agree_in_value_and_words),
        cmocka_unit_test(a_big_uniform_reads_two_words_most_significant_first),
        cmocka_unit_test(far_tails_switch_exactly_at_the_edge),
        cmocka_unit_test(gaussian_tails_reach_beyond_ten_sigma),
        cmocka_unit_test(words_at_both_ends_of_the_line_are_refined),
        cmocka_unit_test(a_tie_is_decided_by_the_next_word),
        cmocka_unit_test(fill_equals_one_by_one),
        cmocka_unit_test(the_fast_coin_never_contradicts_exact_digits),
        cmocka_unit_test(parameters_that_make_no_sense_are_refused),
        cmocka_unit_test(a_value_beyond_64_bits_is_an_error_and_never_wraps),
        cmocka_unit_test(permutations_of_four_are_all_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
