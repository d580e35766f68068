/* ring: glue */
/**
 * Recorded LunarLander episodes, flown again with the recorded draws and
 * actions.
 *
 * File    JSON: a list of episodes {"gravity", "init_draws": lists of numbers
 *         (12 heights, force x, y, two dispersions), "obs0", "steps": [{"a",
 *         "draws", "obs", "r", "term"}, ...]}.
 * An episode is never set back onto the recording: differences add up, as they
 * do in use. The recordings were made with Box2D 2.3, this is 2.4.
 */
#ifndef ASSAY_ALGORITHMS_LANDER_REPLAY_H
#define ASSAY_ALGORITHMS_LANDER_REPLAY_H

#include <stddef.h>

#include "core/error.h"

typedef struct assay_lander_replay {
    size_t num_episodes;
    size_t num_steps;
    size_t num_exact;  /* every number the same */
    size_t num_flying; /* steps before a leg or the hull touches anything */
    double first;      /* largest deviation of a first observation */
    double flying;     /* largest deviation of a number while flying */
    double flying_reward;
    double after;      /* after the first contact */
    size_t ends_alike; /* episodes that end at the same step */
} assay_lander_replay;

assay_status assay_lander_replay_file(assay_lander_replay *out,
                                      const char *path,
                                      assay_error *err) ASSAY_MUST_CHECK;

#endif
