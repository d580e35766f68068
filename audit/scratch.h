/* ring: glue */
/**
 * A ledger for people who do not exist: simulations and audits, whose data
 * is made up and whose releases nobody publishes.
 */
#ifndef ASSAY_AUDIT_SCRATCH_H
#define ASSAY_AUDIT_SCRATCH_H

#include "accountant/event.h"
#include "mechanisms/custodian.h"

typedef struct assay_scratch {
    char folder[256];
    char path[272];
    assay_custodian custodian;
    int open;
} assay_scratch;

/** Opens `ledger`, or with NULL a temporary one without a real limit: on rho,
 *  or on epsilon at delta 1/1000. */
assay_status assay_scratch_open(assay_scratch *scratch, const char *ledger,
                                assay_neighbours neighbours, int in_rho,
                                assay_error *err) ASSAY_MUST_CHECK;

/** Closes, and removes a temporary ledger. May be called on zeroed memory. */
void assay_scratch_close(assay_scratch *scratch);

#endif
