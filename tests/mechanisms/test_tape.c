/* ring: glue */
#define OPENSSL_SUPPRESS_DEPRECATED /* RAND_METHOD, to make the RNG fail */
#include <openssl/rand.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mechanisms/discrete_laplace.h"
#include "tests/support/support.h"

static void words_are_read_in_order_however_they_are_read(void **state)
{
    uint64_t words[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const uint64_t *view = NULL;
    size_t count = 0;
    uint64_t w = 0;
    assay_tape tape;
    (void)state;
    assay_tape_init_unsafe_recorded(&tape, words, 10);
    assert_int_equal(assay_tape_next(&tape, &w), ASSAY_OK);
    assert_int_equal(w, 1);
    assert_int_equal(assay_tape_peek(&tape, &view, &count, 3), ASSAY_OK);
    assert_int_equal(view[0], 2);
    assert_int_equal(count, 9);
    assay_tape_advance(&tape, 2);
    assert_int_equal(assay_tape_next(&tape, &w), ASSAY_OK);
    assert_int_equal(w, 4);
    assert_int_equal(tape.position, 4);
    assert_int_equal(assay_tape_peek(&tape, &view, &count, 7), ASSAY_ENTROPY);
    assert_int_equal(assay_tape_peek(&tape, &view, &count, 65), ASSAY_INVALID);
}

static void a_recorded_tape_ends_with_an_error_and_no_word(void **state)
{
    uint64_t one = 7;
    uint64_t w = 99;
    assay_tape tape;
    (void)state;
    assay_tape_init_unsafe_recorded(&tape, &one, 1);
    assert_int_equal(assay_tape_next(&tape, &w), ASSAY_OK);
    w = 99;
    assert_int_equal(assay_tape_next(&tape, &w), ASSAY_ENTROPY);
    assert_int_equal(w, 99);
}

static void read_words_are_wiped(void **state)
{
    const uint64_t *view = NULL;
    size_t count = 0;
    assay_tape tape;
    (void)state;
    assert_int_equal(assay_tape_init(&tape, NULL), ASSAY_OK);
    assert_int_equal(assay_tape_peek(&tape, &view, &count, 8), ASSAY_OK);
    assay_tape_advance(&tape, 8);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(view[i], 0);
    }
    assert_int_not_equal(view[8] | view[9] | view[10], 0);
    assay_tape_clear(&tape);
    assay_tape_clear(&tape);
}

static void the_buffer_is_refilled_without_losing_words(void **state)
{
    const uint64_t *view = NULL;
    size_t count = 0;
    uint64_t kept[3];
    assay_tape tape;
    (void)state;
    assert_int_equal(assay_tape_init(&tape, NULL), ASSAY_OK);
    assert_int_equal(assay_tape_peek(&tape, &view, &count, 1), ASSAY_OK);
    assert_int_equal(count, ASSAY_TAPE_WORDS);
    memcpy(kept, view + ASSAY_TAPE_WORDS - 3, sizeof kept);
    assay_tape_advance(&tape, ASSAY_TAPE_WORDS - 3);
    assert_int_equal(assay_tape_peek(&tape, &view, &count, 64), ASSAY_OK);
    assert_memory_equal(view, kept, sizeof kept);
    assert_int_not_equal(view[3] | view[4], 0);
    assay_tape_clear(&tape);
}

/* The parent's next words, and the ones that a forked child reads. */
static void a_child_never_repeats_its_parents_words(void **state)
{
    assay_tape tape;
    uint64_t child[64];
    uint64_t w = 0;
    int ends[2];
    int status = 0;
    pid_t pid;
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(assay_tape_init(&tape, NULL), ASSAY_OK);
    assert_int_equal(assay_tape_next(&tape, &w), ASSAY_OK);
    pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 64; i++) {
            if (assay_tape_next(&tape, child + i) != ASSAY_OK) {
                _exit(1);
            }
        }
        _exit(write(ends[1], child, sizeof child) != sizeof child);
    }
    assert_int_equal(read(ends[0], child, sizeof child), sizeof child);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(assay_tape_next(&tape, &w), ASSAY_OK);
        for (int j = 0; j < 64; j++) {
            assert_int_not_equal(w, child[j]);
        }
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
    assay_tape_clear(&tape);
}

static int refuse(unsigned char *buffer, int n)
{
    (void)buffer;
    (void)n;
    return 0;
}

static void a_failed_generator_stops_every_sampler(void **state)
{
    static const RAND_METHOD broken = {.bytes = refuse};
    assay_sampler *sampler =
        support_sampler("gaussian", "100", ASSAY_ROUTE_INVERSE, 0);
    assay_error err = ASSAY_ERROR_INIT;
    int64_t values[4] = {5, 5, 5, 5};
    int64_t one = 5;
    assay_tape tape;
    (void)state;
    assert_int_equal(assay_tape_init(&tape, NULL), ASSAY_OK);
    assert_int_equal(RAND_set_rand_method(&broken), 1);
    assert_int_equal(assay_sampler_fill(sampler, &tape, values, 4, &err),
                     ASSAY_ENTROPY);
    assert_int_equal(values[0] | values[1] | values[2] | values[3], 0);
    assert_int_equal(assay_sampler_one(sampler, &tape, &one, &err),
                     ASSAY_ENTROPY);
    assert_int_equal(one, 5);
    assert_int_equal(assay_discrete_laplace(&tape, 1, 3, &one), ASSAY_ENTROPY);
    assert_int_equal(one, 5);
    assert_int_equal(RAND_set_rand_method(NULL), 1);
    assert_int_equal(assay_sampler_one(sampler, &tape, &one, &err), ASSAY_OK);
    assay_tape_clear(&tape);
    assay_sampler_free(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_read_in_order_however_they_are_read),
        cmocka_unit_test(a_recorded_tape_ends_with_an_error_and_no_word),
        cmocka_unit_test(read_words_are_wiped),
        cmocka_unit_test(the_buffer_is_refilled_without_losing_words),
        cmocka_unit_test(a_child_never_repeats_its_parents_words),
        cmocka_unit_test(a_failed_generator_stops_every_sampler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
