/* ring: glue */
#include "certificate/foreign.h"

#include "accountant/event.h"

assay_status assay_foreign_run(json_t **out, const assay_yaml *release,
                               assay_custodian *custodian, assay_error *err)
{
    assay_event event;
    const char *epsilon = assay_yaml_text(release, "epsilon");
    assay_event_init(&event, ASSAY_PURE);
    assay_status status = assay_event_set(&event, "epsilon", epsilon, err);
    event.assumed = 1;
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event,
                                        assay_yaml_text(release, "name"), err);
    }
    if (status == ASSAY_OK) {
        *out = json_pack("{s:s,s:s}", "claimedEpsilon", epsilon, "note",
                         "nothing is published before the audit");
        if (*out == NULL) {
            status = assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
        }
    }
    assay_event_clear(&event);
    return status;
}
