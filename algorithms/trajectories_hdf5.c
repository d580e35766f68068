/* ring: glue */
#include <hdf5.h>
#include <limits.h>
#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/trajectories.h"

#define CHUNK ((hsize_t)1 << 16)

/* One column of the file; `id` < 0: it is not there. */
typedef struct column {
    const char *name;
    hid_t id;
    int is_enum; /* h5py's booleans */
    hsize_t rows;
    double *value;  /* CHUNK of them */
    uint8_t *small; /* scratch of enums */
} column;

enum { OBS, ACT, REW, TERM, TIMEOUT, NEXT, NUM_COLUMNS };

typedef struct reader {
    const char *path;
    const assay_read_options *options; /* may be NULL */
    hid_t file;
    column col[NUM_COLUMNS];
    hsize_t row; /* of the row at hand, from 1 */
    assay_counts *counts;
    uint32_t h;    /* steps of the open trajectory so far */
    uint32_t s, a; /* its last state and action */
    double next;   /* next_observations of that row, or -1 */
} reader;

#define REFUSE(r, ...)                                                         \
    assay_fail_at(err, ASSAY_INVALID,                                          \
                  (r)->row > INT_MAX ? INT_MAX : (int)(r)->row, 1,             \
                  __VA_ARGS__)

/* N or N x 1, of numbers or of one-byte enums. */
static assay_status check_type(reader *r, column *c, assay_error *err)
{
    hsize_t size[2] = {0, 1};
    hid_t space = H5Dget_space(c->id);
    hid_t type = H5Dget_type(c->id);
    int rank = H5Sget_simple_extent_ndims(space);
    H5T_class_t kind = H5Tget_class(type);
    int good = (rank == 1 || rank == 2) &&
               H5Sget_simple_extent_dims(space, size, NULL) == rank &&
               size[1] == 1;
    c->is_enum = kind == H5T_ENUM && H5Tget_size(type) == 1;
    good &= kind == H5T_INTEGER || kind == H5T_FLOAT || c->is_enum;
    c->rows = size[0];
    (void)H5Sclose(space);
    (void)H5Tclose(type);
    if (!good) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s: '%s' must hold N or N x 1 numbers", r->path,
                          c->name);
    }
    return ASSAY_OK;
}

static assay_status open_column(reader *r, column *c, const char *name,
                                int needed, assay_error *err)
{
    c->name = name;
    c->id = -1;
    if (H5Lexists(r->file, name, H5P_DEFAULT) > 0) {
        c->id = H5Dopen2(r->file, name, H5P_DEFAULT);
    }
    if (c->id < 0) {
        return needed ? assay_fail(err, ASSAY_INVALID, "%s: no dataset '%s'",
                                   r->path, name)
                      : ASSAY_OK;
    }
    c->value = malloc(CHUNK * sizeof(double));
    c->small = malloc(CHUNK);
    if (c->value == NULL || c->small == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory to read");
    }
    return check_type(r, c, err);
}

static assay_status open_file(reader *r, assay_error *err)
{
    static const char *const names[NUM_COLUMNS] = {
        "observations", "actions",  "rewards",
        "terminals",    "timeouts", "next_observations"};
    assay_status status = ASSAY_OK;
    r->file = H5Fopen(r->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (r->file < 0) {
        return assay_fail(err, ASSAY_IO, "%s: cannot be read as HDF5", r->path);
    }
    for (int i = 0; status == ASSAY_OK && i < NUM_COLUMNS; i++) {
        status = open_column(r, &r->col[i], names[i], i < TIMEOUT, err);
        if (status == ASSAY_OK && r->col[i].id >= 0 &&
            r->col[i].rows != r->col[OBS].rows) {
            status = assay_fail(err, ASSAY_INVALID,
                                "%s: '%s' and 'observations' differ in length",
                                r->path, names[i]);
        }
    }
    if (status == ASSAY_OK && r->col[OBS].rows == 0) {
        status = assay_fail_at(err, ASSAY_INVALID, 1, 1,
                               "%s: there are no transitions", r->path);
    }
    return status;
}

static void close_file(reader *r)
{
    for (int i = 0; i < NUM_COLUMNS; i++) {
        column *c = &r->col[i];
        if (c->id >= 0 && c->name != NULL) {
            (void)H5Dclose(c->id);
        }
        if (c->value != NULL) {
            OPENSSL_cleanse(c->value, CHUNK * sizeof(double));
        }
        free(c->value);
        free(c->small);
    }
    if (r->file >= 0) {
        (void)H5Fclose(r->file);
    }
}

static int fetch(const column *c, hsize_t first, hsize_t n)
{
    hsize_t start[2] = {first, 0};
    hsize_t count[2] = {n, 1};
    hid_t disk = H5Dget_space(c->id);
    hid_t memory = H5Screate_simple(1, &n, NULL);
    hid_t type = H5Dget_type(c->id);
    int ok = H5Sselect_hyperslab(disk, H5S_SELECT_SET, start, NULL, count,
                                 NULL) >= 0;
    if (ok && c->is_enum) {
        ok = H5Dread(c->id, type, memory, disk, H5P_DEFAULT, c->small) >= 0;
        for (hsize_t i = 0; ok && i < n; i++) {
            c->value[i] = c->small[i];
        }
    } else if (ok) {
        ok = H5Dread(c->id, H5T_NATIVE_DOUBLE, memory, disk, H5P_DEFAULT,
                     c->value) >= 0;
    }
    (void)H5Tclose(type);
    (void)H5Sclose(memory);
    (void)H5Sclose(disk);
    return ok;
}

/* A whole number below `limit`, or a refusal. */
static assay_status whole(uint32_t *out, const reader *r, int which, double x,
                          uint32_t limit, assay_error *err)
{
    if (!(x >= 0.0 && x < (double)limit) || floor(x) < x) {
        return REFUSE(r, "%s: '%s' must be a whole number from 0 to %u",
                      r->path, r->col[which].name, limit - 1);
    }
    *out = (uint32_t)x;
    return ASSAY_OK;
}

/* The open trajectory ends with the row at hand. */
static assay_status end_trajectory(reader *r, assay_error *err)
{
    uint32_t after = r->s;
    assay_status status = ASSAY_OK;
    if (r->h != r->counts->shape.horizon) {
        return REFUSE(r, "%s: a trajectory of %u steps ends here, not of %u",
                      r->path, r->h, r->counts->shape.horizon);
    }
    if (r->col[NEXT].id >= 0) {
        status =
            whole(&after, r, NEXT, r->next, r->counts->shape.num_states, err);
    }
    if (status == ASSAY_OK) {
        assay_counts_add(r->counts, r->h - 1, r->s, r->a, after);
        r->counts->num_users++;
        r->h = 0;
    }
    return status;
}

/* The row begins elsewhere than the one before ended. */
static int jumps(const reader *r, uint32_t s)
{
    int allowed = r->options != NULL && r->options->allow_jumps;
    return !allowed && !(fabs(r->next - (double)s) < 0.5);
}

static assay_status take_row(reader *r, hsize_t i, assay_error *err)
{
    const assay_shape *shape = &r->counts->shape;
    uint32_t s = 0;
    uint32_t a = 0;
    int ends;
    assay_status status =
        whole(&s, r, OBS, r->col[OBS].value[i], shape->num_states, err);
    if (status == ASSAY_OK) {
        status =
            whole(&a, r, ACT, r->col[ACT].value[i], shape->num_actions, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    if (!isfinite(r->col[REW].value[i])) {
        return REFUSE(r, "%s: 'rewards' is not finite", r->path);
    }
    if (r->h >= shape->horizon) {
        return REFUSE(r, "%s: a trajectory has more than %u steps", r->path,
                      shape->horizon);
    }
    if (r->h > 0) {
        if (r->col[NEXT].id >= 0 && jumps(r, s)) {
            return REFUSE(r,
                          "%s: 'observations' is %u, but "
                          "'next_observations' before it is %.17g",
                          r->path, s, r->next);
        }
        assay_counts_add(r->counts, r->h - 1, r->s, r->a, s);
    }
    r->s = s;
    r->a = a;
    r->h++;
    r->next = r->col[NEXT].id >= 0 ? r->col[NEXT].value[i] : -1.0;
    ends = fabs(r->col[TERM].value[i]) > 0.0 ||
           (r->col[TIMEOUT].id >= 0 && fabs(r->col[TIMEOUT].value[i]) > 0.0);
    return ends ? end_trajectory(r, err) : ASSAY_OK;
}

static assay_status take_rows(reader *r, assay_error *err)
{
    hsize_t total = r->col[OBS].rows;
    assay_status status = ASSAY_OK;
    for (hsize_t first = 0; first < total; first += CHUNK) {
        hsize_t n = total - first < CHUNK ? total - first : CHUNK;
        for (int i = 0; i < NUM_COLUMNS; i++) {
            if (r->col[i].id >= 0 && !fetch(&r->col[i], first, n)) {
                return assay_fail(err, ASSAY_IO, "%s: '%s' cannot be read",
                                  r->path, r->col[i].name);
            }
        }
        if (r->options != NULL && r->options->meter != NULL) {
            r->options->meter->total = total;
            assay_progress_update(r->options->meter, first, NULL);
        }
        for (hsize_t i = 0; i < n; i++) {
            r->row = first + i + 1;
            status = take_row(r, i, err);
            if (status != ASSAY_OK) {
                return status;
            }
        }
    }
    if (r->h != 0) {
        return REFUSE(r, "%s: the last trajectory does not end", r->path);
    }
    if (r->counts->num_users > ASSAY_COUNTS_MAX_USERS) {
        return REFUSE(r, "%s: too many users (fewer than 2^31 are supported)",
                      r->path);
    }
    return ASSAY_OK;
}

static assay_status read_file(assay_counts **out, const char *path,
                              const assay_shape *shape,
                              const assay_read_options *options,
                              assay_error *err)
{
    reader r;
    assay_status status = assay_shape_check(shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    memset(&r, 0, sizeof r);
    for (int i = 0; i < NUM_COLUMNS; i++) {
        r.col[i].id = -1;
    }
    r.path = path;
    r.options = options;
    (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* the library never prints */
    status = open_file(&r, err);
    if (status == ASSAY_OK) {
        status = assay_counts_new(&r.counts, shape, err);
    }
    if (status == ASSAY_OK) {
        status = take_rows(&r, err);
    }
    close_file(&r);
    if (status != ASSAY_OK) {
        assay_counts_free(r.counts);
        return status;
    }
    *out = r.counts;
    return ASSAY_OK;
}

assay_status assay_trajectories_read_hdf5(assay_counts **out, const char *path,
                                          const assay_shape *shape,
                                          assay_error *err)
{
    return read_file(out, path, shape, NULL, err);
}

static int ends_with(const char *text, const char *tail)
{
    size_t n = strlen(text);
    size_t m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

assay_status assay_trajectories_read(assay_counts **out, const char *path,
                                     const assay_shape *shape,
                                     const assay_read_options *options,
                                     assay_error *err)
{
    if (ends_with(path, ".h5") || ends_with(path, ".hdf5")) {
        if (options != NULL && options->others != NULL) {
            return assay_fail(err, ASSAY_INVALID,
                              "%s: HDF5 files do not name their users, so "
                              "nobody can tell whether one is in both files; "
                              "use CSV",
                              path);
        }
        return read_file(out, path, shape, options, err);
    }
    return assay_trajectories_read_csv(out, path, shape, options, err);
}
