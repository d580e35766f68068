/* ring: glue */
/* assay env: recorded trajectories, computed again. */
#include <stdio.h>
#include <string.h>

#include "algorithms/control.h"
#include "algorithms/lander_replay.h"
#include "cli/commands.h"
#include "cli/options.h"

static const char HELP[] =
    "usage: assay env replay NAME FILE.csv [--only TAG] [--json]\n"
    "       assay env replay lunarlander FILE.json [--json]\n"
    "\n"
    "Recomputes every step of a recorded file from its recorded state and\n"
    "prints the largest deviation. NAME: cartpole, acrobot, mountaincar,\n"
    "hiv-dt20, hiv-dt5. The header is tag,seed,t,action,STATE...,reward\n"
    "[,terminated]; --only keeps the rows whose tag starts with TAG.\n"
    "LunarLander is flown from the start of each recorded episode with the\n"
    "recorded draws and actions: differences of the physics add up.\n"
    "\n"
    "  assay env replay mountaincar tests/data/environments/mountaincar.csv\n"
    "  assay env replay hiv-dt20 tests/data/environments/hiv_dt20.csv "
    "--only dt20-tight\n";

enum { ONLY, JSON, HELP_OPT };

static void print(const assay_replay *r, const char *name, int json)
{
    (void)printf(json ? "{\"environment\": \"%s\", \"steps\": %zu, "
                        "\"exact\": %zu, \"max_absolute\": %.3g, "
                        "\"max_relative\": %.3g, \"flags_wrong\": %zu}\n"
                      : "%s: %zu steps, %zu bit-exact, largest deviation %.3g "
                        "absolute, %.3g relative; reward or end differs in "
                        "%zu\n",
                 name, r->num_steps, r->num_exact, r->max_absolute,
                 r->max_relative, r->num_flags_wrong);
}

static int replay_lander(const char *path, int json)
{
    assay_lander_replay r;
    assay_error err = ASSAY_ERROR_INIT;
    if (assay_lander_replay_file(&r, path, &err) != ASSAY_OK) {
        return assay_cli_report("env", &err);
    }
    (void)printf(
        json ? "{\"environment\": \"lunarlander\", \"episodes\": %zu, "
               "\"steps\": %zu, \"exact\": %zu, \"first\": %.3g, "
               "\"flying_steps\": %zu, \"flying\": %.3g, "
               "\"flying_reward\": %.3g, \"after_contact\": %.3g, "
               "\"ends_alike\": %zu}\n"
             : "lunarlander: %zu episodes, %zu steps, %zu bit-exact; largest "
               "deviation %.3g at the start, over %zu steps of free flight "
               "%.3g (reward %.3g), after contact %.3g; %zu episodes end at "
               "the recorded step\n",
        r.num_episodes, r.num_steps, r.num_exact, r.first, r.num_flying,
        r.flying, r.flying_reward, r.after, r.ends_alike);
    return 0;
}

int assay_cli_env(int argc, char **argv)
{
    assay_option o[] = {[ONLY] = {"--only", 1, NULL},
                        [JSON] = {"--json", 0, NULL},
                        [HELP_OPT] = {"--help", 0, NULL},
                        {NULL, 0, NULL}};
    const char *plain[3] = {NULL, NULL, NULL};
    size_t num_plain = 0;
    assay_error err = ASSAY_ERROR_INIT;
    assay_replay replay;
    assay_status status =
        assay_options_parse(o, plain, 3, &num_plain, argc, argv, &err);
    if (status == ASSAY_OK && o[HELP_OPT].value != NULL) {
        (void)fputs(HELP, stdout);
        return 0;
    }
    if (status == ASSAY_OK &&
        (num_plain != 3 || strcmp(plain[0], "replay") != 0)) {
        status = assay_fail(&err, ASSAY_INVALID,
                            "usage: assay env replay NAME FILE.csv");
    }
    if (status == ASSAY_OK && strcmp(plain[1], "lunarlander") == 0) {
        return replay_lander(plain[2], o[JSON].value != NULL);
    }
    if (status == ASSAY_OK) {
        status = assay_control_replay(&replay, plain[1], plain[2],
                                      o[ONLY].value, &err);
    }
    if (status != ASSAY_OK) {
        return assay_cli_report("env", &err);
    }
    print(&replay, plain[1], o[JSON].value != NULL);
    return 0;
}
