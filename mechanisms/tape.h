/* ring: glue */
/**
 * The random tape: one reader of uniform 64-bit words, the only source of
 * randomness in Assay.
 *
 * Law     words are independent and uniform if OpenSSL's RAND_bytes is
 *         (assumption `rng` of proofs/TRUSTED.md).
 * Buffer  64 KiB, filled by RAND_bytes; a word is wiped when it is read, the
 *         whole buffer on clear. A child process never sees its parent's
 *         words: the buffer lives in memory that the kernel wipes on fork
 *         (MADV_WIPEONFORK), and without that the process id is compared at
 *         every read.
 * Threads one tape per thread, or a lock of the caller's.
 * Errors  ASSAY_ENTROPY on a failed or short read: no word is returned. The next
 *         read asks the generator again; there is no fallback.
 */
#ifndef ASSAY_MECHANISMS_TAPE_H
#define ASSAY_MECHANISMS_TAPE_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_TAPE_WORDS 8192 /* 64 KiB */

/*@ axiomatic Tape {
      // the word at a position; nothing is assumed about it
      logic integer TapeWord(integer position);
    }
*/

struct assay_tape_buffer; /* the mapped memory */

typedef struct assay_tape {
    struct assay_tape_buffer *buffer;
    uint64_t position;        /* words read so far */
    const uint64_t *recorded; /* tests only, else NULL */
    size_t num_recorded;
    long owner; /* process id where the kernel cannot wipe */
} assay_tape;

assay_status assay_tape_init(assay_tape *tape,
                             assay_error *err) ASSAY_MUST_CHECK;

/** Wipes and unmaps. A cleared tape may be cleared again. */
void assay_tape_clear(assay_tape *tape);

/**
 * A tape that replays `words` and then fails with ASSAY_ENTROPY.
 * For tests only: whatever is drawn from it is not private.
 */
void assay_tape_init_unsafe_recorded(assay_tape *tape, const uint64_t *words,
                                     size_t num_words);

/** The next word. */
/*@ requires valid: \valid(tape) && \valid(out) && \separated(tape, out);
    terminates \true;
    exits \false;
    assigns *out, tape->position;
    ensures word: \result == ASSAY_OK ==>
      *out == TapeWord(\old(tape->position)) &&
      tape->position == \old(tape->position) + 1;
    ensures fails: \result != ASSAY_OK ==>
      \result == ASSAY_ENTROPY && *out == \old(*out);
*/
assay_status assay_tape_next(assay_tape *tape, uint64_t *out) ASSAY_MUST_CHECK;

/**
 * A view of the next words for a tight loop: on ASSAY_OK `*words` points to
 * `*count` >= `at_least` unread words (at_least <= 64). Give back how many were
 * used with assay_tape_advance: they are wiped and the rest stays unread.
 */
assay_status assay_tape_peek(assay_tape *tape, const uint64_t **words,
                             size_t *count, size_t at_least) ASSAY_MUST_CHECK;
void assay_tape_advance(assay_tape *tape, size_t used);

#endif
