/* ring: glue */
/**
 * The catalogue: audit every specimen, compare with truth and oracle.
 */
#ifndef ASSAY_AUDIT_CATALOGUE_H
#define ASSAY_AUDIT_CATALOGUE_H

#include "audit/audit.h"
#include "audit/hindsight.h"
#include "audit/search.h"

typedef struct assay_catalogue_row {
    const assay_specimen *specimen;
    assay_pair pair;
    uint64_t
        searched; /* runs of each input on other pairs, beside the audit's */
    assay_audit_result result;
    assay_oracle_bound oracle; /* on this pair; NAN: no density */
    assay_oracle_bound best;   /* on the best of the specimen's pairs */
    assay_hindsight
        hindsight;  /* what was chosen gives on average; NAN: as above */
    double seconds; /* with search and oracle */
} assay_catalogue_row;

typedef struct assay_catalogue_options {
    uint64_t samples;
    double confidence;
    uint64_t seed;
    int with_oracle;
    int threads;            /* 0: all cores */
    const char *label;      /* on the progress bar, or NULL */
    const char *checkpoint; /* file for resuming, or NULL */
} assay_catalogue_options;

/** Audit one specimen: search the pair, attack, certify, oracle. */
assay_status assay_catalogue_run(assay_catalogue_row *out,
                                 const assay_specimen *specimen,
                                 const assay_catalogue_options *options,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** The same without a checkpoint. */
assay_status assay_catalogue_audit(assay_catalogue_row *out,
                                   const assay_specimen *specimen,
                                   uint64_t samples, double confidence,
                                   uint64_t seed, int with_oracle,
                                   const char *label,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** "refuted", "not refuted", with "WRONG: " in front where a true claim was
 *  refuted. */
const char *assay_catalogue_verdict(const assay_catalogue_row *row);

json_t *assay_catalogue_json(const assay_catalogue_row *row);

#endif
