/* ring: glue */
/**
 * The signed statement: in-toto Statement v1 around the predicate of
 * docs/certificate.md.
 *
 * A statement exists only for a deployment that passed. `digest` in the
 * predicate is SHA-256 of the canonical statement without it: a change of any
 * field shows, also to somebody who holds the key and signs again.
 */
#ifndef ASSAY_CERTIFICATE_STATEMENT_H
#define ASSAY_CERTIFICATE_STATEMENT_H

#include <jansson.h>

#include "certificate/manifest.h"
#include "certificate/texts.h"

/** The parts of a predicate, each a borrowed reference. */
typedef struct assay_parts {
    json_t *derived; /* "guarantee", "derivation", "profile" */
    json_t *ledger;  /* an export */
    json_t *proofs;
    json_t *audit;
    json_t *outputs; /* file names */
    int fresh;       /* the ledger was made for this deployment */
} assay_parts;

/** A new reference. `folder` holds the outputs. */
assay_status assay_statement_build(json_t **out, const assay_manifest *manifest,
                                   const assay_parts *parts, const char *folder,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** The digest over everything but itself. */
assay_status assay_statement_digest(char out[65], const json_t *statement,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** Ids of all theorems that a certificate rests on, each once: those that the
 *  derivation cites, the master theorem behind guarantee.v, and those behind
 *  the deployment's statistic, trust model and samplers. A new reference. */
json_t *assay_statement_theorems(const json_t *derived,
                                 const json_t *deployment);

#endif
