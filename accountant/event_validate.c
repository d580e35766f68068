/* ring: glue */
/* Which parameters an event has, and which values make sense. */
#include <stddef.h>
#include <string.h>

#include "accountant/event_fields.h"
#include "core/rational.h"

#define MAX_BITS 8192
#define GAUSS_NEEDS ASSAY_F_SIGMA2
#define GAUSS_TAKES (ASSAY_F_SENSITIVITY2 | ASSAY_F_SAMPLING)
#define LAP_NEEDS ASSAY_F_SCALE
#define LAP_TAKES (ASSAY_F_SENSITIVITY | ASSAY_F_SAMPLING)

typedef struct spec {
    const char *name;
    unsigned needs;
    unsigned takes;
} spec;

static const spec specs[ASSAY_NUM_MECHANISMS] = {
    {"gaussian", GAUSS_NEEDS, GAUSS_TAKES},
    {"rounded-gaussian", GAUSS_NEEDS, GAUSS_TAKES},
    {"discrete-gaussian", GAUSS_NEEDS, GAUSS_TAKES | ASSAY_F_DIMENSION},
    {"laplace", LAP_NEEDS, LAP_TAKES},
    {"rounded-laplace", LAP_NEEDS, LAP_TAKES},
    {"discrete-laplace", LAP_NEEDS, LAP_TAKES | ASSAY_F_DIMENSION},
    {"randomized-response", ASSAY_F_P, ASSAY_F_K},
    {"exponential", ASSAY_F_EPSILON, 0},
    {"noisy-max", ASSAY_F_EPSILON, 0},
    {"permute-and-flip", ASSAY_F_EPSILON, 0},
    {"sparse-vector", ASSAY_F_SCALE | ASSAY_F_SCALE2,
     ASSAY_F_SENSITIVITY | ASSAY_F_K | ASSAY_F_MONOTONE},
    {"tree-laplace", ASSAY_F_SCALE | ASSAY_F_LEVELS, ASSAY_F_SENSITIVITY},
    {"tree-gaussian", ASSAY_F_SIGMA2 | ASSAY_F_LEVELS, ASSAY_F_SENSITIVITY2},
    {"snapping", ASSAY_F_SCALE | ASSAY_F_BOUND, 0},
    {"shuffle", ASSAY_F_EPSILON | ASSAY_F_POPULATION | ASSAY_F_DELTA, 0},
    {"pure", ASSAY_F_EPSILON, 0},
    {"approximate", ASSAY_F_EPSILON | ASSAY_F_DELTA, 0},
    {"zcdp", ASSAY_F_RHO, 0},
    {"gaussian-dp", ASSAY_F_SIGMA2, 0},
    {"renyi", ASSAY_F_CURVE, 0},
    {"post-processing", 0, 0},
    {"parallel", ASSAY_F_PARTS, 0},
    {"unknown-keys", ASSAY_F_EPSILON | ASSAY_F_DELTA, 0},
};

#define OFFSET(member) offsetof(assay_event, member)
const assay_rational_field assay_rational_fields[] = {
    {"bound", ASSAY_F_BOUND, OFFSET(bound)},
    {"coin", 0, OFFSET(coin)},
    {"delta", ASSAY_F_DELTA, OFFSET(delta)},
    {"epsilon", ASSAY_F_EPSILON, OFFSET(epsilon)},
    {"p", ASSAY_F_P, OFFSET(p)},
    {"rate", ASSAY_F_SAMPLING, OFFSET(rate)},
    {"rho", ASSAY_F_RHO, OFFSET(rho)},
    {"scale", ASSAY_F_SCALE, OFFSET(scale)},
    {"scale2", ASSAY_F_SCALE2, OFFSET(scale2)},
    {"sensitivity", ASSAY_F_SENSITIVITY, OFFSET(sensitivity)},
    {"sensitivity2", ASSAY_F_SENSITIVITY2, OFFSET(sensitivity2)},
    {"sigma2", ASSAY_F_SIGMA2, OFFSET(sigma2)},
    {NULL, 0, 0},
};
const assay_count_field assay_count_fields[] = {
    {"batch", ASSAY_F_SAMPLING, OFFSET(batch)},
    {"cells", ASSAY_F_DIMENSION, OFFSET(cells)},
    {"count", 0, OFFSET(count)},
    {"dimension", ASSAY_F_DIMENSION, OFFSET(dimension)},
    {"entry", ASSAY_F_DIMENSION, OFFSET(entry)},
    {"group", 0, OFFSET(group)},
    {"k", ASSAY_F_K, OFFSET(k)},
    {"levels", ASSAY_F_LEVELS, OFFSET(levels)},
    {"population", ASSAY_F_SAMPLING | ASSAY_F_POPULATION, OFFSET(population)},
    {NULL, 0, 0},
};

mpq_ptr assay_event_rational(const assay_event *event,
                             const assay_rational_field *field)
{
    return (mpq_ptr)(void *)((char *)event + field->offset);
}

uint64_t *assay_event_count(const assay_event *event,
                            const assay_count_field *field)
{
    return (uint64_t *)(void *)((char *)event + field->offset);
}

static int known(assay_mechanism mechanism)
{
    return (unsigned)mechanism < ASSAY_NUM_MECHANISMS;
}

unsigned assay_event_needs(assay_mechanism mechanism)
{
    return known(mechanism) ? specs[mechanism].needs : 0;
}

unsigned assay_event_takes(assay_mechanism mechanism)
{
    return known(mechanism) ? specs[mechanism].takes : 0;
}

const char *assay_mechanism_name(assay_mechanism mechanism)
{
    return known(mechanism) ? specs[mechanism].name : NULL;
}

assay_status assay_mechanism_parse(assay_mechanism *out, const char *name,
                                   assay_error *err)
{
    for (int i = 0; i < ASSAY_NUM_MECHANISMS; i++) {
        if (strcmp(name, specs[i].name) == 0) {
            *out = (assay_mechanism)i;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_INVALID,
                      "mechanism: no theorem covers '%.40s'; known are "
                      "gaussian, discrete-gaussian, laplace, "
                      "discrete-laplace, randomized-response, exponential, "
                      "sparse-vector, pure, approximate, zcdp and more",
                      name);
}

static assay_status bad(assay_error *err, const assay_event *event,
                        const char *key, const char *rule)
{
    return assay_fail(err, ASSAY_INVALID, "%s: %s %s",
                      specs[event->mechanism].name, key, rule);
}

static int too_long(const mpq_t q)
{
    size_t most = MAX_BITS / (size_t)mp_bits_per_limb;
    return mpz_size(mpq_numref(q)) > most || mpz_size(mpq_denref(q)) > most;
}

static int above_one(const mpq_t q)
{
    return mpq_cmp_ui(q, 1, 1) > 0;
}

/* Fields that must be positive where a mechanism has them. */
#define POSITIVE                                                               \
    (ASSAY_F_SIGMA2 | ASSAY_F_SCALE | ASSAY_F_SCALE2 | ASSAY_F_SENSITIVITY |   \
     ASSAY_F_SENSITIVITY2 | ASSAY_F_P | ASSAY_F_SAMPLING | ASSAY_F_BOUND)

static assay_status check_rationals(const assay_event *event, unsigned fields,
                                    assay_error *err)
{
    for (const assay_rational_field *f = assay_rational_fields; f->key; f++) {
        mpq_srcptr q = assay_event_rational(event, f);
        if (f->field != 0 && (f->field & fields) == 0) {
            continue;
        }
        if (too_long(q)) {
            return bad(err, event, f->key, "has too many digits");
        }
        if (mpq_sgn(q) < 0) {
            return bad(err, event, f->key, "is negative");
        }
        if ((f->field & POSITIVE) != 0 && mpq_sgn(q) == 0) {
            return bad(err, event, f->key, "must be positive");
        }
    }
    if (above_one(event->p) || above_one(event->rate) ||
        above_one(event->coin) || mpq_sgn(event->coin) <= 0) {
        return bad(err, event, "p, rate and coin", "lie in (0, 1]");
    }
    if (mpq_cmp_ui(event->delta, 1, 1) >= 0) {
        return bad(err, event, "delta", "must be below 1");
    }
    return ASSAY_OK;
}

static assay_status check_counts(const assay_event *event, unsigned fields,
                                 assay_error *err)
{
    if (event->count < 1 || event->count > ASSAY_MAX_COUNT) {
        return bad(err, event, "count", "must be at least 1 and below 2^62");
    }
    if (event->group < 1 || event->group > ASSAY_MAX_COUNT) {
        return bad(err, event, "group", "must be at least 1 and below 2^62");
    }
    if (event->mechanism == ASSAY_RANDOMIZED_RESPONSE && event->k < 2) {
        return bad(err, event, "k", "must be at least 2");
    }
    if ((fields & ASSAY_F_K) && (event->k < 1 || event->k > ASSAY_MAX_COUNT)) {
        return bad(err, event, "k", "must be at least 1 and below 2^62");
    }
    if ((fields & ASSAY_F_LEVELS) &&
        (event->levels < 1 || event->levels > 4096)) {
        return bad(err, event, "levels", "must be between 1 and 4096");
    }
    if (event->mechanism == ASSAY_SHUFFLE &&
        (event->population < 1 || event->population > ASSAY_MAX_COUNT)) {
        return bad(err, event, "population", "must be at least 1");
    }
    return ASSAY_OK;
}

/* cells and entry say the same as the sensitivity, and more. */
static assay_status check_cells(const assay_event *event, assay_error *err)
{
    if (event->cells == 0 && event->entry == 0) {
        return ASSAY_OK;
    }
    if (event->cells < 1 || event->entry < 1 || event->cells > 1000000 ||
        event->entry > 1000) {
        return bad(err, event, "cells and entry",
                   "go together; at most 10^6 and 1000");
    }
    int gaussian = event->mechanism == ASSAY_DISCRETE_GAUSSIAN;
    uint64_t total =
        event->cells * event->entry * (gaussian ? event->entry : 1);
    mpq_srcptr stated = gaussian ? event->sensitivity2 : event->sensitivity;
    return mpq_cmp_ui(stated, total, 1) == 0
               ? ASSAY_OK
               : bad(err, event, gaussian ? "sensitivity2" : "sensitivity",
                     gaussian ? "must be cells * entry^2"
                              : "must be cells * entry");
}

static assay_status check_sampling(const assay_event *event, unsigned fields,
                                   assay_error *err)
{
    if (event->sampling == ASSAY_SAMPLE_ALL) {
        if (mpq_cmp_ui(event->rate, 1, 1) != 0 || event->batch != 0) {
            return bad(err, event, "rate and batch",
                       "need sampling: poisson or without-replacement");
        }
        return ASSAY_OK;
    }
    if ((fields & ASSAY_F_SAMPLING) == 0) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "%s: no theorem here covers its sampling",
                          specs[event->mechanism].name);
    }
    if (event->sampling == ASSAY_SAMPLE_POISSON) {
        return event->batch == 0 && event->population == 0
                   ? ASSAY_OK
                   : bad(err, event, "sampling: poisson",
                         "takes a rate, not population and batch");
    }
    if (event->batch < 1 || event->batch > event->population ||
        event->population > ASSAY_MAX_COUNT) {
        return bad(err, event, "batch",
                   "must be at least 1 and at most the population");
    }
    return ASSAY_OK;
}

static assay_status check_curve(const assay_event *event, assay_error *err)
{
    if (event->num_orders < 1 || event->num_orders > 10000) {
        return bad(err, event, "curve", "needs 1 to 10000 [order, value]");
    }
    for (size_t i = 0; i < event->num_orders; i++) {
        if (!above_one(event->curve[2 * i]) || too_long(event->curve[2 * i]) ||
            mpq_sgn(event->curve[2 * i + 1]) < 0 ||
            too_long(event->curve[2 * i + 1])) {
            return bad(err, event, "curve",
                       "needs orders above 1 and values of at least 0");
        }
    }
    return ASSAY_OK;
}

static assay_status check_parts(const assay_event *event, assay_error *err)
{
    if (event->num_parts < 1) {
        return bad(err, event, "parts", "must list at least one event");
    }
    for (size_t i = 0; i < event->num_parts; i++) {
        if (event->parts[i].mechanism == ASSAY_PARALLEL) {
            return bad(err, event, "parts", "must not be parallel themselves");
        }
        assay_status status = assay_event_validate(&event->parts[i], err);
        if (status != ASSAY_OK) {
            return status;
        }
    }
    return ASSAY_OK;
}

assay_status assay_event_validate(const assay_event *event, assay_error *err)
{
    if (!known(event->mechanism)) {
        return assay_fail(err, ASSAY_INVALID, "mechanism: unknown number %d",
                          (int)event->mechanism);
    }
    unsigned fields =
        specs[event->mechanism].needs | specs[event->mechanism].takes;
    assay_status status = check_rationals(event, fields, err);
    if (status == ASSAY_OK) {
        status = check_counts(event, fields, err);
    }
    if (status == ASSAY_OK) {
        status = check_cells(event, err);
    }
    if (status == ASSAY_OK) {
        status = check_sampling(event, fields, err);
    }
    if (status == ASSAY_OK && event->mechanism == ASSAY_RENYI) {
        status = check_curve(event, err);
    }
    if (status == ASSAY_OK && event->mechanism == ASSAY_PARALLEL) {
        status = check_parts(event, err);
    }
    return status;
}

assay_status assay_event_validate_for(const assay_event *event,
                                      assay_neighbours neighbours,
                                      assay_error *err)
{
    if (event->sampling == ASSAY_SAMPLE_POISSON &&
        neighbours == ASSAY_REPLACE_ONE && event->group == 1) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "%s: Poisson sampling is accounted under add-remove "
                          "neighbours; convert the list to replace-one",
                          specs[event->mechanism].name);
    }
    if (event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT &&
        neighbours == ASSAY_ADD_REMOVE) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "%s: sampling without replacement needs neighbours: "
                          "replace-one",
                          specs[event->mechanism].name);
    }
    if (event->mechanism == ASSAY_SHUFFLE && neighbours == ASSAY_ADD_REMOVE) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "shuffle: its theorem needs neighbours: replace-one");
    }
    if (event->mechanism == ASSAY_UNKNOWN_KEYS &&
        neighbours == ASSAY_REPLACE_ONE && event->group == 1) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "unknown-keys: its theorem needs neighbours: "
                          "add-remove; convert the list to replace-one");
    }
    for (size_t i = 0; i < event->num_parts; i++) {
        assay_status s =
            assay_event_validate_for(&event->parts[i], neighbours, err);
        if (s != ASSAY_OK) {
            return s;
        }
    }
    return ASSAY_OK;
}
