/* ring: glue */
/**
 * Lattices: where private reals live before a release.
 *
 * A lattice has step 2^-step_bits and a public interval [lo, hi] counted in
 * steps. A double enters through one function and leaves through one function;
 * between them there are only integers.
 *
 * Round   to the nearest multiple of the step, ties to even, decided on the
 *         bits of the double: it does not depend on the rounding mode.
 * Bounds  step_bits from -1000 to 1000; |lo|, |hi| at most 2^52 steps, so every
 *         value of the lattice is a double unless it underflows.
 */
#ifndef ASSAY_CORE_LATTICE_H
#define ASSAY_CORE_LATTICE_H

#include <gmp.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_LATTICE_MAX ((int64_t)1 << 52)

typedef struct assay_lattice {
    int step_bits;
    int64_t lo; /* in steps */
    int64_t hi;
} assay_lattice;

/**
 * The interval is given by exact rationals and shrinks to the lattice points
 * inside it.
 * Errors  ASSAY_INVALID: no lattice point inside, lo > hi, step out of range;
 *         ASSAY_RANGE: more than 2^52 steps from zero.
 */
assay_status assay_lattice_init(assay_lattice *lattice, int step_bits,
                                const mpq_t lo, const mpq_t hi,
                                assay_error *err) ASSAY_MUST_CHECK;

/** The same from text, e.g. ("0.5", "1e3"). */
assay_status assay_lattice_parse(assay_lattice *lattice, int step_bits,
                                 const char *lo, const char *hi,
                                 assay_error *err) ASSAY_MUST_CHECK;

/**
 * Double to steps: round to nearest even, then clamp to [lo, hi].
 * Errors  ASSAY_INVALID for NaN and infinity; `out` is untouched. It is for the
 *         data's owner, who mends the data before anything is charged.
 */
assay_status assay_lattice_from_double(const assay_lattice *lattice,
                                       int64_t *out, double x,
                                       assay_error *err) ASSAY_MUST_CHECK;

/**
 * Steps to double, exact.
 * Errors  ASSAY_RANGE if no double equals the value: choose a coarser step.
 */
assay_status assay_lattice_to_double(const assay_lattice *lattice, double *out,
                                     int64_t steps,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** Steps to an exact rational. */
void assay_lattice_to_rational(const assay_lattice *lattice, mpq_t out,
                               int64_t steps);

/** A real length (a clipping radius, say) as whole steps, rounded down. */
assay_status assay_lattice_radius(const assay_lattice *lattice, int64_t *out,
                                  const mpq_t length,
                                  assay_error *err) ASSAY_MUST_CHECK;

#endif
