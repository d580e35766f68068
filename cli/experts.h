/* ring: glue */
/**
 * The verbs of `assay experts`, one file each.
 */
#ifndef ASSAY_CLI_EXPERTS_H
#define ASSAY_CLI_EXPERTS_H

/* argv[0] is the verb; returns the exit code */
int assay_cli_experts_demonstrate(int argc, char **argv);
int assay_cli_experts_evaluate(int argc, char **argv);
int assay_cli_experts_release(int argc, char **argv);
int assay_cli_experts_train(int argc, char **argv);

#endif
