/* ring: glue */
#include "algorithms/lander_world.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/lander.h"

typedef struct world {
    assay_lander_params params;
    assay_lander *slot[ASSAY_LANDER_SLOTS];
    assay_envrand nature[ASSAY_LANDER_SLOTS];
    unsigned next;
} world;

void *assay_lander_world_new(const double *p)
{
    world *w = calloc(1, sizeof *w);
    if (w != NULL) {
        w->params.gravity = p[ASSAY_LANDER_GRAVITY];
        w->params.main = p[ASSAY_LANDER_MAIN];
        w->params.side = p[ASSAY_LANDER_SIDE];
        w->params.wind = p[ASSAY_LANDER_WIND];
        w->params.turbulence = p[ASSAY_LANDER_TURBULENCE];
    }
    return w;
}

void assay_lander_world_free(void *p)
{
    world *w = p;
    for (size_t i = 0; w != NULL && i < ASSAY_LANDER_SLOTS; i++) {
        assay_lander_free(w->slot[i]);
    }
    free(w);
}

/* The slot of a state, or ASSAY_LANDER_SLOTS. */
static unsigned slot_of(const world *w, const double *state)
{
    double at = state[ASSAY_LANDER_DIM];
    if (!(at >= 1.0 && at <= ASSAY_LANDER_SLOTS) || at != floor(at) ||
        w->slot[(unsigned)at - 1] == NULL) {
        return ASSAY_LANDER_SLOTS;
    }
    return (unsigned)at - 1;
}

static double between(assay_envrand *rand, double low, double high)
{
    return low + (high - low) * assay_envrand_unit(rand);
}

static void draw(double *draws, assay_envrand *rand)
{
    size_t k = 0;
    while (k < ASSAY_LANDER_HEIGHTS) {
        draws[k++] = between(rand, 0.0, 20.0 / 3.0);
    }
    draws[k++] = between(rand, -1000.0, 1000.0);
    draws[k++] = between(rand, -1000.0, 1000.0);
    draws[k++] = between(rand, -1.0, 1.0);
    draws[k++] = between(rand, -1.0, 1.0);
    draws[k++] = (double)assay_envrand_below(rand, 19998) - 9999.0;
    draws[k++] = (double)assay_envrand_below(rand, 19998) - 9999.0;
}

void assay_lander_world_start(void *p, double *state, assay_envrand *rand)
{
    world *w = p;
    double draws[ASSAY_LANDER_DRAWS];
    unsigned at = slot_of(w, state);
    if (at == ASSAY_LANDER_SLOTS) {
        at = w->next++ % ASSAY_LANDER_SLOTS;
    }
    if (w->slot[at] == NULL) {
        w->slot[at] = assay_lander_new(&w->params);
    }
    state[ASSAY_LANDER_DIM] = w->slot[at] == NULL ? 0.0 : (double)(at + 1);
    if (w->slot[at] != NULL) {
        assay_envrand_init(&w->nature[at], assay_envrand_next(rand), 0);
        draw(draws, &w->nature[at]);
        assay_lander_reset(w->slot[at], draws, state);
    }
}

void assay_lander_world_step(const assay_control *env, double *state,
                             int action, double *reward, int *terminated)
{
    world *w = env->world;
    unsigned at = w == NULL ? ASSAY_LANDER_SLOTS : slot_of(w, state);
    double draws[2];
    if (at == ASSAY_LANDER_SLOTS) {
        *reward = 0.0;
        *terminated = 1;
        return;
    }
    draws[0] = between(&w->nature[at], -1.0, 1.0);
    draws[1] = between(&w->nature[at], -1.0, 1.0);
    assay_lander_step(w->slot[at], action, draws, state, reward, terminated);
}
