/* ring: glue */
#include "certificate/statement.h"

#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/deploy.h"
#include "core/bytes.h"

static void add_once(json_t *list, const char *id)
{
    if (id == NULL) {
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(json_string_value(json_array_get(list, i)), id) == 0) {
            return;
        }
    }
    (void)json_array_append_new(list, json_string(id));
}

/* Behind the noise of an event: the law of the sampler's program. */
static void add_sampler(json_t *list, const json_t *event)
{
    const char *name = assay_json_text(event, "mechanism");
    if (name == NULL) {
        return;
    }
    if (strstr(name, "gaussian") != NULL) {
        add_once(list, "sampler-discrete-gaussian");
    } else if (strstr(name, "laplace") != NULL) {
        add_once(list, "sampler-discrete-laplace");
    } else {
        return;
    }
    add_once(list, "sampler-inverse-law");
}

/* Behind the deployment: its statistic and its trust model. */
static void add_context(json_t *list, const json_t *deployment)
{
    const char *algorithm =
        json_string_value(assay_json_at(deployment, "learner/algorithm"));
    const char *trust =
        json_string_value(assay_json_at(deployment, "privacy/trust"));
    if (algorithm != NULL && strcmp(algorithm, "dp-apvi") == 0) {
        add_once(list, "visit-counts-sensitivity");
    }
    if (trust != NULL && strcmp(trust, "joint") == 0) {
        add_once(list, "billboard");
    } else if (trust != NULL && strcmp(trust, "local") == 0) {
        add_once(list, "local-dp");
    }
}

json_t *assay_statement_theorems(const json_t *derived,
                                 const json_t *deployment)
{
    json_t *list = json_array();
    const json_t *steps = json_object_get(derived, "derivation");
    const char *method =
        assay_json_text(json_object_get(derived, "guarantee"), "method");
    int zcdp = method != NULL && strcmp(method, "zcdp") == 0;
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const json_t *ids = json_object_get(step, "theorems");
        for (size_t k = 0; k < json_array_size(ids); k++) {
            add_once(list, json_string_value(json_array_get(ids, k)));
        }
    }
    if (method != NULL) {
        add_once(list, zcdp ? "releases-dp" : "releases-pure");
        add_once(list, "postprocess");
        add_context(list, deployment);
    }
    for (size_t i = 0; i < json_array_size(steps); i++) {
        add_sampler(list, assay_json_at(json_array_get(steps, i), "in/event"));
    }
    return list;
}

static int by_name(const void *a, const void *b)
{
    const json_t *const *x = a;
    const json_t *const *y = b;
    return strcmp(json_string_value(*x), json_string_value(*y));
}

static assay_status add_subject(json_t *list, const char *folder,
                                const char *name, assay_error *err)
{
    uint8_t digest[ASSAY_SHA256_LEN];
    char hex[2 * ASSAY_SHA256_LEN + 1];
    char *path = assay_deploy_path(folder, name);
    assay_status status =
        path != NULL ? assay_sha256_file(digest, path, err)
                     : assay_fail(err, ASSAY_MEMORY, "no memory for a path");
    free(path);
    if (status == ASSAY_OK) {
        assay_hex(hex, digest, sizeof digest);
        (void)json_array_append_new(
            list,
            json_pack("{s:s,s:{s:s}}", "name", name, "digest", "sha256", hex));
    }
    return status;
}

static assay_status subjects(json_t **out, const json_t *outputs,
                             const char *folder, assay_error *err)
{
    size_t n = json_array_size(outputs);
    json_t **names = calloc(n + 1, sizeof(json_t *));
    assay_status status = ASSAY_OK;
    *out = json_array();
    if (names == NULL || *out == NULL || n == 0) {
        free(names);
        return assay_fail(err, ASSAY_INTERNAL, "there is nothing to certify");
    }
    for (size_t i = 0; i < n; i++) {
        names[i] = json_array_get(outputs, i);
    }
    qsort(names, n, sizeof(json_t *), by_name);
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        status = add_subject(*out, folder, json_string_value(names[i]), err);
    }
    free(names);
    return status;
}

assay_status assay_statement_digest(char out[65], const json_t *statement,
                                    assay_error *err)
{
    json_t *copy = json_deep_copy(statement);
    if (copy == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    (void)json_object_del(json_object_get(copy, "predicate"), "digest");
    assay_status status = assay_canonical_digest(out, copy, err);
    json_decref(copy);
    return status;
}

static json_t *predicate(const assay_manifest *m, const assay_parts *p)
{
    return json_pack(
        "{s:s,s:{s:s,s:s},s:O,s:s,s:s,s:O,s:O,s:O,s:O,s:O,s:O,s:o,s:o}",
        "schema", ASSAY_PREDICATE_VERSION, "generator", "name", "assay",
        "version", ASSAY_VERSION, "deployment", m->json, "deploymentDigest",
        m->digest, "ledgerOrigin", p->fresh ? "fresh" : "existing", "guarantee",
        json_object_get(p->derived, "guarantee"), "derivation",
        json_object_get(p->derived, "derivation"), "profile",
        json_object_get(p->derived, "profile"), "ledger", p->ledger, "proofs",
        p->proofs, "audit", p->audit, "printed",
        assay_statement_printed(assay_manifest_algorithm(m)), "notCovered",
        assay_statement_not_covered());
}

assay_status assay_statement_build(json_t **out, const assay_manifest *manifest,
                                   const assay_parts *parts, const char *folder,
                                   assay_error *err)
{
    char digest[65];
    json_t *list = NULL;
    assay_status status = subjects(&list, parts->outputs, folder, err);
    json_t *all =
        status == ASSAY_OK
            ? json_pack("{s:s,s:O,s:s,s:o}", "_type", ASSAY_STATEMENT_TYPE,
                        "subject", list, "predicateType", ASSAY_PREDICATE_TYPE,
                        "predicate", predicate(manifest, parts))
            : NULL;
    if (status == ASSAY_OK && all == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    if (status == ASSAY_OK) {
        status = assay_statement_digest(digest, all, err);
    }
    if (status == ASSAY_OK) {
        (void)json_object_set_new(json_object_get(all, "predicate"), "digest",
                                  json_string(digest));
        *out = json_incref(all);
    }
    json_decref(all);
    json_decref(list);
    return status;
}
