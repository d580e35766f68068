/* ring: glue */
/*
 * Power: the mean share of the oracle bound that small audits certify must not
 * fall. The floors are below what was measured when the test was written;
 * `make audit` checks 95 % at ten million runs (--floor). ASSAY_LAW_SCALE
 * multiplies the number of audits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "audit/catalogue.h"

static uint64_t num_seeds(void)
{
    const char *scale = getenv("ASSAY_LAW_SCALE");
    long k = scale == NULL ? 1 : strtol(scale, NULL, 10);
    return 2 * (uint64_t)(k > 0 ? k : 1);
}

/* One audit with its oracle. */
static void audited(assay_catalogue_row *row, const assay_specimen *s,
                    uint64_t samples, uint64_t seed)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_catalogue_options o = {
        .samples = samples, .confidence = 0.99, .seed = seed, .with_oracle = 1};
    if (assay_catalogue_run(row, s, &o, &err) != ASSAY_OK) {
        print_error("%s: %s\n", s->name, err.message);
        fail();
    }
}

/* The mean share of the chosen pair's oracle over a few seeds. */
static void certifies(const char *name, uint64_t samples, double least)
{
    const assay_specimen *s = assay_specimen_find(name);
    double sum = 0, count = 0;
    assert_non_null(s);
    for (uint64_t seed = 1; seed <= num_seeds(); seed++) {
        assay_catalogue_row row;
        audited(&row, s, samples, 101 * seed);
        assert_true(row.oracle.bound > 0);
        assert_true(row.best.bound >= 0.99 * row.oracle.bound);
        sum += row.result.lower / row.oracle.bound;
        count++;
    }
    print_message("%s: %.1f %% of the oracle bound\n", name, 100 * sum / count);
    assert_true(sum / count >= least);
}

static void density_ratio_of_one_number(void **state)
{
    (void)state;
    certifies("Laplace-1", 300000, 0.96);
}

static void probabilities_of_few_words(void **state)
{
    (void)state;
    certifies("SUE-bug", 300000, 0.96);
}

static void empty_event_found_by_its_tail(void **state)
{
    (void)state;
    certifies("UnclippedSum", 300000, 0.92);
}

static void heavier_tails_on_one_side(void **state)
{
    (void)state;
    certifies("NonDPLaplace1", 300000, 0.6);
}

static void patterns_that_one_side_never_shows(void **state)
{
    (void)state;
    certifies("SVT5", 300000, 0.85);
}

/* What events certify on average by their exact probabilities is what audits
 * find on average. */
static void expected_as_found(const char *name, uint64_t samples)
{
    const assay_specimen *s = assay_specimen_find(name);
    double found = 0, expected = 0, noise = 0, oracle = 0;
    uint64_t num = 2 * num_seeds();
    assert_non_null(s);
    for (uint64_t seed = 1; seed <= num; seed++) {
        assay_catalogue_row row;
        audited(&row, s, samples, 31 * seed);
        found += row.result.lower / (double)num;
        expected += row.hindsight.bound / (double)num;
        oracle += row.oracle.bound / (double)num;
        noise += row.oracle.noise * row.oracle.noise;
    }
    double sd = sqrt(noise) / (double)num;
    print_message("%s: found %.4f, expected %.4f, oracle %.4f, sd %.4f\n", name,
                  found, expected, oracle, sd);
    assert_true(fabs(found - expected) < 4 * sd + 0.01 * oracle);
}

static void expected_bounds_are_the_mean_of_those_found(void **state)
{
    (void)state;
    expected_as_found("RNM3", 200000);
    expected_as_found("GRR", 100000);
    expected_as_found("NonDPLaplace2-mean", 200000);
}

static double promise(const assay_specimen *s, const assay_pair *pair,
                      int close)
{
    assay_specimen_run run = {s, *pair, 9};
    assay_source source = assay_specimen_source(&run);
    assay_error err = ASSAY_ERROR_INIT;
    assay_promise p;
    assert_int_equal(assay_audit_screen(&p, &source, &s->claim, 1000000,
                                        10000000, close, &err),
                     ASSAY_OK);
    return p.merit;
}

/* All answers up shows more than half up, half down, but in events of a mass of
 * 1e-4: the oracles of ten million runs are 2.7 and 2.0. */
static void a_close_look_sees_what_rare_events_promise(void **state)
{
    const assay_specimen *s = assay_specimen_find("StatDP-iSVT4");
    assay_pair pair[8];
    (void)state;
    assert_non_null(s);
    assert_int_equal(assay_specimen_pairs(s, pair), 8);
    double half = promise(s, &pair[4], 1), all = promise(s, &pair[5], 1);
    print_message("half up %.3f, all up %.3f\n", half, all);
    assert_true(all > 1.1 * half);
    assert_true(all < 3.0 && half < 2.3);
}

/* The oracles of 200 million runs are 0.0922 and 0.0941 on the best two pairs:
 * three million runs cannot tell, twenty million can. */
static void a_large_audit_tells_near_pairs_apart(void **state)
{
    const assay_specimen *s = assay_specimen_find("RNM1");
    assay_pair pair[8], chosen;
    uint64_t spent, seen;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_non_null(s);
    assert_int_equal(assay_specimen_pairs(s, pair), 8);
    assert_int_equal(
        assay_search_pair(&chosen, &spent, &seen, s, 50000, 200000000, 1, &err),
        ASSAY_OK);
    assert_memory_equal(&chosen, &pair[3], sizeof chosen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_ratio_of_one_number),
        cmocka_unit_test(probabilities_of_few_words),
        cmocka_unit_test(empty_event_found_by_its_tail),
        cmocka_unit_test(heavier_tails_on_one_side),
        cmocka_unit_test(patterns_that_one_side_never_shows),
        cmocka_unit_test(expected_bounds_are_the_mean_of_those_found),
        cmocka_unit_test(a_close_look_sees_what_rare_events_promise),
        cmocka_unit_test(a_large_audit_tells_near_pairs_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
