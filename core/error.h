/* ring: glue */
/**
 * Error messages: the cause and the remedy, in one line, owned by the caller.
 */
#ifndef ASSAY_CORE_ERROR_H
#define ASSAY_CORE_ERROR_H

#include "core/status.h"

#define ASSAY_ERROR_LEN 512

typedef struct assay_error {
    assay_status status;
    int line;   /* 1-based place in an input file, 0 if none */
    int column; /* 1-based, 0 if none */
    char message[ASSAY_ERROR_LEN];
} assay_error;

#define ASSAY_ERROR_INIT                                                       \
    {                                                                          \
        ASSAY_OK, 0, 0,                                                        \
        {                                                                      \
            0                                                                  \
        }                                                                      \
    }

/**
 * Record a failure and return its status, so that a function can end with
 * `return assay_fail(err, ASSAY_INVALID, "...")`. `err` may be NULL. Control
 * characters in the message become '?', so it stays one line.
 */
assay_status assay_fail(assay_error *err, assay_status status,
                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The same, with a place in an input file. */
assay_status assay_fail_at(assay_error *err, assay_status status, int line,
                           int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#ifdef __clang_analyzer__ /* tell it what they return */
#define assay_fail(err, status, ...)                                           \
    ((void)(assay_fail)(err, status, __VA_ARGS__), (status))
#define assay_fail_at(err, status, line, column, ...)                          \
    ((void)(assay_fail_at)(err, status, line, column, __VA_ARGS__), (status))
#endif

/** "invalid", "entropy", ...: the stable name of a status. */
const char *assay_status_name(assay_status status);

/**
 * The process exit code of a status: 0 for OK, 2 for bad input (INVALID,
 * RANGE, UNSUPPORTED), 3 when the budget is gone, 4 when something was refuted
 * or fails its own check, 1 for everything else.
 */
int assay_status_exit_code(assay_status status);

#endif
