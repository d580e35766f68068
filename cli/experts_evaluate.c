/* ring: glue */
/* assay experts evaluate: episodes of a learned policy. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/offline.h"
#include "algorithms/rollout.h"
#include "cli/commands.h"
#include "cli/experts.h"
#include "cli/fields.h"

static const char *const HELP =
    "usage: assay experts evaluate --policy POLICY.bin | --random ENV\n"
    "         [--episodes N] [--cap N] [--seed N] [--json]\n"
    "\n"
    "The mean return of a learned policy (or of uniform actions) in the\n"
    "default environment. Defaults: 100 episodes of at most 500 steps.\n"
    "\n"
    "example:\n"
    "  assay experts evaluate --policy policy.bin --cap 1000\n";

typedef struct options {
    const char *out, *policy, *random;
    uint64_t episodes, cap, seed;
    int json;
} options;

typedef struct uniform {
    assay_envrand *rand;
    uint32_t num_actions;
} uniform;

static int act_uniform(const void *policy, const double *seen)
{
    const uniform *u = policy;
    (void)seen;
    return (int)assay_envrand_below(u->rand, u->num_actions);
}

static assay_status parse(options *o, int argc, char **argv, assay_error *err)
{
    const assay_field table[] = {
        {"output", ASSAY_FIELD_TEXT, &o->out},
        {"policy", ASSAY_FIELD_TEXT, &o->policy},
        {"random", ASSAY_FIELD_TEXT, &o->random},
        {"episodes", ASSAY_FIELD_NUMBER, &o->episodes},
        {"cap", ASSAY_FIELD_NUMBER, &o->cap},
        {"seed", ASSAY_FIELD_NUMBER, &o->seed},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    assay_status status = assay_fields_parse(table, argc, argv, err);
    if (status == ASSAY_OK &&
        ((o->policy == NULL) == (o->random == NULL) || o->out != NULL ||
         o->episodes < 1 || o->episodes > 1000000 || o->cap < 1 ||
         o->cap > 1000000)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "needs --policy or --random, 1 to 1000000 "
                            "--episodes and --cap; see --help");
    }
    return status;
}

static void show(const double *returns, const options *o, double mean)
{
    double var = 0.0;
    for (uint64_t i = 0; i < o->episodes; i++) {
        var += (returns[i] - mean) * (returns[i] - mean);
    }
    var = o->episodes > 1 ? var / (double)(o->episodes - 1) : 0.0;
    (void)printf(o->json ? "{\"mean_return\": %.17g, \"deviation\": %.6g, "
                           "\"episodes\": %llu}\n"
                         : "mean return %.6g, deviation %.4g, %llu episodes\n",
                 mean, sqrt(var), (unsigned long long)o->episodes);
}

static assay_status evaluate(const options *o, assay_error *err)
{
    assay_q_policy policy;
    assay_control env = {0};
    assay_observation see;
    assay_envrand rand;
    uniform any = {&rand, 1};
    double *returns = calloc(o->episodes, sizeof *returns);
    const char *name = o->random;
    assay_status status = ASSAY_OK;
    memset(&policy, 0, sizeof policy);
    assay_envrand_init(&rand, o->seed, 1);
    if (returns == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for returns");
    }
    if (o->policy != NULL) {
        status = assay_q_policy_load(&policy, NULL, o->policy, err);
        name = policy.env;
    }
    if (status == ASSAY_OK) {
        status = assay_control_find(&env, name, NULL, err);
    }
    if (status == ASSAY_OK) {
        status = assay_observation_find(&see, name, err);
    }
    if (status == ASSAY_OK) {
        int random = o->random != NULL;
        any.num_actions = (uint32_t)env.num_actions;
        show(returns, o,
             assay_rollout_evaluate(
                 returns, &env, &see, random ? act_uniform : assay_q_policy_act,
                 random ? (const void *)&any : (const void *)&policy,
                 o->episodes, (int)o->cap, o->seed));
    }
    assay_control_clear(&env);
    assay_q_policy_clear(&policy);
    free(returns);
    return status;
}

int assay_cli_experts_evaluate(int argc, char **argv)
{
    options o = {.episodes = 100, .cap = 500, .seed = 1};
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    status = parse(&o, argc, argv, &err);
    if (status == ASSAY_OK) {
        status = evaluate(&o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("experts evaluate", &err);
}
