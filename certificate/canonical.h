/* ring: glue */
/**
 * Canonical JSON: one text for one value. Keys sorted by code point, no blanks,
 * no reals (numbers that matter are exact text), no duplicate keys.
 */
#ifndef ASSAY_CERTIFICATE_CANONICAL_H
#define ASSAY_CERTIFICATE_CANONICAL_H

#include <jansson.h>

#include "core/error.h"

/** Fresh memory: free() it. ASSAY_INVALID if the value holds a real. */
assay_status assay_canonical_text(char **out, size_t *len, const json_t *value,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** Reads canonical text and nothing else: what parses but would be written
 *  differently is ASSAY_CORRUPT. */
assay_status assay_canonical_read(json_t **out, const char *text, size_t len,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** SHA-256 of the canonical text, 64 digits and a NUL. */
assay_status assay_canonical_digest(char out[65], const json_t *value,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** A text member, or NULL. */
const char *assay_json_text(const json_t *object, const char *key);
/** A member by a path of keys and indices, "ledger/rows/0/hash", or NULL. */
json_t *assay_json_at(const json_t *value, const char *path);

#endif
