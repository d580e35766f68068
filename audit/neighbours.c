/* ring: glue */
#include "audit/neighbours.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/audit.h"
#include "audit/rng.h"

typedef struct candidate {
    double x[2][ASSAY_NEIGHBOUR_ROWS];
    size_t drop; /* line the right input lacks (DROP) */
    double merit;
} candidate;

typedef struct state {
    const assay_neighbour_search *o;
    const assay_external_options *program;
    assay_rng rng;
    char path[2][1024];
    size_t tried;
} state;

assay_status assay_neighbour_relation_parse(assay_neighbour_relation *out,
                                            const char *text, assay_error *err)
{
    static const char *const names[] = {"one", "all", "drop"};
    for (int k = 0; k < 3; k++) {
        if (strcmp(text, names[k]) == 0) {
            *out = (assay_neighbour_relation)k;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_INVALID,
                      "--relation is one, all or drop, not '%.40s'", text);
}

static assay_status write_input(const state *s, const candidate *c, int side,
                                assay_error *err)
{
    FILE *f = fopen(s->path[side], "w");
    if (f == NULL) {
        return assay_fail(err, ASSAY_IO, "cannot write %.200s", s->path[side]);
    }
    for (size_t i = 0; i < s->o->rows; i++) {
        if (side == 1 && s->o->relation == ASSAY_NEIGHBOUR_DROP &&
            i == c->drop) {
            continue;
        }
        (void)fprintf(f, "%.17g\n", c->x[side][i]);
    }
    return fclose(f) == 0 ? ASSAY_OK
                          : assay_fail(err, ASSAY_IO, "cannot write %.200s",
                                       s->path[side]);
}

static assay_status write_pair(const state *s, const candidate *c,
                               assay_error *err)
{
    assay_status status = write_input(s, c, 0, err);
    return status == ASSAY_OK ? write_input(s, c, 1, err) : status;
}

/* A pair on which the program fails is a bad candidate, not an error. */
static assay_status judge(state *s, candidate *c, assay_error *err)
{
    assay_external_options e = *s->program;
    assay_store *store = NULL;
    assay_promise p = {-20, 0, 0, 0};
    e.input[0] = s->path[0];
    e.input[1] = s->path[1];
    e.runs = s->o->runs;
    e.keep = NULL;
    c->merit = -30;
    assay_status status = write_pair(s, c, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_error ignored = ASSAY_ERROR_INIT;
    if (assay_external_run(&store, &e, &ignored) != ASSAY_OK) {
        return ASSAY_OK;
    }
    if (assay_store_runs(store) >= s->o->runs) {
        assay_source source = assay_store_source(store);
        status = assay_audit_screen(&p, &source, &s->o->claim, s->o->runs,
                                    4 * s->o->runs, 0, err);
        c->merit = p.merit + 0.01 * p.separation;
        s->tried++;
    }
    assay_store_free(store);
    return status;
}

static double within(const assay_neighbour_search *o, double x)
{
    return fmin(fmax(x, o->low), o->high);
}

/* The right input from the left one, by the relation. */
static void move(state *s, candidate *c, size_t at, double sign)
{
    const assay_neighbour_search *o = s->o;
    memcpy(c->x[1], c->x[0], sizeof c->x[1]);
    c->drop = at;
    for (size_t i = 0; i < o->rows; i++) {
        if (o->relation == ASSAY_NEIGHBOUR_ALL) {
            double up = assay_rng_u64(&s->rng) >> 63 != 0 ? 1 : -1;
            c->x[1][i] = within(o, c->x[0][i] + o->step * (sign * up));
        } else if (o->relation == ASSAY_NEIGHBOUR_ONE && i == at) {
            c->x[1][i] = within(o, c->x[0][i] + sign * o->step);
        }
    }
}

/* Patterns: all at one place, the first at the other end. */
static void pattern(state *s, candidate *c, int kind)
{
    const assay_neighbour_search *o = s->o;
    double middle = 0.5 * (o->low + o->high);
    double base = kind % 3 == 0 ? o->low : kind % 3 == 1 ? middle : o->high;
    for (size_t i = 0; i < o->rows; i++) {
        c->x[0][i] = base;
    }
    if (kind >= 3) {
        c->x[0][0] = kind % 3 == 2 ? o->low : o->high;
    }
    move(s, c, 0, c->x[0][0] + o->step <= o->high ? 1 : -1);
}

static size_t some_row(state *s)
{
    size_t n = s->o->rows;
    return n > 0 ? (size_t)(assay_rng_u64(&s->rng) % n) : 0;
}

static void random_start(state *s, candidate *c)
{
    const assay_neighbour_search *o = s->o;
    for (size_t i = 0; i < o->rows; i++) {
        c->x[0][i] = o->low + (o->high - o->low) * assay_rng_u01(&s->rng);
    }
    move(s, c, some_row(s), assay_rng_u64(&s->rng) >> 63 != 0 ? 1 : -1);
}

/* One number elsewhere, often at an end of the domain; the change anew. */
static void mutate(state *s, candidate *c)
{
    const assay_neighbour_search *o = s->o;
    size_t i = some_row(s);
    double u = assay_rng_u01(&s->rng);
    c->x[0][i] = u < 0.3 ? o->low
                 : u < 0.6
                     ? o->high
                     : o->low + (o->high - o->low) * assay_rng_u01(&s->rng);
    size_t at = assay_rng_u01(&s->rng) < 0.5 ? i : some_row(s);
    move(s, c, at, assay_rng_u64(&s->rng) >> 63 != 0 ? 1 : -1);
}

static assay_status climb(state *s, candidate *best, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = 0; status == ASSAY_OK && k < 6; k++) {
        candidate c = {.merit = -40};
        pattern(s, &c, k);
        status = judge(s, &c, err);
        *best = c.merit > best->merit ? c : *best;
    }
    for (int r = 0; status == ASSAY_OK && r < s->o->restarts; r++) {
        candidate here = *best;
        if (r > 0) {
            random_start(s, &here);
            status = judge(s, &here, err);
        }
        for (int k = 0; status == ASSAY_OK && k < s->o->steps; k++) {
            candidate there = here;
            mutate(s, &there);
            status = judge(s, &there, err);
            here = there.merit >= here.merit ? there : here;
        }
        *best = here.merit > best->merit ? here : *best;
    }
    return status;
}

assay_status assay_neighbours_find(const assay_neighbour_search *search,
                                   const assay_external_options *program,
                                   size_t *tried, assay_error *err)
{
    state s = {.o = search, .program = program};
    candidate best = {.merit = -50};
    if (search->rows == 0 || search->rows > ASSAY_NEIGHBOUR_ROWS ||
        !(search->low < search->high) || !(search->step > 0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "search: 1 to %d rows, low < high, step > 0",
                          ASSAY_NEIGHBOUR_ROWS);
    }
    assay_rng_seed(&s.rng, search->seed, 91, 0);
    (void)snprintf(s.path[0], sizeof s.path[0], "%s/left.txt",
                   search->directory);
    (void)snprintf(s.path[1], sizeof s.path[1], "%s/right.txt",
                   search->directory);
    assay_status status = climb(&s, &best, err);
    *tried = s.tried;
    if (status == ASSAY_OK && s.tried == 0) {
        status = assay_fail(err, ASSAY_INVALID,
                            "search: the program gave no usable outputs on "
                            "any candidate input");
    }
    return status == ASSAY_OK ? write_pair(&s, &best, err) : status;
}
