/* ring: glue */
#include "mechanisms/people.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "core/bound.h"

#define SHORT_ID 24

/* 32 bytes, two to a cache line. A slot is empty while `used` is 0: a person
 * is entered with the first record that is taken. */
struct assay_person {
    union {
        char *text;           /* len > SHORT_ID */
        char short_text[SHORT_ID];
    } id;
    uint32_t len;
    uint32_t used;
};

static uint64_t hash_bytes(const char *p, size_t len)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ len;
    while (len > 0) {
        uint64_t word = 0;
        size_t n = len < 8 ? len : 8;
        memcpy(&word, p, n);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
        p += n;
        len -= n;
    }
    return h ^ (h >> 29);
}

static const char *id_of(const assay_person *person)
{
    return person->len > SHORT_ID ? person->id.text : person->id.short_text;
}

assay_status assay_people_init(assay_people *people, uint32_t limit,
                               assay_error *err)
{
    memset(people, 0, sizeof *people);
    if (limit == 0) {
        return assay_fail(err, ASSAY_INVALID, "the limit must be at least 1");
    }
    people->limit = limit;
    people->num_slots = 1024;
    people->slots = calloc(people->num_slots, sizeof *people->slots);
    return people->slots != NULL
               ? ASSAY_OK
               : assay_fail(err, ASSAY_MEMORY, "no memory for the persons");
}

void assay_people_clear(assay_people *people)
{
    for (size_t i = 0; people->slots != NULL && i < people->num_slots; i++) {
        assay_person *person = &people->slots[i];
        if (person->used != 0 && person->len > SHORT_ID) {
            OPENSSL_cleanse(person->id.text, person->len);
            free(person->id.text);
        }
    }
    if (people->slots != NULL) {
        OPENSSL_cleanse(people->slots,
                        people->num_slots * sizeof *people->slots);
    }
    free(people->slots);
    memset(people, 0, sizeof *people);
}

/* The person's slot, or the free one where she belongs. */
static assay_person *find(assay_person *slots, size_t num_slots, const char *id,
                          size_t len)
{
    size_t at = (size_t)hash_bytes(id, len) & (num_slots - 1);
    while (slots[at].used != 0 &&
           (slots[at].len != len || memcmp(id_of(&slots[at]), id, len) != 0)) {
        at = (at + 1) & (num_slots - 1);
    }
    return &slots[at];
}

static assay_status grow(assay_people *people, assay_error *err)
{
    size_t num_slots = people->num_slots * 2;
    assay_person *slots = calloc(num_slots, sizeof *slots);
    if (slots == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu persons",
                          people->num_people);
    }
    for (size_t i = 0; i < people->num_slots; i++) {
        assay_person *old = &people->slots[i];
        if (old->used != 0) {
            *find(slots, num_slots, id_of(old), old->len) = *old;
        }
    }
    OPENSSL_cleanse(people->slots, people->num_slots * sizeof *people->slots);
    free(people->slots);
    people->slots = slots;
    people->num_slots = num_slots;
    return ASSAY_OK;
}

static assay_status enter(assay_person *slot, const char *id, size_t len,
                          assay_error *err)
{
    char *at = slot->id.short_text;
    if (len > SHORT_ID) {
        at = malloc(len);
        if (at == NULL) {
            return assay_fail(err, ASSAY_MEMORY, "no memory for a person");
        }
        slot->id.text = at;
    }
    memcpy(at, id, len);
    slot->len = (uint32_t)len;
    return ASSAY_OK;
}

assay_status assay_people_take(assay_people *people, int *take, const char *id,
                               size_t len, assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (people->num_people * 10 >= people->num_slots * 7) {
        status = grow(people, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    assay_person *slot = find(people->slots, people->num_slots, id, len);
    if (slot->used == 0) {
        status = enter(slot, id, len, err);
        if (status != ASSAY_OK) {
            return status;
        }
        people->num_people++;
    }
    *take = assay_take_record(&slot->used, people->limit);
    return ASSAY_OK;
}

int assay_people_at(const assay_people *people, size_t i, const char **id,
                    size_t *len, uint32_t *used)
{
    const assay_person *person = &people->slots[i];
    if (person->used == 0) {
        return 0;
    }
    *id = id_of(person);
    *len = person->len;
    *used = person->used;
    return 1;
}
