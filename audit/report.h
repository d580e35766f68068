/* ring: glue */
/** What the command prints: results, the catalogue's table, curves. */
#ifndef ASSAY_AUDIT_REPORT_H
#define ASSAY_AUDIT_REPORT_H

#include <stdio.h>

#include "audit/catalogue.h"

void assay_report_result(FILE *to, const assay_audit_result *r,
                         const char *left, const char *right,
                         const char *notes);

/** Lines of text as a JSON list. */
json_t *assay_report_notes(const char *notes);

typedef struct assay_report_options {
    uint64_t samples;
    double confidence;
    uint64_t seed;
    const char *only; /* part of a name, or NULL */
    int json;
    int oracle;
    const char *checkpoint; /* FILE; each specimen has its own FILE.NAME */
    double floor; /* > 0: share of the oracle that must be certified */
} assay_report_options;

/**
 * Audit every specimen and print the table. A true claim that is refuted is
 * audited again with other seeds at a confidence corrected for the size of the
 * catalogue; ASSAY_REFUTED if it is refuted again. With a floor, a specimen
 * whose events are expected to certify less than floor * oracle is audited
 * three more times. The audit has lost power (ASSAY_UNSUPPORTED) if the mean
 * share is below the floor, or the bound found is by more than three standard
 * deviations.
 */
assay_status assay_report_catalogue(FILE *to,
                                    const assay_report_options *options,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** Bound against samples for one specimen: a table, and an SVG by gnuplot if
 *  `svg` is not NULL. */
assay_status assay_report_curve(FILE *to, const assay_specimen *specimen,
                                uint64_t samples, double confidence,
                                uint64_t seed, const char *svg,
                                assay_error *err) ASSAY_MUST_CHECK;

#endif
