/* ring: glue */
/* assay evaluate: the value of a policy from episodes, privately. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/ope.h"
#include "algorithms/ope_world.h"
#include "audit/scratch.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "core/rational.h"

static const char *const HELP =
    "usage: assay evaluate METHOD --env NAME --episodes M [options]\n"
    "       assay evaluate METHOD --data FILE.csv --states S [options]\n"
    "\n"
    "Estimates a value function with linear features from one episode per\n"
    "person. METHOD is\n"
    "  gpope      noisy clipped gradients: (epsilon, delta)-DP\n"
    "  dp-lsw, dp-lsl   output perturbation; the guarantee is assumed (the\n"
    "             paper's smooth sensitivity), tabular data only\n"
    "  lstd, wis-lstd, gtd2   not private\n"
    "\n"
    "  --env NAME       chain (or chain:N), mountaincar, mountaincar-off,\n"
    "                   hiv-off: simulated people; MSPBE is exact for the\n"
    "                   chain, from fresh episodes otherwise\n"
    "  --data FILE      columns user,s,r,s_next (or `end`) and w if weighted;\n"
    "                   users are whole numbers in increasing order\n"
    "  --epsilon E --delta D   noise by the accountant (delta 1e-5): for a\n"
    "                   ledger, a filter, by Renyi orders, else the tightest\n"
    "  --sigma X        gpope: the noise multiplier instead\n"
    "  --sampling S     poisson (default; add-remove ledger) or one (as\n"
    "                   printed, accounted at distance 2h; replace-one)\n"
    "  --rate-bits K    Poisson rate 2^-K; public. From M for --env\n"
    "  --steps N        M unless said\n"
    "  --clip H         norm of a gradient, 0.01\n"
    "  --step-size B    0.1; with --diminishing it falls as 1/i\n"
    "  --dual-step-size B   of the dual variable, the same unless said\n"
    "  --gamma G        0.99\n"
    "  --max-weight W   importance weights are clipped to it, 10\n"
    "  --max-reward R   dp-lsw, dp-lsl: bound on rewards, 1\n"
    "  --lambda L       dp-lsl: M unless said\n"
    "  --fixed-length L divide by L, not by an episode's own length\n"
    "  --ledger L.db    charge it; simulated people may do without\n"
    "  --runs N --seed N --json -o FILE (the weights as CSV)\n"
    "\n"
    "example: assay evaluate gpope --env chain --episodes 10000 --epsilon "
    "0.1\n";

static const char *const METHODS[] = {"gpope",    "dp-lsw", "dp-lsl", "lstd",
                                      "wis-lstd", "gtd2",   NULL};
enum { GPOPE, DP_LSW, DP_LSL, LSTD, WIS_LSTD, GTD2 };

typedef struct eval_options {
    const char *env, *data, *ledger, *out;
    const char *epsilon, *delta, *sigma, *sampling, *clip;
    uint64_t states, episodes, steps, runs, seed, rate_bits;
    double gamma, beta, dual, max_weight, max_reward, lambda, fixed_length;
    int diminishing, json;
    int method, poisson;
} eval_options;

static assay_status parse(eval_options *o, int argc, char **argv,
                          assay_error *err)
{
    const assay_field table[] = {
        {"output", ASSAY_FIELD_TEXT, &o->out},
        {"env", ASSAY_FIELD_TEXT, &o->env},
        {"data", ASSAY_FIELD_TEXT, &o->data},
        {"ledger", ASSAY_FIELD_TEXT, &o->ledger},
        {"epsilon", ASSAY_FIELD_TEXT, &o->epsilon},
        {"delta", ASSAY_FIELD_TEXT, &o->delta},
        {"sigma", ASSAY_FIELD_TEXT, &o->sigma},
        {"sampling", ASSAY_FIELD_TEXT, &o->sampling},
        {"clip", ASSAY_FIELD_TEXT, &o->clip},
        {"states", ASSAY_FIELD_NUMBER, &o->states},
        {"episodes", ASSAY_FIELD_NUMBER, &o->episodes},
        {"steps", ASSAY_FIELD_NUMBER, &o->steps},
        {"runs", ASSAY_FIELD_NUMBER, &o->runs},
        {"seed", ASSAY_FIELD_NUMBER, &o->seed},
        {"rate-bits", ASSAY_FIELD_NUMBER, &o->rate_bits},
        {"gamma", ASSAY_FIELD_REAL, &o->gamma},
        {"step-size", ASSAY_FIELD_REAL, &o->beta},
        {"dual-step-size", ASSAY_FIELD_REAL, &o->dual},
        {"max-weight", ASSAY_FIELD_REAL, &o->max_weight},
        {"max-reward", ASSAY_FIELD_REAL, &o->max_reward},
        {"lambda", ASSAY_FIELD_REAL, &o->lambda},
        {"fixed-length", ASSAY_FIELD_REAL, &o->fixed_length},
        {"diminishing", ASSAY_FIELD_FLAG, &o->diminishing},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    static const char *const samplings[] = {"one", "poisson", NULL};
    assay_status status =
        assay_fields_word(&o->method, argv[0], "METHOD", METHODS, err);
    if (status == ASSAY_OK) {
        status = assay_fields_parse(table, argc, argv, err);
    }
    if (status == ASSAY_OK) {
        status = assay_fields_word(&o->poisson, o->sampling, "--sampling",
                                   samplings, err);
    }
    return status;
}

static assay_status check(const eval_options *o, assay_error *err)
{
    if ((o->env == NULL) == (o->data == NULL) || o->runs == 0 ||
        o->runs > 1000) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs one of --env and --data, and 1 to 1000 runs");
    }
    if (o->data != NULL && (o->states == 0 || o->states > 4096)) {
        return assay_fail(err, ASSAY_INVALID,
                          "--data needs --states from 1 to 4096");
    }
    if (o->env != NULL && (o->episodes < 2 || o->episodes > 100000000)) {
        return assay_fail(err, ASSAY_INVALID,
                          "--env needs --episodes from 2 to 10^8");
    }
    if (o->data != NULL && o->method <= DP_LSL && o->ledger == NULL) {
        return assay_fail(err, ASSAY_INVALID, "real data needs --ledger");
    }
    if (o->data != NULL && o->method == GPOPE && o->steps == 0) {
        return assay_fail(err, ASSAY_INVALID, "--data needs --steps");
    }
    if (o->data != NULL && o->method == GPOPE && o->poisson &&
        o->rate_bits == UINT64_MAX) {
        return assay_fail(err, ASSAY_INVALID,
                          "Poisson sampling of --data needs --rate-bits: the "
                          "number of people is not public");
    }
    if (o->method == GPOPE && (o->epsilon == NULL) == (o->sigma == NULL)) {
        return assay_fail(err, ASSAY_INVALID,
                          "gpope needs one of --epsilon and --sigma");
    }
    if ((o->method == DP_LSW || o->method == DP_LSL) && o->epsilon == NULL) {
        return assay_fail(err, ASSAY_INVALID, "needs --epsilon");
    }
    if (!(o->gamma >= 0.0 && o->gamma <= 1.0) || o->fixed_length < 0.0) {
        return assay_fail(err, ASSAY_INVALID,
                          "gamma lies in [0, 1] and a length is not negative");
    }
    return ASSAY_OK;
}

static unsigned rate_bits(const eval_options *o)
{
    unsigned bits = 0;
    if (o->rate_bits != UINT64_MAX) {
        return o->rate_bits > 64 ? 64u : (unsigned)o->rate_bits;
    }
    while (((uint64_t)1 << (bits + 1)) <= o->episodes) {
        bits++;
    }
    return bits;
}

/* What a run used, for the report. */
typedef struct outcome {
    double sigma;
    double mspbe;
    double theta_zero; /* MSPBE of predicting zero */
} outcome;

static assay_status parse_privacy(mpq_t epsilon, mpq_t delta,
                                  const eval_options *o, assay_error *err)
{
    assay_status status =
        assay_rational_parse_positive(epsilon, o->epsilon, "--epsilon", err);
    if (status == ASSAY_OK) {
        status = assay_rational_parse_positive(delta, o->delta, "--delta", err);
    }
    return status;
}

static assay_status set_gpope(assay_gpope_params *p, const eval_options *o,
                              size_t people, assay_error *err)
{
    mpq_t epsilon;
    mpq_t delta;
    assay_status status;
    assay_gpope_params_init(p);
    p->poisson = o->poisson;
    p->rate_bits = rate_bits(o);
    p->num_steps = o->steps > 0 ? o->steps : o->episodes;
    p->gamma = o->gamma;
    p->size.beta = o->beta;
    p->size.diminishing = o->diminishing;
    p->size.dual = o->dual;
    status = assay_rational_parse_positive(p->clip, o->clip, "--clip", err);
    if (status == ASSAY_OK && o->sigma != NULL) {
        return assay_rational_parse_positive(p->sigma, o->sigma, "--sigma",
                                             err);
    }
    mpq_init(epsilon);
    mpq_init(delta);
    if (status == ASSAY_OK) {
        status = parse_privacy(epsilon, delta, o, err);
    }
    if (status == ASSAY_OK) {
        status = assay_gpope_calibrate(p->sigma, p, people, epsilon, delta,
                                       o->ledger != NULL ? "renyi" : NULL, err);
    }
    mpq_clear(epsilon);
    mpq_clear(delta);
    return status;
}

static assay_status run_output(double *theta, outcome *out,
                               const assay_episodes *e, const eval_options *o,
                               assay_custodian *custodian, assay_error *err)
{
    assay_output_params p;
    assay_status status;
    memset(&p, 0, sizeof p);
    mpq_init(p.epsilon);
    mpq_init(p.delta);
    p.kind = o->method == DP_LSW ? ASSAY_LSW : ASSAY_LSL;
    p.gamma = o->gamma;
    p.max_reward = o->max_reward;
    p.lambda = o->lambda > 0.0 ? o->lambda : (double)e->num_episodes;
    status = parse_privacy(p.epsilon, p.delta, o, err);
    if (status == ASSAY_OK) {
        status =
            assay_output_evaluate(theta, &out->sigma, e, &p, custodian, err);
    }
    /* it follows the data: not for printing outside a simulation */
    out->sigma = o->data != NULL ? 0.0 : out->sigma;
    mpq_clear(p.epsilon);
    mpq_clear(p.delta);
    return status;
}

static assay_status run_lstd(double *theta, const assay_episodes *e,
                             const eval_options *o, assay_error *err)
{
    assay_ope_model *fit = NULL;
    double *kept = NULL;
    assay_status status;
    assay_episodes view = *e;
    if (o->method == LSTD) { /* on-policy: as if all weights were 1 */
        kept = malloc((e->num_steps + 1) * sizeof *kept);
        if (kept == NULL) {
            return assay_fail(err, ASSAY_MEMORY, "no memory for weights");
        }
        for (size_t t = 0; t < e->num_steps; t++) {
            kept[t] = 1.0;
        }
        view.weight = kept;
    }
    status = assay_ope_model_fit(&fit, &view, o->gamma, err);
    if (status == ASSAY_OK) {
        status = assay_lstd(theta, fit, 1e-9, err);
    }
    assay_ope_model_free(fit);
    free(kept);
    return status;
}

static assay_status run_method(double *theta, outcome *out,
                               const assay_episodes *e, const eval_options *o,
                               uint64_t seed, assay_error *err)
{
    assay_scratch vault;
    assay_gpope_params p;
    assay_step_size size = {o->beta, o->diminishing, o->dual};
    int replace = o->method != GPOPE || !o->poisson;
    assay_status status;
    memset(&vault, 0, sizeof vault);
    if (o->method == GTD2) {
        uint64_t steps = o->steps > 0 ? o->steps : e->num_episodes;
        return assay_gtd2(theta, e, o->gamma, size, steps, seed, err);
    }
    if (o->method >= LSTD) {
        return run_lstd(theta, e, o, err);
    }
    status = assay_scratch_open(&vault, o->ledger,
                                replace ? ASSAY_REPLACE_ONE : ASSAY_ADD_REMOVE,
                                0, err);
    if (status == ASSAY_OK && o->method == GPOPE) {
        status = set_gpope(&p, o, e->num_episodes, err);
        if (status == ASSAY_OK) {
            out->sigma = mpq_get_d(p.sigma);
            status = assay_gpope(theta, e, &p, &vault.custodian, err);
        }
        assay_gpope_params_clear(&p);
    } else if (status == ASSAY_OK) {
        status = run_output(theta, out, e, o, &vault.custodian, err);
    }
    assay_scratch_close(&vault);
    return status;
}

static assay_status write_theta(const eval_options *o, const double *theta,
                                size_t dim, assay_error *err)
{
    FILE *file;
    if (o->out == NULL) {
        return ASSAY_OK;
    }
    file = fopen(o->out, "w");
    if (file == NULL) {
        return assay_fail(err, ASSAY_IO, "%.200s: cannot write", o->out);
    }
    (void)fprintf(file, "feature,weight\n");
    for (size_t i = 0; i < dim; i++) {
        (void)fprintf(file, "%zu,%.9g\n", i, theta[i]);
    }
    return fclose(file) == 0
               ? ASSAY_OK
               : assay_fail(err, ASSAY_IO, "%.200s: cannot write", o->out);
}

/* One run: data, method, error where the model is known or simulated. */
static assay_status one_run(outcome *out, const eval_options *o, uint64_t seed,
                            assay_error *err)
{
    assay_episodes *e = NULL;
    assay_ope_model *truth = NULL;
    double *theta = NULL;
    assay_status status;
    if (o->data != NULL) {
        status = assay_episodes_read(&e, o->data, (size_t)o->states,
                                     o->max_weight, err);
    } else {
        assay_world_options how = {o->episodes, seed, o->gamma, o->max_weight,
                                   o->fixed_length};
        status = assay_world_open(&e, &truth, o->env, &how, err);
    }
    if (status == ASSAY_OK) {
        e->fixed_length = o->fixed_length;
        theta = calloc(e->dim, sizeof *theta);
        status = theta == NULL ? assay_fail(err, ASSAY_MEMORY, "no memory")
                               : ASSAY_OK;
    }
    if (status == ASSAY_OK && truth != NULL) {
        status = assay_ope_mspbe(&out->theta_zero, truth, theta, err);
    }
    if (status == ASSAY_OK) {
        status = run_method(theta, out, e, o, seed, err);
    }
    if (status == ASSAY_OK && truth != NULL) {
        status = assay_ope_mspbe(&out->mspbe, truth, theta, err);
    }
    if (status == ASSAY_OK) {
        status = write_theta(o, theta, e->dim, err);
    }
    free(theta);
    assay_ope_model_free(truth);
    assay_episodes_free(e);
    return status;
}

static void report(const eval_options *o, const outcome *last, double mean,
                   double deviation)
{
    const char *notion = o->method >= LSTD    ? "none: not private"
                         : o->method != GPOPE ? "(epsilon, delta)-DP, assumed"
                                              : "(epsilon, delta)-DP";
    if (o->data != NULL) {
        (void)printf(o->json ? "{\"method\": \"%s\", \"notion\": \"%s\", "
                               "\"sigma\": %.6g}\n"
                             : "%s: %s; sigma %.6g\n",
                     METHODS[o->method], notion, last->sigma);
        return;
    }
    (void)printf(
        o->json ? "{\"method\": \"%s\", \"env\": \"%s\", \"notion\": "
                  "\"%s\", \"episodes\": %" PRIu64 ", \"runs\": %" PRIu64
                  ", \"mspbe\": %.6g, \"deviation\": %.6g, \"zero\": "
                  "%.6g, \"relative\": %.6g, \"sigma\": %.6g}\n"
                : "%s on %s: %s\nepisodes   %" PRIu64 "\nruns       %" PRIu64
                  "\nmspbe      %.6g\ndeviation  %.3g\nzero       %.6g "
                  "(predicting zero)\nrelative   %.6g\nsigma      %.6g\n",
        METHODS[o->method], o->env, notion, o->episodes, o->runs, mean,
        deviation, last->theta_zero, mean / last->theta_zero, last->sigma);
}

static assay_status evaluate(const eval_options *o, assay_error *err)
{
    outcome out = {0.0, 0.0, 0.0};
    double sum = 0.0;
    double squares = 0.0;
    double n = (double)o->runs;
    double spread;
    assay_status status = ASSAY_OK;
    for (uint64_t run = 0; status == ASSAY_OK && run < o->runs; run++) {
        status = one_run(&out, o, o->seed + run, err);
        sum += out.mspbe;
        squares += out.mspbe * out.mspbe;
    }
    spread = n > 1.0 ? fmax(squares - sum * sum / n, 0.0) / (n - 1.0) : 0.0;
    if (status == ASSAY_OK) {
        report(o, &out, sum / n, sqrt(spread));
    }
    return status;
}

int assay_cli_evaluate(int argc, char **argv)
{
    eval_options o;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    if (argc < 2) {
        (void)fprintf(stderr, "assay evaluate: which method? see --help\n");
        return 2;
    }
    memset(&o, 0, sizeof o);
    o.sampling = "poisson";
    o.delta = "1e-5";
    o.clip = "0.01";
    o.runs = 1;
    o.seed = 1;
    o.rate_bits = UINT64_MAX;
    o.gamma = 0.99;
    o.beta = 0.1;
    o.max_weight = 10.0;
    o.max_reward = 1.0;
    status = parse(&o, argc - 1, argv + 1, &err);
    if (status == ASSAY_OK) {
        status = check(&o, &err);
    }
    if (status == ASSAY_OK) {
        status = evaluate(&o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("evaluate", &err);
}
