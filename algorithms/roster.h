/* ring: glue */
/**
 * Who has contributed which steps: a hash table from a user's number to the
 * set of steps seen, in shards with a lock each so that threads can share it.
 */
#ifndef ASSAY_ALGORITHMS_ROSTER_H
#define ASSAY_ALGORITHMS_ROSTER_H

#include <stdint.h>

#include "core/error.h"

typedef struct assay_roster assay_roster;

assay_status assay_roster_new(assay_roster **out, uint32_t horizon,
                              uint64_t max_users,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_roster_free(assay_roster *roster);

typedef enum assay_roster_mark {
    ASSAY_ROSTER_NEW,       /* noted                        */
    ASSAY_ROSTER_DUPLICATE, /* this user had this step      */
    ASSAY_ROSTER_FULL,      /* more users than are allowed  */
    ASSAY_ROSTER_MEMORY
} assay_roster_mark;

/** Notes that `user` has step h (from 0) from s to s_next; `line` is kept for
 *  messages. */
assay_roster_mark assay_roster_note(assay_roster *roster, uint64_t user,
                                    uint32_t h, uint32_t s, uint32_t s_next,
                                    uint32_t line);

/** 1 if `user` has been noted. */
int assay_roster_has(const assay_roster *roster, uint64_t user);

uint64_t assay_roster_users(const assay_roster *roster);

/** The first user (by line) who lacks a step: 1 and *user, *h (from 0), *line;
 *  0 if everyone is complete. */
int assay_roster_gap(const assay_roster *roster, uint64_t *user, uint32_t *h,
                     uint32_t *line);

/**
 * The first user (by line) with a step that does not begin where the step
 * before it ended: 1 and *user, *line; 0 if there is none. For complete users.
 * One 64-bit number a user: the sum of the codes of all arrivals minus that of
 * all departures, which is 0 if they match and else not, but for a chance of
 * about 2^-64.
 */
int assay_roster_jump(const assay_roster *roster, uint64_t *user,
                      uint32_t *line);

#endif
