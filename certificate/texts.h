/* ring: glue */
/**
 * Names and fixed texts of this schema version.
 */
#ifndef ASSAY_CERTIFICATE_TEXTS_H
#define ASSAY_CERTIFICATE_TEXTS_H

#include <jansson.h>

#define ASSAY_STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define ASSAY_PREDICATE_PREFIX "urn:assay:certificate:"
#define ASSAY_PREDICATE_VERSION "1"
#define ASSAY_PREDICATE_TYPE ASSAY_PREDICATE_PREFIX ASSAY_PREDICATE_VERSION
/** Row 0 of a fresh ledger notes which manifest it is for. */
#define ASSAY_LEDGER_NOTE "assay deployment sha256:"

/** What no certificate covers: fixed texts of this version. A new reference. */
json_t *assay_statement_not_covered(void);

/** What the printed constants of the learner's paper would have given: fixed
 *  texts by algorithm, NULL algorithm for plain releases. A new reference. */
json_t *assay_statement_printed(const char *algorithm);

#endif
