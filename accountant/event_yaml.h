/* ring: glue */
/**
 * Event lists from YAML (JSON is YAML too).
 *
 *   neighbours: add-remove        # or replace-one
 *   unit: person                  # optional
 *   delta: 1e-6                   # optional
 *   events:                       # numbers are exact: 1.1 is 11/10
 *     - {mechanism: gaussian, sigma: 2, count: 100}
 *
 * Refused with line and column: unknown keys and mechanisms, values that make
 * no sense, aliases, more than one document, nesting beyond the format, files
 * above 8 MB, more than a million events.
 */
#ifndef ASSAY_ACCOUNTANT_EVENT_YAML_H
#define ASSAY_ACCOUNTANT_EVENT_YAML_H

#include "accountant/event.h"

#define ASSAY_YAML_MAX_BYTES ((size_t)8 << 20)
#define ASSAY_YAML_MAX_EVENTS ((size_t)1000000)

typedef struct assay_event_file {
    assay_event_list list;
    int has_delta;
    mpq_t delta;
    int has_epsilon;
    mpq_t epsilon;
} assay_event_file;

/** `out` is initialised by this call, on success only. */
assay_status assay_event_file_parse(assay_event_file *out, const char *text,
                                    size_t len,
                                    assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_event_file_read(assay_event_file *out, const char *path,
                                   assay_error *err) ASSAY_MUST_CHECK;
void assay_event_file_clear(assay_event_file *file);

#endif
