/* ring: glue */
/**
 * Several processes on one audit. Every rank trains and selects by itself (the
 * rows of a specimen are addressed by index, so all get the same events); the
 * certification's units are divided among the ranks and the counts summed, so
 * the result is that of one process.
 */
#ifndef ASSAY_AUDIT_RANKS_H
#define ASSAY_AUDIT_RANKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct assay_ranks {
    int rank, size;
    /* replace x by the sum over all ranks; 0 is success */
    int (*sum)(uint64_t *x, size_t n);
} assay_ranks;

/** This process's place; alone unless assay-mpi has set it. */
extern assay_ranks assay_ranks_here;

#endif
