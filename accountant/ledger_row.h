/* ring: glue */
/**
 * What is in a ledger's row. Private to the room.
 *
 * A row's body is one line of JSON with sorted keys; its hash is SHA-256 of the
 * body. Row 0 holds the budget; row n holds an event and the hash of row n-1.
 */
#ifndef ASSAY_ACCOUNTANT_LEDGER_ROW_H
#define ASSAY_ACCOUNTANT_LEDGER_ROW_H

#include "accountant/bookkeeping.h"
#include "accountant/ledger.h"

assay_status assay_ledger_row_hash(char out[65], const char *body,
                                   assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_ledger_first_body(char **out, const assay_budget *budget,
                                     const char *note,
                                     assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_ledger_first_read(assay_budget *out, const char *body,
                                     assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_ledger_event_body(char **out, int64_t sequence,
                                     const char *previous,
                                     const assay_event *event,
                                     const char *label,
                                     assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_ledger_export_row(json_t *rows, const char *body,
                                     const char *hash,
                                     assay_error *err) ASSAY_MUST_CHECK;
/** Takes `rows` over on success. */
assay_status assay_ledger_export_wrap(json_t **out, json_t *rows,
                                      assay_error *err) ASSAY_MUST_CHECK;
/** Appends the events of an export to a list. */
assay_status assay_ledger_export_events(assay_event_list *out,
                                        const json_t *all,
                                        assay_error *err) ASSAY_MUST_CHECK;

#endif
