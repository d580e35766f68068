/* ring: glue */
/* assay release: private answers to questions about a CSV file. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/ledger.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "core/rational.h"
#include "mechanisms/query.h"

static const char help[] =
    "usage: assay release QUERY FILE.csv --epsilon E --ledger L.db [OPTIONS]\n"
    "\n"
    "QUERY is count, sum, mean, histogram or quantile; FILE '-' is standard\n"
    "input. Charges the ledger durably, then draws exact noise, then prints.\n"
    "\n"
    "  --column NAME       the column of the values (not needed for a count)\n"
    "  --bounds LO,HI      clamp values; choose without looking at the data\n"
    "  --person NAME       the column that says whose record it is; without\n"
    "                      it every record is a person of its own. Memory\n"
    "                      grows with the number of persons\n"
    "  --per-person N      the first N records of each person count (1)\n"
    "  --quantile Q        for a quantile: 1/2 is the median (1/2)\n"
    "  --bins N            histogram of numbers between the bounds\n"
    "  --categories A,B,C  histogram of known words; the rest is 'other'\n"
    "  --unknown --delta D histogram of unknown words, by a threshold\n"
    "  --json              value, interval, epsilon, spent, left\n"
    "\n"
    "The interval holds the unnoised answer with probability 95 % over the\n"
    "noise. When the budget does not allow the release: exit code 3.\n"
    "\n"
    "examples:\n"
    "  assay ledger create L.db --epsilon 10 --delta 1e-6\n"
    "  assay release count visits.csv --person patient --epsilon 1/2 "
    "--ledger L.db\n"
    "  assay release mean visits.csv --column age --bounds 0,120 \\\n"
    "      --person patient --epsilon 1 --ledger L.db --json\n"
    "  assay release histogram visits.csv --column ward \\\n"
    "      --categories A,B,C --person patient --epsilon 1 --ledger L.db\n"
    "  assay release quantile visits.csv --column cost --bounds 0,50000 \\\n"
    "      --quantile 0.9 --person patient --epsilon 1 --ledger L.db\n";

enum {
    COLUMN,
    BOUNDS,
    PERSON,
    PER_PERSON,
    QUANTILE,
    BINS,
    CATEGORIES,
    UNKNOWN,
    EPSILON,
    DELTA,
    LEDGER,
    JSON,
    HELP,
    NUM_OPTIONS
};

static assay_status parse_kind(assay_query_kind *out, const char *name,
                               assay_error *err)
{
    static const char *const names[] = {"count", "sum", "mean", "histogram",
                                        "quantile"};
    for (int i = 0; i < 5; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (assay_query_kind)i;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_INVALID,
                      "unknown query '%.40s': count, sum, mean, histogram or "
                      "quantile",
                      name);
}

/* "LO,HI" */
static assay_status parse_bounds(assay_query *query, const char *text,
                                 assay_error *err)
{
    const char *comma = strchr(text, ',');
    if (comma == NULL || strchr(comma + 1, ',') != NULL) {
        return assay_fail(err, ASSAY_INVALID, "--bounds needs LO,HI");
    }
    char *low = strndup(text, (size_t)(comma - text));
    if (low == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory");
    }
    assay_status status =
        assay_rational_parse(query->lo, low, "the lower bound", err);
    free(low);
    if (status == ASSAY_OK) {
        status =
            assay_rational_parse(query->hi, comma + 1, "the upper bound", err);
    }
    query->has_bounds = 1;
    return status;
}

/* Splits in place; the words live as long as `text`. */
static assay_status parse_categories(assay_query *query, char *text,
                                     assay_error *err)
{
    size_t n = 1;
    for (const char *p = text; *p != '\0'; p++) {
        n += *p == ',';
    }
    query->categories = calloc(n, sizeof *query->categories);
    if (query->categories == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory");
    }
    for (size_t i = 0; i < n && text != NULL; i++) {
        query->categories[i] = text;
        text = strchr(text, ',');
        if (text != NULL) {
            *text++ = '\0';
        }
    }
    query->num_categories = n;
    return ASSAY_OK;
}

static assay_status parse_count(uint64_t *out, const char *text, uint64_t most,
                                const char *what, assay_error *err)
{
    assay_status status = assay_u64_parse(out, text, what, err);
    if (status == ASSAY_OK && (*out == 0 || *out > most)) {
        status = assay_fail(err, ASSAY_INVALID, "%s: between 1 and %llu", what,
                            (unsigned long long)most);
    }
    return status;
}

static assay_status parse_numbers(assay_query *query,
                                  const assay_option *options, assay_error *err)
{
    uint64_t n = 0;
    assay_status status = ASSAY_OK;
    if (options[PER_PERSON].value != NULL) {
        status = parse_count(&n, options[PER_PERSON].value,
                             ASSAY_QUERY_MAX_LIMIT, "--per-person", err);
        query->limit = (uint32_t)n;
    }
    if (status == ASSAY_OK && options[BINS].value != NULL) {
        status = parse_count(&n, options[BINS].value, ASSAY_QUERY_MAX_BINS,
                             "--bins", err);
        query->bins = (size_t)n;
    }
    if (status == ASSAY_OK && options[QUANTILE].value != NULL) {
        status = assay_rational_parse(query->quantile, options[QUANTILE].value,
                                      "--quantile", err);
    }
    if (status == ASSAY_OK && options[DELTA].value != NULL) {
        status = assay_rational_parse(query->delta, options[DELTA].value,
                                      "--delta", err);
    }
    return status;
}

static assay_status parse_query(assay_query *query, const assay_option *options,
                                char *categories, assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (options[EPSILON].value == NULL || options[LEDGER].value == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "--epsilon and --ledger are needed; see --help");
    }
    status = assay_rational_parse_positive(
        query->epsilon, options[EPSILON].value, "--epsilon", err);
    query->column = options[COLUMN].value;
    query->person = options[PERSON].value;
    query->unknown_keys = options[UNKNOWN].value != NULL;
    if (status == ASSAY_OK && options[BOUNDS].value != NULL) {
        status = parse_bounds(query, options[BOUNDS].value, err);
    }
    if (status == ASSAY_OK && categories != NULL) {
        status = parse_categories(query, categories, err);
    }
    return status == ASSAY_OK ? parse_numbers(query, options, err) : status;
}

/* What the ledger says after the release, as doubles rounded towards more
 * loss. */
typedef struct account_state {
    int has_epsilon;
    double spent;
    double left;
} account_state;

static double rounded(const mpq_t q, int up)
{
    char *text = assay_rational_decimal(q, 15, up);
    double x = text != NULL ? strtod(text, NULL) : NAN;
    free(text);
    return x;
}

static assay_status read_ledger(account_state *out, assay_custodian *custodian,
                                assay_error *err)
{
    assay_budget spent;
    assay_budget left;
    assay_budget_init(&spent);
    assay_budget_init(&left);
    assay_status status = assay_ledger_spent(&spent, custodian->ledger, err);
    if (status == ASSAY_OK) {
        status = assay_ledger_left(&left, custodian->ledger, err);
    }
    if (status == ASSAY_OK) {
        out->has_epsilon = spent.has_epsilon && left.has_epsilon;
        out->spent = rounded(out->has_epsilon ? spent.epsilon : spent.rho, 1);
        out->left = rounded(out->has_epsilon ? left.epsilon : left.rho, 0);
    }
    assay_budget_clear(&spent);
    assay_budget_clear(&left);
    return status;
}

static json_t *interval_json(const assay_answer *a, size_t i)
{
    return a->has_interval ? json_pack("[f,f]", a->low[i], a->high[i])
                           : json_null();
}

static json_t *cells_json(const assay_answer *a, int intervals)
{
    json_t *object = json_object();
    for (size_t i = 0; i < a->n; i++) {
        json_t *cell = intervals ? interval_json(a, i) : json_real(a->value[i]);
        (void)json_object_set_new(object, a->key[i], cell);
    }
    return object;
}

static void print_json(const assay_answer *a, const assay_query *query,
                       const account_state *state)
{
    json_t *object = json_object();
    int many = a->key != NULL;
    (void)json_object_set_new(object, "value",
                              many ? cells_json(a, 0) : json_real(a->value[0]));
    (void)json_object_set_new(object, "interval",
                              many ? cells_json(a, 1) : interval_json(a, 0));
    (void)json_object_set_new(object, "epsilon",
                              json_real(rounded(query->epsilon, 1)));
    (void)json_object_set_new(object, "spent", json_real(state->spent));
    (void)json_object_set_new(object, "left", json_real(state->left));
    (void)json_object_set_new(
        object, "notion", json_string(state->has_epsilon ? "epsilon" : "rho"));
    if (query->kind == ASSAY_QUERY_QUANTILE) {
        (void)json_object_set_new(object, "rank_error",
                                  json_real(a->rank_error));
    }
    (void)json_dumpf(object, stdout, JSON_INDENT(2));
    (void)putchar('\n');
    json_decref(object);
}

static void print_text(const assay_answer *a, const assay_query *query,
                       const account_state *state)
{
    for (size_t i = 0; i < a->n; i++) {
        (void)printf("%-20s %.10g", a->key != NULL ? a->key[i] : "value",
                     a->value[i]);
        if (a->has_interval) {
            (void)printf("   (95 %%: %.10g to %.10g)", a->low[i], a->high[i]);
        }
        (void)putchar('\n');
    }
    if (query->kind == ASSAY_QUERY_QUANTILE) {
        (void)printf("%-20s %.10g   (95 %%)\n", "rank error", a->rank_error);
    }
    (void)printf("%-20s %.10g\n", "epsilon", rounded(query->epsilon, 1));
    (void)printf("%-20s %.10g %s, left %.10g\n", "spent", state->spent,
                 state->has_epsilon ? "epsilon" : "rho", state->left);
}

static assay_status run(const assay_query *query, const assay_option *options,
                        assay_error *err)
{
    assay_custodian custodian;
    assay_answer answer;
    account_state state = {0, 0, 0};
    assay_status status =
        assay_custodian_init(&custodian, options[LEDGER].value, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_query_run(&answer, &custodian, query, err);
    if (status == ASSAY_OK) {
        status = read_ledger(&state, &custodian, err);
        if (status == ASSAY_OK && options[JSON].value != NULL) {
            print_json(&answer, query, &state);
        } else if (status == ASSAY_OK) {
            print_text(&answer, query, &state);
        }
        assay_answer_clear(&answer);
    }
    assay_custodian_clear(&custodian);
    if (status == ASSAY_OK && fflush(stdout) != 0) {
        status = assay_fail(err, ASSAY_IO, "cannot write the answer");
    }
    return status;
}

int assay_cli_release(int argc, char **argv)
{
    assay_option options[NUM_OPTIONS + 1] = {
        [COLUMN] = {"--column", 1, NULL},
        [BOUNDS] = {"--bounds", 1, NULL},
        [PERSON] = {"--person", 1, NULL},
        [PER_PERSON] = {"--per-person", 1, NULL},
        [QUANTILE] = {"--quantile", 1, NULL},
        [BINS] = {"--bins", 1, NULL},
        [CATEGORIES] = {"--categories", 1, NULL},
        [UNKNOWN] = {"--unknown", 0, NULL},
        [EPSILON] = {"--epsilon", 1, NULL},
        [DELTA] = {"--delta", 1, NULL},
        [LEDGER] = {"--ledger", 1, NULL},
        [JSON] = {"--json", 0, NULL},
        [HELP] = {"--help", 0, NULL},
        [NUM_OPTIONS] = {NULL, 0, NULL},
    };
    const char *plain[2] = {NULL, NULL};
    size_t num_plain = 0;
    assay_error err = ASSAY_ERROR_INIT;
    assay_query query;
    char *categories = NULL;
    assay_status status =
        assay_options_parse(options, plain, 2, &num_plain, argc, argv, &err);
    if (options[HELP].value != NULL) {
        (void)fputs(help, stdout);
        return 0;
    }
    assay_query_init(&query);
    if (status == ASSAY_OK && num_plain != 2) {
        status = assay_fail(&err, ASSAY_INVALID,
                            "name a query and a file; see --help");
    }
    if (status == ASSAY_OK) {
        status = parse_kind(&query.kind, plain[0], &err);
        query.path = plain[1];
    }
    if (options[CATEGORIES].value != NULL) {
        categories = strdup(options[CATEGORIES].value);
    }
    if (status == ASSAY_OK) {
        status = parse_query(&query, options, categories, &err);
    }
    if (status == ASSAY_OK) {
        status = run(&query, options, &err);
    }
    free(query.categories);
    free(categories);
    assay_query_clear(&query);
    return status == ASSAY_OK ? 0 : assay_cli_report("release", &err);
}
