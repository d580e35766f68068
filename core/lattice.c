/* ring: glue */
#include "core/lattice.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/bound.h"
#include "core/rational.h"
#include "core/round.h"

#define MAX_STEP_BITS 1000

/* out = q * 2^bits */
static void shift_rational(mpq_t out, const mpq_t q, int bits)
{
    if (bits >= 0) {
        mpq_mul_2exp(out, q, (mp_bitcnt_t)bits);
    } else {
        mpq_div_2exp(out, q, (mp_bitcnt_t)-bits);
    }
}

static assay_status steps_of(int64_t *out, const mpq_t q, int step_bits, int up,
                             const char *what, assay_error *err)
{
    mpq_t scaled;
    mpz_t z;
    mpq_init(scaled);
    mpz_init(z);
    shift_rational(scaled, q, step_bits);
    if (up) {
        mpz_cdiv_q(z, mpq_numref(scaled), mpq_denref(scaled));
    } else {
        mpz_fdiv_q(z, mpq_numref(scaled), mpq_denref(scaled));
    }
    int fits = mpz_sizeinbase(z, 2) <= 53 &&
               mpz_cmpabs_ui(z, (unsigned long)ASSAY_LATTICE_MAX) <= 0;
    if (fits) {
        *out = (int64_t)mpz_get_si(z);
    }
    mpq_clear(scaled);
    mpz_clear(z);
    return fits ? ASSAY_OK
                : assay_fail(err, ASSAY_RANGE,
                             "%s is more than 2^52 steps of 2^%d: choose a "
                             "coarser step",
                             what, -step_bits);
}

static assay_status check_step(int step_bits, assay_error *err)
{
    if (step_bits < -MAX_STEP_BITS || step_bits > MAX_STEP_BITS) {
        return assay_fail(err, ASSAY_INVALID,
                          "the step must be between 2^-1000 and 2^1000");
    }
    return ASSAY_OK;
}

assay_status assay_lattice_init(assay_lattice *lattice, int step_bits,
                                const mpq_t lo, const mpq_t hi,
                                assay_error *err)
{
    assay_lattice made = {.step_bits = step_bits, .lo = 0, .hi = 0};
    assay_status status = check_step(step_bits, err);
    if (status == ASSAY_OK) {
        status = steps_of(&made.lo, lo, step_bits, 1, "the lower bound", err);
    }
    if (status == ASSAY_OK) {
        status = steps_of(&made.hi, hi, step_bits, 0, "the upper bound", err);
    }
    if (status == ASSAY_OK && made.lo > made.hi) {
        status = assay_fail(err, ASSAY_INVALID,
                            "the bounds hold no multiple of 2^%d: give "
                            "LO <= HI and a finer step",
                            -step_bits);
    }
    if (status == ASSAY_OK) {
        *lattice = made;
    }
    return status;
}

assay_status assay_lattice_parse(assay_lattice *lattice, int step_bits,
                                 const char *lo, const char *hi,
                                 assay_error *err)
{
    mpq_t low;
    mpq_t high;
    mpq_init(low);
    mpq_init(high);
    assay_status status = assay_rational_parse(low, lo, "the lower bound", err);
    if (status == ASSAY_OK) {
        status = assay_rational_parse(high, hi, "the upper bound", err);
    }
    if (status == ASSAY_OK) {
        status = assay_lattice_init(lattice, step_bits, low, high, err);
    }
    mpq_clear(low);
    mpq_clear(high);
    return status;
}

/* m * 2^e in whole steps and at most ASSAY_LATTICE_MAX: a larger value is
 * clamped to the bound anyway. m < 2^53. */
static int64_t to_steps(uint64_t m, int e)
{
    if (m == 0) {
        return 0;
    }
    if (e >= 53) {
        return ASSAY_LATTICE_MAX;
    }
    if (e >= 0) {
        uint64_t most = (uint64_t)ASSAY_LATTICE_MAX >> e;
        return m > most ? ASSAY_LATTICE_MAX : (int64_t)(m << e);
    }
    if (e < -54) {
        return 0; /* below half a step */
    }
    int64_t steps = (int64_t)assay_round_even(m, (uint64_t)1 << -e);
    return steps > ASSAY_LATTICE_MAX ? ASSAY_LATTICE_MAX : steps;
}

assay_status assay_lattice_from_double(const assay_lattice *lattice,
                                       int64_t *out, double x, assay_error *err)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t m = bits & (((uint64_t)1 << 52) - 1);
    if (exponent == 0x7ff) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s is not a value: remove it or set it to a bound",
                          m == 0 ? "infinity" : "NaN");
    }
    if (exponent > 0) {
        m |= (uint64_t)1 << 52;
    } else {
        exponent = 1; /* subnormal */
    }
    int64_t steps = to_steps(m, exponent - 1075 + lattice->step_bits);
    if (bits >> 63 != 0) {
        steps = -steps;
    }
    *out = assay_clip(steps, lattice->lo, lattice->hi);
    return ASSAY_OK;
}

assay_status assay_lattice_to_double(const assay_lattice *lattice, double *out,
                                     int64_t steps, assay_error *err)
{
    const int64_t most = (int64_t)1 << 53;
    int shift = lattice->step_bits;
    while (steps % 2 == 0 && steps != 0) {
        steps /= 2;
        shift--;
    }
    /* steps is odd: steps * 2^-shift is a double iff it has at most 53 bits
     * and its last bit is at least 2^-1074 */
    double value = ldexp((double)steps, -shift);
    if (steps < -most || steps > most || (steps != 0 && shift > 1074) ||
        isinf(value)) {
        return assay_fail(err, ASSAY_RANGE,
                          "no double equals the value: choose a coarser step");
    }
    *out = steps == 0 ? 0.0 : value;
    return ASSAY_OK;
}

void assay_lattice_to_rational(const assay_lattice *lattice, mpq_t out,
                               int64_t steps)
{
    mpq_set_si(out, (long)steps, 1);
    shift_rational(out, out, -lattice->step_bits);
}

assay_status assay_lattice_radius(const assay_lattice *lattice, int64_t *out,
                                  const mpq_t length, assay_error *err)
{
    if (mpq_sgn(length) < 0) {
        return assay_fail(err, ASSAY_INVALID, "a radius must not be negative");
    }
    return steps_of(out, length, lattice->step_bits, 0, "the radius", err);
}
