/* ring: glue */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/lattice.h"
#include "core/rational.h"

static assay_lattice make(int bits, const char *lo, const char *hi)
{
    assay_lattice l;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_lattice_parse(&l, bits, lo, hi, &err), ASSAY_OK);
    return l;
}

static int64_t in(const assay_lattice *l, double x)
{
    int64_t out = 77;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_lattice_from_double(l, &out, x, &err), ASSAY_OK);
    return out;
}

static void ties_go_to_even(void **state)
{
    assay_lattice l = make(0, "-100", "100");
    (void)state;
    assert_int_equal(in(&l, 0.5), 0);
    assert_int_equal(in(&l, 1.5), 2);
    assert_int_equal(in(&l, 2.5), 2);
    assert_int_equal(in(&l, -2.5), -2);
    assert_int_equal(in(&l, nextafter(0.5, 1)), 1);
    assert_int_equal(in(&l, nextafter(2.5, 0)), 2);
    assert_int_equal(in(&l, -0.0), 0);
    assert_int_equal(in(&l, 4.9e-324), 0);
}

static void values_are_clamped(void **state)
{
    assay_lattice l = make(10, "0", "1");
    (void)state;
    assert_int_equal(in(&l, 3.0), 1024);
    assert_int_equal(in(&l, -1e308), 0);
    assert_int_equal(in(&l, DBL_MAX), 1024);
    assert_int_equal(in(&l, 0.25), 256);
}

static void nan_and_infinity_are_refused(void **state)
{
    assay_lattice l = make(10, "0", "1");
    double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        int64_t out = 77;
        assay_error err = ASSAY_ERROR_INIT;
        assert_int_equal(assay_lattice_from_double(&l, &out, bad[i], &err),
                         ASSAY_INVALID);
        assert_int_equal(out, 77);
        assert_true(err.message[0] != 0);
    }
}

static void rounding_agrees_with_exact_rationals(void **state)
{
    assay_lattice l = make(7, "-1000000", "1000000");
    mpq_t q;
    mpz_t z;
    (void)state;
    srand(1);
    mpq_init(q);
    mpz_init(z);
    for (int i = 0; i < 20000; i++) {
        double x =
            ldexp((double)rand() - (double)(RAND_MAX / 2), rand() % 60 - 55);
        mpq_set_d(q, x);
        mpq_mul_2exp(q, q, 8); /* 2 x 2^7 */
        mpz_fdiv_q(z, mpq_numref(q), mpq_denref(q));
        double twice = mpz_get_d(z); /* floor(2 x 128) */
        int64_t expect = (int64_t)nearbyint(ldexp(x, 7));
        if (expect > l.hi) {
            expect = l.hi;
        }
        if (expect < l.lo) {
            expect = l.lo;
        }
        assert_true(isfinite(twice));
        assert_int_equal(in(&l, x), expect);
    }
    mpq_clear(q);
    mpz_clear(z);
}

static void back_conversion_is_exact_or_an_error(void **state)
{
    assay_lattice l = make(10, "0", "1");
    assay_error err = ASSAY_ERROR_INIT;
    double x = -1;
    (void)state;
    assert_int_equal(assay_lattice_to_double(&l, &x, 1025, &err), ASSAY_OK);
    assert_true(x == 1025.0 / 1024.0);
    int64_t odd = ((int64_t)1 << 60) + 1;
    assert_int_equal(assay_lattice_to_double(&l, &x, odd, &err), ASSAY_RANGE);
    assert_int_equal(assay_lattice_to_double(&l, &x, (int64_t)1 << 62, &err),
                     ASSAY_OK);
    assert_true(x == 0x1p52);
    assert_int_equal(assay_lattice_to_double(&l, &x, 0, &err), ASSAY_OK);
    assert_true(x == 0.0);
    assert_int_equal(assay_lattice_to_double(&l, &x, INT64_MIN, &err),
                     ASSAY_OK);
    assert_true(x == -0x1p53);
}

static void bad_bounds_are_refused(void **state)
{
    assay_lattice l;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_lattice_parse(&l, 0, "2", "1", &err), ASSAY_INVALID);
    assert_int_equal(assay_lattice_parse(&l, 0, "1/4", "1/2", &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_lattice_parse(&l, 0, "nan", "1", &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_lattice_parse(&l, 60, "0", "1", &err), ASSAY_RANGE);
    assert_int_equal(assay_lattice_parse(&l, 5000, "0", "1", &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_lattice_parse(&l, 52, "0", "1", &err), ASSAY_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(values_are_clamped),
        cmocka_unit_test(nan_and_infinity_are_refused),
        cmocka_unit_test(rounding_agrees_with_exact_rationals),
        cmocka_unit_test(back_conversion_is_exact_or_an_error),
        cmocka_unit_test(bad_bounds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
