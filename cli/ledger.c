/* ring: glue */
/* assay ledger: create, show, verify, export. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "core/rational.h"

static const char help[] =
    "usage: assay ledger create FILE [--epsilon E --delta D] [--rho R]\n"
    "                           [--neighbours add-remove|replace-one]\n"
    "                           [--unit WORD] [--note TEXT] [--planned]\n"
    "       assay ledger show FILE [--json]    entries, spent, left\n"
    "       assay ledger verify FILE [--json]  chain and totals\n"
    "       assay ledger export FILE           everything, as JSON\n\n"
    "--planned: outputs never decide what is charged, so that every method\n"
    "may price the events (privacy-loss distributions too).\n\n"
    "examples:\n"
    "  assay ledger create L.db --epsilon 10 --delta 1e-6\n"
    "  assay ledger create L.db --rho 1/2 --neighbours replace-one\n"
    "  assay ledger show L.db --json\n";

typedef struct request {
    const char *action;
    const char *path;
    const char *epsilon;
    const char *delta;
    const char *rho;
    const char *neighbours;
    const char *unit;
    const char *note;
    int json;
    int planned;
} request;

static assay_status parse(request *out, int argc, char **argv, assay_error *err)
{
    const char *plain[2] = {NULL, NULL};
    size_t num_plain = 0;
    const assay_field table[] = {
        {"epsilon", ASSAY_FIELD_TEXT, &out->epsilon},
        {"delta", ASSAY_FIELD_TEXT, &out->delta},
        {"rho", ASSAY_FIELD_TEXT, &out->rho},
        {"neighbours", ASSAY_FIELD_TEXT, &out->neighbours},
        {"unit", ASSAY_FIELD_TEXT, &out->unit},
        {"note", ASSAY_FIELD_TEXT, &out->note},
        {"planned", ASSAY_FIELD_FLAG, &out->planned},
        {"json", ASSAY_FIELD_FLAG, &out->json},
        {NULL, ASSAY_FIELD_TEXT, NULL}};
    assay_status status =
        assay_fields_parse_plain(table, plain, 2, &num_plain, argc, argv, err);
    if (status == ASSAY_OK && num_plain != 2) {
        status = assay_fail(err, ASSAY_INVALID,
                            "give an action and one file; see --help");
    }
    out->action = plain[0];
    out->path = plain[1];
    return status;
}

static assay_status read_budget(assay_budget *out, const request *req,
                                assay_error *err)
{
    assay_status status = ASSAY_OK;
    out->has_epsilon = req->epsilon != NULL;
    out->has_rho = req->rho != NULL;
    out->planned = req->planned;
    if (req->delta != NULL && req->epsilon == NULL) {
        return assay_fail(err, ASSAY_INVALID, "--delta needs --epsilon");
    }
    if (req->epsilon != NULL) {
        status =
            assay_rational_parse(out->epsilon, req->epsilon, "--epsilon", err);
    }
    if (status == ASSAY_OK && req->delta != NULL) {
        status = assay_rational_parse(out->delta, req->delta, "--delta", err);
    }
    if (status == ASSAY_OK && req->rho != NULL) {
        status = assay_rational_parse(out->rho, req->rho, "--rho", err);
    }
    if (status == ASSAY_OK && req->neighbours != NULL) {
        status = assay_neighbours_parse(&out->neighbours, req->neighbours, err);
    }
    if (status == ASSAY_OK && req->unit != NULL) {
        if (strlen(req->unit) >= sizeof out->unit || req->unit[0] == '\0') {
            return assay_fail(err, ASSAY_INVALID, "--unit: a short word");
        }
        (void)snprintf(out->unit, sizeof out->unit, "%s", req->unit);
    }
    return status;
}

static assay_status create(const request *req, assay_error *err)
{
    assay_budget budget;
    assay_budget_init(&budget);
    assay_status status = read_budget(&budget, req, err);
    if (status == ASSAY_OK) {
        status = assay_ledger_create(req->path, &budget, req->note, err);
    }
    assay_budget_clear(&budget);
    return status;
}

static void put(json_t *object, const char *key, const mpq_t value, int exact,
                int up)
{
    char *text = exact ? assay_rational_text(value)
                       : assay_rational_decimal(value, 12, up);
    (void)json_object_set_new(object, key, json_string(text));
    free(text);
}

static json_t *limits(const assay_budget *b, int up)
{
    json_t *object = json_object();
    if (b->has_epsilon) {
        put(object, "epsilon", b->epsilon, 0, up);
        put(object, "delta", b->delta, 0, up);
    }
    if (b->has_rho) {
        put(object, "rho", b->rho, 1, up);
    }
    return object;
}

static void show_json(const assay_budget *budget, const assay_budget *spent,
                      const assay_budget *left, const json_t *all)
{
    json_t *entries = json_array();
    const json_t *rows = json_object_get(all, "rows");
    for (size_t i = 1; i < json_array_size(rows); i++) {
        (void)json_array_append(entries, json_array_get(rows, i));
    }
    json_t *object =
        json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:O}", "neighbours",
                  assay_neighbours_name(budget->neighbours), "unit",
                  budget->unit, "budget", limits(budget, 1), "spent",
                  limits(spent, 1), "left", limits(left, 0), "entries", entries,
                  "head", json_object_get(all, "head"));
    (void)json_dumpf(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(object);
}

static void show_line(const char *name, const assay_budget *b, int up)
{
    (void)printf("%-8s", name);
    if (b->has_epsilon) {
        char *e = assay_rational_decimal(b->epsilon, 8, up);
        char *d = assay_rational_decimal(b->delta, 8, up);
        (void)printf("  epsilon %s at delta %s", e, d);
        free(e);
        free(d);
    }
    if (b->has_rho) {
        char *r = assay_rational_decimal(b->rho, 8, up);
        (void)printf("  rho %s", r);
        free(r);
    }
    (void)putchar('\n');
}

static void show_text(const assay_budget *budget, const assay_budget *spent,
                      const assay_budget *left, const json_t *all)
{
    const json_t *rows = json_object_get(all, "rows");
    (void)printf("neighbours %s, unit %s, %zu entries%s\n",
                 assay_neighbours_name(budget->neighbours), budget->unit,
                 json_array_size(rows) - 1, budget->planned ? ", planned" : "");
    for (size_t i = 1; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char *event = json_dumps(json_object_get(row, "event"),
                                 JSON_COMPACT | JSON_SORT_KEYS);
        (void)printf("%6zu  %s  %s  %s\n", i,
                     json_string_value(json_object_get(row, "time")), event,
                     json_string_value(json_object_get(row, "label")));
        free(event);
    }
    show_line("budget", budget, 0);
    show_line("spent", spent, 1);
    show_line("left", left, 0);
}

static assay_status show(const request *req, assay_ledger *ledger,
                         assay_error *err)
{
    assay_budget spent, left;
    json_t *all = NULL;
    assay_budget_init(&spent);
    assay_budget_init(&left);
    assay_status status = assay_ledger_spent(&spent, ledger, err);
    if (status == ASSAY_OK) {
        status = assay_ledger_left(&left, ledger, err);
    }
    if (status == ASSAY_OK) {
        status = assay_ledger_export(&all, ledger, err);
    }
    if (status == ASSAY_OK) {
        (req->json ? show_json : show_text)(assay_ledger_budget(ledger), &spent,
                                            &left, all);
    }
    json_decref(all);
    assay_budget_clear(&spent);
    assay_budget_clear(&left);
    return status;
}

static assay_status verify(const request *req, assay_ledger *ledger,
                           assay_error *err)
{
    uint64_t rows = 0;
    char head[65] = "";
    assay_status status = assay_ledger_verify(ledger, &rows, err);
    if (status == ASSAY_OK) {
        status = assay_ledger_head(head, ledger, err);
    }
    if (status == ASSAY_OK) {
        (void)printf(req->json ? "{\"entries\": %llu, \"head\": \"%s\", "
                                 "\"verified\": true}\n"
                               : "%llu entries, the chain holds, head %s\n",
                     (unsigned long long)rows, head);
    }
    return status;
}

static assay_status export(assay_ledger *ledger, assay_error *err)
{
    json_t *all = NULL;
    assay_status status = assay_ledger_export(&all, ledger, err);
    if (status == ASSAY_OK) {
        (void)json_dumpf(all, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
        json_decref(all);
    }
    return status;
}

static assay_status act(const request *req, assay_error *err)
{
    if (strcmp(req->action, "create") == 0) {
        return create(req, err);
    }
    int what = strcmp(req->action, "show") == 0     ? 1
               : strcmp(req->action, "verify") == 0 ? 2
               : strcmp(req->action, "export") == 0 ? 3
                                                    : 0;
    if (what == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "unknown action '%.40s'; see --help", req->action);
    }
    assay_ledger *ledger = NULL;
    assay_status status = assay_ledger_open(&ledger, req->path, err);
    if (status == ASSAY_OK) {
        status = what == 1   ? show(req, ledger, err)
                 : what == 2 ? verify(req, ledger, err)
                             : export(ledger, err);
    }
    assay_ledger_close(ledger);
    return status;
}

int assay_cli_ledger(int argc, char **argv)
{
    assay_error err = ASSAY_ERROR_INIT;
    request req = {0};
    if (assay_fields_help(argc, argv)) {
        return fputs(help, stdout) < 0;
    }
    assay_status status = parse(&req, argc, argv, &err);
    if (status == ASSAY_OK) {
        status = act(&req, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("ledger", &err);
}
