/* ring: glue */
/* One certificate is made, then attacked in every way that a test can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accountant/ledger.h"
#include "certificate/canonical.h"
#include "certificate/certify.h"
#include "certificate/dsse.h"
#include "certificate/findings.h"
#include "certificate/statement.h"
#include "certificate/verify.h"
#include "core/bytes.h"

static char root[64];
static char out[96], cert[128], key[256], pub[256], forged[128];

static void put_file(const char *name, const char *text)
{
    char path[200];
    assay_error err = ASSAY_ERROR_INIT;
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    assert_int_equal(assay_write_file(path, text, strlen(text), &err),
                     ASSAY_OK);
}

static void put_results(const char *proved, const char *content)
{
    char digest[65];
    char line[300];
    uint8_t bytes[ASSAY_SHA256_LEN];
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_sha256(bytes, content, strlen(content), &err),
                     ASSAY_OK);
    assay_hex(digest, bytes, sizeof bytes);
    (void)snprintf(line, sizeof line,
                   "# tool coq 8.16.1\ncode\tunit\t%s\t7\tunit.c\t%s\n", proved,
                   digest);
    put_file("source/proofs/results.tsv", line);
}

static const char manifest[] =
    "assay: 1\nname: test ward\npurpose: a test\n"
    "data: {source: environment, environment: clinic, users: 200, seed: 1,\n"
    "  about: simulated}\n"
    "privacy: {unit: trajectory, neighbours: replace-one, trust: central}\n"
    "budget: {rho: 1/2, epsilon: 5, delta: 1e-5}\n"
    "learner: {algorithm: dp-apvi, noise: gaussian, rho: 1/2}\n"
    "audit: {runs: 2000, confidence: 0.99999}\n";

static assay_status certify(const char *name, const char *folder,
                            json_t *failures, assay_error *err)
{
    char path[200], source[100];
    (void)snprintf(path, sizeof path, "%s/%s", root, name);
    (void)snprintf(source, sizeof source, "%s/source", root);
    assay_certify_options o = {
        .manifest = path, .folder = folder, .key = key, .source = source};
    return assay_certify(failures, NULL, &o, err);
}

static int make_world(void **state)
{
    char path[200];
    char keyid[65];
    assay_error err = ASSAY_ERROR_INIT;
    static const char *const folders[] = {"", "/source", "/source/proofs",
                                          "/source/proofs/coq"};
    (void)state;
    (void)strcpy(root, "/tmp/assay-certificate-XXXXXX");
    assert_non_null(mkdtemp(root));
    for (size_t i = 1; i < 4; i++) {
        (void)snprintf(path, sizeof path, "%s%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    put_file("source/unit.c", "int unit;\n");
    put_results("7", "int unit;\n");
    put_file("source/proofs/coq/assumptions.txt",
             "# comment\ncompose-zcdp\tnone\nzcdp-to-dp\tclassic\n");
    put_file("deployment.yaml", manifest);
    (void)snprintf(path, sizeof path, "%s/office", root);
    assert_int_equal(assay_key_generate(path, keyid, &err), ASSAY_OK);
    (void)snprintf(key, sizeof key, "%s.key", path);
    (void)snprintf(pub, sizeof pub, "%s.pub", path);
    (void)snprintf(out, sizeof out, "%s/out", root);
    (void)snprintf(cert, sizeof cert, "%s/certificate.dsse.json", out);
    (void)snprintf(forged, sizeof forged, "%s/forged.json", out);
    json_t *failures = json_array();
    assay_status status = certify("deployment.yaml", out, failures, &err);
    if (status != ASSAY_OK) {
        print_error("%s\n", err.message);
    }
    json_decref(failures);
    return status != ASSAY_OK;
}

static int remove_world(void **state)
{
    char command[120];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static assay_status verify_at(const char *path, const char *with,
                              assay_error *err)
{
    char source[100];
    json_t *findings = json_array();
    (void)snprintf(source, sizeof source, "%s/source", root);
    assay_verify_options o = {.path = path, .key = with, .source = source};
    assay_status status = assay_verify(findings, NULL, &o, err);
    json_decref(findings);
    return status;
}

static json_t *read_statement(void)
{
    char *payload = NULL;
    size_t len = 0;
    json_t *statement = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    json_t *envelope = json_load_file(cert, 0, NULL);
    assert_int_equal(assay_dsse_open(&payload, &len, envelope, NULL, &err),
                     ASSAY_OK);
    assert_int_equal(assay_canonical_read(&statement, payload, len, &err),
                     ASSAY_OK);
    free(payload);
    json_decref(envelope);
    return statement;
}

/* Signs a text again, with the office's own key. */
static void sign_text(const char *text)
{
    EVP_PKEY *mine = NULL;
    json_t *envelope = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_key_read_private(&mine, key, &err), ASSAY_OK);
    assert_int_equal(assay_dsse_seal(&envelope, text, strlen(text), mine, &err),
                     ASSAY_OK);
    assert_int_equal(json_dump_file(envelope, forged, JSON_COMPACT), 0);
    EVP_PKEY_free(mine);
    json_decref(envelope);
}

static void sign_again(json_t *statement, int with_digest)
{
    char *text = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    if (with_digest) {
        char digest[65];
        assert_int_equal(assay_statement_digest(digest, statement, &err),
                         ASSAY_OK);
        (void)json_object_set_new(json_object_get(statement, "predicate"),
                                  "digest", json_string(digest));
    }
    assert_int_equal(assay_canonical_text(&text, NULL, statement, &err),
                     ASSAY_OK);
    sign_text(text);
    free(text);
}

static void an_honest_certificate_is_verified(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(verify_at(cert, pub, &err), ASSAY_OK);
    assert_int_equal(verify_at(cert, NULL, &err), ASSAY_OK);
    assert_int_equal(verify_at(cert, key, &err), ASSAY_OK);
}

/* ---- every field, changed ---- */

typedef struct tally {
    int leaves;
    int silent; /* found by the digest alone */
} tally;

typedef void visit(json_t *holder, const char *member, size_t index,
                   const char *path, json_t *all, tally *t);

static void walk(json_t *value, const char *path, json_t *all, visit *at,
                 tally *t)
{
    char deeper[400];
    if (json_is_object(value)) {
        void *it = json_object_iter(value);
        while (it != NULL) {
            const char *member = json_object_iter_key(it);
            json_t *item = json_object_iter_value(it);
            (void)snprintf(deeper, sizeof deeper, "%s/%s", path, member);
            void *next = json_object_iter_next(value, it);
            char name[80];
            (void)snprintf(name, sizeof name, "%s", member);
            if (json_is_object(item) || json_is_array(item)) {
                walk(item, deeper, all, at, t);
            } else {
                at(value, name, 0, deeper, all, t);
            }
            it = next;
        }
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *item = json_array_get(value, i);
        (void)snprintf(deeper, sizeof deeper, "%s/%zu", path, i);
        if (json_is_object(item) || json_is_array(item)) {
            walk(item, deeper, all, at, t);
        } else {
            at(value, NULL, i, deeper, all, t);
        }
    }
}

/* One character of a text is another; a number is one more. */
static json_t *changed(const json_t *value, size_t from_end)
{
    if (json_is_boolean(value)) {
        return json_boolean(!json_is_true(value));
    }
    if (json_is_integer(value)) {
        return json_integer(json_integer_value(value) + 1);
    }
    char *text = strdup(json_string_value(value));
    size_t len = strlen(text);
    if (len == 0) {
        free(text);
        return json_string("x");
    }
    size_t at = from_end < len ? len - 1 - from_end : 0;
    unsigned char c = (unsigned char)text[at];
    text[at] = isdigit(c) ? (c == '9' ? '8' : (char)(c + 1))
               : c == 'a' ? 'b'
                          : 'a';
    json_t *out_value = json_string(text);
    free(text);
    return out_value;
}

static void set(json_t *holder, const char *member, size_t index, json_t *item)
{
    int bad = member != NULL ? json_object_set(holder, member, item)
                             : json_array_set(holder, index, item);
    assert_int_equal(bad, 0);
}

static void must_fail(const char *path, assay_error *err)
{
    assay_status status = verify_at(forged, pub, err);
    if (status == ASSAY_OK) {
        fail_msg("%s: a change was not noticed", path);
    }
    if (err->message[0] == '\0') {
        fail_msg("%s: no reason is given", path);
    }
}

static void change_and_sign(json_t *holder, const char *member, size_t index,
                            const char *path, json_t *all, tally *t)
{
    json_t *old = json_incref(member != NULL ? json_object_get(holder, member)
                                             : json_array_get(holder, index));
    for (size_t from_end = 0; from_end < 2; from_end++) {
        assay_error err = ASSAY_ERROR_INIT;
        json_t *item = changed(old, from_end);
        set(holder, member, index, item);
        json_decref(item);
        sign_again(all, 0);
        must_fail(path, &err);
        t->silent += strncmp(err.message, "digest:", 7) == 0;
    }
    t->leaves++;
    set(holder, member, index, old);
    json_decref(old);
}

static void every_changed_field_is_noticed_though_signed_again(void **state)
{
    tally t = {0, 0};
    (void)state;
    json_t *statement = read_statement();
    walk(statement, "", statement, change_and_sign, &t);
    print_message("%d fields, two changes each; %d found by the digest "
                  "alone\n",
                  t.leaves, t.silent);
    assert_true(t.leaves > 150);
    json_decref(statement);
}

/* Texts that a holder of the key may rewrite: they carry no claim. */
static int is_free_text(const char *path)
{
    static const char *const ends[] = {"generator/version",
                                       "/attacker",
                                       "/event",
                                       "/example",
                                       "/detectionLimit",
                                       "/delta",
                                       "/lower",
                                       "audit/results/0/events",
                                       "counts/k1",
                                       "counts/k2",
                                       "counts/n1",
                                       "counts/n2",
                                       "audit/results/0/runs"};
    int in_audit = strstr(path, "/audit/results/") != NULL ||
                   strstr(path, "generator/") != NULL;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0] && in_audit; i++) {
        size_t n = strlen(ends[i]);
        size_t len = strlen(path);
        if (len >= n && strcmp(path + len - n, ends[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static void change_with_digest(json_t *holder, const char *member, size_t index,
                               const char *path, json_t *all, tally *t)
{
    assay_error err = ASSAY_ERROR_INIT;
    json_t *old = json_incref(member != NULL ? json_object_get(holder, member)
                                             : json_array_get(holder, index));
    if (!is_free_text(path) && strcmp(path, "/predicate/digest") != 0) {
        json_t *item = changed(old, 0);
        set(holder, member, index, item);
        json_decref(item);
        sign_again(all, 1);
        must_fail(path, &err);
        t->leaves++;
    }
    set(holder, member, index, old);
    json_decref(old);
}

/* The forger holds the key and makes the digest anew as well. */
static void every_claim_is_derived_again_and_not_just_hashed(void **state)
{
    tally t = {0, 0};
    (void)state;
    json_t *statement = read_statement();
    walk(statement, "", statement, change_with_digest, &t);
    print_message("%d fields\n", t.leaves);
    assert_true(t.leaves > 150);
    json_decref(statement);
}

static void a_change_without_a_signature_is_noticed(void **state)
{
    char *text = NULL;
    size_t len = 0;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_read_file(&text, &len, cert, 1 << 24, &err),
                     ASSAY_OK);
    for (size_t at = 0; at < len; at += 1 + len / 300) {
        char old = text[at];
        text[at] = old == 'A' ? 'B' : 'A';
        assert_int_equal(assay_write_file(forged, text, len, &err), ASSAY_OK);
        must_fail("a byte", &err);
        text[at] = old;
    }
    free(text);
}

/* ---- every node, replaced by something of another kind ---- */

static void must_not_hold(json_t *statement, const char *path)
{
    json_t *findings = json_array();
    char digest[65];
    assay_verify_options o = {.path = cert};
    if (assay_statement_digest(digest, statement, NULL) == ASSAY_OK &&
        json_object_get(json_object_get(statement, "predicate"), "digest") !=
            NULL) {
        (void)json_object_set_new(json_object_get(statement, "predicate"),
                                  "digest", json_string(digest));
    }
    assay_verify_statement(findings, statement, &o);
    if (assay_findings_failed(findings) == 0) {
        fail_msg("%s: a malformed statement was accepted", path);
    }
    json_decref(findings);
}

/* Paths of all nodes below `value`. */
static void list_nodes(json_t *paths, const json_t *value, const char *path)
{
    char deeper[400];
    const char *member;
    json_t *item;
    size_t i;
    json_object_foreach((json_t *)(size_t)value, member, item)
    {
        (void)snprintf(deeper, sizeof deeper, "%s%s%s", path,
                       path[0] != '\0' ? "/" : "", member);
        (void)json_array_append_new(paths, json_string(deeper));
        list_nodes(paths, item, deeper);
    }
    json_array_foreach((json_t *)(size_t)value, i, item)
    {
        (void)snprintf(deeper, sizeof deeper, "%s/%zu", path, i);
        (void)json_array_append_new(paths, json_string(deeper));
        list_nodes(paths, item, deeper);
    }
}

/* Texts of the audit and of the generator carry no claim, whatever they are. */
static int may_be_anything(const char *path)
{
    return is_free_text(path) || strstr(path, "generator/version") != NULL ||
           strstr(path, "proofs/") != NULL ||
           strstr(path, "notAttacked") != NULL ||
           strcmp(path, "predicate/digest") == 0;
}

static void malform(const char *path, json_t *by)
{
    char parent[400];
    json_t *statement = read_statement();
    (void)snprintf(parent, sizeof parent, "%s", path);
    char *slash = strrchr(parent, '/');
    const char *last = slash != NULL ? slash + 1 : parent;
    json_t *holder = statement;
    if (slash != NULL) {
        *slash = '\0';
        holder = assay_json_at(statement, parent);
    }
    if (json_is_array(holder)) {
        size_t i = (size_t)strtoul(last, NULL, 10);
        (void)(by != NULL ? json_array_set(holder, i, by)
                          : json_array_remove(holder, i));
    } else {
        (void)(by != NULL ? json_object_set(holder, last, by)
                          : json_object_del(holder, last));
    }
    if (may_be_anything(path)) {
        json_t *findings = json_array(); /* must only not crash */
        assay_verify_options o = {.path = cert};
        assay_verify_statement(findings, statement, &o);
        json_decref(findings);
    } else {
        must_not_hold(statement, path);
    }
    json_decref(statement);
}

static void malformed_statements_are_refused(void **state)
{
    json_t *paths = json_array();
    (void)state;
    json_t *statement = read_statement();
    list_nodes(paths, statement, "");
    json_t *others[] = {NULL,         json_null(),   json_integer(-7),
                        json_array(), json_object(), json_string("\xc3\xa9")};
    for (size_t i = 0; i < json_array_size(paths); i++) {
        const char *path = json_string_value(json_array_get(paths, i));
        const json_t *old = assay_json_at(statement, path);
        for (size_t k = 0; k < 6; k++) {
            if (strstr(path, "profile/") != NULL && i % 7 != 0) {
                continue; /* 24 alike */
            }
            if (others[k] == NULL || !json_equal(old, others[k])) {
                malform(path, others[k]);
            }
        }
    }
    for (size_t k = 1; k < 6; k++) {
        json_decref(others[k]);
    }
    json_decref(statement);
    json_decref(paths);
}

/* ---- whole certificates ---- */

static void a_truncated_certificate_is_refused(void **state)
{
    char *text = NULL;
    size_t len = 0;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_read_file(&text, &len, cert, 1 << 24, &err),
                     ASSAY_OK);
    for (size_t n = 0; n < len; n += 1 + len / 50) {
        assert_int_equal(assay_write_file(forged, text, n, &err), ASSAY_OK);
        must_fail("truncated", &err);
    }
    free(text);
}

static void re_ordered_keys_are_refused(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    json_t *statement = read_statement();
    json_t *other = json_object();
    (void)json_object_set(other, "subject",
                          json_object_get(statement, "subject"));
    (void)json_object_update(other, statement);
    char *text = json_dumps(other, JSON_COMPACT); /* not sorted */
    sign_text(text);
    must_fail("re-ordered", &err);
    assert_non_null(strstr(err.message, "canonical"));
    free(text);
    json_decref(other);
    json_decref(statement);
}

static void swap(json_t *list, size_t i, size_t k)
{
    json_t *a = json_incref(json_array_get(list, i));
    json_t *b = json_incref(json_array_get(list, k));
    (void)json_array_set(list, i, b);
    (void)json_array_set(list, k, a);
    json_decref(a);
    json_decref(b);
}

static void re_ordered_lists_are_refused(void **state)
{
    static const char *const lists[] = {
        "predicate/derivation", "predicate/profile", "predicate/ledger/rows",
        "predicate/proofs/theorems", "predicate/notCovered"};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        assay_error err = ASSAY_ERROR_INIT;
        json_t *statement = read_statement();
        swap(assay_json_at(statement, lists[i]), 0, 1);
        sign_again(statement, 1);
        must_fail(lists[i], &err);
        json_decref(statement);
    }
}

static void added_and_removed_members_are_refused(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    json_t *statement = read_statement();
    json_t *predicate = json_object_get(statement, "predicate");
    (void)json_object_set_new(predicate, "more", json_string("x"));
    sign_again(statement, 1);
    must_fail("added", &err);
    (void)json_object_del(predicate, "more");
    (void)json_object_del(predicate, "notCovered");
    sign_again(statement, 1);
    must_fail("removed", &err);
    json_decref(statement);
}

static void another_key_is_refused_by_name(void **state)
{
    char path[128], keyid[65], other[140];
    EVP_PKEY *theirs = NULL;
    json_t *envelope = NULL;
    char *text = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/stranger", root);
    assert_int_equal(assay_key_generate(path, keyid, &err), ASSAY_OK);
    assert_int_equal(assay_key_generate(path, keyid, &err), ASSAY_IO);
    (void)snprintf(other, sizeof other, "%s.key", path);
    json_t *statement = read_statement();
    assert_int_equal(assay_canonical_text(&text, NULL, statement, &err),
                     ASSAY_OK);
    assert_int_equal(assay_key_read_private(&theirs, other, &err), ASSAY_OK);
    assert_int_equal(
        assay_dsse_seal(&envelope, text, strlen(text), theirs, &err), ASSAY_OK);
    assert_int_equal(json_dump_file(envelope, forged, 0), 0);
    must_fail("stranger", &err);
    assert_non_null(strstr(err.message, "another key"));
    /* their signature under our key's name */
    (void)json_object_set_new(assay_json_at(envelope, "signatures/0"), "keyid",
                              json_string("0"));
    assert_int_equal(json_dump_file(envelope, forged, 0), 0);
    must_fail("stranger", &err);
    EVP_PKEY_free(theirs);
    json_decref(envelope);
    json_decref(statement);
    free(text);
}

static void an_older_schema_is_refused_by_name(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    json_t *statement = read_statement();
    (void)json_object_set_new(statement, "predicateType",
                              json_string(ASSAY_PREDICATE_PREFIX "0"));
    (void)json_object_set_new(json_object_get(statement, "predicate"), "schema",
                              json_string("0"));
    sign_again(statement, 1);
    must_fail("schema", &err);
    assert_non_null(strstr(err.message, "certificate schema 0"));
    json_decref(statement);
}

static void a_replayed_certificate_is_refused(void **state)
{
    char second[96], path[160];
    assay_error err = ASSAY_ERROR_INIT;
    json_t *failures = json_array();
    (void)state;
    (void)snprintf(second, sizeof second, "%s/second", root);
    assert_int_equal(certify("deployment.yaml", second, failures, &err),
                     ASSAY_OK);
    json_decref(failures);
    /* the first certificate over the second run's outputs */
    json_t *findings = json_array();
    assay_verify_options o = {.path = cert, .key = pub, .outputs = second};
    assert_int_equal(assay_verify(findings, NULL, &o, &err), ASSAY_REFUTED);
    json_decref(findings);
    /* a ledger that went on */
    (void)snprintf(path, sizeof path, "%s/ledger.db", second);
    assay_ledger *ledger = NULL;
    assay_event event;
    assert_int_equal(assay_ledger_open(&ledger, path, &err), ASSAY_OK);
    assay_event_init(&event, ASSAY_POST_PROCESSING);
    assert_int_equal(assay_ledger_charge(ledger, &event, "more", &err),
                     ASSAY_OK);
    assay_event_clear(&event);
    assay_ledger_close(ledger);
    (void)snprintf(path, sizeof path, "%s/certificate.dsse.json", second);
    assert_int_equal(verify_at(path, pub, &err), ASSAY_REFUTED);
    assert_non_null(strstr(err.message, "ledger file"));
}

/* ---- refusals of certify ---- */

static void refused(const char *name, const char *text, const char *reason)
{
    char folder[120], path[200];
    assay_error err = ASSAY_ERROR_INIT;
    json_t *failures = json_array();
    put_file("other.yaml", text);
    (void)snprintf(folder, sizeof folder, "%s/%s", root, name);
    assert_int_equal(certify("other.yaml", folder, failures, &err),
                     ASSAY_REFUTED);
    int found = 0;
    for (size_t i = 0; i < json_array_size(failures); i++) {
        found |= strstr(json_string_value(json_array_get(failures, i)),
                        reason) != NULL;
    }
    if (!found) {
        fail_msg("%s: no '%s' in %s", name, reason, err.message);
    }
    (void)snprintf(path, sizeof path, "%s/report.html", folder);
    assert_int_equal(access(path, R_OK), 0);
    (void)snprintf(path, sizeof path, "%s/certificate.dsse.json", folder);
    assert_int_not_equal(access(path, R_OK), 0);
    json_decref(failures);
}

static void replaced(char *to, size_t size, const char *from, const char *by)
{
    const char *at = strstr(manifest, from);
    assert_non_null(at);
    (void)snprintf(to, size, "%.*s%s%s", (int)(at - manifest), manifest, by,
                   at + strlen(from));
}

static void a_guarantee_above_the_budget_is_refused(void **state)
{
    char text[2000];
    (void)state;
    replaced(text, sizeof text, "rho: 1/2, epsilon: 5", "epsilon: 2");
    refused("over", text, "budget");
}

static void stale_and_unfinished_proofs_are_refused(void **state)
{
    (void)state;
    put_results("6", "int unit;\n");
    refused("incomplete", manifest, "incomplete (6 of 7 goals)");
    put_results("7", "int unit;\n");
    put_file("source/unit.c", "int changed;\n");
    refused("stale", manifest, "stale");
    put_file("source/unit.c", "int unit;\n");
}

static void a_refuted_claim_is_refused_with_a_counterexample(void **state)
{
    static const char text[] =
        "assay: 1\nname: printed\npurpose: a test\n"
        "data: {source: environment, environment: 'riverswim:S=3,H=2',\n"
        "  users: 1000, seed: 1, about: simulated}\n"
        "privacy: {unit: episode, neighbours: replace-one, trust: local}\n"
        "budget: {epsilon: 2, delta: 1e-6}\n"
        "releases: [{name: printed, statistic: mechanism, noise: laplace,\n"
        "  scale: 3, changes: 12, epsilon: 2}]\n"
        "audit: {runs: 400000, confidence: 0.999}\n";
    char path[200];
    char *html = NULL;
    size_t len = 0;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    refused("broken", text, "audit: printed is refuted");
    (void)snprintf(path, sizeof path, "%s/broken/report.html", root);
    assert_int_equal(assay_read_file(&html, &len, path, 1 << 24, &err),
                     ASSAY_OK);
    assert_non_null(strstr(html, "COUNTEREXAMPLE"));
    assert_non_null(strstr(html, "REFUSED"));
    free(html);
}

static void an_earlier_run_is_not_overwritten(void **state)
{
    assay_error err = ASSAY_ERROR_INIT;
    json_t *failures = json_array();
    (void)state;
    assert_int_equal(certify("deployment.yaml", out, failures, &err),
                     ASSAY_INVALID);
    assert_non_null(strstr(err.message, "earlier run"));
    json_decref(failures);
}

static void the_report_is_self_contained(void **state)
{
    char path[200];
    char *html = NULL;
    size_t len = 0;
    assay_error err = ASSAY_ERROR_INIT;
    static const char *const sections[] = {
        "CERTIFIED",     "id=\"meaning\"", "id=\"ledger\"",
        "id=\"proofs\"", "id=\"audit\"",   "id=\"printed\"",
        "id=\"nist\"",   "id=\"check\"",   "id=\"not-covered\""};
    (void)state;
    (void)snprintf(path, sizeof path, "%s/report.html", out);
    assert_int_equal(assay_read_file(&html, &len, path, 1 << 24, &err),
                     ASSAY_OK);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        assert_non_null(strstr(html, sections[i]));
    }
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "src=\"http"));
    assert_null(strstr(html, "<link"));
    assert_null(strstr(html, "url(http"));
    free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_honest_certificate_is_verified),
        cmocka_unit_test(every_changed_field_is_noticed_though_signed_again),
        cmocka_unit_test(every_claim_is_derived_again_and_not_just_hashed),
        cmocka_unit_test(malformed_statements_are_refused),
        cmocka_unit_test(a_change_without_a_signature_is_noticed),
        cmocka_unit_test(a_truncated_certificate_is_refused),
        cmocka_unit_test(re_ordered_keys_are_refused),
        cmocka_unit_test(re_ordered_lists_are_refused),
        cmocka_unit_test(added_and_removed_members_are_refused),
        cmocka_unit_test(another_key_is_refused_by_name),
        cmocka_unit_test(an_older_schema_is_refused_by_name),
        cmocka_unit_test(a_replayed_certificate_is_refused),
        cmocka_unit_test(a_guarantee_above_the_budget_is_refused),
        cmocka_unit_test(stale_and_unfinished_proofs_are_refused),
        cmocka_unit_test(a_refuted_claim_is_refused_with_a_counterexample),
        cmocka_unit_test(an_earlier_run_is_not_overwritten),
        cmocka_unit_test(the_report_is_self_contained),
    };
    return cmocka_run_group_tests(tests, make_world, remove_world);
}
