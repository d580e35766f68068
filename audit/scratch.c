/* ring: glue */
#include "audit/scratch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "accountant/ledger.h"
#include "core/bytes.h"

static assay_status make_ledger(assay_scratch *s, assay_neighbours neighbours,
                                int in_rho, assay_error *err)
{
    assay_budget budget;
    /* nobody needs it after a crash: memory is good enough, and syncs there
       are quick */
    const char *quick = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    assay_status status = assay_temporary_folder(s->folder, sizeof s->folder,
                                                 "assay-scratch", quick, err);
    if (status != ASSAY_OK) {
        return status;
    }
    (void)snprintf(s->path, sizeof s->path, "%s/ledger.db", s->folder);
    assay_budget_init(&budget);
    budget.neighbours = neighbours;
    budget.has_rho = in_rho;
    budget.has_epsilon = !in_rho;
    mpz_ui_pow_ui(mpq_numref(in_rho ? budget.rho : budget.epsilon), 10, 40);
    mpq_set_ui(budget.delta, in_rho ? 0 : 1, 1000);
    status = assay_ledger_create(s->path, &budget, "made-up people", err);
    assay_budget_clear(&budget);
    return status;
}

assay_status assay_scratch_open(assay_scratch *scratch, const char *ledger,
                                assay_neighbours neighbours, int in_rho,
                                assay_error *err)
{
    assay_status status = ASSAY_OK;
    memset(scratch, 0, sizeof *scratch);
    if (ledger == NULL) {
        status = make_ledger(scratch, neighbours, in_rho, err);
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
    char name[300];
    if (scratch->open) {
        assay_custodian_clear(&scratch->custodian);
        scratch->open = 0;
    }
    if (scratch->folder[0] == '\0') {
        return;
    }
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        (void)snprintf(name, sizeof name, "%s%s", scratch->path, tails[i]);
        (void)unlink(name);
    }
    (void)rmdir(scratch->folder);
    scratch->folder[0] = '\0';
}
