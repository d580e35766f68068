/* ring: glue */
#include "accountant/event.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event_fields.h"
#include "core/rational.h"

static const char *const neighbour_names[] = {"add-remove", "replace-one"};
static const char *const sampling_names[] = {"all", "poisson",
                                             "without-replacement"};

static void each_rational(assay_event *event, void (*visit)(mpq_ptr))
{
    mpq_ptr all[] = {event->sigma2,      event->scale,        event->scale2,
                     event->sensitivity, event->sensitivity2, event->epsilon,
                     event->delta,       event->rho,          event->p,
                     event->rate,        event->coin,         event->bound};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        visit(all[i]);
    }
}

static void init_one(mpq_ptr q)
{
    mpq_init(q);
}

static void clear_one(mpq_ptr q)
{
    mpq_clear(q);
}

void assay_event_init(assay_event *event, assay_mechanism mechanism)
{
    memset(event, 0, sizeof *event);
    event->mechanism = mechanism;
    event->count = 1;
    event->group = 1;
    event->k = mechanism == ASSAY_SPARSE_VECTOR ? 1 : 2;
    each_rational(event, init_one);
    mpq_set_ui(event->sensitivity, 1, 1);
    mpq_set_ui(event->sensitivity2, 1, 1);
    mpq_set_ui(event->coin, 1, 1);
    mpq_set_ui(event->rate, 1, 1);
}

void assay_event_clear(assay_event *event)
{
    each_rational(event, clear_one);
    for (size_t i = 0; i < 2 * event->num_orders; i++) {
        mpq_clear(event->curve[i]);
    }
    for (size_t i = 0; i < event->num_parts; i++) {
        assay_event_clear(&event->parts[i]);
    }
    free(event->curve);
    free(event->parts);
    memset(event, 0, sizeof *event);
}

static void copy_rationals(assay_event *out, const assay_event *event)
{
    mpq_set(out->sigma2, event->sigma2);
    mpq_set(out->scale, event->scale);
    mpq_set(out->scale2, event->scale2);
    mpq_set(out->sensitivity, event->sensitivity);
    mpq_set(out->sensitivity2, event->sensitivity2);
    mpq_set(out->epsilon, event->epsilon);
    mpq_set(out->delta, event->delta);
    mpq_set(out->rho, event->rho);
    mpq_set(out->p, event->p);
    mpq_set(out->rate, event->rate);
    mpq_set(out->coin, event->coin);
    mpq_set(out->bound, event->bound);
}

static assay_status copy_curve(assay_event *out, const assay_event *event,
                               assay_error *err)
{
    if (event->num_orders == 0) {
        return ASSAY_OK;
    }
    out->curve = calloc(2 * event->num_orders, sizeof *out->curve);
    if (out->curve == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a Renyi curve");
    }
    out->num_orders = event->num_orders;
    for (size_t i = 0; i < 2 * event->num_orders; i++) {
        mpq_init(out->curve[i]);
        mpq_set(out->curve[i], event->curve[i]);
    }
    return ASSAY_OK;
}

static assay_status copy_parts(assay_event *out, const assay_event *event,
                               assay_error *err)
{
    if (event->num_parts == 0) {
        return ASSAY_OK;
    }
    out->parts = calloc(event->num_parts, sizeof *out->parts);
    if (out->parts == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for parallel parts");
    }
    for (size_t i = 0; i < event->num_parts; i++) {
        assay_status s =
            assay_event_copy(&out->parts[i], &event->parts[i], err);
        if (s != ASSAY_OK) {
            return s;
        }
        out->num_parts++;
    }
    return ASSAY_OK;
}

assay_status assay_event_copy(assay_event *out, const assay_event *event,
                              assay_error *err)
{
    assay_event_init(out, event->mechanism);
    copy_rationals(out, event);
    out->count = event->count;
    out->group = event->group;
    out->sampling = event->sampling;
    out->population = event->population;
    out->batch = event->batch;
    out->k = event->k;
    out->levels = event->levels;
    out->dimension = event->dimension;
    out->cells = event->cells;
    out->entry = event->entry;
    out->monotone = event->monotone;
    out->assumed = event->assumed;
    memcpy(out->label, event->label, sizeof out->label);
    assay_status status = copy_curve(out, event, err);
    if (status == ASSAY_OK) {
        status = copy_parts(out, event, err);
    }
    if (status != ASSAY_OK) {
        assay_event_clear(out);
    }
    return status;
}

const char *assay_neighbours_name(assay_neighbours neighbours)
{
    return neighbours == ASSAY_ADD_REMOVE || neighbours == ASSAY_REPLACE_ONE
               ? neighbour_names[neighbours]
               : "unknown";
}

assay_status assay_neighbours_parse(assay_neighbours *out, const char *name,
                                    assay_error *err)
{
    for (int i = 0; i < 2; i++) {
        if (strcmp(name, neighbour_names[i]) == 0) {
            *out = (assay_neighbours)i;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_INVALID,
                      "neighbours: '%.40s' is neither add-remove nor "
                      "replace-one",
                      name);
}

const char *assay_sampling_name(assay_sampling sampling)
{
    return (unsigned)sampling <= ASSAY_SAMPLE_WITHOUT_REPLACEMENT
               ? sampling_names[sampling]
               : "unknown";
}

void assay_event_list_init(assay_event_list *list, assay_neighbours neighbours,
                           const char *unit)
{
    memset(list, 0, sizeof *list);
    list->neighbours = neighbours;
    (void)strncpy(list->unit, unit != NULL ? unit : "person",
                  sizeof list->unit - 1);
}

void assay_event_list_clear(assay_event_list *list)
{
    for (size_t i = 0; i < list->num_events; i++) {
        assay_event_clear(&list->events[i]);
    }
    free(list->events);
    list->events = NULL;
    list->num_events = 0;
    list->capacity = 0;
}

static assay_status grow(assay_event_list *list, assay_error *err)
{
    if (list->num_events < list->capacity) {
        return ASSAY_OK;
    }
    size_t wanted = list->capacity == 0 ? 8 : 2 * list->capacity;
    assay_event *more = realloc(list->events, wanted * sizeof *more);
    if (more == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu events",
                          wanted);
    }
    list->events = more;
    list->capacity = wanted;
    return ASSAY_OK;
}

assay_status assay_event_list_add(assay_event_list *list,
                                  const assay_event *event, assay_error *err)
{
    assay_status status = assay_event_validate(event, err);
    if (status == ASSAY_OK) {
        status = assay_event_validate_for(event, list->neighbours, err);
    }
    if (status == ASSAY_OK) {
        status = grow(list, err);
    }
    if (status == ASSAY_OK) {
        status = assay_event_copy(&list->events[list->num_events], event, err);
    }
    if (status == ASSAY_OK) {
        list->num_events++;
    }
    return status;
}

assay_status assay_event_list_join(assay_event_list *list,
                                   const assay_event_list *more,
                                   assay_error *err)
{
    if (list->neighbours != more->neighbours) {
        return assay_fail(err, ASSAY_INVALID,
                          "mixed neighbour relations: %s and %s; convert one "
                          "of them first",
                          assay_neighbours_name(list->neighbours),
                          assay_neighbours_name(more->neighbours));
    }
    if (strcmp(list->unit, more->unit) != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "mixed units of privacy: '%s' and '%s'", list->unit,
                          more->unit);
    }
    for (size_t i = 0; i < more->num_events; i++) {
        assay_status status = assay_event_list_add(list, &more->events[i], err);
        if (status != ASSAY_OK) {
            return status;
        }
    }
    return ASSAY_OK;
}

assay_status assay_event_list_replace(assay_event_list *list, assay_error *err)
{
    if (list->neighbours == ASSAY_REPLACE_ONE) {
        return ASSAY_OK;
    }
    for (size_t i = 0; i < list->num_events; i++) {
        if (list->events[i].group > ASSAY_MAX_COUNT / 2) {
            return assay_fail(err, ASSAY_RANGE, "group: too large to double");
        }
    }
    for (size_t i = 0; i < list->num_events; i++) {
        list->events[i].group *= 2;
    }
    list->neighbours = ASSAY_REPLACE_ONE;
    return ASSAY_OK;
}
