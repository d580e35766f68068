/* ring: glue */
/**
 * A YAML document as a tree whose nodes know their place. JSON is YAML.
 *
 * Every scalar is text: numbers are read exactly by whoever needs one.
 * Refused, with line and column: duplicate keys, anchors and aliases, tags,
 * a second document, nesting beyond 8, more than 100,000 nodes, keys that are
 * not words.
 */
#ifndef ASSAY_CERTIFICATE_YAML_H
#define ASSAY_CERTIFICATE_YAML_H

#include <jansson.h>
#include <stddef.h>

#include "core/error.h"

typedef enum assay_yaml_kind {
    ASSAY_YAML_WORD,
    ASSAY_YAML_LIST,
    ASSAY_YAML_MAP
} assay_yaml_kind;

typedef struct assay_yaml {
    assay_yaml_kind kind;
    int line;
    int column;
    char *key;  /* in a map, else NULL */
    char *text; /* of a word, else NULL */
    struct assay_yaml *items;
    size_t num_items;
    size_t capacity;
} assay_yaml;

/** `out` is filled on success only. */
assay_status assay_yaml_parse(assay_yaml *out, const char *text, size_t len,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_yaml_clear(assay_yaml *tree);

/** A member of a map; NULL if there is none (or `tree` is NULL). */
const assay_yaml *assay_yaml_get(const assay_yaml *tree, const char *key);
/** The text of a word member; NULL if there is none. */
const char *assay_yaml_text(const assay_yaml *tree, const char *key);

/** Objects, arrays and strings; a new reference, NULL if there is no memory or
 *  the text is not UTF-8. */
json_t *assay_yaml_json(const assay_yaml *tree);

/** An error at a node's place. */
assay_status assay_yaml_fail(const assay_yaml *tree, assay_error *err,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
