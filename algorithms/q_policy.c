/* ring: glue */
#include <stdlib.h>
#include <string.h>

#include "algorithms/checkpoint.h"
#include "algorithms/offline.h"

void assay_q_policy_clear(assay_q_policy *policy)
{
    assay_network_clear(&policy->net);
}

assay_status assay_q_policy_save(const char *path, const assay_q_policy *policy,
                                 json_t *guarantee, assay_error *err)
{
    json_t *header =
        json_pack("{s:s, s:s, s:f, s:o}", "environment", policy->env, "learner",
                  policy->kind == ASSAY_CQL ? "cql" : "bcq", "tau", policy->tau,
                  "shape", assay_checkpoint_shape(&policy->net));
    assay_status status;
    if (guarantee != NULL) {
        (void)json_object_set(header, "guarantee", guarantee);
    }
    status =
        assay_checkpoint_write(path, "q-policy", header, policy->net.params,
                               policy->net.num_params, err);
    json_decref(header);
    return status;
}

static assay_status read_policy(assay_q_policy *p, const json_t *header,
                                size_t num, const char *path, assay_error *err)
{
    const char *env = json_string_value(json_object_get(header, "environment"));
    const char *kind = json_string_value(json_object_get(header, "learner"));
    assay_observation see;
    size_t heads;
    assay_status status;
    if (env == NULL || kind == NULL || strlen(env) >= sizeof p->env ||
        (strcmp(kind, "cql") != 0 && strcmp(kind, "bcq") != 0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s: no environment or an unknown learner", path);
    }
    memcpy(p->env, env, strlen(env) + 1);
    p->kind = strcmp(kind, "cql") == 0 ? ASSAY_CQL : ASSAY_BCQ;
    p->tau = json_real_value(json_object_get(header, "tau"));
    heads = p->kind == ASSAY_CQL ? 1 : 2;
    status = assay_observation_find(&see, p->env, err);
    if (status == ASSAY_OK) {
        status = assay_checkpoint_from_shape(
            &p->net, json_object_get(header, "shape"), err);
    }
    if (status == ASSAY_OK &&
        (p->net.num_params != num || p->net.widths[0] != see.dim ||
         p->net.widths[p->net.num_layers] != heads * (size_t)see.num_actions)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "%s: the network does not fit %s", path, p->env);
    }
    return status;
}

assay_status assay_q_policy_load(assay_q_policy *policy, json_t **guarantee,
                                 const char *path, assay_error *err)
{
    json_t *header = NULL;
    double *values = NULL;
    size_t num = 0;
    assay_status status =
        assay_checkpoint_read(&header, &values, &num, path, "q-policy", err);
    if (status != ASSAY_OK) {
        return status;
    }
    memset(policy, 0, sizeof *policy);
    status = read_policy(policy, header, num, path, err);
    if (status == ASSAY_OK) {
        memcpy(policy->net.params, values, num * sizeof *values);
        if (guarantee != NULL) {
            *guarantee = json_incref(json_object_get(header, "guarantee"));
        }
    } else {
        assay_q_policy_clear(policy);
    }
    free(values);
    json_decref(header);
    return status;
}
