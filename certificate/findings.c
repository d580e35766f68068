/* ring: glue */
#include "certificate/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"holds", "fails", "not checked"};

void assay_findings_add(json_t *findings, const char *check,
                        assay_finding result, const char *format, ...)
{
    char detail[600];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    for (char *at = detail; *at != '\0'; at++) {
        /* stays ASCII, so that cutting cannot break a letter */
        *at = (unsigned char)*at < 32 || (unsigned char)*at > 126 ? '?' : *at;
    }
    (void)json_array_append_new(
        findings, json_pack("{s:s,s:s,s:s}", "check", check, "result",
                            names[result], "detail", detail));
}

int assay_findings_failed(const json_t *findings)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const char *result = json_string_value(
            json_object_get(json_array_get(findings, i), "result"));
        n += strcmp(result, names[ASSAY_FAILS]) == 0;
    }
    return n;
}
