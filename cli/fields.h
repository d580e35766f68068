/* ring: glue */
/**
 * A table of long options with the place where each value goes.
 */
#ifndef ASSAY_CLI_FIELDS_H
#define ASSAY_CLI_FIELDS_H

#include <stddef.h>

#include "core/error.h"

typedef enum assay_field_kind {
    ASSAY_FIELD_TEXT = 0, /* at: const char ** */
    ASSAY_FIELD_NUMBER,   /* at: uint64_t *    */
    ASSAY_FIELD_REAL,     /* at: double *, from exact text */
    ASSAY_FIELD_FLAG      /* at: int *         */
} assay_field_kind;

typedef struct assay_field {
    const char *name;
    assay_field_kind kind;
    void *at;
} assay_field;

/** Reads all of argv[1..]; the table ends with a NULL name, a first row
 *  `output` is also `-o`. Words that are not options are refused. */
assay_status assay_fields_parse(const assay_field *table, int argc, char **argv,
                                assay_error *err) ASSAY_MUST_CHECK;

/** The same, and up to `max_plain` plain arguments in their order. */
assay_status assay_fields_parse_plain(const assay_field *table,
                                      const char **plain, size_t max_plain,
                                      size_t *num_plain, int argc, char **argv,
                                      assay_error *err) ASSAY_MUST_CHECK;

/** The place of `text` among `words` (NULL ends them). `what` names it in the
 *  message. */
assay_status assay_fields_word(int *out, const char *text, const char *what,
                               const char *const *words,
                               assay_error *err) ASSAY_MUST_CHECK;

/** 1 if some argument is --help or -h. */
int assay_fields_help(int argc, char **argv);

#endif
