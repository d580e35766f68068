/* ring: glue */
/**
 * A YAML document as a tree whose nodes know their place. JSON is YAML.
 *
 * Every scalar is text: numbers are read exactly by whoever needs one.
 * Refused, with line and column: duplicate keys, anchors and aliases, tags,
 * a second document, nesting beyond 8, more than 100,000 nodes, keys that are
 * not words.
 */
#ifndef ASSAY_CERTIFICATE_TREE_H
#define ASSAY_CERTIFICATE_TREE_H

#include <jansson.h>
#include <stddef.h>

#include "core/error.h"

typedef enum assay_tree_kind {
    ASSAY_TREE_WORD,
    ASSAY_TREE_LIST,
    ASSAY_TREE_MAP
} assay_tree_kind;

typedef struct assay_tree {
    assay_tree_kind kind;
    int line;
    int column;
    char *key;  /* in a map, else NULL */
    char *text; /* of a word, else NULL */
    struct assay_tree *items;
    size_t num_items;
    size_t capacity;
} assay_tree;

/** `out` is filled on success only. */
assay_status assay_tree_parse(assay_tree *out, const char *text, size_t len,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_tree_clear(assay_tree *tree);

/** A member of a map; NULL if there is none (or `tree` is NULL). */
const assay_tree *assay_tree_get(const assay_tree *tree, const char *key);
/** The text of a word member; NULL if there is none. */
const char *assay_tree_text(const assay_tree *tree, const char *key);

/** Objects, arrays and strings; a new reference, NULL if there is no memory or
 *  the text is not UTF-8. */
json_t *assay_tree_json(const assay_tree *tree);

/** An error at a node's place. */
assay_status assay_tree_fail(const assay_tree *tree, assay_error *err,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
