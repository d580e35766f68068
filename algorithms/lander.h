/* ring: glue */
/**
 * LunarLander (Gymnasium's dynamics) on Box2D 2.4: a thin C face of C++ code
 * (docs/decisions/005-box2d.md).
 *
 * The physics has a memory (legs, joints, contacts, how long a body has been
 * at rest), so a lander is an object: reset, then step. All randomness is given
 * by the caller, so that recordings can be played again.
 *
 * State    x, y, vx, vy (scaled, the pad at 0), angle, angular speed, and 1
 *          for each leg that touches the ground; as Gymnasium observes it.
 * Actions  0 nothing, 1 left engine, 2 main engine, 3 right engine.
 * End      a crash or |x| >= 1 (reward -100), or at rest (reward 100).
 */
#ifndef ASSAY_ALGORITHMS_LANDER_H
#define ASSAY_ALGORITHMS_LANDER_H

#include <stddef.h>

#define ASSAY_LANDER_DIM 8
#define ASSAY_LANDER_ACTIONS 4
#define ASSAY_LANDER_CAP 1000
#define ASSAY_LANDER_HEIGHTS 12
/* 12 terrain heights in [0, 20/3), the initial force's x and y in [-1000,
 * 1000), two dispersions in [-1, 1), and where wind and turbulence begin: whole
 * numbers in [-9999, 9999), of no meaning without them */
#define ASSAY_LANDER_DRAWS 18

#ifdef __cplusplus
extern "C" {
#endif

typedef struct assay_lander assay_lander;

typedef struct assay_lander_params {
    double gravity;    /* 10 */
    double main;       /* power of the main engine, 13 */
    double side;       /* power of the side engines, 0.6 */
    double wind;       /* largest force of the wind, 0 */
    double turbulence; /* largest torque, 0 */
} assay_lander_params;

/** NULL if there is no memory. */
assay_lander *assay_lander_new(const assay_lander_params *params);
void assay_lander_free(assay_lander *lander);

/** A new episode; fills the first state. */
void assay_lander_reset(assay_lander *lander,
                        const double draws[ASSAY_LANDER_DRAWS], double *state);

/** One step of 1/50 second with two dispersions in [-1, 1]. */
void assay_lander_step(assay_lander *lander, int action, const double draws[2],
                       double *state, double *reward, int *terminated);

/** x, y, angle, vx, vy, angular speed in Box2D's units. */
void assay_lander_body(const assay_lander *lander, double body[6]);

#ifdef __cplusplus
}
#endif

#endif
