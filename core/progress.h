/* ring: glue */
/**
 * A progress meter on standard error, drawn only where that is a terminal.
 * Every call is cheap; it redraws at most ten times a second.
 */
#ifndef ASSAY_CORE_PROGRESS_H
#define ASSAY_CORE_PROGRESS_H

#include <stdint.h>

typedef struct assay_progress {
    const char *label;
    uint64_t total;
    int64_t started_ms;
    int64_t drawn_ms;
    int enabled;
} assay_progress;

void assay_progress_start(assay_progress *meter, const char *label,
                          uint64_t total);
/** `note` (may be NULL) is shown behind the bar: the current bound, say. */
void assay_progress_update(assay_progress *meter, uint64_t done,
                           const char *note);
/** Clears the bar's line. */
void assay_progress_finish(assay_progress *meter);

#endif
