/* ring: glue */
#include "core/error.h"

#undef assay_fail
#undef assay_fail_at

#include <stdarg.h>
#include <stdio.h>

static void keep_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            *text = '?';
        }
    }
}

static assay_status record(assay_error *err, assay_status status, int line,
                           int column, const char *format, va_list args)
{
    if (err != NULL) {
        err->status = status;
        err->line = line;
        err->column = column;
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        keep_one_line(err->message);
    }
    return status;
}

assay_status assay_fail(assay_error *err, assay_status status,
                        const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(err, status, 0, 0, format, args);
    va_end(args);
    return status;
}

assay_status assay_fail_at(assay_error *err, assay_status status, int line,
                           int column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(err, status, line, column, format, args);
    va_end(args);
    return status;
}

const char *assay_status_name(assay_status status)
{
    static const char *const names[] = {
        "ok", "again",  "invalid",     "range",   "entropy", "memory",
        "io", "budget", "unsupported", "corrupt", "refuted", "internal"};
    if ((unsigned)status >= sizeof names / sizeof names[0]) {
        return "unknown";
    }
    return names[status];
}

int assay_status_exit_code(assay_status status)
{
    switch (status) {
    case ASSAY_OK:
        return 0;
    case ASSAY_INVALID:
    case ASSAY_RANGE:
    case ASSAY_UNSUPPORTED:
        return 2;
    case ASSAY_BUDGET:
        return 3;
    case ASSAY_CORRUPT:
    case ASSAY_REFUTED:
        return 4;
    default:
        return 1;
    }
}
