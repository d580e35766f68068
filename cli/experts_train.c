/* ring: glue */
/* assay experts train, assay experts demonstrate. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/ppo.h"
#include "algorithms/rollout.h"
#include "cli/commands.h"
#include "cli/experts.h"
#include "cli/fields.h"
#include "core/progress.h"

static const char *const TRAIN_HELP =
    "usage: assay experts train --env NAME -o EXPERTS.bin [options]\n"
    "\n"
    "Trains base policies by PPO on the default environment, then every "
    "expert\n"
    "from one of them on a variant of its own (gravity, force and mass of\n"
    "CartPole; length and masses of Acrobot; gravity, wind and turbulence of\n"
    "LunarLander; a grid of 1000; the two drugs' penalties of HIV, 100).\n"
    "\n"
    "  --env NAME        cartpole, acrobot, lunarlander, hiv-dt20, hiv-dt5\n"
    "  --count N         experts (default 300; the paper has 3000)\n"
    "  --seed N          the result depends on it, not on --threads\n"
    "  --bases N         base policies (default 8)\n"
    "  --iterations N    of a base policy, 2048 steps each (default 80)\n"
    "  --own N           of every expert (default 2)\n"
    "  --hidden N        width of the two hidden layers (default 32)\n"
    "  --p-min X         least probability of an action (default 0.02)\n"
    "  --softening WORD  greedy (default, as the paper) or softmax\n"
    "  --scripted X      no training: linear rules, moved by the share X\n"
    "  --threads N       default 2\n"
    "  --json            one line of JSON\n"
    "\n"
    "examples:\n"
    "  assay experts train --env cartpole --count 3000 -o experts.bin\n"
    "  assay experts train --env acrobot --scripted 0.2 --count 20 -o e.bin\n";

static const char *const SHOW_HELP =
    "usage: assay experts demonstrate --experts EXPERTS.bin -o DATA.csv\n"
    "         [--trajectories N] [--cap N] [--seed N] [--json]\n"
    "\n"
    "Trajectories of every expert in the default environment, as a CSV file\n"
    "(or as a checkpoint if the name ends in .bin). Defaults: 2 trajectories,\n"
    "at most 200 steps.\n"
    "\n"
    "example:\n"
    "  assay experts demonstrate --experts experts.bin -o data.bin\n";

typedef struct train_options {
    const char *env, *out, *softening;
    uint64_t count, seed, bases, base, own, hidden, threads;
    double p_min, scripted;
    int json;
} train_options;

static assay_status train_parse(train_options *o, int argc, char **argv,
                                assay_error *err)
{
    const assay_field table[] = {
        {"output", ASSAY_FIELD_TEXT, &o->out},
        {"env", ASSAY_FIELD_TEXT, &o->env},
        {"count", ASSAY_FIELD_NUMBER, &o->count},
        {"seed", ASSAY_FIELD_NUMBER, &o->seed},
        {"bases", ASSAY_FIELD_NUMBER, &o->bases},
        {"iterations", ASSAY_FIELD_NUMBER, &o->base},
        {"own", ASSAY_FIELD_NUMBER, &o->own},
        {"hidden", ASSAY_FIELD_NUMBER, &o->hidden},
        {"p-min", ASSAY_FIELD_REAL, &o->p_min},
        {"softening", ASSAY_FIELD_TEXT, &o->softening},
        {"scripted", ASSAY_FIELD_REAL, &o->scripted},
        {"threads", ASSAY_FIELD_NUMBER, &o->threads},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    assay_status status = assay_fields_parse(table, argc, argv, err);
    if (status == ASSAY_OK && (o->env == NULL || o->out == NULL)) {
        status =
            assay_fail(err, ASSAY_INVALID, "needs --env and -o; see --help");
    }
    if (status == ASSAY_OK &&
        (o->count < 1 || o->count > ASSAY_EXPERTS_MAX || o->base > 100000 ||
         o->own > 100000 || o->hidden < 1 ||
         o->hidden > ASSAY_NETWORK_MAX_WIDTH || o->threads < 1)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "--count is 1 to %d, --hidden 1 to %d, --threads "
                            "at least 1",
                            ASSAY_EXPERTS_MAX, ASSAY_NETWORK_MAX_WIDTH);
    }
    return status;
}

static void show_progress(void *context, size_t done)
{
    assay_progress_update(context, done, NULL);
}

static assay_status train(assay_experts **out, const train_options *o,
                          assay_error *err)
{
    static const char *const words[] = {"greedy", "softmax", NULL};
    assay_training t;
    assay_progress meter;
    int softening = 0;
    assay_status status =
        assay_fields_word(&softening, o->softening, "--softening", words, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (o->scripted >= 0.0) {
        return assay_experts_scripted(out, o->env, o->count, o->p_min,
                                      o->scripted, o->seed, err);
    }
    if (strcmp(o->env, "mountaincar") == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "experts are not trained on mountaincar: it has no "
                          "variants");
    }
    assay_training_init(&t, o->env);
    t.count = o->count;
    t.hidden = o->hidden;
    t.p_min = o->p_min;
    t.softening = (assay_softening)softening;
    t.num_bases = o->bases;
    t.base_iterations = (unsigned)o->base;
    t.own_iterations = (unsigned)o->own;
    t.seed = o->seed;
    t.threads = (unsigned)(o->threads > 64 ? 64 : o->threads);
    t.progress = show_progress;
    t.context = &meter;
    assay_progress_start(&meter, "experts", o->count);
    status = assay_training_run(out, &t, err);
    assay_progress_finish(&meter);
    return status;
}

int assay_cli_experts_train(int argc, char **argv)
{
    train_options o = {.softening = "greedy",
                       .count = 300,
                       .seed = 1,
                       .bases = 8,
                       .base = 80,
                       .own = 2,
                       .hidden = 32,
                       .threads = 2,
                       .p_min = 0.02,
                       .scripted = -1.0};
    assay_experts *experts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(TRAIN_HELP, stdout);
        return 0;
    }
    status = train_parse(&o, argc, argv, &err);
    if (status == ASSAY_OK) {
        status = train(&experts, &o, &err);
    }
    if (status == ASSAY_OK) {
        status = assay_experts_save(o.out, experts, &err);
    }
    if (status == ASSAY_OK) {
        (void)printf(o.json ? "{\"experts\": %zu, \"environment\": \"%s\", "
                              "\"file\": \"%s\"}\n"
                            : "%zu experts of %s in %s\n",
                     assay_experts_count(experts), o.env, o.out);
    }
    assay_experts_free(experts);
    return status == ASSAY_OK ? 0 : assay_cli_report("experts train", &err);
}

typedef struct show_options {
    const char *experts, *out;
    uint64_t trajectories, cap, seed;
    int json;
} show_options;

static assay_status show_parse(show_options *o, int argc, char **argv,
                               assay_error *err)
{
    const assay_field table[] = {
        {"output", ASSAY_FIELD_TEXT, &o->out},
        {"experts", ASSAY_FIELD_TEXT, &o->experts},
        {"trajectories", ASSAY_FIELD_NUMBER, &o->trajectories},
        {"cap", ASSAY_FIELD_NUMBER, &o->cap},
        {"seed", ASSAY_FIELD_NUMBER, &o->seed},
        {"json", ASSAY_FIELD_FLAG, &o->json},
        {NULL, ASSAY_FIELD_TEXT, NULL},
    };
    assay_status status = assay_fields_parse(table, argc, argv, err);
    if (status == ASSAY_OK &&
        (o->experts == NULL || o->out == NULL || o->trajectories < 1 ||
         o->cap < 1 || o->trajectories > 1000000 || o->cap > 1000000)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "needs --experts, -o, and 1 to 1000000 "
                            "--trajectories and --cap");
    }
    return status;
}

static double mean_return(const assay_transitions *rows, size_t num)
{
    double sum = 0.0;
    for (size_t i = 0; i < rows->num_rows; i++) {
        sum += rows->rewards[i];
    }
    return num == 0 ? 0.0 : sum / (double)num;
}

static assay_status demonstrate(const show_options *o, assay_error *err)
{
    assay_experts *experts = NULL;
    assay_transitions rows;
    assay_control env = {0};
    double mean;
    assay_status status = assay_experts_load(&experts, o->experts, err);
    assay_transitions_init(&rows, 1, 1);
    if (status == ASSAY_OK) {
        status = assay_control_find(&env, experts->env, NULL, err);
    }
    if (status == ASSAY_OK) {
        status =
            assay_rollout_all(&rows, experts, &env, (uint32_t)o->trajectories,
                              (int)o->cap, o->seed, err);
    }
    if (status == ASSAY_OK) {
        status = assay_transitions_save(o->out, &rows, err);
    }
    if (status == ASSAY_OK) {
        mean = mean_return(&rows, experts->count * o->trajectories);
        (void)printf(o->json ? "{\"rows\": %zu, \"mean_return\": %.6g}\n"
                             : "%zu transitions, mean return %.6g\n",
                     rows.num_rows, mean);
    }
    assay_transitions_clear(&rows);
    assay_control_clear(&env);
    assay_experts_free(experts);
    return status;
}

int assay_cli_experts_demonstrate(int argc, char **argv)
{
    show_options o = {NULL, NULL, 2, 200, 1, 0};
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    if (assay_fields_help(argc, argv)) {
        (void)fputs(SHOW_HELP, stdout);
        return 0;
    }
    status = show_parse(&o, argc, argv, &err);
    if (status == ASSAY_OK) {
        status = demonstrate(&o, &err);
    }
    return status == ASSAY_OK ? 0
                              : assay_cli_report("experts demonstrate", &err);
}
