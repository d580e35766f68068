/* ring: glue */
#include "audit/divide.h"

#include <stdlib.h>
#include <string.h>

#include "audit/ranks.h"
#include "audit/rng.h"

assay_post assay_post_here;

/* What a rank reports beside its lines. */
typedef struct parcel {
    assay_status status;
    char host[64];
    char message[ASSAY_ERROR_LEN];
    char notes[2048];
} parcel;

/* Lines of one side, and where they come from. */
typedef struct lines {
    char *text;
    size_t len;
} lines;

static uint64_t first_run(uint64_t runs, int rank)
{
    return runs * (uint64_t)rank / (uint64_t)assay_ranks_here.size;
}

static uint64_t num_runs(uint64_t runs, int rank)
{
    return first_run(runs, rank + 1) - first_run(runs, rank);
}

/* ---- this rank's share -------------------------------------------------- */

static assay_status library_share(const char *path,
                                  const assay_external_options *e,
                                  assay_error *err)
{
    assay_plugin *plugin = NULL;
    assay_status status = assay_plugin_open(&plugin, path, e->input[0],
                                            e->input[1], e->timeout, err);
    for (int side = 0; status == ASSAY_OK && side < 2; side++) {
        status = assay_plugin_write(plugin, side, e->first, e->runs,
                                    e->capture[side], err);
    }
    assay_plugin_close(plugin);
    return status;
}

static assay_status program_share(parcel *p, const assay_external_options *e,
                                  assay_error *err)
{
    assay_store *notes = NULL;
    assay_status status = assay_external_run(&notes, e, err);
    if (status == ASSAY_OK) {
        (void)snprintf(p->notes, sizeof p->notes, "%s",
                       assay_store_notes(notes));
    }
    assay_store_free(notes);
    return status;
}

/* Runs this rank's share; the status travels in the parcel. */
static void make_parcel(parcel *p, lines side[2], const char *library,
                        const assay_external_options *options)
{
    assay_external_options e = *options;
    assay_error err = ASSAY_ERROR_INIT;
    int rank = assay_ranks_here.rank;
    memset(p, 0, sizeof *p);
    memcpy(p->host, assay_post_here.host, sizeof p->host);
    e.first = first_run(options->runs, rank);
    e.runs = num_runs(options->runs, rank);
    e.keep = NULL;
    e.error_fd = assay_post_here.error_fd;
    for (int k = 0; k < 2; k++) {
        e.capture[k] = open_memstream(&side[k].text, &side[k].len);
        if (e.capture[k] == NULL) {
            p->status = assay_fail(&err, ASSAY_MEMORY, "out of memory");
        }
    }
    if (p->status == ASSAY_OK) {
        p->status = library != NULL ? library_share(library, &e, &err)
                                    : program_share(p, &e, &err);
    }
    for (int k = 0; k < 2; k++) {
        if (e.capture[k] != NULL && fclose(e.capture[k]) != 0 &&
            p->status == ASSAY_OK) {
            p->status = assay_fail(&err, ASSAY_MEMORY, "out of memory");
        }
    }
    memcpy(p->message, err.message, sizeof p->message);
}

static int send_parcel(const parcel *p, const lines side[2])
{
    const assay_post *post = &assay_post_here;
    return post->send(p, sizeof *p) == 0 &&
                   post->send(side[0].text, side[0].len) == 0 &&
                   post->send(side[1].text, side[1].len) == 0
               ? 0
               : -1;
}

/* All three, also if the parcel reports a failure: the sender waits. */
static int receive_parcel(parcel *p, lines side[2], int rank)
{
    const assay_post *post = &assay_post_here;
    char *bytes = NULL;
    size_t len = 0;
    if (post->receive(rank, &bytes, &len) != 0 || len != sizeof *p) {
        free(bytes);
        return -1;
    }
    memcpy(p, bytes, sizeof *p);
    free(bytes);
    return post->receive(rank, &side[0].text, &side[0].len) == 0 &&
                   post->receive(rank, &side[1].text, &side[1].len) == 0
               ? 0
               : -1;
}

/* ---- putting the shares together ---------------------------------------- */

#define PRINTS_MOST 64 /* ranks whose beginnings are compared */
#define CHANGES 30     /* fewer could be the same by chance */

typedef struct gathering {
    assay_store *store;
    FILE *keep[2];
    uint64_t compare;               /* lines of each rank that are compared */
    uint64_t print[2][PRINTS_MOST]; /* of each rank's beginning; 0: none */
} gathering;

/* A hash of the first `num` lines; 0 if there are fewer, or so few changes from
 * one line to the next that chance could repeat them. */
static uint64_t print_of(const lines *side, uint64_t num)
{
    uint64_t hash = 1, line = 1, last = 0, count = 0, changes = 0;
    for (size_t i = 0; i < side->len && count < num; i++) {
        line = assay_rng_mix(line ^ (uint8_t)side->text[i]);
        if (side->text[i] == '\n') {
            changes += count > 0 && line != last;
            hash = assay_rng_mix(hash ^ line);
            last = line;
            line = 1;
            count++;
        }
    }
    return count < num || changes < CHANGES ? 0 : hash | 1;
}

/* Which earlier rank began this side with the same lines; -1: none. */
static int twin(gathering *g, int k, const lines *side, int rank)
{
    if (rank >= PRINTS_MOST) {
        return -1;
    }
    uint64_t print = print_of(side, g->compare);
    g->print[k][rank] = print;
    for (int r = 0; print != 0 && r < rank; r++) {
        if (g->print[k][r] == print) {
            return r;
        }
    }
    return -1;
}

/* Each line of a rank's notes with the rank before it. */
static void add_notes(gathering *g, const parcel *p, int rank)
{
    const char *at = p->notes;
    while (*at != '\0') {
        size_t len = strcspn(at, "\n");
        assay_store_note(g->store, "rank %d on %s: %.*s", rank, p->host,
                         (int)len, at);
        at += len + (at[len] == '\n');
    }
}

static assay_status add_parcel(gathering *g, const parcel *p,
                               const lines side[2], int rank, assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (p->status != ASSAY_OK) {
        return assay_fail(err, p->status, "rank %d on %s: %.300s", rank,
                          p->host, p->message);
    }
    add_notes(g, p, rank);
    for (int k = 0; status == ASSAY_OK && k < 2; k++) {
        int same = twin(g, k, &side[k], rank);
        if (same >= 0) {
            return assay_fail(err, ASSAY_INVALID,
                              "ranks %d and %d gave the same runs (a fixed "
                              "seed?); make them differ by {first}, or use one "
                              "process",
                              same, rank);
        }
        status = assay_external_text(g->store, k, side[k].text, side[k].len,
                                     g->keep[k], err);
    }
    return status;
}

static void free_lines(lines side[2])
{
    for (int k = 0; k < 2; k++) {
        free(side[k].text);
        side[k] = (lines){NULL, 0};
    }
}

/* Rank 0: its own parcel, then the others', in order. Every parcel is taken
 * even after an error, so that no rank waits for ever. */
static assay_status gather(gathering *g, const parcel *own, lines side[2],
                           assay_error *err)
{
    assay_status status = add_parcel(g, own, side, 0, err);
    free_lines(side);
    for (int rank = 1; rank < assay_ranks_here.size; rank++) {
        parcel p;
        lines theirs[2] = {{NULL, 0}, {NULL, 0}};
        int lost = receive_parcel(&p, theirs, rank) != 0;
        if (status == ASSAY_OK) {
            status = lost ? assay_fail(err, ASSAY_IO, "rank %d was lost", rank)
                          : add_parcel(g, &p, theirs, rank, err);
        }
        free_lines(theirs);
    }
    return status;
}

static assay_status collect(assay_store **out, const parcel *own, lines side[2],
                            const assay_external_options *options,
                            assay_error *err)
{
    gathering g = {.store = assay_store_new(),
                   .compare = options->runs / (uint64_t)assay_ranks_here.size};
    assay_status status = ASSAY_OK, opened = ASSAY_OK;
    for (int k = 0; k < 2; k++) {
        g.keep[k] = assay_external_keep(options->keep, k, &opened, err);
    }
    if (g.store == NULL) {
        opened = assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    parcel stop = *own;
    if (opened != ASSAY_OK) { /* the others' parcels must still be taken */
        stop.status = opened;
        memcpy(stop.message, err->message, sizeof stop.message);
    }
    status = gather(&g, &stop, side, err);
    for (int k = 0; k < 2; k++) {
        if (g.keep[k] != NULL && fclose(g.keep[k]) != 0 && status == ASSAY_OK) {
            status = assay_fail(err, ASSAY_IO, "cannot write to %.300s",
                                options->keep);
        }
    }
    if (status != ASSAY_OK) {
        assay_store_free(g.store);
        return status;
    }
    assay_ranks_here.size = 1;
    *out = g.store;
    return ASSAY_OK;
}

static assay_status divide(assay_store **out, const char *library,
                           const assay_external_options *options,
                           assay_error *err)
{
    parcel p;
    lines side[2] = {{NULL, 0}, {NULL, 0}};
    assay_status status = ASSAY_OK;
    *out = NULL;
    make_parcel(&p, side, library, options);
    if (assay_ranks_here.rank == 0) {
        status = collect(out, &p, side, options, err);
    } else if (send_parcel(&p, side) != 0) {
        status = assay_fail(err, ASSAY_IO, "rank 0 was lost");
    }
    free_lines(side);
    return status;
}

assay_status assay_divide_program(assay_store **out,
                                  const assay_external_options *options,
                                  assay_error *err)
{
    return divide(out, NULL, options, err);
}

assay_status assay_divide_library(assay_store **out, const char *path,
                                  const assay_external_options *options,
                                  assay_error *err)
{
    return divide(out, path, options, err);
}
