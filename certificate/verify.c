/* ring: glue */
#include "certificate/verify.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accountant/ledger.h"
#include "certificate/canonical.h"
#include "certificate/coqfile.h"
#include "certificate/deploy.h"
#include "certificate/dsse.h"
#include "certificate/findings.h"
#include "certificate/proofs.h"
#include "certificate/recheck.h"
#include "certificate/statement.h"
#include "core/bytes.h"

#define MAX_BYTES ((size_t)100 << 20)

/* ---- envelope ---- */

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path));
}

static assay_status find_key(EVP_PKEY **out, int *beside,
                             const assay_verify_options *o, assay_error *err)
{
    *beside = o->key == NULL;
    if (!*beside) {
        return assay_key_read_public(out, o->key, err);
    }
    char *folder = folder_of(o->path);
    char *path =
        folder != NULL ? assay_deploy_path(folder, "certificate.pub") : NULL;
    assay_status status =
        path != NULL ? assay_key_read_public(out, path, err)
                     : assay_fail(err, ASSAY_MEMORY, "no memory for a path");
    free(folder);
    free(path);
    return status;
}

static assay_status open_payload(json_t *findings, char **payload, size_t *len,
                                 const json_t *envelope,
                                 const assay_verify_options *o,
                                 assay_error *err)
{
    EVP_PKEY *key = NULL;
    char keyid[65] = "";
    int beside = 0;
    assay_error why = ASSAY_ERROR_INIT;
    assay_status status = find_key(&key, &beside, o, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_key_id(keyid, key, err);
    if (status == ASSAY_OK) {
        status = assay_dsse_open(payload, len, envelope, key, &why);
        if (status == ASSAY_OK) {
            assay_findings_add(findings, "signature", ASSAY_HOLDS,
                               "Ed25519, key %.16s%s", keyid,
                               beside ? " (found beside the certificate: "
                                        "--key says whom you trust)"
                                      : "");
        } else {
            assay_findings_add(findings, "signature", ASSAY_FAILS, "%s",
                               why.message);
        }
    }
    EVP_PKEY_free(key);
    return status;
}

/* The version in "urn:assay:certificate:N"; NULL if it is something else. */
static const char *version_of(const char *type)
{
    size_t n = strlen(ASSAY_PREDICATE_PREFIX);
    return type != NULL && strncmp(type, ASSAY_PREDICATE_PREFIX, n) == 0
               ? type + n
               : NULL;
}

static int knows_schema(json_t *findings, const json_t *statement)
{
    const char *type = assay_json_text(statement, "_type");
    const char *version =
        version_of(assay_json_text(statement, "predicateType"));
    const char *inner =
        json_string_value(assay_json_at(statement, "predicate/schema"));
    if (type == NULL || strcmp(type, ASSAY_STATEMENT_TYPE) != 0 ||
        json_object_size(statement) != 4) {
        assay_findings_add(findings, "schema", ASSAY_FAILS,
                           "not an in-toto Statement v1");
        return 0;
    }
    if (version == NULL) {
        assay_findings_add(findings, "schema", ASSAY_FAILS,
                           "the predicate is not an Assay certificate");
        return 0;
    }
    if (strcmp(version, ASSAY_PREDICATE_VERSION) != 0 || inner == NULL ||
        strcmp(inner, version) != 0) {
        assay_findings_add(findings, "schema", ASSAY_FAILS,
                           "certificate schema %.20s: this program verifies "
                           "schema " ASSAY_PREDICATE_VERSION " only",
                           version);
        return 0;
    }
    return 1;
}

static int knows_members(json_t *findings, const json_t *predicate)
{
    static const char *const known[] = {
        "schema",    "generator",   "deployment", "deploymentDigest",
        "guarantee", "derivation",  "profile",    "ledger",
        "proofs",    "audit",       "printed",    "notCovered",
        "digest",    "ledgerOrigin"};
    size_t n = sizeof known / sizeof known[0];
    int ok = json_object_size(predicate) == n;
    for (size_t i = 0; i < n && ok; i++) {
        ok = json_object_get(predicate, known[i]) != NULL;
    }
    assay_findings_add(findings, "schema", ok ? ASSAY_HOLDS : ASSAY_FAILS,
                       ok ? "in-toto Statement v1, Assay certificate "
                            "schema " ASSAY_PREDICATE_VERSION
                          : "a member is missing or unknown");
    return ok;
}

/* ---- outputs and ledger ---- */

static const char *check_subject(const json_t *subject, const char *folder)
{
    uint8_t digest[ASSAY_SHA256_LEN];
    char hex[2 * ASSAY_SHA256_LEN + 1];
    const char *name = assay_json_text(subject, "name");
    const char *stated =
        json_string_value(assay_json_at(subject, "digest/sha256"));
    if (name == NULL || stated == NULL || strchr(name, '/') != NULL ||
        name[0] == '.') {
        return "is not a plain file name with a digest";
    }
    char *path = assay_deploy_path(folder, name);
    assay_status status =
        path != NULL ? assay_sha256_file(digest, path, NULL) : ASSAY_MEMORY;
    free(path);
    if (status != ASSAY_OK) {
        return "cannot be read";
    }
    assay_hex(hex, digest, sizeof digest);
    return strcmp(hex, stated) == 0 ? NULL : "has another digest";
}

static void check_outputs(json_t *findings, const json_t *statement,
                          const char *folder)
{
    const json_t *list = json_object_get(statement, "subject");
    const char *before = "";
    if (json_array_size(list) == 0) {
        assay_findings_add(findings, "outputs", ASSAY_FAILS,
                           "no output is certified");
        return;
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *name = assay_json_text(one, "name");
        const char *why = check_subject(one, folder);
        if (why == NULL && strcmp(name, before) <= 0) {
            why = "is out of order";
        }
        if (why != NULL) {
            assay_findings_add(findings, "outputs", ASSAY_FAILS,
                               "'%.60s' %s in '%.200s'",
                               name != NULL ? name : "?", why, folder);
            return;
        }
        before = name;
    }
    assay_findings_add(findings, "outputs", ASSAY_HOLDS,
                       "%zu files have the certified digests",
                       json_array_size(list));
}

/* The ledger file, where it is at hand: same chain, and nothing charged since
   (an older certificate of a ledger that went on is a replay). */
static assay_status compare_ledger(const char *path, const char *stated,
                                   assay_error *err)
{
    assay_ledger *ledger = NULL;
    char head[65] = "";
    assay_status status = assay_ledger_open(&ledger, path, err);
    if (status == ASSAY_OK) {
        status = assay_ledger_verify(ledger, NULL, err);
    }
    if (status == ASSAY_OK) {
        status = assay_ledger_head(head, ledger, err);
    }
    assay_ledger_close(ledger);
    if (status == ASSAY_OK && strcmp(head, stated) != 0) {
        status = assay_fail(err, ASSAY_REFUTED,
                            "the ledger's head is %.16s, the certificate's "
                            "%.16s: another ledger, or charges since",
                            head, stated);
    }
    return status;
}

static void check_file(json_t *findings, const json_t *statement,
                       const assay_verify_options *o, const char *folder)
{
    char *path = o->ledger != NULL ? strdup(o->ledger)
                                   : assay_deploy_path(folder, "ledger.db");
    const char *head =
        json_string_value(assay_json_at(statement, "predicate/ledger/head"));
    assay_error why = ASSAY_ERROR_INIT;
    if (path == NULL || head == NULL ||
        (o->ledger == NULL && access(path, R_OK) != 0)) {
        assay_findings_add(findings, "ledger file", ASSAY_NOT_CHECKED,
                           "no ledger file at hand");
    } else if (compare_ledger(path, head, &why) == ASSAY_OK) {
        assay_findings_add(findings, "ledger file", ASSAY_HOLDS,
                           "the file ends where the certificate says");
    } else {
        assay_findings_add(findings, "ledger file", ASSAY_FAILS, "%s",
                           why.message);
    }
    free(path);
}

/* ---- proofs ---- */

static void compare_proofs(json_t *findings, const json_t *stated,
                           const json_t *ids, const char *source)
{
    json_t *now = NULL;
    if (assay_proofs_status(&now, source, ids, NULL) != ASSAY_OK) {
        return;
    }
    if (json_equal(now, stated)) {
        assay_findings_add(findings, "sources", ASSAY_HOLDS,
                           "the proved sources are those of this tree");
    } else {
        assay_findings_add(findings, "sources", ASSAY_FAILS,
                           "the source tree has other proof results or other "
                           "sources than the certificate");
    }
    json_decref(now);
}

static void check_proofs(json_t *findings, const json_t *predicate,
                         const char *source)
{
    const json_t *proofs = json_object_get(predicate, "proofs");
    const json_t *rows = json_object_get(proofs, "theorems");
    json_t *ids = assay_statement_theorems(
        predicate, json_object_get(predicate, "deployment"));
    json_t *failures = json_array();
    assay_proofs_failures(failures, proofs);
    int same = json_array_size(ids) == json_array_size(rows);
    for (size_t i = 0; i < json_array_size(ids) && same; i++) {
        same = json_equal(json_array_get(ids, i),
                          json_object_get(json_array_get(rows, i), "id"));
    }
    if (json_array_size(failures) > 0) {
        assay_findings_add(findings, "proofs", ASSAY_FAILS, "%s",
                           json_string_value(json_array_get(failures, 0)));
    } else if (!same) {
        assay_findings_add(findings, "proofs", ASSAY_FAILS,
                           "the proof table does not list the theorems that "
                           "the derivation cites");
    } else {
        assay_findings_add(findings, "proofs", ASSAY_HOLDS,
                           "%zu units fully proved, %zu theorems cited",
                           json_array_size(json_object_get(proofs, "units")),
                           json_array_size(ids));
    }
    if (source != NULL) {
        compare_proofs(findings, proofs, ids, source);
    } else {
        assay_findings_add(findings, "sources", ASSAY_NOT_CHECKED,
                           "--source DIR compares the proved sources");
    }
    json_decref(ids);
    json_decref(failures);
}

/* ---- all ---- */

static void check_digest(json_t *findings, const json_t *statement)
{
    char digest[65] = "";
    const char *stated =
        json_string_value(assay_json_at(statement, "predicate/digest"));
    int ok = stated != NULL &&
             assay_statement_digest(digest, statement, NULL) == ASSAY_OK &&
             strcmp(digest, stated) == 0;
    assay_findings_add(findings, "digest", ok ? ASSAY_HOLDS : ASSAY_FAILS,
                       ok ? "no field was changed since it was made"
                          : "a field was changed since it was made (signed "
                            "again or not)");
}

static void check_coq(json_t *findings, const json_t *predicate,
                      const assay_verify_options *o)
{
    assay_error why = ASSAY_ERROR_INIT;
    if (!o->coq) {
        assay_findings_add(findings, "coq", ASSAY_NOT_CHECKED,
                           "--coq proves the guarantee again");
        return;
    }
    assay_status status =
        assay_coq_check(predicate, o->source != NULL ? o->source : ".", &why);
    if (status == ASSAY_OK) {
        assay_findings_add(findings, "coq", ASSAY_HOLDS,
                           "coqc accepts the guarantee as a theorem");
    } else {
        assay_findings_add(findings, "coq", ASSAY_FAILS, "%s", why.message);
    }
}

void assay_verify_statement(json_t *findings, const json_t *statement,
                            const assay_verify_options *options)
{
    const json_t *predicate = json_object_get(statement, "predicate");
    char *folder = options->outputs != NULL ? strdup(options->outputs)
                                            : folder_of(options->path);
    if (folder == NULL || !knows_schema(findings, statement) ||
        !knows_members(findings, predicate)) {
        free(folder);
        return;
    }
    check_outputs(findings, statement, folder);
    check_file(findings, statement, options, folder);
    assay_recheck(findings, predicate);
    check_proofs(findings, predicate, options->source);
    assay_recheck_audit(findings, predicate);
    check_digest(findings, statement);
    check_coq(findings, predicate, options);
    free(folder);
}

static assay_status conclude(const json_t *findings, assay_error *err)
{
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *one = json_array_get(findings, i);
        if (strcmp(assay_json_text(one, "result"), "fails") == 0) {
            return assay_fail(err, ASSAY_REFUTED, "%s: %s",
                              assay_json_text(one, "check"),
                              assay_json_text(one, "detail"));
        }
    }
    return ASSAY_OK;
}

static assay_status read_envelope(json_t **out, const char *path,
                                  assay_error *err)
{
    char *text = NULL;
    size_t len = 0;
    json_error_t where;
    assay_status status = assay_read_file(&text, &len, path, MAX_BYTES, err);
    if (status != ASSAY_OK) {
        return status;
    }
    *out = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
    free(text);
    return *out != NULL
               ? ASSAY_OK
               : assay_fail(err, ASSAY_CORRUPT,
                            "'%s' is not a certificate: it is truncated or "
                            "not JSON (%.100s)",
                            path, where.text);
}

assay_status assay_verify(json_t *findings, json_t **statement,
                          const assay_verify_options *options, assay_error *err)
{
    json_t *envelope = NULL;
    json_t *body = NULL;
    char *payload = NULL;
    size_t len = 0;
    assay_error why = ASSAY_ERROR_INIT;
    assay_status status = read_envelope(&envelope, options->path, err);
    if (status == ASSAY_OK) {
        status = open_payload(findings, &payload, &len, envelope, options, err);
    }
    if (status == ASSAY_OK &&
        assay_canonical_read(&body, payload, len, &why) != ASSAY_OK) {
        assay_findings_add(findings, "schema", ASSAY_FAILS, "%s", why.message);
    }
    if (body != NULL) {
        assay_verify_statement(findings, body, options);
    }
    if (statement != NULL) {
        *statement = json_incref(body);
    }
    json_decref(body);
    json_decref(envelope);
    free(payload);
    assay_status verdict = conclude(findings, err);
    return verdict != ASSAY_OK ? verdict : status;
}
