/* ring: glue */
/** From the counts of one or two stages to a result. */
#ifndef ASSAY_AUDIT_CONCLUDE_H
#define ASSAY_AUDIT_CONCLUDE_H

#include "audit/certify.h"

#define ASSAY_MAX_STAGES 2

/**
 * The bound of `num` stages (1 or 2), each of whose events were fixed before
 * its own rows were seen but after those of the stage before.
 *
 * Law     P[out->lower > true parameter] <= 1 - confidence.
 */
assay_status assay_conclude(assay_audit_result *out,
                            assay_stage *const stage[ASSAY_MAX_STAGES],
                            size_t num, const assay_audit_options *options,
                            assay_error *err) ASSAY_MUST_CHECK;

/** Sequential: is the claim refuted already? */
int assay_conclude_early(const assay_certify *z,
                         const assay_audit_options *options);

/** What event k gets of the error budget `level`. */
double assay_conclude_level(const assay_certify *z, size_t k, double level);

/** Does the stage have a profile or layers? */
int assay_conclude_has_bins(const assay_certify *z);

/** The bound of event k, which all stages must have (else 0). */
double assay_conclude_event(assay_stage *const *stage, size_t num, size_t k,
                            const assay_claim *claim, double level);

/** A quick bound of one stage's events, for the progress bar. */
double assay_conclude_quick(const assay_certify *z, const assay_claim *claim,
                            double level);

#endif
