/* ring: glue */
/* Recomputing recorded trajectories. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/control.h"

#define MAX_FIELDS 16
#define MAX_LINE 1024

typedef struct record {
    char tag[64];
    long seed;
    long t;
    int action;
    double state[ASSAY_CONTROL_MAX_DIM];
    double reward;
    int terminated; /* -1 where the file has no such column */
} record;

static size_t split(char *line, char **fields)
{
    size_t n = 0;
    line[strcspn(line, "\r\n")] = '\0';
    while (n < MAX_FIELDS) {
        fields[n++] = line;
        line = strchr(line, ',');
        if (line == NULL) {
            break;
        }
        *line++ = '\0';
    }
    return n;
}

static int number(double *out, const char *text)
{
    char *end = NULL;
    if (text == NULL) {
        return 0;
    }
    *out = strtod(text, &end);
    return end != text && *end == '\0';
}

static assay_status parse(record *r, char *line, size_t dim, int row,
                          assay_error *err)
{
    char *f[MAX_FIELDS] = {NULL};
    size_t n = split(line, f);
    double seed = 0, t = 0, action = 0, end = -1;
    int ok = n >= dim + 4 && strlen(f[0]) < sizeof r->tag &&
             number(&seed, f[1]) && number(&t, f[2]) && number(&action, f[3]);
    for (size_t i = 0; ok && i < dim; i++) {
        ok = number(&r->state[i], f[4 + i]);
    }
    r->reward = NAN;
    if (ok && n > dim + 4 && f[dim + 4][0] != '\0') {
        ok = number(&r->reward, f[dim + 4]);
    }
    if (ok && n > dim + 5 && f[dim + 5][0] != '\0') {
        ok = number(&end, f[dim + 5]);
    }
    if (!ok) {
        return assay_fail_at(err, ASSAY_INVALID, row, 1,
                             "expected tag,seed,t,action,%zu numbers,reward"
                             "[,terminated]",
                             dim);
    }
    (void)snprintf(r->tag, sizeof r->tag, "%s", f[0]);
    r->seed = (long)seed;
    r->t = (long)t;
    r->action = (int)action;
    r->terminated = (int)end;
    return ASSAY_OK;
}

/* The part of a tag that names parameters, NULL if none: "g=..;F=..". */
static const char *variant_of(const char *tag)
{
    return strchr(tag, '=') == NULL ? NULL : tag;
}

static void compare(assay_replay *out, const double *got, const double *want,
                    size_t dim)
{
    int exact = 1;
    for (size_t i = 0; i < dim; i++) {
        double gap = fabs(got[i] - want[i]);
        double relative = want[i] == 0 ? gap : gap / fabs(want[i]);
        exact = exact && gap == 0;
        out->max_absolute = fmax(out->max_absolute, gap);
        out->max_relative = fmax(out->max_relative, relative);
    }
    out->num_steps++;
    out->num_exact += (size_t)exact;
}

static assay_status replay_step(assay_replay *out, const char *name,
                                const record *before, const record *after,
                                assay_error *err)
{
    assay_control env;
    double state[ASSAY_CONTROL_MAX_DIM];
    double reward = 0;
    int terminated = 0;
    assay_status status =
        assay_control_find(&env, name, variant_of(before->tag), err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (before->action < 0 || before->action >= env.num_actions) {
        return assay_fail(err, ASSAY_INVALID, "action %d of %s is not known",
                          before->action, name);
    }
    memcpy(state, before->state, sizeof state);
    env.step(&env, state, before->action, &reward, &terminated);
    compare(out, state, after->state, env.dim);
    if ((!isnan(before->reward) && before->terminated >= 0 &&
         reward != before->reward) ||
        (before->terminated >= 0 && terminated != before->terminated)) {
        out->num_flags_wrong++;
    }
    return ASSAY_OK;
}

static assay_status replay_lines(assay_replay *out, FILE *file,
                                 const char *name, const char *only,
                                 assay_error *err)
{
    char line[MAX_LINE];
    record previous;
    int has_previous = 0;
    int row = 1;
    assay_control env;
    assay_status status = strcmp(name, "lunarlander") == 0
                              ? assay_fail(err, ASSAY_INVALID,
                                           "recordings of lunarlander are JSON "
                                           "(algorithms/lander_replay.h)")
                              : assay_control_find(&env, name, NULL, err);
    while (status == ASSAY_OK && fgets(line, sizeof line, file) != NULL) {
        record now;
        if (row++ == 1) {
            continue;
        }
        status = parse(&now, line, env.dim, row - 1, err);
        if (status != ASSAY_OK ||
            (only != NULL && strncmp(now.tag, only, strlen(only)) != 0)) {
            continue;
        }
        if (has_previous && previous.action >= 0 &&
            strcmp(previous.tag, now.tag) == 0 && previous.seed == now.seed &&
            previous.t + 1 == now.t) {
            status = replay_step(out, name, &previous, &now, err);
        }
        previous = now;
        has_previous = 1;
    }
    return status;
}

assay_status assay_control_replay(assay_replay *out, const char *name,
                                  const char *path, const char *only,
                                  assay_error *err)
{
    assay_status status;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return assay_fail(err, ASSAY_IO, "%s: cannot be opened: %s", path,
                          strerror(errno));
    }
    memset(out, 0, sizeof *out);
    status = replay_lines(out, file, name, only, err);
    (void)fclose(file);
    if (status == ASSAY_OK && out->num_steps == 0) {
        return assay_fail(err, ASSAY_INVALID, "%s: no steps to replay", path);
    }
    return status;
}
