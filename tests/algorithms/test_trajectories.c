/* Trajectory files: what is counted and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "algorithms/csv_row.h"
#include "algorithms/environments.h"
#include "algorithms/trajectories.h"

#define HEADER "user,h,s,a,r,s_next\n"

static const assay_shape SHAPE = {3, 2, 2};

static void write_text(char path[64], const char *text, size_t len)
{
    int fd;
    (void)strcpy(path, "/tmp/assay-trajectories-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, len), (ssize_t)len);
    assert_int_equal(close(fd), 0);
}

static assay_status read_text(assay_counts **out, const char *text,
                              uint64_t max_users, assay_error *err)
{
    char path[64];
    assay_read_options how = {.num_threads = 1};
    assay_status status;
    how.max_users = max_users;
    write_text(path, text, strlen(text));
    status = assay_trajectories_read_csv(out, path, &SHAPE, &how, err);
    (void)unlink(path);
    return status;
}

static void refuses(const char *text, int line, const char *reason)
{
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(read_text(&counts, text, 0, &err), ASSAY_INVALID);
    assert_null(counts);
    if (err.line != line || strstr(err.message, reason) == NULL) {
        print_error("got line %d: %s\n", err.line, err.message);
    }
    assert_int_equal(err.line, line);
    assert_non_null(strstr(err.message, reason));
    assert_non_null(strstr(err.message, "/tmp/assay-trajectories-"));
}

static void rows_in_any_order_are_counted(void **state)
{
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(read_text(&counts,
                               HEADER "7,2,1,0,0.5,2\r\n"
                                      "9,1,0,1,-1e-3,1\n"
                                      "7,1,0,1,1,1\n"
                                      "9,2,1,0,.25,2",
                               0, &err),
                     ASSAY_OK);
    assert_int_equal(counts->num_users, 2);
    assert_int_equal(counts->cell[assay_shape_pair(&SHAPE, 0, 0, 1)], 2);
    assert_int_equal(counts->cell[assay_shape_pair(&SHAPE, 1, 1, 0)], 2);
    assert_int_equal(
        counts->cell[12 + assay_shape_pair(&SHAPE, 1, 1, 0) * 3 + 2], 2);
    assay_counts_free(counts);
}

static void bad_files_are_refused_with_line_and_reason(void **state)
{
    (void)state;
    refuses("", 1, "empty");
    refuses(HEADER, 2, "no transitions");
    refuses("user,h,s,a,r\n", 1, "first line");
    refuses(HEADER "1,1,0,0,0,0\n", 2, "has no step 2");
    refuses(HEADER "1,2,0,0,0,0\n2,1,0,0,0,0\n2,2,0,0,0,0\n", 2, "no step 1");
    refuses(HEADER "1,1,3,0,0,0\n", 2, "s is 3");
    refuses(HEADER "1,1,0,0,0,3\n", 2, "s_next is 3");
    refuses(HEADER "1,1,0,2,0,0\n", 2, "a is 2");
    refuses(HEADER "1,0,0,0,0,0\n", 2, "h is 0");
    refuses(HEADER "1,3,0,0,0,0\n", 2, "h is 3");
    refuses(HEADER "1,1,0,0,nan,0\n", 2, "finite");
    refuses(HEADER "1,1,0,0,inf,0\n", 2, "finite");
    refuses(HEADER "1,1,0,0,1e999,0\n", 2, "finite");
    refuses(HEADER "1,1,0,0,,0\n", 2, "finite");
    refuses(HEADER "1,1,0,0,0,0\n1,1,0,0,0,0\n", 3, "step 1 twice");
    refuses(HEADER "1,1,0,0,0\n", 2, "six fields");
    refuses(HEADER "1,1,0,0,0,0,0\n", 2, "six fields");
    refuses(HEADER "\n", 2, "six fields");
    refuses(HEADER "-1,1,0,0,0,0\n", 2, "user is not a whole number");
    refuses(HEADER "18446744073709551616,1,0,0,0,0\n", 2, "user");
    refuses(HEADER "1,1,0x1,0,0,0\n", 2, "s is not");
}

static void a_step_begins_where_the_last_ended(void **state)
{
    const char *text = HEADER "1,1,0,0,0,2\n2,2,1,0,0,0\n1,2,2,0,0,0\n"
                              "2,1,0,0,0,2\n";
    assay_counts *counts = NULL;
    assay_read_options how = {.allow_jumps = 1};
    assay_error err = ASSAY_ERROR_INIT;
    char path[64];
    (void)state;
    refuses(text, 3,
            "user 2 is in state 1 at step 2, but step 1 went to state 2 "
            "(line 5)");
    write_text(path, text, strlen(text));
    assert_int_equal(
        assay_trajectories_read_csv(&counts, path, &SHAPE, &how, &err), 0);
    (void)unlink(path);
    assay_counts_free(counts);
}

static void nobody_may_be_in_both_files(void **state)
{
    const char *first = HEADER "1,1,0,0,0,0\n1,2,0,0,0,0\n";
    const char *second = HEADER "2,1,0,0,0,0\n2,2,0,0,0,0\n1,1,0,0,0,0\n"
                                "1,2,0,0,0,0\n";
    assay_counts *counts = NULL;
    assay_counts *none = NULL;
    assay_roster *people = NULL;
    assay_read_options how = {.roster = &people};
    assay_error err = ASSAY_ERROR_INIT;
    char path[64];
    (void)state;
    write_text(path, first, strlen(first));
    assert_int_equal(
        assay_trajectories_read_csv(&counts, path, &SHAPE, &how, &err), 0);
    (void)unlink(path);
    assert_true(assay_roster_has(people, 1));
    assert_false(assay_roster_has(people, 2));
    how.roster = NULL;
    how.others = people;
    write_text(path, second, strlen(second));
    assert_int_equal(
        assay_trajectories_read_csv(&none, path, &SHAPE, &how, &err),
        ASSAY_INVALID);
    (void)unlink(path);
    assert_int_equal(err.line, 4);
    assert_non_null(strstr(err.message, "user 1 is in the other file"));
    assay_roster_free(people);
    assay_counts_free(counts);
}

static void too_many_users_are_refused(void **state)
{
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    const char *text = HEADER "1,1,0,0,0,0\n2,1,0,0,0,0\n3,1,0,0,0,0\n";
    (void)state;
    assert_int_equal(read_text(&counts, text, 2, &err), ASSAY_INVALID);
    assert_int_equal(err.line, 4);
    assert_non_null(strstr(err.message, "2^31"));
    /* the usual limit is that one; a larger wish does not raise it */
    assert_true(ASSAY_COUNTS_MAX_USERS + 1 == UINT64_C(1) << 31);
}

static void a_line_without_end_is_refused(void **state)
{
    char path[64];
    char *text = malloc(100000);
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_non_null(text);
    memset(text, '1', 100000);
    memcpy(text, HEADER, strlen(HEADER));
    write_text(path, text, 100000);
    assert_int_equal(
        assay_trajectories_read_csv(&counts, path, &SHAPE, NULL, &err),
        ASSAY_INVALID);
    assert_int_equal(err.line, 2);
    (void)unlink(path);
    free(text);
}

static void a_missing_file_is_an_io_error(void **state)
{
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_trajectories_read_csv(&counts, "/nonexistent/x",
                                                 &SHAPE, NULL, &err),
                     ASSAY_IO);
}

/* Writes riverswim data of many users and reads it with k threads. */
static void counts_do_not_depend_on_threads(void **state)
{
    char path[64];
    assay_mdp *mdp = NULL;
    double *behaviour = NULL;
    assay_counts *counts[4] = {NULL, NULL, NULL, NULL};
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    write_text(path, "", 0);
    assert_int_equal(assay_environment_new(&mdp, "riverswim", &err), 0);
    assert_int_equal(
        assay_environment_behaviour(&behaviour, "riverswim", mdp, &err), 0);
    assert_int_equal(
        assay_trajectories_write_csv(path, mdp, behaviour, 60000, 5, &err), 0);
    for (uint32_t k = 0; k < 4; k++) {
        assay_read_options how = {.num_threads = 0};
        int64_t l1 = 0;
        int64_t l2 = 0;
        how.num_threads = k + 1;
        assert_int_equal(assay_trajectories_read_csv(&counts[k], path,
                                                     &mdp->shape, &how, &err),
                         0);
        assert_int_equal(counts[k]->num_users, 60000);
        assay_counts_distance(&l1, &l2, counts[0], counts[k], 0);
        assert_int_equal(l1, 0);
    }
    for (uint32_t k = 0; k < 4; k++) {
        assay_counts_free(counts[k]);
    }
    (void)unlink(path);
    free(behaviour);
    assay_mdp_free(mdp);
}

/* The same message with one thread and with three. */
static void messages_do_not_depend_on_threads(void **state)
{
    size_t rows = 600000;
    char *text = malloc(rows * 24 + 64);
    size_t len = 0;
    char path[64];
    assay_error err[2] = {ASSAY_ERROR_INIT, ASSAY_ERROR_INIT};
    (void)state;
    assert_non_null(text);
    len += (size_t)sprintf(text, HEADER);
    for (size_t i = 0; i < rows; i++) {
        size_t user = i == 555555 ? 3 : i / 2;
        len +=
            (size_t)sprintf(text + len, "%zu,%zu,0,0,0,0\n", user, i % 2 + 1);
    }
    write_text(path, text, len);
    for (uint32_t k = 0; k < 2; k++) {
        assay_counts *counts = NULL;
        assay_read_options how = {.num_threads = 0};
        how.num_threads = 1 + 2 * k;
        assert_int_equal(
            assay_trajectories_read_csv(&counts, path, &SHAPE, &how, &err[k]),
            ASSAY_INVALID);
    }
    assert_int_equal(err[0].line, 555557);
    assert_int_equal(err[1].line, 555557);
    assert_string_equal(err[0].message, err[1].message);
    (void)unlink(path);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_in_any_order_are_counted),
        cmocka_unit_test(bad_files_are_refused_with_line_and_reason),
        cmocka_unit_test(a_step_begins_where_the_last_ended),
        cmocka_unit_test(nobody_may_be_in_both_files),
        cmocka_unit_test(too_many_users_are_refused),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(a_missing_file_is_an_io_error),
        cmocka_unit_test(counts_do_not_depend_on_threads),
        cmocka_unit_test(messages_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
