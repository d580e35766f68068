/* ring: glue */
/**
 * The linear learners' part of `assay learn` and `assay simulate`.
 */
#ifndef ASSAY_CLI_LINEAR_H
#define ASSAY_CLI_LINEAR_H

/** 1 for dp-vapvi, vapvi and pevi. */
int assay_cli_is_linear(const char *learner);

/** argv[0] is the learner's name; returns the exit code. */
int assay_cli_learn_linear(int argc, char **argv);
int assay_cli_simulate_linear(int argc, char **argv);

#endif
