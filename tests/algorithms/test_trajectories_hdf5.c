/* HDF5 trajectories: the same counts as CSV, and what is refused. */
#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "algorithms/trajectories.h"

static const assay_shape SHAPE = {3, 2, 2};
static char path[] = "/tmp/assay-trajectories-XXXXXX.h5";

static void put(hid_t file, const char *name, hid_t disk, hid_t memory,
                const void *data, hsize_t n, int column)
{
    hsize_t size[2] = {n, 1};
    hid_t space = H5Screate_simple(column ? 2 : 1, size, NULL);
    hid_t set = H5Dcreate2(file, name, disk, space, H5P_DEFAULT, H5P_DEFAULT,
                           H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >=
                0);
    (void)H5Dclose(set);
    (void)H5Sclose(space);
}

/* Booleans as h5py writes them. */
static hid_t boolean(void)
{
    hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    int8_t value = 0;
    assert_true(H5Tenum_insert(type, "FALSE", &value) >= 0);
    value = 1;
    assert_true(H5Tenum_insert(type, "TRUE", &value) >= 0);
    return type;
}

typedef struct rows {
    hsize_t n;
    double obs[8];
    int act[8];
    float rew[8];
    int8_t term[8];
    int with_next;
    double next[8];
} rows;

static const rows GOOD = {
    4, {0, 1, 0, 2}, {1, 0, 1, 1}, {0.5f, 1.0f, 0.0f, 0.0f}, {0, 1, 0, 1},
    1, {1, 2, 2, 0}};

static assay_status read_rows(assay_counts **out, const rows *r,
                              const char *skip, assay_error *err)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t flag = boolean();
    assay_status status;
    assert_true(file >= 0);
    put(file, "observations", H5T_IEEE_F32LE, H5T_NATIVE_DOUBLE, r->obs, r->n,
        1);
    put(file, "rewards", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, r->rew, r->n, 0);
    if (strcmp(skip, "actions") != 0) {
        put(file, "actions", H5T_STD_I64LE, H5T_NATIVE_INT, r->act, r->n, 0);
    }
    put(file, "terminals", flag, flag, r->term, r->n, 0);
    if (r->with_next) {
        put(file, "next_observations", H5T_STD_I32LE, H5T_NATIVE_DOUBLE,
            r->next, r->n, 0);
    }
    (void)H5Tclose(flag);
    (void)H5Fclose(file);
    status = assay_trajectories_read(out, path, &SHAPE, NULL, err);
    (void)unlink(path);
    return status;
}

static int64_t triple(const assay_counts *c, uint32_t h, uint32_t s, uint32_t a,
                      uint32_t t)
{
    return c->cell[c->num_pairs + assay_shape_pair(&SHAPE, h, s, a) * 3 + t];
}

static void trajectories_are_counted(void **state)
{
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    rows r = GOOD;
    (void)state;
    assert_int_equal(read_rows(&counts, &r, "", &err), 0);
    assert_int_equal(counts->num_users, 2);
    assert_int_equal(triple(counts, 0, 0, 1, 1), 1);
    assert_int_equal(triple(counts, 0, 0, 1, 2), 1);
    assert_int_equal(triple(counts, 1, 1, 0, 2), 1);
    assert_int_equal(triple(counts, 1, 2, 1, 0), 1);
    assay_counts_free(counts);
    counts = NULL;
    r.with_next = 0; /* the last state stands for the one after it */
    assert_int_equal(read_rows(&counts, &r, "", &err), 0);
    assert_int_equal(triple(counts, 1, 1, 0, 1), 1);
    assert_int_equal(triple(counts, 1, 2, 1, 2), 1);
    assay_counts_free(counts);
}

static void refuses(const rows *r, const char *skip, int line,
                    const char *reason)
{
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(read_rows(&counts, r, skip, &err), ASSAY_INVALID);
    assert_null(counts);
    if (err.line != line || strstr(err.message, reason) == NULL) {
        print_error("line %d: %s\n", err.line, err.message);
    }
    assert_int_equal(err.line, line);
    assert_non_null(strstr(err.message, reason));
}

static void bad_files_are_refused(void **state)
{
    rows r;
    (void)state;
    r = GOOD;
    r.obs[2] = 3.0;
    refuses(&r, "", 3, "observations");
    r = GOOD;
    r.obs[1] = 0.5;
    refuses(&r, "", 2, "whole number");
    r = GOOD;
    r.act[0] = -1;
    refuses(&r, "", 1, "actions");
    r = GOOD;
    r.rew[3] = NAN;
    refuses(&r, "", 4, "not finite");
    r = GOOD;
    r.term[0] = 1;
    refuses(&r, "", 1, "trajectory of 1 steps");
    r = GOOD;
    r.term[1] = 0;
    refuses(&r, "", 3, "more than 2");
    r = GOOD;
    r.term[3] = 0;
    refuses(&r, "", 4, "does not end");
    r = GOOD;
    r.next[3] = 7.0;
    refuses(&r, "", 4, "next_observations");
    r = GOOD;
    r.next[0] = 0.0;
    refuses(&r, "", 2, "'observations' is 1, but 'next_observations' before");
    r = GOOD;
    refuses(&r, "actions", 0, "no dataset 'actions'");
}

static void what_is_not_hdf5_is_an_io_error(void **state)
{
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(
        assay_trajectories_read_hdf5(&counts, "/dev/null", &SHAPE, &err),
        ASSAY_IO);
}

int main(void)
{
    int fd = mkstemps(path, 3);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trajectories_are_counted),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(what_is_not_hdf5_is_an_io_error),
    };
    if (fd < 0 || close(fd) != 0) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
