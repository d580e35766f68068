/* ring: glue */
/**
 * The custodian: a random tape and a ledger, the only object that can release.
 *
 * Every release does four things in this order: validate, charge durably,
 * draw, write. What can fail without knowing the data (parameters, memory,
 * tables) fails before the charge; after the charge only the tape can fail, and
 * then nothing is written. A process killed between charge and write has lost
 * the release and kept the charge.
 *
 * Budget  the ledger refuses a charge that would pass the budget
 *         (ASSAY_BUDGET): a filter, so the parameters of a release may depend
 *         on earlier outputs.
 * Threads one custodian per thread; custodians may share one ledger file.
 * Errors  on any error no output is written and nothing counts as unspent.
 *         No error depends on the data.
 */
#ifndef ASSAY_MECHANISMS_CUSTODIAN_H
#define ASSAY_MECHANISMS_CUSTODIAN_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "mechanisms/tape.h"

struct assay_ledger; /* accountant/ledger.h */
struct assay_event;  /* accountant/event.h  */

typedef struct assay_custodian {
    assay_tape tape;
    struct assay_ledger *ledger; /* a connection of its own to the file */
} assay_custodian;

/** Opens the ledger file (made by `assay ledger create`) and a tape. After an
 *  error there is nothing to clear. */
assay_status assay_custodian_init(assay_custodian *custodian,
                                  const char *ledger_path,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** Wipes the tape and closes the ledger. May be called twice. */
void assay_custodian_clear(assay_custodian *custodian);

/** A custodian that replays recorded words: for tests only, not private. */
assay_status assay_custodian_init_unsafe_recorded(
    assay_custodian *custodian, const char *ledger_path, const uint64_t *words,
    size_t num_words, assay_error *err) ASSAY_MUST_CHECK;

/**
 * Charge one event and return only when it is on disk. For mechanisms of this
 * room; a learner calls the releases.
 *
 * Errors  ASSAY_BUDGET (not charged), ASSAY_IO (perhaps charged: never drawn).
 */
assay_status assay_custodian_charge(assay_custodian *custodian,
                                    const struct assay_event *event,
                                    const char *label,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** 1 if the ledger counts replaced persons, 0 if added or removed ones: the
 *  relation under which the sensitivities of its releases are stated. */
int assay_custodian_replaces(const assay_custodian *custodian);

#endif
