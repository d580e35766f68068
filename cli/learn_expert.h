/* ring: glue */
/**
 * The part of `assay learn` that learns from experts.
 */
#ifndef ASSAY_CLI_LEARN_EXPERT_H
#define ASSAY_CLI_LEARN_EXPERT_H

/** 1 for selective-dp-sgd, cql and bcq. */
int assay_cli_is_expert(const char *learner);

/** argv[0] is the learner's name; returns the exit code. */
int assay_cli_learn_expert(int argc, char **argv);

#endif
