/* ring: glue */
/**
 * Options of a subcommand, the same way everywhere: `--name VALUE`,
 * `--name=VALUE` or a flag `--name`; everything else is a plain argument.
 */
#ifndef ASSAY_CLI_OPTIONS_H
#define ASSAY_CLI_OPTIONS_H

#include <stddef.h>

#include "core/error.h"

typedef struct assay_option {
    const char *name; /* "--sigma2" or "-n" */
    int takes_value;
    const char *value; /* set by parsing: the value, or "" for a flag */
} assay_option;

/**
 * Fills the values of `options` (ends with a NULL name) and collects the plain
 * arguments (at most `max_plain`). An unknown or repeated option, a missing
 * value or one plain argument too many is ASSAY_INVALID.
 */
assay_status assay_options_parse(assay_option *options, const char **plain,
                                 size_t max_plain, size_t *num_plain, int argc,
                                 char **argv,
                                 assay_error *err) ASSAY_MUST_CHECK;

#endif
