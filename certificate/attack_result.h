/* ring: glue */
/**
 * An audit's result as exact text. Private to the room.
 */
#ifndef ASSAY_CERTIFICATE_ATTACK_RESULT_H
#define ASSAY_CERTIFICATE_ATTACK_RESULT_H

#include <gmp.h>

#include "audit/audit.h"

/** Lower bounds are rounded down, detection limits up. */
json_t *assay_attack_json(const assay_audit_result *result, const char *claim,
                          const mpq_t value);

/** The claim as a double, rounded up; the confidence likewise. */
double assay_attack_double(const mpq_t value);

#endif
