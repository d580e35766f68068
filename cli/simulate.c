/* ring: glue */
/* assay simulate: regret of online learners in simulated environments. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accountant/ledger.h"
#include "algorithms/environments.h"
#include "algorithms/simulate.h"
#include "audit/scratch.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/linear.h"
#include "core/rational.h"
#include "mechanisms/custodian.h"

static const char *const HELP =
    "usage: assay simulate LEARNER --env NAME [options]\n"
    "\n"
    "Runs an online learner on simulated users and prints its regret: the sum\n"
    "over users of optimal minus actual value, both exact.\n"
    "\n"
    "  LEARNER           private-ucb-vi, private-ucb-po, pucb, ldp-ob,\n"
    "                    ucrl-vtr (privatizer local: LDP-UCRL-VTR), or\n"
    "                    dp-apvi: the gap after offline learning;\n"
    "                    dp-vapvi, vapvi, pevi: the same, linear (own help)\n"
    "  --env NAME        riverswim, riverswim-inhomogeneous, random, chain,\n"
    "                    clinic; with numbers: riverswim:S=3,H=6\n"
    "  --privatizer P    none, central (tree counters, joint DP) or local\n"
    "  --noise N         laplace (default), gaussian; locally unary\n"
    "  --epsilon E       Laplace: pure DP; Gaussian: with --delta\n"
    "  --rho R           Gaussian: R-zCDP\n"
    "  --episodes K      1e4 unless said; public\n"
    "  --runs N          1 unless said; mean and standard deviation\n"
    "  --seed N          of the environment only: noise has no seed\n"
    "  --bonus X         times the statistical bonus: 0.05; the paper's is 1\n"
    "  --width X         times the noise bounds E: 0.005; the paper's is 1\n"
    "  --statistics S    ucrl-vtr: counts (default) or printed\n"
    "  --triples-only    do not release N(s,a): sensitivity 4H, not 6H\n"
    "  --users N         dp-apvi: trajectories, instead of episodes; also\n"
    "                    --preset, --penalty, --c1, --c2 of `assay learn` and\n"
    "                    --pair-share X (of the budget, for N(s,a): 1/2);\n"
    "                    the privatizer is none or central\n"
    "  --curve FILE      CSV: episode, mean and deviation of the regret\n"
    "  --ledger L.db     charge it (replace-one); else a temporary ledger\n"
    "  --json\n"
    "\n"
    "example: assay simulate private-ucb-vi --env riverswim \\\n"
    "           --privatizer central --epsilon 1 --episodes 1e5 --runs 10\n";

typedef struct sim_options {
    const char *env, *privatizer, *noise, *epsilon, *delta, *rho;
    const char *curve, *ledger, *statistics, *preset, *penalty, *pair_share;
    uint64_t episodes, runs, seed, points, users;
    double bonus, width, c1, c2;
    int triples_only, json;
    int learner;
} sim_options;

static const char *const LEARNERS[] = {
    "private-ucb-vi", "private-ucb-po", "pucb", "ldp-ob",
    "ucrl-vtr",       "dp-apvi",        NULL};
#define VTR 4
#define DP_APVI 5

static assay_status parse(sim_options *o, int argc, char **argv,
                          assay_error *err)
{
    const assay_field table[] = {
        {"curve", ASSAY_FIELD_TEXT, &o->curve},
        {"env", ASSAY_FIELD_TEXT, &o->env},
        {"privatizer", ASSAY_FIELD_TEXT, &o->privatizer},
        {"noise", ASSAY_FIELD_TEXT, &o->noise},
        {"epsilon", ASSAY_FIELD_TEXT, &o->epsilon},
        {"delta", ASSAY_FIELD_TEXT, &o->delta},
        {"rho", ASSAY_FIELD_TEXT, &o->rho},
        {"ledger", ASSAY_FIELD_TEXT, &o->ledger},
        {"statistics", ASSAY_FIELD_TEXT, &o->statistics},
        {"episodes", ASSAY_FIELD_NUMBER, &o->episodes},
        {"runs", ASSAY_FIELD_NUMBER, &o->runs},
        {"seed", ASSAY_FIELD_NUMBER, &o->seed},
        {"points", ASSAY_FIELD_NUMBER, &o->points},
        {"users", ASSAY_FIELD_NUMBER, &o->users},
        {"preset", ASSAY_FIELD_TEXT, &o->preset},
        {"penalty", ASSAY_FIELD_TEXT, &o->penalty},
        {"pair-share", ASSAY_FIELD_TEXT, &o->pair_share},
        {"c1", ASSAY_FIELD_REAL, &o->c1},
        {"c2", ASSAY_FIELD_REAL, &o->c2},
        {"bonus", ASSAY_FIELD_REAL, &o->bonus},
        {"width", ASSAY_FIELD_REAL, &o->width},
        {"triples-only", ASSAY_FIELD_FLAG, &o->triples_only},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    assay_status status =
        assay_fields_word(&o->learner, argv[0], "learner", LEARNERS, err);
    if (status == ASSAY_OK) {
        status = assay_fields_parse(table, argc, argv, err);
    }
    if (status == ASSAY_OK && (o->env == NULL || o->runs == 0 ||
                               o->runs > 10000 || o->points > 1000000)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "needs --env NAME and 1 to 10000 runs");
    }
    return status;
}

/* The budget: epsilon for Laplace; rho, or the rho of (epsilon, delta). */
static assay_status set_budget(assay_online_params *p, const sim_options *o,
                               assay_error *err)
{
    mpq_t epsilon;
    mpq_t delta;
    assay_status status;
    if (p->trust == ASSAY_TRUST_NONE) {
        return ASSAY_OK;
    }
    if (o->rho != NULL && p->noise == ASSAY_NOISE_GAUSSIAN) {
        return assay_rational_parse_positive(p->budget, o->rho, "--rho", err);
    }
    if (o->epsilon == NULL || o->rho != NULL ||
        (p->noise == ASSAY_NOISE_GAUSSIAN) != (o->delta != NULL)) {
        return assay_fail(err, ASSAY_INVALID,
                          "Laplace noise needs --epsilon; Gaussian noise "
                          "--rho, or --epsilon and --delta");
    }
    mpq_init(epsilon);
    mpq_init(delta);
    status =
        assay_rational_parse_positive(epsilon, o->epsilon, "--epsilon", err);
    if (status == ASSAY_OK && o->delta != NULL) {
        status = assay_rational_parse_positive(delta, o->delta, "--delta", err);
    }
    if (status == ASSAY_OK && o->delta != NULL) {
        status = assay_privatizer_rho(p->budget, epsilon, delta, err);
    } else if (status == ASSAY_OK) {
        mpq_set(p->budget, epsilon);
    }
    mpq_clear(epsilon);
    mpq_clear(delta);
    return status;
}

static assay_status set_params(assay_online_params *p, const sim_options *o,
                               assay_error *err)
{
    static const char *const trusts[] = {"none", "central", "local", NULL};
    static const char *const noises[] = {"none", "gaussian", "laplace", "unary",
                                         NULL};
    int trust = 0;
    int noise = 0;
    assay_status status =
        assay_fields_word(&trust, o->privatizer, "--privatizer", trusts, err);
    if (status == ASSAY_OK) {
        status = assay_fields_word(&noise, o->noise, "--noise", noises, err);
    }
    assay_online_params_init(p);
    p->rule = o->learner >= VTR ? ASSAY_UCB_VI : (assay_online_rule)o->learner;
    p->trust = (assay_trust)trust;
    p->noise = (assay_noise)noise;
    p->episodes = o->episodes;
    p->triples_only = o->triples_only;
    p->bonus_scale = o->bonus;
    p->width_scale = o->width;
    if (status == ASSAY_OK) {
        status = set_budget(p, o, err);
    }
    return status;
}

/* UCRL-VTR's parameters from the others; `budget` is theirs. */
static assay_status set_vtr(assay_vtr_params *v, const sim_options *o,
                            const assay_online_params *p, assay_error *err)
{
    static const char *const kinds[] = {"printed", "counts", NULL};
    int kind = 0;
    assay_status status =
        assay_fields_word(&kind, o->statistics, "--statistics", kinds, err);
    assay_vtr_params_init(v);
    if (status == ASSAY_OK && p->trust == ASSAY_TRUST_CENTRAL) {
        status = assay_fail(err, ASSAY_UNSUPPORTED,
                            "ucrl-vtr has the privatizers none and local");
    }
    v->statistics = (assay_vtr_statistics)kind;
    v->noise = p->trust == ASSAY_TRUST_NONE ? ASSAY_NOISE_NONE : p->noise;
    mpq_set(v->budget, p->budget);
    v->episodes = p->episodes;
    v->bonus = p->bonus_scale;
    return status;
}

static assay_status set_apvi(assay_dp_apvi_params *v, const sim_options *o,
                             const assay_online_params *p, assay_error *err)
{
    static const char *const presets[] = {"paper", "practical", NULL};
    static const char *const penalties[] = {"bernstein", "hoeffding", NULL};
    int preset = 1;
    int penalty = 0;
    assay_status status =
        assay_fields_word(&preset, o->preset, "--preset", presets, err);
    if (status == ASSAY_OK) {
        status = assay_fields_word(&penalty, o->penalty, "--penalty", penalties,
                                   err);
    }
    if (status == ASSAY_OK && p->trust == ASSAY_TRUST_LOCAL) {
        status = assay_fail(err, ASSAY_UNSUPPORTED,
                            "dp-apvi has the privatizers none and central");
    }
    assay_dp_apvi_params_init(v, (assay_preset)preset);
    v->penalty = (assay_penalty)penalty;
    v->noise = p->trust == ASSAY_TRUST_NONE ? ASSAY_NOISE_NONE : p->noise;
    mpq_set(v->budget, p->budget);
    v->triples_only = o->triples_only;
    if (status == ASSAY_OK && o->pair_share != NULL) {
        status = assay_rational_parse_positive(v->pair_share, o->pair_share,
                                               "--pair-share", err);
    }
    v->c1 = o->c1 < 0.0 ? v->c1 : o->c1;
    v->c2 = o->c2 < 0.0 ? v->c2 : o->c2;
    return status;
}

/* The gap of one offline run, as a curve of one point. */
static assay_status run_apvi(assay_curve *curve, const sim_options *o,
                             const assay_mdp *mdp, const assay_online_params *p,
                             assay_custodian *custodian, uint64_t run,
                             assay_error *err)
{
    assay_dp_apvi_params v;
    double *behaviour = NULL;
    double gap = 0.0;
    assay_status status = set_apvi(&v, o, p, err);
    if (status == ASSAY_OK) {
        status = assay_environment_behaviour(&behaviour, o->env, mdp, err);
    }
    if (status == ASSAY_OK) {
        status = assay_simulate_dp_apvi(&gap, mdp, behaviour, o->users, &v,
                                        custodian, o->seed + run, err);
    }
    for (size_t i = 0; i < curve->num_points; i++) {
        curve->regret[i] = gap;
    }
    free(behaviour);
    assay_dp_apvi_params_clear(&v);
    return status;
}

/* One run of whichever learner it is. */
static assay_status run_one(assay_curve *curve, const sim_options *o,
                            const assay_mdp *mdp, const assay_online_params *p,
                            assay_custodian *custodian, uint64_t run,
                            assay_progress *meter, assay_error *err)
{
    assay_vtr_params v;
    assay_status status;
    if (o->learner == DP_APVI) {
        return run_apvi(curve, o, mdp, p, custodian, run, err);
    }
    if (o->learner != VTR) {
        return assay_simulate_online(curve, mdp, p, custodian, o->seed, run,
                                     meter, err);
    }
    status = set_vtr(&v, o, p, err);
    if (status == ASSAY_OK) {
        status = assay_simulate_vtr(curve, mdp, &v, custodian, o->seed, run,
                                    meter, err);
    }
    assay_vtr_params_clear(&v);
    return status;
}

/* Sums of the regret and its square at every checkpoint. */
typedef struct sums {
    double *first, *second;
} sums;

static assay_status run_all(sums *total, assay_curve *curve,
                            const sim_options *o, const assay_mdp *mdp,
                            const assay_online_params *p,
                            assay_custodian *custodian, assay_error *err)
{
    assay_progress meter;
    assay_status status = ASSAY_OK;
    for (uint64_t run = 0; status == ASSAY_OK && run < o->runs; run++) {
        assay_progress_start(&meter, LEARNERS[o->learner], o->episodes);
        status = run_one(curve, o, mdp, p, custodian, run, &meter, err);
        assay_progress_finish(&meter);
        for (size_t i = 0; i < curve->num_points; i++) {
            total->first[i] += curve->regret[i];
            total->second[i] += curve->regret[i] * curve->regret[i];
        }
    }
    return status;
}

static double deviation(double first, double second, double n)
{
    double v = n > 1.0 ? (second - first * first / n) / (n - 1.0) : 0.0;
    return v > 0.0 ? sqrt(v) : 0.0;
}

static assay_status write_curve(const sim_options *o, const assay_curve *curve,
                                const sums *total, assay_error *err)
{
    double n = (double)o->runs;
    FILE *file;
    if (o->curve == NULL) {
        return ASSAY_OK;
    }
    file = fopen(o->curve, "w");
    if (file == NULL) {
        return assay_fail(err, ASSAY_IO, "%s: cannot write", o->curve);
    }
    (void)fprintf(file, "episode,regret,deviation\n");
    for (size_t i = 0; i < curve->num_points; i++) {
        (void)fprintf(file, "%" PRIu64 ",%.6g,%.6g\n", curve->episode[i],
                      total->first[i] / n,
                      deviation(total->first[i], total->second[i], n));
    }
    if (fclose(file) != 0) {
        return assay_fail(err, ASSAY_IO, "%s: cannot write", o->curve);
    }
    return ASSAY_OK;
}

static assay_status print_result(const sim_options *o, const assay_mdp *mdp,
                                 const assay_curve *curve, const sums *total,
                                 const assay_online_params *p, assay_error *err)
{
    size_t last = curve->num_points - 1;
    double n = (double)o->runs;
    double mean = total->first[last] / n;
    double dev = deviation(total->first[last], total->second[last], n);
    double best = 0.0;
    double even = 0.0;
    char *budget = assay_rational_text(p->budget);
    assay_status status = assay_mdp_optimum(&best, NULL, mdp, err);
    if (status == ASSAY_OK) {
        status = assay_mdp_evaluate_mixed(&even, mdp, NULL, err);
    }
    if (status == ASSAY_OK) {
        int offline = o->learner == DP_APVI;
        uint64_t size = offline ? o->users : o->episodes;
        (void)printf(
            o->json
                ? "{\"learner\": \"%s\", \"privatizer\": \"%s\", \"noise\": "
                  "\"%s\", \"budget\": \"%s\", \"%s\": %" PRIu64
                  ", \"runs\": %" PRIu64 ", \"%s\": %.6g, "
                  "\"deviation\": %.6g, \"random\": %.6g}\n"
                : "%s, %s privatizer, %s noise, budget %s\n%-10s %" PRIu64
                  "\nruns       %" PRIu64 "\n%-10s %.6g\ndeviation  %.3g\n"
                  "random     %.6g (acting at random)\n",
            LEARNERS[o->learner], o->privatizer,
            p->trust == ASSAY_TRUST_NONE ? "no" : o->noise,
            p->trust == ASSAY_TRUST_NONE || budget == NULL ? "0" : budget,
            offline ? "users" : "episodes", size, o->runs,
            offline ? "gap" : "regret", mean, dev,
            (best - even) * (offline ? 1.0 : (double)o->episodes));
    }
    free(budget);
    return status;
}

/* All runs, the curve's file and the result. */
static assay_status run_and_print(const sim_options *o, const assay_mdp *mdp,
                                  const assay_online_params *params,
                                  assay_curve *curve, assay_scratch *d,
                                  sums *total, assay_error *err)
{
    assay_status status = run_all(total, curve, o, mdp, params,
                                  d->open ? &d->custodian : NULL, err);
    if (status == ASSAY_OK) {
        status = write_curve(o, curve, total, err);
    }
    if (status == ASSAY_OK) {
        status = print_result(o, mdp, curve, total, params, err);
    }
    return status;
}

static assay_status simulate(const sim_options *o, assay_error *err)
{
    assay_online_params params;
    assay_mdp *mdp = NULL;
    assay_curve curve = {0, NULL, NULL};
    assay_scratch d;
    sums total = {NULL, NULL};
    assay_status status = set_params(&params, o, err);
    memset(&d, 0, sizeof d);
    if (status == ASSAY_OK) {
        status = assay_environment_new(&mdp, o->env, err);
    }
    if (status == ASSAY_OK) {
        status = assay_curve_init(&curve, o->episodes, o->points, err);
    }
    if (status == ASSAY_OK && params.trust != ASSAY_TRUST_NONE) {
        status = assay_scratch_open(&d, o->ledger, ASSAY_REPLACE_ONE, 1, err);
    }
    if (status == ASSAY_OK) {
        total.first = calloc(curve.num_points + 1, sizeof(double));
        total.second = calloc(curve.num_points + 1, sizeof(double));
        status = total.first == NULL || total.second == NULL
                     ? assay_fail(err, ASSAY_MEMORY, "no memory")
                     : run_and_print(o, mdp, &params, &curve, &d, &total, err);
    }
    assay_scratch_close(&d);
    free(total.first);
    free(total.second);
    assay_curve_clear(&curve);
    assay_mdp_free(mdp);
    assay_online_params_clear(&params);
    return status;
}

int assay_cli_simulate(int argc, char **argv)
{
    sim_options o;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (argc >= 2 && assay_cli_is_linear(argv[1])) {
        return assay_cli_simulate_linear(argc - 1, argv + 1);
    }
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    if (argc < 2) {
        (void)fprintf(stderr, "assay simulate: which learner? see --help\n");
        return 2;
    }
    memset(&o, 0, sizeof o);
    o.privatizer = "none";
    o.noise = "laplace";
    o.statistics = "counts";
    o.episodes = 10000;
    o.runs = 1;
    o.seed = 1;
    o.points = 200;
    o.bonus = 0.05;
    o.width = 0.005;
    o.users = 10000;
    o.preset = "practical";
    o.penalty = "bernstein";
    o.c1 = -1.0;
    o.c2 = -1.0;
    status = parse(&o, argc - 1, argv + 1, &err);
    if (o.learner == DP_APVI) {
        o.episodes = 2; /* one number comes out: the gap */
        o.points = 1;
    }
    if (status == ASSAY_OK) {
        status = simulate(&o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("simulate", &err);
}
