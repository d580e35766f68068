/* ring: glue */
/**
 * The environments that come with Assay, by name.
 *
 *   riverswim                 S states in a row, left and right; going right
 *                             fights the stream: S=3, H=2S unless said
 *   riverswim-inhomogeneous   at each step the strength of the swimmer is
 *                             drawn once from U(0.8, 1) (seed)
 *   random                    rows uniform on the simplex, rewards uniform on
 *                             [0, 1]: S=10, A=4, H=10 unless said (seed)
 *   chain                     40 states; action 0 advances with probability
 *                             1/2, action 1 stays; reward 1 in the last state
 *   clinic                    a synthetic ward (docs/experiments/clinic.md)
 *   linear                    2 states, 100 actions, H=20: our reconstruction
 *                             of the example of Min et al. and Yin et al.
 *                             (docs/experiments/dp-vapvi.md; seed)
 *
 * A name may carry numbers: "riverswim:S=6,H=12", "random:S=20,seed=7".
 */
#ifndef ASSAY_ALGORITHMS_ENVIRONMENTS_H
#define ASSAY_ALGORITHMS_ENVIRONMENTS_H

#include "algorithms/mdp.h"

/** ASSAY_INVALID names the environments if there is none of this name. */
assay_status assay_environment_new(assay_mdp **out, const char *spec,
                                   assay_error *err) ASSAY_MUST_CHECK;

/**
 * The policy that gathers data in an environment, [h][s][a], in fresh memory:
 * in the clinic half the usual treatment and half uniform; in linear action 0
 * with probability 0.6 and the others alike; uniform elsewhere.
 */
assay_status assay_environment_behaviour(double **out, const char *spec,
                                         const assay_mdp *mdp,
                                         assay_error *err) ASSAY_MUST_CHECK;

/* The parts of the clinic's state (docs/experiments/clinic.md). */
#define ASSAY_CLINIC_STATES 14u
#define ASSAY_CLINIC_ACTIONS 4u
#define ASSAY_CLINIC_HORIZON 8u
#define ASSAY_CLINIC_DISCHARGED 0u
#define ASSAY_CLINIC_DEAD 1u

/** Severity 1..4 and organ strain 0..2 as a state number. */
uint32_t assay_clinic_state(uint32_t severity, uint32_t strain);

/** Fills the clinic's tables; the shape is the one above. */
void assay_clinic_fill(assay_mdp *mdp, uint32_t horizon);

/** The usual treatment by severity alone. */
uint32_t assay_clinic_usual(uint32_t state);

#endif
