/* ring: glue */
#include "tests/support/custodian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accountant/ledger.h"
#include "core/rational.h"

static void must(assay_status status, const assay_error *err)
{
    if (status != ASSAY_OK) {
        (void)fprintf(stderr, "test vault: %s\n", err->message);
        exit(99);
    }
}

static void make_ledger(test_vault *v, const char *epsilon, const char *delta,
                        const char *rho, int replace, int planned)
{
    assay_budget budget;
    assay_error err = ASSAY_ERROR_INIT;
    memset(v, 0, sizeof *v);
    /* memory-backed where there is such a place: a sync is then quick */
    (void)snprintf(v->directory, sizeof v->directory, "%s/assay.XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (mkdtemp(v->directory) == NULL) {
        perror("mkdtemp");
        exit(99);
    }
    (void)snprintf(v->path, sizeof v->path, "%s/ledger.db", v->directory);
    assay_budget_init(&budget);
    budget.planned = planned;
    budget.neighbours = replace ? ASSAY_REPLACE_ONE : ASSAY_ADD_REMOVE;
    if (epsilon != NULL) {
        budget.has_epsilon = 1;
        must(assay_rational_parse(budget.epsilon, epsilon, "epsilon", &err),
             &err);
        must(assay_rational_parse(budget.delta, delta, "delta", &err), &err);
    }
    if (rho != NULL) {
        budget.has_rho = 1;
        must(assay_rational_parse(budget.rho, rho, "rho", &err), &err);
    }
    must(assay_ledger_create(v->path, &budget, NULL, &err), &err);
    assay_budget_clear(&budget);
}

void test_vault_open(test_vault *v, const char *epsilon, const char *delta,
                     const char *rho, int replace)
{
    assay_error err = ASSAY_ERROR_INIT;
    make_ledger(v, epsilon, delta, rho, replace, 0);
    must(assay_custodian_init(&v->custodian, v->path, &err), &err);
}

void test_vault_open_planned(test_vault *v, const char *epsilon,
                             const char *delta)
{
    assay_error err = ASSAY_ERROR_INIT;
    make_ledger(v, epsilon, delta, NULL, 0, 1);
    must(assay_custodian_init(&v->custodian, v->path, &err), &err);
}

void test_vault_open_recorded(test_vault *v, const char *epsilon,
                              const char *delta, const char *rho, int replace,
                              const uint64_t *words, size_t num_words)
{
    assay_error err = ASSAY_ERROR_INIT;
    make_ledger(v, epsilon, delta, rho, replace, 0);
    must(assay_custodian_init_unsafe_recorded(&v->custodian, v->path, words,
                                              num_words, &err),
         &err);
}

uint64_t test_vault_rows(test_vault *v)
{
    uint64_t rows = 0;
    assay_error err = ASSAY_ERROR_INIT;
    must(assay_ledger_verify(v->custodian.ledger, &rows, &err), &err);
    return rows;
}

static double spent(test_vault *v, int rho)
{
    assay_budget s;
    assay_error err = ASSAY_ERROR_INIT;
    assay_budget_init(&s);
    must(assay_ledger_spent(&s, v->custodian.ledger, &err), &err);
    double value = mpq_get_d(rho ? s.rho : s.epsilon);
    assay_budget_clear(&s);
    return value;
}

double test_vault_spent_epsilon(test_vault *v)
{
    return spent(v, 0);
}

double test_vault_spent_rho(test_vault *v)
{
    return spent(v, 1);
}

void test_vault_close(test_vault *v)
{
    char name[128];
    const char *ends[] = {"", "-wal", "-shm", "-journal"};
    assay_custodian_clear(&v->custodian);
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(name, sizeof name, "%s%s", v->path, ends[i]);
        (void)unlink(name);
    }
    (void)rmdir(v->directory);
}
