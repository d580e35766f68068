/* ring: glue */
/* Statistics of a CSV file of records: count, sum, mean, histogram, quantile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/deploy.h"
#include "core/rational.h"
#include "mechanisms/query.h"

static assay_query_kind kind_of(const char *name)
{
    static const char *const names[] = {"count", "sum", "mean", "histogram",
                                        "quantile"};
    int kind = 0;
    while (kind < 4 && strcmp(names[kind], name) != 0) {
        kind++;
    }
    return (assay_query_kind)kind;
}

static assay_status set_bounds(assay_query *query, const assay_yaml *bounds,
                               assay_error *err)
{
    if (bounds == NULL) {
        return ASSAY_OK;
    }
    query->has_bounds = 1;
    assay_status status =
        assay_rational_parse(query->lo, bounds->items[0].text, "bounds", err);
    return status == ASSAY_OK
               ? assay_rational_parse(query->hi, bounds->items[1].text,
                                      "bounds", err)
               : status;
}

static assay_status set_numbers(assay_query *query, const assay_manifest *m,
                                const assay_yaml *r, assay_error *err)
{
    uint64_t limit = 1;
    uint64_t bins = 0;
    const char *per_person = assay_yaml_text(m->data, "per-person");
    const char *parts = assay_yaml_text(r, "bins");
    const char *quantile = assay_yaml_text(r, "quantile");
    assay_status status = assay_rational_parse_positive(
        query->epsilon, assay_yaml_text(r, "epsilon"), "epsilon", err);
    if (status == ASSAY_OK && quantile != NULL) {
        status =
            assay_rational_parse(query->quantile, quantile, "quantile", err);
    }
    if (status == ASSAY_OK && per_person != NULL) {
        status = assay_u64_parse(&limit, per_person, "per-person", err);
    }
    if (status == ASSAY_OK && parts != NULL) {
        status = assay_u64_parse(&bins, parts, "bins", err);
    }
    if (status == ASSAY_OK &&
        (limit > ASSAY_QUERY_MAX_LIMIT || bins > ASSAY_QUERY_MAX_BINS)) {
        status = assay_yaml_fail(r, err, "per-person and bins: at most 65536");
    }
    query->limit = (uint32_t)limit;
    query->bins = (size_t)bins;
    return status;
}

static json_t *value_json(const assay_answer *answer, size_t i)
{
    json_t *one = json_pack("{s:f}", "value", answer->value[i]);
    if (answer->key != NULL) {
        (void)json_object_set_new(one, "key", json_string(answer->key[i]));
    }
    if (answer->has_interval) {
        (void)json_object_set_new(
            one, "interval",
            json_pack("[f,f]", answer->low[i], answer->high[i]));
    }
    return one;
}

static json_t *answer_json(const assay_answer *answer)
{
    json_t *list = json_array();
    for (size_t i = 0; i < answer->n; i++) {
        (void)json_array_append_new(list, value_json(answer, i));
    }
    return list;
}

assay_status assay_deploy_query(json_t **out, const assay_manifest *manifest,
                                const assay_yaml *release,
                                assay_custodian *custodian, assay_error *err)
{
    assay_query query;
    assay_answer answer;
    const assay_yaml *words = assay_yaml_get(release, "categories");
    size_t num_words = words != NULL ? words->num_items : 0;
    char *path =
        assay_manifest_path(manifest, assay_yaml_text(manifest->data, "path"));
    const char **names = calloc(num_words + 1, sizeof(char *));
    assay_query_init(&query);
    query.kind = kind_of(assay_yaml_text(release, "statistic"));
    query.path = path;
    query.column = assay_yaml_text(release, "column");
    query.person = assay_yaml_text(manifest->data, "person");
    for (size_t i = 0; names != NULL && i < num_words; i++) {
        names[i] = words->items[i].text;
    }
    query.categories = names;
    query.num_categories = num_words;
    assay_status status =
        path == NULL || names == NULL
            ? assay_fail(err, ASSAY_MEMORY, "no memory for a query")
            : set_numbers(&query, manifest, release, err);
    if (status == ASSAY_OK) {
        status = set_bounds(&query, assay_yaml_get(release, "bounds"), err);
    }
    if (status == ASSAY_OK) {
        status = assay_query_run(&answer, custodian, &query, err);
    }
    if (status == ASSAY_OK) {
        *out = answer_json(&answer);
        assay_answer_clear(&answer);
    }
    assay_query_clear(&query);
    free(names);
    free(path);
    return status;
}
