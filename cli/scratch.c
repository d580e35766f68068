/* ring: glue */
#include "cli/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accountant/ledger.h"

static assay_status make_ledger(assay_scratch *s, int replace, assay_error *err)
{
    assay_budget budget;
    assay_status status;
    const char *root = getenv("TMPDIR");
    int n =
        snprintf(s->directory, sizeof s->directory, "%s/assay-simulate-XXXXXX",
                 root != NULL && root[0] != '\0' ? root : "/tmp");
    if (n < 0 || (size_t)n >= sizeof s->directory) {
        s->directory[0] = '\0';
        return assay_fail(err, ASSAY_IO, "TMPDIR is too long");
    }
    if (mkdtemp(s->directory) == NULL) {
        s->directory[0] = '\0';
        return assay_fail(err, ASSAY_IO, "no temporary directory");
    }
    (void)snprintf(s->path, sizeof s->path, "%s/ledger.db", s->directory);
    assay_budget_init(&budget);
    budget.neighbours = replace ? ASSAY_REPLACE_ONE : ASSAY_ADD_REMOVE;
    budget.has_epsilon = 1;
    mpz_ui_pow_ui(mpq_numref(budget.epsilon), 10, 40);
    mpq_set_ui(budget.delta, 1, 1000);
    status = assay_ledger_create(s->path, &budget, "simulated users", err);
    assay_budget_clear(&budget);
    return status;
}

assay_status assay_scratch_open(assay_scratch *scratch, const char *ledger,
                                int replace, assay_error *err)
{
    assay_status status = ASSAY_OK;
    memset(scratch, 0, sizeof *scratch);
    if (ledger == NULL) {
        status = make_ledger(scratch, replace, err);
        ledger = scratch->path;
    }
    if (status == ASSAY_OK) {
        status = assay_custodian_init(&scratch->custodian, ledger, err);
        scratch->open = status == ASSAY_OK;
    }
    return status;
}

void assay_scratch_close(assay_scratch *scratch)
{
    static const char *const tails[] = {"", "-wal", "-shm", "-journal"};
    char name[560];
    if (scratch->open) {
        assay_custodian_clear(&scratch->custodian);
        scratch->open = 0;
    }
    if (scratch->directory[0] == '\0') {
        return;
    }
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        (void)snprintf(name, sizeof name, "%s%s", scratch->path, tails[i]);
        (void)unlink(name);
    }
    (void)rmdir(scratch->directory);
    scratch->directory[0] = '\0';
}
