/* ring: glue */
/**
 * What a verification found: one line per question.
 */
#ifndef ASSAY_CERTIFICATE_FINDINGS_H
#define ASSAY_CERTIFICATE_FINDINGS_H

#include <jansson.h>

typedef enum assay_finding {
    ASSAY_HOLDS,
    ASSAY_FAILS,
    ASSAY_NOT_CHECKED
} assay_finding;

/** An array of {"check", "result", "detail"}; results are "holds", "fails",
 *  "not checked". */
void assay_findings_add(json_t *findings, const char *check,
                        assay_finding result, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** How many fail. */
int assay_findings_failed(const json_t *findings);

#endif
