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

#include <stdlib.h>

#include "audit/catalogue.h"

static uint64_t num_seeds(void)
{
    const char *scale = getenv("ASSAY_LAW_SCALE");
    long k = scale == NULL ? 1 : strtol(scale, NULL, 10);
    return 2 * (uint64_t)(k > 0 ? k : 1);
}

/* The mean share of the chosen pair's oracle over a few seeds. */
static void certifies(const char *name, uint64_t samples, double least)
{
    const assay_specimen *s = assay_specimen_find(name);
    assay_error err = ASSAY_ERROR_INIT;
    double sum = 0, count = 0;
    assert_non_null(s);
    for (uint64_t seed = 1; seed <= num_seeds(); seed++) {
        assay_catalogue_row row;
        assay_catalogue_options o = {.samples = samples, .confidence = 0.99,
                                     .seed = 101 * seed, .with_oracle = 1};
        if (assay_catalogue_run(&row, s, &o, &err) != ASSAY_OK) {
            print_error("%s: %s\n", name, err.message);
            fail();
        }
        assert_true(row.oracle.bound > 0);
        assert_true(row.best.bound >= 0.99 * row.oracle.bound);
        sum += row.result.lower / row.oracle.bound;
        count++;
    }
    print_message("%s: %.1f %% of the oracle bound\n", name,
                  100 * sum / count);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density_ratio_of_one_number),
        cmocka_unit_test(probabilities_of_few_words),
        cmocka_unit_test(empty_event_found_by_its_tail),
        cmocka_unit_test(heavier_tails_on_one_side),
        cmocka_unit_test(patterns_that_one_side_never_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
