/* ring: glue */
#include "certificate/certify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "accountant/ledger.h"
#include "certificate/attack.h"
#include "certificate/canonical.h"
#include "certificate/coqfile.h"
#include "certificate/deploy.h"
#include "certificate/derive.h"
#include "certificate/dsse.h"
#include "certificate/findings.h"
#include "certificate/proofs.h"
#include "certificate/report.h"
#include "certificate/statement.h"
#include "certificate/verify.h"
#include "core/bytes.h"

typedef struct run {
    const assay_certify_options *options;
    assay_manifest manifest;
    EVP_PKEY *key;
    char *folder;
    char *ledger_path;
    const char *source;
    assay_event_list events;
    int has_events;
    json_t *outputs;
    json_t *derived;
    json_t *ledger;
    json_t *proofs;
    json_t *audit;
    json_t *statement;
    json_t *failures;
} run;

static void say(const run *r, const char *line)
{
    if (r->options->say != NULL) {
        r->options->say(line);
    }
}

static void refuse(run *r, const char *what, const char *why)
{
    char line[ASSAY_ERROR_LEN + 40];
    (void)snprintf(line, sizeof line, "%s: %s", what, why);
    (void)json_array_append_new(r->failures, json_string(line));
}

/* ---- the folder ---- */

/* Makes the folder and those above it. */
static assay_status make_folder(const char *path, assay_error *err)
{
    char *copy = strdup(path);
    int ok = copy != NULL && copy[0] != '\0';
    for (char *at = copy; ok && (at = strchr(at + 1, '/')) != NULL;) {
        *at = '\0';
        ok = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *at = '/';
    }
    ok = ok && (mkdir(copy, 0777) == 0 || errno == EEXIST);
    free(copy);
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_IO, "the folder '%s' cannot be made",
                           path);
}

static assay_status refuse_earlier(const run *r, const char *name,
                                   assay_error *err)
{
    char *path = assay_deploy_path(r->folder, name);
    int there = path != NULL && access(path, F_OK) == 0;
    free(path);
    return there ? assay_fail(err, ASSAY_INVALID,
                              "'%s' holds an earlier run (%s): choose another "
                              "folder with -o, or remove it",
                              r->folder, name)
                 : ASSAY_OK;
}

static assay_status prepare(run *r, assay_error *err)
{
    const assay_certify_options *o = r->options;
    const char *folder = o->folder != NULL
                             ? o->folder
                             : assay_yaml_text(&r->manifest.tree, "output");
    if (folder == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "no folder: give -o DIR or 'output' in the manifest");
    }
    r->source = o->source != NULL ? o->source : ".";
    r->folder = strdup(folder);
    r->ledger_path = o->ledger != NULL ? strdup(o->ledger)
                                       : assay_deploy_path(folder, "ledger.db");
    if (r->folder == NULL || r->ledger_path == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a path");
    }
    assay_status status = assay_key_read_private(&r->key, o->key, err);
    if (status == ASSAY_OK) {
        status = make_folder(folder, err);
    }
    if (status == ASSAY_OK && o->ledger == NULL) {
        status = refuse_earlier(r, "ledger.db", err);
    }
    return status == ASSAY_OK ? refuse_earlier(r, "certificate.dsse.json", err)
                              : status;
}

/* ---- the run ---- */

static assay_status open_ledger(run *r, assay_error *err)
{
    char note[120];
    if (r->options->ledger != NULL) {
        return ASSAY_OK;
    }
    (void)snprintf(note, sizeof note, ASSAY_LEDGER_NOTE "%s",
                   r->manifest.digest);
    return assay_ledger_create(r->ledger_path, &r->manifest.budget, note, err);
}

/* An existing ledger must be about the same unit and relation. */
static assay_status same_terms(const run *r, const assay_custodian *custodian,
                               assay_error *err)
{
    const assay_budget *budget = assay_ledger_budget(custodian->ledger);
    if (budget->neighbours != r->manifest.budget.neighbours ||
        strcmp(budget->unit, r->manifest.budget.unit) != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "the ledger is about another unit or neighbour "
                          "relation than the manifest");
    }
    return ASSAY_OK;
}

static assay_status deploy(run *r, assay_error *err)
{
    assay_custodian custodian;
    assay_status status = open_ledger(r, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_custodian_init(&custodian, r->ledger_path, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = same_terms(r, &custodian, err);
    if (status == ASSAY_OK) {
        assay_error why = ASSAY_ERROR_INIT;
        assay_status ran =
            assay_deploy(r->outputs, &r->manifest, r->folder, &custodian, &why);
        if (ran == ASSAY_BUDGET) {
            refuse(r, "budget", why.message);
        } else if (ran != ASSAY_OK) {
            *err = why;
            status = ran;
        }
    }
    if (status == ASSAY_OK) {
        status = assay_ledger_export(&r->ledger, custodian.ledger, err);
    }
    if (status == ASSAY_OK) {
        status = assay_ledger_events(&r->events, custodian.ledger, err);
        r->has_events = status == ASSAY_OK;
    }
    assay_custodian_clear(&custodian);
    return status;
}

static void check_limit(run *r, const char *key, const mpq_t limit)
{
    mpq_t value;
    const char *text =
        assay_json_text(json_object_get(r->derived, "guarantee"), key);
    mpq_init(value);
    if (text != NULL && mpq_set_str(value, text, 10) == 0 &&
        mpq_cmp(value, limit) > 0) {
        char line[200];
        (void)snprintf(line, sizeof line, "%s is %.9g, above the budget %.9g",
                       key, mpq_get_d(value), mpq_get_d(limit));
        refuse(r, "budget", line);
    }
    mpq_clear(value);
}

static assay_status account(run *r, assay_error *err)
{
    if (r->events.num_events == 0) {
        refuse(r, "guarantee", "nothing was charged, so nothing is certified");
        return ASSAY_OK;
    }
    assay_error why = ASSAY_ERROR_INIT;
    assay_status status = assay_derive(
        &r->derived, &r->events, r->manifest.delta, r->manifest.trust, &why);
    if (status == ASSAY_UNSUPPORTED) {
        refuse(r, "guarantee", why.message);
        return ASSAY_OK;
    }
    if (status != ASSAY_OK) {
        *err = why;
        return status;
    }
    if (json_is_true(assay_json_at(r->derived, "guarantee/assumed"))) {
        refuse(r, "guarantee",
               "a release rests on its author's word: no theorem here covers "
               "it (\"assumed\" in the ledger)");
    }
    if (r->manifest.budget.has_epsilon) {
        check_limit(r, "epsilon", r->manifest.budget.epsilon);
    }
    if (r->manifest.budget.has_rho) {
        check_limit(r, "rho", r->manifest.budget.rho);
    }
    return ASSAY_OK;
}

static assay_status look_at_proofs(run *r, assay_error *err)
{
    json_t *ids = assay_statement_theorems(r->derived, r->manifest.json);
    assay_status status = assay_proofs_status(&r->proofs, r->source, ids, err);
    json_decref(ids);
    if (status == ASSAY_OK) {
        assay_proofs_failures(r->failures, r->proofs);
    }
    return status;
}

static assay_status attack(run *r, assay_error *err)
{
    assay_status status = assay_attack(
        &r->audit, &r->manifest,
        r->derived != NULL ? json_object_get(r->derived, "guarantee") : NULL,
        r->has_events ? &r->events : NULL, err);
    if (status == ASSAY_OK) {
        assay_attack_failures(r->failures, r->audit);
    }
    return status;
}

/* ---- writing ---- */

static assay_status write_text(const run *r, const char *name, const char *text,
                               assay_error *err)
{
    char *path = assay_deploy_path(r->folder, name);
    assay_status status =
        path != NULL ? assay_write_file(path, text, strlen(text), err)
                     : assay_fail(err, ASSAY_MEMORY, "no memory for a path");
    free(path);
    return status;
}

static assay_status sign(run *r, assay_error *err)
{
    json_t *envelope = NULL;
    char *payload = NULL;
    char *text = NULL;
    size_t len = 0;
    assay_status status =
        assay_canonical_text(&payload, &len, r->statement, err);
    if (status == ASSAY_OK) {
        status = assay_dsse_seal(&envelope, payload, len, r->key, err);
    }
    if (status == ASSAY_OK) {
        text = json_dumps(envelope, JSON_COMPACT | JSON_SORT_KEYS);
        status = text != NULL
                     ? write_text(r, "certificate.dsse.json", text, err)
                     : assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    json_decref(envelope);
    free(payload);
    free(text);
    return status;
}

static assay_status write_key(const run *r, assay_error *err)
{
    char *path = assay_deploy_path(r->folder, "certificate.pub");
    assay_status status =
        path != NULL ? assay_key_write_public(path, r->key, err)
                     : assay_fail(err, ASSAY_MEMORY, "no memory for a path");
    free(path);
    return status;
}

static assay_status write_coq(const run *r, assay_error *err)
{
    char *text = NULL;
    assay_status status =
        assay_coq_text(&text, json_object_get(r->statement, "predicate"), err);
    if (status == ASSAY_OK) {
        status = write_text(r, "guarantee.v", text, err);
    }
    free(text);
    return status;
}

static assay_status build_statement(run *r, assay_error *err)
{
    assay_parts parts = {r->derived, r->ledger,  r->proofs,
                         r->audit,   r->outputs, r->options->ledger == NULL};
    return assay_statement_build(&r->statement, &r->manifest, &parts, r->folder,
                                 err);
}

/* The certificate is read back and verified before anybody else does. */
static assay_status issue(run *r, assay_error *err)
{
    assay_status status = sign(r, err);
    if (status == ASSAY_OK) {
        status = write_key(r, err);
    }
    if (status == ASSAY_OK) {
        status = write_coq(r, err);
    }
    char *path = assay_deploy_path(r->folder, "certificate.dsse.json");
    if (status == ASSAY_OK && path != NULL) {
        json_t *findings = json_array();
        assay_verify_options check = {
            .path = path, .ledger = r->ledger_path, .source = r->source};
        assay_error why = ASSAY_ERROR_INIT;
        if (assay_verify(findings, NULL, &check, &why) != ASSAY_OK) {
            (void)unlink(path);
            refuse(r, "self-check", why.message);
        }
        json_decref(findings);
    }
    free(path);
    return status;
}

static assay_status report(run *r, assay_error *err)
{
    assay_report_input input = {.manifest = &r->manifest,
                                .statement = r->statement,
                                .derived = r->derived,
                                .ledger = r->ledger,
                                .proofs = r->proofs,
                                .audit = r->audit,
                                .outputs = r->outputs,
                                .failures = r->failures};
    char *html = NULL;
    assay_status status = assay_report_html(&html, &input, err);
    if (status == ASSAY_OK) {
        status = write_text(r, "report.html", html, err);
    }
    free(html);
    return status;
}

static assay_status all_steps(run *r, assay_error *err)
{
    say(r, "running the deployment");
    assay_status status = deploy(r, err);
    if (status == ASSAY_OK) {
        say(r, "accounting for what ran");
        status = account(r, err);
    }
    if (status == ASSAY_OK) {
        say(r, "attacking the mechanism");
        status = attack(r, err);
    }
    if (status == ASSAY_OK) {
        say(r, "looking at the proofs");
        status = look_at_proofs(r, err);
    }
    if (status == ASSAY_OK && r->derived != NULL &&
        json_array_size(r->outputs) > 0) {
        status = build_statement(r, err);
    }
    if (status == ASSAY_OK && json_array_size(r->failures) == 0) {
        say(r, "signing and verifying");
        status = issue(r, err);
    }
    if (status == ASSAY_OK) {
        say(r, "writing the report");
        status = report(r, err);
    }
    return status;
}

static void clear(run *r)
{
    EVP_PKEY_free(r->key);
    free(r->folder);
    free(r->ledger_path);
    if (r->has_events) {
        assay_event_list_clear(&r->events);
    }
    json_decref(r->outputs);
    json_decref(r->derived);
    json_decref(r->ledger);
    json_decref(r->proofs);
    json_decref(r->audit);
    json_decref(r->statement);
    assay_manifest_clear(&r->manifest);
}

assay_status assay_certify(json_t *failures, char **folder,
                           const assay_certify_options *options,
                           assay_error *err)
{
    run r;
    memset(&r, 0, sizeof r);
    r.options = options;
    r.failures = failures;
    assay_status status =
        assay_manifest_read(&r.manifest, options->manifest, err);
    if (status != ASSAY_OK) {
        return status;
    }
    r.outputs = json_array();
    status = prepare(&r, err);
    if (status == ASSAY_OK) {
        status = all_steps(&r, err);
    }
    if (folder != NULL && r.folder != NULL) {
        *folder = strdup(r.folder);
    }
    clear(&r);
    if (status == ASSAY_OK && json_array_size(failures) > 0) {
        status = assay_fail(err, ASSAY_REFUTED, "refused: %s",
                            json_string_value(json_array_get(failures, 0)));
    }
    return status;
}
