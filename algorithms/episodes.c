/* ring: glue */
#include "algorithms/episodes.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/envrand.h"
#include "core/csv.h"

assay_status assay_episodes_new(assay_episodes **out, size_t dim,
                                double max_weight, assay_error *err)
{
    assay_episodes *e;
    if (dim == 0 || dim > 4096 || !(max_weight > 0.0) ||
        !isfinite(max_weight)) {
        return assay_fail(err, ASSAY_INVALID,
                          "episodes need 1 to 4096 features and a largest "
                          "weight above zero");
    }
    e = calloc(1, sizeof *e);
    if (e == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for episodes");
    }
    e->dim = dim;
    e->max_weight = max_weight;
    *out = e;
    return ASSAY_OK;
}

static void wipe(void *data, size_t len)
{
    if (data != NULL) {
        OPENSSL_cleanse(data, len);
        free(data);
    }
}

void assay_episodes_free(assay_episodes *e)
{
    if (e == NULL) {
        return;
    }
    wipe(e->v_index, e->entry_room * sizeof *e->v_index);
    wipe(e->v_value, e->entry_room * sizeof *e->v_value);
    wipe(e->v_start, (e->vector_room + 1) * sizeof *e->v_start);
    wipe(e->start, (e->episode_room + 1) * sizeof *e->start);
    wipe(e->at, e->step_room * sizeof *e->at);
    wipe(e->next, e->step_room * sizeof *e->next);
    wipe(e->reward, e->step_room * sizeof *e->reward);
    wipe(e->weight, e->step_room * sizeof *e->weight);
    free(e);
}

/* A larger copy of an array; the old one is wiped. */
static int grow(void **data, size_t old_room, size_t room, size_t width)
{
    void *more = calloc(room, width);
    if (more == NULL) {
        return 0;
    }
    if (*data != NULL) {
        memcpy(more, *data, old_room * width);
    }
    wipe(*data, old_room * width);
    *data = more;
    return 1;
}

#define GROW(field, old, room)                                                 \
    grow((void **)&(field), (old), (room), sizeof *(field))

static assay_status no_memory(assay_error *err)
{
    return assay_fail(err, ASSAY_MEMORY, "no memory for episodes");
}

static assay_status vector_rooms(assay_episodes *e, size_t entries,
                                 assay_error *err)
{
    size_t used = e->num_vectors == 0 ? 0 : e->v_start[e->num_vectors];
    if (e->num_vectors == e->vector_room) {
        size_t room = 2 * e->vector_room + 64;
        if (!GROW(e->v_start, e->vector_room == 0 ? 0 : e->vector_room + 1,
                  room + 1)) {
            return no_memory(err);
        }
        e->vector_room = room;
    }
    if (used + entries > e->entry_room) {
        size_t room = 2 * (used + entries) + 64;
        if (!GROW(e->v_index, e->entry_room, room) ||
            !GROW(e->v_value, e->entry_room, room)) {
            return no_memory(err);
        }
        e->entry_room = room;
    }
    return ASSAY_OK;
}

assay_status assay_episodes_add_vector(assay_episodes *e, const double *vector,
                                       uint32_t *number, assay_error *err)
{
    size_t at;
    assay_status status;
    if (e->num_vectors >= ASSAY_TERMINAL) {
        return assay_fail(err, ASSAY_RANGE, "too many states");
    }
    status = vector_rooms(e, e->dim, err);
    if (status != ASSAY_OK) {
        return status;
    }
    at = e->v_start[e->num_vectors];
    for (size_t i = 0; i < e->dim; i++) {
        if (vector[i] != 0.0) {
            e->v_index[at] = (uint32_t)i;
            e->v_value[at++] = vector[i];
        }
    }
    if (number != NULL) {
        *number = (uint32_t)e->num_vectors;
    }
    e->num_vectors++;
    e->v_start[e->num_vectors] = at;
    return ASSAY_OK;
}

assay_status assay_episodes_add_units(assay_episodes *e, assay_error *err)
{
    double *x = calloc(e->dim, sizeof *x);
    assay_status status = x == NULL ? no_memory(err) : ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i < e->dim; i++) {
        x[i] = 1.0;
        status = assay_episodes_add_vector(e, x, NULL, err);
        x[i] = 0.0;
    }
    free(x);
    return status;
}

assay_status assay_episodes_add_step(assay_episodes *e, uint32_t at,
                                     uint32_t next, double reward,
                                     double weight, assay_error *err)
{
    if (at >= e->num_vectors ||
        (next != ASSAY_TERMINAL && next >= e->num_vectors) ||
        !isfinite(reward) || !(weight >= 0.0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "a step needs states that exist, a finite reward and "
                          "a weight of at least zero");
    }
    if (e->num_steps == e->step_room) {
        size_t room = 2 * e->step_room + 1024;
        if (room > ASSAY_EPISODES_MAX_STEPS ||
            !GROW(e->at, e->step_room, room) ||
            !GROW(e->next, e->step_room, room) ||
            !GROW(e->reward, e->step_room, room) ||
            !GROW(e->weight, e->step_room, room)) {
            return no_memory(err);
        }
        e->step_room = room;
    }
    e->at[e->num_steps] = at;
    e->next[e->num_steps] = next;
    e->reward[e->num_steps] = reward;
    e->weight[e->num_steps++] = fmin(weight, e->max_weight);
    return ASSAY_OK;
}

assay_status assay_episodes_end(assay_episodes *e, assay_error *err)
{
    size_t begin = e->num_episodes == 0 ? 0 : e->start[e->num_episodes];
    if (e->num_steps == begin) {
        return assay_fail(err, ASSAY_INVALID, "an episode has no steps");
    }
    if (e->num_episodes == e->episode_room) {
        size_t room = 2 * e->episode_room + 256;
        if (!GROW(e->start, e->episode_room == 0 ? 0 : e->episode_room + 1,
                  room + 1)) {
            return no_memory(err);
        }
        e->episode_room = room;
    }
    e->num_episodes++;
    e->start[e->num_episodes] = e->num_steps;
    return ASSAY_OK;
}

double assay_episodes_dot(const assay_episodes *e, uint32_t vector,
                          const double *x)
{
    double sum = 0.0;
    if (vector == ASSAY_TERMINAL) {
        return 0.0;
    }
    for (size_t k = e->v_start[vector]; k < e->v_start[vector + 1]; k++) {
        sum += e->v_value[k] * x[e->v_index[k]];
    }
    return sum;
}

void assay_episodes_axpy(const assay_episodes *e, uint32_t vector, double scale,
                         double *y)
{
    if (vector == ASSAY_TERMINAL) {
        return;
    }
    for (size_t k = e->v_start[vector]; k < e->v_start[vector + 1]; k++) {
        y[e->v_index[k]] += scale * e->v_value[k];
    }
}

/* ---- the chain -------------------------------------------------------------
 */

static assay_status walk(assay_episodes *e, assay_envrand *rand,
                         assay_error *err)
{
    uint32_t s = assay_envrand_below(rand, (uint32_t)e->dim);
    assay_status status = ASSAY_OK;
    while (status == ASSAY_OK && s < e->dim) {
        uint32_t t = s + (uint32_t)(assay_envrand_next(rand) >> 63);
        int end = t == e->dim;
        status = assay_episodes_add_step(e, s, end ? ASSAY_TERMINAL : t,
                                         end ? 1.0 : 0.0, 1.0, err);
        s = t;
    }
    return status == ASSAY_OK ? assay_episodes_end(e, err) : status;
}

assay_status assay_episodes_chain(assay_episodes **out, size_t num_states,
                                  size_t num_episodes, uint64_t seed,
                                  assay_error *err)
{
    assay_envrand rand;
    assay_episodes *e = NULL;
    assay_status status;
    if (num_states < 2) {
        return assay_fail(err, ASSAY_INVALID, "a chain needs 2 states");
    }
    status = assay_episodes_new(&e, num_states - 1, 1.0, err);
    if (status == ASSAY_OK) {
        status = assay_episodes_add_units(e, err);
    }
    assay_envrand_init(&rand, seed, 21);
    for (size_t i = 0; status == ASSAY_OK && i < num_episodes; i++) {
        status = walk(e, &rand, err);
    }
    if (status != ASSAY_OK) {
        assay_episodes_free(e);
        return status;
    }
    *out = e;
    return ASSAY_OK;
}

/* ---- reading ---------------------------------------------------------------
 */

typedef struct reader {
    assay_csv csv;
    size_t user, s, r, s_next, w;
    int has_w;
    uint64_t last; /* the user of the row before */
} reader;

static assay_status field_text(char out[64], const reader *r, size_t column,
                               assay_error *err)
{
    const assay_field *f = &r->csv.fields[column];
    if (f->len == 0 || f->len >= 64) {
        return assay_csv_fail(&r->csv, column, "is empty or too long", err);
    }
    memcpy(out, f->text, f->len);
    out[f->len] = '\0';
    return ASSAY_OK;
}

static assay_status real(double *out, const reader *r, size_t column,
                         assay_error *err)
{
    char text[64];
    char *end = NULL;
    assay_status status = field_text(text, r, column, err);
    if (status != ASSAY_OK) {
        return status;
    }
    *out = strtod(text, &end);
    if (text[strspn(text, "+-0123456789.eE")] != '\0' || *end != '\0' ||
        !isfinite(*out)) {
        return assay_csv_fail(&r->csv, column, "is not a finite number", err);
    }
    return ASSAY_OK;
}

static assay_status state(uint32_t *out, const reader *r, size_t column,
                          size_t num_states, int may_end, assay_error *err)
{
    char text[64];
    double x = 0.0;
    assay_status status = field_text(text, r, column, err);
    if (status == ASSAY_OK && may_end && strcmp(text, "end") == 0) {
        *out = ASSAY_TERMINAL;
        return ASSAY_OK;
    }
    if (status == ASSAY_OK) {
        status = real(&x, r, column, err);
    }
    if (status == ASSAY_OK &&
        !(x >= 0.0 && x < (double)num_states && x == floor(x))) {
        status = assay_csv_fail(&r->csv, column, "is not a state", err);
    }
    *out = (uint32_t)x;
    return status;
}

/* Users come in increasing order: nobody can come back as two people. */
static assay_status next_user(uint64_t *out, const reader *r, int first,
                              assay_error *err)
{
    char text[64];
    assay_status status = field_text(text, r, r->user, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (text[strspn(text, "0123456789")] != '\0' || strlen(text) > 18) {
        return assay_csv_fail(&r->csv, r->user, "is not a whole number", err);
    }
    *out = strtoull(text, NULL, 10);
    if (!first && *out < r->last) {
        return assay_csv_fail(&r->csv, r->user, "must not go back", err);
    }
    return ASSAY_OK;
}

/* A row; a new user ends the episode of the one before. */
static assay_status read_row(assay_episodes *e, reader *r, assay_error *err)
{
    uint64_t user = 0;
    uint32_t s = 0;
    uint32_t t = 0;
    double reward = 0.0;
    double weight = 1.0;
    assay_status status = next_user(&user, r, e->num_steps == 0, err);
    if (status == ASSAY_OK) {
        status = state(&s, r, r->s, e->dim, 0, err);
    }
    if (status == ASSAY_OK) {
        status = state(&t, r, r->s_next, e->dim, 1, err);
    }
    if (status == ASSAY_OK) {
        status = real(&reward, r, r->r, err);
    }
    if (status == ASSAY_OK && r->has_w) {
        status = real(&weight, r, r->w, err);
    }
    if (status == ASSAY_OK && weight < 0.0) {
        status = assay_csv_fail(&r->csv, r->w, "is negative", err);
    }
    if (status == ASSAY_OK && e->num_steps > 0 && user != r->last) {
        status = assay_episodes_end(e, err);
    }
    if (status == ASSAY_OK) {
        r->last = user;
        status = assay_episodes_add_step(e, s, t, reward, weight, err);
    }
    return status;
}

static assay_status open_reader(reader *r, const char *path, assay_error *err)
{
    assay_error ignored = ASSAY_ERROR_INIT;
    assay_status status;
    memset(r, 0, sizeof *r);
    status = assay_csv_open(&r->csv, path, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_csv_column(&r->csv, &r->user, "user", err);
    if (status == ASSAY_OK) {
        status = assay_csv_column(&r->csv, &r->s, "s", err);
    }
    if (status == ASSAY_OK) {
        status = assay_csv_column(&r->csv, &r->r, "r", err);
    }
    if (status == ASSAY_OK) {
        status = assay_csv_column(&r->csv, &r->s_next, "s_next", err);
    }
    r->has_w = assay_csv_column(&r->csv, &r->w, "w", &ignored) == ASSAY_OK;
    if (status != ASSAY_OK) {
        assay_csv_close(&r->csv);
    }
    return status;
}

static assay_status read_rows(assay_episodes *e, reader *r, assay_error *err)
{
    int more = 1;
    assay_status status = ASSAY_OK;
    while (status == ASSAY_OK) {
        status = assay_csv_next(&r->csv, &more, err);
        if (status != ASSAY_OK || !more) {
            break;
        }
        status = read_row(e, r, err);
    }
    return status == ASSAY_OK ? assay_episodes_end(e, err) : status;
}

assay_status assay_episodes_read(assay_episodes **out, const char *path,
                                 size_t num_states, double max_weight,
                                 assay_error *err)
{
    reader r;
    assay_episodes *e = NULL;
    assay_status status = open_reader(&r, path, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_episodes_new(&e, num_states, max_weight, err);
    if (status == ASSAY_OK) {
        status = assay_episodes_add_units(e, err);
    }
    if (status == ASSAY_OK) {
        status = read_rows(e, &r, err);
    }
    assay_csv_close(&r.csv);
    if (status != ASSAY_OK) {
        assay_episodes_free(e);
        return status;
    }
    *out = e;
    return ASSAY_OK;
}
