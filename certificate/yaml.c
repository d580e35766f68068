/* ring: glue */
#include "certificate/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define MAX_DEPTH 8
#define MAX_NODES 100000

typedef struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    int has_event;
    size_t num_nodes;
    assay_error *err;
} reader;

void assay_yaml_clear(assay_yaml *tree)
{
    for (size_t i = 0; i < tree->num_items; i++) {
        assay_yaml_clear(&tree->items[i]);
    }
    free(tree->items);
    free(tree->text);
    free(tree->key);
    memset(tree, 0, sizeof *tree);
}

assay_status assay_yaml_fail(const assay_yaml *tree, assay_error *err,
                             const char *format, ...)
{
    char message[ASSAY_ERROR_LEN];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return assay_fail_at(err, ASSAY_INVALID, tree->line, tree->column, "%s",
                         message);
}

static int bounded(size_t n)
{
    return n < 1000000000 ? (int)n + 1 : 1000000000;
}

static assay_status fail_here(reader *in, const char *message)
{
    const yaml_mark_t *mark = &in->event.start_mark;
    return assay_fail_at(in->err, ASSAY_INVALID, bounded(mark->line),
                         bounded(mark->column), "%s", message);
}

static assay_status advance(reader *in)
{
    if (in->has_event) {
        yaml_event_delete(&in->event);
        in->has_event = 0;
    }
    if (!yaml_parser_parse(&in->parser, &in->event)) {
        const yaml_mark_t *mark = &in->parser.problem_mark;
        return assay_fail_at(in->err, ASSAY_INVALID, bounded(mark->line),
                             bounded(mark->column), "not YAML: %.200s",
                             in->parser.problem != NULL ? in->parser.problem
                                                        : "bad text");
    }
    in->has_event = 1;
    return ASSAY_OK;
}

static char *copy(const unsigned char *text, size_t len)
{
    char *out = malloc(len + 1);
    if (out != NULL) {
        memcpy(out, text, len);
        out[len] = '\0';
    }
    return out;
}

/* A fresh last item; earlier pointers into items become invalid. */
static assay_yaml *append(assay_yaml *tree)
{
    if (tree->num_items == tree->capacity) {
        size_t capacity = tree->capacity == 0 ? 8 : 2 * tree->capacity;
        assay_yaml *items = realloc(tree->items, capacity * sizeof *items);
        if (items == NULL) {
            return NULL;
        }
        tree->items = items;
        tree->capacity = capacity;
    }
    assay_yaml *item = &tree->items[tree->num_items++];
    memset(item, 0, sizeof *item);
    return item;
}

static assay_status read_word(assay_yaml *out, reader *in)
{
    size_t len = in->event.data.scalar.length;
    const unsigned char *value = in->event.data.scalar.value;
    if (in->event.data.scalar.anchor != NULL ||
        in->event.data.scalar.tag != NULL) {
        return fail_here(in, "anchors and tags are not part of this format");
    }
    if (memchr(value, 0, len) != NULL || len > 20000) {
        return fail_here(in, "a text with a zero byte, or a very long one");
    }
    out->kind = ASSAY_YAML_WORD;
    out->text = copy(value, len);
    return out->text != NULL
               ? ASSAY_OK
               : assay_fail(in->err, ASSAY_MEMORY, "no memory for YAML");
}

static assay_status read_node(assay_yaml *out, reader *in, int depth);

static assay_status read_list(assay_yaml *out, reader *in, int depth)
{
    out->kind = ASSAY_YAML_LIST;
    if (in->event.data.sequence_start.anchor != NULL ||
        in->event.data.sequence_start.tag != NULL) {
        return fail_here(in, "anchors and tags are not part of this format");
    }
    for (;;) {
        assay_status status = advance(in);
        if (status != ASSAY_OK || in->event.type == YAML_SEQUENCE_END_EVENT) {
            return status;
        }
        assay_yaml *item = append(out);
        if (item == NULL) {
            return assay_fail(in->err, ASSAY_MEMORY, "no memory for YAML");
        }
        status = read_node(item, in, depth + 1);
        if (status != ASSAY_OK) {
            return status;
        }
    }
}

static assay_status read_member(assay_yaml *out, reader *in, int depth)
{
    if (in->event.type != YAML_SCALAR_EVENT ||
        in->event.data.scalar.length == 0 ||
        in->event.data.scalar.length > 80 ||
        in->event.data.scalar.anchor != NULL) {
        return fail_here(in, "expected a key");
    }
    char *key = copy(in->event.data.scalar.value, in->event.data.scalar.length);
    if (key == NULL) {
        return assay_fail(in->err, ASSAY_MEMORY, "no memory for YAML");
    }
    if (assay_yaml_get(out, key) != NULL) {
        const yaml_mark_t *mark = &in->event.start_mark;
        assay_status s = assay_fail_at(
            in->err, ASSAY_INVALID, bounded(mark->line), bounded(mark->column),
            "the key '%.80s' is given twice", key);
        free(key);
        return s;
    }
    int line = bounded(in->event.start_mark.line);
    int column = bounded(in->event.start_mark.column);
    assay_yaml *item = append(out);
    if (item == NULL) {
        free(key);
        return assay_fail(in->err, ASSAY_MEMORY, "no memory for YAML");
    }
    item->key = key;
    assay_status status = advance(in);
    if (status == ASSAY_OK) {
        status = read_node(item, in, depth + 1);
    }
    item->line = line; /* a member is reported at its key */
    item->column = column;
    return status;
}

static assay_status read_map(assay_yaml *out, reader *in, int depth)
{
    out->kind = ASSAY_YAML_MAP;
    if (in->event.data.mapping_start.anchor != NULL ||
        in->event.data.mapping_start.tag != NULL) {
        return fail_here(in, "anchors and tags are not part of this format");
    }
    for (;;) {
        assay_status status = advance(in);
        if (status != ASSAY_OK || in->event.type == YAML_MAPPING_END_EVENT) {
            return status;
        }
        status = read_member(out, in, depth);
        if (status != ASSAY_OK) {
            return status;
        }
    }
}

static assay_status read_node(assay_yaml *out, reader *in, int depth)
{
    out->line = bounded(in->event.start_mark.line);
    out->column = bounded(in->event.start_mark.column);
    if (depth > MAX_DEPTH || in->num_nodes++ > MAX_NODES) {
        return fail_here(in, "too deep or too long");
    }
    switch (in->event.type) {
    case YAML_SCALAR_EVENT:
        return read_word(out, in);
    case YAML_SEQUENCE_START_EVENT:
        return read_list(out, in, depth);
    case YAML_MAPPING_START_EVENT:
        return read_map(out, in, depth);
    default:
        return fail_here(in, "aliases are not part of this format");
    }
}

static assay_status read_document(assay_yaml *out, reader *in)
{
    static const yaml_event_type_t opening[] = {YAML_STREAM_START_EVENT,
                                                YAML_DOCUMENT_START_EVENT};
    static const yaml_event_type_t closing[] = {YAML_DOCUMENT_END_EVENT,
                                                YAML_STREAM_END_EVENT};
    assay_status status = ASSAY_OK;
    for (int i = 0; i < 2 && status == ASSAY_OK; i++) {
        status = advance(in);
        if (status == ASSAY_OK && in->event.type != opening[i]) {
            status = fail_here(in, "the file is empty");
        }
    }
    if (status == ASSAY_OK) {
        status = advance(in);
    }
    if (status == ASSAY_OK) {
        status = read_node(out, in, 0);
    }
    for (int i = 0; i < 2 && status == ASSAY_OK; i++) {
        status = advance(in);
        if (status == ASSAY_OK && in->event.type != closing[i]) {
            status = fail_here(in, "one document, please");
        }
    }
    return status;
}

assay_status assay_yaml_parse(assay_yaml *out, const char *text, size_t len,
                              assay_error *err)
{
    reader in = {.err = err};
    assay_yaml tree = {0};
    if (!yaml_parser_initialize(&in.parser)) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for YAML");
    }
    yaml_parser_set_encoding(&in.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&in.parser, (const unsigned char *)text, len);
    assay_status status = read_document(&tree, &in);
    if (in.has_event) {
        yaml_event_delete(&in.event);
    }
    yaml_parser_delete(&in.parser);
    if (status != ASSAY_OK) {
        assay_yaml_clear(&tree);
        return status;
    }
    *out = tree;
    return ASSAY_OK;
}

const assay_yaml *assay_yaml_get(const assay_yaml *tree, const char *key)
{
    if (tree == NULL || tree->kind != ASSAY_YAML_MAP) {
        return NULL;
    }
    for (size_t i = 0; i < tree->num_items; i++) {
        if (tree->items[i].key != NULL &&
            strcmp(tree->items[i].key, key) == 0) {
            return &tree->items[i];
        }
    }
    return NULL;
}

const char *assay_yaml_text(const assay_yaml *tree, const char *key)
{
    const assay_yaml *item = assay_yaml_get(tree, key);
    return item != NULL ? item->text : NULL;
}

json_t *assay_yaml_json(const assay_yaml *tree)
{
    if (tree->kind == ASSAY_YAML_WORD) {
        return json_string(tree->text);
    }
    json_t *out = tree->kind == ASSAY_YAML_MAP ? json_object() : json_array();
    int bad = out == NULL;
    for (size_t i = 0; i < tree->num_items && !bad; i++) {
        json_t *item = assay_yaml_json(&tree->items[i]);
        bad = item == NULL ||
              (tree->kind == ASSAY_YAML_MAP
                   ? json_object_set_new(out, tree->items[i].key, item)
                   : json_array_append_new(out, item)) != 0;
    }
    if (bad) {
        json_decref(out);
        return NULL;
    }
    return out;
}
