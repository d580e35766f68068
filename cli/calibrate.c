/* ring: glue */
/* assay calibrate: the smallest noise or the most steps for a target. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/calibrate.h"
#include "accountant/event_yaml.h"
#include "cli/commands.h"
#include "core/rational.h"

static const char help[] =
    "usage: assay calibrate EVENTS.yaml (--noise | --steps) TARGET "
    "[options]\n\n"
    "Finds the smallest noise of one event (sigma, scale, or the largest\n"
    "epsilon), or its largest count, so that all events together meet TARGET:\n"
    "  --epsilon E --delta D    or    --rho R\n\n"
    "  --event N       which event, from 1 (default 1)\n"
    "  --digits N      digits of the noise (default 6)\n"
    "  --method NAME   account by this method only\n"
    "  --json          machine-readable\n\n"
    "examples:\n"
    "  assay calibrate train.yaml --noise --epsilon 2 --delta 1e-6\n"
    "  assay calibrate train.yaml --steps --epsilon 2 --delta 1e-6 --json\n";

typedef struct request {
    const char *path;
    const char *epsilon;
    const char *delta;
    const char *rho;
    const char *event;
    int noise;
    int steps;
    int digits;
    int json;
    assay_account_options options;
} request;

static int parse(request *out, int argc, char **argv, assay_error *err)
{
    static const struct option longs[] = {
        {"noise", no_argument, NULL, 'n'},
        {"steps", no_argument, NULL, 's'},
        {"epsilon", required_argument, NULL, 'e'},
        {"delta", required_argument, NULL, 'd'},
        {"rho", required_argument, NULL, 'r'},
        {"event", required_argument, NULL, 'i'},
        {"digits", required_argument, NULL, 'g'},
        {"method", required_argument, NULL, 'm'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0}};
    int c = 0;
    optind = 1;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        switch (c) {
        case 'n':
            out->noise = 1;
            break;
        case 's':
            out->steps = 1;
            break;
        case 'e':
            out->epsilon = optarg;
            break;
        case 'd':
            out->delta = optarg;
            break;
        case 'r':
            out->rho = optarg;
            break;
        case 'i':
            out->event = optarg;
            break;
        case 'g':
            out->digits = (int)strtol(optarg, NULL, 10);
            break;
        case 'm':
            out->options.method = optarg;
            break;
        case 'j':
            out->json = 1;
            break;
        case 'h':
            (void)fputs(help, stdout);
            return -1;
        default:
            (void)assay_fail(err, ASSAY_INVALID,
                             "unknown or incomplete option '%.40s'; see --help",
                             argv[optind - 1]);
            return 0;
        }
    }
    int target = out->rho != NULL ? out->epsilon == NULL
                                  : out->epsilon != NULL && out->delta != NULL;
    if (optind + 1 != argc || out->noise == out->steps || !target ||
        out->digits < 0 || out->digits > 12) {
        (void)assay_fail(err, ASSAY_INVALID,
                         "give one event file, --noise or --steps, and "
                         "--epsilon with --delta or --rho");
        return 0;
    }
    out->path = argv[optind];
    return 1;
}

static assay_status read_target(assay_target *out, const request *req,
                                assay_error *err)
{
    assay_status status = ASSAY_OK;
    out->digits = req->digits;
    out->has_rho = req->rho != NULL;
    if (req->rho != NULL) {
        status =
            assay_rational_parse_positive(out->rho, req->rho, "--rho", err);
    } else {
        status = assay_rational_parse_positive(out->epsilon, req->epsilon,
                                               "--epsilon", err);
    }
    if (status == ASSAY_OK && req->delta != NULL) {
        status = assay_rational_parse(out->delta, req->delta, "--delta", err);
    }
    return status;
}

/* sigma as a decimal, where sigma^2 is the square of one; NULL if not. */
static char *sigma_text(const assay_event *event)
{
    if (mpq_sgn(event->sigma2) <= 0 ||
        !mpz_perfect_square_p(mpq_numref(event->sigma2)) ||
        !mpz_perfect_square_p(mpq_denref(event->sigma2))) {
        return NULL;
    }
    mpq_t sigma;
    mpq_init(sigma);
    mpz_sqrt(mpq_numref(sigma), mpq_numref(event->sigma2));
    mpz_sqrt(mpq_denref(sigma), mpq_denref(event->sigma2));
    char *text = assay_rational_decimal(sigma, 15, 1);
    mpq_clear(sigma);
    return text;
}

static void print(const request *req, const assay_event_list *list,
                  size_t which, const assay_guarantee *g)
{
    assay_error ignored = ASSAY_ERROR_INIT;
    json_t *event = NULL;
    if (assay_event_to_json(&event, &list->events[which], &ignored) !=
        ASSAY_OK) {
        return;
    }
    char *epsilon =
        g->num_bounds > 0 ? assay_bound_text(g->bounds[0].epsilon, 12) : NULL;
    char *sigma = sigma_text(&list->events[which]);
    if (req->json) {
        json_t *object = json_pack("{s:O}", "event", event);
        if (sigma != NULL) {
            (void)json_object_set_new(object, "sigma", json_string(sigma));
        }
        if (epsilon != NULL) {
            (void)json_object_set_new(object, "epsilon", json_string(epsilon));
            (void)json_object_set_new(object, "method",
                                      json_string(g->bounds[0].method));
        }
        (void)json_dumpf(object, stdout, JSON_INDENT(2) | JSON_SORT_KEYS);
        (void)putchar('\n');
        json_decref(object);
    } else {
        char *text = json_dumps(event, JSON_COMPACT | JSON_SORT_KEYS);
        (void)printf("%s\n", text);
        free(text);
        if (sigma != NULL) {
            (void)printf("sigma = %s\n", sigma);
        }
        if (epsilon != NULL) {
            (void)printf("epsilon <= %s by %s\n", epsilon, g->bounds[0].method);
        }
    }
    free(sigma);
    free(epsilon);
    json_decref(event);
}

static assay_status run(const request *req, assay_event_file *file,
                        assay_error *err)
{
    uint64_t which = 1;
    assay_target target;
    assay_guarantee g;
    assay_status status =
        req->event != NULL ? assay_u64_parse(&which, req->event, "--event", err)
                           : ASSAY_OK;
    if (status == ASSAY_OK && which == 0) {
        status = assay_fail(err, ASSAY_INVALID, "--event counts from 1");
    }
    assay_target_init(&target);
    assay_guarantee_init(&g);
    if (status == ASSAY_OK) {
        status = read_target(&target, req, err);
    }
    if (status == ASSAY_OK) {
        status = (req->noise ? assay_calibrate_noise : assay_calibrate_steps)(
            &file->list, (size_t)which - 1, &target, &req->options, &g, err);
    }
    if (status == ASSAY_OK) {
        print(req, &file->list, (size_t)which - 1, &g);
    }
    assay_guarantee_clear(&g);
    assay_target_clear(&target);
    return status;
}

int assay_cli_calibrate(int argc, char **argv)
{
    assay_error err = ASSAY_ERROR_INIT;
    request req = {0};
    int parsed = parse(&req, argc, argv, &err);
    if (parsed < 0) {
        return 0;
    }
    assay_event_file file;
    assay_status status =
        parsed ? assay_event_file_read(&file, req.path, &err) : ASSAY_INVALID;
    if (status == ASSAY_OK) {
        status = run(&req, &file, &err);
        assay_event_file_clear(&file);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("calibrate", &err);
}
