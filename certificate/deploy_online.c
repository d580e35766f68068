/* ring: glue */
/* Online learners on a simulated environment: K users come one by one, each is
   treated by the policy made from the noisy board before her. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/environments.h"
#include "algorithms/policy_file.h"
#include "algorithms/simulate.h"
#include "certificate/deploy.h"
#include "core/progress.h"
#include "core/rational.h"

static int is(const assay_yaml *tree, const char *key, const char *word)
{
    const char *text = assay_yaml_text(tree, key);
    return text != NULL && strcmp(text, word) == 0;
}

static assay_status set_params(assay_online_params *params,
                               const assay_manifest *m, assay_error *err)
{
    const assay_yaml *learner = m->learner;
    int gaussian = is(learner, "noise", "gaussian");
    assay_online_params_init(params);
    params->rule =
        is(learner, "algorithm", "ucb-po") ? ASSAY_UCB_PO : ASSAY_UCB_VI;
    params->trust = strcmp(m->trust, "local") == 0 ? ASSAY_TRUST_LOCAL
                                                   : ASSAY_TRUST_CENTRAL;
    params->noise = gaussian ? ASSAY_NOISE_GAUSSIAN : ASSAY_NOISE_LAPLACE;
    params->triples_only = is(learner, "triples-only", "true");
    assay_status status =
        assay_u64_parse(&params->episodes, assay_yaml_text(learner, "episodes"),
                        "episodes", err);
    if (status == ASSAY_OK) {
        status = assay_rational_parse_positive(
            params->budget,
            assay_yaml_text(learner, gaussian ? "rho" : "epsilon"), "learner",
            err);
    }
    return status;
}

static assay_status run(assay_online *learner, const assay_mdp *mdp,
                        uint64_t episodes, uint64_t seed, assay_error *err)
{
    assay_envrand rand;
    assay_progress meter;
    assay_status status = ASSAY_OK;
    assay_online_step *steps = calloc(mdp->shape.horizon, sizeof *steps);
    if (steps == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for an episode");
    }
    assay_envrand_init(&rand, seed, 1000);
    assay_progress_start(&meter, "episodes", episodes);
    for (uint64_t k = 0; k < episodes && status == ASSAY_OK; k++) {
        (void)assay_online_plan(learner);
        assay_simulate_episode(steps, learner, mdp, &rand);
        status = assay_online_observe(learner, steps, err);
        assay_progress_update(&meter, k + 1, NULL);
    }
    assay_progress_finish(&meter);
    (void)assay_online_plan(learner);
    free(steps);
    return status;
}

/* The policy for the next user: greedy, or the likeliest action of a mixed
   one. Post-processing of the board. */
static assay_status last_policy(assay_policy **out, const assay_online *learner,
                                const assay_shape *shape, assay_error *err)
{
    const double *mixed = assay_online_mixed(learner);
    const assay_policy *greedy = assay_online_policy(learner);
    size_t cells = (size_t)shape->horizon * shape->num_states;
    assay_status status = assay_policy_new(out, shape, err);
    for (size_t i = 0; i < cells && status == ASSAY_OK; i++) {
        uint32_t best = 0;
        for (uint32_t a = 1; mixed != NULL && a < shape->num_actions; a++) {
            size_t row = i * shape->num_actions;
            best = mixed[row + a] > mixed[row + best] ? a : best;
        }
        (*out)->action[i] = mixed != NULL ? best : greedy->action[i];
    }
    return status;
}

static assay_status write_policy(json_t *outputs, const assay_policy *policy,
                                 const char *folder, assay_error *err)
{
    char *path = assay_deploy_path(folder, "policy.json");
    assay_status status =
        path != NULL ? assay_policy_write(path, policy, NULL, err)
                     : assay_fail(err, ASSAY_MEMORY, "no memory for a path");
    if (status == ASSAY_OK) {
        (void)json_array_append_new(outputs, json_string("policy.json"));
    }
    free(path);
    return status;
}

assay_status assay_deploy_online(json_t *outputs,
                                 const assay_manifest *manifest,
                                 const char *folder, assay_custodian *custodian,
                                 assay_error *err)
{
    assay_online_params params;
    assay_online *learner = NULL;
    assay_mdp *mdp = NULL;
    assay_policy *policy = NULL;
    uint64_t seed = 0;
    assay_status status = set_params(&params, manifest, err);
    if (status == ASSAY_OK) {
        status = assay_u64_parse(&seed, assay_yaml_text(manifest->data, "seed"),
                                 "seed", err);
    }
    if (status == ASSAY_OK) {
        status = assay_environment_new(
            &mdp, assay_yaml_text(manifest->data, "environment"), err);
    }
    if (status == ASSAY_OK) {
        status =
            assay_online_new(&learner, &mdp->shape, &params, custodian, err);
    }
    if (status == ASSAY_OK) {
        status = run(learner, mdp, params.episodes, seed, err);
    }
    if (status == ASSAY_OK) {
        status = last_policy(&policy, learner, &mdp->shape, err);
    }
    if (status == ASSAY_OK) {
        status = write_policy(outputs, policy, folder, err);
    }
    assay_policy_free(policy);
    assay_online_free(learner);
    assay_mdp_free(mdp);
    assay_online_params_clear(&params);
    return status;
}
