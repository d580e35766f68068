/* ring: glue */
/**
 * The privacy profile: an upper bound on delta for each of several epsilons.
 */
#ifndef ASSAY_ACCOUNTANT_PROFILE_H
#define ASSAY_ACCOUNTANT_PROFILE_H

#include "accountant/guarantee.h"

typedef struct assay_profile {
    size_t num_points;
    mpq_t *epsilons;
    mpq_t *deltas;
    char (*methods)[ASSAY_METHOD_LEN];
} assay_profile;

/** `num_points` epsilons from 0 to where delta is about 1e-12, with the best
 *  delta of all methods at each. */
assay_status assay_profile_compute(assay_profile *out,
                                   const assay_event_list *events,
                                   size_t num_points,
                                   const assay_account_options *options,
                                   assay_error *err) ASSAY_MUST_CHECK;
void assay_profile_clear(assay_profile *profile);

#endif
