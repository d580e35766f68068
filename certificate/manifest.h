/* ring: glue */
/**
 * The deployment manifest: what will be released, from which data, under which
 * promise. Written by the people who answer for it; docs/certificate.md.
 *
 * Errors carry line and column: unknown keys, values of the wrong kind, noise
 * that does not go with its unit (Gaussian takes rho, Laplace epsilon), and
 * contradictions (more is spent than the budget, delta at or above 1/users,
 * a learner under a neighbour relation that its theorem does not have).
 */
#ifndef ASSAY_CERTIFICATE_MANIFEST_H
#define ASSAY_CERTIFICATE_MANIFEST_H

#include "accountant/ledger.h"
#include "certificate/yaml.h"

typedef struct assay_manifest {
    assay_yaml tree;
    json_t *json;    /* the tree, scalars as text */
    char digest[65]; /* SHA-256 of the JSON, canonical */
    char *folder;    /* of the file: relative paths start here */
    assay_budget budget;
    mpq_t delta;
    const char *trust;
    const assay_yaml *data;
    const assay_yaml *learner;  /* or NULL */
    const assay_yaml *releases; /* or NULL */
    uint64_t users;             /* 0: a file says */
    uint64_t audit_runs;
    mpq_t audit_confidence;
} assay_manifest;

/** `out` is initialised by this call, on success only. */
assay_status assay_manifest_read(assay_manifest *out, const char *path,
                                 assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_manifest_parse(assay_manifest *out, const char *text,
                                  size_t len,
                                  assay_error *err) ASSAY_MUST_CHECK;
void assay_manifest_clear(assay_manifest *manifest);

/** The published algorithm that it is about, or NULL. */
const char *assay_manifest_algorithm(const assay_manifest *manifest);

/** A path of the manifest, relative to its folder: fresh memory. */
char *assay_manifest_path(const assay_manifest *manifest, const char *path);

#endif
