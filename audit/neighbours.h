/* ring: glue */
/**
 * Neighbouring inputs for a program, found by search: files of numbers, one a
 * line, within a stated domain and neighbour relation; standard patterns, then
 * random restarts with hill climbing. Each candidate pair costs a few runs of
 * the program; the audit of the pair that is found uses runs of its own.
 */
#ifndef ASSAY_AUDIT_NEIGHBOURS_H
#define ASSAY_AUDIT_NEIGHBOURS_H

#include "audit/bound.h"
#include "audit/external.h"

#define ASSAY_NEIGHBOUR_ROWS 64

typedef enum assay_neighbour_relation {
    ASSAY_NEIGHBOUR_ONE, /* one number moves by at most `step`   */
    ASSAY_NEIGHBOUR_ALL, /* every number may move by at most that */
    ASSAY_NEIGHBOUR_DROP /* the right input lacks one line        */
} assay_neighbour_relation;

typedef struct assay_neighbour_search {
    size_t rows; /* lines of an input, 1 to ASSAY_NEIGHBOUR_ROWS */
    double low, high, step;
    assay_neighbour_relation relation;
    uint64_t seed;
    uint64_t runs;   /* of the program on each candidate */
    uint64_t target; /* runs of the audit to come */
    int restarts, steps;
    const char *directory; /* where left.txt and right.txt are written */
    assay_claim claim;
} assay_neighbour_search;

/** "one", "all" or "drop". */
assay_status assay_neighbour_relation_parse(assay_neighbour_relation *out,
                                            const char *text,
                                            assay_error *err) ASSAY_MUST_CHECK;

/**
 * Search; the best pair ends up in DIRECTORY/left.txt and right.txt.
 * `program` gives the command and its limits (its inputs and runs are set
 * here). *tried counts candidates that gave outputs; ASSAY_INVALID if none did.
 */
assay_status assay_neighbours_find(const assay_neighbour_search *search,
                                   const assay_external_options *program,
                                   size_t *tried,
                                   assay_error *err) ASSAY_MUST_CHECK;

#endif
