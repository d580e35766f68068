/* ring: glue */
#include "accountant/ledger.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "accountant/guarantee.h"
#include "accountant/ledger_row.h"
#include "core/bytes.h"
#include "core/rational.h"

#define BUSY_MS 120000
#define PLANNED_KINDS 64 /* of events, up to which pld is affordable */

struct assay_ledger {
    sqlite3 *db;
    assay_budget budget;
    /* Totals as of the row whose hash is `head`: one event per kind, with the
       sum of the counts; `index` finds a kind by its text. */
    char head[65];
    int64_t sequence;
    assay_event_list totals;
    json_t *index;
};

static const char schema[] =
    "CREATE TABLE rows(sequence INTEGER PRIMARY KEY, body TEXT NOT NULL,"
    " hash TEXT NOT NULL);"
    "CREATE TRIGGER rows_keep BEFORE UPDATE ON rows BEGIN"
    " SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TRIGGER rows_stay BEFORE DELETE ON rows BEGIN"
    " SELECT RAISE(ABORT, 'the ledger is append-only'); END;"
    "CREATE TABLE totals(event TEXT PRIMARY KEY, count INTEGER NOT NULL);";

void assay_budget_init(assay_budget *budget)
{
    memset(budget, 0, sizeof *budget);
    (void)strcpy(budget->unit, "person");
    mpq_init(budget->epsilon);
    mpq_init(budget->delta);
    mpq_init(budget->rho);
}

void assay_budget_clear(assay_budget *budget)
{
    mpq_clear(budget->epsilon);
    mpq_clear(budget->delta);
    mpq_clear(budget->rho);
    memset(budget, 0, sizeof *budget);
}

static assay_status sql_fail(sqlite3 *db, const char *what, assay_error *err)
{
    int code = sqlite3_errcode(db);
    assay_status status = code == SQLITE_CORRUPT || code == SQLITE_NOTADB
                              ? ASSAY_CORRUPT
                          : code == SQLITE_NOMEM ? ASSAY_MEMORY
                                                 : ASSAY_IO;
    return assay_fail(err, status, "ledger: %s: %s", what, sqlite3_errmsg(db));
}

static assay_status sql_run(sqlite3 *db, const char *sql, assay_error *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? ASSAY_OK
               : sql_fail(db, "cannot write", err);
}

/* Durable: full sync, and of the folder too when the journal goes. */
static assay_status set_up(sqlite3 *db, assay_error *err)
{
    (void)sqlite3_busy_timeout(db, BUSY_MS);
    (void)sqlite3_extended_result_codes(db, 0);
    return sql_run(db, "PRAGMA synchronous=EXTRA; PRAGMA trusted_schema=OFF;",
                   err);
}

/* ---- rows ---- */

static assay_status insert_row(sqlite3 *db, int64_t sequence, const char *body,
                               char hash[65], assay_error *err)
{
    sqlite3_stmt *st = NULL;
    assay_status status = assay_ledger_row_hash(hash, body, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (sqlite3_prepare_v2(db, "INSERT INTO rows VALUES(?,?,?)", -1, &st,
                           NULL) != SQLITE_OK) {
        return sql_fail(db, "cannot write", err);
    }
    (void)sqlite3_bind_int64(st, 1, sequence);
    (void)sqlite3_bind_text(st, 2, body, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(st, 3, hash, -1, SQLITE_STATIC);
    int done = sqlite3_step(st) == SQLITE_DONE;
    status = done ? ASSAY_OK : sql_fail(db, "cannot write a row", err);
    (void)sqlite3_finalize(st);
    return status;
}

static assay_status last_row(sqlite3 *db, int64_t *sequence, char hash[65],
                             assay_error *err)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(db,
                           "SELECT sequence, hash FROM rows "
                           "ORDER BY sequence DESC LIMIT 1",
                           -1, &st, NULL) != SQLITE_OK) {
        return sql_fail(db, "not a ledger", err);
    }
    assay_status status = ASSAY_OK;
    int code = sqlite3_step(st);
    const char *text =
        code == SQLITE_ROW ? (const char *)sqlite3_column_text(st, 1) : NULL;
    if (text == NULL || strlen(text) != 64) {
        status = code == SQLITE_ROW || code == SQLITE_DONE
                     ? assay_fail(err, ASSAY_CORRUPT, "ledger: no last row")
                     : sql_fail(db, "cannot read", err);
    } else {
        *sequence = sqlite3_column_int64(st, 0);
        memcpy(hash, text, 65);
    }
    (void)sqlite3_finalize(st);
    return status;
}

/* ---- creation ---- */

static assay_status check_budget(const assay_budget *budget, assay_error *err)
{
    if (!budget->has_epsilon && !budget->has_rho) {
        return assay_fail(err, ASSAY_INVALID,
                          "ledger: a budget needs epsilon (and delta) or rho");
    }
    if (mpq_sgn(budget->epsilon) < 0 || mpq_sgn(budget->rho) < 0 ||
        mpq_sgn(budget->delta) < 0 || mpq_cmp_ui(budget->delta, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "ledger: epsilon and rho must not be negative and "
                          "delta lie in [0, 1)");
    }
    return ASSAY_OK;
}

static assay_status write_first(sqlite3 *db, const assay_budget *budget,
                                const char *note, assay_error *err)
{
    char *body = NULL;
    char hash[65];
    assay_status status = assay_ledger_first_body(&body, budget, note, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = sql_run(db, "BEGIN IMMEDIATE", err);
    if (status == ASSAY_OK) {
        status = sql_run(db, schema, err);
    }
    if (status == ASSAY_OK) {
        status = insert_row(db, 0, body, hash, err);
    }
    if (status == ASSAY_OK) {
        status = sql_run(db, "COMMIT", err);
    }
    free(body);
    return status;
}

assay_status assay_ledger_create(const char *path, const assay_budget *budget,
                                 const char *note, assay_error *err)
{
    assay_status status = check_budget(budget, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (access(path, F_OK) == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "ledger: '%s' exists; a ledger is never replaced",
                          path);
    }
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        NULL) != SQLITE_OK) {
        status = assay_fail(err, ASSAY_IO, "ledger: cannot create '%s'", path);
    } else {
        status = set_up(db, err);
    }
    if (status == ASSAY_OK) {
        status = write_first(db, budget, note, err);
    }
    (void)sqlite3_close(db);
    return status;
}

/* ---- opening ---- */

static assay_status read_first(assay_ledger *ledger, assay_error *err)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(ledger->db,
                           "SELECT body FROM rows WHERE sequence = 0", -1, &st,
                           NULL) != SQLITE_OK) {
        return sql_fail(ledger->db, "not a ledger", err);
    }
    assay_status status =
        sqlite3_step(st) == SQLITE_ROW
            ? assay_ledger_first_read(&ledger->budget,
                                      (const char *)sqlite3_column_text(st, 0),
                                      err)
            : sql_fail(ledger->db, "cannot read the first row", err);
    (void)sqlite3_finalize(st);
    return status;
}

static assay_status cannot_open(const char *path, assay_error *err)
{
    const char *why = access(path, F_OK) != 0 ? "there is no such file"
                                              : "not readable and writable";
    return assay_fail(err, ASSAY_IO,
                      "ledger: cannot open '%s': %s; a new one is made by "
                      "'assay ledger create'",
                      path, why);
}

assay_status assay_ledger_open(assay_ledger **out, const char *path,
                               assay_error *err)
{
    assay_ledger *ledger = calloc(1, sizeof *ledger);
    if (ledger == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a ledger");
    }
    assay_budget_init(&ledger->budget);
    assay_status status = ASSAY_OK;
    if (sqlite3_open_v2(path, &ledger->db, SQLITE_OPEN_READWRITE, NULL) !=
        SQLITE_OK) {
        status = cannot_open(path, err);
    }
    if (status == ASSAY_OK) {
        status = set_up(ledger->db, err);
    }
    if (status == ASSAY_OK) {
        status = read_first(ledger, err);
    }
    assay_event_list_init(&ledger->totals, ledger->budget.neighbours,
                          ledger->budget.unit);
    if (status != ASSAY_OK) {
        assay_ledger_close(ledger);
        return status;
    }
    *out = ledger;
    return ASSAY_OK;
}

void assay_ledger_close(assay_ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    (void)sqlite3_close(ledger->db);
    assay_budget_clear(&ledger->budget);
    assay_event_list_clear(&ledger->totals);
    json_decref(ledger->index);
    free(ledger);
}

const assay_budget *assay_ledger_budget(const assay_ledger *ledger)
{
    return &ledger->budget;
}

/* ---- totals ---- */

static void forget(assay_ledger *ledger)
{
    assay_event_list_clear(&ledger->totals);
    json_decref(ledger->index);
    ledger->index = json_object();
    ledger->head[0] = '\0';
}

/* Adds an event's kind (count and label left out) to the totals; *key is its
   text (free() it), *count the new sum. */
static assay_status add_total(assay_ledger *ledger, const assay_event *event,
                              char **key, uint64_t *count, assay_error *err)
{
    assay_event kind;
    assay_status status = assay_event_copy(&kind, event, err);
    if (status != ASSAY_OK) {
        return status;
    }
    kind.count = 1;
    memset(kind.label, 0, sizeof kind.label);
    status = assay_event_text(key, &kind, err);
    json_t *at =
        status == ASSAY_OK ? json_object_get(ledger->index, *key) : NULL;
    if (status == ASSAY_OK && at == NULL) {
        kind.count = event->count;
        *count = event->count;
        size_t place = ledger->totals.num_events;
        status = assay_event_list_add(&ledger->totals, &kind, err);
        if (status == ASSAY_OK) {
            (void)json_object_set_new(ledger->index, *key,
                                      json_integer((json_int_t)place));
        }
    } else if (status == ASSAY_OK) {
        assay_event *old = &ledger->totals.events[json_integer_value(at)];
        status =
            assay_count_add(&old->count, old->count, event->count) == ASSAY_OK
                ? ASSAY_OK
                : assay_fail(err, ASSAY_RANGE, "ledger: too many events");
        *count = old->count;
    }
    assay_event_clear(&kind);
    return status;
}

static assay_status load_total(assay_ledger *ledger, const char *text,
                               int64_t count, assay_error *err)
{
    assay_event event;
    json_t *json = text != NULL ? json_loads(text, 0, NULL) : NULL;
    assay_status status = assay_event_from_json(&event, json, err);
    json_decref(json);
    if (status != ASSAY_OK || count < 1) {
        return assay_fail(err, ASSAY_CORRUPT, "ledger: a total is unreadable");
    }
    char *key = NULL;
    uint64_t sum = 0;
    event.count = (uint64_t)count;
    status = add_total(ledger, &event, &key, &sum, err);
    free(key);
    assay_event_clear(&event);
    return status;
}

/* Brings the totals up to the last row; cheap when nobody else has charged.
   Called inside a transaction, so that rows and totals agree. */
static assay_status refresh(assay_ledger *ledger, assay_error *err)
{
    char head[65];
    int64_t sequence = 0;
    assay_status status = last_row(ledger->db, &sequence, head, err);
    if (status != ASSAY_OK || strcmp(head, ledger->head) == 0) {
        return status;
    }
    forget(ledger);
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(ledger->db, "SELECT event, count FROM totals", -1,
                           &st, NULL) != SQLITE_OK) {
        return sql_fail(ledger->db, "cannot read totals", err);
    }
    int code = SQLITE_ROW;
    while (status == ASSAY_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
        status = load_total(ledger, (const char *)sqlite3_column_text(st, 0),
                            sqlite3_column_int64(st, 1), err);
    }
    if (status == ASSAY_OK && code != SQLITE_DONE) {
        status = sql_fail(ledger->db, "cannot read totals", err);
    }
    (void)sqlite3_finalize(st);
    if (status == ASSAY_OK) {
        memcpy(ledger->head, head, sizeof head);
        ledger->sequence = sequence;
    } else {
        forget(ledger);
    }
    return status;
}

/* ---- prices ---- */

static assay_status epsilon_by(mpq_t out, const assay_ledger *ledger,
                               const assay_account_options *options,
                               assay_error *err)
{
    assay_guarantee g;
    assay_guarantee_init(&g);
    assay_status status =
        assay_account(&g, &ledger->totals, ledger->budget.delta, options, err);
    if (status == ASSAY_OK) {
        mpq_set(out, g.bounds[0].epsilon);
    }
    assay_guarantee_clear(&g);
    return status;
}

/* The cheap methods; for a planned budget all of them, unless the cheap ones
   already stay within `enough` (may be NULL) or there are too many kinds. */
static assay_status epsilon_spent(mpq_t out, const assay_ledger *ledger,
                                  mpq_srcptr enough, assay_error *err)
{
    static const assay_account_options cheap = {.cheap = 1};
    static const assay_account_options all = {0};
    assay_status status = epsilon_by(out, ledger, &cheap, err);
    int done =
        status == ASSAY_OK && enough != NULL && mpq_cmp(out, enough) <= 0;
    if (!ledger->budget.planned || done ||
        ledger->totals.num_events > PLANNED_KINDS) {
        return status;
    }
    return epsilon_by(out, ledger, &all, err); /* the best: never above */
}

static assay_status within(const assay_ledger *ledger, assay_error *err)
{
    const assay_budget *budget = &ledger->budget;
    mpq_t spent;
    mpq_init(spent);
    assay_status status = ASSAY_OK;
    if (budget->has_rho) {
        status = assay_account_rho(spent, &ledger->totals, err);
        if (status == ASSAY_OK && mpq_cmp(spent, budget->rho) > 0) {
            status = assay_fail(err, ASSAY_BUDGET,
                                "the charge does not fit: rho would be %.6g of "
                                "%.6g",
                                mpq_get_d(spent), mpq_get_d(budget->rho));
        }
    }
    if (status == ASSAY_OK && budget->has_epsilon) {
        status = epsilon_spent(spent, ledger, budget->epsilon, err);
        if (status == ASSAY_OK && mpq_cmp(spent, budget->epsilon) > 0) {
            status = assay_fail(err, ASSAY_BUDGET,
                                "the charge does not fit: epsilon would be "
                                "%.6g of %.6g at delta %.3g%s",
                                mpq_get_d(spent), mpq_get_d(budget->epsilon),
                                mpq_get_d(budget->delta),
                                budget->planned ? ""
                                                : " (a planned budget may "
                                                  "hold more: see assay "
                                                  "ledger --help)");
        }
    }
    mpq_clear(spent);
    return status;
}

/* ---- charging ---- */

static assay_status write_total(assay_ledger *ledger, const char *key,
                                uint64_t count, assay_error *err)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(ledger->db,
                           "INSERT INTO totals VALUES(?,?) ON CONFLICT(event) "
                           "DO UPDATE SET count = excluded.count",
                           -1, &st, NULL) != SQLITE_OK) {
        return sql_fail(ledger->db, "cannot write", err);
    }
    (void)sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(st, 2, (int64_t)count);
    assay_status status = sqlite3_step(st) == SQLITE_DONE
                              ? ASSAY_OK
                              : sql_fail(ledger->db, "cannot write", err);
    (void)sqlite3_finalize(st);
    return status;
}

static assay_status append(assay_ledger *ledger, const assay_event *event,
                           const char *label, assay_error *err)
{
    char *key = NULL;
    char *body = NULL;
    uint64_t count = 0;
    int64_t next = ledger->sequence + 1;
    assay_status status = add_total(ledger, event, &key, &count, err);
    if (status == ASSAY_OK) {
        status = assay_ledger_event_body(&body, next, ledger->head, event,
                                         label, err);
    }
    if (status == ASSAY_OK) {
        status = insert_row(ledger->db, next, body, ledger->head, err);
    }
    if (status == ASSAY_OK) {
        status = write_total(ledger, key, count, err);
        ledger->sequence = next;
    }
    free(key);
    free(body);
    return status;
}

static assay_status charge_inside(assay_ledger *ledger,
                                  const assay_event *events, size_t num_events,
                                  const char *label, int commit,
                                  assay_error *err)
{
    assay_status status = refresh(ledger, err);
    for (size_t i = 0; i < num_events && status == ASSAY_OK; i++) {
        status = append(ledger, &events[i], label, err);
    }
    if (status == ASSAY_OK) {
        status = within(ledger, err);
    }
    if (status == ASSAY_OK && commit) {
        status = sql_run(ledger->db, "COMMIT", err);
    }
    return status;
}

static assay_status charge(assay_ledger *ledger, const assay_event *events,
                           size_t num_events, const char *label, int commit,
                           assay_error *err)
{
    for (size_t i = 0; i < num_events; i++) {
        assay_status s = assay_event_validate(&events[i], err);
        if (s == ASSAY_OK) {
            s = assay_event_validate_for(&events[i], ledger->budget.neighbours,
                                         err);
        }
        if (s != ASSAY_OK) {
            return s;
        }
    }
    assay_status status = sql_run(ledger->db, "BEGIN IMMEDIATE", err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = charge_inside(ledger, events, num_events, label, commit, err);
    if (status != ASSAY_OK || !commit) {
        (void)sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
        forget(ledger);
    }
    return status;
}

assay_status assay_ledger_charge(assay_ledger *ledger, const assay_event *event,
                                 const char *label, assay_error *err)
{
    return charge(ledger, event, 1, label, 1, err);
}

assay_status assay_ledger_charge_all(assay_ledger *ledger,
                                     const assay_event *events,
                                     size_t num_events, const char *label,
                                     assay_error *err)
{
    return charge(ledger, events, num_events, label, 1, err);
}

assay_status assay_ledger_check(assay_ledger *ledger, const assay_event *event,
                                assay_error *err)
{
    return charge(ledger, event, 1, NULL, 0, err);
}

/* ---- reading ---- */

static assay_status refresh_alone(assay_ledger *ledger, assay_error *err)
{
    assay_status status = sql_run(ledger->db, "BEGIN", err);
    if (status == ASSAY_OK) {
        status = refresh(ledger, err);
        (void)sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}

assay_status assay_ledger_spent(assay_budget *out, assay_ledger *ledger,
                                assay_error *err)
{
    assay_error ignored = ASSAY_ERROR_INIT;
    assay_status status = refresh_alone(ledger, err);
    if (status != ASSAY_OK) {
        return status;
    }
    out->neighbours = ledger->budget.neighbours;
    memcpy(out->unit, ledger->budget.unit, sizeof out->unit);
    out->has_rho =
        assay_account_rho(out->rho, &ledger->totals, &ignored) == ASSAY_OK;
    out->has_epsilon = ledger->budget.has_epsilon;
    mpq_set(out->delta, ledger->budget.delta);
    if (out->has_epsilon) {
        status = epsilon_spent(out->epsilon, ledger, NULL, err);
    }
    return status;
}

static void subtract(mpq_t out, const mpq_t limit)
{
    mpq_sub(out, limit, out);
    if (mpq_sgn(out) < 0) {
        mpq_set_ui(out, 0, 1);
    }
}

assay_status assay_ledger_left(assay_budget *out, assay_ledger *ledger,
                               assay_error *err)
{
    assay_status status = assay_ledger_spent(out, ledger, err);
    if (status != ASSAY_OK) {
        return status;
    }
    out->has_rho = out->has_rho && ledger->budget.has_rho;
    subtract(out->rho, ledger->budget.rho);
    subtract(out->epsilon, ledger->budget.epsilon);
    return ASSAY_OK;
}

assay_status assay_ledger_export(json_t **out, assay_ledger *ledger,
                                 assay_error *err)
{
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(ledger->db,
                           "SELECT body, hash FROM rows ORDER BY sequence", -1,
                           &st, NULL) != SQLITE_OK) {
        return sql_fail(ledger->db, "cannot read", err);
    }
    json_t *rows = json_array();
    assay_status status = rows != NULL ? ASSAY_OK : ASSAY_MEMORY;
    int code = SQLITE_ROW;
    while (status == ASSAY_OK && (code = sqlite3_step(st)) == SQLITE_ROW) {
        status = assay_ledger_export_row(
            rows, (const char *)sqlite3_column_text(st, 0),
            (const char *)sqlite3_column_text(st, 1), err);
    }
    if (status == ASSAY_OK && code != SQLITE_DONE) {
        status = sql_fail(ledger->db, "cannot read", err);
    }
    (void)sqlite3_finalize(st);
    if (status == ASSAY_OK) {
        status = assay_ledger_export_wrap(out, rows, err);
    }
    if (status != ASSAY_OK) {
        json_decref(rows);
    }
    return status;
}

assay_status assay_ledger_events(assay_event_list *out, assay_ledger *ledger,
                                 assay_error *err)
{
    json_t *all = NULL;
    assay_status status = assay_ledger_export(&all, ledger, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_event_list_init(out, ledger->budget.neighbours, ledger->budget.unit);
    status = assay_ledger_export_events(out, all, err);
    json_decref(all);
    if (status != ASSAY_OK) {
        assay_event_list_clear(out);
    }
    return status;
}

assay_status assay_ledger_head(char out[65], assay_ledger *ledger,
                               assay_error *err)
{
    int64_t sequence = 0;
    return last_row(ledger->db, &sequence, out, err);
}

/* The totals table must be the sum over the rows. */
static assay_status compare_totals(assay_ledger *ledger,
                                   const assay_event_list *events,
                                   assay_error *err)
{
    assay_ledger fresh = {0};
    assay_status status = ASSAY_OK;
    assay_event_list_init(&fresh.totals, events->neighbours, events->unit);
    fresh.index = json_object();
    for (size_t i = 0; i < events->num_events && status == ASSAY_OK; i++) {
        char *key = NULL;
        uint64_t count = 0;
        status = add_total(&fresh, &events->events[i], &key, &count, err);
        free(key);
    }
    int same = fresh.totals.num_events == ledger->totals.num_events;
    const char *key;
    json_t *at;
    json_object_foreach(fresh.index, key, at)
    {
        const json_t *there = json_object_get(ledger->index, key);
        same = same && there != NULL &&
               fresh.totals.events[json_integer_value(at)].count ==
                   ledger->totals.events[json_integer_value(there)].count;
    }
    assay_event_list_clear(&fresh.totals);
    json_decref(fresh.index);
    if (status == ASSAY_OK && !same) {
        status = assay_fail(err, ASSAY_CORRUPT,
                            "ledger: the totals are not the sum of the rows");
    }
    return status;
}

static assay_status verify_inside(assay_ledger *ledger, uint64_t *num_rows,
                                  assay_error *err)
{
    json_t *all = NULL;
    assay_event_list events;
    forget(ledger);
    assay_status status = refresh(ledger, err);
    if (status == ASSAY_OK) {
        status = assay_ledger_export(&all, ledger, err);
    }
    if (status == ASSAY_OK) {
        status = assay_ledger_verify_export(all, err);
    }
    if (status == ASSAY_OK) {
        assay_event_list_init(&events, ledger->budget.neighbours,
                              ledger->budget.unit);
        status = assay_ledger_export_events(&events, all, err);
        if (status == ASSAY_OK) {
            status = compare_totals(ledger, &events, err);
        }
        if (num_rows != NULL) {
            *num_rows = events.num_events;
        }
        assay_event_list_clear(&events);
    }
    json_decref(all);
    return status;
}

assay_status assay_ledger_verify(assay_ledger *ledger, uint64_t *num_rows,
                                 assay_error *err)
{
    assay_status status = sql_run(ledger->db, "BEGIN", err);
    if (status == ASSAY_OK) {
        status = verify_inside(ledger, num_rows, err);
        (void)sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    }
    return status;
}
