/* LunarLander: recordings, repeatability, episodes side by side, variants. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/lander.h"
#include "algorithms/lander_replay.h"
#include "algorithms/rollout.h"

#define FILE_NAME "tests/data/environments/lunarlander.json"

static assay_control lander(const char *variant)
{
    assay_control env;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_control_find(&env, "lunarlander", variant, &err), 0);
    return env;
}

/* Box2D 2.3 against 2.4: close while nothing touches, not afterwards. */
static void free_flight_follows_the_recording(void **state)
{
    assay_lander_replay r;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_lander_replay_file(&r, FILE_NAME, &err), 0);
    assert_int_equal(r.num_episodes, 12);
    assert_true(r.num_flying > 1100);
    assert_true(r.first < 5e-4);
    assert_true(r.flying < 0.02);
    assert_true(r.ends_alike >= 4);
}

static void a_bad_recording_is_refused(void **state)
{
    assay_lander_replay r;
    assay_error err = ASSAY_ERROR_INIT;
    const char *tmp = getenv("TMPDIR");
    char path[512];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/assay_lander_XXXXXX",
                   tmp == NULL ? "/tmp" : tmp);
    assert_int_equal(assay_lander_replay_file(&r, "no such file", &err),
                     ASSAY_IO);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    (void)fputs("[{\"gravity\": -10, \"init_draws\": [[1]]}]", f);
    (void)fclose(f);
    assert_int_equal(assay_lander_replay_file(&r, path, &err), ASSAY_INVALID);
    (void)remove(path);
}

/* A pilot that leans towards the pad and sinks slowly: lands most of the time.
 * It turns if it is off by more than 0.1, else brakes if it falls too fast for
 * its height. */
static int pilot(const double *s)
{
    double lean = fmax(fmin(0.6 * s[0] + 0.9 * s[2], 0.35), -0.35);
    double off = lean - s[4] - 2.0 * s[5];
    double sink = -0.08 - 0.5 * fmax(s[1] - 0.5 * fabs(s[0]), 0.0);
    int down = s[6] + s[7] > 0.0;
    if (!down && fabs(off) > 0.1) {
        return off < 0.0 ? 3 : 1;
    }
    return s[3] < (down ? -0.05 : sink) ? 2 : 0;
}

/* The return of one flight, and its last state in `s`. */
static double fly(const assay_control *env, double *s, uint64_t seed)
{
    assay_envrand rand;
    double sum = 0.0;
    int end = 0;
    assay_envrand_init(&rand, seed, 0);
    assay_rollout_start(env, s, &rand);
    for (int t = 0; t < env->cap && !end; t++) {
        double reward = 0.0;
        env->step(env, s, pilot(s), &reward, &end);
        sum += reward;
    }
    return sum;
}

static double mean_of(const assay_control *env, uint64_t episodes)
{
    double sum = 0.0;
    for (uint64_t k = 0; k < episodes; k++) {
        double s[ASSAY_CONTROL_ROOM] = {0};
        sum += fly(env, s, k);
    }
    return sum / (double)episodes;
}

static void the_pilot_lands(void **state)
{
    assay_control env = lander(NULL);
    (void)state;
    double mean = mean_of(&env, 40);
    (void)printf("# mean return of the pilot %.1f\n", mean);
    assert_true(mean > 180.0);
    assay_control_clear(&env);
}

static void a_flight_depends_on_its_seed_alone(void **state)
{
    assay_control env = lander(NULL);
    double a[ASSAY_CONTROL_ROOM] = {0};
    double b[ASSAY_CONTROL_ROOM] = {0};
    (void)state;
    double first = fly(&env, a, 5);
    (void)fly(&env, b, 6);
    (void)fly(&env, b, 7);
    double again = fly(&env, b, 5);
    assert_memory_equal(a, b, ASSAY_LANDER_DIM * sizeof *a);
    assert_memory_equal(&first, &again, sizeof first);
    assay_control_clear(&env);
}

/* Two episodes step by step in turn are what they are alone. */
static void flights_side_by_side_do_not_meet(void **state)
{
    assay_control env = lander(NULL);
    double s[2][ASSAY_CONTROL_ROOM] = {{0}};
    double alone[2][ASSAY_CONTROL_ROOM] = {{0}};
    int end[2] = {0, 0};
    (void)state;
    for (uint64_t k = 0; k < 2; k++) {
        assay_envrand rand;
        assay_envrand_init(&rand, k, 0);
        assay_rollout_start(&env, s[k], &rand);
    }
    for (int t = 0; t < env.cap; t++) {
        for (int k = 0; k < 2; k++) {
            double reward;
            if (!end[k]) {
                env.step(&env, s[k], pilot(s[k]), &reward, &end[k]);
            }
        }
    }
    for (uint64_t k = 0; k < 2; k++) {
        (void)fly(&env, alone[k], k);
        assert_memory_equal(s[k], alone[k], ASSAY_LANDER_DIM * sizeof s[k][0]);
    }
    assay_control_clear(&env);
}

static void a_state_without_a_start_ends_at_once(void **state)
{
    assay_control env = lander(NULL);
    double s[ASSAY_CONTROL_ROOM] = {0};
    double reward = 1.0;
    int end = 0;
    (void)state;
    env.step(&env, s, 2, &reward, &end);
    assert_int_equal(end, 1);
    assay_control_clear(&env);
}

static void variants_change_the_flight(void **state)
{
    static const char *const variants[] = {"g=9", "main=10", "side=0.3",
                                           "wind=5", "turb=0.5"};
    assay_control plain = lander(NULL);
    double a[ASSAY_CONTROL_ROOM] = {0};
    assay_control env;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    (void)fly(&plain, a, 3);
    for (size_t i = 0; i < 5; i++) {
        double b[ASSAY_CONTROL_ROOM] = {0};
        env = lander(variants[i]);
        (void)fly(&env, b, 3);
        if (memcmp(a, b, ASSAY_LANDER_DIM * sizeof *a) == 0) {
            fail_msg("%s changes nothing", variants[i]);
        }
        assay_control_clear(&env);
    }
    assay_control_clear(&plain);
    env = lander("wind=0;turb=0");
    assay_control_clear(&env);
    assert_int_equal(assay_control_find(&env, "lunarlander", "g=0", &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_control_find(&env, "lunarlander", "wind=-1", &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_control_find(&env, "lunarlander", "mc=1", &err),
                     ASSAY_INVALID);
}

static void drug_penalties_are_a_variant(void **state)
{
    static const double start[6] = {163573, 5, 11945, 46, 63919, 24};
    assay_control a, b;
    double s[2][ASSAY_CONTROL_ROOM] = {{0}};
    double reward[2];
    int end;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_control_find(&a, "hiv-dt20", NULL, &err), 0);
    assert_int_equal(
        assay_control_find(&b, "hiv-dt20", "q1=18750;q2=2150", &err), 0);
    memcpy(s[0], start, sizeof start);
    memcpy(s[1], start, sizeof start);
    a.step(&a, s[0], 3, &reward[0], &end);
    b.step(&b, s[1], 3, &reward[1], &end);
    assert_memory_equal(s[0], s[1], sizeof start);
    assert_true(fabs(reward[1] - reward[0] - (1250 * 0.49 - 150 * 0.09)) <
                1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flight_follows_the_recording),
        cmocka_unit_test(a_bad_recording_is_refused),
        cmocka_unit_test(the_pilot_lands),
        cmocka_unit_test(a_flight_depends_on_its_seed_alone),
        cmocka_unit_test(flights_side_by_side_do_not_meet),
        cmocka_unit_test(a_state_without_a_start_ends_at_once),
        cmocka_unit_test(variants_change_the_flight),
        cmocka_unit_test(drug_penalties_are_a_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
