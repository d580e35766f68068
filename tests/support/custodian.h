/* ring: glue */
/** A fresh ledger in a temporary directory and a custodian on it. */
#ifndef ASSAY_TESTS_SUPPORT_CUSTODIAN_H
#define ASSAY_TESTS_SUPPORT_CUSTODIAN_H

#include "mechanisms/custodian.h"

typedef struct test_vault {
    char directory[64];
    char path[96];
    assay_custodian custodian;
} test_vault;

/** Budgets are exact text, NULL for none; `replace` for replace-one. Ends the
 *  program on failure. */
void test_vault_open(test_vault *v, const char *epsilon, const char *delta,
                     const char *rho, int replace);
/** A planned budget of epsilon at delta, add-remove. */
void test_vault_open_planned(test_vault *v, const char *epsilon,
                             const char *delta);
/** As test_vault_open, with a recorded tape. */
void test_vault_open_recorded(test_vault *v, const char *epsilon,
                              const char *delta, const char *rho, int replace,
                              const uint64_t *words, size_t num_words);
/** Number of rows of the ledger, after its chain has been verified. */
uint64_t test_vault_rows(test_vault *v);
/** Spent epsilon (at the budget's delta) or rho as a double. */
double test_vault_spent_epsilon(test_vault *v);
double test_vault_spent_rho(test_vault *v);
/** Closes and removes. */
void test_vault_close(test_vault *v);

#endif
