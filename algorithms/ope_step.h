/* ring: glue */
/** One stochastic step of the saddle-point problem: shared by GTD2, GPOPE. */
#ifndef ASSAY_ALGORITHMS_OPE_STEP_H
#define ASSAY_ALGORITHMS_OPE_STEP_H

#include "algorithms/ope.h"

double assay_ope_step_size(assay_step_size size, uint64_t step,
                           uint64_t num_steps);

/** x = (theta, w); out = (-A'w, A theta + C w - b) of one episode. */
void assay_ope_gradient(double *out, const assay_episodes *e, size_t episode,
                        double gamma, const double *x);

#endif
