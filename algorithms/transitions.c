/* ring: glue */
#include "algorithms/transitions.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/checkpoint.h"
#include "core/csv.h"

void assay_transitions_init(assay_transitions *out, size_t dim, int num_actions)
{
    memset(out, 0, sizeof *out);
    out->dim = dim;
    out->num_actions = num_actions;
}

void assay_transitions_clear(assay_transitions *rows)
{
    free(rows->expert);
    free(rows->trajectory);
    free(rows->t);
    free(rows->states);
    free(rows->actions);
    free(rows->rewards);
    free(rows->next_states);
    free(rows->done);
    assay_transitions_init(rows, rows->dim, rows->num_actions);
}

static int grow_one(void *at, size_t capacity, size_t size)
{
    void **p = at;
    void *fresh = realloc(*p, capacity * size);
    if (fresh != NULL) {
        *p = fresh;
    }
    return fresh != NULL;
}

static assay_status grow(assay_transitions *r, assay_error *err)
{
    size_t n = r->capacity == 0 ? 256 : 2 * r->capacity;
    if (!grow_one(&r->expert, n, sizeof *r->expert) ||
        !grow_one(&r->trajectory, n, sizeof *r->trajectory) ||
        !grow_one(&r->t, n, sizeof *r->t) ||
        !grow_one(&r->states, n, r->dim * sizeof(double)) ||
        !grow_one(&r->actions, n, sizeof *r->actions) ||
        !grow_one(&r->rewards, n, sizeof *r->rewards) ||
        !grow_one(&r->next_states, n, r->dim * sizeof(double)) ||
        !grow_one(&r->done, n, sizeof *r->done)) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for transitions");
    }
    r->capacity = n;
    return ASSAY_OK;
}

static int all_finite(const double *x, size_t n)
{
    int ok = 1;
    for (size_t i = 0; i < n; i++) {
        ok = ok && isfinite(x[i]);
    }
    return ok;
}

assay_status assay_transitions_add(assay_transitions *rows,
                                   const assay_transition *row,
                                   assay_error *err)
{
    size_t i = rows->num_rows;
    size_t d = rows->dim;
    if (row->action < 0 || row->action >= rows->num_actions) {
        return assay_fail(err, ASSAY_INVALID, "action %d is not below %d",
                          row->action, rows->num_actions);
    }
    if (!isfinite(row->reward) || !all_finite(row->state, d) ||
        !all_finite(row->next_state, d)) {
        return assay_fail(err, ASSAY_INVALID,
                          "states and rewards must be finite numbers");
    }
    if (i == rows->capacity) {
        assay_status status = grow(rows, err);
        if (status != ASSAY_OK) {
            return status;
        }
    }
    rows->expert[i] = row->expert;
    rows->trajectory[i] = row->trajectory;
    rows->t[i] = row->t;
    memcpy(rows->states + i * d, row->state, d * sizeof(double));
    rows->actions[i] = row->action;
    rows->rewards[i] = row->reward;
    memcpy(rows->next_states + i * d, row->next_state, d * sizeof(double));
    rows->done[i] = row->done != 0;
    rows->num_rows++;
    return ASSAY_OK;
}

assay_status assay_transitions_join(assay_transitions *rows,
                                    const assay_transitions *more,
                                    assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (rows->dim != more->dim || rows->num_actions != more->num_actions) {
        return assay_fail(err, ASSAY_INVALID,
                          "transitions of different problems do not join");
    }
    for (size_t i = 0; status == ASSAY_OK && i < more->num_rows; i++) {
        assay_transition row = {more->expert[i],
                                more->trajectory[i],
                                more->t[i],
                                more->states + i * more->dim,
                                more->actions[i],
                                more->rewards[i],
                                more->next_states + i * more->dim,
                                more->done[i]};
        status = assay_transitions_add(rows, &row, err);
    }
    return status;
}

static void write_header(FILE *f, size_t dim)
{
    (void)fputs("expert,trajectory,t", f);
    for (size_t i = 0; i < dim; i++) {
        (void)fprintf(f, ",s%zu", i);
    }
    (void)fputs(",a,r", f);
    for (size_t i = 0; i < dim; i++) {
        (void)fprintf(f, ",n%zu", i);
    }
    (void)fputs(",done\n", f);
}

static void write_row(FILE *f, const assay_transitions *r, size_t i)
{
    (void)fprintf(f, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, r->expert[i],
                  r->trajectory[i], r->t[i]);
    for (size_t k = 0; k < r->dim; k++) {
        (void)fprintf(f, ",%.17g", r->states[i * r->dim + k]);
    }
    (void)fprintf(f, ",%" PRId32 ",%.17g", r->actions[i], r->rewards[i]);
    for (size_t k = 0; k < r->dim; k++) {
        (void)fprintf(f, ",%.17g", r->next_states[i * r->dim + k]);
    }
    (void)fprintf(f, ",%d\n", (int)r->done[i]);
}

static int is_binary(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".bin") == 0;
}

/* The columns of the CSV file in their order. */
static void pack(double *to, const assay_transitions *r, size_t i)
{
    size_t d = r->dim;
    to[0] = r->expert[i];
    to[1] = r->trajectory[i];
    to[2] = r->t[i];
    memcpy(to + 3, r->states + i * d, d * sizeof *to);
    to[3 + d] = r->actions[i];
    to[4 + d] = r->rewards[i];
    memcpy(to + 5 + d, r->next_states + i * d, d * sizeof *to);
    to[5 + 2 * d] = r->done[i];
}

static assay_status save_binary(const char *path, const assay_transitions *rows,
                                assay_error *err)
{
    size_t width = 6 + 2 * rows->dim;
    double *all = malloc((rows->num_rows * width + 1) * sizeof *all);
    json_t *header;
    assay_status status;
    if (all == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %s", path);
    }
    for (size_t i = 0; i < rows->num_rows; i++) {
        pack(all + i * width, rows, i);
    }
    header = json_pack("{s:I, s:i}", "dim", (json_int_t)rows->dim,
                       "num_actions", rows->num_actions);
    status = assay_checkpoint_write(path, "transitions", header, all,
                                    rows->num_rows * width, err);
    json_decref(header);
    free(all);
    return status;
}

static uint64_t stir(uint64_t key, uint64_t word)
{
    key = (key ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

uint64_t assay_transitions_key(const assay_transitions *rows, size_t first,
                               size_t num)
{
    uint64_t key = num;
    for (size_t i = first; i < first + num; i++) {
        for (size_t k = 0; k < rows->dim; k++) {
            uint64_t word;
            memcpy(&word, &rows->states[i * rows->dim + k], sizeof word);
            key = stir(key, word);
        }
        key = stir(key, (uint64_t)rows->actions[i]);
    }
    return key;
}

assay_status assay_transitions_save(const char *path,
                                    const assay_transitions *rows,
                                    assay_error *err)
{
    FILE *f;
    int bad;
    if (is_binary(path)) {
        return save_binary(path, rows, err);
    }
    f = fopen(path, "w");
    if (f == NULL) {
        return assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    }
    write_header(f, rows->dim);
    for (size_t i = 0; i < rows->num_rows; i++) {
        write_row(f, rows, i);
    }
    bad = ferror(f);
    bad = fclose(f) != 0 || bad;
    if (bad) {
        (void)remove(path);
        return assay_fail(err, ASSAY_IO, "%s could not be written", path);
    }
    return ASSAY_OK;
}

static assay_status read_number(const assay_csv *csv, size_t column,
                                double *out, assay_error *err)
{
    char text[64];
    char *end = NULL;
    assay_field f = csv->fields[column];
    if (f.len == 0 || f.len >= sizeof text) {
        return assay_csv_fail(csv, column, "expected a number", err);
    }
    memcpy(text, f.text, f.len);
    text[f.len] = '\0';
    *out = strtod(text, &end);
    if (end != text + f.len || !isfinite(*out)) {
        return assay_csv_fail(csv, column, "expected a finite number", err);
    }
    return ASSAY_OK;
}

static assay_status read_whole(const assay_csv *csv, size_t column,
                               uint32_t most, uint32_t *out, assay_error *err)
{
    double x = 0;
    assay_status status = read_number(csv, column, &x, err);
    if (status == ASSAY_OK && !(x >= 0 && x <= most && x == floor(x))) {
        status = assay_csv_fail(csv, column, "whole number out of range", err);
    }
    if (status == ASSAY_OK) {
        *out = (uint32_t)x;
    }
    return status;
}

static assay_status check_names(const assay_csv *csv, size_t dim,
                                assay_error *err)
{
    char name[32];
    size_t column = 3;
    int ok = csv->num_columns == 6 + 2 * dim &&
             strcmp(assay_csv_name(csv, 0), "expert") == 0 &&
             strcmp(assay_csv_name(csv, 1), "trajectory") == 0 &&
             strcmp(assay_csv_name(csv, 2), "t") == 0;
    for (size_t i = 0; ok && i < 2 * dim + 2; i++) {
        if (i == dim || i == dim + 1) {
            (void)snprintf(name, sizeof name, "%s", i == dim ? "a" : "r");
        } else {
            (void)snprintf(name, sizeof name, "%c%zu", i < dim ? 's' : 'n',
                           i < dim ? i : i - dim - 2);
        }
        ok = strcmp(assay_csv_name(csv, column++), name) == 0;
    }
    ok = ok && strcmp(assay_csv_name(csv, column), "done") == 0;
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_INVALID,
                           "the header must be expert,trajectory,t,s0..s%zu,"
                           "a,r,n0..n%zu,done",
                           dim - 1, dim - 1);
}

static assay_status read_row(assay_transitions *rows, const assay_csv *csv,
                             assay_error *err)
{
    double number[2 * ASSAY_TRANSITIONS_MAX_DIM + 1];
    uint32_t whole[5] = {0, 0, 0, 0, 0};
    size_t d = rows->dim;
    const size_t place[5] = {0, 1, 2, 3 + d, 5 + 2 * d};
    uint32_t most[5] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 1};
    assay_transition row;
    assay_status status = ASSAY_OK;
    most[3] = (uint32_t)(rows->num_actions - 1);
    for (size_t i = 0; status == ASSAY_OK && i < 5; i++) {
        status = read_whole(csv, place[i], most[i], &whole[i], err);
    }
    for (size_t i = 0; status == ASSAY_OK && i < 2 * d + 1; i++) {
        status = read_number(csv, i < d ? 3 + i : 4 + i, &number[i], err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    row.expert = whole[0];
    row.trajectory = whole[1];
    row.t = whole[2];
    row.state = number;
    row.action = (int)whole[3];
    row.reward = number[d];
    row.next_state = number + d + 1;
    row.done = (int)whole[4];
    return assay_transitions_add(rows, &row, err);
}

static int is_whole(double x, double most)
{
    return x >= 0.0 && x <= most && x == floor(x);
}

static assay_status unpack(assay_transitions *rows, const double *from,
                           const char *path, size_t line, assay_error *err)
{
    size_t d = rows->dim;
    assay_transition row;
    if (!is_whole(from[0], UINT32_MAX) || !is_whole(from[1], UINT32_MAX) ||
        !is_whole(from[2], UINT32_MAX) || !is_whole(from[5 + 2 * d], 1) ||
        !is_whole(from[3 + d], rows->num_actions - 1)) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s: row %zu has a number out of range", path, line);
    }
    row.expert = (uint32_t)from[0];
    row.trajectory = (uint32_t)from[1];
    row.t = (uint32_t)from[2];
    row.state = from + 3;
    row.action = (int)from[3 + d];
    row.reward = from[4 + d];
    row.next_state = from + 5 + d;
    row.done = (int)from[5 + 2 * d];
    return assay_transitions_add(rows, &row, err);
}

static assay_status load_binary(assay_transitions *rows, const char *path,
                                assay_error *err)
{
    size_t width = 6 + 2 * rows->dim;
    json_t *header = NULL;
    double *all = NULL;
    size_t num = 0;
    assay_status status =
        assay_checkpoint_read(&header, &all, &num, path, "transitions", err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (json_integer_value(json_object_get(header, "dim")) !=
            (json_int_t)rows->dim ||
        json_integer_value(json_object_get(header, "num_actions")) !=
            rows->num_actions ||
        num % width != 0) {
        status = assay_fail(err, ASSAY_INVALID,
                            "%s: transitions of another problem", path);
    }
    for (size_t i = 0; status == ASSAY_OK && i < num / width; i++) {
        status = unpack(rows, all + i * width, path, i, err);
    }
    free(all);
    json_decref(header);
    return status;
}

static assay_status load_csv(assay_transitions *rows, const char *path,
                             assay_error *err)
{
    assay_csv csv;
    int more = 1;
    assay_status status = assay_csv_open(&csv, path, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = check_names(&csv, rows->dim, err);
    while (status == ASSAY_OK && more) {
        status = assay_csv_next(&csv, &more, err);
        if (status == ASSAY_OK && more) {
            status = read_row(rows, &csv, err);
        }
    }
    assay_csv_close(&csv);
    return status;
}

assay_status assay_transitions_load(assay_transitions *out, const char *path,
                                    size_t dim, int num_actions,
                                    assay_error *err)
{
    assay_transitions rows;
    assay_status status;
    if (dim < 1 || dim > ASSAY_TRANSITIONS_MAX_DIM || num_actions < 1) {
        return assay_fail(err, ASSAY_INVALID, "a state has 1 to %d numbers",
                          ASSAY_TRANSITIONS_MAX_DIM);
    }
    assay_transitions_init(&rows, dim, num_actions);
    status = is_binary(path) ? load_binary(&rows, path, err)
                             : load_csv(&rows, path, err);
    if (status != ASSAY_OK) {
        assay_transitions_clear(&rows);
        return status;
    }
    *out = rows;
    return ASSAY_OK;
}
