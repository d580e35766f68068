/* ring: glue */
#include "certificate/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assay_text_clear(assay_text *text)
{
    free(text->bytes);
    *text = (assay_text)ASSAY_TEXT_INIT;
}

static int reserve(assay_text *text, size_t more)
{
    size_t need = text->len + more + 1;
    if (text->failed) {
        return 0;
    }
    if (need <= text->capacity) {
        return 1;
    }
    size_t capacity = need < 512 ? 1024 : 2 * need;
    char *bytes = realloc(text->bytes, capacity);
    if (bytes == NULL) {
        text->failed = 1;
        return 0;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return 1;
}

void assay_text_add_bytes(assay_text *text, const void *bytes, size_t len)
{
    if (!reserve(text, len)) {
        return;
    }
    memcpy(text->bytes + text->len, bytes, len);
    text->len += len;
    text->bytes[text->len] = '\0';
}

void assay_text_add(assay_text *text, const char *more)
{
    assay_text_add_bytes(text, more, strlen(more));
}

void assay_text_printf(assay_text *text, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len >= 0 && reserve(text, (size_t)len)) {
        (void)vsnprintf(text->bytes + text->len, (size_t)len + 1, format,
                        again);
        text->len += (size_t)len;
    }
    va_end(again);
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

void assay_text_html(assay_text *text, const char *more)
{
    if (more == NULL) {
        return;
    }
    for (; *more != '\0'; more++) {
        const char *safe = entity(*more);
        char c = (unsigned char)*more < 32 ? ' ' : *more;
        if (safe != NULL) {
            assay_text_add(text, safe);
        } else {
            assay_text_add_bytes(text, &c, 1);
        }
    }
}
