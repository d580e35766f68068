/* ring: glue */
#include "certificate/attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/guarantee.h"
#include "certificate/attack_run.h"
#include "certificate/canonical.h"
#include "certificate/derive.h"
#include "core/rational.h"

#define MAX_COORDINATES 64
#define MAX_LEVELS 12

static int is_gaussian(const assay_event *event)
{
    return event->mechanism == ASSAY_DISCRETE_GAUSSIAN ||
           event->mechanism == ASSAY_TREE_GAUSSIAN;
}

static int is_noise(const assay_event *event)
{
    return is_gaussian(event) || event->mechanism == ASSAY_DISCRETE_LAPLACE ||
           event->mechanism == ASSAY_TREE_LAPLACE;
}

/* The largest integer s with s^power <= q, at most 2^45. */
static long root(const mpq_t q, int power)
{
    mpz_t n;
    mpz_init(n);
    mpz_tdiv_q(n, mpq_numref(q), mpq_denref(q));
    if (power == 2) {
        mpz_sqrt(n, n);
    }
    long out = mpz_cmp_ui(n, 1UL << 45) < 0 ? mpz_get_si(n) : 1L << 45;
    mpz_clear(n);
    return out;
}

/* Neighbours at the stated distance: in a vector, many coordinates by 1 where
   there are few enough, else one coordinate by all of it. */
static int aim(assay_target *out, const assay_event *event)
{
    int tree = event->mechanism == ASSAY_TREE_LAPLACE ||
               event->mechanism == ASSAY_TREE_GAUSSIAN;
    out->gaussian = is_gaussian(event);
    out->noise = out->gaussian ? event->sigma2 : event->scale;
    out->sensitivity = out->gaussian ? event->sensitivity2 : event->sensitivity;
    out->levels = tree ? (unsigned long)event->levels : 0;
    long all = root(out->sensitivity, 1);
    if (!tree && all >= 1 && all <= MAX_COORDINATES) {
        out->coordinates = (size_t)all;
        out->shift = 1;
    } else {
        out->coordinates = 1;
        out->shift = root(out->sensitivity, out->gaussian ? 2 : 1);
    }
    return out->shift >= 1 && out->levels <= MAX_LEVELS && event->group == 1 &&
           event->sampling == ASSAY_SAMPLE_ALL;
}

/* The price of one run, as the accountant states it. */
static assay_status price(mpq_t out, const assay_event_list *list,
                          const assay_event *event, assay_error *err)
{
    assay_event_list one;
    assay_guarantee g;
    mpq_t zero;
    assay_account_options basic = {.method = "basic"};
    mpq_init(zero);
    assay_guarantee_init(&g);
    assay_event_list_init(&one, list->neighbours, list->unit);
    assay_status status = assay_event_list_add(&one, event, err);
    if (status == ASSAY_OK) {
        one.events[0].count = 1;
        status = is_gaussian(event)
                     ? assay_account_rho(out, &one, err)
                     : assay_account(&g, &one, zero, &basic, err);
    }
    if (status == ASSAY_OK && !is_gaussian(event)) {
        mpq_set(out, g.bounds[0].epsilon);
    }
    assay_guarantee_clear(&g);
    assay_event_list_clear(&one);
    mpq_clear(zero);
    return status;
}

static assay_status attack_event(json_t **out, const assay_manifest *m,
                                 const assay_event_list *list,
                                 const assay_event *event, assay_error *err)
{
    assay_target target;
    memset(&target, 0, sizeof target);
    if (!is_noise(event) || !aim(&target, event)) {
        *out = NULL;
        return ASSAY_OK;
    }
    mpq_t value;
    mpq_init(value);
    assay_status status = price(value, list, event, err);
    if (status == ASSAY_OK) {
        status = assay_attack_target(out, &target,
                                     target.gaussian ? "rho" : "epsilon", value,
                                     m->audit_runs, m->audit_confidence, err);
    }
    mpq_clear(value);
    return status;
}

static assay_status attack_events(json_t *results, json_t *skipped,
                                  const assay_manifest *m,
                                  const assay_event_list *list,
                                  assay_error *err)
{
    json_t *seen = json_object();
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < list->num_events && status == ASSAY_OK; i++) {
        const assay_event *event = &list->events[i];
        char *key = NULL;
        json_t *result = NULL;
        status = assay_event_key(&key, event, err);
        if (status == ASSAY_OK && json_object_get(seen, key) == NULL &&
            !event->assumed) {
            (void)json_object_set_new(seen, key, json_true());
            status = attack_event(&result, m, list, event, err);
            if (result != NULL) {
                (void)json_object_set_new(result, "row",
                                          json_integer((json_int_t)i + 1));
                (void)json_object_set_new(
                    result, "mechanism",
                    json_string(assay_mechanism_name(event->mechanism)));
                (void)json_array_append_new(results, result);
            } else if (status == ASSAY_OK) {
                (void)json_array_append_new(skipped,
                                            json_integer((json_int_t)i + 1));
            }
        }
        free(key);
    }
    json_decref(seen);
    return status;
}

/* Somebody else's mechanism under its author's claim. */
static assay_status attack_claim(json_t **out, const assay_manifest *m,
                                 const assay_yaml *r, assay_error *err)
{
    const char *specimen = assay_yaml_text(r, "specimen");
    mpq_t epsilon, scale, changes;
    mpq_init(epsilon);
    mpq_init(scale);
    mpq_init(changes);
    assay_status status = assay_rational_parse_positive(
        epsilon, assay_yaml_text(r, "epsilon"), "epsilon", err);
    if (status == ASSAY_OK && specimen != NULL) {
        status = assay_attack_specimen(out, specimen, epsilon, m->audit_runs,
                                       m->audit_confidence, err);
    } else if (status == ASSAY_OK) {
        status = assay_rational_parse_positive(
            scale, assay_yaml_text(r, "scale"), "scale", err);
        if (status == ASSAY_OK) {
            status = assay_rational_parse_positive(
                changes, assay_yaml_text(r, "changes"), "changes", err);
        }
        assay_target target = {.noise = scale,
                               .sensitivity = changes,
                               .coordinates = (size_t)mpq_get_d(changes),
                               .shift = 1};
        if (status == ASSAY_OK) {
            status =
                assay_attack_target(out, &target, "epsilon", epsilon,
                                    m->audit_runs, m->audit_confidence, err);
        }
    }
    mpq_clear(epsilon);
    mpq_clear(scale);
    mpq_clear(changes);
    return status;
}

static assay_status attack_foreign(json_t *results, const assay_manifest *m,
                                   assay_error *err)
{
    assay_status status = ASSAY_OK;
    const assay_yaml *list = m->releases;
    for (size_t i = 0;
         list != NULL && i < list->num_items && status == ASSAY_OK; i++) {
        const assay_yaml *r = &list->items[i];
        json_t *result = NULL;
        if (strcmp(assay_yaml_text(r, "statistic"), "mechanism") != 0) {
            continue;
        }
        status = attack_claim(&result, m, r, err);
        if (status == ASSAY_OK) {
            (void)json_object_set_new(result, "row",
                                      json_integer((json_int_t)i + 1));
            (void)json_object_set_new(result, "mechanism",
                                      json_string(assay_yaml_text(r, "name")));
            (void)json_array_append_new(results, result);
        }
    }
    return status;
}

assay_status assay_attack(json_t **out, const assay_manifest *manifest,
                          const json_t *guarantee,
                          const assay_event_list *events, assay_error *err)
{
    json_t *results = json_array();
    json_t *skipped = json_array();
    char *confidence = assay_rational_text(manifest->audit_confidence);
    (void)guarantee;
    assay_status status =
        events != NULL ? attack_events(results, skipped, manifest, events, err)
                       : ASSAY_OK;
    if (status == ASSAY_OK) {
        status = attack_foreign(results, manifest, err);
    }
    *out =
        json_pack("{s:I,s:s,s:o,s:o}", "runs", (json_int_t)manifest->audit_runs,
                  "confidence", confidence != NULL ? confidence : "", "results",
                  results, "notAttacked", skipped);
    free(confidence);
    if (status == ASSAY_OK && *out == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    if (status != ASSAY_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

void assay_attack_failures(json_t *failures, const json_t *audit)
{
    const json_t *results = json_object_get(audit, "results");
    for (size_t i = 0; i < json_array_size(results); i++) {
        const json_t *r = json_array_get(results, i);
        char line[900];
        if (!json_is_true(json_object_get(r, "refuted"))) {
            continue;
        }
        (void)snprintf(line, sizeof line,
                       "audit: %s is refuted: claimed %s = %s, an attacker "
                       "proves at least %s (%s)",
                       assay_json_text(r, "mechanism"),
                       assay_json_text(r, "claim"), assay_json_text(r, "value"),
                       assay_json_text(r, "lower"),
                       assay_json_text(r, "event"));
        (void)json_array_append_new(failures, json_string(line));
    }
    if (json_array_size(results) == 0) {
        (void)json_array_append_new(
            failures, json_string("audit: no mechanism could be attacked"));
    }
}
