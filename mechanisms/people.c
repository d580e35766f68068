/* ring: glue */
#include "mechanisms/people.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "core/bound.h"
#include "core/pages.h"

#define SHORT_ID ASSAY_PERSON_SHORT
#define MIX 0xff51afd7ed558ccdu

/* 32 bytes, two to a cache line. A slot is empty while `used` is 0: a person
 * is entered with the first record that is taken. A short identifier has zeros
 * behind it. */
struct assay_person {
    union {
        char *text; /* len > SHORT_ID */
        char short_text[SHORT_ID];
        uint64_t word[SHORT_ID / 8];
    } id;
    uint32_t len;
    uint32_t used;
};

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * MIX;
    return h ^ (h >> 32);
}

static uint64_t hash_words(const uint64_t word[SHORT_ID / 8], size_t len)
{
    uint64_t h =
        mix(mix(mix(0x9e3779b97f4a7c15u ^ len, word[0]), word[1]), word[2]);
    return h ^ (h >> 29);
}

static uint64_t hash_bytes(const char *p, size_t len)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ len;
    while (len > 0) {
        uint64_t word = 0;
        size_t n = len < 8 ? len : 8;
        memcpy(&word, p, n);
        h = mix(h, word);
        p += n;
        len -= n;
    }
    return h ^ (h >> 29);
}

static const char *id_of(const assay_person *person)
{
    return person->len > SHORT_ID ? person->id.text : person->id.short_text;
}

/* An empty table. A large one asks for large pages: its slots are read at
 * random. */
static assay_person *new_slots(size_t num_slots)
{
    return assay_pages_new(num_slots, sizeof(assay_person));
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
    people->slots = new_slots(people->num_slots);
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
static assay_person *find_long(assay_person *slots, size_t num_slots,
                               const char *id, size_t len)
{
    size_t at = (size_t)hash_bytes(id, len) & (num_slots - 1);
    while (slots[at].used != 0 &&
           (slots[at].len != len || memcmp(id_of(&slots[at]), id, len) != 0)) {
        at = (at + 1) & (num_slots - 1);
    }
    return &slots[at];
}

static assay_person *find_short(assay_person *slots, size_t num_slots,
                                const uint64_t word[SHORT_ID / 8], uint32_t len,
                                uint64_t hash)
{
    size_t at = (size_t)hash & (num_slots - 1);
    while (slots[at].used != 0 &&
           (slots[at].len != len || slots[at].id.word[0] != word[0] ||
            slots[at].id.word[1] != word[1] ||
            slots[at].id.word[2] != word[2])) {
        at = (at + 1) & (num_slots - 1);
    }
    return &slots[at];
}

static void move_to(assay_person *slots, size_t num_slots,
                    const assay_person *old)
{
    assay_person *slot =
        old->len > SHORT_ID
            ? find_long(slots, num_slots, old->id.text, old->len)
            : find_short(slots, num_slots, old->id.word, old->len,
                         hash_words(old->id.word, old->len));
    *slot = *old;
}

/* Makes room for one more person. */
static assay_status grow(assay_people *people, assay_error *err)
{
    if (people->num_people * 10 < people->num_slots * 7) {
        return ASSAY_OK;
    }
    size_t num_slots = people->num_slots * 2;
    assay_person *slots = new_slots(num_slots);
    if (slots == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu persons",
                          people->num_people);
    }
    for (size_t i = 0; i < people->num_slots; i++) {
        if (people->slots[i].used != 0) {
            move_to(slots, num_slots, &people->slots[i]);
        }
    }
    OPENSSL_cleanse(people->slots, people->num_slots * sizeof *people->slots);
    free(people->slots);
    people->slots = slots;
    people->num_slots = num_slots;
    return ASSAY_OK;
}

/* The first n <= 8 bytes as a word in memory order, zeros behind them: the same
 * as memcpy into a zero word, without a detour through memory. */
static uint64_t load(const char *p, size_t n)
{
    uint64_t word = 0;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t low = 0;
    uint32_t high = 0;
    if (n == 8) {
        memcpy(&word, p, 8);
        return word;
    }
    if (n >= 4) {
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        return low | (uint64_t)high << (8 * (n - 4));
    }
    for (size_t i = 0; i < n; i++) {
        word |= (uint64_t)(unsigned char)p[i] << (8 * i);
    }
#else
    memcpy(&word, p, n);
#endif
    return word;
}

static void set_words(uint64_t word[SHORT_ID / 8], const char *id, size_t len)
{
    size_t rest = len > 16 ? len - 16 : 0;
    word[0] = load(id, len < 8 ? len : 8);
    word[1] = len > 8 ? load(id + 8, len < 16 ? len - 8 : 8) : 0;
    word[2] = rest > 0 ? load(id + 16, rest) : 0;
}

int assay_people_key(const assay_people *people, assay_person_key *key,
                     const char *id, size_t len)
{
    if (len > SHORT_ID) {
        return 0;
    }
    set_words(key->word, id, len);
    key->len = (uint32_t)len;
    key->hash = hash_words(key->word, len);
#if defined(__GNUC__)
    __builtin_prefetch(&people->slots[key->hash & (people->num_slots - 1)], 1);
#else
    (void)people;
#endif
    return 1;
}

assay_status assay_people_take_key(assay_people *people, int *take,
                                   const assay_person_key *key,
                                   assay_error *err)
{
    assay_status status = grow(people, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_person *slot = find_short(people->slots, people->num_slots, key->word,
                                    key->len, key->hash);
    if (slot->used == 0) {
        memcpy(slot->id.word, key->word, sizeof key->word);
        slot->len = key->len;
        people->num_people++;
    }
    *take = assay_take_record(&slot->used, people->limit);
    return ASSAY_OK;
}

static assay_status enter_long(assay_person *slot, const char *id, size_t len,
                               assay_error *err)
{
    char *copy = malloc(len);
    if (copy == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a person");
    }
    memcpy(copy, id, len);
    slot->id.text = copy;
    slot->len = (uint32_t)len;
    return ASSAY_OK;
}

assay_status assay_people_take(assay_people *people, int *take, const char *id,
                               size_t len, assay_error *err)
{
    assay_person_key key;
    if (assay_people_key(people, &key, id, len)) {
        assay_status short_status =
            assay_people_take_key(people, take, &key, err);
        OPENSSL_cleanse(&key, sizeof key);
        return short_status;
    }
    assay_status status = grow(people, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_person *slot = find_long(people->slots, people->num_slots, id, len);
    if (slot->used == 0) {
        status = enter_long(slot, id, len, err);
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

/* A word and its count, to be sorted by the word. */
typedef struct word {
    char *text;
    int64_t count;
} word;

static int compare_words(const void *a, const void *b)
{
    return strcmp(((const word *)a)->text, ((const word *)b)->text);
}

static void words_free(word *words, size_t n)
{
    for (size_t i = 0; words != NULL && i < n; i++) {
        free(words[i].text);
    }
    free(words);
}

static word *copy_words(const assay_people *people)
{
    size_t n = 0;
    word *words = calloc(people->num_people + 1, sizeof *words);
    for (size_t i = 0; words != NULL && i < people->num_slots; i++) {
        const char *text = NULL;
        size_t len = 0;
        uint32_t used = 0;
        if (!assay_people_at(people, i, &text, &len, &used)) {
            continue;
        }
        words[n].text = strndup(text, len);
        words[n].count = used;
        if (words[n++].text == NULL) {
            words_free(words, n);
            words = NULL;
        }
    }
    return words;
}

assay_status assay_people_list(const assay_people *people, char **names,
                               int64_t *counts, assay_error *err)
{
    word *words = copy_words(people);
    if (words == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the words");
    }
    qsort(words, people->num_people, sizeof *words, compare_words);
    for (size_t i = 0; i < people->num_people; i++) {
        names[i] = words[i].text;
        counts[i] = words[i].count;
    }
    free(words);
    return ASSAY_OK;
}
