/* ring: glue */
/**
 * Solving delta(epsilon) = delta rigorously. Private to the room.
 */
#ifndef ASSAY_ACCOUNTANT_SOLVE_H
#define ASSAY_ACCOUNTANT_SOLVE_H

#include <arb.h>
#include <arb_hypgeom.h>

#include "accountant/account.h"

/** A ball that holds delta at epsilon, for a profile that does not increase. */
typedef void assay_profile_ball(arb_t delta, const mpq_t epsilon,
                                const void *context, slong prec);

/**
 * Answers the query from a profile: the smallest 15-digit epsilon whose ball is
 * certainly at most delta (and the largest that is certainly above, as the
 * lower bound), or the ball's two ends at a given epsilon.
 */
assay_status assay_solve_profile(assay_bound *out, const assay_query *query,
                                 assay_profile_ball *profile,
                                 const void *context,
                                 assay_error *err) ASSAY_MUST_CHECK;

#endif
