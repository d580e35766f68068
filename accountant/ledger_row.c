/* ring: glue */
#include "accountant/ledger_row.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/bytes.h"
#include "core/rational.h"

#define FORMAT "assay-ledger-1"

assay_status assay_ledger_row_hash(char out[65], const char *body,
                                   assay_error *err)
{
    uint8_t digest[ASSAY_SHA256_LEN];
    assay_status status = assay_sha256(digest, body, strlen(body), err);
    if (status == ASSAY_OK) {
        assay_hex(out, digest, sizeof digest);
    }
    return status;
}

static void time_text(char out[32])
{
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts) == NULL ||
        strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        memcpy(out, "1970-01-01T00:00:00Z", 21);
    }
}

/* Takes `object` over. */
static assay_status dump(char **out, json_t *object, assay_error *err)
{
    char when[32];
    time_text(when);
    if (object == NULL ||
        json_object_set_new(object, "time", json_string(when)) != 0) {
        json_decref(object);
        return assay_fail(err, ASSAY_INVALID,
                          "ledger: a label or note is not UTF-8");
    }
    *out = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(object);
    return *out != NULL ? ASSAY_OK
                        : assay_fail(err, ASSAY_MEMORY, "no memory for a row");
}

static int put(json_t *object, const char *key, const mpq_t value)
{
    char *text = assay_rational_text(value);
    int bad = text == NULL ||
              json_object_set_new(object, key, json_string(text)) != 0;
    free(text);
    return bad;
}

assay_status assay_ledger_first_body(char **out, const assay_budget *budget,
                                     const char *note, assay_error *err)
{
    json_t *limits = json_pack("{s:s,s:s}", "neighbours",
                               assay_neighbours_name(budget->neighbours),
                               "unit", budget->unit);
    int bad = limits == NULL;
    if (!bad && budget->has_epsilon) {
        bad = put(limits, "epsilon", budget->epsilon) ||
              put(limits, "delta", budget->delta);
    }
    if (!bad && budget->has_rho) {
        bad = put(limits, "rho", budget->rho);
    }
    if (!bad && budget->planned) {
        bad = json_object_set_new(limits, "planned", json_true()) != 0;
    }
    if (bad) {
        json_decref(limits);
        return assay_fail(err, ASSAY_INVALID, "ledger: the unit is not UTF-8");
    }
    return dump(out,
                json_pack("{s:o,s:s,s:s,s:i}", "budget", limits, "format",
                          FORMAT, "note", note != NULL ? note : "", "sequence",
                          0),
                err);
}

static assay_status read_limit(mpq_t out, int *has, const json_t *limits,
                               const char *key, assay_error *err)
{
    const char *text = json_string_value(json_object_get(limits, key));
    *has = text != NULL;
    return text != NULL ? assay_rational_parse(out, text, key, err) : ASSAY_OK;
}

assay_status assay_ledger_first_read(assay_budget *out, const char *body,
                                     assay_error *err)
{
    json_t *row = body != NULL ? json_loads(body, 0, NULL) : NULL;
    const char *format = json_string_value(json_object_get(row, "format"));
    const json_t *limits = json_object_get(row, "budget");
    const char *relation =
        json_string_value(json_object_get(limits, "neighbours"));
    const char *unit = json_string_value(json_object_get(limits, "unit"));
    int has_delta = 0;
    assay_status status = ASSAY_OK;
    if (format == NULL || strcmp(format, FORMAT) != 0 || relation == NULL ||
        unit == NULL || strlen(unit) >= ASSAY_UNIT_LEN) {
        status = assay_fail(err, ASSAY_CORRUPT,
                            "ledger: the first row is not '%s'", FORMAT);
    }
    if (status == ASSAY_OK) {
        status = assay_neighbours_parse(&out->neighbours, relation, err);
        (void)snprintf(out->unit, sizeof out->unit, "%s",
                       unit != NULL ? unit : "");
    }
    if (status == ASSAY_OK) {
        status =
            read_limit(out->epsilon, &out->has_epsilon, limits, "epsilon", err);
    }
    if (status == ASSAY_OK) {
        status = read_limit(out->delta, &has_delta, limits, "delta", err);
    }
    if (status == ASSAY_OK) {
        status = read_limit(out->rho, &out->has_rho, limits, "rho", err);
        out->planned = json_is_true(json_object_get(limits, "planned"));
    }
    json_decref(row);
    return status;
}

assay_status assay_ledger_event_body(char **out, int64_t sequence,
                                     const char *previous,
                                     const assay_event *event,
                                     const char *label, assay_error *err)
{
    json_t *json = NULL;
    assay_status status = assay_event_to_json(&json, event, err);
    if (status != ASSAY_OK) {
        return status;
    }
    return dump(out,
                json_pack("{s:o,s:s,s:s,s:I}", "event", json, "label",
                          label != NULL ? label : "", "previous", previous,
                          "sequence", (json_int_t)sequence),
                err);
}

/* ---- exports ---- */

assay_status assay_ledger_export_row(json_t *rows, const char *body,
                                     const char *hash, assay_error *err)
{
    json_t *row =
        body != NULL && hash != NULL ? json_loads(body, 0, NULL) : NULL;
    if (row == NULL ||
        json_object_set_new(row, "hash", json_string(hash)) != 0) {
        json_decref(row);
        return assay_fail(err, ASSAY_CORRUPT, "ledger: row %zu is not JSON",
                          json_array_size(rows));
    }
    (void)json_array_append_new(rows, row);
    return ASSAY_OK;
}

assay_status assay_ledger_export_wrap(json_t **out, json_t *rows,
                                      assay_error *err)
{
    size_t n = json_array_size(rows);
    const json_t *first = json_array_get(rows, 0);
    const json_t *last = n > 0 ? json_array_get(rows, n - 1) : NULL;
    const char *head = json_string_value(json_object_get(last, "hash"));
    json_t *budget = json_object_get(first, "budget");
    if (head == NULL || budget == NULL) {
        return assay_fail(err, ASSAY_CORRUPT, "ledger: it has no first row");
    }
    *out = json_pack("{s:s,s:O,s:s,s:o}", "format", FORMAT, "budget", budget,
                     "head", head, "rows", rows);
    return *out != NULL ? ASSAY_OK
                        : assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
}

assay_status assay_ledger_export_events(assay_event_list *out,
                                        const json_t *all, assay_error *err)
{
    const json_t *rows = json_object_get(all, "rows");
    for (size_t i = 1; i < json_array_size(rows); i++) {
        assay_event event;
        const json_t *row = json_array_get(rows, i);
        assay_status s =
            assay_event_from_json(&event, json_object_get(row, "event"), err);
        if (s == ASSAY_OK) {
            const char *label =
                json_string_value(json_object_get(row, "label"));
            if (label != NULL && event.label[0] == '\0') {
                (void)strncpy(event.label, label, sizeof event.label - 1);
            }
            s = assay_event_list_add(out, &event, err);
            assay_event_clear(&event);
        }
        if (s != ASSAY_OK) {
            return assay_fail(err, ASSAY_CORRUPT,
                              "ledger: row %zu holds no valid event", i);
        }
    }
    return ASSAY_OK;
}

/* The hash of a row as exported: of its body, i.e. without the hash. */
static assay_status check_row(const json_t *row, const char *previous,
                              size_t sequence, assay_error *err)
{
    char hash[65];
    json_t *body = json_deep_copy(row);
    const char *stated = json_string_value(json_object_get(row, "hash"));
    const char *before = json_string_value(json_object_get(row, "previous"));
    json_int_t number = json_integer_value(json_object_get(row, "sequence"));
    (void)json_object_del(body, "hash");
    char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
    int ok = text != NULL && stated != NULL &&
             assay_ledger_row_hash(hash, text, err) == ASSAY_OK &&
             strcmp(hash, stated) == 0 && number == (json_int_t)sequence;
    if (sequence > 0) {
        ok = ok && before != NULL && previous != NULL &&
             strcmp(before, previous) == 0 &&
             assay_sequence_follows(sequence - 1, (uint64_t)number);
    }
    free(text);
    json_decref(body);
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_CORRUPT,
                           "ledger: the chain breaks at row %zu", sequence);
}

assay_status assay_ledger_verify_export(const json_t *ledger, assay_error *err)
{
    const json_t *rows = json_object_get(ledger, "rows");
    const char *head = json_string_value(json_object_get(ledger, "head"));
    const char *previous = NULL;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        assay_status status = check_row(row, previous, i, err);
        if (status != ASSAY_OK) {
            return status;
        }
        previous = json_string_value(json_object_get(row, "hash"));
    }
    if (head == NULL || previous == NULL || strcmp(head, previous) != 0 ||
        !json_equal(json_object_get(ledger, "budget"),
                    json_object_get(json_array_get(rows, 0), "budget"))) {
        return assay_fail(err, ASSAY_CORRUPT,
                          "ledger: head or budget do not match the rows");
    }
    return ASSAY_OK;
}
