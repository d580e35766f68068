/* ring: glue */
/**
 * The convolution of many dominating pmfs, by one tilted Fourier transform with
 * a proved error. Private.
 *
 * Let p_i be the pmfs (upper bounds on a grid of step h = 2^-bits), n_i their
 * counts, L the sum of all losses. For a tilt t > 0 the arrays
 * x_i[j] = p_i[j] e^{t j h} / M_i sum to about 1, and
 *   p[j] = (prod M_i^{n_i}) e^{-t j h} x[j],  x the convolution of all x_i.
 * x is computed circularly on N points. Folding only adds mass to a point; what
 * lies above the window is bounded by Markov: P(L >= top) <= e^{-s top} E
 * e^{sL}; what lies below it must not count, so epsilon may not lie below the
 * window. The tilt makes the transform's error relative to the tail, so tiny
 * deltas cost nothing. With ||err||_2 the bound on the computed x, delta(eps)
 * <= F (sum_j w_j x^_j + ||w||_2 ||err||_2 + rounding)
 *                 + P(L >= top) + sum n_i p_i[infinity],
 *   w_j = e^{-t d_j} (1 - e^{-d_j}) for d_j = j h - eps > 0,
 *   F = (prod M_i^{n_i}) e^{-t eps}.
 */
#ifndef ASSAY_ACCOUNTANT_COMPOSE_H
#define ASSAY_ACCOUNTANT_COMPOSE_H

#include <arb.h>

#include "accountant/pmf.h"

typedef struct assay_part {
    const assay_pmf *pmf;
    uint64_t count;
} assay_part;

typedef struct assay_composed {
    int bits;        /* grid */
    unsigned length; /* N = 2^length */
    int64_t first;   /* loss index of the window's first point */
    double tilt;
    double *x;       /* window order */
    double error2;   /* l2 bound on the error of x */
    double total;    /* upper bound on the sum of |x| */
    arb_t log_scale; /* log prod M_i^{n_i} */
    arb_t extra;     /* above the window, and infinity */
    arb_t fold;      /* what folding may have added (lower bounds only) */
} assay_composed;

/** Near log E e^{tilt L}, for searches. */
double assay_compose_near(const assay_part *parts, size_t num_parts, int bits,
                          double tilt);
/** The tilt that suits epsilon: minimises log E e^{tilt L} - tilt epsilon. */
double assay_compose_tilt(const assay_part *parts, size_t num_parts, int bits,
                          double epsilon, double start);

/** The window is chosen for epsilon, so that it costs e^log_lost of delta.
 *  `lower`: the pmfs are lower bounds; only assay_composed_delta_lower, at
 *  epsilons from 0.9 epsilon on, may be asked of the result. */
assay_status assay_compose(assay_composed *out, const assay_part *parts,
                           size_t num_parts, int bits, double tilt,
                           double epsilon, double log_lost, int lower,
                           assay_error *err) ASSAY_MUST_CHECK;
void assay_composed_clear(assay_composed *composed);

/** A ball whose upper end is above delta(epsilon); its lower end is the same
 *  without the charges for errors (not a bound). Indeterminate (below nothing)
 *  for an epsilon that lies below the window. */
void assay_composed_delta(arb_t out, const assay_composed *composed,
                          double epsilon);

/** A ball whose lower end is below delta(epsilon). */
void assay_composed_delta_lower(arb_t out, const assay_composed *composed,
                                double epsilon);

#endif
