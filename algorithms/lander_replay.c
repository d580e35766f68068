/* ring: glue */
#include "algorithms/lander_replay.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "algorithms/lander.h"

/* n numbers of a list; 0 if it is not one. */
static int numbers(double *out, const json_t *list, size_t n)
{
    if (!json_is_array(list) || json_array_size(list) != n) {
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(list, i);
        if (!json_is_number(x)) {
            return 0;
        }
        out[i] = json_number_value(x);
    }
    return 1;
}

/* A list of lists, one behind another: at most `room` numbers. */
static size_t flatten(double *out, size_t room, const json_t *lists)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(lists); i++) {
        const json_t *list = json_array_get(lists, i);
        size_t len = json_array_size(list);
        if (len > room - n || !numbers(out + n, list, len)) {
            return 0;
        }
        n += len;
    }
    return n;
}

static double gap(const double *a, const double *b, size_t n)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(a[i] - b[i]));
    }
    return most;
}

typedef struct flight {
    assay_lander_replay *out;
    assay_lander *lander;
    int touched; /* here or in the recording */
} flight;

/* One step; *ended is 1 where this lander or the recorded one has ended. */
static int one_step(flight *f, const json_t *step, int *ended)
{
    double draws[2], want[ASSAY_LANDER_DIM], got[ASSAY_LANDER_DIM];
    double reward = 0.0;
    int over = 0;
    const json_t *action = json_object_get(step, "a");
    const json_t *r = json_object_get(step, "r");
    int term = json_is_true(json_object_get(step, "term"));
    if (!numbers(draws, json_object_get(step, "draws"), 2) ||
        !numbers(want, json_object_get(step, "obs"), ASSAY_LANDER_DIM) ||
        !json_is_integer(action) || json_integer_value(action) < 0 ||
        json_integer_value(action) >= ASSAY_LANDER_ACTIONS ||
        !json_is_number(r)) {
        return 0;
    }
    assay_lander_step(f->lander, (int)json_integer_value(action), draws, got,
                      &reward, &over);
    double most = gap(got, want, ASSAY_LANDER_DIM);
    f->touched = f->touched || over || term || got[6] + got[7] > 0.0 ||
                 want[6] + want[7] > 0.0;
    f->out->num_steps++;
    f->out->num_exact += most == 0.0 ? 1 : 0;
    if (f->touched) {
        f->out->after = fmax(f->out->after, most);
    } else {
        f->out->num_flying++;
        f->out->flying = fmax(f->out->flying, most);
        f->out->flying_reward =
            fmax(f->out->flying_reward, fabs(reward - json_number_value(r)));
    }
    f->out->ends_alike += over && term ? 1 : 0;
    *ended = over || term;
    return 1;
}

static int one_episode(flight *f, const json_t *episode)
{
    double draws[ASSAY_LANDER_DRAWS] = {0};
    double want[ASSAY_LANDER_DIM], got[ASSAY_LANDER_DIM];
    const json_t *steps = json_object_get(episode, "steps");
    int ended = 0;
    if (flatten(draws, ASSAY_LANDER_DRAWS,
                json_object_get(episode, "init_draws")) != 16 ||
        !numbers(want, json_object_get(episode, "obs0"), ASSAY_LANDER_DIM) ||
        !json_is_array(steps)) {
        return 0;
    }
    assay_lander_reset(f->lander, draws, got);
    f->out->first = fmax(f->out->first, gap(got, want, ASSAY_LANDER_DIM));
    f->out->num_episodes++;
    for (size_t i = 0; i < json_array_size(steps) && !ended; i++) {
        if (!one_step(f, json_array_get(steps, i), &ended)) {
            return 0;
        }
    }
    return 1;
}

assay_status assay_lander_replay_file(assay_lander_replay *out,
                                      const char *path, assay_error *err)
{
    json_error_t at;
    json_t *all = json_load_file(path, 0, &at);
    memset(out, 0, sizeof *out);
    if (all == NULL) {
        return assay_fail(err, at.line < 0 ? ASSAY_IO : ASSAY_INVALID, "%s: %s",
                          path, at.text);
    }
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < json_array_size(all) && status == ASSAY_OK; i++) {
        const json_t *episode = json_array_get(all, i);
        const json_t *gravity = json_object_get(episode, "gravity");
        assay_lander_params p = {-json_number_value(gravity), 13.0, 0.6, 0.0,
                                 0.0};
        flight f = {out, assay_lander_new(&p), 0};
        if (f.lander == NULL) {
            status = assay_fail(err, ASSAY_MEMORY, "no memory for a lander");
        } else if (!json_is_number(gravity) || !one_episode(&f, episode)) {
            status =
                assay_fail(err, ASSAY_INVALID,
                           "%s: episode %zu is not a recording", path, i + 1);
        }
        assay_lander_free(f.lander);
    }
    if (status == ASSAY_OK && out->num_steps == 0) {
        status = assay_fail(err, ASSAY_INVALID, "%s: no steps to replay", path);
    }
    json_decref(all);
    return status;
}
