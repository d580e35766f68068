/* ring: glue */
/** One stochastic step of the saddle-point problem: shared by GTD2, GPOPE. */
#ifndef ASSAY_ALGORITHMS_OPE_STEP_H
#define ASSAY_ALGORITHMS_OPE_STEP_H

#include "algorithms/ope.h"

/** Moves x = (theta, w) by step `step` (from 0) of `num_steps`. */
void assay_ope_move(double *x, size_t dim, assay_step_size size, uint64_t step,
                    uint64_t num_steps, const double *gradient);

/** x = (theta, w); out = (-A'w, A theta + C w - b) of one episode. */
void assay_ope_gradient(double *out, const assay_episodes *e, size_t episode,
                        double gamma, const double *x);

#endif
