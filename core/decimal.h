/* ring: glue */
/**
 * Decimal text onto a lattice, exactly: no double is involved.
 */
#ifndef ASSAY_CORE_DECIMAL_H
#define ASSAY_CORE_DECIMAL_H

#include "core/lattice.h"

/**
 * "12", "-0.5", "+3.25e-2", blanks around it allowed: the exact number, rounded
 * to the nearest step (ties to even), clamped to the lattice's bounds.
 * Errors  ASSAY_INVALID: empty, NaN, infinity, hexadecimal, text, more than
 *         400 characters, a power of ten beyond +-400; `out` is untouched.
 */
assay_status assay_decimal_to_steps(int64_t *out, const char *text, size_t len,
                                    const assay_lattice *lattice,
                                    assay_error *err) ASSAY_MUST_CHECK;

#endif
