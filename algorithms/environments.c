/* ring: glue */
#include "algorithms/environments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct env_spec {
    char name[40];
    uint64_t states, actions, horizon, seed; /* 0: not said */
} env_spec;

static int set_number(env_spec *spec, const char *key, size_t key_len,
                      uint64_t value)
{
    if (key_len == 1 && key[0] == 'S') {
        spec->states = value;
    } else if (key_len == 1 && key[0] == 'A') {
        spec->actions = value;
    } else if (key_len == 1 && key[0] == 'H') {
        spec->horizon = value;
    } else if (key_len == 4 && memcmp(key, "seed", 4) == 0) {
        spec->seed = value;
    } else {
        return 0;
    }
    return value <= 1000000000u;
}

static assay_status parse_spec(env_spec *spec, const char *text,
                               assay_error *err)
{
    const char *at = strchr(text, ':');
    size_t len = at == NULL ? strlen(text) : (size_t)(at - text);
    memset(spec, 0, sizeof *spec);
    if (len == 0 || len >= sizeof spec->name) {
        return assay_fail(err, ASSAY_INVALID, "environment: no such name");
    }
    memcpy(spec->name, text, len);
    while (at != NULL) {
        const char *key = at + 1;
        const char *is = strchr(key, '=');
        char *end = NULL;
        unsigned long long value;
        if (is == NULL || is[1] < '0' || is[1] > '9') {
            return assay_fail(err, ASSAY_INVALID,
                              "environment '%.40s': expected KEY=NUMBER after "
                              "':' or ','",
                              text);
        }
        value = strtoull(is + 1, &end, 10);
        if ((*end != '\0' && *end != ',') ||
            !set_number(spec, key, (size_t)(is - key), value)) {
            return assay_fail(err, ASSAY_INVALID,
                              "environment '%.40s': the keys are S, A, H and "
                              "seed, the values up to 10^9",
                              text);
        }
        at = *end == ',' ? end : NULL;
    }
    return ASSAY_OK;
}

static double *row_of(assay_mdp *mdp, uint32_t h, uint32_t s, uint32_t a)
{
    return mdp->transition +
           assay_shape_pair(&mdp->shape, h, s, a) * mdp->shape.num_states;
}

/* Strehl and Littman's RiverSwim; `swim` scales the chance to advance (1 is
 * the usual 0.6 at the bank and 0.35 in the stream). */
static void riverswim_step(assay_mdp *mdp, uint32_t h, double swim)
{
    uint32_t last = mdp->shape.num_states - 1;
    for (uint32_t s = 0; s <= last; s++) {
        double *right = row_of(mdp, h, s, 1);
        row_of(mdp, h, s, 0)[s == 0 ? 0 : s - 1] = 1.0;
        if (s == 0) {
            right[1] = 0.6 * swim;
            right[0] = 1.0 - right[1];
        } else if (s == last) {
            right[s] = 0.6 * swim;
            right[s - 1] = 1.0 - right[s];
        } else {
            right[s + 1] = 0.35 * swim;
            right[s - 1] = 0.05;
            right[s] = 1.0 - right[s + 1] - right[s - 1];
        }
    }
    mdp->reward[assay_shape_pair(&mdp->shape, h, 0, 0)] = 0.005;
    mdp->reward[assay_shape_pair(&mdp->shape, h, last, 1)] = 1.0;
}

static assay_status fill_riverswim(assay_mdp *mdp, const env_spec *spec,
                                   assay_error *err)
{
    assay_envrand rand;
    int same = strcmp(spec->name, "riverswim") == 0;
    if (mdp->shape.num_states < 2 || mdp->shape.num_actions != 2) {
        return assay_fail(err, ASSAY_INVALID,
                          "riverswim: needs S >= 2 and has A = 2");
    }
    assay_envrand_init(&rand, spec->seed, 1);
    for (uint32_t h = 0; h < mdp->shape.horizon; h++) {
        double swim = same ? 1.0 : 0.8 + 0.2 * assay_envrand_unit(&rand);
        riverswim_step(mdp, h, swim);
    }
    mdp->initial[0] = 1.0;
    return ASSAY_OK;
}

static assay_status fill_random(assay_mdp *mdp, const env_spec *spec,
                                assay_error *err)
{
    assay_envrand rand;
    uint32_t num_states = mdp->shape.num_states;
    size_t pairs = assay_shape_pairs(&mdp->shape);
    (void)err;
    assay_envrand_init(&rand, spec->seed, 2);
    for (size_t pair = 0; pair < pairs; pair++) {
        double *row = mdp->transition + pair * num_states;
        double sum = 0.0;
        for (uint32_t t = 0; t < num_states; t++) {
            row[t] = -log1p(-assay_envrand_unit(&rand));
            sum += row[t];
        }
        for (uint32_t t = 0; t < num_states; t++) {
            row[t] = sum > 0.0 ? row[t] / sum : 1.0 / num_states;
        }
        mdp->reward[pair] = assay_envrand_unit(&rand);
    }
    mdp->initial[0] = 1.0;
    return ASSAY_OK;
}

static assay_status fill_chain(assay_mdp *mdp, const env_spec *spec,
                               assay_error *err)
{
    uint32_t last = mdp->shape.num_states - 1;
    (void)spec;
    if (mdp->shape.num_actions != 2) {
        return assay_fail(err, ASSAY_INVALID, "chain: has A = 2");
    }
    for (uint32_t h = 0; h < mdp->shape.horizon; h++) {
        for (uint32_t s = 0; s <= last; s++) {
            row_of(mdp, h, s, 0)[s] += 0.5;
            row_of(mdp, h, s, 0)[s < last ? s + 1 : last] += 0.5;
            row_of(mdp, h, s, 1)[s] = 1.0;
        }
        mdp->reward[assay_shape_pair(&mdp->shape, h, last, 0)] = 1.0;
        mdp->reward[assay_shape_pair(&mdp->shape, h, last, 1)] = 1.0;
    }
    for (uint32_t s = 0; s <= last; s++) {
        mdp->initial[s] = 1.0 / (last + 1);
    }
    return ASSAY_OK;
}

static assay_status fill_clinic(assay_mdp *mdp, const env_spec *spec,
                                assay_error *err)
{
    (void)spec;
    if (mdp->shape.num_states != ASSAY_CLINIC_STATES ||
        mdp->shape.num_actions != ASSAY_CLINIC_ACTIONS) {
        return assay_fail(err, ASSAY_INVALID, "clinic: has S = %u and A = %u",
                          ASSAY_CLINIC_STATES, ASSAY_CLINIC_ACTIONS);
    }
    assay_clinic_fill(mdp, mdp->shape.horizon);
    return ASSAY_OK;
}

/* The 2-state linear example: with delta = 1 if (s = 0) equals (a = 0), the
 * next state is 0 with probability alpha_h[delta], the reward r_h or 1 - r_h.
 * alpha and r are uniform on [0, 1], drawn once from the seed. */
static assay_status fill_linear(assay_mdp *mdp, const env_spec *spec,
                                assay_error *err)
{
    assay_envrand rand;
    if (mdp->shape.num_states != 2) {
        return assay_fail(err, ASSAY_INVALID, "linear: has S = 2");
    }
    assay_envrand_init(&rand, spec->seed, 3);
    for (uint32_t h = 0; h < mdp->shape.horizon; h++) {
        double alpha0 = assay_envrand_unit(&rand);
        double alpha1 = assay_envrand_unit(&rand);
        double r = assay_envrand_unit(&rand);
        for (uint32_t i = 0; i < 2 * mdp->shape.num_actions; i++) {
            uint32_t s = i / mdp->shape.num_actions;
            uint32_t a = i % mdp->shape.num_actions;
            int delta = (s == 0) == (a == 0);
            double *row = row_of(mdp, h, s, a);
            row[0] = delta ? alpha1 : alpha0;
            row[1] = 1.0 - row[0];
            mdp->reward[assay_shape_pair(&mdp->shape, h, s, a)] =
                delta ? r : 1.0 - r;
        }
    }
    mdp->initial[0] = 0.5;
    mdp->initial[1] = 0.5;
    return ASSAY_OK;
}

typedef struct env_row {
    const char *name;
    assay_shape usual; /* horizon 0: twice the number of states */
    assay_status (*fill)(assay_mdp *, const env_spec *, assay_error *);
} env_row;

static const env_row ENVIRONMENTS[] = {
    {"riverswim", {3, 2, 0}, fill_riverswim},
    {"riverswim-inhomogeneous", {3, 2, 0}, fill_riverswim},
    {"random", {10, 4, 10}, fill_random},
    {"chain", {40, 2, 20}, fill_chain},
    {"clinic",
     {ASSAY_CLINIC_STATES, ASSAY_CLINIC_ACTIONS, ASSAY_CLINIC_HORIZON},
     fill_clinic},
    {"linear", {2, 100, 20}, fill_linear},
    {NULL, {0, 0, 0}, NULL},
};

static const env_row *find_environment(const char *name)
{
    for (const env_row *row = ENVIRONMENTS; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

static assay_shape shape_of(const env_row *row, const env_spec *spec)
{
    assay_shape shape = row->usual;
    if (spec->states != 0) {
        shape.num_states = (uint32_t)spec->states;
    }
    if (spec->actions != 0) {
        shape.num_actions = (uint32_t)spec->actions;
    }
    if (spec->horizon != 0) {
        shape.horizon = (uint32_t)spec->horizon;
    } else if (shape.horizon == 0) {
        shape.horizon = 2 * shape.num_states;
    }
    return shape;
}

assay_status assay_environment_new(assay_mdp **out, const char *spec_text,
                                   assay_error *err)
{
    env_spec spec;
    assay_shape shape;
    assay_mdp *mdp = NULL;
    const env_row *row;
    assay_status status = parse_spec(&spec, spec_text, err);
    if (status != ASSAY_OK) {
        return status;
    }
    row = find_environment(spec.name);
    if (row == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "environment '%.40s': the names are riverswim, "
                          "riverswim-inhomogeneous, random, chain, clinic, "
                          "linear",
                          spec.name);
    }
    shape = shape_of(row, &spec);
    status = assay_mdp_new(&mdp, &shape, err);
    if (status == ASSAY_OK) {
        status = row->fill(mdp, &spec, err);
    }
    if (status != ASSAY_OK) {
        assay_mdp_free(mdp);
        return status;
    }
    *out = mdp;
    return ASSAY_OK;
}

assay_status assay_environment_behaviour(double **out, const char *spec,
                                         const assay_mdp *mdp, assay_error *err)
{
    const assay_shape *shape = &mdp->shape;
    size_t pairs = assay_shape_pairs(shape);
    int clinic = strncmp(spec, "clinic", 6) == 0;
    int linear = strncmp(spec, "linear", 6) == 0;
    double *probability = calloc(pairs, sizeof(double));
    if (probability == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a policy");
    }
    for (size_t i = 0; i < pairs; i++) {
        uint32_t a = (uint32_t)(i % shape->num_actions);
        uint32_t s = (uint32_t)(i / shape->num_actions % shape->num_states);
        double even = 1.0 / shape->num_actions;
        probability[i] = even;
        if (clinic) {
            probability[i] = 0.5 * even + (a == assay_clinic_usual(s)) * 0.5;
        }
        if (linear && shape->num_actions > 1) {
            probability[i] = a == 0 ? 0.6 : 0.4 / (shape->num_actions - 1);
        }
    }
    *out = probability;
    return ASSAY_OK;
}
