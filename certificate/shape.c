/* ring: glue */
#include "certificate/shape.h"

#include <gmp.h>
#include <string.h>

#include "core/rational.h"

static const assay_shape_field data_fields[] = {
    {"source", ASSAY_FIELD_WORD, 1, "environment population file", NULL,
     "simulated trajectories, simulated persons, or a CSV file"},
    {"environment", ASSAY_FIELD_TEXT, 0, NULL, NULL,
     "which simulated world (assay data generate --help)"},
    {"population", ASSAY_FIELD_WORD, 0, "census", NULL,
     "which simulated population"},
    {"path", ASSAY_FIELD_TEXT, 0, NULL, NULL,
     "a CSV file, relative to the manifest"},
    {"users", ASSAY_FIELD_COUNT, 0, NULL, NULL,
     "how many persons; public under replace-one"},
    {"seed", ASSAY_FIELD_COUNT, 0, NULL, NULL,
     "of the simulated world, never of the noise"},
    {"person", ASSAY_FIELD_TEXT, 0, NULL, NULL,
     "tables: the column that says whose record it is"},
    {"per-person", ASSAY_FIELD_COUNT, 0, NULL, NULL,
     "tables: the first so many records of a person count (1)"},
    {"states", ASSAY_FIELD_COUNT, 0, NULL, NULL, "trajectory files: S"},
    {"actions", ASSAY_FIELD_COUNT, 0, NULL, NULL, "trajectory files: A"},
    {"horizon", ASSAY_FIELD_COUNT, 0, NULL, NULL, "trajectory files: H"},
    {"rewards", ASSAY_FIELD_TEXT, 0, NULL, NULL,
     "trajectory files: the public rewards, relative to the manifest"},
    {"about", ASSAY_FIELD_TEXT, 1, NULL, NULL,
     "what a record is and where it comes from, in words"},
    {NULL, ASSAY_FIELD_TEXT, 0, NULL, NULL, NULL}};

static const assay_shape_field privacy_fields[] = {
    {"unit", ASSAY_FIELD_TEXT, 1, NULL, NULL,
     "whose whole contribution is protected, e.g. person, trajectory"},
    {"neighbours", ASSAY_FIELD_WORD, 1, "add-remove replace-one", NULL,
     "how neighbouring datasets differ"},
    {"trust", ASSAY_FIELD_WORD, 1, "central joint local", NULL,
     "who sees raw data"},
    {NULL, ASSAY_FIELD_TEXT, 0, NULL, NULL, NULL}};

static const assay_shape_field budget_fields[] = {
    {"epsilon", ASSAY_FIELD_POSITIVE, 0, NULL, NULL, "limit at delta"},
    {"delta", ASSAY_FIELD_FRACTION, 1, NULL, NULL,
     "of the certified (epsilon, delta); below 1/users"},
    {"rho", ASSAY_FIELD_POSITIVE, 0, NULL, NULL, "limit in zCDP"},
    {NULL, ASSAY_FIELD_TEXT, 0, NULL, NULL, NULL}};

static const assay_shape_field learner_fields[] = {
    {"algorithm", ASSAY_FIELD_WORD, 1, "dp-apvi ucb-vi ucb-po", NULL,
     "offline: dp-apvi; online: ucb-vi, ucb-po"},
    {"noise", ASSAY_FIELD_WORD, 1, "gaussian laplace", NULL,
     "gaussian goes with rho, laplace with epsilon"},
    {"rho", ASSAY_FIELD_POSITIVE, 0, NULL, NULL, "spent by gaussian noise"},
    {"epsilon", ASSAY_FIELD_POSITIVE, 0, NULL, NULL, "spent by laplace noise"},
    {"preset", ASSAY_FIELD_WORD, 0, "practical paper", NULL,
     "dp-apvi: weights of the penalty"},
    {"triples-only", ASSAY_FIELD_FLAG, 0, NULL, NULL,
     "dp-apvi: release the (s, a, s') counts alone"},
    {"episodes", ASSAY_FIELD_COUNT, 0, NULL, NULL, "online: K, public"},
    {NULL, ASSAY_FIELD_TEXT, 0, NULL, NULL, NULL}};

static const assay_shape_field release_fields[] = {
    {"name", ASSAY_FIELD_TEXT, 1, NULL, NULL, "of the statistic"},
    {"statistic", ASSAY_FIELD_WORD, 1,
     "count histogram sum mean quantile mechanism", NULL,
     "mechanism: somebody else's code, on its author's word"},
    {"column", ASSAY_FIELD_TEXT, 0, NULL, NULL, "count: of this column"},
    {"equals", ASSAY_FIELD_TEXT, 0, NULL, NULL, "count: with this value"},
    {"by", ASSAY_FIELD_TEXTS, 0, NULL, NULL,
     "histogram: over these columns' declared values"},
    {"bounds", ASSAY_FIELD_TEXTS, 0, NULL, NULL,
     "files: values are clamped to [lo, hi]; choose without the data"},
    {"categories", ASSAY_FIELD_TEXTS, 0, NULL, NULL,
     "files, histogram: the words; the rest is 'other'"},
    {"bins", ASSAY_FIELD_COUNT, 0, NULL, NULL,
     "files, histogram: equal parts of the bounds"},
    {"quantile", ASSAY_FIELD_FRACTION, 0, NULL, NULL,
     "files, quantile: 1/2 is the median"},
    {"noise", ASSAY_FIELD_WORD, 0, "gaussian laplace", NULL,
     "gaussian goes with rho, laplace with epsilon"},
    {"rho", ASSAY_FIELD_POSITIVE, 0, NULL, NULL, "spent by gaussian noise"},
    {"epsilon", ASSAY_FIELD_POSITIVE, 0, NULL, NULL,
     "spent by laplace noise or a file's statistic, or claimed by a "
     "mechanism"},
    {"scale", ASSAY_FIELD_POSITIVE, 0, NULL, NULL,
     "mechanism: the scale of the Laplace noise it adds"},
    {"changes", ASSAY_FIELD_COUNT, 0, NULL, NULL,
     "mechanism: how many counts one person changes by 1, at most"},
    {"algorithm", ASSAY_FIELD_WORD, 0, "dp-apvi ucb-vi ucb-po", NULL,
     "mechanism: whose constants these are"},
    {"specimen", ASSAY_FIELD_TEXT, 0, NULL, NULL,
     "mechanism: its name in the audit's collection instead"},
    {NULL, ASSAY_FIELD_TEXT, 0, NULL, NULL, NULL}};

static const assay_shape_field audit_fields[] = {
    {"runs", ASSAY_FIELD_COUNT, 1, NULL, NULL,
     "of the mechanism on each of two neighbours"},
    {"confidence", ASSAY_FIELD_FRACTION, 1, NULL, NULL,
     "of the audit's statements"},
    {NULL, ASSAY_FIELD_TEXT, 0, NULL, NULL, NULL}};

const assay_shape_field assay_manifest_fields[] = {
    {"assay", ASSAY_FIELD_WORD, 1, "1", NULL, "version of this format"},
    {"name", ASSAY_FIELD_TEXT, 1, NULL, NULL, "of the deployment"},
    {"purpose", ASSAY_FIELD_TEXT, 1, NULL, NULL,
     "what is released, to whom, what for"},
    {"data", ASSAY_FIELD_MAP, 1, NULL, data_fields, "where records come from"},
    {"privacy", ASSAY_FIELD_MAP, 1, NULL, privacy_fields,
     "what is promised to whom"},
    {"budget", ASSAY_FIELD_MAP, 1, NULL, budget_fields,
     "the limit; at least one of epsilon and rho"},
    {"learner", ASSAY_FIELD_MAP, 0, NULL, learner_fields,
     "a policy is learned and published; or releases"},
    {"releases", ASSAY_FIELD_MAPS, 0, NULL, release_fields,
     "statistics that are published; or a learner"},
    {"audit", ASSAY_FIELD_MAP, 1, NULL, audit_fields,
     "the attack on the mechanism"},
    {"output", ASSAY_FIELD_TEXT, 0, NULL, NULL,
     "the folder to write, relative to the current one; -o wins"},
    {NULL, ASSAY_FIELD_TEXT, 0, NULL, NULL, NULL}};

/* ---- reading ---- */

/* Whether `word` is one of the blank-separated `words`. */
static int one_of(const char *word, const char *words)
{
    size_t len = strlen(word);
    for (const char *at = words; len > 0 && *at != '\0';) {
        size_t here = strcspn(at, " ");
        if (here == len && strncmp(at, word, len) == 0) {
            return 1;
        }
        at += here + (at[here] == ' ');
    }
    return 0;
}

static assay_status need_kind(const assay_yaml *item, assay_yaml_kind kind,
                              assay_error *err)
{
    static const char *const names[] = {"one value", "a list", "a map of keys"};
    if (item->kind == kind) {
        return ASSAY_OK;
    }
    return assay_yaml_fail(item, err, "'%.40s' must be %s", item->key,
                           names[kind]);
}

static assay_status check_number(const assay_yaml *item,
                                 const assay_shape_field *field,
                                 assay_error *err)
{
    mpq_t value;
    assay_error inner = ASSAY_ERROR_INIT;
    mpq_init(value);
    assay_status status =
        assay_rational_parse_positive(value, item->text, field->key, &inner);
    if (status == ASSAY_OK && field->kind == ASSAY_FIELD_FRACTION &&
        mpq_cmp_ui(value, 1, 1) >= 0) {
        status = assay_fail(&inner, ASSAY_INVALID, "%s must lie in (0, 1)",
                            field->key);
    }
    mpq_clear(value);
    return status == ASSAY_OK ? ASSAY_OK
                              : assay_yaml_fail(item, err, "%s", inner.message);
}

static assay_status check_count(const assay_yaml *item, assay_error *err)
{
    uint64_t n = 0;
    assay_error inner = ASSAY_ERROR_INIT;
    if (assay_u64_parse(&n, item->text, item->key, &inner) != ASSAY_OK) {
        return assay_yaml_fail(item, err, "%s", inner.message);
    }
    if (n < 1 || n > (UINT64_C(1) << 62)) {
        return assay_yaml_fail(item, err, "%s must be from 1 to 2^62",
                               item->key);
    }
    return ASSAY_OK;
}

static assay_status check_word(const assay_yaml *item,
                               const assay_shape_field *field, assay_error *err)
{
    switch (field->kind) {
    case ASSAY_FIELD_WORD:
        if (!one_of(item->text, field->words)) {
            return assay_yaml_fail(item, err, "%s: '%.60s' is none of: %s",
                                   field->key, item->text, field->words);
        }
        return ASSAY_OK;
    case ASSAY_FIELD_FLAG:
        if (!one_of(item->text, "true false")) {
            return assay_yaml_fail(item, err, "%s: true or false, not '%.60s'",
                                   field->key, item->text);
        }
        return ASSAY_OK;
    case ASSAY_FIELD_POSITIVE:
    case ASSAY_FIELD_FRACTION:
        return check_number(item, field, err);
    case ASSAY_FIELD_COUNT:
        return check_count(item, err);
    default:
        return item->text[strspn(item->text, " \t\n")] != '\0'
                   ? ASSAY_OK
                   : assay_yaml_fail(item, err, "'%.40s' is empty",
                                     item->key != NULL ? item->key
                                                       : field->key);
    }
}

static assay_status check_list(const assay_yaml *item,
                               const assay_shape_field *field, assay_error *err)
{
    assay_status status = need_kind(item, ASSAY_YAML_LIST, err);
    if (status == ASSAY_OK && item->num_items == 0) {
        return assay_yaml_fail(item, err, "'%s' is empty", field->key);
    }
    for (size_t i = 0; status == ASSAY_OK && i < item->num_items; i++) {
        const assay_yaml *part = &item->items[i];
        if (field->kind == ASSAY_FIELD_MAPS) {
            status = part->kind == ASSAY_YAML_MAP
                         ? assay_shape_check_yaml(part, field->fields, err)
                         : assay_yaml_fail(part, err, "'%s' is a list of maps",
                                           field->key);
        } else if (part->kind != ASSAY_YAML_WORD) {
            status = assay_yaml_fail(part, err, "'%s' is a list of words",
                                     field->key);
        }
    }
    return status;
}

static assay_status check_field(const assay_yaml *item,
                                const assay_shape_field *field,
                                assay_error *err)
{
    assay_status status;
    switch (field->kind) {
    case ASSAY_FIELD_MAP:
        status = need_kind(item, ASSAY_YAML_MAP, err);
        return status == ASSAY_OK
                   ? assay_shape_check_yaml(item, field->fields, err)
                   : status;
    case ASSAY_FIELD_MAPS:
    case ASSAY_FIELD_TEXTS:
        return check_list(item, field, err);
    default:
        status = need_kind(item, ASSAY_YAML_WORD, err);
        return status == ASSAY_OK ? check_word(item, field, err) : status;
    }
}

static const assay_shape_field *find(const assay_shape_field *fields,
                                     const char *key)
{
    for (; fields->key != NULL; fields++) {
        if (strcmp(fields->key, key) == 0) {
            return fields;
        }
    }
    return NULL;
}

assay_status assay_shape_check_yaml(const assay_yaml *tree,
                                    const assay_shape_field *fields,
                                    assay_error *err)
{
    if (tree->kind != ASSAY_YAML_MAP) {
        return assay_yaml_fail(tree, err, "a manifest is a map of keys");
    }
    for (size_t i = 0; i < tree->num_items; i++) {
        const assay_yaml *item = &tree->items[i];
        const assay_shape_field *field = find(fields, item->key);
        if (field == NULL) {
            return assay_yaml_fail(item, err, "unknown key '%.60s'", item->key);
        }
        assay_status status = check_field(item, field, err);
        if (status != ASSAY_OK) {
            return status;
        }
    }
    for (; fields->key != NULL; fields++) {
        if (fields->required && assay_yaml_get(tree, fields->key) == NULL) {
            return assay_yaml_fail(tree, err, "the key '%s' is missing (%s)",
                                   fields->key, fields->about);
        }
    }
    return ASSAY_OK;
}

/* ---- the JSON Schema ---- */

#define NUMBER_PATTERN "^[0-9]+(/[0-9]+|(\\.[0-9]+)?([eE][+-]?[0-9]+)?)$"

static json_t *schema_of(const assay_shape_field *fields);

static json_t *word_schema(const char *words)
{
    json_t *list = json_array();
    while (*words != '\0') {
        size_t len = strcspn(words, " ");
        (void)json_array_append_new(list, json_stringn(words, len));
        words += len + (words[len] == ' ');
    }
    return json_pack("{s:o}", "enum", list);
}

static json_t *field_schema(const assay_shape_field *field)
{
    switch (field->kind) {
    case ASSAY_FIELD_WORD:
        return strcmp(field->words, "1") == 0
                   ? json_pack("{s:[s,i]}", "enum", "1", 1)
                   : word_schema(field->words);
    case ASSAY_FIELD_FLAG:
        return json_pack("{s:s}", "type", "boolean");
    case ASSAY_FIELD_POSITIVE:
    case ASSAY_FIELD_FRACTION:
        return json_pack("{s:[s,s],s:s}", "type", "number", "string", "pattern",
                         NUMBER_PATTERN);
    case ASSAY_FIELD_COUNT:
        return json_pack("{s:[s,s],s:i,s:s}", "type", "integer", "string",
                         "minimum", 1, "pattern", "^[0-9]+(e[0-9]+)?$");
    case ASSAY_FIELD_MAP:
        return schema_of(field->fields);
    case ASSAY_FIELD_MAPS:
        return json_pack("{s:s,s:i,s:o}", "type", "array", "minItems", 1,
                         "items", schema_of(field->fields));
    case ASSAY_FIELD_TEXTS:
        return json_pack("{s:s,s:i,s:{s:s}}", "type", "array", "minItems", 1,
                         "items", "type", "string");
    default:
        return json_pack("{s:s,s:i}", "type", "string", "minLength", 1);
    }
}

static json_t *schema_of(const assay_shape_field *fields)
{
    json_t *properties = json_object();
    json_t *required = json_array();
    for (; fields->key != NULL; fields++) {
        json_t *one = field_schema(fields);
        (void)json_object_set_new(one, "description",
                                  json_string(fields->about));
        (void)json_object_set_new(properties, fields->key, one);
        if (fields->required) {
            (void)json_array_append_new(required, json_string(fields->key));
        }
    }
    return json_pack("{s:s,s:b,s:o,s:o}", "type", "object",
                     "additionalProperties", 0, "properties", properties,
                     "required", required);
}

json_t *assay_manifest_schema(void)
{
    json_t *schema = schema_of(assay_manifest_fields);
    if (schema == NULL) {
        return NULL;
    }
    (void)json_object_set_new(
        schema, "$schema",
        json_string("https://json-schema.org/draft/2020-12/schema"));
    (void)json_object_set_new(schema, "$id",
                              json_string("urn:assay:deployment:1"));
    (void)json_object_set_new(schema, "title",
                              json_string("Assay deployment manifest"));
    (void)json_object_set_new(schema, "oneOf",
                              json_pack("[{s:[s]},{s:[s]}]", "required",
                                        "learner", "required", "releases"));
    return schema;
}
