/* ring: glue */
#include "cli/commands.h"

#include <stddef.h>
#include <stdio.h>

const assay_command assay_commands[] = {
    {"account", "a list of events to a guarantee", assay_cli_account},
    {"audit", "attack a mechanism, report what was proved", assay_cli_audit},
    {"calibrate", "the smallest noise or the most steps for a target",
     assay_cli_calibrate},
    {"certify", "run a deployment and certify it", assay_cli_certify},
    {"data", "generate synthetic trajectories", assay_cli_data},
    {"env", "compute recorded trajectories again", assay_cli_env},
    {"evaluate", "the value of a policy from episodes, privately",
     assay_cli_evaluate},
    {"evaluate-policy", "the exact value of a policy",
     assay_cli_evaluate_policy},
    {"experts", "train experts, release stable prefixes of their data",
     assay_cli_experts},
    {"keygen", "make a signing key", assay_cli_keygen},
    {"learn", "learn a private policy from trajectories", assay_cli_learn},
    {"ledger", "create, show, verify or export a ledger", assay_cli_ledger},
    {"release", "private answers to questions about a CSV file",
     assay_cli_release},
    {"sample", "draw exact noise from a named law", assay_cli_sample},
    {"simulate", "regret of online learners", assay_cli_simulate},
    {"verify", "check a certificate again", assay_cli_verify},
    {NULL, NULL, NULL},
};

int assay_cli_report(const char *name, const assay_error *err)
{
    if (err->line > 0) {
        (void)fprintf(stderr, "assay %s: line %d, column %d: %s\n", name,
                      err->line, err->column, err->message);
    } else {
        (void)fprintf(stderr, "assay %s: %s\n", name, err->message);
    }
    return assay_status_exit_code(err->status);
}
