/* ring: glue */
#include "certificate/sentence.h"

#include <string.h>

#include "certificate/canonical.h"
#include "certificate/text.h"

char *assay_sentence(const json_t *guarantee)
{
    assay_text out = ASSAY_TEXT_INIT;
    const char *unit = assay_json_text(guarantee, "unit");
    const char *trust = assay_json_text(guarantee, "trust");
    const char *epsilon = assay_json_text(guarantee, "epsilonDecimal");
    const char *delta = assay_json_text(guarantee, "deltaDecimal");
    const char *relation = assay_json_text(guarantee, "neighbours");
    if (unit == NULL || trust == NULL || epsilon == NULL || delta == NULL ||
        relation == NULL) {
        return NULL;
    }
    assay_text_printf(&out,
                      "Whatever else is known: %s one %s changes the "
                      "probability of any set of published results by a "
                      "factor of at most exp(%s)",
                      strcmp(relation, "replace-one") == 0
                          ? "replacing"
                          : "adding or removing",
                      unit, epsilon);
    if (strcmp(delta, "0") != 0) {
        assay_text_printf(&out, ", plus at most %s", delta);
    }
    if (strcmp(trust, "joint") == 0) {
        assay_text_add(&out, "; the results are what all other participants "
                             "see");
    } else if (strcmp(trust, "local") == 0) {
        assay_text_add(&out, "; it is protected before it leaves its owner");
    }
    assay_text_add(&out, ".");
    if (out.failed) {
        assay_text_clear(&out);
    }
    return out.bytes;
}
