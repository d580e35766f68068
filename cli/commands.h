/* ring: glue */
/**
 * The table of subcommands: one file each, no logic of their own.
 */
#ifndef ASSAY_CLI_COMMANDS_H
#define ASSAY_CLI_COMMANDS_H

#include "core/error.h"

typedef struct assay_command {
    const char *name;
    const char *summary;
    /* argv[0] is the subcommand's name; returns the exit code */
    int (*run)(int argc, char **argv);
} assay_command;

/* Ends with a row whose name is NULL (cli/commands.c). */
extern const assay_command assay_commands[];

/** Prints "assay NAME: message" (with line and column if known) to standard
 *  error and returns the exit code of the status. */
int assay_cli_report(const char *name, const assay_error *err);

int assay_cli_account(int argc, char **argv);
int assay_cli_audit(int argc, char **argv);
int assay_cli_calibrate(int argc, char **argv);
int assay_cli_certify(int argc, char **argv);
int assay_cli_data(int argc, char **argv);
int assay_cli_env(int argc, char **argv);
int assay_cli_evaluate(int argc, char **argv);
int assay_cli_evaluate_policy(int argc, char **argv);
int assay_cli_experts(int argc, char **argv);
int assay_cli_keygen(int argc, char **argv);
int assay_cli_learn(int argc, char **argv);
int assay_cli_ledger(int argc, char **argv);
int assay_cli_release(int argc, char **argv);
int assay_cli_sample(int argc, char **argv);
int assay_cli_simulate(int argc, char **argv);
int assay_cli_verify(int argc, char **argv);

#endif
