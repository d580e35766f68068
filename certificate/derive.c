/* ring: glue */
#include "certificate/derive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/sentence.h"
#include "core/rational.h"

#define PROFILE_POINTS 24

static int put(json_t *object, const char *key, const mpq_t value)
{
    char *text = assay_rational_text(value);
    int bad = text == NULL ||
              json_object_set_new(object, key, json_string(text)) != 0;
    free(text);
    return bad;
}

static int put_decimal(json_t *object, const char *key, const mpq_t value)
{
    char *text = assay_rational_decimal(value, 6, 1);
    int bad = text == NULL ||
              json_object_set_new(object, key, json_string(text)) != 0;
    free(text);
    return bad;
}

static json_t *ids(const assay_bound *bound, const char *skip1,
                   const char *skip2)
{
    json_t *list = json_array();
    for (int i = 0; i < bound->num_theorems; i++) {
        const char *id = bound->theorems[i];
        if (strcmp(id, skip1) != 0 && strcmp(id, skip2) != 0) {
            (void)json_array_append_new(list, json_string(id));
        }
    }
    return list;
}

/* Equal events are one step: `list` gets each once, with its count. */
typedef struct groups {
    assay_event_list list;
    json_t *first_row; /* of each, from 1 */
} groups;

assay_status assay_event_key(char **out, const assay_event *event,
                             assay_error *err)
{
    json_t *json = NULL;
    assay_status status = assay_event_to_json(&json, event, err);
    if (status == ASSAY_OK) {
        (void)json_object_del(json, "count");
        (void)json_object_del(json, "label");
        status = assay_canonical_text(out, NULL, json, err);
        json_decref(json);
    }
    return status;
}

static assay_status group_events(groups *out, const assay_event_list *events,
                                 assay_error *err)
{
    assay_status status = ASSAY_OK;
    json_t *index = json_object();
    assay_event_list_init(&out->list, events->neighbours, events->unit);
    out->first_row = json_array();
    for (size_t i = 0; i < events->num_events && status == ASSAY_OK; i++) {
        char *key = NULL;
        status = assay_event_key(&key, &events->events[i], err);
        if (status != ASSAY_OK) {
            break;
        }
        json_t *at = json_object_get(index, key);
        if (at != NULL) {
            assay_event *e = &out->list.events[json_integer_value(at)];
            e->count += events->events[i].count;
            if (e->count > ASSAY_MAX_COUNT) {
                status = assay_fail(err, ASSAY_RANGE, "too many events");
            }
        } else {
            (void)json_object_set_new(
                index, key, json_integer((json_int_t)out->list.num_events));
            (void)json_array_append_new(out->first_row,
                                        json_integer((json_int_t)i + 1));
            status = assay_event_list_add(&out->list, &events->events[i], err);
        }
        free(key);
    }
    json_decref(index);
    return status;
}

/* The price of one event alone, by the chosen method. */
static assay_status price_step(json_t *steps, const groups *g, size_t i,
                               int zcdp, const mpq_t delta, assay_error *err)
{
    assay_event_list one;
    assay_guarantee price;
    assay_account_options only = {.method = zcdp ? "zcdp" : "basic"};
    json_t *event = NULL;
    mpq_t total;
    mpq_init(total);
    assay_guarantee_init(&price);
    assay_event_list_init(&one, g->list.neighbours, g->list.unit);
    assay_status status = assay_event_list_add(&one, &g->list.events[i], err);
    if (status == ASSAY_OK) {
        status = assay_account(&price, &one, delta, &only, err);
    }
    if (status == ASSAY_OK) {
        status = assay_event_to_json(&event, &g->list.events[i], err);
    }
    if (status == ASSAY_OK) {
        const assay_bound *b = &price.bounds[0];
        (void)json_object_del(event, "label");
        (void)json_object_del(event, "count");
        json_t *out = json_object();
        if (zcdp) {
            (void)put(out, "rho", b->rho);
        } else {
            (void)put(out, "epsilon", b->epsilon);
        }
        char runs[32];
        (void)snprintf(runs, sizeof runs, "%llu",
                       (unsigned long long)g->list.events[i].count);
        json_t *step = json_pack(
            "{s:s,s:o,s:{s:o,s:s,s:O},s:o}", "rule", "price", "theorems",
            ids(b, zcdp ? "compose-zcdp" : "compose-basic", "zcdp-to-dp"), "in",
            "event", event, "runs", runs, "firstRow",
            json_array_get(g->first_row, i), "out", out);
        event = NULL;
        if (step == NULL || json_array_append_new(steps, step) != 0) {
            status = assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
        }
    }
    json_decref(event);
    assay_event_list_clear(&one);
    assay_guarantee_clear(&price);
    mpq_clear(total);
    return status;
}

static void compose_steps(json_t *steps, const assay_bound *b, int zcdp)
{
    json_t *in = json_object();
    json_t *out = json_object();
    if (!zcdp) {
        (void)put(out, "epsilon", b->epsilon);
        (void)put(out, "delta", b->delta);
        (void)json_array_append_new(
            steps,
            json_pack("{s:s,s:[s],s:o,s:o}", "rule", "compose", "theorems",
                      "compose-basic", "in", in, "out", out));
        return;
    }
    (void)put(out, "rho", b->rho);
    (void)json_array_append_new(
        steps, json_pack("{s:s,s:[s],s:o,s:o}", "rule", "compose", "theorems",
                         "compose-zcdp", "in", in, "out", out));
    in = json_object();
    out = json_object();
    (void)put(in, "rho", b->rho);
    (void)put(in, "delta", b->delta);
    (void)put(in, "alpha", b->alpha);
    (void)put(out, "epsilon", b->epsilon);
    (void)json_array_append_new(
        steps, json_pack("{s:s,s:[s],s:o,s:o}", "rule", "convert", "theorems",
                         "zcdp-to-dp", "in", in, "out", out));
}

static assay_status write_steps(json_t *steps, const assay_event_list *events,
                                const assay_bound *best, assay_error *err)
{
    groups g;
    int zcdp = strcmp(best->method, "zcdp") == 0;
    assay_status status = group_events(&g, events, err);
    for (size_t i = 0; i < g.list.num_events && status == ASSAY_OK; i++) {
        status = price_step(steps, &g, i, zcdp, best->delta, err);
    }
    if (status == ASSAY_OK) {
        compose_steps(steps, best, zcdp);
    }
    assay_event_list_clear(&g.list);
    json_decref(g.first_row);
    return status;
}

/* delta(epsilon) at evenly spaced epsilons up to twice the stated one. */
static assay_status write_profile(json_t *points,
                                  const assay_event_list *events,
                                  const mpq_t epsilon, assay_error *err)
{
    assay_account_options only = {.method = "zcdp"};
    assay_status status = ASSAY_OK;
    mpq_t at;
    mpq_init(at);
    for (unsigned long i = 1; i <= PROFILE_POINTS && status == ASSAY_OK; i++) {
        assay_guarantee g;
        assay_guarantee_init(&g);
        mpq_set_ui(at, i, PROFILE_POINTS / 2);
        mpq_canonicalize(at);
        mpq_mul(at, at, epsilon);
        status = assay_account_delta(&g, events, at, &only, err);
        if (status == ASSAY_OK) {
            json_t *point = json_object();
            (void)put(point, "epsilon", at);
            (void)put(point, "delta", g.bounds[0].delta);
            (void)put(point, "alpha", g.bounds[0].alpha);
            (void)json_array_append_new(points, point);
        }
        assay_guarantee_clear(&g);
    }
    mpq_clear(at);
    return status;
}

static assay_status write_guarantee(json_t *out, const assay_guarantee *g,
                                    const char *trust, assay_error *err)
{
    const assay_bound *b = &g->bounds[0];
    int bad = put(out, "epsilon", b->epsilon) || put(out, "delta", b->delta) ||
              put_decimal(out, "epsilonDecimal", b->epsilon) ||
              put_decimal(out, "deltaDecimal", b->delta) ||
              json_object_set_new(out, "method", json_string(b->method)) ||
              json_object_set_new(out, "assumed", json_boolean(b->assumed)) ||
              json_object_set_new(
                  out, "neighbours",
                  json_string(assay_neighbours_name(g->neighbours))) ||
              json_object_set_new(out, "unit", json_string(g->unit)) ||
              json_object_set_new(out, "trust", json_string(trust)) ||
              json_object_set_new(
                  out, "notion",
                  json_string("(epsilon, delta)-differential privacy"));
    if (!bad && strcmp(b->method, "zcdp") == 0) {
        bad = put(out, "rho", b->rho);
    }
    char *sentence = bad ? NULL : assay_sentence(out);
    bad = sentence == NULL ||
          json_object_set_new(out, "sentence", json_string(sentence)) != 0;
    free(sentence);
    return bad ? assay_fail(err, ASSAY_MEMORY, "no memory for JSON") : ASSAY_OK;
}

/* The better of pure (delta 0) and zCDP; the error is zCDP's. */
static assay_status best_bound(assay_guarantee *out,
                               const assay_event_list *events,
                               const mpq_t delta, assay_error *err)
{
    assay_guarantee pure;
    mpq_t zero;
    assay_account_options basic = {.method = "basic"};
    assay_account_options zcdp = {.method = "zcdp"};
    mpq_init(zero);
    assay_guarantee_init(&pure);
    assay_status has_zcdp = assay_account(out, events, delta, &zcdp, err);
    assay_status has_pure = assay_account(&pure, events, zero, &basic, NULL);
    if (has_pure == ASSAY_OK &&
        (has_zcdp != ASSAY_OK ||
         mpq_cmp(pure.bounds[0].epsilon, out->bounds[0].epsilon) <= 0)) {
        assay_guarantee_clear(out);
        *out = pure;
        has_zcdp = ASSAY_OK;
    } else {
        assay_guarantee_clear(&pure);
    }
    mpq_clear(zero);
    return has_zcdp;
}

assay_status assay_derive(json_t **out, const assay_event_list *events,
                          const mpq_t delta, const char *trust,
                          assay_error *err)
{
    assay_guarantee g;
    json_t *guarantee = json_object();
    json_t *steps = json_array();
    json_t *points = json_array();
    assay_guarantee_init(&g);
    assay_status status = best_bound(&g, events, delta, err);
    if (status == ASSAY_OK) {
        status = write_guarantee(guarantee, &g, trust, err);
    }
    if (status == ASSAY_OK) {
        status = write_steps(steps, events, &g.bounds[0], err);
    }
    if (status == ASSAY_OK) {
        status = write_profile(points, events, g.bounds[0].epsilon, err);
    }
    assay_guarantee_clear(&g);
    json_t *all = json_pack("{s:o,s:o,s:o}", "guarantee", guarantee,
                            "derivation", steps, "profile", points);
    if (status == ASSAY_OK && all == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    if (status != ASSAY_OK) {
        json_decref(all);
        return status;
    }
    *out = all;
    return ASSAY_OK;
}
