/* ring: glue */
/* The `assay` command: finds the subcommand and calls it. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static void usage(FILE *to)
{
    (void)fprintf(to,
                  "assay %s: certify private releases\n\n"
                  "usage: assay COMMAND [OPTIONS]\n\n",
                  ASSAY_VERSION);
    for (const assay_command *c = assay_commands; c->name != NULL; c++) {
        (void)fprintf(to, "  %-18s %s\n", c->name, c->summary);
    }
    (void)fprintf(to,
                  "\n`assay COMMAND --help` shows its options and examples.\n"
                  "Exit codes: 0 done, 1 failure, 2 bad input, 3 budget gone, "
                  "4 refuted or corrupt.\n");
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        (void)printf("assay %s\n", ASSAY_VERSION);
        return 0;
    }
    for (const assay_command *c = assay_commands; c->name != NULL; c++) {
        if (strcmp(c->name, argv[1]) == 0) {
            return c->run(argc - 1, argv + 1);
        }
    }
    (void)fprintf(stderr,
                  "assay: unknown command '%.40s'; see `assay --help`\n",
                  argv[1]);
    return 2;
}
