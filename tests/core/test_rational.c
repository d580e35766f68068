/* ring: glue */
#include <stdlib.h>
#include <string.h>

#include "core/rational.h"
#include "tests/support/support.h"

static void check(const char *text, const char *expected)
{
    char *got;
    mpq_t q;
    mpq_init(q);
    support_rational(q, text);
    got = assay_rational_text(q);
    assert_string_equal(got, expected);
    free(got);
    mpq_clear(q);
}

static void decimals_and_fractions_are_read_exactly(void **state)
{
    (void)state;
    check("7", "7");
    check("7/3", "7/3");
    check("14/6", "7/3");
    check("1.1", "11/10");
    check("2.50e-1", "1/4");
    check("1e3", "1000");
    check("-0.5", "-1/2");
    check("+.5", "1/2");
    check("0", "0");
    check("-0", "0");
    check("1e-3", "1/1000");
}

static void what_is_not_a_number_is_refused_and_changes_nothing(void **state)
{
    static const char *const bad[] = {
        "",     "nan",   "inf",   "-inf", "1/0",   "1/",
        "/2",   "1//2",  "1.",    ".",    "1e",    "1e+",
        "0x10", "1 ",    " 1",    "1,5",  "1e401", "--1",
        "1/-2", "1.5/2", "1e1/2", "٣",    "1\n2",  "1e99999999999999999999"};
    mpq_t q;
    (void)state;
    mpq_init(q);
    mpq_set_ui(q, 42, 1);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assay_error err = ASSAY_ERROR_INIT;
        assert_int_equal(assay_rational_parse(q, bad[i], "x", &err),
                         ASSAY_INVALID);
        assert_null(strchr(err.message, '\n'));
        assert_int_equal(mpq_cmp_ui(q, 42, 1), 0);
    }
    mpq_clear(q);
}

static void decimals_are_rounded_the_asked_way(void **state)
{
    char *up;
    char *down;
    mpq_t q;
    (void)state;
    mpq_init(q);
    mpq_set_ui(q, 1, 3);
    up = assay_rational_decimal(q, 6, 1);
    down = assay_rational_decimal(q, 6, 0);
    assert_string_equal(up, "0.333334");
    assert_string_equal(down, "0.333333");
    free(up);
    free(down);
    mpq_clear(q);
}

static void whole_numbers_up_to_two_to_the_64(void **state)
{
    uint64_t x = 5;
    (void)state;
    assert_int_equal(assay_u64_parse(&x, "18446744073709551615", "n", NULL),
                     ASSAY_OK);
    assert_true(x == UINT64_MAX);
    assert_int_equal(assay_u64_parse(&x, "1e5", "n", NULL), ASSAY_OK);
    assert_int_equal(x, 100000);
    assert_int_equal(assay_u64_parse(&x, "18446744073709551616", "n", NULL),
                     ASSAY_INVALID);
    assert_int_equal(assay_u64_parse(&x, "1.5", "n", NULL), ASSAY_INVALID);
    assert_int_equal(assay_u64_parse(&x, "-1", "n", NULL), ASSAY_INVALID);
    assert_int_equal(x, 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_and_fractions_are_read_exactly),
        cmocka_unit_test(what_is_not_a_number_is_refused_and_changes_nothing),
        cmocka_unit_test(decimals_are_rounded_the_asked_way),
        cmocka_unit_test(whole_numbers_up_to_two_to_the_64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
