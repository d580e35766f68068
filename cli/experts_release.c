/* ring: glue */
/* assay experts release: stable prefixes of the experts' trajectories. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/data_release.h"
#include "algorithms/prefix_count.h"
#include "cli/commands.h"
#include "cli/experts.h"
#include "cli/fields.h"
#include "core/rational.h"
#include "mechanisms/custodian.h"

static const char *const HELP =
    "usage: assay experts release --experts FILE --epsilon E --delta D\n"
    "         --ledger L.db -o PREFIXES.csv\n"
    "\n"
    "Trajectory prefixes that enough experts would have produced: data that\n"
    "needs no more noise. The unit is one expert, added or removed; the\n"
    "guarantee is over the generation of the trajectories, which are fresh\n"
    "draws of the experts' policies. The environment is public. Writes the\n"
    "guarantee to PREFIXES.csv.guarantee.json too.\n"
    "\n"
    "  --experts FILE     made by assay experts train\n"
    "  --epsilon E --delta D   for all draws together (exact: 7.5, 1/3000)\n"
    "  --threshold NAME   printed, monotone or normalised (default)\n"
    "  --draws T          trajectories that are tried (default 25)\n"
    "  --cap L            public length cap (default 200)\n"
    "  --population M     public bound on the number of experts: refuse, and\n"
    "                     charge nothing, where nothing could be released\n"
    "  --data FILE.csv    logged trajectories instead of playing them: the\n"
    "                     first T of every expert are used and discarded\n"
    "  --rest FILE.csv    with --data: the other trajectories, for training\n"
    "                     with noise (private as before)\n"
    "  --plan             print epsilon per draw and the threshold; charge "
    "and\n"
    "                     release nothing\n"
    "  --json             print the guarantee as JSON\n"
    "\n"
    "examples:\n"
    "  assay ledger create L.db --epsilon 10 --delta 1e-4 --planned \\\n"
    "    --unit expert\n"
    "  assay experts release --experts cartpole.experts --epsilon 7.5 \\\n"
    "    --delta 9e-5 --plan\n"
    "  assay experts release --experts cartpole.experts --epsilon 7.5 \\\n"
    "    --delta 9e-5 --ledger L.db -o prefixes.csv\n";

typedef struct options {
    const char *experts, *epsilon, *delta, *ledger, *threshold, *data, *rest,
        *out;
    uint64_t draws, cap, population;
    int plan, json;
} options;

static assay_status parse(options *o, int argc, char **argv, assay_error *err)
{
    const assay_field table[] = {
        {"output", ASSAY_FIELD_TEXT, &o->out},
        {"experts", ASSAY_FIELD_TEXT, &o->experts},
        {"epsilon", ASSAY_FIELD_TEXT, &o->epsilon},
        {"delta", ASSAY_FIELD_TEXT, &o->delta},
        {"ledger", ASSAY_FIELD_TEXT, &o->ledger},
        {"threshold", ASSAY_FIELD_TEXT, &o->threshold},
        {"draws", ASSAY_FIELD_NUMBER, &o->draws},
        {"cap", ASSAY_FIELD_NUMBER, &o->cap},
        {"population", ASSAY_FIELD_NUMBER, &o->population},
        {"data", ASSAY_FIELD_TEXT, &o->data},
        {"rest", ASSAY_FIELD_TEXT, &o->rest},
        {"plan", ASSAY_FIELD_FLAG, &o->plan},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    assay_status status = assay_fields_parse(table, argc, argv, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (o->experts == NULL || o->epsilon == NULL || o->delta == NULL ||
        (!o->plan && (o->ledger == NULL || o->out == NULL))) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs --experts --epsilon --delta --ledger and -o "
                          "(or --plan); see --help");
    }
    return o->rest != NULL && o->data == NULL
               ? assay_fail(err, ASSAY_INVALID, "--rest needs --data")
               : ASSAY_OK;
}

static assay_status set_params(assay_data_release_params *p, const options *o,
                               assay_error *err)
{
    static const char *const bars[] = {"printed", "monotone", "normalised",
                                       NULL};
    int bar = ASSAY_BAR_NORMALISED;
    assay_status status =
        assay_fields_word(&bar, o->threshold, "--threshold", bars, err);
    p->bar = (assay_stable_bar)bar;
    p->num_draws = o->draws;
    p->cap = o->cap;
    p->population = o->population;
    if (status == ASSAY_OK) {
        status = assay_rational_parse_positive(p->epsilon, o->epsilon,
                                               "--epsilon", err);
    }
    if (status == ASSAY_OK) {
        status =
            assay_rational_parse_positive(p->delta, o->delta, "--delta", err);
    }
    return status;
}

static json_t *describe(const assay_data_release_report *r, const options *o)
{
    char *step = assay_rational_text(r->plan.epsilon);
    char *slack = assay_rational_text(r->plan.delta);
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:f}",
        "notion", "approximate DP", "epsilon", o->epsilon, "delta", o->delta,
        "unit", "one expert", "neighbours", "add-remove", "over",
        "generation of the trajectories, given the experts; the environment "
        "is public",
        "draws", (json_int_t)r->plan.num_draws, "cap", (json_int_t)r->plan.cap,
        "epsilon_per_sparse_vector", step, "delta_per_draw", slack, "theorem",
        "stable-prefix (paper-proved)", "threshold_experts",
        (double)r->threshold / ASSAY_PREFIX_UNIT);
    free(step);
    free(slack);
    if (!o->plan && json != NULL) {
        (void)json_object_set_new(json, "prefixes",
                                  json_integer((json_int_t)r->num_prefixes));
        (void)json_object_set_new(json, "transitions",
                                  json_integer((json_int_t)r->num_rows));
    }
    return json;
}

static void show(const assay_data_release_report *r, const options *o,
                 json_t *json)
{
    char *text;
    if (o->json) {
        text = json_dumps(json, JSON_COMPACT);
        (void)printf("%s\n", text == NULL ? "{}" : text);
        free(text);
        return;
    }
    if (!o->plan) {
        (void)printf("%s: %zu prefixes, %zu transitions, longest %zu\n", o->out,
                     r->num_prefixes, r->num_rows, r->longest);
    }
    (void)printf("%llu draws, each twice epsilon' = %.6g; threshold %.2f "
                 "experts\n",
                 (unsigned long long)r->plan.num_draws,
                 mpq_get_d(r->plan.epsilon),
                 (double)r->threshold / ASSAY_PREFIX_UNIT);
    if (!o->plan && r->num_prefixes == 0) {
        (void)printf("nothing was stable: the budget is spent; fewer draws, "
                     "more experts or a larger epsilon lower the threshold\n");
    }
}

static assay_status write_guarantee(const char *out, json_t *json,
                                    assay_error *err)
{
    char path[4096];
    if (strlen(out) > sizeof path - 32) {
        return assay_fail(err, ASSAY_INVALID, "-o: too long a name");
    }
    (void)snprintf(path, sizeof path, "%s.guarantee.json", out);
    return json_dump_file(json, path, JSON_INDENT(2)) == 0
               ? ASSAY_OK
               : assay_fail(err, ASSAY_IO, "cannot write '%s'", path);
}

/* Pools from logged data; nothing is charged before both are safe. */
static assay_status
logged(assay_transitions *rows, assay_data_release_report *report,
       const assay_experts *experts, const assay_data_release_params *p,
       assay_custodian *custodian, const options *o, assay_error *err)
{
    assay_transitions all, pool, rest;
    assay_status status =
        assay_transitions_load(&all, o->data, assay_experts_dim(experts),
                               assay_experts_num_actions(experts), err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = p->num_draws > UINT32_MAX
                 ? assay_fail(err, ASSAY_INVALID, "--draws is too large")
                 : assay_data_release_split(&pool, &rest, &all,
                                            (uint32_t)p->num_draws, err);
    assay_transitions_clear(&all);
    if (status != ASSAY_OK) {
        return status;
    }
    if (o->rest != NULL) {
        status = assay_transitions_save(o->rest, &rest, err);
    }
    if (status == ASSAY_OK) {
        status = assay_data_release_logged(rows, report, experts, &pool, p,
                                           custodian, err);
    }
    assay_transitions_clear(&pool);
    assay_transitions_clear(&rest);
    return status;
}

static assay_status release(assay_data_release_report *report,
                            const assay_experts *experts,
                            const assay_data_release_params *p,
                            const options *o, assay_error *err)
{
    assay_custodian custodian;
    assay_transitions rows;
    assay_control env = {0};
    json_t *json = NULL;
    assay_status status = assay_custodian_init(&custodian, o->ledger, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (o->data != NULL) {
        status = logged(&rows, report, experts, p, &custodian, o, err);
    } else {
        status = assay_control_find(&env, experts->env, NULL, err);
        if (status == ASSAY_OK) {
            status = assay_data_release_play(&rows, report, experts, &env, p,
                                             &custodian, err);
        }
    }
    assay_custodian_clear(&custodian);
    assay_control_clear(&env);
    if (status != ASSAY_OK) {
        return status;
    }
    json = describe(report, o);
    status = assay_transitions_save(o->out, &rows, err);
    if (status == ASSAY_OK) {
        status = write_guarantee(o->out, json, err);
    }
    if (status == ASSAY_OK) {
        show(report, o, json);
    }
    json_decref(json);
    assay_transitions_clear(&rows);
    return status;
}

static assay_status run(const options *o, assay_error *err)
{
    assay_data_release_params p;
    assay_data_release_report report;
    assay_experts *experts = NULL;
    assay_data_release_params_init(&p);
    assay_data_release_report_init(&report);
    assay_status status = set_params(&p, o, err);
    if (status == ASSAY_OK) {
        status = assay_experts_load(&experts, o->experts, err);
    }
    if (status == ASSAY_OK && o->plan) {
        status =
            assay_data_release_plan(&report, &p, assay_experts_p_min(experts),
                                    assay_experts_num_actions(experts), err);
        if (status == ASSAY_OK) {
            json_t *json = describe(&report, o);
            show(&report, o, json);
            json_decref(json);
        }
    } else if (status == ASSAY_OK) {
        status = release(&report, experts, &p, o, err);
    }
    assay_experts_free(experts);
    assay_data_release_report_clear(&report);
    assay_data_release_params_clear(&p);
    return status;
}

int assay_cli_experts_release(int argc, char **argv)
{
    options o = {.threshold = "normalised", .draws = 25, .cap = 200};
    assay_error err = ASSAY_ERROR_INIT;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    assay_status status = parse(&o, argc, argv, &err);
    if (status == ASSAY_OK) {
        status = run(&o, &err);
    }
    return status == ASSAY_OK ? 0 : assay_cli_report("experts release", &err);
}
