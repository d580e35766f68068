/* ring: glue */
#include "mechanisms/snapping.h"

#include <fenv.h>
#include <math.h>
#include <mpfr.h>

#include "accountant/event.h"

/* 1 and *out if q is exactly a finite positive double. */
static int exact_double(double *out, const mpq_t q)
{
    mpq_t back;
    double x = mpq_get_d(q);
    if (mpq_sgn(q) <= 0 || !isfinite(x) || x == 0) {
        return 0;
    }
    mpq_init(back);
    mpq_set_d(back, x);
    int same = mpq_equal(back, q);
    mpq_clear(back);
    *out = x;
    return same;
}

/* NaN becomes 0. */
static double clamp(double x, double bound)
{
    if (x != x) {
        return 0;
    }
    return x < -bound ? -bound : x > bound ? bound : x;
}

/* A double in (0, 1), each as likely as the gap to the next one: the exponent
 * is the number of zeros before the first one bit of the tape. */
static assay_status draw_uniform(assay_tape *tape, double *u, int *negative)
{
    uint64_t word = 0;
    int zeros = 0;
    for (;;) {
        assay_status status = assay_tape_next(tape, &word);
        if (status != ASSAY_OK) {
            return status;
        }
        if (word != 0 || zeros > 900) {
            break;
        }
        zeros += 64;
    }
    while (word != 0 && word >> 63 == 0) {
        word <<= 1;
        zeros++;
    }
    assay_status status = assay_tape_next(tape, &word);
    if (status != ASSAY_OK) {
        return status;
    }
    *negative = (int)(word & 1);
    *u = ldexp(1.0 + ldexp((double)(word >> 12), -52), -zeros - 1);
    return ASSAY_OK;
}

/* The logarithm, correctly rounded to 53 bits. */
static double exact_log(double u)
{
    mpfr_t x;
    mpfr_init2(x, 53);
    (void)mpfr_set_d(x, u, MPFR_RNDN);
    (void)mpfr_log(x, x, MPFR_RNDN);
    double y = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return y;
}

/* To the nearest multiple of 2^e, ties up. Division by a power of two and the
 * difference from the floor are exact. */
static double snap(double x, int e)
{
    double y = ldexp(x, -e);
    double whole = floor(y);
    return ldexp(y - whole >= 0.5 ? whole + 1 : whole, e);
}

static int grid_exponent(double scale)
{
    int e = 0;
    double m = frexp(scale, &e); /* scale = m 2^e, 1/2 <= m < 1 */
    return m == 0.5 ? e - 1 : e;
}

double assay_snapping_round(double in, double noise, double scale, double bound)
{
    double sum = clamp(in, bound) + noise;
    return clamp(snap(sum, grid_exponent(scale)), bound);
}

static assay_status charge(assay_custodian *custodian, const mpq_t scale,
                           const mpq_t bound, const char *label,
                           assay_error *err)
{
    assay_event event;
    assay_event_init(&event, ASSAY_SNAPPING);
    mpq_set(event.scale, scale);
    mpq_set(event.bound, bound);
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

assay_status assay_release_snapping(assay_custodian *custodian, double *out,
                                    double in, const mpq_t scale,
                                    const mpq_t bound, const char *label,
                                    assay_error *err)
{
    double s = 0;
    double b = 0;
    double u = 0.5;
    int negative = 0;
    if (!exact_double(&s, scale) || !exact_double(&b, bound)) {
        return assay_fail(err, ASSAY_INVALID,
                          "snapping needs a scale and a bound that are "
                          "positive doubles");
    }
    if (fegetround() != FE_TONEAREST) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "snapping needs rounding to nearest");
    }
    assay_status status = charge(custodian, scale, bound, label, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = draw_uniform(&custodian->tape, &u, &negative);
    if (status != ASSAY_OK) {
        return assay_fail(err, status, "no randomness: nothing was released");
    }
    double noise = s * exact_log(u);
    *out = assay_snapping_round(in, negative ? -noise : noise, s, b);
    return ASSAY_OK;
}
