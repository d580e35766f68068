/* ring: glue */
/* Mechanisms of the audit's collection, under the claim of a manifest. */
#include <string.h>

#include "audit/catalogue.h"
#include "certificate/attack_result.h"
#include "certificate/attack_run.h"

int assay_attack_has_specimen(const char *name)
{
    return assay_specimen_find(name) != NULL;
}

assay_status assay_attack_specimen(json_t **out, const char *name,
                                   const mpq_t epsilon, uint64_t runs,
                                   const mpq_t confidence, assay_error *err)
{
    const assay_specimen *found = assay_specimen_find(name);
    assay_catalogue_row row;
    if (found == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "the audit knows no mechanism '%.60s'", name);
    }
    assay_specimen claimed = *found;
    claimed.claim =
        (assay_claim){ASSAY_CLAIM_EPS, assay_attack_double(epsilon), 0};
    assay_status status = assay_catalogue_audit(&row, &claimed, runs,
                                                assay_attack_double(confidence),
                                                1, 0, "audit", err);
    if (status == ASSAY_OK) {
        *out = assay_attack_json(&row.result, "epsilon", epsilon);
        if (*out == NULL) {
            status = assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
        }
    }
    return status;
}
