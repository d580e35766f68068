/* ring: glue */
/* `assay audit`: attack a mechanism and report what could be proved. */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "audit/canary.h"
#include "audit/catalogue.h"
#include "audit/divide.h"
#include "audit/external.h"
#include "audit/neighbours.h"
#include "audit/ranks.h"
#include "audit/report.h"
#include "cli/commands.h"
#include "core/rational.h"

static const char *const help_text =
    "usage: assay audit --left A --right B --claim CLAIM [OPTIONS] -- PROGRAM "
    "[ARGS]\n"
    "       assay audit --search DIR --rows N --domain LOW,HIGH [--step S]\n"
    "         [--relation one|all|drop] --claim CLAIM [OPTIONS] -- PROGRAM "
    "[ARGS]\n"
    "       assay audit --from DIR --claim CLAIM [OPTIONS]\n"
    "       assay audit --library FILE --left A --right B --claim CLAIM\n"
    "       assay audit catalogue [--samples N] [--only NAME] [--json]\n"
    "       assay audit curve NAME [--samples N] [--svg FILE]\n"
    "       assay audit one-run --canaries M --guesses R --right V "
    "[--delta D]\n"
    "       assay audit canary --canaries M --guesses R --sigma S --claim "
    "CLAIM\n\n"
    "Runs PROGRAM on two neighbouring inputs and reports a lower bound on its\n"
    "privacy parameter that holds with the stated confidence, or, if nothing\n"
    "was refuted, the smallest violation that would have been found. {input}\n"
    "in ARGS becomes A or B, {runs} a number, {first} the number of runs done "
    "by\n"
    "others before (0 but for assay-mpi); the program writes one output a "
    "line:\n"
    "numbers or words between blanks.\n\n"
    "  --claim CLAIM      eps=1 | eps=1,delta=1e-6 | rho=0.5 | mu=1\n"
    "  --samples N        runs of each input (default 100000)\n"
    "  --search DIR       look for a bad pair of inputs: files of N numbers, "
    "one a\n"
    "                     line, written to DIR/left.txt and DIR/right.txt\n"
    "  --confidence C     default 0.99\n"
    "  --timeout S        seconds without output before a kill (default 30)\n"
    "  --worker           PROGRAM answers length-prefixed requests on its\n"
    "                     standard input (docs/audit.md)\n"
    "  --timing           with --worker: elapsed time is an output column\n"
    "  --keep DIR         keep all outputs; --from DIR analyses them again\n"
    "  --sequential       stop as soon as the claim is refuted\n"
    "  --checkpoint FILE  save counts there and resume (catalogue: FILE.NAME\n"
    "                     for each specimen)\n"
    "  --floor S          catalogue: fail if what is expected to be certified "
    "is\n"
    "                     below S of the oracle's bound\n"
    "  --seed S           of the simulated specimens (default 1)\n"
    "  --json             one JSON object\n\n"
    "examples:\n"
    "  assay audit --left a.csv --right b.csv --claim eps=1 --samples 1e6 \\\n"
    "    -- ./my_mechanism {input} {runs}\n"
    "  assay audit catalogue --samples 1e7\n\n"
    "Exit: 0 not refuted, 4 refuted, 2 bad input, 1 failure.\n";

typedef struct args {
    const char *left, *right, *claim, *samples, *confidence, *timeout, *keep,
        *from, *library, *only, *svg, *checkpoint, *seed, *delta, *canaries,
        *guesses, *floor, *sigma, *search, *rows, *domain, *step, *relation;
    char found[2][1024]; /* inputs of a search */
    int worker, timing, json, sequential, no_oracle;
    assay_audit_options o;
    uint64_t seed_value;
    double timeout_value;
} args;

enum {
    OPT_FIRST = 1000,
    OPT_LEFT,
    OPT_RIGHT,
    OPT_CLAIM,
    OPT_SAMPLES,
    OPT_CONFIDENCE,
    OPT_TIMEOUT,
    OPT_KEEP,
    OPT_FROM,
    OPT_LIBRARY,
    OPT_ONLY,
    OPT_SVG,
    OPT_CHECKPOINT,
    OPT_SEED,
    OPT_DELTA,
    OPT_CANARIES,
    OPT_GUESSES,
    OPT_FLOOR,
    OPT_SIGMA,
    OPT_SEARCH,
    OPT_ROWS,
    OPT_DOMAIN,
    OPT_STEP,
    OPT_RELATION,
    OPT_HELP
};

static const struct option options[] = {
    {"left", 1, NULL, OPT_LEFT},
    {"right", 1, NULL, OPT_RIGHT},
    {"claim", 1, NULL, OPT_CLAIM},
    {"samples", 1, NULL, OPT_SAMPLES},
    {"confidence", 1, NULL, OPT_CONFIDENCE},
    {"timeout", 1, NULL, OPT_TIMEOUT},
    {"keep", 1, NULL, OPT_KEEP},
    {"from", 1, NULL, OPT_FROM},
    {"library", 1, NULL, OPT_LIBRARY},
    {"only", 1, NULL, OPT_ONLY},
    {"svg", 1, NULL, OPT_SVG},
    {"checkpoint", 1, NULL, OPT_CHECKPOINT},
    {"seed", 1, NULL, OPT_SEED},
    {"delta", 1, NULL, OPT_DELTA},
    {"canaries", 1, NULL, OPT_CANARIES},
    {"guesses", 1, NULL, OPT_GUESSES},
    {"floor", 1, NULL, OPT_FLOOR},
    {"sigma", 1, NULL, OPT_SIGMA},
    {"search", 1, NULL, OPT_SEARCH},
    {"rows", 1, NULL, OPT_ROWS},
    {"domain", 1, NULL, OPT_DOMAIN},
    {"step", 1, NULL, OPT_STEP},
    {"relation", 1, NULL, OPT_RELATION},
    {"worker", 0, NULL, 'w'},
    {"timing", 0, NULL, 't'},
    {"json", 0, NULL, 'j'},
    {"sequential", 0, NULL, 's'},
    {"no-oracle", 0, NULL, 'n'},
    {"help", 0, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static void set_text(args *a, int opt, const char *value)
{
    const char **const slot[] = {
        &a->left,    &a->right,      &a->claim,   &a->samples, &a->confidence,
        &a->timeout, &a->keep,       &a->from,    &a->library, &a->only,
        &a->svg,     &a->checkpoint, &a->seed,    &a->delta,   &a->canaries,
        &a->guesses, &a->floor,      &a->sigma,   &a->search,  &a->rows,
        &a->domain,  &a->step,       &a->relation};
    *slot[opt - OPT_LEFT] = value;
}

/* Returns 0 to go on, 1 if help was printed, -1 on a bad option. */
static int read_options(args *a, int argc, char **argv, assay_error *err)
{
    memset(a, 0, sizeof *a);
    optind = 0; /* start anew */
    opterr = 0;
    for (;;) {
        int c = getopt_long(argc, argv, "+", options, NULL);
        if (c == -1) {
            return 0;
        }
        if (c == OPT_HELP) {
            (void)fputs(help_text, stdout);
            return 1;
        }
        if (c > OPT_FIRST) {
            set_text(a, c, optarg);
        } else if (c == 'w') {
            a->worker = 1;
        } else if (c == 't') {
            a->timing = 1;
        } else if (c == 'j') {
            a->json = 1;
        } else if (c == 's') {
            a->sequential = 1;
        } else if (c == 'n') {
            a->no_oracle = 1;
        } else {
            (void)assay_fail(err, ASSAY_INVALID,
                             "option '%.60s' is unknown or lacks its value; "
                             "see `assay audit --help`",
                             argv[optind - 1]);
            return -1;
        }
    }
}

static assay_status read_fraction(double *out, const char *text,
                                  const char *what, double fallback,
                                  assay_error *err)
{
    mpq_t q;
    *out = fallback;
    if (text == NULL) {
        return ASSAY_OK;
    }
    mpq_init(q);
    assay_status status = assay_rational_parse(q, text, what, err);
    if (status == ASSAY_OK) {
        *out = mpq_get_d(q);
    }
    mpq_clear(q);
    return status;
}

static assay_status read_values(args *a, const char *default_samples,
                                assay_error *err)
{
    assay_status status = assay_u64_parse(
        &a->o.samples, a->samples == NULL ? default_samples : a->samples,
        "--samples", err);
    if (status == ASSAY_OK) {
        status = read_fraction(&a->o.confidence, a->confidence, "--confidence",
                               0.99, err);
    }
    if (status == ASSAY_OK) {
        status =
            read_fraction(&a->timeout_value, a->timeout, "--timeout", 30, err);
    }
    if (status == ASSAY_OK) {
        status = assay_u64_parse(
            &a->seed_value, a->seed == NULL ? "1" : a->seed, "--seed", err);
    }
    if (status == ASSAY_OK && !(a->o.confidence > 0 && a->o.confidence < 1)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "--confidence must be between 0 and 1");
    }
    if (status == ASSAY_OK &&
        !(a->timeout_value > 0 && a->timeout_value < 1e6)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "--timeout must be between 0 and 1000000 seconds");
    }
    a->o.sequential = a->sequential;
    a->o.checkpoint = a->checkpoint;
    a->o.seed = a->seed == NULL ? 0 : assay_rng_mix(a->seed_value) | 1;
    return status;
}

/* ---- targets ------------------------------------------------------------ */

static int print_result(const args *a, const assay_audit_result *r,
                        const char *notes)
{
    if (a->json) {
        json_t *j = assay_audit_json(r);
        (void)json_object_set_new(
            j, "left", json_string(a->left == NULL ? "left" : a->left));
        (void)json_object_set_new(
            j, "right", json_string(a->right == NULL ? "right" : a->right));
        (void)json_object_set_new(j, "notes", assay_report_notes(notes));
        (void)json_dumpf(j, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        (void)putchar('\n');
        json_decref(j);
    } else {
        assay_report_result(stdout, r, a->left, a->right, notes);
    }
    return r->refuted ? assay_status_exit_code(ASSAY_REFUTED) : 0;
}

static assay_status collect(assay_store **store, const args *a,
                            char *const *command, assay_error *err)
{
    assay_external_options e = {.input = {a->left, a->right},
                                .command = command,
                                .runs = a->o.samples,
                                .timeout = a->timeout_value,
                                .timing = a->timing,
                                .worker = a->worker,
                                .keep = a->keep};
    if (a->from != NULL && assay_ranks_here.rank > 0) {
        return ASSAY_OK; /* nothing to run: rank 0 is alone */
    }
    if (a->from != NULL) {
        assay_ranks_here.size = 1;
        return assay_external_load(store, a->from, err);
    }
    if (assay_ranks_here.size > 1) {
        return a->library != NULL
                   ? assay_divide_library(store, a->library, &e, err)
                   : assay_divide_program(store, &e, err);
    }
    return assay_external_run(store, &e, err);
}

static int audit_store(args *a, char *const *command, assay_error *err)
{
    assay_store *store = NULL;
    assay_audit_result result;
    assay_status status = collect(&store, a, command, err);
    if (status != ASSAY_OK) {
        return assay_cli_report("audit", err);
    }
    if (store == NULL) {
        return 0; /* this rank has done its part */
    }
    uint64_t runs = assay_store_runs(store);
    if (runs < 200) {
        (void)fputs(assay_store_notes(store), stderr);
        (void)assay_fail(err, ASSAY_INVALID,
                         "only %llu outputs of each input: 200 are needed",
                         (unsigned long long)runs);
        assay_store_free(store);
        return assay_cli_report("audit", err);
    }
    if (a->from == NULL || a->samples == NULL || a->o.samples > runs) {
        a->o.samples = runs;
    }
    a->o.label = "audit";
    assay_source source = assay_store_source(store);
    status = assay_audit_run(&result, &source, &a->o, err);
    int code = status == ASSAY_OK
                   ? print_result(a, &result, assay_store_notes(store))
                   : assay_cli_report("audit", err);
    assay_store_free(store);
    return code;
}

static int audit_library(args *a, assay_error *err)
{
    assay_plugin *plugin = NULL;
    assay_audit_result result;
    assay_status status = assay_plugin_open(&plugin, a->library, a->left,
                                            a->right, a->timeout_value, err);
    if (status == ASSAY_OK) {
        assay_source source = assay_plugin_source(plugin);
        a->o.label = "audit";
        status = assay_audit_run(&result, &source, &a->o, err);
        assay_plugin_close(plugin);
    }
    return status == ASSAY_OK ? print_result(a, &result, "")
                              : assay_cli_report("audit", err);
}

/* LOW,HIGH */
static assay_status read_domain(double *low, double *high, const char *text,
                                assay_error *err)
{
    char copy[200];
    (void)snprintf(copy, sizeof copy, "%s", text == NULL ? "" : text);
    char *comma = strchr(copy, ',');
    if (comma == NULL) {
        return assay_fail(err, ASSAY_INVALID, "--domain is LOW,HIGH");
    }
    *comma = '\0';
    assay_status status = read_fraction(low, copy, "--domain", 0, err);
    return status == ASSAY_OK
               ? read_fraction(high, comma + 1, "--domain", 0, err)
               : status;
}

static assay_status read_search(assay_neighbour_search *n, const args *a,
                                assay_error *err)
{
    uint64_t rows = 0;
    assay_status status =
        assay_u64_parse(&rows, a->rows == NULL ? "1" : a->rows, "--rows", err);
    if (status == ASSAY_OK) {
        status = read_domain(&n->low, &n->high, a->domain, err);
    }
    if (status == ASSAY_OK) {
        status = read_fraction(&n->step, a->step, "--step", 1, err);
    }
    if (status == ASSAY_OK) {
        status = assay_neighbour_relation_parse(
            &n->relation, a->relation == NULL ? "one" : a->relation, err);
    }
    n->rows = (size_t)rows;
    n->seed = a->seed_value;
    n->target = a->o.samples;
    n->runs = a->o.samples / 20 < 1000 ? 1000 : a->o.samples / 20;
    n->restarts = 3;
    n->steps = 8;
    n->directory = a->search;
    n->claim = a->o.claim;
    return status;
}

/* Find the pair of inputs first. */
static assay_status search_inputs(args *a, char *const *command,
                                  assay_error *err)
{
    assay_neighbour_search n = {0};
    size_t tried = 0;
    assay_status status = read_search(&n, a, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_external_options e = {.command = command,
                                .runs = n.runs,
                                .timeout = a->timeout_value,
                                .timing = a->timing,
                                .worker = a->worker};
    status = assay_neighbours_find(&n, &e, &tried, err);
    (void)snprintf(a->found[0], sizeof a->found[0], "%s/left.txt", a->search);
    (void)snprintf(a->found[1], sizeof a->found[1], "%s/right.txt", a->search);
    a->left = a->found[0];
    a->right = a->found[1];
    if (status == ASSAY_OK) {
        (void)fprintf(stderr, "search: %zu pairs tried, %llu runs each\n",
                      tried, (unsigned long long)n.runs);
    }
    return status;
}

static int audit_target(args *a, int argc, char **argv, assay_error *err)
{
    assay_status status = read_values(a, "100000", err);
    if (status == ASSAY_OK && a->claim == NULL) {
        status = assay_fail(err, ASSAY_INVALID,
                            "--claim is missing, e.g. --claim eps=1");
    }
    if (status == ASSAY_OK) {
        status = assay_claim_parse(&a->o.claim, a->claim, err);
    }
    if (status == ASSAY_OK && a->search != NULL &&
        (a->from != NULL || a->library != NULL || optind >= argc)) {
        status = assay_fail(err, ASSAY_INVALID, "--search needs a program");
    }
    if (status == ASSAY_OK && a->search != NULL && assay_ranks_here.size > 1) {
        status = assay_fail(err, ASSAY_INVALID,
                            "--search is for one process: search with `assay "
                            "audit`, then give --left and --right");
    }
    if (status == ASSAY_OK && a->search != NULL) {
        status = search_inputs(a, argv + optind, err);
    }
    if (status == ASSAY_OK && a->from == NULL &&
        (a->left == NULL || a->right == NULL)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "--left and --right name the two inputs");
    }
    int program = a->from == NULL && a->library == NULL;
    if (status == ASSAY_OK && program && optind >= argc) {
        status = assay_fail(err, ASSAY_INVALID,
                            "no program: end with -- ./program {input} {runs}");
    }
    if (status == ASSAY_OK && a->timing && !a->worker) {
        status = assay_fail(err, ASSAY_INVALID, "--timing needs --worker");
    }
    if (status != ASSAY_OK) {
        return assay_cli_report("audit", err);
    }
    return a->library != NULL && assay_ranks_here.size == 1
               ? audit_library(a, err)
               : audit_store(a, argv + optind, err);
}

/* ---- catalogue, curve, one run ------------------------------------------ */

static int run_catalogue(args *a, assay_error *err)
{
    assay_status status = read_values(a, "1000000", err);
    if (status != ASSAY_OK) {
        return assay_cli_report("audit", err);
    }
    double floor_share = 0;
    status = read_fraction(&floor_share, a->floor, "--floor", 0, err);
    if (status == ASSAY_OK && a->no_oracle && floor_share > 0) {
        status = assay_fail(err, ASSAY_INVALID,
                            "--floor compares with the oracle; leave out "
                            "--no-oracle");
    }
    if (status != ASSAY_OK) {
        return assay_cli_report("audit", err);
    }
    assay_report_options r = {a->o.samples,  a->o.confidence, a->seed_value,
                              a->only,       a->json,         !a->no_oracle,
                              a->checkpoint, floor_share};
    status = assay_report_catalogue(stdout, &r, err);
    return status == ASSAY_OK ? 0 : assay_cli_report("audit", err);
}

static int run_curve(args *a, int argc, char **argv, assay_error *err)
{
    assay_status status = read_values(a, "10000000", err);
    const assay_specimen *s =
        optind < argc ? assay_specimen_find(argv[optind]) : NULL;
    if (status == ASSAY_OK && s == NULL) {
        status = assay_fail(err, ASSAY_INVALID,
                            "curve: name a specimen of the catalogue");
    }
    if (status == ASSAY_OK) {
        status = assay_report_curve(stdout, s, a->o.samples, a->o.confidence,
                                    a->seed_value, a->svg, err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("audit", err);
}

static int run_one_run(args *a, assay_error *err)
{
    uint64_t m = 0, r = 0, v = 0;
    double delta = 0;
    assay_status status = read_values(a, "1000", err);
    if (status == ASSAY_OK &&
        (a->canaries == NULL || a->guesses == NULL || a->right == NULL)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "one-run: --canaries, --guesses and --right");
    }
    if (status == ASSAY_OK) {
        status = assay_u64_parse(&m, a->canaries, "--canaries", err);
    }
    if (status == ASSAY_OK) {
        status = assay_u64_parse(&r, a->guesses, "--guesses", err);
    }
    if (status == ASSAY_OK) {
        status = assay_u64_parse(&v, a->right, "--right", err);
    }
    if (status == ASSAY_OK) {
        status = read_fraction(&delta, a->delta, "--delta", 0, err);
    }
    if (status == ASSAY_OK && (r > m || v > r || r == 0 || delta < 0)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "one-run: right <= guesses <= canaries, delta >= "
                            "0");
    }
    if (status != ASSAY_OK) {
        return assay_cli_report("audit", err);
    }
    double eps = assay_bound_one_run(m, r, v, delta, 1 - a->o.confidence);
    (void)printf(a->json ? "{\"epsilon_lower\": %.6f, \"delta\": %g, "
                           "\"confidence\": %g}\n"
                         : "epsilon >= %.6f at delta %g, confidence %g\n",
                 floor(eps * 1e6) / 1e6, delta, a->o.confidence);
    return 0;
}

/* The canary specimen: one release of a noisy sum, audited in one run. */
static int run_canary(args *a, assay_error *err)
{
    assay_canary c = {1000, 100, 1, 1};
    assay_canary_result r = {0, 0, 0};
    assay_status status = read_values(a, "1000", err);
    if (status == ASSAY_OK && a->canaries != NULL) {
        status = assay_u64_parse(&c.canaries, a->canaries, "--canaries", err);
    }
    if (status == ASSAY_OK && a->guesses != NULL) {
        status = assay_u64_parse(&c.guesses, a->guesses, "--guesses", err);
    }
    if (status == ASSAY_OK) {
        status = read_fraction(&c.sigma, a->sigma, "--sigma", 1, err);
    }
    if (status == ASSAY_OK) {
        status = assay_claim_parse(
            &a->o.claim, a->claim == NULL ? "eps=1,delta=1e-5" : a->claim, err);
    }
    c.seed = a->seed_value;
    if (status == ASSAY_OK) {
        status = assay_canary_run(&r, &c, &a->o.claim, a->o.confidence, err);
    }
    if (status != ASSAY_OK) {
        return assay_cli_report("audit", err);
    }
    (void)printf(a->json ? "{\"right\": %llu, \"epsilon_lower\": %.6f, "
                           "\"delta\": %g, \"refuted\": %s}\n"
                         : "%llu guesses right: epsilon >= %.6f at delta %g; "
                           "refuted: %s\n",
                 (unsigned long long)r.right, floor(r.lower * 1e6) / 1e6,
                 a->o.claim.delta, r.refuted ? "true" : "false");
    return r.refuted ? assay_status_exit_code(ASSAY_REFUTED) : 0;
}

/* The plain tool started by mpirun would do the same work many times. */
static int misplaced(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    if (assay_ranks_here.sum != NULL || size == NULL ||
        strtol(size, NULL, 10) < 2) {
        return 0;
    }
    if (rank == NULL || strtol(rank, NULL, 10) == 0) {
        (void)fputs("assay audit: mpirun needs assay-mpi (`make mpi`): mpirun "
                    "-n N assay-mpi audit ...\n",
                    stderr);
    }
    return 1;
}

int assay_cli_audit(int argc, char **argv)
{
    args a;
    assay_error err = ASSAY_ERROR_INIT;
    const char *mode = argc > 1 ? argv[1] : "--help";
    int named = strcmp(mode, "catalogue") == 0 || strcmp(mode, "curve") == 0 ||
                strcmp(mode, "one-run") == 0 || strcmp(mode, "canary") == 0;
    if (argc <= 1 || misplaced()) {
        (void)fputs(argc <= 1 ? help_text : "", stderr);
        return 2;
    }
    if (strcmp(mode, "curve") == 0 && argc > 2 && argv[2][0] != '-') {
        /* the specimen's name may come before the options */
        char *name = argv[2];
        for (int i = 2; i + 1 < argc; i++) {
            argv[i] = argv[i + 1];
        }
        argv[argc - 1] = name;
    }
    int rest = named ? read_options(&a, argc - 1, argv + 1, &err)
                     : read_options(&a, argc, argv, &err);
    if (rest != 0) {
        return rest > 0 ? 0 : assay_cli_report("audit", &err);
    }
    if (strcmp(mode, "catalogue") == 0) {
        return run_catalogue(&a, &err);
    }
    if (strcmp(mode, "curve") == 0) {
        return run_curve(&a, argc - 1, argv + 1, &err);
    }
    if (strcmp(mode, "one-run") == 0) {
        return run_one_run(&a, &err);
    }
    if (strcmp(mode, "canary") == 0) {
        return run_canary(&a, &err);
    }
    return audit_target(&a, argc, argv, &err);
}
