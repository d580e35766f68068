/* ring: glue */
/* Events by key and text, and as canonical JSON. */
#include <stdlib.h>
#include <string.h>

#include "accountant/event_fields.h"
#include "core/rational.h"

#define MAX_DEPTH_PARTS 100000

static unsigned all_fields(const assay_event *event)
{
    return assay_event_needs(event->mechanism) |
           assay_event_takes(event->mechanism);
}

static assay_status refuse_key(const assay_event *event, const char *key,
                               assay_error *err)
{
    return assay_fail(err, ASSAY_INVALID, "%s does not take '%.40s'",
                      assay_mechanism_name(event->mechanism), key);
}

static int is_gaussian(const assay_event *event)
{
    return (all_fields(event) & ASSAY_F_SIGMA2) != 0;
}

/* sigma, a Gaussian's sensitivity (l2) and mu: stored squared. */
static assay_status set_square(assay_event *event, const char *key,
                               const char *text, int *done, assay_error *err)
{
    int sigma = strcmp(key, "sigma") == 0 && is_gaussian(event);
    int l2 = strcmp(key, "sensitivity") == 0 &&
             (all_fields(event) & ASSAY_F_SENSITIVITY2) != 0;
    int mu = strcmp(key, "mu") == 0 && event->mechanism == ASSAY_GAUSSIAN_DP;
    *done = sigma || l2 || mu;
    if (!*done) {
        return ASSAY_OK;
    }
    mpq_t value;
    mpq_init(value);
    assay_status status = assay_rational_parse_positive(value, text, key, err);
    if (status == ASSAY_OK) {
        mpq_mul(l2 ? event->sensitivity2 : event->sigma2, value, value);
        if (mu) {
            mpq_inv(event->sigma2, event->sigma2);
        }
    }
    mpq_clear(value);
    return status;
}

static assay_status set_sampling(assay_event *event, const char *text,
                                 assay_error *err)
{
    for (int i = 0; i <= ASSAY_SAMPLE_WITHOUT_REPLACEMENT; i++) {
        if (strcmp(text, assay_sampling_name((assay_sampling)i)) == 0) {
            event->sampling = (assay_sampling)i;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_INVALID,
                      "sampling: '%.40s' is none of all, poisson, "
                      "without-replacement",
                      text);
}

static assay_status set_flag(int *flag, const char *key, const char *text,
                             assay_error *err)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s: '%.40s' is not true or false", key, text);
    }
    *flag = text[0] == 't';
    return ASSAY_OK;
}

static assay_status set_label(assay_event *event, const char *text,
                              assay_error *err)
{
    if (strlen(text) >= sizeof event->label) {
        return assay_fail(err, ASSAY_INVALID, "label: longer than %zu bytes",
                          sizeof event->label - 1);
    }
    memset(event->label, 0, sizeof event->label);
    memcpy(event->label, text, strlen(text));
    return ASSAY_OK;
}

static assay_status set_leaves(assay_event *event, const char *text,
                               assay_error *err)
{
    uint64_t leaves = 0;
    assay_status status = assay_u64_parse(&leaves, text, "leaves", err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (leaves < 1) {
        return assay_fail(err, ASSAY_INVALID, "leaves: must be at least 1");
    }
    /* a record touches floor(log2 K) + 1 nodes */
    for (event->levels = 0; leaves > 0; leaves /= 2) {
        event->levels++;
    }
    return ASSAY_OK;
}

static assay_status set_word(assay_event *event, const char *key,
                             const char *text, int *done, assay_error *err)
{
    *done = 1;
    if (strcmp(key, "sampling") == 0) {
        return set_sampling(event, text, err);
    }
    if (strcmp(key, "label") == 0) {
        return set_label(event, text, err);
    }
    if (strcmp(key, "assumed") == 0) {
        return set_flag(&event->assumed, key, text, err);
    }
    if (strcmp(key, "monotone") == 0 &&
        event->mechanism == ASSAY_SPARSE_VECTOR) {
        return set_flag(&event->monotone, key, text, err);
    }
    if (strcmp(key, "leaves") == 0 &&
        (all_fields(event) & ASSAY_F_LEVELS) != 0) {
        return set_leaves(event, text, err);
    }
    *done = 0;
    return ASSAY_OK;
}

assay_status assay_event_set(assay_event *event, const char *key,
                             const char *text, assay_error *err)
{
    int done = 0;
    assay_status status = set_word(event, key, text, &done, err);
    if (status != ASSAY_OK || done) {
        return status;
    }
    status = set_square(event, key, text, &done, err);
    if (status != ASSAY_OK || done) {
        return status;
    }
    unsigned fields = all_fields(event);
    for (const assay_rational_field *f = assay_rational_fields; f->key; f++) {
        if (strcmp(key, f->key) == 0 && (!f->field || (f->field & fields))) {
            return assay_rational_parse(assay_event_rational(event, f), text,
                                        key, err);
        }
    }
    for (const assay_count_field *f = assay_count_fields; f->key; f++) {
        if (strcmp(key, f->key) == 0 && (!f->field || (f->field & fields))) {
            return assay_u64_parse(assay_event_count(event, f), text, key, err);
        }
    }
    return refuse_key(event, key, err);
}

/* ---- writing ---- */

static int put_rational(json_t *object, const char *key, const mpq_t value)
{
    char *text = assay_rational_text(value);
    int bad = text == NULL ||
              json_object_set_new(object, key, json_string(text)) != 0;
    free(text);
    return bad;
}

static int is_default(const assay_event *event, const char *key, mpq_srcptr q)
{
    int one = strcmp(key, "coin") == 0 || strcmp(key, "rate") == 0;
    (void)event;
    return one && mpq_cmp_ui(q, 1, 1) == 0;
}

static int put_fields(json_t *object, const assay_event *event)
{
    unsigned fields = all_fields(event);
    int bad = 0;
    for (const assay_rational_field *f = assay_rational_fields; f->key; f++) {
        mpq_srcptr q = assay_event_rational(event, f);
        if ((f->field && !(f->field & fields)) ||
            is_default(event, f->key, q)) {
            continue;
        }
        bad |= put_rational(object, f->key, q);
    }
    for (const assay_count_field *f = assay_count_fields; f->key; f++) {
        uint64_t n = *assay_event_count(event, f);
        int plain =
            (f->offset == offsetof(assay_event, group) && n == 1) || n == 0;
        if ((f->field && !(f->field & fields)) || plain) {
            continue;
        }
        bad |= json_object_set_new(object, f->key, json_integer((json_int_t)n));
    }
    return bad;
}

static int put_words(json_t *object, const assay_event *event)
{
    int bad = json_object_set_new(
        object, "mechanism",
        json_string(assay_mechanism_name(event->mechanism)));
    if (event->sampling != ASSAY_SAMPLE_ALL) {
        bad |= json_object_set_new(
            object, "sampling",
            json_string(assay_sampling_name(event->sampling)));
    }
    if (event->monotone) {
        bad |= json_object_set_new(object, "monotone", json_true());
    }
    if (event->assumed) {
        bad |= json_object_set_new(object, "assumed", json_true());
    }
    if (event->label[0] != '\0') {
        bad |= json_object_set_new(object, "label", json_string(event->label));
    }
    return bad;
}

static int put_curve(json_t *object, const assay_event *event)
{
    if (event->num_orders == 0) {
        return 0;
    }
    json_t *curve = json_array();
    int bad = json_object_set_new(object, "curve", curve);
    for (size_t i = 0; i < event->num_orders && !bad; i++) {
        char *order = assay_rational_text(event->curve[2 * i]);
        char *value = assay_rational_text(event->curve[2 * i + 1]);
        bad |= json_array_append_new(curve, json_pack("[s,s]", order, value));
        free(order);
        free(value);
    }
    return bad;
}

static assay_status put_parts(json_t *object, const assay_event *event,
                              assay_error *err)
{
    if (event->num_parts == 0) {
        return ASSAY_OK;
    }
    json_t *parts = json_array();
    if (json_object_set_new(object, "parts", parts) != 0) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    for (size_t i = 0; i < event->num_parts; i++) {
        json_t *part = NULL;
        assay_status s = assay_event_to_json(&part, &event->parts[i], err);
        if (s != ASSAY_OK) {
            return s;
        }
        (void)json_array_append_new(parts, part);
    }
    return ASSAY_OK;
}

assay_status assay_event_to_json(json_t **out, const assay_event *event,
                                 assay_error *err)
{
    json_t *object = json_object();
    int bad = object == NULL || put_words(object, event) ||
              put_fields(object, event) || put_curve(object, event);
    assay_status status =
        bad ? assay_fail(err, ASSAY_INVALID,
                         "an event cannot be written as JSON: its label is not "
                         "UTF-8, or there is no memory")
            : put_parts(object, event, err);
    if (status != ASSAY_OK) {
        json_decref(object);
        return status;
    }
    *out = object;
    return ASSAY_OK;
}

assay_status assay_event_text(char **out, const assay_event *event,
                              assay_error *err)
{
    json_t *json = NULL;
    assay_status status = assay_event_to_json(&json, event, err);
    if (status != ASSAY_OK) {
        return status;
    }
    *out = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(json);
    return *out != NULL ? ASSAY_OK
                        : assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
}

int assay_event_same_kind(const assay_event *a, const assay_event *b)
{
    char *x = NULL;
    char *y = NULL;
    assay_event one = *a; /* shallow: only count and label differ */
    assay_event two = *b;
    one.count = two.count = 1;
    memset(one.label, 0, sizeof one.label);
    memset(two.label, 0, sizeof two.label);
    int same = a->mechanism == b->mechanism && a->sampling == b->sampling &&
               assay_event_text(&x, &one, NULL) == ASSAY_OK &&
               assay_event_text(&y, &two, NULL) == ASSAY_OK &&
               strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

/* ---- reading ---- */

/* Exact text of a scalar: strings and integers; a JSON real is refused, it
   has already been rounded. */
static assay_status scalar_text(char out[1100], const json_t *value,
                                const char *key, assay_error *err)
{
    if (json_is_string(value) && json_string_length(value) < 1100 &&
        strlen(json_string_value(value)) == json_string_length(value)) {
        memcpy(out, json_string_value(value), json_string_length(value) + 1);
        return ASSAY_OK;
    }
    if (json_is_integer(value)) {
        (void)snprintf(out, 1100, "%lld", (long long)json_integer_value(value));
        return ASSAY_OK;
    }
    if (json_is_boolean(value)) {
        (void)snprintf(out, 1100, "%s", json_is_true(value) ? "true" : "false");
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_INVALID,
                      "%.40s: write the exact number as text, \"1.1\" or "
                      "\"11/10\"",
                      key);
}

static assay_status read_curve(assay_event *event, const json_t *value,
                               assay_error *err)
{
    size_t n = json_array_size(value);
    if (event->mechanism != ASSAY_RENYI || n < 1 || n > 10000 || event->curve) {
        return assay_fail(err, ASSAY_INVALID,
                          "curve: a list of [order, value], for renyi only");
    }
    event->curve = calloc(2 * n, sizeof *event->curve);
    if (event->curve == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a Renyi curve");
    }
    for (size_t i = 0; i < 2 * n; i++) {
        mpq_init(event->curve[i]);
    }
    event->num_orders = n;
    for (size_t i = 0; i < 2 * n; i++) {
        char text[1100];
        const json_t *item =
            json_array_get(json_array_get(value, i / 2), i % 2);
        assay_status s = scalar_text(text, item, "curve", err);
        if (s == ASSAY_OK) {
            s = assay_rational_parse(event->curve[i], text, "curve", err);
        }
        if (s != ASSAY_OK) {
            return s;
        }
    }
    return ASSAY_OK;
}

static assay_status read_event(assay_event *out, const json_t *json,
                               unsigned depth, assay_error *err);

static assay_status read_parts(assay_event *event, const json_t *value,
                               unsigned depth, assay_error *err)
{
    size_t n = json_array_size(value);
    if (event->mechanism != ASSAY_PARALLEL || n < 1 || n > MAX_DEPTH_PARTS ||
        depth > 0 || event->parts) {
        return assay_fail(err, ASSAY_INVALID,
                          "parts: a list of events, for parallel only");
    }
    event->parts = calloc(n, sizeof *event->parts);
    if (event->parts == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for parts");
    }
    for (size_t i = 0; i < n; i++) {
        assay_status s = read_event(&event->parts[i], json_array_get(value, i),
                                    depth + 1, err);
        if (s != ASSAY_OK) {
            return s;
        }
        event->num_parts++;
    }
    return ASSAY_OK;
}

static assay_status read_member(assay_event *event, const char *key,
                                const json_t *value, unsigned depth,
                                assay_error *err)
{
    char text[1100];
    if (strcmp(key, "curve") == 0) {
        return read_curve(event, value, err);
    }
    if (strcmp(key, "parts") == 0) {
        return read_parts(event, value, depth, err);
    }
    assay_status status = scalar_text(text, value, key, err);
    return status != ASSAY_OK ? status : assay_event_set(event, key, text, err);
}

static assay_status read_event(assay_event *out, const json_t *json,
                               unsigned depth, assay_error *err)
{
    const char *name = json_string_value(json_object_get(json, "mechanism"));
    assay_mechanism mechanism;
    if (name == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "an event is an object with a 'mechanism'");
    }
    assay_status status = assay_mechanism_parse(&mechanism, name, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_event_init(out, mechanism);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(size_t)json, key, value)
    {
        if (strcmp(key, "mechanism") != 0 && status == ASSAY_OK) {
            status = read_member(out, key, value, depth, err);
        }
    }
    if (status == ASSAY_OK) {
        status = assay_event_validate(out, err);
    }
    if (status != ASSAY_OK) {
        assay_event_clear(out);
    }
    return status;
}

assay_status assay_event_from_json(assay_event *out, const json_t *json,
                                   assay_error *err)
{
    return read_event(out, json, 0, err);
}

/* ---- lists ---- */

assay_status assay_event_list_to_json(json_t **out,
                                      const assay_event_list *list,
                                      assay_error *err)
{
    json_t *events = json_array();
    json_t *object = json_pack("{s:s,s:s,s:o}", "neighbours",
                               assay_neighbours_name(list->neighbours), "unit",
                               list->unit, "events", events);
    if (object == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    for (size_t i = 0; i < list->num_events; i++) {
        json_t *event = NULL;
        assay_status s = assay_event_to_json(&event, &list->events[i], err);
        if (s != ASSAY_OK) {
            json_decref(object);
            return s;
        }
        (void)json_array_append_new(events, event);
    }
    *out = object;
    return ASSAY_OK;
}

static assay_status read_list_events(assay_event_list *out,
                                     const json_t *events, assay_error *err)
{
    for (size_t i = 0; i < json_array_size(events); i++) {
        assay_event event;
        assay_status s =
            assay_event_from_json(&event, json_array_get(events, i), err);
        if (s == ASSAY_OK) {
            s = assay_event_list_add(out, &event, err);
            assay_event_clear(&event);
        }
        if (s != ASSAY_OK) {
            return s;
        }
    }
    return ASSAY_OK;
}

assay_status assay_event_list_from_json(assay_event_list *out,
                                        const json_t *json, assay_error *err)
{
    const char *relation =
        json_string_value(json_object_get(json, "neighbours"));
    const char *unit = json_string_value(json_object_get(json, "unit"));
    const json_t *events = json_object_get(json, "events");
    assay_neighbours neighbours = ASSAY_ADD_REMOVE;
    assay_status status = ASSAY_OK;
    if (relation != NULL) {
        status = assay_neighbours_parse(&neighbours, relation, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    if (!json_is_array(events) ||
        (unit != NULL && strlen(unit) >= ASSAY_UNIT_LEN)) {
        return assay_fail(err, ASSAY_INVALID,
                          "an event list has 'events' and a short 'unit'");
    }
    assay_event_list_init(out, neighbours, unit);
    status = read_list_events(out, events, err);
    if (status != ASSAY_OK) {
        assay_event_list_clear(out);
    }
    return status;
}
