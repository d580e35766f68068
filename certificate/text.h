/* ring: glue */
/**
 * A growing text. After a failed allocation it stays marked `failed` and
 * ignores everything; ask once at the end.
 */
#ifndef ASSAY_CERTIFICATE_TEXT_H
#define ASSAY_CERTIFICATE_TEXT_H

#include <stddef.h>

typedef struct assay_text {
    char *bytes; /* NUL-terminated once something was added */
    size_t len;
    size_t capacity;
    int failed;
} assay_text;

#define ASSAY_TEXT_INIT                                                        \
    {                                                                          \
        NULL, 0, 0, 0                                                          \
    }

void assay_text_clear(assay_text *text);
void assay_text_add(assay_text *text, const char *more);
void assay_text_add_bytes(assay_text *text, const void *bytes, size_t len);
void assay_text_printf(assay_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** HTML: & < > " become entities; control characters become spaces. */
void assay_text_html(assay_text *text, const char *more);

#endif
