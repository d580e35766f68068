/* ring: glue */
#include "certificate/proofs.h"

#include <glob.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/text.h"
#include "core/bytes.h"

#define MAX_BYTES ((size_t)16 << 20)
#define COLUMNS 6

static assay_status read_at(char **out, size_t *len, const char *source,
                            const char *name, assay_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", source, name) >=
        (int)sizeof path) {
        return assay_fail(err, ASSAY_INVALID, "a path is too long");
    }
    return assay_read_file(out, len, path, MAX_BYTES, err);
}

/* SHA-256 of all files one after the other; 0 if one is missing. */
static int digest_sources(char out[65], const char *source, const json_t *files)
{
    unsigned char digest[ASSAY_SHA256_LEN];
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok =
        context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1;
    for (size_t i = 0; i < json_array_size(files) && ok; i++) {
        char *text = NULL;
        size_t len = 0;
        ok = read_at(&text, &len, source,
                     json_string_value(json_array_get(files, i)),
                     NULL) == ASSAY_OK;
        ok = ok && EVP_DigestUpdate(context, text, len) == 1;
        free(text);
    }
    ok = ok && EVP_DigestFinal_ex(context, digest, NULL) == 1;
    EVP_MD_CTX_free(context);
    if (ok) {
        assay_hex(out, digest, sizeof digest);
    }
    return ok;
}

/* A pattern (proofs/coq/...) stands for the files that match it, in the order
   of their bytes. */
static void add_pattern(json_t *list, const char *source, const char *pattern)
{
    char path[4096];
    glob_t found;
    size_t skip = strlen(source) + 1;
    if (snprintf(path, sizeof path, "%s/%s", source, pattern) >=
            (int)sizeof path ||
        glob(path, 0, NULL, &found) != 0) {
        (void)json_array_append_new(list, json_string(pattern));
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        (void)json_array_append_new(list,
                                    json_string(found.gl_pathv[i] + skip));
    }
    globfree(&found);
}

static json_t *split_files(const char *source, char *text)
{
    json_t *list = json_array();
    char *rest = NULL;
    for (char *at = strtok_r(text, " ,", &rest); at != NULL;
         at = strtok_r(NULL, " ,", &rest)) {
        if (strpbrk(at, "*?[") != NULL) {
            add_pattern(list, source, at);
        } else {
            (void)json_array_append_new(list, json_string(at));
        }
    }
    return list;
}

static int holds(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(json_string_value(json_array_get(list, i)), name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Appends the headers of ours that a file includes ("room/name.h"). */
static void add_includes(json_t *list, const char *source, const char *name)
{
    char *text = NULL;
    size_t len = 0;
    if (read_at(&text, &len, source, name, NULL) != ASSAY_OK) {
        return;
    }
    for (const char *at = text; at != NULL; at = strchr(at + 1, '\n')) {
        char header[200];
        char *found = NULL;
        size_t found_len = 0;
        if (sscanf(at, " #include \"%199[^\"]\"", header) == 1 &&
            !holds(list, header) &&
            read_at(&found, &found_len, source, header, NULL) == ASSAY_OK) {
            (void)json_array_append_new(list, json_string(header));
        }
        free(found);
    }
    free(text);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(json_string_value(*(json_t *const *)a),
                  json_string_value(*(json_t *const *)b));
}

/* The files and all headers of ours below them, sorted; a new reference. */
static json_t *with_headers(const char *source, const json_t *files)
{
    json_t *all = json_deep_copy(files);
    for (size_t i = 0; i < json_array_size(all) && i < 10000; i++) {
        add_includes(all, source, json_string_value(json_array_get(all, i)));
    }
    size_t n = json_array_size(all);
    json_t **order = calloc(n + 1, sizeof(json_t *));
    json_t *sorted = json_array();
    for (size_t i = 0; order != NULL && i < n; i++) {
        order[i] = json_array_get(all, i);
    }
    if (order != NULL) {
        qsort(order, n, sizeof(json_t *), by_bytes);
    }
    for (size_t i = 0; order != NULL && i < n; i++) {
        (void)json_array_append(sorted, order[i]);
    }
    free(order);
    json_decref(all);
    return sorted;
}

static const char *judge(const char *source, const json_t *files,
                         const char *proved, const char *total,
                         const char *sha256)
{
    char now[65];
    if (!digest_sources(now, source, files)) {
        return "missing";
    }
    if (strcmp(now, sha256) != 0) {
        return "stale";
    }
    if (strcmp(proved, total) != 0 || strcmp(total, "0") == 0) {
        return "incomplete";
    }
    return "fresh";
}

/* One line, split at tabs in place. */
static void add_unit(json_t *units, const char *source, char *line)
{
    char *column[COLUMNS] = {NULL};
    char *rest = line;
    int n = 0;
    while (n < COLUMNS && rest != NULL) {
        column[n++] = strsep(&rest, "\t");
    }
    if (n < COLUMNS) {
        (void)json_array_append_new(
            units, json_pack("{s:s,s:s,s:s,s:s,s:[],s:s,s:s}", "lock", "?",
                             "unit", line, "proved", "0", "total", "0",
                             "sources", "sha256", "", "status", "incomplete"));
        return;
    }
    column[5][strcspn(column[5], "\t\r ")] = '\0';
    json_t *files = split_files(source, column[4]);
    const char *status = judge(source, files, column[2], column[3], column[5]);
    if (strcmp(status, "stale") == 0) {
        /* the digest may be of the file and its headers */
        json_t *all = with_headers(source, files);
        status = judge(source, all, column[2], column[3], column[5]);
        if (strcmp(status, "stale") != 0) {
            json_decref(files);
            files = json_incref(all);
        }
        json_decref(all);
    }
    (void)json_array_append_new(
        units,
        json_pack("{s:s,s:s,s:s,s:s,s:o,s:s,s:s}", "lock", column[0], "unit",
                  column[1], "proved", column[2], "total", column[3], "sources",
                  files, "sha256", column[5], "status", status));
}

static void read_results(json_t *units, json_t *tools, const char *source)
{
    char *text = NULL;
    size_t len = 0;
    if (read_at(&text, &len, source, "proofs/results.tsv", NULL) != ASSAY_OK) {
        return;
    }
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char name[40];
        char version[60];
        if (sscanf(line, "# tool %39s %59[^\n]", name, version) == 2) {
            (void)json_object_set_new(tools, name, json_string(version));
        } else if (line[0] != '#' && strncmp(line, "lock\t", 5) != 0) {
            add_unit(units, source, line);
        }
    }
    free(text);
}

/* The assumptions of a theorem in assumptions.txt, or NULL. */
static char *find_assumptions(const char *text, const char *id)
{
    size_t len = strlen(id);
    for (const char *at = text; at != NULL && *at != '\0';) {
        if (strncmp(at, id, len) == 0 && at[len] == '\t') {
            at += len + 1;
            return strndup(at, strcspn(at, "\n"));
        }
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    return NULL;
}

/* The annotation "(** @theorem ID ... *)" in a Coq file, as one line of text in
   fresh memory; NULL if it is not there. */
static char *find_statement(const char *coq, const char *id)
{
    char mark[120];
    int n = snprintf(mark, sizeof mark, "@theorem %s\n", id);
    const char *at = n > 0 && n < (int)sizeof mark ? strstr(coq, mark) : NULL;
    const char *stop = at != NULL ? strstr(at, "*)") : NULL;
    if (stop == NULL) {
        return NULL;
    }
    assay_text out = ASSAY_TEXT_INIT;
    for (at += n; at < stop; at++) {
        int blank = *at == ' ' || *at == '\n' || *at == '\t';
        if (!blank) {
            assay_text_add_bytes(&out, at, 1);
        } else if (out.len > 0 && out.bytes[out.len - 1] != ' ') {
            assay_text_add(&out, " ");
        }
    }
    while (out.len > 0 && out.bytes[out.len - 1] == ' ') {
        out.bytes[--out.len] = '\0';
    }
    if (out.failed) {
        assay_text_clear(&out);
    }
    return out.bytes;
}

/* {id: [file, statement]} of the ids that SOURCE/proofs/coq states. */
static json_t *read_statements(const char *source, const json_t *ids)
{
    json_t *found = json_object();
    json_t *files = json_array();
    add_pattern(files, source, "proofs/coq/*/*.v");
    for (size_t f = 0; f < json_array_size(files); f++) {
        const char *name = json_string_value(json_array_get(files, f));
        char *coq = NULL;
        size_t len = 0;
        if (read_at(&coq, &len, source, name, NULL) != ASSAY_OK) {
            continue;
        }
        for (size_t i = 0; i < json_array_size(ids); i++) {
            const char *id = json_string_value(json_array_get(ids, i));
            char *text = find_statement(coq, id);
            json_t *pair = text != NULL ? json_pack("[s,s]", name, text) : NULL;
            if (pair != NULL) {
                (void)json_object_set_new(found, id, pair);
            }
            free(text);
        }
        free(coq);
    }
    json_decref(files);
    return found;
}

static json_t *theorem_row(const char *id, const char *assumptions,
                           const json_t *statement)
{
    const char *file = json_string_value(json_array_get(statement, 0));
    const char *text = json_string_value(json_array_get(statement, 1));
    return json_pack("{s:s,s:s,s:s,s:s,s:s}", "id", id, "status",
                     assumptions != NULL ? "machine-checked" : "paper-proved",
                     "assumptions", assumptions != NULL ? assumptions : "",
                     "file", file != NULL ? file : "", "statement",
                     text != NULL ? text : "");
}

static json_t *theorem_rows(const char *source, const json_t *ids)
{
    char *text = NULL;
    size_t len = 0;
    json_t *rows = json_array();
    json_t *statements = read_statements(source, ids);
    if (read_at(&text, &len, source, "proofs/coq/assumptions.txt", NULL) !=
        ASSAY_OK) {
        text = NULL;
    }
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        char *found = text != NULL ? find_assumptions(text, id) : NULL;
        (void)json_array_append_new(
            rows, theorem_row(id, found, json_object_get(statements, id)));
        free(found);
    }
    free(text);
    json_decref(statements);
    return rows;
}

assay_status assay_proofs_status(json_t **out, const char *source,
                                 const json_t *ids, assay_error *err)
{
    json_t *units = json_array();
    json_t *tools = json_object();
    if (units != NULL && tools != NULL) {
        read_results(units, tools, source);
    }
    *out = json_pack("{s:o,s:o,s:o}", "units", units, "theorems",
                     theorem_rows(source, ids), "tools", tools);
    return *out != NULL ? ASSAY_OK
                        : assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
}

static const char *or_unknown(const json_t *object, const char *key)
{
    const char *text = assay_json_text(object, key);
    return text != NULL ? text : "unknown";
}

void assay_proofs_failures(json_t *failures, const json_t *proofs)
{
    const json_t *units = json_object_get(proofs, "units");
    assay_text line = ASSAY_TEXT_INIT;
    if (json_array_size(units) == 0) {
        (void)json_array_append_new(
            failures, json_string("proofs: there is no proofs/results.tsv; "
                                  "run `make prove` in the source tree (or "
                                  "name it with --source)"));
    }
    for (size_t i = 0; i < json_array_size(units); i++) {
        const json_t *unit = json_array_get(units, i);
        const char *status = or_unknown(unit, "status");
        const char *proved = or_unknown(unit, "proved");
        const char *total = or_unknown(unit, "total");
        if (strcmp(status, "fresh") == 0 && strcmp(proved, total) == 0) {
            continue;
        }
        assay_text_clear(&line);
        assay_text_printf(&line, "proofs: %s %s is %s (%s of %s goals)",
                          or_unknown(unit, "lock"), or_unknown(unit, "unit"),
                          status, proved, total);
        if (!line.failed) {
            (void)json_array_append_new(failures, json_string(line.bytes));
        }
    }
    assay_text_clear(&line);
}
