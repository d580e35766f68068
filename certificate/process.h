/* ring: glue */
/**
 * Running another program: no shell, no inherited input.
 */
#ifndef ASSAY_CERTIFICATE_PROCESS_H
#define ASSAY_CERTIFICATE_PROCESS_H

#include "core/error.h"

/**
 * Runs argv (ends with NULL), writes `input` (may be NULL) to its standard
 * input, and returns its standard output in fresh memory with a NUL behind it.
 * Standard error is the caller's. `code` gets the exit code, 127 if the program
 * is not there.
 * Errors  ASSAY_IO, ASSAY_MEMORY.
 */
assay_status assay_process_run(char **out, int *code, char *const *argv,
                               const char *input,
                               assay_error *err) ASSAY_MUST_CHECK;

#endif
