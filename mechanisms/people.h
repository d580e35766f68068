/* ring: glue */
/**
 * How many records each person has contributed: a hash table with the whole
 * identifier as key, so two persons never share an entry. Memory grows with the
 * number of persons, not of records.
 *
 * The first `limit` records of a person in file order are taken. Taking one
 * person's records never depends on another's, so a person who is added or
 * removed changes at most `limit` records.
 */
#ifndef ASSAY_MECHANISMS_PEOPLE_H
#define ASSAY_MECHANISMS_PEOPLE_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_PERSON_SHORT 24 /* bytes of an identifier kept in the table */

typedef struct assay_person assay_person;

/** A short identifier, ready to be looked up: zeros behind it. */
typedef struct assay_person_key {
    uint64_t word[ASSAY_PERSON_SHORT / 8];
    uint64_t hash;
    uint32_t len;
} assay_person_key;

typedef struct assay_people {
    assay_person *slots;
    size_t num_slots; /* a power of two */
    size_t num_people;
    uint32_t limit;
} assay_people;

assay_status assay_people_init(assay_people *people, uint32_t limit,
                               assay_error *err) ASSAY_MUST_CHECK;
/** Wipes and frees; may be called twice. */
void assay_people_clear(assay_people *people);

/** *take is 1 if the record counts, 0 if the person has given enough. */
assay_status assay_people_take(assay_people *people, int *take, const char *id,
                               size_t len, assay_error *err) ASSAY_MUST_CHECK;

/** 1 and the key of a short identifier, whose slot is called into the cache: a
 *  table larger than the cache is then read some records later at no cost. 0 if
 *  it is too long: take it by assay_people_take. */
int assay_people_key(const assay_people *people, assay_person_key *key,
                     const char *id, size_t len);
/** assay_people_take by key. */
assay_status assay_people_take_key(assay_people *people, int *take,
                                   const assay_person_key *key,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** All num_people identifiers in alphabetical order, each in fresh memory, and
 *  how often each was taken. After an error there is nothing to free. */
assay_status assay_people_list(const assay_people *people, char **names,
                               int64_t *counts,
                               assay_error *err) ASSAY_MUST_CHECK;

/** Slot i (below num_slots): 1 and the identifier and how often it was taken,
 *  or 0 if the slot is empty. */
int assay_people_at(const assay_people *people, size_t i, const char **id,
                    size_t *len, uint32_t *used);

#endif
