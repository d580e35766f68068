/* ring: glue */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/bound.h"

#define LENGTH 40
__extension__ typedef __int128 wide;

static int64_t any(int64_t bound)
{
    int64_t r = ((int64_t)rand() << 20) ^ rand();
    return r % (2 * bound + 1) - bound;
}

static void sqrt_up_is_least(void **state)
{
    (void)state;
    for (int64_t x = 0; x < 3000; x++) {
        int64_t r = assay_sqrt_up(x);
        assert_true(r * r >= x && (r == 0 || (r - 1) * (r - 1) < x));
    }
    assert_int_equal(assay_sqrt_up(ASSAY_BOUND_SQUARES), ASSAY_BOUND_ENTRY);
    assert_int_equal(assay_sqrt_up(ASSAY_BOUND_SQUARES - 1), ASSAY_BOUND_ENTRY);
}

static void clipped_vectors_lie_in_the_ball(void **state)
{
    (void)state;
    srand(7);
    for (int round = 0; round < 20000; round++) {
        int64_t v[LENGTH];
        int64_t w[LENGTH];
        int64_t b = (int64_t)1 << (rand() % 27);
        int64_t c = any(b) + b;
        int64_t squares = 0;
        int64_t sum = 0;
        size_t n = (size_t)(rand() % LENGTH);
        for (size_t i = 0; i < n; i++) {
            v[i] = any(b);
            w[i] = v[i];
        }
        (void)assay_clip_l2(v, n, b, c);
        (void)assay_clip_l1(w, n, c);
        for (size_t i = 0; i < n; i++) {
            squares += v[i] * v[i];
            sum += w[i] < 0 ? -w[i] : w[i];
        }
        assert_true(squares <= c * c);
        assert_true(sum <= c);
    }
}

static void vectors_inside_are_left_alone(void **state)
{
    int64_t v[2] = {3, -4};
    int64_t w[2] = {3, -4};
    (void)state;
    assert_int_equal(assay_clip_l2(v, 2, 4, 5), 25);
    assert_int_equal(assay_clip_l1(w, 2, 7), 7);
    assert_memory_equal(v, w, sizeof v);
    assert_int_equal(v[1], -4);
    assert_int_equal(assay_clip_l2(v, 2, 4, 4), 25);
    assert_true(v[0] * v[0] + v[1] * v[1] <= 16);
    assert_int_equal(assay_clip_l2(v, 0, 4, 0), 0);
}

static void sums_are_clamped_not_wrapped(void **state)
{
    const int64_t most = (int64_t)1 << 62;
    int64_t edge[] = {0,         1,         -1,       most,
                      -most,     most - 1,  1 - most, most + 1,
                      -most - 1, INT64_MAX, INT64_MIN};
    size_t n = sizeof edge / sizeof edge[0];
    (void)state;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            wide s = (wide)edge[i] + edge[j];
            int64_t expect = s > most ? most : s < -most ? -most : (int64_t)s;
            assert_int_equal(assay_add_clamped(edge[i], edge[j]), expect);
        }
    }
}

static void a_person_adds_at_most_the_limit(void **state)
{
    uint32_t used = 0;
    int taken = 0;
    (void)state;
    for (int i = 0; i < 10; i++) {
        taken += assay_take_record(&used, 3);
    }
    assert_int_equal(taken, 3);
    assert_int_equal(used, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sqrt_up_is_least),
        cmocka_unit_test(clipped_vectors_lie_in_the_ball),
        cmocka_unit_test(vectors_inside_are_left_alone),
        cmocka_unit_test(sums_are_clamped_not_wrapped),
        cmocka_unit_test(a_person_adds_at_most_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
