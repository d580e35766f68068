/* ring: glue */
/**
 * Which keys a manifest may have: one table that the reader checks against and
 * that docs/schema/deployment.schema.json is printed from.
 */
#ifndef ASSAY_CERTIFICATE_SHAPE_H
#define ASSAY_CERTIFICATE_SHAPE_H

#include "certificate/yaml.h"

typedef enum assay_field_kind {
    ASSAY_FIELD_TEXT,
    ASSAY_FIELD_WORD,     /* one of `words`, separated by blanks */
    ASSAY_FIELD_POSITIVE, /* exact number above 0 */
    ASSAY_FIELD_FRACTION, /* exact number in (0, 1) */
    ASSAY_FIELD_COUNT,    /* whole number from 1 to 2^62 */
    ASSAY_FIELD_FLAG,     /* true or false */
    ASSAY_FIELD_MAP,      /* of `fields` */
    ASSAY_FIELD_MAPS,     /* a list of such maps */
    ASSAY_FIELD_TEXTS     /* a list of texts */
} assay_field_kind;

typedef struct assay_shape_field {
    const char *key; /* NULL ends a table */
    assay_field_kind kind;
    int required;
    const char *words;
    const struct assay_shape_field *fields;
    const char *about; /* for the schema */
} assay_shape_field;

/** The table of a whole manifest. */
extern const assay_shape_field assay_manifest_fields[];

/** Unknown, missing and ill-typed members, with line and column. */
assay_status assay_shape_check_yaml(const assay_yaml *tree,
                                    const assay_shape_field *fields,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** JSON Schema (2020-12) of the table; a new reference. */
json_t *assay_manifest_schema(void);

#endif
