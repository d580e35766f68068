/* ring: glue */
/* The least-significant-bit attack on real-valued releases.
 *
 * Noise made of doubles leaves a different set of last bits for different
 * inputs: near 0 the outputs of 0 + noise are finer than those of 1 + noise.
 * Each release is drawn N times at two neighbouring values; the exponent of the
 * last set bit of each output, given its magnitude, must take the same values
 * for both. A textbook Laplace in doubles must fail the same test.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/lattice.h"
#include "mechanisms/release.h"
#include "mechanisms/snapping.h"
#include "tests/support/custodian.h"

enum { N = 1000000, STEP_BITS = 10 };

static int64_t in[N];
static int64_t out[N];

/* seen[e + 1100]: an output with |y| < 1 had its last bit at 2^e. Only cells
 * that hold enough outputs to be surely hit on both sides are compared. */
typedef struct support {
    long seen[1200];
} support;

static void note(support *s, double y)
{
    int e = 0;
    uint64_t bits = 0;
    double m = frexp(y, &e);
    if (y == 0 || fabs(y) >= 1) {
        return;
    }
    memcpy(&bits, &m, sizeof bits);
    bits |= (uint64_t)1 << 52;
    int zeros = 0;
    while ((bits >> zeros & 1) == 0) {
        zeros++;
    }
    s->seen[e - 53 + zeros + 1100]++;
}

/* 1 if some last bit is common (40 expected hits) on one side and absent on
 * the other: P below e^-40 for equal laws. */
static int differ(const support *a, const support *b)
{
    for (int i = 0; i < 1200; i++) {
        if ((a->seen[i] == 0 && b->seen[i] > 40) ||
            (b->seen[i] == 0 && a->seen[i] > 40)) {
            return 1;
        }
    }
    return 0;
}

typedef enum law {
    ROUNDED_GAUSSIAN,
    ROUNDED_LAPLACE,
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE
} law;

/* Variance or scale 1 in real units; discrete noise counts steps. */
static assay_status draw(test_vault *v, law which, assay_error *err)
{
    assay_status status = ASSAY_INVALID;
    mpq_t one, steps, steps2;
    mpq_inits(one, steps, steps2, NULL);
    mpq_set_ui(one, 1, 1);
    mpq_mul_2exp(steps, one, STEP_BITS);
    mpq_mul_2exp(steps2, one, 2 * STEP_BITS);
    switch (which) {
    case ROUNDED_GAUSSIAN:
        status = assay_release_rounded_gaussian_vector(
            &v->custodian, out, in, N, STEP_BITS, one, one, "g", err);
        break;
    case ROUNDED_LAPLACE:
        status = assay_release_rounded_laplace_vector(
            &v->custodian, out, in, N, STEP_BITS, one, one, "l", err);
        break;
    case DISCRETE_GAUSSIAN:
        status = assay_release_gaussian_vector(&v->custodian, out, in, N,
                                               steps2, steps2, "dg", err);
        break;
    case DISCRETE_LAPLACE:
        status = assay_release_laplace_vector(&v->custodian, out, in, N, steps,
                                              steps, "dl", err);
        break;
    }
    mpq_clears(one, steps, steps2, NULL);
    return status;
}

static void release_at(support *s, test_vault *v, int64_t steps, law which)
{
    const assay_lattice l = {.step_bits = STEP_BITS,
                             .lo = -ASSAY_LATTICE_MAX,
                             .hi = ASSAY_LATTICE_MAX};
    assay_error err = ASSAY_ERROR_INIT;
    for (int i = 0; i < N; i++) {
        in[i] = steps;
    }
    assert_int_equal(draw(v, which, &err), ASSAY_OK);
    for (int i = 0; i < N; i++) {
        double y = 0;
        assert_int_equal(assay_lattice_to_double(&l, &y, out[i], &err),
                         ASSAY_OK);
        assert_true(ldexp(y, STEP_BITS) == (double)out[i]);
        note(s, y);
    }
}

static void check_law(law which)
{
    static support a;
    static support b;
    test_vault v;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    test_vault_open(&v, "1000", "1/1000", NULL, 0);
    release_at(&a, &v, 0, which);
    release_at(&b, &v, (int64_t)1 << STEP_BITS, which);
    test_vault_close(&v);
    assert_true(a.seen[1100 - STEP_BITS] > 1000);
    assert_false(differ(&a, &b));
}

static void rounded_gaussian_hides_its_last_bits(void **state)
{
    (void)state;
    check_law(ROUNDED_GAUSSIAN);
}

static void rounded_laplace_hides_its_last_bits(void **state)
{
    (void)state;
    check_law(ROUNDED_LAPLACE);
}

static void discrete_gaussian_hides_its_last_bits(void **state)
{
    (void)state;
    check_law(DISCRETE_GAUSSIAN);
}

static void discrete_laplace_hides_its_last_bits(void **state)
{
    (void)state;
    check_law(DISCRETE_LAPLACE);
}

static void snapping_hides_its_last_bits(void **state)
{
    static support s[2];
    assay_tape tape;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_tape_init(&tape, &err), ASSAY_OK);
    for (int x = 0; x < 2; x++) {
        for (int i = 0; i < N; i++) {
            double noise = 0;
            assert_int_equal(assay_snapping_noise(&tape, &noise, 0.125),
                             ASSAY_OK);
            note(&s[x], assay_snapping_round(x, noise, 0.125, 100));
        }
    }
    assay_tape_clear(&tape);
    assert_false(differ(&s[0], &s[1]));
}

/* The yardstick: what everybody writes first. */
static void textbook_laplace_is_caught(void **state)
{
    static support s[2];
    (void)state;
    srand(3);
    for (int x = 0; x < 2; x++) {
        for (int i = 0; i < N; i++) {
            double u = ((double)rand() + 0.5) / ((double)RAND_MAX + 1);
            double noise = -log(u) * (rand() % 2 == 0 ? 1 : -1);
            note(&s[x], x + noise);
        }
    }
    assert_true(differ(&s[0], &s[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounded_gaussian_hides_its_last_bits),
        cmocka_unit_test(rounded_laplace_hides_its_last_bits),
        cmocka_unit_test(discrete_gaussian_hides_its_last_bits),
        cmocka_unit_test(discrete_laplace_hides_its_last_bits),
        cmocka_unit_test(snapping_hides_its_last_bits),
        cmocka_unit_test(textbook_laplace_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
