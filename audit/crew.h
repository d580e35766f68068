/* ring: glue */
/**
 * The catalogue on several cores: processes that take one specimen after the
 * other. (An audit's training does not fill two cores; two audits do.) Rows do
 * not depend on who audits them.
 */
#ifndef ASSAY_AUDIT_CREW_H
#define ASSAY_AUDIT_CREW_H

#include "audit/catalogue.h"

/** One finished specimen. */
typedef struct assay_crew_row {
    size_t index;
    assay_status status;
    assay_error err;
    int again; /* a refuted true claim: how often it was refuted again */
    double mean_share; /* of the oracle, expected, over `shares` audits */
    int shares;        /* 0: there is no oracle */
    assay_catalogue_row row;
} assay_crew_row;

typedef void (*assay_crew_work)(assay_crew_row *out, void *ctx);

/**
 * Call work for the indices 0 .. num - 1 (out->index is set) on up to `hands`
 * processes and `done` in the order of the indices. 1: in this process.
 * Errors  the first of work's errors; ASSAY_IO if a process died.
 */
assay_status assay_crew_run(size_t num, int hands, const char *label,
                            assay_crew_work work,
                            assay_status (*done)(const assay_crew_row *row,
                                                 void *ctx, assay_error *err),
                            void *ctx, assay_error *err) ASSAY_MUST_CHECK;

#endif
