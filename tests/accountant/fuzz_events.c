/* ring: glue */
/* libFuzzer target: the YAML event reader, then the cheap methods. No input may
   crash, leak, or give an epsilon that is not a number. */
#include <stdint.h>
#include <stdlib.h>

#include "accountant/event_yaml.h"
#include "accountant/guarantee.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_file file;
    if (assay_event_file_parse(&file, (const char *)data, size, &err) !=
        ASSAY_OK) {
        return 0;
    }
    assay_guarantee g;
    mpq_t delta;
    json_t *json = NULL;
    static const assay_account_options cheap = {.cheap = 1};
    mpq_init(delta);
    mpq_set_ui(delta, 1, 1000000);
    assay_guarantee_init(&g);
    if (assay_account(&g, &file.list, delta, &cheap, &err) == ASSAY_OK) {
        for (int i = 0; i < g.num_bounds; i++) {
            if (mpq_sgn(g.bounds[i].epsilon) < 0) {
                abort();
            }
        }
        if (assay_guarantee_to_json(&json, &g, &err) == ASSAY_OK) {
            json_decref(json);
        }
    }
    if (assay_event_list_to_json(&json, &file.list, &err) == ASSAY_OK) {
        assay_event_list again;
        if (assay_event_list_from_json(&again, json, &err) != ASSAY_OK) {
            abort(); /* what was read can be written and read again */
        }
        assay_event_list_clear(&again);
        json_decref(json);
    }
    assay_guarantee_clear(&g);
    mpq_clear(delta);
    assay_event_file_clear(&file);
    return 0;
}
