/* ring: glue */
/**
 * Exact rationals over GMP: every privacy parameter is one.
 *
 * Text is an integer ("7"), a fraction ("7/3") or a decimal with an optional
 * power of ten ("1.1", "2.5e-6"); it is read exactly, 1.1 is 11/10. Not a
 * number: "nan", "inf", "", "0x1", "1/0", blanks, a power beyond +-400, more
 * than 1000 characters.
 */
#ifndef ASSAY_CORE_RATIONAL_H
#define ASSAY_CORE_RATIONAL_H

#include <gmp.h>
#include <stdint.h>

#include "core/error.h"

/** Read an exact number. `what` names it in the message. `out` is initialised
 *  by the caller (mpq_init) and untouched on error. */
assay_status assay_rational_parse(mpq_t out, const char *text, const char *what,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** The same, and refuse zero and below. */
assay_status assay_rational_parse_positive(mpq_t out, const char *text,
                                           const char *what,
                                           assay_error *err) ASSAY_MUST_CHECK;

/** "7/3" or "7": canonical text in fresh memory (free() it), NULL if none. */
char *assay_rational_text(const mpq_t q);

/** A decimal with `digits` significant digits, rounded up (towards +infinity)
 *  if `up`, down otherwise; fresh memory (free() it), NULL if none. */
char *assay_rational_decimal(const mpq_t q, int digits, int up);

/** An unsigned 64-bit integer in decimal ("100", "1e5" is read exactly too). */
assay_status assay_u64_parse(uint64_t *out, const char *text, const char *what,
                             assay_error *err) ASSAY_MUST_CHECK;

/** mpz <-> uint64_t, exact. assay_mpz_fits_u64 is 1 or 0. */
void assay_mpz_set_u64(mpz_t out, uint64_t value);
int assay_mpz_fits_u64(const mpz_t value);
uint64_t assay_mpz_get_u64(const mpz_t value);

#endif
