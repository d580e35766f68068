/* ring: glue */
#include "accountant/event_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/bytes.h"
#include "core/rational.h"

#define MAX_DEPTH 6
#define MAX_ITEMS 200000

/* A value with its place: a word, a list, or a map (key, value, ...). */
typedef enum kind { WORD, LIST, MAP } kind;
typedef struct node {
    kind kind;
    int line;
    int column;
    char *text;
    struct node *items;
    size_t num_items;
    size_t capacity;
} node;

typedef struct reader {
    yaml_parser_t parser;
    yaml_event_t event;
    int has_event;
    assay_event_file *out;
    int *lines; /* of each event, for errors found at the end */
    int *columns;
    size_t num_lines;
    int seen; /* top-level keys so far, one bit each */
    assay_error *err;
} reader;

static int line_of(const yaml_mark_t *mark)
{
    return mark->line < 1000000000 ? (int)mark->line + 1 : 1000000000;
}

static int column_of(const yaml_mark_t *mark)
{
    return mark->column < 1000000000 ? (int)mark->column + 1 : 1000000000;
}

static void free_node(node *n)
{
    for (size_t i = 0; i < n->num_items; i++) {
        free_node(&n->items[i]);
    }
    free(n->items);
    free(n->text);
    memset(n, 0, sizeof *n);
}

/* Adds the place to an error that does not have one. */
static assay_status place(assay_error *err, assay_status status, int line,
                          int column)
{
    if (status != ASSAY_OK && err != NULL && err->line == 0) {
        err->line = line;
        err->column = column;
    }
    return status;
}

static assay_status next(reader *r)
{
    if (r->has_event) {
        yaml_event_delete(&r->event);
        r->has_event = 0;
    }
    if (!yaml_parser_parse(&r->parser, &r->event)) {
        const yaml_mark_t *m = &r->parser.problem_mark;
        return assay_fail_at(
            r->err, ASSAY_INVALID, line_of(m), column_of(m), "not YAML: %s",
            r->parser.problem != NULL ? r->parser.problem : "unreadable");
    }
    r->has_event = 1;
    return ASSAY_OK;
}

static assay_status wrong(reader *r, const char *message)
{
    const yaml_mark_t *m = &r->event.start_mark;
    return assay_fail_at(r->err, ASSAY_INVALID, line_of(m), column_of(m), "%s",
                         message);
}

static node *new_item(node *parent)
{
    if (parent->num_items == parent->capacity) {
        size_t wanted = parent->capacity == 0 ? 8 : 2 * parent->capacity;
        node *more = realloc(parent->items, wanted * sizeof *more);
        if (more == NULL) {
            return NULL;
        }
        parent->items = more;
        parent->capacity = wanted;
    }
    node *item = &parent->items[parent->num_items++];
    memset(item, 0, sizeof *item);
    return item;
}

static assay_status read_word(reader *r, node *out)
{
    size_t len = r->event.data.scalar.length;
    const char *text = (const char *)r->event.data.scalar.value;
    if (len > 2000 || memchr(text, '\0', len) != NULL) {
        return wrong(r, "a value is too long or holds a NUL");
    }
    out->kind = WORD;
    out->text = malloc(len + 1);
    if (out->text == NULL) {
        return assay_fail(r->err, ASSAY_MEMORY, "no memory for YAML");
    }
    memcpy(out->text, text, len);
    out->text[len] = '\0';
    return ASSAY_OK;
}

/* Reads the value whose first event is current. */
static assay_status read_node(reader *r, node *out, int depth)
{
    yaml_event_type_t type = r->event.type;
    out->line = line_of(&r->event.start_mark);
    out->column = column_of(&r->event.start_mark);
    if (type == YAML_SCALAR_EVENT) {
        return read_word(r, out);
    }
    if (type != YAML_SEQUENCE_START_EVENT && type != YAML_MAPPING_START_EVENT) {
        return wrong(r, "aliases are not allowed here");
    }
    if (depth >= MAX_DEPTH) {
        return wrong(r, "nested too deeply");
    }
    out->kind = type == YAML_MAPPING_START_EVENT ? MAP : LIST;
    assay_status status = next(r);
    while (status == ASSAY_OK && r->event.type != YAML_SEQUENCE_END_EVENT &&
           r->event.type != YAML_MAPPING_END_EVENT) {
        if (out->num_items >= MAX_ITEMS) {
            return wrong(r, "too many values in one place");
        }
        node *item = new_item(out);
        status = item != NULL ? read_node(r, item, depth + 1)
                              : assay_fail(r->err, ASSAY_MEMORY, "no memory");
        if (status == ASSAY_OK) {
            status = next(r);
        }
    }
    return status;
}

/* ---- nodes to events ---- */

static assay_status at(reader *r, assay_status status, const node *n)
{
    return place(r->err, status, n->line, n->column);
}

static const node *find(const node *map, const char *key)
{
    for (size_t i = 0; i + 1 < map->num_items; i += 2) {
        if (map->items[i].kind == WORD &&
            strcmp(map->items[i].text, key) == 0) {
            return &map->items[i + 1];
        }
    }
    return NULL;
}

static assay_status fail_at(reader *r, const node *n, const char *message)
{
    return assay_fail_at(r->err, ASSAY_INVALID, n->line, n->column, "%s",
                         message);
}

static assay_status to_curve(reader *r, assay_event *event, const node *list)
{
    if (event->mechanism != ASSAY_RENYI || list->kind != LIST ||
        list->num_items == 0 || list->num_items > 10000) {
        return fail_at(r, list, "curve: a list of [order, value], for renyi");
    }
    event->curve = calloc(2 * list->num_items, sizeof *event->curve);
    if (event->curve == NULL) {
        return assay_fail(r->err, ASSAY_MEMORY, "no memory for a curve");
    }
    event->num_orders = list->num_items;
    for (size_t i = 0; i < 2 * list->num_items; i++) {
        mpq_init(event->curve[i]);
    }
    for (size_t i = 0; i < 2 * list->num_items; i++) {
        const node *pair = &list->items[i / 2];
        if (pair->kind != LIST || pair->num_items != 2 ||
            pair->items[i % 2].kind != WORD) {
            return fail_at(r, pair, "curve: each entry is [order, value]");
        }
        assay_status s = assay_rational_parse(
            event->curve[i], pair->items[i % 2].text, "curve", r->err);
        if (s != ASSAY_OK) {
            return at(r, s, &pair->items[i % 2]);
        }
    }
    return ASSAY_OK;
}

static assay_status to_event(reader *r, assay_event *out, const node *map,
                             int depth);

static assay_status to_parts(reader *r, assay_event *event, const node *list,
                             int depth)
{
    if (event->mechanism != ASSAY_PARALLEL || list->kind != LIST ||
        list->num_items == 0 || depth > 0) {
        return fail_at(r, list, "parts: a list of events, for parallel");
    }
    event->parts = calloc(list->num_items, sizeof *event->parts);
    if (event->parts == NULL) {
        return assay_fail(r->err, ASSAY_MEMORY, "no memory for parts");
    }
    for (size_t i = 0; i < list->num_items; i++) {
        assay_status s =
            to_event(r, &event->parts[i], &list->items[i], depth + 1);
        if (s != ASSAY_OK) {
            return s;
        }
        event->num_parts++;
    }
    return ASSAY_OK;
}

static assay_status set_member(reader *r, assay_event *event, const node *key,
                               const node *value, int depth)
{
    if (strcmp(key->text, "mechanism") == 0) {
        return ASSAY_OK;
    }
    if (strcmp(key->text, "curve") == 0) {
        return to_curve(r, event, value);
    }
    if (strcmp(key->text, "parts") == 0) {
        return to_parts(r, event, value, depth);
    }
    if (value->kind != WORD) {
        return fail_at(r, value, "a single value is expected here");
    }
    return at(r, assay_event_set(event, key->text, value->text, r->err), value);
}

static assay_status check_keys(reader *r, const node *map)
{
    for (size_t i = 0; i + 1 < map->num_items; i += 2) {
        if (map->items[i].kind != WORD) {
            return fail_at(r, &map->items[i], "a key must be a word");
        }
        for (size_t j = 0; j < i; j += 2) {
            if (strcmp(map->items[i].text, map->items[j].text) == 0) {
                return fail_at(r, &map->items[i], "this key is there twice");
            }
        }
        if (i > 64) {
            return fail_at(r, map, "too many keys");
        }
    }
    return ASSAY_OK;
}

/* Which needed parameter was not given? */
static assay_status check_given(reader *r, const assay_event *event,
                                const node *map)
{
    assay_status status = assay_event_validate(event, r->err);
    if (status != ASSAY_OK) {
        return at(r, status, map);
    }
    const char *needed[][2] = {
        {"epsilon", NULL}, {"delta", NULL}, {"rho", NULL}};
    for (size_t i = 0; i < 3; i++) {
        assay_mechanism m = event->mechanism;
        int needs =
            (i == 0 && (m == ASSAY_PURE || m == ASSAY_APPROXIMATE ||
                        m == ASSAY_EXPONENTIAL || m == ASSAY_NOISY_MAX ||
                        m == ASSAY_SHUFFLE || m == ASSAY_PERMUTE_AND_FLIP ||
                        m == ASSAY_UNKNOWN_KEYS)) ||
            (i == 1 && (m == ASSAY_APPROXIMATE || m == ASSAY_SHUFFLE ||
                        m == ASSAY_UNKNOWN_KEYS)) ||
            (i == 2 && m == ASSAY_ZCDP);
        if (needs && find(map, needed[i][0]) == NULL) {
            return at(r,
                      assay_fail(r->err, ASSAY_INVALID, "%s needs %s",
                                 assay_mechanism_name(m), needed[i][0]),
                      map);
        }
    }
    if (event->sampling == ASSAY_SAMPLE_POISSON && find(map, "rate") == NULL) {
        return fail_at(r, map, "sampling: poisson needs a rate");
    }
    return ASSAY_OK;
}

static assay_status to_event(reader *r, assay_event *out, const node *map,
                             int depth)
{
    if (map->kind != MAP) {
        return fail_at(r, map, "an event is a map {mechanism: ..., ...}");
    }
    assay_status status = check_keys(r, map);
    if (status != ASSAY_OK) {
        return status;
    }
    const node *name = find(map, "mechanism");
    assay_mechanism mechanism = ASSAY_PURE;
    if (name == NULL || name->kind != WORD) {
        return fail_at(r, map, "an event needs a mechanism");
    }
    status = at(r, assay_mechanism_parse(&mechanism, name->text, r->err), name);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_event_init(out, mechanism);
    for (size_t i = 0; i + 1 < map->num_items && status == ASSAY_OK; i += 2) {
        status = set_member(r, out, &map->items[i], &map->items[i + 1], depth);
    }
    if (status == ASSAY_OK) {
        status = check_given(r, out, map);
    }
    if (status != ASSAY_OK) {
        assay_event_clear(out);
    }
    return status;
}

/* ---- the file ---- */

static assay_status remember_place(reader *r, const node *n)
{
    size_t i = r->num_lines;
    if ((i & (i - 1)) == 0) {
        size_t room = i == 0 ? 1 : 2 * i;
        int *lines = realloc(r->lines, room * sizeof *lines);
        if (lines == NULL) {
            return assay_fail(r->err, ASSAY_MEMORY, "no memory for YAML");
        }
        r->lines = lines;
        int *columns = realloc(r->columns, room * sizeof *columns);
        if (columns == NULL) {
            return assay_fail(r->err, ASSAY_MEMORY, "no memory for YAML");
        }
        r->columns = columns;
    }
    r->lines[i] = n->line;
    r->columns[i] = n->column;
    r->num_lines++;
    return ASSAY_OK;
}

/* Moves the event into the list; the list's relation is checked at the end. */
static assay_status take_event(reader *r, const node *map)
{
    assay_event event;
    assay_event_list *list = &r->out->list;
    assay_status status = to_event(r, &event, map, 0);
    if (status != ASSAY_OK) {
        return status;
    }
    if (list->num_events == list->capacity) {
        size_t wanted = list->capacity == 0 ? 8 : 2 * list->capacity;
        assay_event *more = realloc(list->events, wanted * sizeof *more);
        if (more == NULL) {
            assay_event_clear(&event);
            return assay_fail(r->err, ASSAY_MEMORY, "no memory for events");
        }
        list->events = more;
        list->capacity = wanted;
    }
    list->events[list->num_events++] = event;
    return remember_place(r, map);
}

static assay_status read_events(reader *r)
{
    if (r->event.type != YAML_SEQUENCE_START_EVENT) {
        return wrong(r, "events: a list is expected");
    }
    assay_status status = next(r);
    while (status == ASSAY_OK && r->event.type != YAML_SEQUENCE_END_EVENT) {
        node item = {0};
        if (r->num_lines >= ASSAY_YAML_MAX_EVENTS) {
            return wrong(r, "more than a million events; use counts");
        }
        status = read_node(r, &item, 1);
        if (status == ASSAY_OK) {
            status = take_event(r, &item);
        }
        free_node(&item);
        if (status == ASSAY_OK) {
            status = next(r);
        }
    }
    return status;
}

static assay_status set_unit(reader *r, const node *value)
{
    if (value->text[0] == '\0' || strlen(value->text) >= ASSAY_UNIT_LEN) {
        return fail_at(r, value, "unit: a short word is expected");
    }
    memset(r->out->list.unit, 0, ASSAY_UNIT_LEN);
    memcpy(r->out->list.unit, value->text, strlen(value->text));
    return ASSAY_OK;
}

static assay_status set_delta(reader *r, const node *value)
{
    assay_status s =
        assay_rational_parse(r->out->delta, value->text, "delta", r->err);
    if (s == ASSAY_OK &&
        (mpq_sgn(r->out->delta) < 0 || mpq_cmp_ui(r->out->delta, 1, 1) >= 0)) {
        s = assay_fail(r->err, ASSAY_INVALID, "delta must lie in [0, 1)");
    }
    r->out->has_delta = 1;
    return at(r, s, value);
}

static assay_status set_epsilon(reader *r, const node *value)
{
    assay_status s =
        assay_rational_parse(r->out->epsilon, value->text, "epsilon", r->err);
    if (s == ASSAY_OK && mpq_sgn(r->out->epsilon) < 0) {
        s = assay_fail(r->err, ASSAY_INVALID, "epsilon must not be negative");
    }
    r->out->has_epsilon = 1;
    return at(r, s, value);
}

static assay_status set_neighbours(reader *r, const node *value)
{
    return at(
        r,
        assay_neighbours_parse(&r->out->list.neighbours, value->text, r->err),
        value);
}

static assay_status set_top(reader *r, const node *key, const node *value)
{
    static const struct {
        const char *key;
        assay_status (*set)(reader *, const node *);
    } keys[] = {{"neighbours", set_neighbours},
                {"unit", set_unit},
                {"delta", set_delta},
                {"epsilon", set_epsilon}};
    for (int i = 0; i < 4 && key->text != NULL; i++) {
        if (strcmp(key->text, keys[i].key) != 0) {
            continue;
        }
        if (r->seen & (1 << i)) {
            return fail_at(r, key, "this key is there twice");
        }
        r->seen |= 1 << i;
        return value->kind == WORD ? keys[i].set(r, value)
                                   : fail_at(r, value, "a word is expected");
    }
    return at(r,
              assay_fail(r->err, ASSAY_INVALID,
                         "unknown key '%.40s'; known are neighbours, unit, "
                         "delta, epsilon, events",
                         key->text),
              key);
}

static assay_status read_pair(reader *r)
{
    node key = {0};
    node value = {0};
    assay_status status = read_node(r, &key, 1);
    if (status == ASSAY_OK && key.kind != WORD) {
        status = fail_at(r, &key, "a key must be a word");
    }
    if (status == ASSAY_OK) {
        status = next(r);
    }
    if (status == ASSAY_OK && key.text != NULL &&
        strcmp(key.text, "events") == 0) {
        if (r->seen & 16) {
            status = fail_at(r, &key, "this key is there twice");
        }
        r->seen |= 16;
        status = status == ASSAY_OK ? read_events(r) : status;
    } else if (status == ASSAY_OK) {
        status = read_node(r, &value, 1);
        status = status == ASSAY_OK ? set_top(r, &key, &value) : status;
    }
    free_node(&key);
    free_node(&value);
    return status;
}

static assay_status check_relation(reader *r)
{
    const assay_event_list *list = &r->out->list;
    if (!(r->seen & 16) || list->num_events == 0) {
        return assay_fail_at(r->err, ASSAY_INVALID, 1, 1,
                             "no events: write 'events:' and a list");
    }
    for (size_t i = 0; i < list->num_events; i++) {
        assay_status s = assay_event_validate_for(&list->events[i],
                                                  list->neighbours, r->err);
        if (s != ASSAY_OK) {
            return place(r->err, s, r->lines[i], r->columns[i]);
        }
    }
    return ASSAY_OK;
}

static assay_status read_document(reader *r)
{
    assay_status status = next(r); /* stream start */
    if (status == ASSAY_OK) {
        status = next(r);
    }
    if (status == ASSAY_OK && r->event.type == YAML_DOCUMENT_START_EVENT) {
        status = next(r);
    }
    if (status == ASSAY_OK && r->event.type != YAML_MAPPING_START_EVENT) {
        status = wrong(r, "an event file is a map with 'events:'");
    }
    if (status == ASSAY_OK) {
        status = next(r);
    }
    while (status == ASSAY_OK && r->event.type != YAML_MAPPING_END_EVENT) {
        status = read_pair(r);
        if (status == ASSAY_OK) {
            status = next(r);
        }
    }
    for (int i = 0; i < 2 && status == ASSAY_OK; i++) {
        status = next(r); /* document end, stream end */
    }
    if (status == ASSAY_OK && r->event.type != YAML_STREAM_END_EVENT) {
        status = wrong(r, "only one YAML document is allowed");
    }
    return status == ASSAY_OK ? check_relation(r) : status;
}

void assay_event_file_clear(assay_event_file *file)
{
    assay_event_list_clear(&file->list);
    mpq_clear(file->delta);
    mpq_clear(file->epsilon);
    memset(file, 0, sizeof *file);
}

assay_status assay_event_file_parse(assay_event_file *out, const char *text,
                                    size_t len, assay_error *err)
{
    reader r = {.out = out, .err = err};
    if (len > ASSAY_YAML_MAX_BYTES) {
        return assay_fail_at(err, ASSAY_INVALID, 1, 1,
                             "the file is above 8 MB; use counts");
    }
    if (!yaml_parser_initialize(&r.parser)) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for YAML");
    }
    memset(out, 0, sizeof *out);
    assay_event_list_init(&out->list, ASSAY_ADD_REMOVE, NULL);
    mpq_init(out->delta);
    mpq_init(out->epsilon);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    assay_status status = read_document(&r);
    if (r.has_event) {
        yaml_event_delete(&r.event);
    }
    yaml_parser_delete(&r.parser);
    free(r.lines);
    free(r.columns);
    if (status != ASSAY_OK) {
        assay_event_file_clear(out);
    }
    return status;
}

assay_status assay_event_file_read(assay_event_file *out, const char *path,
                                   assay_error *err)
{
    char *text = NULL;
    size_t len = 0;
    assay_status status =
        assay_read_file(&text, &len, path, ASSAY_YAML_MAX_BYTES, err);
    if (status != ASSAY_OK) {
        return place(err, status,
                     status == ASSAY_INVALID || status == ASSAY_RANGE ? 1 : 0,
                     1);
    }
    status = assay_event_file_parse(out, text, len, err);
    free(text);
    return status;
}
