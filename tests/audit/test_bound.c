/* ring: glue */
/* The statistics kernel against oracles and by exhaustive coverage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>
#include <stdio.h>

#include "audit/binomial.h"
#include "audit/bound.h"
#include "audit/certify.h"
#include "audit/rng.h"

static void near(double got, double want, double tol)
{
    if (!(fabs(got - want) <= tol)) {
        print_error("got %.12g, want %.12g +- %g\n", got, want, tol);
    }
    assert_true(fabs(got - want) <= tol);
}

/* exact sum in long double, small n */
static double slow_at_least(unsigned k, unsigned n, double p)
{
    long double sum = 0, c = 1;
    for (unsigned j = 0; j <= n; j++) {
        if (j >= k) {
            sum += c * powl(p, j) * powl(1 - (long double)p, n - j);
        }
        c = c * (n - j) / (j + 1);
    }
    return (double)sum;
}

static void tails_agree_with_direct_sums(void **state)
{
    (void)state;
    for (unsigned k = 0; k <= 40; k++) {
        for (double p = 0.03; p < 1; p += 0.07) {
            double want = slow_at_least(k, 40, p);
            double got = assay_binomial_at_least(k, 40, p);
            assert_true(got >= want * (1 - 1e-15));
            near(got, want, 1e-9 * want + 1e-15);
            double most = assay_binomial_at_most(k, 40, p);
            near(most, 1 - slow_at_least(k + 1, 40, p), 1e-12);
        }
    }
}

static void limits_match_known_values(void **state)
{
    (void)state;
    /* zero of n: 1 - level^(1/n); all of n: level^(1/n) */
    near(assay_binomial_upper(0, 100, 0.01), 1 - pow(0.01, 0.01), 1e-9);
    near(assay_binomial_lower(100, 100, 0.01), pow(0.01, 0.01), 1e-9);
    near(assay_binomial_lower(1, 100, 0.01), 1 - pow(0.99, 0.01), 1e-9);
    /* large n: the normal limit */
    double w = 2.3263478740408408 * sqrt(0.25 / 2e8);
    near(assay_binomial_upper(100000000, 200000000, 0.01), 0.5 + w, 1e-8);
    near(assay_binomial_lower(100000000, 200000000, 0.01), 0.5 - w, 1e-8);
}

static void limits_keep_their_side(void **state)
{
    (void)state;
    const uint64_t n = 1000000;
    for (uint64_t k = 1; k < n; k = k * 3 + 1) {
        double lo = assay_binomial_lower(k, n, 0.005);
        double hi = assay_binomial_upper(k, n, 0.005);
        assert_true(assay_binomial_at_least(k, n, lo) <= 0.005);
        assert_true(assay_binomial_at_most(k, n, hi) <= 0.005);
        assert_true(assay_binomial_at_least(k, n, lo) > 0.00499);
        assert_true(assay_binomial_at_most(k, n, hi) > 0.00499);
    }
}

static void one_run_reproduces_the_published_numbers(void **state)
{
    (void)state;
    near(assay_bound_one_run(1000, 100, 75, 1e-4, 0.05), 0.67298, 2e-5);
    near(assay_bound_one_run(100000, 1510, 1439, 1e-5, 0.05), 2.67585, 2e-5);
    near(assay_bound_one_run_p(100, 100, 75, log(3), 0), 0.5535, 1e-4);
}

typedef double (*bound_fn)(const assay_audit_counts *c, double level, double w);

static double joint(const assay_audit_counts *c, double level, double w)
{
    const assay_claim eps = {ASSAY_CLAIM_EPS, 0, 0.05};
    return assay_bound_joint(&eps, c, level, w);
}

static double joint_mu(const assay_audit_counts *c, double level, double w)
{
    const assay_claim mu = {ASSAY_CLAIM_MU, 0, 0};
    return assay_bound_joint(&mu, c, level, w);
}

static double joint_rho(const assay_audit_counts *c, double level, double w)
{
    const assay_claim rho = {ASSAY_CLAIM_RHO, 0, 0};
    return assay_bound_joint(&rho, c, level, w);
}

static double both_sides(const assay_audit_counts *c, double level, double w)
{
    const assay_claim eps = {ASSAY_CLAIM_EPS, 0, 0.05};
    (void)w;
    return assay_bound_union(&eps, c, level);
}

enum { N = 16 };

/* P[bound > forced(p1,p2)] summed over every pair of counts. */
static double error_rate(double table[N + 1][N + 1], double truth, double p1,
                         double p2)
{
    double rate = 0;
    for (unsigned a = 0; a <= N; a++) {
        for (unsigned b = 0; b <= N; b++) {
            if (table[a][b] > truth) {
                rate +=
                    (slow_at_least(a, N, p1) - slow_at_least(a + 1, N, p1)) *
                    (slow_at_least(b, N, p2) - slow_at_least(b + 1, N, p2));
            }
        }
    }
    return rate;
}

static void covers(bound_fn bound, assay_claim_kind kind, double delta,
                   double w)
{
    static double table[N + 1][N + 1];
    const assay_claim claim = {kind, 0, delta};
    for (unsigned a = 0; a <= N; a++) {
        for (unsigned b = 0; b <= N; b++) {
            assay_audit_counts c = {a, N, b, N};
            table[a][b] = bound(&c, 0.1, w);
        }
    }
    for (double p1 = 0.05; p1 < 1; p1 += 0.15) {
        for (double p2 = 0.01; p2 < 0.8; p2 += 0.11) {
            double truth = assay_claim_forced(&claim, p1, p2);
            assert_true(error_rate(table, truth, p1, p2) <= 0.1);
        }
    }
}

static void bounds_cover_exhaustively(void **state)
{
    (void)state;
    for (double w = 0.3; w < 1; w += 0.6) {
        covers(joint, ASSAY_CLAIM_EPS, 0.05, w);
        covers(joint_mu, ASSAY_CLAIM_MU, 0, w);
        covers(joint_rho, ASSAY_CLAIM_RHO, 0, w);
    }
    covers(both_sides, ASSAY_CLAIM_EPS, 0.05, 0.5);
}

static uint64_t heads(assay_rng *rng, uint64_t n, double p)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < n; i++) {
        k += assay_rng_u01(rng) < p;
    }
    return k;
}

/* The second stage looks at another event of the same ratio, or at the same
 * one, whichever the first stage's luck recommends: the level still holds. */
static void two_stages_keep_their_level(void **state)
{
    (void)state;
    enum { REPEATS = 400 };
    const assay_claim eps = {ASSAY_CLAIM_EPS, 0, 0};
    const double w[2] = {0.55, 0.55};
    size_t wrong = 0;
    assay_rng rng;
    assay_rng_seed(&rng, 21, 0, 0);
    for (size_t i = 0; i < REPEATS; i++) {
        assay_audit_counts c[2] = {
            {heads(&rng, 2000, 0.2), 2000, heads(&rng, 2000, 0.1), 2000}};
        double p = c[0].k1 > 2 * c[0].k2 ? 0.2 : 0.04;
        c[1] = (assay_audit_counts){heads(&rng, 4000, p), 4000,
                                    heads(&rng, 4000, p / 2), 4000};
        wrong += assay_bound_stages(&eps, c, w, 2, 0.05) > log(2);
    }
    print_message("%zu of %d above the truth\n", wrong, REPEATS);
    assert_true((double)wrong <= 0.05 * REPEATS + 3 * sqrt(0.0475 * REPEATS));
    assert_true((double)wrong >= 0.01 * REPEATS); /* and not by being useless */
}

static void two_stages_lose_hardly_anything(void **state)
{
    (void)state;
    const assay_claim eps = {ASSAY_CLAIM_EPS, 0, 0};
    const assay_audit_counts all = {10000, 1000000, 9048, 1000000};
    const assay_audit_counts part[2] = {{3000, 300000, 2714, 300000},
                                        {7000, 700000, 6334, 700000}};
    const double w[2] = {0.7, 0.7};
    double one = assay_bound_joint(&eps, &all, 0.01, 0.7);
    double two = assay_bound_stages(&eps, part, w, 2, 0.01);
    near(two, one, 0.01 * one);
    assert_true(assay_bound_stages(&eps, &all, w, 1, 0.01) == one);
    assert_true(assay_bound_stages(&eps, &all, w, 0, 0.01) == 0);
}

static void joint_bound_beats_the_union(void **state)
{
    (void)state;
    const assay_claim eps = {ASSAY_CLAIM_EPS, 0, 0};
    const assay_audit_counts c = {5000000, 10000000, 4524187, 10000000};
    double w = assay_bound_weight(0.5, c.n1, 0.4524, c.n2);
    double j = assay_bound_joint(&eps, &c, 0.01, w);
    double u = assay_bound_union(&eps, &c, 0.01);
    assert_true(j > u);
    /* the normal theory: 0.1 - 2.326 sqrt(s1^2 + s2^2) */
    near(j, 0.1 - 2.33 * sqrt(1e-7 + 1.21e-7), 5e-5);
    near(assay_bound_fast(&eps, 5e6, 1e7, 4524187, 1e7, 0.01), j, 5e-5);
    const assay_audit_counts zero = {50000, 1000000, 0, 1000000};
    w = assay_bound_weight(0.05, zero.n1, 0, zero.n2);
    near(assay_bound_joint(&eps, &zero, 0.01, w), log(0.05 * 1e6 / -log(0.01)),
         0.03);
}

static void detection_limit_shrinks_with_samples(void **state)
{
    (void)state;
    const assay_claim eps = {ASSAY_CLAIM_EPS, 1, 0};
    double mass, last = INFINITY;
    for (uint64_t n = 1000; n <= 100000000; n *= 10) {
        double x = assay_bound_detection_limit(&eps, n, 0.01, &mass);
        assert_true(x > 1 && x < last);
        assert_true(mass > 0 && mass < 1);
        last = x;
    }
    assert_true(last < 1.001);
}

static void detection_limit_is_finite_for_every_claim(void **state)
{
    (void)state;
    static const assay_claim claims[] = {{ASSAY_CLAIM_EPS, 1, 1e-5},
                                         {ASSAY_CLAIM_RHO, 0.5, 0},
                                         {ASSAY_CLAIM_MU, 1, 0},
                                         {ASSAY_CLAIM_MU, 3, 0}};
    for (size_t k = 0; k < sizeof claims / sizeof claims[0]; k++) {
        double mass, x;
        x = assay_bound_detection_limit(&claims[k], 1000000, 0.01, &mass);
        assert_true(x > claims[k].value && x < claims[k].value + 0.1);
        assert_true(mass > 0 && mass < 1);
    }
}

static void wealth_refutes_and_respects_the_claim(void **state)
{
    (void)state;
    /* expected counts at p1 = .5, p2 = .3, independent sides */
    const assay_pairs pairs = {15000, 35000, 15000, 35000};
    double lower = assay_bound_anytime(0, &pairs, 0.01);
    assert_true(lower > 0.48 && lower < log(0.5 / 0.3));
    assert_true(assay_bound_log_wealth(log(0.5 / 0.3), 0, &pairs) < 0.1);
}

static void renyi_profile_is_tight_for_a_gaussian(void **state)
{
    (void)state;
    /* N(mu,1) against N(0,1), mu^2/2 = 0.5, expected counts in 80 bins */
    enum { B = 80 };
    double g[B];
    uint64_t left[B], right[B];
    for (int i = 0; i < B; i++) {
        double a = -4 + 0.1 * i, b = a + 0.1;
        a = i == 0 ? -40 : a;
        b = i == B - 1 ? 40 : b;
        double p = assay_normal_cdf(b - 1) - assay_normal_cdf(a - 1);
        double q = assay_normal_cdf(b) - assay_normal_cdf(a);
        g[i] = log(p / q);
        left[i] = (uint64_t)(1e7 * p + 0.5);
        right[i] = (uint64_t)(1e7 * q + 0.5);
    }
    double rho = assay_bound_renyi(g, left, right, B, 1.5, 0.01);
    assert_true(rho > 0.49 && rho < 0.5);
}

/* Shares of the integers -5 to 6 (ends: all beyond) under a discrete Gaussian of
 * variance 1 around `centre`. */
enum { INTEGERS = 12 };
static void integer_shares(double *share, int centre)
{
    double sum = 0;
    memset(share, 0, INTEGERS * sizeof *share);
    for (int x = -40; x <= 40; x++) {
        double weight = exp(-0.5 * (x - centre) * (x - centre));
        int k = x < -5 ? 0 : x > 6 ? INTEGERS - 1 : x + 5;
        share[k] += weight;
        sum += weight;
    }
    for (int k = 0; k < INTEGERS; k++) {
        share[k] /= sum;
    }
}

/* Sorted scores with rounded expected counts, none from `none` on. */
static void integer_scores(float *out, size_t n, const double *share, int none)
{
    size_t at = 0;
    for (int k = 0; k < none; k++) {
        size_t count = (size_t)(share[k] * (double)n + 0.5);
        for (size_t i = 0; i < count && at < n; i++) {
            out[at++] = (float)(k - 5);
        }
    }
    for (; at < n; at++) { /* the rest in the middle: to be sorted */
        out[at] = 0;
    }
}

/* None of 2.5 million right runs was where four are expected: a high order
 * would believe that there are none. */
static void the_order_is_not_chosen_by_what_was_not_seen(void **state)
{
    enum { RUNS = 2500000 };
    (void)state;
    static float left[RUNS], right[RUNS], spare[RUNS];
    static assay_certify z;
    double p[INTEGERS], q[INTEGERS];
    uint64_t count[2][INTEGERS];
    const assay_claim rho = {ASSAY_CLAIM_RHO, 0.5, 0};
    integer_shares(p, 1);
    integer_shares(q, 0);
    integer_scores(left, RUNS, p, INTEGERS);
    integer_scores(right, RUNS, q, INTEGERS - 2);
    assay_work_sort(left, spare, RUNS);
    assay_work_sort(right, spare, RUNS);
    (void)assay_profile_fit(&z, left, right, RUNS, 2e8, 0.01, &rho);
    memset(count, 0, sizeof count);
    for (size_t k = 0, bin = 0; k < INTEGERS; k++) {
        while (bin + 1 < z.num_bins && (float)((int)k - 5) > z.edge[bin]) {
            bin++;
        }
        assert_true(bin < INTEGERS);
        count[0][bin] += (uint64_t)(2e8 * p[k] + 0.5);
        count[1][bin] += (uint64_t)(2e8 * q[k] + 0.5);
    }
    const uint64_t *first = count[z.profile_swapped];
    const uint64_t *second = count[!z.profile_swapped];
    double bound =
        assay_bound_renyi(z.g, first, second, z.num_bins, z.alpha, 0.01);
    print_message("order %.3g certifies %.4f of 0.5\n", z.alpha, bound);
    assert_true(bound > 0.495 && bound < 0.5);
}

static void claims_parse(void **state)
{
    (void)state;
    assay_claim c;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_claim_parse(&c, "eps=1,delta=1e-6", &err), ASSAY_OK);
    near(c.value, 1, 0);
    near(c.delta, 1e-6, 1e-20);
    assert_int_equal(assay_claim_parse(&c, "rho=1/3", &err), ASSAY_OK);
    assert_true(c.value * 3 >= 1);
    assert_int_equal(assay_claim_parse(&c, "mu=0.5", &err), ASSAY_OK);
    static const char *const bad[] = {
        "",        "eps",           "eps=x",   "eps=-1",          "rho=1,mu=2",
        "delta=1", "eps=1,delta=1", "eps=nan", "rho=1,delta=1e-3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(assay_claim_parse(&c, bad[i], &err), ASSAY_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tails_agree_with_direct_sums),
        cmocka_unit_test(limits_match_known_values),
        cmocka_unit_test(limits_keep_their_side),
        cmocka_unit_test(one_run_reproduces_the_published_numbers),
        cmocka_unit_test(bounds_cover_exhaustively),
        cmocka_unit_test(two_stages_keep_their_level),
        cmocka_unit_test(two_stages_lose_hardly_anything),
        cmocka_unit_test(joint_bound_beats_the_union),
        cmocka_unit_test(detection_limit_shrinks_with_samples),
        cmocka_unit_test(detection_limit_is_finite_for_every_claim),
        cmocka_unit_test(wealth_refutes_and_respects_the_claim),
        cmocka_unit_test(renyi_profile_is_tight_for_a_gaussian),
        cmocka_unit_test(the_order_is_not_chosen_by_what_was_not_seen),
        cmocka_unit_test(claims_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
