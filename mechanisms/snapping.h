/* ring: glue */
/**
 * Mironov's snapping mechanism, for users who must keep doubles.
 *
 * Prefer a lattice and mechanisms/release.h: same noise, exact law, no slack.
 *
 * Law      out = clamp_B(round_L(clamp_B(in) + S scale ln U)), S a fair sign, U
 *          uniform on (0,1) with every double as likely as its gap, ln rounded
 *          correctly (MPFR), L the least power of two at or above `scale`.
 * Theorem  snapping (Mironov 2012, theorem 1): for sensitivity 1 and scale < B
 *          < 2^46 scale, (1 + 2^-49 B) / scale; paper-proved.
 *          NaN counts as 0 and infinity as the bound: no error depends on data.
 * Errors   as mechanisms/release.h; ASSAY_INVALID for parameters that are not
 *          doubles; ASSAY_UNSUPPORTED unless the rounding mode is to nearest.
 */
#ifndef ASSAY_MECHANISMS_SNAPPING_H
#define ASSAY_MECHANISMS_SNAPPING_H

#include "mechanisms/custodian.h"

assay_status assay_release_snapping(assay_custodian *custodian, double *out,
                                    double in, const mpq_t scale,
                                    const mpq_t bound, const char *label,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** S scale ln U, as in the law above. Errors  ASSAY_ENTROPY. */
assay_status assay_snapping_noise(assay_tape *tape, double *out,
                                  double scale) ASSAY_MUST_CHECK;

/** clamp(round(clamp(in) + noise)): where the value meets its noise. */
double assay_snapping_round(double in, double noise, double scale,
                            double bound);

#endif
