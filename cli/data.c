/* ring: glue */
/* assay data: synthetic trajectories to try things on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/environments.h"
#include "algorithms/policy_file.h"
#include "algorithms/trajectories.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "core/rational.h"

static const char *const HELP =
    "usage: assay data generate --env NAME --users N -o FILE.csv [--seed N]\n"
    "\n"
    "Writes trajectories of N simulated users (header user,h,s,a,r,s_next)\n"
    "and, beside them, FILE.csv.schema.json: the shape and the rewards, which\n"
    "are public. The seed drives the simulated world only.\n"
    "\n"
    "  --env NAME     riverswim, riverswim-inhomogeneous, random, chain,\n"
    "                 clinic, linear; with numbers: riverswim:S=6,H=12\n"
    "  --users N      from 1 to 2^31 - 1\n"
    "  --seed N       1 unless said\n"
    "  --json         print what was written as JSON\n"
    "\n"
    "example: assay data generate --env clinic --users 10000 -o ward.csv\n";

typedef struct data_options {
    const char *env;
    const char *out;
    uint64_t users;
    uint64_t seed;
    int json;
} data_options;

static assay_status parse(data_options *o, int argc, char **argv,
                          assay_error *err)
{
    const assay_field table[] = {{"output", ASSAY_FIELD_TEXT, &o->out},
                                 {"env", ASSAY_FIELD_TEXT, &o->env},
                                 {"users", ASSAY_FIELD_NUMBER, &o->users},
                                 {"seed", ASSAY_FIELD_NUMBER, &o->seed},
                                 {"json", ASSAY_FIELD_FLAG, &o->json},
                                 {NULL, ASSAY_FIELD_TEXT, NULL}};
    return assay_fields_parse(table, argc, argv, err);
}

static assay_status generate(const data_options *o, assay_error *err)
{
    assay_mdp *mdp = NULL;
    double *behaviour = NULL;
    char schema[4096];
    assay_status status;
    if (o->env == NULL || o->out == NULL || o->users == 0 ||
        o->users > ASSAY_COUNTS_MAX_USERS ||
        strlen(o->out) > sizeof schema - 20) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs --env NAME, --users N (1 to 2^31 - 1) and "
                          "-o FILE.csv");
    }
    (void)snprintf(schema, sizeof schema, "%s.schema.json", o->out);
    status = assay_environment_new(&mdp, o->env, err);
    if (status == ASSAY_OK) {
        status = assay_environment_behaviour(&behaviour, o->env, mdp, err);
    }
    if (status == ASSAY_OK) {
        status = assay_trajectories_write_csv(o->out, mdp, behaviour, o->users,
                                              o->seed, err);
    }
    if (status == ASSAY_OK) {
        status = assay_schema_write(schema, mdp, err);
    }
    if (status == ASSAY_OK && o->json) {
        (void)printf("{\"file\": \"%s\", \"users\": %" PRIu64
                     ", \"S\": %u, \"A\": %u, \"H\": %u}\n",
                     o->out, o->users, mdp->shape.num_states,
                     mdp->shape.num_actions, mdp->shape.horizon);
    } else if (status == ASSAY_OK) {
        (void)printf("%s: %" PRIu64 " users, states %u, actions %u, horizon "
                     "%u\n%s: rewards\n",
                     o->out, o->users, mdp->shape.num_states,
                     mdp->shape.num_actions, mdp->shape.horizon, schema);
    }
    free(behaviour);
    assay_mdp_free(mdp);
    return status;
}

int assay_cli_data(int argc, char **argv)
{
    data_options o = {NULL, NULL, 0, 1, 0};
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    if (argc < 2 || strcmp(argv[1], "generate") != 0) {
        (void)fprintf(stderr, "assay data: expected `generate`; see --help\n");
        return 2;
    }
    status = parse(&o, argc - 1, argv + 1, &err);
    if (status == ASSAY_OK) {
        status = generate(&o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("data", &err);
}
