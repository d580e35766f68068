/* ring: glue */
/* assay experts: behaviour policies whose owners are protected. */
#include "cli/experts.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const assay_command VERBS[] = {
    {"demonstrate", "trajectories of every expert",
     assay_cli_experts_demonstrate},
    {"evaluate", "the return of a learned policy", assay_cli_experts_evaluate},
    {"release", "prefixes that enough experts would have produced",
     assay_cli_experts_release},
    {"train", "train experts on variants of an environment",
     assay_cli_experts_train},
    {NULL, NULL, NULL},
};

static void help(FILE *to)
{
    (void)fputs("usage: assay experts VERB ...\n\n", to);
    for (const assay_command *v = VERBS; v->name != NULL; v++) {
        (void)fprintf(to, "  %-12s %s\n", v->name, v->summary);
    }
    (void)fputs("\nassay experts VERB --help tells more, with examples\n", to);
}

int assay_cli_experts(int argc, char **argv)
{
    if (argc >= 2 &&
        (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        help(stdout);
        return 0;
    }
    for (const assay_command *v = VERBS; argc >= 2 && v->name != NULL; v++) {
        if (strcmp(argv[1], v->name) == 0) {
            return v->run(argc - 1, argv + 1);
        }
    }
    (void)fprintf(stderr, "assay experts: %s%s; see --help\n",
                  argc < 2 ? "expected a verb" : "no such verb: ",
                  argc < 2 ? "" : argv[1]);
    return 2;
}
