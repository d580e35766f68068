/* ring: glue */
#include "mechanisms/tape.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Zero after a fork (MADV_WIPEONFORK): `live` says whether it still holds what
 * this process put there. */
struct assay_tape_buffer {
    uint64_t live; /* 1, or 0 after a fork or a failed read */
    uint64_t next; /* index of the next unread word          */
    uint64_t words[ASSAY_TAPE_WORDS];
};

static int map_is_wiped_on_fork(void *at, size_t len)
{
#ifdef MADV_WIPEONFORK
    return madvise(at, len, MADV_WIPEONFORK) == 0;
#else
    (void)at;
    (void)len;
    return 0;
#endif
}

assay_status assay_tape_init(assay_tape *tape, assay_error *err)
{
    size_t len = sizeof *tape->buffer;
    void *at = mmap(NULL, len, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(tape, 0, sizeof *tape);
    if (at == MAP_FAILED) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the random tape");
    }
    tape->owner = map_is_wiped_on_fork(at, len) ? 0 : (long)getpid();
    (void)mlock(at, len); /* best effort: keep words out of swap */
    tape->buffer = at;
    tape->buffer->next = ASSAY_TAPE_WORDS;
    tape->buffer->live = 1;
    return ASSAY_OK;
}

void assay_tape_clear(assay_tape *tape)
{
    if (tape->buffer != NULL) {
        OPENSSL_cleanse(tape->buffer, sizeof *tape->buffer);
        (void)munmap(tape->buffer, sizeof *tape->buffer);
    }
    memset(tape, 0, sizeof *tape);
}

void assay_tape_init_unsafe_recorded(assay_tape *tape, const uint64_t *words,
                                     size_t num_words)
{
    memset(tape, 0, sizeof *tape);
    tape->recorded = words;
    tape->num_recorded = num_words;
}

/* RAND_bytes takes at most INT_MAX bytes; 64 KiB is one request of the DRBG. */
static assay_status refill(struct assay_tape_buffer *b)
{
    b->live = 0;
    if (RAND_bytes((unsigned char *)b->words, (int)sizeof b->words) != 1) {
        OPENSSL_cleanse(b->words, sizeof b->words);
        return ASSAY_ENTROPY;
    }
    b->next = 0;
    b->live = 1;
    return ASSAY_OK;
}

/* A forked child finds live == 0 and next == 0 (wiped) or another process id:
 * it starts with words of its own. After a failed read next is at the end and
 * live is 0, so that the next call tries the generator again and fails with it.
 */
static int has_words(assay_tape *tape, size_t at_least)
{
    struct assay_tape_buffer *b = tape->buffer;
    if (tape->owner != 0 && tape->owner != (long)getpid()) {
        tape->owner = (long)getpid();
        b->live = 0;
    }
    return b->live != 0 && ASSAY_TAPE_WORDS - b->next >= at_least;
}

assay_status assay_tape_next(assay_tape *tape, uint64_t *out)
{
    struct assay_tape_buffer *b = tape->buffer;
    if (b == NULL) {
        if (tape->position >= tape->num_recorded) {
            return ASSAY_ENTROPY;
        }
        *out = tape->recorded[tape->position++];
        return ASSAY_OK;
    }
    if (!has_words(tape, 1) && refill(b) != ASSAY_OK) {
        return ASSAY_ENTROPY;
    }
    *out = b->words[b->next];
    b->words[b->next++] = 0;
    tape->position++;
    return ASSAY_OK;
}

/* Words that are left but fewer than wanted are moved to the front of a fresh
 * buffer, so that the sequence of words is the same however it is read. */
static assay_status refill_behind(struct assay_tape_buffer *b)
{
    uint64_t left[64];
    size_t num_left = (size_t)(ASSAY_TAPE_WORDS - b->next);
    assay_status status;
    memcpy(left, b->words + b->next, num_left * sizeof left[0]);
    status = refill(b);
    if (status == ASSAY_OK) {
        memcpy(b->words, left, num_left * sizeof left[0]);
    }
    OPENSSL_cleanse(left, sizeof left);
    return status;
}

static assay_status peek_recorded(assay_tape *tape, const uint64_t **words,
                                  size_t *count, size_t at_least)
{
    if (tape->num_recorded - tape->position < at_least) {
        return ASSAY_ENTROPY;
    }
    *words = tape->recorded + tape->position;
    *count = tape->num_recorded - (size_t)tape->position;
    return ASSAY_OK;
}

assay_status assay_tape_peek(assay_tape *tape, const uint64_t **words,
                             size_t *count, size_t at_least)
{
    struct assay_tape_buffer *b = tape->buffer;
    if (at_least > 64) {
        return ASSAY_INVALID;
    }
    if (b == NULL) {
        return peek_recorded(tape, words, count, at_least);
    }
    if (!has_words(tape, at_least)) {
        int fresh = b->live == 0 || b->next == ASSAY_TAPE_WORDS;
        if ((fresh ? refill(b) : refill_behind(b)) != ASSAY_OK) {
            return ASSAY_ENTROPY;
        }
    }
    *words = b->words + b->next;
    *count = (size_t)(ASSAY_TAPE_WORDS - b->next);
    return ASSAY_OK;
}

void assay_tape_advance(assay_tape *tape, size_t used)
{
    struct assay_tape_buffer *b = tape->buffer;
    if (b != NULL) {
        memset(b->words + b->next, 0, used * sizeof b->words[0]);
        b->next += used;
    }
    tape->position += used;
}
