/* ring: glue */
#include "algorithms/policy_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/bytes.h"

#define MAX_FILE ((size_t)1 << 31)

static assay_status no_memory(assay_error *err)
{
    return assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
}

static json_t *step_to_json(const assay_policy *policy, uint32_t h)
{
    uint32_t num_states = policy->shape.num_states;
    json_t *row = json_array();
    for (uint32_t s = 0; row != NULL && s < num_states; s++) {
        uint32_t a = policy->action[(size_t)h * num_states + s];
        if (json_array_append_new(row, json_integer((json_int_t)a)) != 0) {
            json_decref(row);
            return NULL;
        }
    }
    return row;
}

assay_status assay_policy_to_json(json_t **out, const assay_policy *policy,
                                  json_t *guarantee, assay_error *err)
{
    const assay_shape *shape = &policy->shape;
    json_t *steps = json_array();
    json_t *object;
    for (uint32_t h = 0; h < shape->horizon; h++) {
        if (json_array_append_new(steps, step_to_json(policy, h)) != 0) {
            json_decref(steps);
            return no_memory(err);
        }
    }
    object = json_pack("{s:i, s:i, s:i, s:o}", "H", (int)shape->horizon, "S",
                       (int)shape->num_states, "A", (int)shape->num_actions,
                       "policy", steps);
    if (object == NULL) {
        return no_memory(err);
    }
    if (guarantee != NULL &&
        json_object_set(object, "guarantee", guarantee) != 0) {
        json_decref(object);
        return no_memory(err);
    }
    *out = object;
    return ASSAY_OK;
}

static assay_status read_shape(assay_shape *shape, const json_t *json,
                               assay_error *err)
{
    json_int_t h = json_integer_value(json_object_get(json, "H"));
    json_int_t s = json_integer_value(json_object_get(json, "S"));
    json_int_t a = json_integer_value(json_object_get(json, "A"));
    if (h < 1 || s < 1 || a < 1 || h > INT32_MAX || s > INT32_MAX ||
        a > INT32_MAX) {
        return assay_fail(err, ASSAY_INVALID,
                          "\"H\", \"S\" and \"A\" must be positive integers");
    }
    shape->horizon = (uint32_t)h;
    shape->num_states = (uint32_t)s;
    shape->num_actions = (uint32_t)a;
    return assay_shape_check(shape, err);
}

static assay_status read_actions(assay_policy *policy, const json_t *steps,
                                 assay_error *err)
{
    const assay_shape *shape = &policy->shape;
    for (uint32_t h = 0; h < shape->horizon; h++) {
        const json_t *row = json_array_get(steps, h);
        for (uint32_t s = 0; s < shape->num_states; s++) {
            const json_t *cell = json_array_get(row, s);
            json_int_t a = json_integer_value(cell);
            if (!json_is_integer(cell) || a < 0 ||
                a >= (json_int_t)shape->num_actions) {
                return assay_fail(err, ASSAY_INVALID,
                                  "policy[%u][%u] must be an action from 0 "
                                  "to %u",
                                  h, s, shape->num_actions - 1);
            }
            policy->action[(size_t)h * shape->num_states + s] = (uint32_t)a;
        }
    }
    return ASSAY_OK;
}

assay_status assay_policy_from_json(assay_policy **out, const json_t *json,
                                    assay_error *err)
{
    assay_shape shape;
    assay_policy *policy = NULL;
    assay_status status = read_shape(&shape, json, err);
    if (status == ASSAY_OK) {
        status = assay_policy_new(&policy, &shape, err);
    }
    if (status == ASSAY_OK) {
        status = read_actions(policy, json_object_get(json, "policy"), err);
    }
    if (status != ASSAY_OK) {
        assay_policy_free(policy);
        return status;
    }
    *out = policy;
    return ASSAY_OK;
}

static assay_status write_json(const char *path, const json_t *json,
                               assay_error *err)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
    assay_status status;
    if (text == NULL) {
        return no_memory(err);
    }
    status = assay_write_file(path, text, strlen(text), err);
    free(text);
    return status;
}

static assay_status read_json(json_t **out, const char *path, assay_error *err)
{
    char *text = NULL;
    size_t len = 0;
    json_error_t where;
    assay_status status = assay_read_file(&text, &len, path, MAX_FILE, err);
    if (status != ASSAY_OK) {
        return status;
    }
    *out = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
    free(text);
    if (*out == NULL) {
        return assay_fail_at(err, ASSAY_INVALID, where.line, where.column,
                             "%s: %s", path, where.text);
    }
    return ASSAY_OK;
}

assay_status assay_policy_write(const char *path, const assay_policy *policy,
                                json_t *guarantee, assay_error *err)
{
    json_t *json = NULL;
    assay_status status = assay_policy_to_json(&json, policy, guarantee, err);
    if (status == ASSAY_OK) {
        status = write_json(path, json, err);
    }
    json_decref(json);
    return status;
}

assay_status assay_policy_read(assay_policy **out, json_t **guarantee,
                               const char *path, assay_error *err)
{
    json_t *json = NULL;
    assay_status status = read_json(&json, path, err);
    if (status == ASSAY_OK) {
        status = assay_policy_from_json(out, json, err);
    }
    if (status == ASSAY_OK && guarantee != NULL) {
        *guarantee = json_incref(json_object_get(json, "guarantee"));
    }
    json_decref(json);
    return status;
}

assay_status assay_schema_write(const char *path, const assay_mdp *mdp,
                                assay_error *err)
{
    const assay_shape *shape = &mdp->shape;
    json_t *steps = json_array();
    json_t *object = json_pack("{s:i, s:i, s:i, s:o}", "H", (int)shape->horizon,
                               "S", (int)shape->num_states, "A",
                               (int)shape->num_actions, "rewards", steps);
    assay_status status;
    if (object == NULL) {
        return no_memory(err);
    }
    for (uint32_t h = 0; h < shape->horizon; h++) {
        json_t *states = json_array();
        for (uint32_t s = 0; s < shape->num_states; s++) {
            json_t *row = json_array();
            for (uint32_t a = 0; a < shape->num_actions; a++) {
                size_t pair = assay_shape_pair(shape, h, s, a);
                (void)json_array_append_new(row, json_real(mdp->reward[pair]));
            }
            (void)json_array_append_new(states, row);
        }
        (void)json_array_append_new(steps, states);
    }
    status = write_json(path, object, err);
    json_decref(object);
    return status;
}

static assay_status check_reward(double r, uint32_t h, uint32_t s, uint32_t a,
                                 assay_error *err)
{
    if (r >= 0.0 && r <= 1.0) {
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_INVALID,
                      "the reward of h=%u s=%u a=%u must be in [0, 1]", h + 1,
                      s, a);
}

static assay_status rewards_from_schema(double *out, const char *path,
                                        const assay_shape *shape,
                                        assay_error *err)
{
    json_t *json = NULL;
    assay_shape found = {0, 0, 0};
    assay_status status = read_json(&json, path, err);
    if (status == ASSAY_OK) {
        status = read_shape(&found, json, err);
    }
    if (status == ASSAY_OK && memcmp(&found, shape, sizeof found) != 0) {
        status = assay_fail(
            err, ASSAY_INVALID, "%s is for S=%u A=%u H=%u, not S=%u A=%u H=%u",
            path, found.num_states, found.num_actions, found.horizon,
            shape->num_states, shape->num_actions, shape->horizon);
    }
    for (size_t i = 0; status == ASSAY_OK && i < assay_shape_pairs(shape);
         i++) {
        uint32_t a = (uint32_t)(i % shape->num_actions);
        uint32_t s = (uint32_t)(i / shape->num_actions % shape->num_states);
        uint32_t h = (uint32_t)(i / shape->num_actions / shape->num_states);
        const json_t *cell = json_array_get(
            json_array_get(json_array_get(json_object_get(json, "rewards"), h),
                           s),
            a);
        out[i] = json_is_number(cell) ? json_number_value(cell) : -1.0;
        status = check_reward(out[i], h, s, a, err);
    }
    json_decref(json);
    return status;
}

/* Sets one reward of a CSV line at one step, or at all (h < 0). */
static assay_status set_reward(double *out, const assay_shape *shape, long h,
                               long s, long a, double r, int line,
                               const char *path, assay_error *err)
{
    uint32_t first = h < 0 ? 0 : (uint32_t)h - 1;
    uint32_t last = h < 0 ? shape->horizon : (uint32_t)h;
    if (h == 0 || h > (long)shape->horizon || s < 0 || a < 0 ||
        s >= (long)shape->num_states || a >= (long)shape->num_actions ||
        !(r >= 0.0 && r <= 1.0)) {
        return assay_fail_at(err, ASSAY_INVALID, line, 1,
                             "%s: h, s or a is out of range or r is not in "
                             "[0, 1]",
                             path);
    }
    for (uint32_t at = first; at < last; at++) {
        size_t pair = assay_shape_pair(shape, at, (uint32_t)s, (uint32_t)a);
        if (out[pair] >= 0.0) {
            return assay_fail_at(err, ASSAY_INVALID, line, 1,
                                 "%s: this pair has a reward already", path);
        }
        out[pair] = r;
    }
    return ASSAY_OK;
}

/* A whole number and the comma behind it. */
static int take_index(long *out, const char **at)
{
    char *end = NULL;
    if (**at < '0' || **at > '9') {
        return 0;
    }
    *out = strtol(*at, &end, 10);
    *at = end + 1;
    return *end == ',' && *out <= INT32_MAX;
}

static assay_status rewards_line(double *out, const assay_shape *shape,
                                 const char *text, int with_h, int line,
                                 const char *path, assay_error *err)
{
    const char *at = text;
    char *end = NULL;
    long h = -1;
    long s = -1;
    long a = -1;
    double r = -1.0;
    int fine = (!with_h || (take_index(&h, &at) && h >= 1)) &&
               take_index(&s, &at) && take_index(&a, &at);
    if (fine) {
        r = strtod(at, &end);
        fine = end != at && *end == '\0';
    }
    if (!fine) {
        return assay_fail_at(err, ASSAY_INVALID, line, 1, "%s: expected %s",
                             path, with_h ? "h,s,a,r" : "s,a,r");
    }
    return set_reward(out, shape, h, s, a, r, line, path, err);
}

static assay_status rewards_from_csv(double *out, const char *path,
                                     const assay_shape *shape, assay_error *err)
{
    char *text = NULL;
    char *save = NULL;
    size_t len = 0;
    int line = 1;
    int with_h;
    char *at;
    assay_status status = assay_read_file(&text, &len, path, MAX_FILE, err);
    if (status != ASSAY_OK) {
        return status;
    }
    at = strtok_r(text, "\r\n", &save);
    with_h = at != NULL && strcmp(at, "h,s,a,r") == 0;
    if (at == NULL || (!with_h && strcmp(at, "s,a,r") != 0)) {
        status =
            assay_fail_at(err, ASSAY_INVALID, 1, 1,
                          "%s: the first line must be h,s,a,r or s,a,r", path);
    }
    while (status == ASSAY_OK && (at = strtok_r(NULL, "\r\n", &save)) != NULL) {
        status = rewards_line(out, shape, at, with_h, ++line, path, err);
    }
    free(text);
    for (size_t i = 0; status == ASSAY_OK && i < assay_shape_pairs(shape);
         i++) {
        if (out[i] < 0.0) {
            status = assay_fail(err, ASSAY_INVALID,
                                "%s: h=%zu s=%zu a=%zu has no reward", path,
                                i / shape->num_actions / shape->num_states + 1,
                                i / shape->num_actions % shape->num_states,
                                i % shape->num_actions);
        }
    }
    return status;
}

assay_status assay_rewards_read(double **out, const char *path,
                                const assay_shape *shape, assay_error *err)
{
    size_t len = strlen(path);
    double *rewards;
    assay_status status = assay_shape_check(shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    rewards = calloc(assay_shape_pairs(shape), sizeof(double));
    if (rewards == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the rewards");
    }
    for (size_t i = 0; i < assay_shape_pairs(shape); i++) {
        rewards[i] = -1.0;
    }
    status = len > 5 && strcmp(path + len - 5, ".json") == 0
                 ? rewards_from_schema(rewards, path, shape, err)
                 : rewards_from_csv(rewards, path, shape, err);
    if (status != ASSAY_OK) {
        free(rewards);
        return status;
    }
    *out = rewards;
    return ASSAY_OK;
}
