/* ring: glue */
/**
 * Checking a certificate again, without trusting who made it.
 */
#ifndef ASSAY_CERTIFICATE_VERIFY_H
#define ASSAY_CERTIFICATE_VERIFY_H

#include <jansson.h>

#include "core/error.h"

typedef struct assay_verify_options {
    const char *path;    /* the certificate */
    const char *key;     /* NULL: certificate.pub beside it */
    const char *outputs; /* NULL: the certificate's folder */
    const char *ledger;  /* NULL: ledger.db among the outputs, if there */
    const char *source;  /* NULL: compare no proofs */
    int coq;             /* 1: prove the guarantee again in Coq */
} assay_verify_options;

/**
 * Appends one finding per question to `findings` (an array). `statement` (may
 * be NULL) gets the statement, a new reference, if it could be read.
 * Errors  ASSAY_REFUTED if a finding fails; ASSAY_IO if there is no file.
 */
assay_status assay_verify(json_t *findings, json_t **statement,
                          const assay_verify_options *options,
                          assay_error *err) ASSAY_MUST_CHECK;

/** The same for a statement at hand: all checks but the signature. */
void assay_verify_statement(json_t *findings, const json_t *statement,
                            const assay_verify_options *options);

#endif
