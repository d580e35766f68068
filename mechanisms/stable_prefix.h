/* ring: glue */
/**
 * Stable prefixes: how long a drawn trajectory is what enough experts do.
 *
 * The object charges all its draws when it is made (accountant/stable.h). Per
 * draw, an index is drawn uniformly and a fresh noisy threshold with it; then
 * the questions of that trajectory, in the order of its prefixes, until the
 * first "no".
 *
 * Law      yes = [query + Y > threshold + X], X discrete Laplace, once per
 *          draw, Y of its own per question; the scales are the plan's.
 * Theorem  stable-prefix (docs/math/stable_prefix.md): paper-proved, charged
 *          as assumed. The caller answers for three things: one expert moves a
 *          query by at most plan->unit, always in the same direction for the
 *          monotone bars; the trajectory asked about is a fresh draw of the
 *          expert with this index; what leaves is a prefix with only yes
 *          answers, and nothing else of that trajectory, not even its index.
 * Errors   as mechanisms/release.h; ASSAY_BUDGET when all draws are used,
 *          ASSAY_INVALID for a question after a "no".
 */
#ifndef ASSAY_MECHANISMS_STABLE_PREFIX_H
#define ASSAY_MECHANISMS_STABLE_PREFIX_H

#include "accountant/stable.h"
#include "mechanisms/custodian.h"

typedef struct assay_stable_prefix assay_stable_prefix;

assay_status assay_stable_prefix_new(assay_stable_prefix **out,
                                     assay_custodian *custodian,
                                     const assay_stable_plan *plan,
                                     const char *label,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** An index below `population`; it is as secret as the data. */
assay_status assay_stable_prefix_draw(assay_stable_prefix *stable,
                                      uint64_t *index, uint64_t population,
                                      assay_error *err) ASSAY_MUST_CHECK;

/** *yes is 1 or 0; untouched on error. */
assay_status assay_stable_prefix_ask(assay_stable_prefix *stable, int *yes,
                                     int64_t query,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** The threshold before noise, in steps: public. */
int64_t assay_stable_prefix_threshold(const assay_stable_prefix *stable);

/** How many draws are left. */
uint64_t assay_stable_prefix_left(const assay_stable_prefix *stable);

void assay_stable_prefix_free(assay_stable_prefix *stable);

#endif
