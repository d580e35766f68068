/* ring: glue */
/* assay account: a list of events to a guarantee. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event_yaml.h"
#include "accountant/guarantee.h"
#include "accountant/profile.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "core/rational.h"

static const char help[] =
    "usage: assay account EVENTS.yaml [--delta D | --epsilon E] [options]\n\n"
    "Prints an upper bound on epsilon at delta (or on delta at epsilon) for "
    "the\n"
    "adaptive composition of all events, by every method that applies, the "
    "best\n"
    "first.\n\n"
    "  --delta D       find epsilon at this delta (exact: 1e-6, 1/1000000)\n"
    "  --epsilon E     find delta at this epsilon\n"
    "  --method NAME   only this method (basic, zcdp, renyi, pld, ...)\n"
    "  --gap G         relative gap that pld aims at (default 1e-4)\n"
    "  --lower         certified lower bounds too\n"
    "  --profile       the curve delta(epsilon), 20 points\n"
    "  --plot FILE     the curve as SVG (needs gnuplot)\n"
    "  --json          machine-readable\n\n"
    "examples:\n"
    "  assay account train.yaml --delta 1e-6\n"
    "  assay account train.yaml --epsilon 2 --json\n"
    "  train.yaml:\n"
    "    neighbours: add-remove\n"
    "    events:\n"
    "      - {mechanism: gaussian, sigma: 1.1, sampling: poisson,\n"
    "         rate: 1/100, count: 10000}\n";

typedef struct request {
    const char *path;
    const char *delta;
    const char *epsilon;
    const char *plot;
    int json;
    int profile;
    assay_account_options options;
} request;

static assay_status parse(request *out, int argc, char **argv, assay_error *err)
{
    size_t num_plain = 0;
    const assay_field table[] = {
        {"delta", ASSAY_FIELD_TEXT, &out->delta},
        {"epsilon", ASSAY_FIELD_TEXT, &out->epsilon},
        {"method", ASSAY_FIELD_TEXT, &out->options.method},
        {"gap", ASSAY_FIELD_REAL, &out->options.max_gap},
        {"lower", ASSAY_FIELD_FLAG, &out->options.lower},
        {"profile", ASSAY_FIELD_FLAG, &out->profile},
        {"plot", ASSAY_FIELD_TEXT, &out->plot},
        {"json", ASSAY_FIELD_FLAG, &out->json},
        {NULL, ASSAY_FIELD_TEXT, NULL}};
    assay_status status = assay_fields_parse_plain(table, &out->path, 1,
                                                   &num_plain, argc, argv, err);
    if (status == ASSAY_OK &&
        (num_plain != 1 || (out->delta != NULL && out->epsilon != NULL))) {
        status =
            assay_fail(err, ASSAY_INVALID,
                       "give one event file and one of --delta, --epsilon");
    }
    return status;
}

static void print_row(const assay_guarantee *g, const assay_bound *b)
{
    char *eps = assay_bound_text(g->fixed_epsilon ? b->delta : b->epsilon, 10);
    char *low = NULL;
    if (b->has_lower) {
        low = assay_rational_decimal(
            g->fixed_epsilon ? b->delta_lower : b->epsilon_lower, 10, 0);
    }
    (void)printf("%-18s %-16s %-16s %8.4f  ", b->method, eps,
                 low != NULL ? low : "-", b->seconds);
    for (int i = 0; i < b->num_theorems; i++) {
        (void)printf("%s%s", i > 0 ? ", " : "", b->theorems[i]);
    }
    (void)printf("%s\n", b->assumed ? " [rests on an assumed event]" : "");
    free(eps);
    free(low);
}

static void print_table(const assay_guarantee *g)
{
    char *at = assay_bound_text(
        g->fixed_epsilon ? g->bounds[0].epsilon : g->bounds[0].delta, 10);
    (void)printf("%s at %s = %s, %s neighbours, unit: %s\n",
                 g->fixed_epsilon ? "delta" : "epsilon",
                 g->fixed_epsilon ? "epsilon" : "delta", at,
                 assay_neighbours_name(g->neighbours), g->unit);
    (void)printf("%-18s %-16s %-16s %8s  %s\n", "method",
                 g->fixed_epsilon ? "delta <=" : "epsilon <=", "truth >=",
                 "seconds", "theorems");
    for (int i = 0; i < g->num_bounds; i++) {
        print_row(g, &g->bounds[i]);
    }
    free(at);
}

static assay_status print_guarantee(const assay_guarantee *g, int as_json,
                                    assay_error *err)
{
    if (!as_json) {
        print_table(g);
        return ASSAY_OK;
    }
    json_t *json = NULL;
    assay_status status = assay_guarantee_to_json(&json, g, err);
    if (status == ASSAY_OK) {
        (void)json_dumpf(json, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
        json_decref(json);
    }
    return status;
}

/* The question: the command line wins over the file. */
static assay_status question(mpq_t target, int *fixed_epsilon,
                             const request *req, const assay_event_file *file,
                             assay_error *err)
{
    *fixed_epsilon =
        req->epsilon != NULL ||
        (req->delta == NULL && !file->has_delta && file->has_epsilon);
    if (req->epsilon != NULL) {
        return assay_rational_parse(target, req->epsilon, "--epsilon", err);
    }
    if (req->delta != NULL) {
        return assay_rational_parse(target, req->delta, "--delta", err);
    }
    mpq_set(target, *fixed_epsilon ? file->epsilon : file->delta);
    return file->has_delta || file->has_epsilon
               ? ASSAY_OK
               : assay_fail(err, ASSAY_INVALID,
                            "no target: give --delta or --epsilon");
}

static assay_status profile_json(const assay_profile *profile, assay_error *err)
{
    json_t *points = json_array();
    for (size_t i = 0; i < profile->num_points; i++) {
        char *e = assay_rational_decimal(profile->epsilons[i], 15, 1);
        char *d = assay_rational_decimal(profile->deltas[i], 15, 1);
        (void)json_array_append_new(
            points, json_pack("{s:s,s:s,s:s}", "epsilon", e, "delta", d,
                              "method", profile->methods[i]));
        free(e);
        free(d);
    }
    json_t *object = json_pack("{s:o}", "profile", points);
    if (object == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    }
    (void)json_dumpf(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
    (void)putchar('\n');
    json_decref(object);
    return ASSAY_OK;
}

static assay_status print_profile(const assay_profile *profile, int json,
                                  assay_error *err)
{
    if (json) {
        return profile_json(profile, err);
    }
    (void)printf("%-16s %-16s %s\n", "epsilon", "delta <=", "method");
    for (size_t i = 0; i < profile->num_points; i++) {
        char *e = assay_rational_decimal(profile->epsilons[i], 8, 1);
        char *d = assay_rational_decimal(profile->deltas[i], 8, 1);
        (void)printf("%-16s %-16s %s\n", e, d, profile->methods[i]);
        free(e);
        free(d);
    }
    return ASSAY_OK;
}

static const char gnuplot_head[] =
    "set terminal svg size 720,480 dynamic font 'sans,14'\n"
    "set logscale y; set format y '10^{%T}'; set grid\n"
    "set xlabel 'epsilon'; set ylabel 'delta (upper bound)'\n"
    "set key off\n";

static assay_status plot_profile(const assay_profile *profile, const char *path,
                                 assay_error *err)
{
    if (strchr(path, '\'') != NULL || strchr(path, '\n') != NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "--plot: the file name holds a quote or a newline");
    }
    FILE *pipe = popen("gnuplot 2>/dev/null", "w");
    if (pipe == NULL) {
        return assay_fail(err, ASSAY_IO, "cannot run gnuplot");
    }
    (void)fprintf(pipe, "%sset output '%s'\nplot '-' with linespoints lw 2\n",
                  gnuplot_head, path);
    for (size_t i = 0; i < profile->num_points; i++) {
        if (mpq_sgn(profile->deltas[i]) > 0) {
            (void)fprintf(pipe, "%.9g %.9g\n", mpq_get_d(profile->epsilons[i]),
                          mpq_get_d(profile->deltas[i]));
        }
    }
    (void)fputs("e\n", pipe);
    return pclose(pipe) == 0 ? ASSAY_OK
                             : assay_fail(err, ASSAY_IO,
                                          "gnuplot could not write '%s'; is it "
                                          "installed?",
                                          path);
}

static assay_status curve(const request *req, const assay_event_file *file,
                          assay_error *err)
{
    assay_profile profile;
    assay_status status =
        assay_profile_compute(&profile, &file->list, 20, &req->options, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (req->plot != NULL) {
        status = plot_profile(&profile, req->plot, err);
    }
    if (status == ASSAY_OK && (req->profile || req->plot == NULL)) {
        status = print_profile(&profile, req->json, err);
    }
    assay_profile_clear(&profile);
    return status;
}

static assay_status answer(const request *req, const assay_event_file *file,
                           assay_error *err)
{
    if (req->profile || req->plot != NULL) {
        return curve(req, file, err);
    }
    assay_guarantee g;
    mpq_t target;
    int fixed_epsilon = 0;
    mpq_init(target);
    assay_guarantee_init(&g);
    assay_status status = question(target, &fixed_epsilon, req, file, err);
    if (status == ASSAY_OK) {
        status = fixed_epsilon ? assay_account_delta(&g, &file->list, target,
                                                     &req->options, err)
                               : assay_account(&g, &file->list, target,
                                               &req->options, err);
    }
    if (status == ASSAY_OK) {
        status = print_guarantee(&g, req->json, err);
    }
    assay_guarantee_clear(&g);
    mpq_clear(target);
    return status;
}

int assay_cli_account(int argc, char **argv)
{
    assay_error err = ASSAY_ERROR_INIT;
    request req = {0};
    assay_event_file file;
    if (assay_fields_help(argc, argv)) {
        return fputs(help, stdout) < 0;
    }
    assay_status status = parse(&req, argc, argv, &err);
    if (status == ASSAY_OK) {
        status = assay_event_file_read(&file, req.path, &err);
    }
    if (status == ASSAY_OK) {
        status = answer(&req, &file, &err);
        assay_event_file_clear(&file);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("account", &err);
}
