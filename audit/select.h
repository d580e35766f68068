/* ring: glue */
/** Training and selection: from rows to the events that will be certified. */
#ifndef ASSAY_AUDIT_SELECT_H
#define ASSAY_AUDIT_SELECT_H

#include "audit/certify.h"
#include "audit/scores.h"

/** Train attackers on rows before plan->train_end, choose the events with rows
 *  before plan->select_end; no later row is looked at. */
assay_status assay_select_prepare(assay_certify *z, assay_models *models,
                                  const assay_source *source, const assay_plan *plan,
                                  const assay_audit_options *options,
                                  assay_error *err) ASSAY_MUST_CHECK;

#endif
