/* ring: glue */
/**
 * Exact rationals to balls and back, always outward. Private to the room.
 */
#ifndef ASSAY_ACCOUNTANT_NUMERIC_H
#define ASSAY_ACCOUNTANT_NUMERIC_H

#include <gmp.h>
#include <arb.h>

#define ASSAY_PREC 192 /* bits of the balls, unless a function needs more */
#define ASSAY_DIGITS 15

/** A ball that contains q. */
void assay_arb_set_mpq(arb_t out, mpq_srcptr q, slong prec);
/** The largest (smallest) number of the ball, as an exact rational. 0 if the
 *  ball is not finite; then `out` is untouched. */
int assay_arb_upper(mpq_t out, const arb_t x);
int assay_arb_lower(mpq_t out, const arb_t x);
/** The next decimal of `digits` significant digits at or above q (up) or at or
 *  below it. Keeps certificates short; the loss is below 10^(1-digits). */
void assay_decimal_outward(mpq_t q, int digits, int up);
/** Natural logarithm as a double, for searches only. */
double assay_log_double(const mpq_t q);
/** A rational near a double (finite), with `bits` bits. */
void assay_mpq_set_near(mpq_t out, double value, int bits);

#endif
