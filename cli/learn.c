/* ring: glue */
/* assay learn: a private policy from trajectories. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/dp_apvi.h"
#include "algorithms/policy_file.h"
#include "algorithms/trajectories.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/learn_expert.h"
#include "cli/linear.h"
#include "core/rational.h"
#include "mechanisms/custodian.h"

static const char *const HELP =
    "usage: assay learn dp-apvi --data FILE.csv --states S --actions A\n"
    "         --horizon H --rewards FILE|from-data-schema\n"
    "         --rho R|--epsilon E --ledger L.db -o POLICY.json\n"
    "       assay learn apvi ...      the same without privacy or ledger\n"
    "       assay learn dp-vapvi|vapvi|pevi --help   linear features\n"
    "       assay learn selective-dp-sgd|cql|bcq --help   from experts\n"
    "\n"
    "DP-APVI: counts are released once with exact discrete noise and charged\n"
    "to the ledger; pessimistic value iteration follows. The unit is one\n"
    "user's trajectory (replaced); the number of users is public.\n"
    "\n"
    "  --data FILE       header user,h,s,a,r,s_next; or .h5/.hdf5\n"
    "  --rewards FILE    public rewards: CSV with header h,s,a,r or s,a,r, or\n"
    "                    a schema; from-data-schema reads DATA.schema.json.\n"
    "                    Rewards are never taken from the data.\n"
    "  --rho R           Gaussian noise, R-zCDP (exact: 0.5, 1/3)\n"
    "  --epsilon E       Laplace noise, pure E-DP\n"
    "  --preset NAME     practical (default) or paper\n"
    "  --penalty NAME    bernstein (default) or hoeffding\n"
    "  --triples-only    release only (s,a,s') counts: less noise on them\n"
    "  --pair-share X    of the budget, for the (s,a) counts: 1/2 unless said\n"
    "  --allow-jumps     s need not be the s_next of the user's step before\n"
    "  --c1 X --c2 X     weights of the penalty instead of the preset's\n"
    "  --threads N       results do not depend on it\n"
    "  --json            print the guarantee as JSON\n"
    "\n"
    "examples:\n"
    "  assay data generate --env clinic --users 20000 -o ward.csv\n"
    "  assay ledger create L.db --rho 1 --neighbours replace-one\n"
    "  assay learn dp-apvi --data ward.csv --states 14 --actions 4 "
    "--horizon 8 \\\n"
    "    --rewards from-data-schema --rho 0.5 --ledger L.db -o policy.json\n"
    "  assay evaluate-policy policy.json --env clinic\n";

typedef struct learn_options {
    const char *data, *rewards, *ledger, *out;
    const char *rho, *epsilon, *pair_share;
    uint64_t states, actions, horizon, threads;
    const char *preset, *penalty;
    double c1, c2; /* below 0: the preset's */
    int triples_only, allow_jumps, json, is_private;
} learn_options;

static assay_status parse(learn_options *o, int argc, char **argv,
                          assay_error *err)
{
    const assay_field table[] = {
        {"output", ASSAY_FIELD_TEXT, &o->out},
        {"data", ASSAY_FIELD_TEXT, &o->data},
        {"rewards", ASSAY_FIELD_TEXT, &o->rewards},
        {"ledger", ASSAY_FIELD_TEXT, &o->ledger},
        {"rho", ASSAY_FIELD_TEXT, &o->rho},
        {"epsilon", ASSAY_FIELD_TEXT, &o->epsilon},
        {"states", ASSAY_FIELD_NUMBER, &o->states},
        {"actions", ASSAY_FIELD_NUMBER, &o->actions},
        {"horizon", ASSAY_FIELD_NUMBER, &o->horizon},
        {"threads", ASSAY_FIELD_NUMBER, &o->threads},
        {"preset", ASSAY_FIELD_TEXT, &o->preset},
        {"penalty", ASSAY_FIELD_TEXT, &o->penalty},
        {"c1", ASSAY_FIELD_REAL, &o->c1},
        {"c2", ASSAY_FIELD_REAL, &o->c2},
        {"pair-share", ASSAY_FIELD_TEXT, &o->pair_share},
        {"triples-only", ASSAY_FIELD_FLAG, &o->triples_only},
        {"allow-jumps", ASSAY_FIELD_FLAG, &o->allow_jumps},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    assay_status status = assay_fields_parse(table, argc, argv, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (o->data == NULL || o->rewards == NULL || o->out == NULL ||
        o->states == 0 || o->actions == 0 || o->horizon == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs --data --states --actions --horizon "
                          "--rewards and -o; see --help");
    }
    if (o->states > UINT32_MAX || o->actions > UINT32_MAX ||
        o->horizon > UINT32_MAX) {
        return assay_fail(err, ASSAY_INVALID, "the shape is too large");
    }
    if (o->is_private &&
        ((o->rho == NULL) == (o->epsilon == NULL) || o->ledger == NULL)) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs --ledger and one of --rho, --epsilon");
    }
    if (o->pair_share != NULL && o->triples_only) {
        return assay_fail(err, ASSAY_INVALID,
                          "--triples-only leaves nothing for --pair-share");
    }
    return ASSAY_OK;
}

static assay_status set_params(assay_dp_apvi_params *params,
                               const learn_options *o, assay_error *err)
{
    static const char *const presets[] = {"paper", "practical", NULL};
    static const char *const penalties[] = {"bernstein", "hoeffding", NULL};
    int preset = 1;
    int penalty = 0;
    const char *budget = o->rho != NULL ? o->rho : o->epsilon;
    assay_status status =
        assay_fields_word(&preset, o->preset, "--preset", presets, err);
    if (status == ASSAY_OK) {
        status = assay_fields_word(&penalty, o->penalty, "--penalty", penalties,
                                   err);
    }
    assay_dp_apvi_params_init(params, (assay_preset)preset);
    params->penalty = (assay_penalty)penalty;
    params->triples_only = o->triples_only;
    params->num_threads = (uint32_t)(o->threads > 64 ? 64 : o->threads);
    params->c1 = o->c1 < 0.0 ? params->c1 : o->c1;
    params->c2 = o->c2 < 0.0 ? params->c2 : o->c2;
    params->noise = o->rho != NULL ? ASSAY_NOISE_GAUSSIAN : ASSAY_NOISE_LAPLACE;
    if (!o->is_private) {
        params->noise = ASSAY_NOISE_NONE;
    } else if (status == ASSAY_OK) {
        status = assay_rational_parse_positive(
            params->budget, budget, o->rho != NULL ? "--rho" : "--epsilon",
            err);
    }
    if (status == ASSAY_OK && o->pair_share != NULL) {
        status = assay_rational_parse_positive(
            params->pair_share, o->pair_share, "--pair-share", err);
    }
    return status;
}

/* The noise of a release that gets `share` of the budget. */
static void add_scale(json_t *json, const char *key,
                      const assay_dp_apvi_params *params,
                      const assay_shape *shape, const mpq_t share)
{
    mpq_t scale;
    char *text;
    mpq_init(scale);
    mpq_mul(scale, params->budget, share);
    assay_privatizer_scale(scale, params->noise,
                           assay_dp_apvi_sensitivity(params, shape), scale);
    text = assay_rational_text(scale);
    (void)json_object_set_new(json, key, json_string(text));
    free(text);
    mpq_clear(scale);
}

static void add_scales(json_t *json, const learn_options *o,
                       const assay_dp_apvi_params *params,
                       const assay_shape *shape)
{
    int gaussian = params->noise == ASSAY_NOISE_GAUSSIAN;
    mpq_t share;
    mpq_init(share);
    mpq_set_ui(share, 1, 1);
    if (o->pair_share == NULL || mpq_cmp_ui(params->pair_share, 1, 2) == 0) {
        add_scale(json, gaussian ? "sigma2" : "scale", params, shape, share);
    } else { /* two releases */
        add_scale(json, gaussian ? "sigma2_pairs" : "scale_pairs", params,
                  shape, params->pair_share);
        mpq_sub(share, share, params->pair_share);
        add_scale(json, gaussian ? "sigma2_triples" : "scale_triples", params,
                  shape, share);
    }
    (void)json_object_set_new(
        json, gaussian ? "sensitivity_l2_squared" : "sensitivity_l1",
        json_integer((json_int_t)assay_dp_apvi_sensitivity(params, shape)));
    mpq_clear(share);
}

/* What was charged, in words; epsilons are the accountant's business. */
static json_t *describe(const learn_options *o,
                        const assay_dp_apvi_params *params,
                        const assay_counts *counts)
{
    int gaussian = params->noise == ASSAY_NOISE_GAUSSIAN;
    char *budget;
    json_t *json;
    if (params->noise == ASSAY_NOISE_NONE) {
        return json_pack("{s:s}", "notion", "none: this policy is not private");
    }
    budget = assay_rational_text(params->budget);
    json =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "notion",
                  gaussian ? "zCDP" : "pure DP", gaussian ? "rho" : "epsilon",
                  budget, "unit", "one user's trajectory", "neighbours",
                  "replace-one, number of users public", "trust", "central",
                  "users", (json_int_t)counts->num_users, "mechanism",
                  gaussian ? "discrete Gaussian" : "discrete Laplace");
    add_scales(json, o, params, &counts->shape);
    free(budget);
    return json;
}

static assay_status load(assay_counts **counts, double **rewards,
                         const learn_options *o, assay_error *err)
{
    char schema[4096];
    const char *from = o->rewards;
    assay_shape shape;
    assay_read_options how = {.allow_jumps = o->allow_jumps};
    assay_progress meter;
    assay_status status;
    shape.num_states = (uint32_t)o->states;
    shape.num_actions = (uint32_t)o->actions;
    shape.horizon = (uint32_t)o->horizon;
    how.num_threads = (uint32_t)(o->threads > 64 ? 64 : o->threads);
    if (strcmp(from, "from-data-schema") == 0) {
        if (strlen(o->data) > sizeof schema - 20) {
            return assay_fail(err, ASSAY_INVALID, "--data: too long a name");
        }
        (void)snprintf(schema, sizeof schema, "%s.schema.json", o->data);
        from = schema;
    }
    status = assay_rewards_read(rewards, from, &shape, err);
    if (status == ASSAY_OK) {
        assay_progress_start(&meter, "reading", 0);
        how.meter = &meter;
        status = assay_trajectories_read(counts, o->data, &shape, &how, err);
        assay_progress_finish(&meter);
    }
    return status;
}

static void report(const learn_options *o, json_t *guarantee,
                   const assay_counts *counts)
{
    char *text;
    if (o->json) {
        text = json_dumps(guarantee, JSON_COMPACT);
        (void)printf("%s\n", text == NULL ? "{}" : text);
        free(text);
        return;
    }
    (void)printf("%s: policy from %" PRIu64 " users; %s", o->out,
                 counts->num_users, o->is_private ? "" : "not private\n");
    if (o->is_private) {
        (void)printf("%s %s, one user's trajectory replaced\n",
                     o->rho != NULL ? "zCDP with rho =" : "pure DP, epsilon =",
                     o->rho != NULL ? o->rho : o->epsilon);
    }
}

/* One charge and release, then planning: nothing to count on the way. */
static assay_status
release_and_plan(assay_policy **policy, const assay_counts *counts,
                 const double *rewards, const assay_dp_apvi_params *params,
                 assay_custodian *custodian, assay_error *err)
{
    assay_progress meter;
    assay_status status;
    assay_progress_start(&meter, "release and plan", 0);
    assay_progress_update(&meter, 0, NULL);
    status =
        assay_dp_apvi_learn(policy, counts, rewards, params, custodian, err);
    assay_progress_finish(&meter);
    return status;
}

static assay_status learn(const learn_options *o, assay_error *err)
{
    assay_dp_apvi_params params;
    assay_custodian custodian;
    assay_counts *counts = NULL;
    double *rewards = NULL;
    assay_policy *policy = NULL;
    json_t *guarantee = NULL;
    int open = 0;
    assay_status status = set_params(&params, o, err);
    if (status == ASSAY_OK) {
        status = load(&counts, &rewards, o, err);
    }
    if (status == ASSAY_OK && o->is_private) {
        status = assay_custodian_init(&custodian, o->ledger, err);
        open = status == ASSAY_OK;
    }
    if (status == ASSAY_OK) {
        status = release_and_plan(&policy, counts, rewards, &params,
                                  open ? &custodian : NULL, err);
    }
    if (status == ASSAY_OK) {
        guarantee = describe(o, &params, counts);
        status = assay_policy_write(o->out, policy, guarantee, err);
    }
    if (status == ASSAY_OK) {
        report(o, guarantee, counts);
    }
    if (open) {
        assay_custodian_clear(&custodian);
    }
    json_decref(guarantee);
    assay_policy_free(policy);
    assay_counts_free(counts);
    free(rewards);
    assay_dp_apvi_params_clear(&params);
    return status;
}

int assay_cli_learn(int argc, char **argv)
{
    learn_options o;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    memset(&o, 0, sizeof o);
    o.preset = "practical";
    o.penalty = "bernstein";
    o.c1 = -1.0;
    o.c2 = -1.0;
    if (argc >= 2 && assay_cli_is_linear(argv[1])) {
        return assay_cli_learn_linear(argc - 1, argv + 1);
    }
    if (argc >= 2 && assay_cli_is_expert(argv[1])) {
        return assay_cli_learn_expert(argc - 1, argv + 1);
    }
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    if (argc < 2 ||
        (strcmp(argv[1], "dp-apvi") != 0 && strcmp(argv[1], "apvi") != 0)) {
        (void)fprintf(stderr, "assay learn: expected dp-apvi, apvi, dp-vapvi, "
                              "vapvi, pevi, selective-dp-sgd, cql or bcq; "
                              "see --help\n");
        return 2;
    }
    o.is_private = strcmp(argv[1], "dp-apvi") == 0;
    status = parse(&o, argc - 1, argv + 1, &err);
    if (status == ASSAY_OK) {
        status = learn(&o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("learn", &err);
}
