/* ring: glue */
/**
 * Somebody else's mechanism: its price is its author's word ("assumed" in the
 * ledger), and only the audit can speak about it.
 */
#ifndef ASSAY_CERTIFICATE_FOREIGN_H
#define ASSAY_CERTIFICATE_FOREIGN_H

#include "certificate/yaml.h"
#include "mechanisms/custodian.h"

/** Charges the claimed epsilon, marked assumed; the output says what was
 *  claimed. A new reference. */
assay_status assay_foreign_run(json_t **out, const assay_yaml *release,
                               assay_custodian *custodian,
                               assay_error *err) ASSAY_MUST_CHECK;

#endif
