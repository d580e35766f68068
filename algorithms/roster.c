/* ring: glue */
#include "algorithms/roster.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NUM_SHARDS 64u
#define FIRST_SLOTS 64u

/* A slot is free if its line is 0. */
typedef struct shard {
    pthread_mutex_t lock;
    size_t num_slots; /* a power of two */
    size_t used;
    uint64_t *user;
    uint64_t *trace; /* codes of arrivals minus codes of departures */
    uint32_t *line;
    uint8_t *steps; /* num_slots rows of step_bytes */
} shard;

struct assay_roster {
    uint32_t horizon;
    size_t step_bytes;
    uint64_t max_users;
    atomic_uint_fast64_t num_users;
    shard shards[NUM_SHARDS];
};

static uint64_t hash(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ (x >> 32);
}

static int shard_alloc(shard *s, size_t num_slots, size_t step_bytes)
{
    s->num_slots = num_slots;
    s->user = calloc(num_slots, sizeof(uint64_t));
    s->trace = calloc(num_slots, sizeof(uint64_t));
    s->line = calloc(num_slots, sizeof(uint32_t));
    s->steps = calloc(num_slots, step_bytes);
    return s->user != NULL && s->trace != NULL && s->line != NULL &&
           s->steps != NULL;
}

static void shard_release(shard *s)
{
    free(s->user);
    free(s->trace);
    free(s->line);
    free(s->steps);
}

assay_status assay_roster_new(assay_roster **out, uint32_t horizon,
                              uint64_t max_users, assay_error *err)
{
    int ok = 1;
    assay_roster *roster = calloc(1, sizeof *roster);
    if (roster == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the users");
    }
    roster->horizon = horizon;
    roster->step_bytes = (horizon + 7u) / 8u;
    roster->max_users = max_users;
    atomic_init(&roster->num_users, 0);
    for (size_t i = 0; i < NUM_SHARDS; i++) {
        shard *s = &roster->shards[i];
        ok &= pthread_mutex_init(&s->lock, NULL) == 0;
        ok &= shard_alloc(s, FIRST_SLOTS, roster->step_bytes);
    }
    if (!ok) {
        assay_roster_free(roster);
        return assay_fail(err, ASSAY_MEMORY, "no memory for the users");
    }
    *out = roster;
    return ASSAY_OK;
}

void assay_roster_free(assay_roster *roster)
{
    if (roster == NULL) {
        return;
    }
    for (size_t i = 0; i < NUM_SHARDS; i++) {
        shard_release(&roster->shards[i]);
        (void)pthread_mutex_destroy(&roster->shards[i].lock);
    }
    free(roster);
}

static size_t find_slot(const shard *s, uint64_t user, uint64_t code)
{
    size_t at = (size_t)(code / NUM_SHARDS) & (s->num_slots - 1);
    while (s->line[at] != 0 && s->user[at] != user) {
        at = (at + 1) & (s->num_slots - 1);
    }
    return at;
}

static int shard_grow(shard *s, size_t step_bytes)
{
    shard old = *s;
    shard grown = *s;
    if (!shard_alloc(&grown, old.num_slots * 2, step_bytes)) {
        shard_release(&grown);
        return 0;
    }
    for (size_t i = 0; i < old.num_slots; i++) {
        if (old.line[i] != 0) {
            size_t at = find_slot(&grown, old.user[i], hash(old.user[i]));
            grown.user[at] = old.user[i];
            grown.trace[at] = old.trace[i];
            grown.line[at] = old.line[i];
            memcpy(grown.steps + at * step_bytes, old.steps + i * step_bytes,
                   step_bytes);
        }
    }
    shard_release(&old);
    s->num_slots = grown.num_slots;
    s->user = grown.user;
    s->trace = grown.trace;
    s->line = grown.line;
    s->steps = grown.steps;
    return 1;
}

static assay_roster_mark mark_step(shard *s, size_t at, size_t step_bytes,
                                   uint32_t h)
{
    uint8_t *byte = s->steps + at * step_bytes + h / 8;
    uint8_t bit = (uint8_t)(1u << (h % 8));
    if ((*byte & bit) != 0) {
        return ASSAY_ROSTER_DUPLICATE;
    }
    *byte = (uint8_t)(*byte | bit);
    return ASSAY_ROSTER_NEW;
}

/* What a step from s to s_next adds to the trace: it leaves the place (h, s)
 * and arrives at (h + 1, s_next). The first place and the last have no other
 * side. */
static uint64_t trace_of(uint32_t horizon, uint32_t h, uint32_t s,
                         uint32_t s_next)
{
    uint64_t leave = h == 0 ? 0 : hash((uint64_t)h << 32 | s);
    uint64_t arrive =
        h + 1 == horizon ? 0 : hash((uint64_t)(h + 1) << 32 | s_next);
    return arrive - leave;
}

static assay_roster_mark note_locked(assay_roster *roster, shard *s,
                                     uint64_t user, uint64_t code, uint32_t h,
                                     uint64_t trace, uint32_t line)
{
    size_t at = find_slot(s, user, code);
    if (s->line[at] == 0) {
        if (atomic_fetch_add(&roster->num_users, 1) >= roster->max_users) {
            return ASSAY_ROSTER_FULL;
        }
        if (s->used * 4 >= s->num_slots * 3) {
            if (!shard_grow(s, roster->step_bytes)) {
                return ASSAY_ROSTER_MEMORY;
            }
            at = find_slot(s, user, code);
        }
        s->used++;
        s->user[at] = user;
        s->line[at] = line == 0 ? 1 : line;
    }
    s->trace[at] += trace;
    return mark_step(s, at, roster->step_bytes, h);
}

assay_roster_mark assay_roster_note(assay_roster *roster, uint64_t user,
                                    uint32_t h, uint32_t s, uint32_t s_next,
                                    uint32_t line)
{
    uint64_t code = hash(user);
    shard *home = &roster->shards[code % NUM_SHARDS];
    uint64_t trace = trace_of(roster->horizon, h, s, s_next);
    assay_roster_mark mark;
    (void)pthread_mutex_lock(&home->lock);
    mark = note_locked(roster, home, user, code, h, trace, line);
    (void)pthread_mutex_unlock(&home->lock);
    return mark;
}

int assay_roster_has(const assay_roster *roster, uint64_t user)
{
    uint64_t code = hash(user);
    const shard *s = &roster->shards[code % NUM_SHARDS];
    return s->line[find_slot(s, user, code)] != 0;
}

uint64_t assay_roster_users(const assay_roster *roster)
{
    return atomic_load(&roster->num_users);
}

static int first_missing(const uint8_t *steps, uint32_t horizon, uint32_t *h)
{
    for (uint32_t i = 0; i < horizon; i++) {
        if ((steps[i / 8] & (1u << (i % 8))) == 0) {
            *h = i;
            return 1;
        }
    }
    return 0;
}

int assay_roster_gap(const assay_roster *roster, uint64_t *user, uint32_t *h,
                     uint32_t *line)
{
    int found = 0;
    for (size_t i = 0; i < NUM_SHARDS; i++) {
        const shard *s = &roster->shards[i];
        for (size_t at = 0; at < s->num_slots; at++) {
            uint32_t missing;
            if (s->line[at] == 0 || (found && s->line[at] > *line) ||
                !first_missing(s->steps + at * roster->step_bytes,
                               roster->horizon, &missing)) {
                continue;
            }
            found = 1;
            *user = s->user[at];
            *h = missing;
            *line = s->line[at];
        }
    }
    return found;
}

int assay_roster_jump(const assay_roster *roster, uint64_t *user,
                      uint32_t *line)
{
    int found = 0;
    for (size_t i = 0; i < NUM_SHARDS; i++) {
        const shard *s = &roster->shards[i];
        for (size_t at = 0; at < s->num_slots; at++) {
            if (s->line[at] != 0 && s->trace[at] != 0 &&
                (!found || s->line[at] < *line)) {
                found = 1;
                *user = s->user[at];
                *line = s->line[at];
            }
        }
    }
    return found;
}
