/* ring: glue */
/* assay evaluate-policy: the exact value of a policy in a known model. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/environments.h"
#include "algorithms/policy_file.h"
#include "cli/commands.h"
#include "cli/fields.h"

static const char *const HELP =
    "usage: assay evaluate-policy POLICY.json --env NAME [--json]\n"
    "\n"
    "The exact value of the policy in the environment by dynamic programming,\n"
    "the optimal value, the gap between them, and the value of acting at\n"
    "random.\n"
    "\n"
    "example: assay evaluate-policy policy.json --env clinic\n";

static assay_status evaluate(const char *path, const char *env, int json,
                             assay_error *err)
{
    assay_policy *policy = NULL;
    assay_mdp *mdp = NULL;
    double value = 0.0;
    double best = 0.0;
    double uniform = 0.0;
    assay_status status = assay_policy_read(&policy, NULL, path, err);
    if (status == ASSAY_OK) {
        status = assay_environment_new(&mdp, env, err);
    }
    if (status == ASSAY_OK) {
        status = assay_mdp_evaluate(&value, mdp, policy, err);
    }
    if (status == ASSAY_OK) {
        status = assay_mdp_optimum(&best, NULL, mdp, err);
    }
    if (status == ASSAY_OK) {
        status = assay_mdp_evaluate_mixed(&uniform, mdp, NULL, err);
    }
    if (status == ASSAY_OK) {
        (void)printf(json ? "{\"value\": %.9f, \"optimal\": %.9f, \"gap\": "
                            "%.9f, \"uniform\": %.9f}\n"
                          : "value    %.6f\noptimal  %.6f\ngap      %.6f\n"
                            "uniform  %.6f\n",
                     value, best, best - value, uniform);
    }
    assay_policy_free(policy);
    assay_mdp_free(mdp);
    return status;
}

int assay_cli_evaluate_policy(int argc, char **argv)
{
    const char *env = NULL;
    const char *path = NULL;
    size_t num_plain = 0;
    int json = 0;
    const assay_field table[] = {{"env", ASSAY_FIELD_TEXT, &env},
                                 {"json", ASSAY_FIELD_FLAG, &json},
                                 {NULL, ASSAY_FIELD_TEXT, NULL}};
    assay_error err = ASSAY_ERROR_INIT;
    if (assay_fields_help(argc, argv)) {
        return fputs(HELP, stdout) < 0;
    }
    assay_status status =
        assay_fields_parse_plain(table, &path, 1, &num_plain, argc, argv, &err);
    if (status == ASSAY_OK && (env == NULL || num_plain != 1)) {
        status = assay_fail(&err, ASSAY_INVALID,
                            "needs POLICY.json and --env NAME; see --help");
    }
    if (status == ASSAY_OK) {
        status = evaluate(path, env, json, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("evaluate-policy", &err);
}
