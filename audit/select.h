/* ring: glue */
/** Training and selection: from rows to the events that will be certified. */
#ifndef ASSAY_AUDIT_SELECT_H
#define ASSAY_AUDIT_SELECT_H

#include "audit/certify.h"
#include "audit/scores.h"

/** Train attackers on rows before plan->train_end, choose the events with rows
 *  before plan->select_end; no later row is looked at. `kept` says which
 *  attackers were worth it; if it has names already, only these are trained.
 *  `before`: what the stage that this one is combined with counts, or NULL. */
assay_status assay_select_prepare(assay_stage *stage,
                                  const assay_certify *before,
                                  assay_names *kept, const assay_source *source,
                                  const assay_plan *plan,
                                  const assay_audit_options *options,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** The share of the estimate that noise takes off the predicted bound of
 *  `target` runs (eps claims; else 0). */
double assay_select_slack(const assay_certify *z, const assay_claim *claim,
                          double target);

#endif
