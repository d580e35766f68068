/* ring: glue */
/**
 * The audit plan: every kind of event in the ledger is attacked once, on the
 * code that ran, with a pair of inputs that differ as much as the ledger says
 * neighbours may.
 *
 * One run of the mechanism is one call's worth of noise; the runs of a block
 * share one call of the release function (its coordinates are independent), so
 * that the charge to the audit's own throw-away ledger is paid once a block.
 * What the attacker sees is a function of the released integers: their sum, how
 * many are positive, and the first few. An attacked release is never published.
 */
#ifndef ASSAY_CERTIFICATE_ATTACK_H
#define ASSAY_CERTIFICATE_ATTACK_H

#include <jansson.h>

#include "accountant/event.h"
#include "certificate/manifest.h"

/**
 * "audit" of the predicate (docs/certificate.md): the plan and one result for
 * each kind of event. Events that this plan has no attack for are listed as
 * such. A new reference. `guarantee` and `events` may be NULL.
 */
assay_status assay_attack(json_t **out, const assay_manifest *manifest,
                          const json_t *guarantee,
                          const assay_event_list *events,
                          assay_error *err) ASSAY_MUST_CHECK;

/** Appends a text for every refuted claim. */
void assay_attack_failures(json_t *failures, const json_t *audit);

#endif
