/* ring: glue */
#include "accountant/guarantee.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accountant/account.h"
#include "accountant/numeric.h"
#include "core/rational.h"

void assay_bound_init(assay_bound *bound, const char *method)
{
    memset(bound, 0, sizeof *bound);
    (void)strncpy(bound->method, method, sizeof bound->method - 1);
    mpq_init(bound->epsilon);
    mpq_init(bound->delta);
    mpq_init(bound->epsilon_lower);
    mpq_init(bound->delta_lower);
    mpq_init(bound->rho);
    mpq_init(bound->alpha);
    mpq_init(bound->value);
}

void assay_bound_clear(assay_bound *bound)
{
    mpq_clear(bound->epsilon);
    mpq_clear(bound->delta);
    mpq_clear(bound->epsilon_lower);
    mpq_clear(bound->delta_lower);
    mpq_clear(bound->rho);
    mpq_clear(bound->alpha);
    mpq_clear(bound->value);
}

void assay_bound_cite(assay_bound *bound, const char *id)
{
    if (id == NULL) {
        return;
    }
    for (int i = 0; i < bound->num_theorems; i++) {
        if (strcmp(bound->theorems[i], id) == 0) {
            return;
        }
    }
    if (bound->num_theorems < ASSAY_MAX_THEOREMS) {
        bound->theorems[bound->num_theorems++] = id;
    }
}

void assay_guarantee_init(assay_guarantee *out)
{
    memset(out, 0, sizeof *out);
}

void assay_guarantee_clear(assay_guarantee *out)
{
    for (int i = 0; i < out->num_bounds; i++) {
        assay_bound_clear(&out->bounds[i]);
    }
    memset(out, 0, sizeof *out);
}

char *assay_bound_text(const mpq_t value, int digits)
{
    return assay_rational_decimal(value, digits, 1);
}

typedef struct entry {
    const char *name;
    assay_method *run;
    int cheap;
} entry;

static const entry methods[] = {
    {"basic", assay_method_basic, 1},
    {"advanced", assay_method_advanced, 1},
    {"gaussian", assay_method_gaussian, 1},
    {"zcdp", assay_method_zcdp, 1},
    {"renyi", assay_method_renyi, 1},
    {"lattice", assay_method_lattice, 0},
    {"pld", assay_method_pld, 0},
};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int better(const assay_guarantee *g, const assay_bound *a,
                  const assay_bound *b)
{
    return g->fixed_epsilon ? mpq_cmp(a->delta, b->delta) < 0
                            : mpq_cmp(a->epsilon, b->epsilon) < 0;
}

/* Insertion keeps the best first; among equals the earlier, simpler one. */
static void keep(assay_guarantee *out, const assay_bound *bound)
{
    int at = out->num_bounds++;
    while (at > 0 && better(out, bound, &out->bounds[at - 1])) {
        out->bounds[at] = out->bounds[at - 1];
        at--;
    }
    out->bounds[at] = *bound;
}

static assay_status run_one(assay_guarantee *out, const entry *method,
                            const assay_query *query, assay_error *err)
{
    assay_bound bound;
    assay_bound_init(&bound, method->name);
    double start = now();
    assay_status status = method->run(&bound, query, err);
    bound.seconds = now() - start;
    bound.assumed = query->assumed;
    if (status == ASSAY_OK) {
        keep(out, &bound);
    } else {
        assay_bound_clear(&bound);
    }
    return status;
}

static int wanted(const assay_query *query, const entry *method)
{
    const assay_account_options *o = query->options;
    if (o->method != NULL) {
        return strcmp(o->method, method->name) == 0;
    }
    return method->cheap || !o->cheap;
}

static assay_status run_all(assay_guarantee *out, const assay_query *query,
                            assay_error *err)
{
    assay_error last = ASSAY_ERROR_INIT;
    int tried = 0;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (!wanted(query, &methods[i])) {
            continue;
        }
        tried++;
        assay_status status = run_one(out, &methods[i], query, &last);
        if (status == ASSAY_MEMORY || status == ASSAY_INTERNAL) {
            return assay_fail(err, status, "%s", last.message);
        }
    }
    if (tried == 0) {
        return assay_fail(err, ASSAY_INVALID, "no method is called '%.40s'",
                          query->options->method);
    }
    if (out->num_bounds == 0) {
        return assay_fail(err, last.status, "%s", last.message);
    }
    return ASSAY_OK;
}

static assay_status answer(assay_guarantee *out, const assay_event_list *events,
                           int fixed_epsilon, const mpq_t target,
                           const assay_account_options *options,
                           assay_error *err)
{
    static const assay_account_options plain = {0};
    assay_query query = {events, fixed_epsilon, target,
                         options != NULL ? options : &plain, 0};
    for (size_t i = 0; i < events->num_events; i++) {
        assay_status s = assay_event_validate(&events->events[i], err);
        if (s == ASSAY_OK) {
            s = assay_event_validate_for(&events->events[i], events->neighbours,
                                         err);
        }
        if (s != ASSAY_OK) {
            return s;
        }
        query.assumed |= events->events[i].assumed;
    }
    assay_guarantee_clear(out);
    out->neighbours = events->neighbours;
    memcpy(out->unit, events->unit, sizeof out->unit);
    out->fixed_epsilon = fixed_epsilon;
    assay_status status = run_all(out, &query, err);
    if (status != ASSAY_OK) {
        assay_guarantee_clear(out);
    }
    return status;
}

assay_status assay_account(assay_guarantee *out, const assay_event_list *events,
                           const mpq_t delta,
                           const assay_account_options *options,
                           assay_error *err)
{
    if (mpq_sgn(delta) < 0 || mpq_cmp_ui(delta, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID, "delta must lie in [0, 1)");
    }
    return answer(out, events, 0, delta, options, err);
}

assay_status assay_account_delta(assay_guarantee *out,
                                 const assay_event_list *events,
                                 const mpq_t epsilon,
                                 const assay_account_options *options,
                                 assay_error *err)
{
    if (mpq_sgn(epsilon) < 0) {
        return assay_fail(err, ASSAY_INVALID, "epsilon must not be negative");
    }
    return answer(out, events, 1, epsilon, options, err);
}

static int put_number(json_t *object, const char *key, const mpq_t value,
                      int up)
{
    char *text = assay_rational_decimal(value, ASSAY_DIGITS, up);
    int bad = text == NULL ||
              json_object_set_new(object, key, json_string(text)) != 0;
    free(text);
    return bad;
}

static int put_exact(json_t *object, const char *key, const mpq_t value)
{
    char *text = assay_rational_text(value);
    int bad = text == NULL ||
              json_object_set_new(object, key, json_string(text)) != 0;
    free(text);
    return bad;
}

static json_t *bound_json(const assay_guarantee *g, const assay_bound *bound)
{
    json_t *theorems = json_array();
    json_t *object = json_pack("{s:s,s:f,s:o}", "method", bound->method,
                               "seconds", bound->seconds, "theorems", theorems);
    int bad = object == NULL;
    for (int i = 0; i < bound->num_theorems && !bad; i++) {
        bad |= json_array_append_new(theorems, json_string(bound->theorems[i]));
    }
    bad = bad || put_number(object, "epsilon", bound->epsilon, 1) ||
          put_number(object, "delta", bound->delta, 1);
    if (!bad && bound->has_lower) {
        bad |=
            g->fixed_epsilon
                ? put_number(object, "delta_lower", bound->delta_lower, 0)
                : put_number(object, "epsilon_lower", bound->epsilon_lower, 0);
    }
    if (!bad && mpq_sgn(bound->alpha) != 0) {
        bad |= put_exact(object, "alpha", bound->alpha);
    }
    if (!bad && mpq_sgn(bound->rho) != 0) {
        bad |= put_exact(object, "rho", bound->rho);
    }
    if (!bad && mpq_sgn(bound->value) != 0) {
        bad |= put_exact(object, "value", bound->value);
    }
    if (!bad && bound->assumed) {
        bad |= json_object_set_new(object, "assumed", json_true());
    }
    if (bad) {
        json_decref(object);
        return NULL;
    }
    return object;
}

assay_status assay_guarantee_to_json(json_t **out, const assay_guarantee *g,
                                     assay_error *err)
{
    json_t *list = json_array();
    json_t *object = json_pack("{s:s,s:s,s:o}", "neighbours",
                               assay_neighbours_name(g->neighbours), "unit",
                               g->unit, "methods", list);
    int bad = object == NULL || g->num_bounds < 1;
    for (int i = 0; i < g->num_bounds && !bad; i++) {
        bad |= json_array_append_new(list, bound_json(g, &g->bounds[i]));
    }
    bad =
        bad || put_number(object, "epsilon", g->bounds[0].epsilon, 1) ||
        put_number(object, "delta", g->bounds[0].delta, 1) ||
        json_object_set_new(object, "method", json_string(g->bounds[0].method));
    if (bad) {
        json_decref(object);
        return assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    *out = object;
    return ASSAY_OK;
}
