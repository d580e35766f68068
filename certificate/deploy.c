/* ring: glue */
#include "certificate/deploy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/dp_apvi.h"
#include "algorithms/environments.h"
#include "algorithms/policy_file.h"
#include "algorithms/trajectories.h"
#include "core/rational.h"

char *assay_deploy_path(const char *folder, const char *name)
{
    size_t len = strlen(folder) + strlen(name) + 2;
    char *path = malloc(len);
    if (path != NULL) {
        (void)snprintf(path, len, "%s/%s", folder, name);
    }
    return path;
}

static uint64_t number(const assay_yaml *tree, const char *key)
{
    uint64_t n = 0;
    const char *text = assay_yaml_text(tree, key);
    return text != NULL && assay_u64_parse(&n, text, key, NULL) == ASSAY_OK ? n
                                                                            : 0;
}

static int has_word(const assay_yaml *tree, const char *key, const char *word)
{
    const char *text = assay_yaml_text(tree, key);
    return text != NULL && strcmp(text, word) == 0;
}

static assay_status set_params(assay_dp_apvi_params *params,
                               const assay_yaml *learner, assay_error *err)
{
    int paper = has_word(learner, "preset", "paper");
    int gaussian = has_word(learner, "noise", "gaussian");
    assay_dp_apvi_params_init(params, paper ? ASSAY_PRESET_PAPER
                                            : ASSAY_PRESET_PRACTICAL);
    params->noise = gaussian ? ASSAY_NOISE_GAUSSIAN : ASSAY_NOISE_LAPLACE;
    params->triples_only = has_word(learner, "triples-only", "true");
    return assay_rational_parse_positive(
        params->budget, assay_yaml_text(learner, gaussian ? "rho" : "epsilon"),
        "learner", err);
}

/* Simulated trajectories pass through a file that is gone afterwards. */
static assay_status simulate(assay_counts **counts, double **rewards,
                             const assay_manifest *m, const char *folder,
                             assay_error *err)
{
    assay_mdp *mdp = NULL;
    double *behaviour = NULL;
    const char *spec = assay_yaml_text(m->data, "environment");
    char *path = assay_deploy_path(folder, ".trajectories.csv");
    assay_status status =
        path != NULL ? assay_environment_new(&mdp, spec, err)
                     : assay_fail(err, ASSAY_MEMORY, "no memory for a path");
    if (status == ASSAY_OK) {
        status = assay_environment_behaviour(&behaviour, spec, mdp, err);
    }
    if (status == ASSAY_OK) {
        status = assay_trajectories_write_csv(path, mdp, behaviour, m->users,
                                              number(m->data, "seed"), err);
    }
    if (status == ASSAY_OK) {
        status =
            assay_trajectories_read_csv(counts, path, &mdp->shape, NULL, err);
        (void)unlink(path);
    }
    if (status == ASSAY_OK) {
        *rewards = mdp->reward; /* public; handed over */
        mdp->reward = NULL;
    }
    free(path);
    free(behaviour);
    assay_mdp_free(mdp);
    return status;
}

static assay_status load(assay_counts **counts, double **rewards,
                         const assay_manifest *m, assay_error *err)
{
    assay_shape shape = {(uint32_t)number(m->data, "states"),
                         (uint32_t)number(m->data, "actions"),
                         (uint32_t)number(m->data, "horizon")};
    char *path = assay_manifest_path(m, assay_yaml_text(m->data, "path"));
    char *prices = assay_manifest_path(m, assay_yaml_text(m->data, "rewards"));
    assay_status status =
        path == NULL || prices == NULL
            ? assay_fail(err, ASSAY_MEMORY, "no memory for a path")
            : assay_shape_check(&shape, err);
    if (status == ASSAY_OK) {
        status = assay_rewards_read(rewards, prices, &shape, err);
    }
    if (status == ASSAY_OK) {
        status = assay_trajectories_read_csv(counts, path, &shape, NULL, err);
    }
    free(path);
    free(prices);
    return status;
}

static assay_status write_policy(json_t *outputs, const assay_policy *policy,
                                 const char *folder, assay_error *err)
{
    char *path = assay_deploy_path(folder, "policy.json");
    json_t *note = json_pack("{s:s}", "certificate", "certificate.dsse.json");
    assay_status status =
        path != NULL && note != NULL
            ? assay_policy_write(path, policy, note, err)
            : assay_fail(err, ASSAY_MEMORY, "no memory for a path");
    if (status == ASSAY_OK) {
        (void)json_array_append_new(outputs, json_string("policy.json"));
    }
    json_decref(note);
    free(path);
    return status;
}

assay_status assay_deploy_offline(json_t *outputs,
                                  const assay_manifest *manifest,
                                  const char *folder,
                                  assay_custodian *custodian, assay_error *err)
{
    assay_dp_apvi_params params;
    assay_counts *counts = NULL;
    double *rewards = NULL;
    assay_policy *policy = NULL;
    int world = has_word(manifest->data, "source", "environment");
    assay_status status = set_params(&params, manifest->learner, err);
    if (status == ASSAY_OK) {
        status = world ? simulate(&counts, &rewards, manifest, folder, err)
                       : load(&counts, &rewards, manifest, err);
    }
    if (status == ASSAY_OK) {
        status = assay_dp_apvi_learn(&policy, counts, rewards, &params,
                                     custodian, err);
    }
    if (status == ASSAY_OK) {
        status = write_policy(outputs, policy, folder, err);
    }
    assay_policy_free(policy);
    assay_counts_free(counts);
    free(rewards);
    assay_dp_apvi_params_clear(&params);
    return status;
}

assay_status assay_deploy(json_t *outputs, const assay_manifest *manifest,
                          const char *folder, assay_custodian *custodian,
                          assay_error *err)
{
    if (manifest->releases != NULL) {
        return assay_deploy_releases(outputs, manifest, folder, custodian, err);
    }
    return has_word(manifest->learner, "algorithm", "dp-apvi")
               ? assay_deploy_offline(outputs, manifest, folder, custodian, err)
               : assay_deploy_online(outputs, manifest, folder, custodian, err);
}
