/* ring: glue */
/** One pass over a CSV file into integer statistics; private to query*.c. */
#ifndef ASSAY_MECHANISMS_QUERY_SCAN_H
#define ASSAY_MECHANISMS_QUERY_SCAN_H

#include "core/lattice.h"
#include "mechanisms/people.h"
#include "mechanisms/query.h"

/* Everything in it is private data. */
typedef struct assay_tally {
    assay_lattice lattice;
    int64_t middle; /* subtracted from each value */
    int64_t count;
    int64_t sum;    /* of value - middle, in steps */
    int64_t *cells; /* bins, categories or quantile cells */
    size_t num_cells;
    assay_people words; /* unknown keys */
} assay_tally;

/** The lattice has at most `max_steps` steps between the bounds. */
assay_status assay_tally_init(assay_tally *tally, const assay_query *query,
                              assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_tally_scan(assay_tally *tally, const assay_query *query,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_tally_clear(assay_tally *tally);

#endif
