/* ring: glue */
/**
 * From a ledger to a guarantee, with every step written down.
 *
 * All numbers come from accountant/; this file only asks and writes. Only
 * methods that `assay verify` derives again are used: basic composition and
 * zCDP with one conversion.
 */
#ifndef ASSAY_CERTIFICATE_DERIVE_H
#define ASSAY_CERTIFICATE_DERIVE_H

#include <jansson.h>

#include "accountant/guarantee.h"

/**
 * "guarantee", "derivation" and "profile" of the events, as in
 * docs/certificate.md; a new reference. Of the pure and the zCDP bound the one
 * with the smaller epsilon is stated.
 * Errors  as assay_account.
 */
assay_status assay_derive(json_t **out, const assay_event_list *events,
                          const mpq_t delta, const char *trust,
                          assay_error *err) ASSAY_MUST_CHECK;

/** What makes two events the same step: canonical JSON of the event without
 *  its count and label; free() it. */
assay_status assay_event_key(char **out, const assay_event *event,
                             assay_error *err) ASSAY_MUST_CHECK;

#endif
