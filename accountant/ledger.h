/* ring: glue */
/**
 * The ledger: an SQLite file of charges against a budget.
 *
 * Rows are only ever appended, each chained to the one before by SHA-256. A
 * charge is one IMMEDIATE transaction with full sync: when it returns ASSAY_OK
 * it is on disk, whatever happens to the process afterwards. So a killed
 * process loses at most the release, never the charge. Many processes may
 * charge one ledger; the sum never passes the budget.
 *
 * Budget  rho: the exact sum of the events' rho. A filter in the full sense:
 * the events and their prices may depend on earlier outputs (zcdp-filter).
 *         (epsilon, delta): the best of the accountant's cheap methods for all
 *         events so far. Mechanisms may depend on earlier outputs; where their
 *         prices do too, so that outputs decide which method is the best, the
 *         failure probability is at most delta per method in play: take a rho
 *         budget then.
 *         A `planned` budget says that outputs never decide which events are
 *         charged or at what price. Then every method may be used, privacy-loss
 *         distributions too, which have no theorem for adaptive prices.
 *         With both, both must hold.
 */
#ifndef ASSAY_ACCOUNTANT_LEDGER_H
#define ASSAY_ACCOUNTANT_LEDGER_H

#include <gmp.h>
#include <jansson.h>
#include <stdint.h>

#include "accountant/event.h"

typedef struct assay_ledger assay_ledger;

typedef struct assay_budget {
    assay_neighbours neighbours;
    char unit[ASSAY_UNIT_LEN];
    int has_epsilon; /* then (epsilon, delta) is a limit */
    mpq_t epsilon;
    mpq_t delta;
    int has_rho; /* then rho is a limit */
    mpq_t rho;
    int planned; /* events and prices do not depend on outputs */
} assay_budget;

/** add-remove, "person", no limit yet; set at least one before creating. */
void assay_budget_init(assay_budget *budget);
void assay_budget_clear(assay_budget *budget);

/**
 * A new ledger file, durably; `path` must not exist. `note` (may be NULL) is
 * kept with it.
 * Errors  ASSAY_INVALID (no limit, delta >= 1), ASSAY_IO.
 */
assay_status assay_ledger_create(const char *path, const assay_budget *budget,
                                 const char *note,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** Errors  ASSAY_IO (no file), ASSAY_CORRUPT (not a ledger). */
assay_status assay_ledger_open(assay_ledger **out, const char *path,
                               assay_error *err) ASSAY_MUST_CHECK;
/** Without a handle left open; NULL is fine. */
void assay_ledger_close(assay_ledger *ledger);

/**
 * Charge one event durably. `label` (may be NULL) says what for.
 * Errors  ASSAY_BUDGET: it does not fit, nothing was written; ASSAY_INVALID,
 *         ASSAY_UNSUPPORTED: no theorem prices it; ASSAY_IO: not durable, treat
 *         it as not charged and release nothing.
 */
assay_status assay_ledger_charge(assay_ledger *ledger, const assay_event *event,
                                 const char *label,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** The same for many events in one transaction: all or none. */
assay_status assay_ledger_charge_all(assay_ledger *ledger,
                                     const assay_event *events,
                                     size_t num_events, const char *label,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** ASSAY_OK if the charge would fit now, ASSAY_BUDGET if not. */
assay_status assay_ledger_check(assay_ledger *ledger, const assay_event *event,
                                assay_error *err) ASSAY_MUST_CHECK;

/** The budget; valid until the ledger is closed. */
const assay_budget *assay_ledger_budget(const assay_ledger *ledger);

/** All events in order of charging; `out` is initialised by this call. */
assay_status assay_ledger_events(assay_event_list *out, assay_ledger *ledger,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** What is spent: rho (exact; has_rho 0 if some event has none) and epsilon at
 *  the budget's delta (upper bound; has_epsilon 0 without such a budget).
 *  `out` is initialised by the caller (assay_budget_init). */
assay_status assay_ledger_spent(assay_budget *out, assay_ledger *ledger,
                                assay_error *err) ASSAY_MUST_CHECK;
/** Budget minus spent, in the same way; never negative. */
assay_status assay_ledger_left(assay_budget *out, assay_ledger *ledger,
                               assay_error *err) ASSAY_MUST_CHECK;

/** Recomputes the chain and the totals. Errors  ASSAY_CORRUPT, naming the first
 *  row that is wrong. `num_rows` (may be NULL) gets the number of rows. */
assay_status assay_ledger_verify(assay_ledger *ledger, uint64_t *num_rows,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** The last row's chain hash as 64 hexadecimal digits and a NUL. */
assay_status assay_ledger_head(char out[65], assay_ledger *ledger,
                               assay_error *err) ASSAY_MUST_CHECK;

/** Everything: budget, rows with their hashes, head. */
assay_status assay_ledger_export(json_t **out, assay_ledger *ledger,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** Checks an export without the file: chain and head. */
assay_status assay_ledger_verify_export(const json_t *ledger,
                                        assay_error *err) ASSAY_MUST_CHECK;

#endif
