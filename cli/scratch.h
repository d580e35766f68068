/* ring: glue */
/**
 * A ledger for people who do not exist: simulations without --ledger.
 */
#ifndef ASSAY_CLI_SCRATCH_H
#define ASSAY_CLI_SCRATCH_H

#include "mechanisms/custodian.h"

typedef struct assay_scratch {
    char directory[512]; /* in TMPDIR, else in /tmp */
    char path[544];
    assay_custodian custodian;
    int open;
} assay_scratch;

/** Opens `ledger`, or with NULL a temporary one without a limit (replace-one
 *  or add-remove). */
assay_status assay_scratch_open(assay_scratch *scratch, const char *ledger,
                                int replace, assay_error *err) ASSAY_MUST_CHECK;

/** Closes, and removes a temporary ledger. May be called on zeroed memory. */
void assay_scratch_close(assay_scratch *scratch);

#endif
