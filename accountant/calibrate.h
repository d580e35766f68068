/* ring: glue */
/**
 * Calibration: the smallest noise, or the most steps, that still meet a target.
 *
 * The answer is checked, not solved for: it is a value at which the accountant
 * proves the target, while it does not at the next smaller noise (of the stated
 * number of digits) or at one step more. So the guarantee always holds.
 */
#ifndef ASSAY_ACCOUNTANT_CALIBRATE_H
#define ASSAY_ACCOUNTANT_CALIBRATE_H

#include "accountant/guarantee.h"

typedef struct assay_target {
    int has_rho; /* rho, or else (epsilon, delta) */
    mpq_t rho;
    mpq_t epsilon;
    mpq_t delta;
    int digits; /* of the noise; 0 means 6 */
} assay_target;

void assay_target_init(assay_target *target);
void assay_target_clear(assay_target *target);

/**
 * Sets the noise of list->events[which]: sigma of Gaussian noise (as sigma^2),
 * scale of Laplace noise, or, for an event with a fixed epsilon, the largest
 * epsilon. `achieved` (may be NULL) gets the guarantee there.
 * Errors  ASSAY_UNSUPPORTED: the target cannot be met, or the event has no
 *         noise to set.
 */
assay_status assay_calibrate_noise(assay_event_list *list, size_t which,
                                   const assay_target *target,
                                   const assay_account_options *options,
                                   assay_guarantee *achieved,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** Sets the count of list->events[which] to the largest that meets the target.
 *  Errors  ASSAY_BUDGET if not even one does. */
assay_status assay_calibrate_steps(assay_event_list *list, size_t which,
                                   const assay_target *target,
                                   const assay_account_options *options,
                                   assay_guarantee *achieved,
                                   assay_error *err) ASSAY_MUST_CHECK;

#endif
