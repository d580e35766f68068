/* ring: glue */
/**
 * From a manifest to a certificate: runs the deployment, accounts for what ran,
 * attacks it, looks at the proofs, and signs if all of it holds.
 */
#ifndef ASSAY_CERTIFICATE_CERTIFY_H
#define ASSAY_CERTIFICATE_CERTIFY_H

#include <jansson.h>

#include "core/error.h"

typedef struct assay_certify_options {
    const char *manifest;
    const char *folder; /* NULL: the manifest's output */
    const char *key;    /* private key; NULL: the environment */
    const char *ledger; /* an existing ledger; NULL: a fresh one */
    const char *source; /* the source tree; NULL: the current folder */
    void (*say)(const char *line); /* progress; may be NULL */
} assay_certify_options;

/**
 * Writes into the folder: the outputs, ledger.db, report.html and, if nothing
 * failed, certificate.dsse.json, certificate.pub and guarantee.v.
 * `failures` (an array) gets one text per reason why it is refused; the report
 * says the same. `folder` (may be NULL) gets the folder's name, fresh memory.
 * Errors  ASSAY_REFUTED if there is a failure; ASSAY_INVALID (manifest, key,
 *         a folder that holds an earlier run), ASSAY_IO.
 */
assay_status assay_certify(json_t *failures, char **folder,
                           const assay_certify_options *options,
                           assay_error *err) ASSAY_MUST_CHECK;

#endif
