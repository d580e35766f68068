/* ring: glue */
/* assay evaluate-policy: the exact value of a policy in a known model. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/environments.h"
#include "algorithms/policy_file.h"
#include "cli/commands.h"

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
    static const struct option names[] = {
        {"env", required_argument, NULL, 'e'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *env = NULL;
    int json = 0;
    int c;
    assay_error err = ASSAY_ERROR_INIT;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (c == 'h') {
            (void)fputs(HELP, stdout);
            return 0;
        }
        if (c == 'e') {
            env = optarg;
        } else if (c == 'j') {
            json = 1;
        } else {
            optind = argc; /* ends below with the usage line */
        }
    }
    if (env == NULL || optind + 1 != argc) {
        (void)fprintf(stderr, "assay evaluate-policy: needs POLICY.json and "
                              "--env NAME; see --help\n");
        return 2;
    }
    if (evaluate(argv[optind], env, json, &err) != ASSAY_OK) {
        return assay_cli_report("evaluate-policy", &err);
    }
    return 0;
}
