/* ring: glue */
/* Golden trajectories, recorded elsewhere, computed again. */
#include "algorithms/control.h"
#include "tests/support/support.h"

#define DATA "tests/data/environments/"

static assay_replay replay(const char *name, const char *path, const char *only)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_replay r;
    if (assay_control_replay(&r, name, path, only, &err) != ASSAY_OK) {
        fail_msg("%s: %s", path, err.message);
    }
    return r;
}

static void cartpole_and_mountain_car_are_bit_exact(void **state)
{
    assay_replay a = replay("cartpole", DATA "cartpole.csv", NULL);
    assay_replay b = replay("mountaincar", DATA "mountaincar.csv", NULL);
    (void)state;
    assert_true(a.num_steps > 900 && b.num_steps > 3000);
    assert_int_equal(a.num_exact, a.num_steps);
    assert_int_equal(b.num_exact, b.num_steps);
    assert_int_equal(a.num_flags_wrong + b.num_flags_wrong, 0);
}

static void acrobot_is_within_two_units_in_the_last_place(void **state)
{
    assay_replay r = replay("acrobot", DATA "acrobot.csv", NULL);
    (void)state;
    assert_true(r.num_exact + 10 >= r.num_steps);
    assert_true(r.max_absolute < 1e-15);
    assert_int_equal(r.num_flags_wrong, 0);
}

static void hiv_is_within_1e_7_relative(void **state)
{
    (void)state;
    assert_true(
        replay("hiv-dt20", DATA "hiv_dt20.csv", "dt20-tight").max_relative <
        1e-7);
    assert_true(
        replay("hiv-dt5", DATA "hiv_dt5.csv", "dt5-tight").max_relative < 1e-7);
}

static void bad_names_and_variants_are_refused(void **state)
{
    assay_control env;
    assay_replay r;
    (void)state;
    assert_int_equal(assay_control_find(&env, "pong", NULL, NULL),
                     ASSAY_INVALID);
    assert_int_equal(assay_control_find(&env, "cartpole", "g=9;F=x", NULL),
                     ASSAY_INVALID);
    assert_int_equal(assay_control_find(&env, "cartpole", "l=1", NULL),
                     ASSAY_INVALID);
    assert_int_equal(assay_control_find(&env, "acrobot", "l=-1", NULL),
                     ASSAY_INVALID);
    assert_int_equal(assay_control_find(&env, "acrobot", "l=0.5;m2=2", NULL),
                     ASSAY_OK);
    assert_int_equal(assay_control_replay(&r, "cartpole",
                                          DATA "mountaincar.csv", NULL, NULL),
                     ASSAY_INVALID);
    assert_int_equal(
        assay_control_replay(&r, "cartpole", DATA "none.csv", NULL, NULL),
        ASSAY_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cartpole_and_mountain_car_are_bit_exact),
        cmocka_unit_test(acrobot_is_within_two_units_in_the_last_place),
        cmocka_unit_test(hiv_is_within_1e_7_relative),
        cmocka_unit_test(bad_names_and_variants_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
