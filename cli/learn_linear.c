/* ring: glue */
/* assay learn and assay simulate for dp-vapvi, vapvi and pevi. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/environments.h"
#include "algorithms/policy_file.h"
#include "algorithms/trajectories.h"
#include "algorithms/vapvi.h"
#include "audit/scratch.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/linear.h"
#include "core/rational.h"

static const char *const HELP =
    "usage: assay learn dp-vapvi --data D.csv [--data2 D2.csv] --states S\n"
    "         --actions A --horizon H --features F --rewards FILE\n"
    "         --rho R --ledger L.db -o POLICY.json\n"
    "       assay learn vapvi|pevi ...   the same without privacy or ledger\n"
    "       assay simulate dp-vapvi|vapvi|pevi --env linear --users K\n"
    "         [--rho R] [--split] [--runs N] [--seed N]\n"
    "\n"
    "Variance-aware pessimistic value iteration with linear features. Sums of\n"
    "exact integers are released with discrete Gaussian noise; the run is\n"
    "R-zCDP for one user's trajectory (replaced), charged once.\n"
    "\n"
    "  --features F      linear (2 states), one-hot, or a CSV file with "
    "header\n"
    "                    s,a,f1,...,fd; norms above 1 are clipped to 1\n"
    "  --data2 FILE      a split: variances from these people, values from\n"
    "                    the others; each part costs R, and so do both,\n"
    "                    since nobody may be in both files (CSV: checked)\n"
    "  --assume-disjoint HDF5 has no names: state that nobody is in both\n"
    "  --allow-jumps     s need not be the s_next of the user's step before\n"
    "  --statistics N    centred (default), stepwise, printed, or free:\n"
    "                    statistics that do not depend on the value\n"
    "  --preset NAME     practical (default; also: constant) has a penalty\n"
    "                    of constant weight alone, diminishing adds\n"
    "                    H sqrt(d)/K, paper has the printed weights\n"
    "  --c X             weight of the penalty, instead of the preset's\n"
    "  --d X             D of the penalty's D/K\n"
    "  --ridge X         lambda (1), also the floor of the eigenvalues\n"
    "  --shift X         times sqrt(d/rho0), added to a noisy diagonal\n"
    "  --json\n"
    "\n"
    "example:\n"
    "  assay data generate --env linear --users 3000 -o d.csv\n"
    "  assay ledger create L.db --rho 25 --neighbours replace-one\n"
    "  assay learn dp-vapvi --data d.csv --states 2 --actions 100 \\\n"
    "    --horizon 20 --features linear --rewards from-data-schema \\\n"
    "    --statistics free --rho 25 --ledger L.db -o policy.json\n";

typedef struct linear_options {
    const char *data, *data2, *features, *rewards, *ledger, *out, *rho, *env;
    const char *statistics, *preset;
    uint64_t states, actions, horizon, users, runs, seed;
    double c, d, ridge, shift; /* below 0: the preset's */
    int json, split, is_private, is_pevi, allow_jumps, assume_disjoint;
} linear_options;

int assay_cli_is_linear(const char *learner)
{
    return strcmp(learner, "dp-vapvi") == 0 || strcmp(learner, "vapvi") == 0 ||
           strcmp(learner, "pevi") == 0;
}

static assay_status parse(linear_options *o, int argc, char **argv,
                          assay_error *err)
{
    const assay_field table[] = {
        {"output", ASSAY_FIELD_TEXT, &o->out},
        {"data", ASSAY_FIELD_TEXT, &o->data},
        {"data2", ASSAY_FIELD_TEXT, &o->data2},
        {"features", ASSAY_FIELD_TEXT, &o->features},
        {"rewards", ASSAY_FIELD_TEXT, &o->rewards},
        {"ledger", ASSAY_FIELD_TEXT, &o->ledger},
        {"rho", ASSAY_FIELD_TEXT, &o->rho},
        {"env", ASSAY_FIELD_TEXT, &o->env},
        {"statistics", ASSAY_FIELD_TEXT, &o->statistics},
        {"preset", ASSAY_FIELD_TEXT, &o->preset},
        {"states", ASSAY_FIELD_NUMBER, &o->states},
        {"actions", ASSAY_FIELD_NUMBER, &o->actions},
        {"horizon", ASSAY_FIELD_NUMBER, &o->horizon},
        {"users", ASSAY_FIELD_NUMBER, &o->users},
        {"runs", ASSAY_FIELD_NUMBER, &o->runs},
        {"seed", ASSAY_FIELD_NUMBER, &o->seed},
        {"c", ASSAY_FIELD_REAL, &o->c},
        {"d", ASSAY_FIELD_REAL, &o->d},
        {"ridge", ASSAY_FIELD_REAL, &o->ridge},
        {"shift", ASSAY_FIELD_REAL, &o->shift},
        {"split", ASSAY_FIELD_FLAG, &o->split},
        {"allow-jumps", ASSAY_FIELD_FLAG, &o->allow_jumps},
        {"assume-disjoint", ASSAY_FIELD_FLAG, &o->assume_disjoint},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    assay_status status;
    memset(o, 0, sizeof *o);
    o->statistics = "centred";
    o->preset = "practical";
    o->features = "linear";
    o->runs = 1;
    o->seed = 1;
    o->c = -1.0;
    o->d = -1.0;
    o->ridge = -1.0;
    o->shift = -1.0;
    o->is_private = strcmp(argv[0], "dp-vapvi") == 0;
    o->is_pevi = strcmp(argv[0], "pevi") == 0;
    status = assay_fields_parse(table, argc, argv, err);
    if (status == ASSAY_OK && o->is_private != (o->rho != NULL)) {
        status = assay_fail(err, ASSAY_INVALID,
                            o->is_private ? "dp-vapvi needs --rho R"
                                          : "--rho is for dp-vapvi");
    }
    return status;
}

static assay_status set_params(assay_vapvi_params *params,
                               const linear_options *o, assay_error *err)
{
    static const char *const kinds[] = {"printed", "stepwise", "centred",
                                        "free", NULL};
    static const char *const presets[] = {"practical", "paper", "constant",
                                          "diminishing", NULL};
    int kind = 0;
    int preset = 0;
    assay_status status =
        assay_fields_word(&kind, o->statistics, "--statistics", kinds, err);
    if (status == ASSAY_OK) {
        status =
            assay_fields_word(&preset, o->preset, "--preset", presets, err);
    }
    assay_vapvi_params_init(params, preset == 1);
    if (preset == 3) {
        params->extra = ASSAY_VAPVI_SMALL_D;
    }
    params->statistics = (assay_vapvi_statistics)kind;
    params->variance_aware = !o->is_pevi;
    params->is_private = o->is_private;
    params->c = o->c < 0.0 ? params->c : o->c;
    params->extra = o->d < 0.0 ? params->extra : o->d;
    params->ridge = o->ridge < 0.0 ? params->ridge : o->ridge;
    params->shift = o->shift < 0.0 ? params->shift : o->shift;
    if (status == ASSAY_OK && o->is_private) {
        status =
            assay_rational_parse_positive(params->budget, o->rho, "--rho", err);
    }
    return status;
}

/* One or two files; nobody may be in both. */
static assay_status read_files(assay_counts **counts, const linear_options *o,
                               const assay_shape *shape, assay_error *err)
{
    assay_progress meter;
    assay_roster *people = NULL;
    assay_read_options how = {.allow_jumps = o->allow_jumps, .meter = &meter};
    int check = o->data2 != NULL && !o->assume_disjoint;
    assay_status status;
    how.roster = check ? &people : NULL;
    assay_progress_start(&meter, "reading", 0);
    status = assay_trajectories_read(&counts[0], o->data, shape, &how, err);
    how.roster = NULL;
    if (status == ASSAY_OK && check && people == NULL) {
        status = assay_fail(err, ASSAY_INVALID,
                            "%s does not name its users: --data2 needs CSV "
                            "files, or --assume-disjoint",
                            o->data);
    }
    if (status == ASSAY_OK && o->data2 != NULL) {
        how.others = people;
        status =
            assay_trajectories_read(&counts[1], o->data2, shape, &how, err);
    }
    assay_progress_finish(&meter);
    assay_roster_free(people);
    return status;
}

static assay_status read_data(assay_counts **counts, double **rewards,
                              const linear_options *o, assay_error *err)
{
    assay_shape shape;
    char schema[4096];
    const char *from = o->rewards;
    assay_status status;
    shape.num_states = (uint32_t)o->states;
    shape.num_actions = (uint32_t)o->actions;
    shape.horizon = (uint32_t)o->horizon;
    if (strcmp(from, "from-data-schema") == 0) {
        if (strlen(o->data) > sizeof schema - 20) {
            return assay_fail(err, ASSAY_INVALID, "--data: too long a name");
        }
        (void)snprintf(schema, sizeof schema, "%s.schema.json", o->data);
        from = schema;
    }
    status = assay_rewards_read(rewards, from, &shape, err);
    return status == ASSAY_OK ? read_files(counts, o, &shape, err) : status;
}

static json_t *describe(const linear_options *o,
                        const assay_counts *const *data)
{
    json_int_t users = (json_int_t)data[0]->num_users +
                       (data[1] != NULL ? (json_int_t)data[1]->num_users : 0);
    if (!o->is_private) {
        return json_pack("{s:s}", "notion", "none: this policy is not private");
    }
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:b, s:s}", "notion", "zCDP",
        "rho", o->rho, "unit", "one user's trajectory", "neighbours",
        "replace-one, number of users public", "trust", "central", "users",
        users, "mechanism", "discrete Gaussian", "statistics", o->statistics,
        "split", data[1] != NULL, "assumes",
        o->assume_disjoint ? "no user is in both files: stated, not checked"
                           : "nothing more");
}

static void report(const linear_options *o, json_t *guarantee)
{
    char *text;
    if (o->json) {
        text = json_dumps(guarantee, JSON_COMPACT);
        (void)printf("%s\n", text == NULL ? "{}" : text);
        free(text);
        return;
    }
    if (o->is_private) {
        (void)printf("%s: zCDP with rho = %s, one user's trajectory replaced\n",
                     o->out, o->rho);
    } else {
        (void)printf("%s: not private\n", o->out);
    }
}

static assay_status learn(const linear_options *o, assay_error *err)
{
    assay_vapvi_params params;
    assay_scratch vault;
    assay_counts *data[2] = {NULL, NULL};
    assay_features *features = NULL;
    assay_policy *policy = NULL;
    double *rewards = NULL;
    json_t *guarantee = NULL;
    assay_status status = set_params(&params, o, err);
    memset(&vault, 0, sizeof vault);
    if (status == ASSAY_OK) {
        status = read_data(data, &rewards, o, err);
    }
    if (status == ASSAY_OK) {
        status = assay_features_by_name(&features, o->features, &data[0]->shape,
                                        err);
    }
    if (status == ASSAY_OK && o->is_private) {
        status =
            assay_scratch_open(&vault, o->ledger, ASSAY_REPLACE_ONE, 0, err);
    }
    if (status == ASSAY_OK) {
        status = assay_vapvi_learn(&policy, data[0], data[1], features, rewards,
                                   &params,
                                   vault.open ? &vault.custodian : NULL, err);
    }
    if (status == ASSAY_OK) {
        guarantee = describe(o, (const assay_counts *const *)data);
        status = assay_policy_write(o->out, policy, guarantee, err);
    }
    if (status == ASSAY_OK) {
        report(o, guarantee);
    }
    assay_scratch_close(&vault);
    json_decref(guarantee);
    assay_policy_free(policy);
    assay_features_free(features);
    assay_counts_free(data[0]);
    assay_counts_free(data[1]);
    free(rewards);
    assay_vapvi_params_clear(&params);
    return status;
}

int assay_cli_learn_linear(int argc, char **argv)
{
    linear_options o;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    status = parse(&o, argc, argv, &err);
    if (status == ASSAY_OK &&
        (o.data == NULL || o.rewards == NULL || o.out == NULL ||
         o.states == 0 || o.actions == 0 || o.horizon == 0 ||
         o.states > UINT32_MAX || o.actions > UINT32_MAX ||
         o.horizon > UINT32_MAX || o.env != NULL)) {
        status = assay_fail(&err, ASSAY_INVALID,
                            "needs --data --states --actions --horizon "
                            "--rewards and -o; see --help");
    }
    if (status == ASSAY_OK && o.is_private && o.ledger == NULL) {
        status = assay_fail(&err, ASSAY_INVALID, "dp-vapvi needs --ledger");
    }
    if (status == ASSAY_OK) {
        status = learn(&o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("learn", &err);
}

/* ---- simulate --------------------------------------------------------------
 */

typedef struct world {
    assay_mdp *mdp;
    double *behaviour;
    assay_features *features;
    double best;
} world;

static assay_status open_world(world *w, const linear_options *o,
                               assay_error *err)
{
    assay_status status = assay_environment_new(&w->mdp, o->env, err);
    if (status == ASSAY_OK) {
        status =
            assay_environment_behaviour(&w->behaviour, o->env, w->mdp, err);
    }
    if (status == ASSAY_OK) {
        status = assay_features_by_name(&w->features, o->features,
                                        &w->mdp->shape, err);
    }
    if (status == ASSAY_OK) {
        status = assay_mdp_optimum(&w->best, NULL, w->mdp, err);
    }
    return status;
}

/* With a split each half has K/2 users. */
static assay_status gap_once(double *gap, const world *w,
                             const linear_options *o,
                             const assay_vapvi_params *params,
                             assay_custodian *custodian, uint64_t run,
                             assay_error *err)
{
    assay_counts *data[2] = {NULL, NULL};
    assay_policy *policy = NULL;
    double value = 0.0;
    uint64_t part = o->split ? o->users / 2 : o->users;
    uint64_t seed = 2 * (o->seed + run);
    assay_status status =
        assay_counts_simulate(&data[0], w->mdp, w->behaviour, part, seed, err);
    if (status == ASSAY_OK && o->split) {
        status = assay_counts_simulate(&data[1], w->mdp, w->behaviour, part,
                                       seed + 1, err);
    }
    if (status == ASSAY_OK) {
        status = assay_vapvi_learn(&policy, data[0], data[1], w->features,
                                   w->mdp->reward, params, custodian, err);
    }
    if (status == ASSAY_OK) {
        status = assay_mdp_evaluate(&value, w->mdp, policy, err);
    }
    *gap = w->best - value;
    assay_policy_free(policy);
    assay_counts_free(data[0]);
    assay_counts_free(data[1]);
    return status;
}

static assay_status simulate(const linear_options *o, const char *name,
                             assay_error *err)
{
    assay_vapvi_params params;
    assay_scratch vault;
    world w = {NULL, NULL, NULL, 0.0};
    double sum = 0.0;
    double squares = 0.0;
    double n = (double)o->runs;
    double even = 0.0;
    assay_status status = set_params(&params, o, err);
    memset(&vault, 0, sizeof vault);
    if (status == ASSAY_OK) {
        status = open_world(&w, o, err);
    }
    if (status == ASSAY_OK) {
        status = assay_mdp_evaluate_mixed(&even, w.mdp, NULL, err);
    }
    if (status == ASSAY_OK && o->is_private) {
        status =
            assay_scratch_open(&vault, o->ledger, ASSAY_REPLACE_ONE, 0, err);
    }
    for (uint64_t run = 0; status == ASSAY_OK && run < o->runs; run++) {
        double gap = 0.0;
        status = gap_once(&gap, &w, o, &params,
                          vault.open ? &vault.custodian : NULL, run, err);
        sum += gap;
        squares += gap * gap;
    }
    if (status == ASSAY_OK) {
        double spread =
            n > 1.0 ? fmax(squares - sum * sum / n, 0.0) / (n - 1.0) : 0.0;
        (void)printf(o->json ? "{\"learner\": \"%s\", \"users\": %" PRIu64
                               ", \"runs\": %" PRIu64
                               ", \"gap\": %.6g, \"deviation\": %.6g, "
                               "\"random\": %.6g}\n"
                             : "%s\nusers      %" PRIu64 "\nruns       %" PRIu64
                               "\ngap        %.6g\ndeviation  %.3g\n"
                               "random     %.6g (acting at random)\n",
                     name, o->users, o->runs, sum / n, sqrt(spread),
                     w.best - even);
    }
    assay_scratch_close(&vault);
    assay_features_free(w.features);
    free(w.behaviour);
    assay_mdp_free(w.mdp);
    assay_vapvi_params_clear(&params);
    return status;
}

int assay_cli_simulate_linear(int argc, char **argv)
{
    linear_options o;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    status = parse(&o, argc, argv, &err);
    if (status == ASSAY_OK &&
        (o.env == NULL || o.users < 2 || o.runs == 0 || o.runs > 10000)) {
        status = assay_fail(&err, ASSAY_INVALID,
                            "needs --env NAME, --users from 2 and 1 to 10000 "
                            "runs; see --help");
    }
    if (status == ASSAY_OK) {
        status = simulate(&o, argv[0], &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("simulate", &err);
}
