/* ring: glue */
#include "mechanisms/custodian.h"

#include <string.h>

#include "accountant/event.h"
#include "accountant/ledger.h"

assay_status assay_custodian_init(assay_custodian *custodian,
                                  const char *ledger_path, assay_error *err)
{
    memset(custodian, 0, sizeof *custodian);
    assay_status status = assay_tape_init(&custodian->tape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_ledger_open(&custodian->ledger, ledger_path, err);
    if (status != ASSAY_OK) {
        assay_custodian_clear(custodian);
    }
    return status;
}

assay_status assay_custodian_init_unsafe_recorded(assay_custodian *custodian,
                                                  const char *ledger_path,
                                                  const uint64_t *words,
                                                  size_t num_words,
                                                  assay_error *err)
{
    memset(custodian, 0, sizeof *custodian);
    assay_status status =
        assay_ledger_open(&custodian->ledger, ledger_path, err);
    if (status != ASSAY_OK) {
        memset(custodian, 0, sizeof *custodian);
        return status;
    }
    assay_tape_init_unsafe_recorded(&custodian->tape, words, num_words);
    return ASSAY_OK;
}

void assay_custodian_clear(assay_custodian *custodian)
{
    assay_ledger_close(custodian->ledger);
    custodian->ledger = NULL;
    assay_tape_clear(&custodian->tape);
}

assay_status assay_custodian_charge(assay_custodian *custodian,
                                    const assay_event *event, const char *label,
                                    assay_error *err)
{
    if (custodian->ledger == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "the custodian has no ledger: open one with "
                          "assay_custodian_init");
    }
    return assay_ledger_charge(custodian->ledger, event, label, err);
}

int assay_custodian_replaces(const assay_custodian *custodian)
{
    return custodian->ledger != NULL &&
           assay_ledger_budget(custodian->ledger)->neighbours ==
               ASSAY_REPLACE_ONE;
}
