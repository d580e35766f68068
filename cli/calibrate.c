/* ring: glue */
/* assay calibrate: the smallest noise or the most steps for a target. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/calibrate.h"
#include "accountant/event_yaml.h"
#include "cli/commands.h"
#include "cli/fields.h"
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
    uint64_t event;
    uint64_t digits;
    int noise;
    int steps;
    int json;
    assay_account_options options;
} request;

static assay_status parse(request *out, int argc, char **argv, assay_error *err)
{
    size_t num_plain = 0;
    const assay_field table[] = {
        {"noise", ASSAY_FIELD_FLAG, &out->noise},
        {"steps", ASSAY_FIELD_FLAG, &out->steps},
        {"epsilon", ASSAY_FIELD_TEXT, &out->epsilon},
        {"delta", ASSAY_FIELD_TEXT, &out->delta},
        {"rho", ASSAY_FIELD_TEXT, &out->rho},
        {"event", ASSAY_FIELD_NUMBER, &out->event},
        {"digits", ASSAY_FIELD_NUMBER, &out->digits},
        {"method", ASSAY_FIELD_TEXT, &out->options.method},
        {"json", ASSAY_FIELD_FLAG, &out->json},
        {NULL, ASSAY_FIELD_TEXT, NULL}};
    assay_status status = assay_fields_parse_plain(table, &out->path, 1,
                                                   &num_plain, argc, argv, err);
    int target = out->rho != NULL ? out->epsilon == NULL
                                  : out->epsilon != NULL && out->delta != NULL;
    if (status != ASSAY_OK) {
        return status;
    }
    if (num_plain != 1 || out->noise == out->steps || !target) {
        return assay_fail(err, ASSAY_INVALID,
                          "give one event file, --noise or --steps, and "
                          "--epsilon with --delta or --rho");
    }
    if (out->event == 0 || out->digits > 12) {
        return assay_fail(err, ASSAY_INVALID,
                          out->event == 0 ? "--event counts from 1"
                                          : "--digits: 12 at most");
    }
    return ASSAY_OK;
}

static assay_status read_target(assay_target *out, const request *req,
                                assay_error *err)
{
    assay_status status = ASSAY_OK;
    out->digits = (int)req->digits;
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
    size_t which = (size_t)req->event - 1;
    assay_target target;
    assay_guarantee g;
    assay_target_init(&target);
    assay_guarantee_init(&g);
    assay_status status = read_target(&target, req, err);
    if (status == ASSAY_OK) {
        status = (req->noise ? assay_calibrate_noise : assay_calibrate_steps)(
            &file->list, which, &target, &req->options, &g, err);
    }
    if (status == ASSAY_OK) {
        print(req, &file->list, which, &g);
    }
    assay_guarantee_clear(&g);
    assay_target_clear(&target);
    return status;
}

int assay_cli_calibrate(int argc, char **argv)
{
    assay_error err = ASSAY_ERROR_INIT;
    request req = {.event = 1};
    assay_event_file file;
    if (assay_fields_help(argc, argv)) {
        return fputs(help, stdout) < 0;
    }
    assay_status status = parse(&req, argc, argv, &err);
    if (status == ASSAY_OK) {
        status = assay_event_file_read(&file, req.path, &err);
    }
    if (status == ASSAY_OK) {
        status = run(&req, &file, &err);
        assay_event_file_clear(&file);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("calibrate", &err);
}
