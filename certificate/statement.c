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

json_t *assay_statement_theorems(const json_t *derived)
{
    json_t *list = json_array();
    const json_t *steps = json_object_get(derived, "derivation");
    const char *method =
        assay_json_text(json_object_get(derived, "guarantee"), "method");
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *ids =
            json_object_get(json_array_get(steps, i), "theorems");
        for (size_t k = 0; k < json_array_size(ids); k++) {
            add_once(list, json_string_value(json_array_get(ids, k)));
        }
    }
    if (method != NULL) {
        add_once(list, strcmp(method, "zcdp") == 0 ? "releases-dp"
                                                   : "releases-pure");
        add_once(list, "postprocess");
    }
    return list;
}

json_t *assay_statement_not_covered(void)
{
    static const char *const texts[] = {
        "Side channels: running time, memory and energy use, swap files, the "
        "operating system.",
        "The collection and storage of the raw data, and who else may read "
        "it.",
        "Other releases from the same data that are not in this ledger.",
        "Choices made by looking at the data outside the ledger: "
        "hyper-parameters, stopping, the decision to publish.",
        "Whether one record is one person: links between records of the same "
        "person, family or place.",
        "What is true of everybody: results about the population may still "
        "harm people who took no part.",
        "Fitness for the purpose: utility, fairness and safety of what is "
        "released.",
        "Hardware, operating system, compiler, and the random number "
        "generator of OpenSSL."};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        (void)json_array_append_new(list, json_string(texts[i]));
    }
    return list;
}

json_t *assay_statement_printed(const char *algorithm)
{
    static const struct {
        const char *algorithm, *paper, *verdict, *printed, *truth;
    } facts[] = {
        {"dp-apvi", "Qiao and Wang, offline reinforcement learning", "sound",
         "Gaussian noise with sigma^2 = 2H/rho on all visit counts.",
         "A replaced trajectory changes the counts by at most 4H in squared "
         "l2 norm: exactly rho-zCDP, sound and tight. The printed theorem "
         "assumes real-valued noise, which floating-point code does not "
         "have; here the noise is a discrete Gaussian, drawn exactly."},
        {"ucb-vi", "Chowdhury and Zhou, regret", "unsound",
         "Laplace noise eps/(3 H log K), inverted; as intended 3 H log K / "
         "eps; local: 3H/eps.",
         "A replaced user changes 6H in l1 norm and log K is ceil(log2 K): "
         "the printed noise gives 2.0 to 3.0 times the claimed epsilon, 2 "
         "times in the local model. Here the noise is 6 H L/eps with L = "
         "ceil(log2 K)."},
        {"ucb-po", "Chowdhury and Zhou, regret", "unsound",
         "Laplace noise eps/(3 H log K), inverted; as intended 3 H log K / "
         "eps; local: 3H/eps.",
         "A replaced user changes 6H in l1 norm and log K is ceil(log2 K): "
         "the printed noise gives 2.0 to 3.0 times the claimed epsilon, 2 "
         "times in the local model. Here the noise is 6 H L/eps with L = "
         "ceil(log2 K)."},
    };
    for (size_t i = 0; algorithm != NULL && i < sizeof facts / sizeof *facts;
         i++) {
        if (strcmp(facts[i].algorithm, algorithm) == 0) {
            return json_pack("{s:s,s:s,s:s,s:s,s:s}", "algorithm", algorithm,
                             "paper", facts[i].paper, "verdict",
                             facts[i].verdict, "printed", facts[i].printed,
                             "truth", facts[i].truth);
        }
    }
    return json_pack("{s:s,s:s,s:s,s:s,s:s}", "algorithm", "", "paper", "",
                     "verdict", "none", "printed", "",
                     "truth", "No paper's constants are involved.");
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
            list, json_pack("{s:s,s:{s:s}}", "name", name, "digest", "sha256",
                            hex));
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
        m->digest, "ledgerOrigin", p->fresh ? "fresh" : "existing",
        "guarantee", json_object_get(p->derived, "guarantee"), "derivation",
        json_object_get(p->derived, "derivation"), "profile",
        json_object_get(p->derived, "profile"), "ledger", p->ledger, "proofs",
        p->proofs, "audit", p->audit, "printed",
        assay_statement_printed(assay_manifest_algorithm(m)), "notCovered",
        assay_statement_not_covered());
}

assay_status assay_statement_build(json_t **out,
                                   const assay_manifest *manifest,
                                   const assay_parts *parts,
                                   const char *folder, assay_error *err)
{
    char digest[65];
    json_t *list = NULL;
    assay_status status = subjects(&list, parts->outputs, folder, err);
    json_t *all =
        status == ASSAY_OK
            ? json_pack("{s:s,s:O,s:s,s:o}", "_type", ASSAY_STATEMENT_TYPE,
                        "subject", list, "predicateType",
                        ASSAY_PREDICATE_TYPE, "predicate",
                        predicate(manifest, parts))
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
