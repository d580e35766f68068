/* ring: glue */
#include "mechanisms/people.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "core/bound.h"

#define SHORT_ID 16

struct assay_person {
    char *id; /* NULL: id_short holds it */
    char id_short[SHORT_ID];
    uint32_t len;
    uint32_t used;
    uint32_t taken; /* the slot is taken */
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
    return person->id != NULL ? person->id : person->id_short;
}

assay_status assay_people_init(assay_people *people, uint32_t limit,
                               assay_error *err)
{
    memset(people, 0, sizeof *people);
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
        if (people->slots[i].id != NULL) {
            OPENSSL_cleanse(people->slots[i].id, people->slots[i].len);
            free(people->slots[i].id);
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
    while (slots[at].taken &&
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
        if (old->taken) {
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
    char *at = slot->id_short;
    if (len > SHORT_ID) {
        slot->id = malloc(len);
        if (slot->id == NULL) {
            return assay_fail(err, ASSAY_MEMORY, "no memory for a person");
        }
        at = slot->id;
    }
    memcpy(at, id, len);
    slot->len = (uint32_t)len;
    slot->used = 0;
    slot->taken = 1;
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
    if (!slot->taken) {
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
    if (!person->taken) {
        return 0;
    }
    *id = id_of(person);
    *len = person->len;
    *used = person->used;
    return 1;
}
