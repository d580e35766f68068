/* ring: glue */
/**
 * Discrete privacy-loss distributions that dominate an event. Private.
 *
 * A pair (P, Q) of output laws has the privacy loss l(x) = log P(x)/Q(x). A pmf
 * here lives on the grid i * 2^-bits, i integer, plus infinity, and dominates:
 * its hockey-stick profile is at least that of (P, Q) at every epsilon. So the
 * profile of an n-fold convolution is an upper bound for the n-fold adaptive
 * composition (Zhu, Dong, Wang 2022, Theorem 10).
 *
 * Discretisation  Losses between two nodes l0 < l1 with masses p under P and q
 *                 under Q are moved to the nodes so that both masses stay:
 *                 b = (p - q e^{l0}) / (1 - e^{l0-l1}) to l1, a = p - b to l0.
 *                 That is linear interpolation of the profile in e^epsilon,
 *                 which is convex, hence above it (Doroshenko et al. 2022). The
 *                 error is of second order in l1 - l0.
 * Rounding        All masses come from balls and are rounded up; what lies
 *                 above the last node goes to infinity.
 */
#ifndef ASSAY_ACCOUNTANT_PMF_H
#define ASSAY_ACCOUNTANT_PMF_H

#include <arb.h>

#include "accountant/event.h"

typedef struct assay_pmf {
    size_t num;
    size_t capacity;
    int64_t *index;  /* strictly increasing after assay_pmf_sort */
    double *mass;    /* upper bounds */
    double infinite; /* upper bound */
    int failed;      /* no memory */
} assay_pmf;

/** How finely to discretise; only quality depends on it, never validity. */
typedef struct assay_grid {
    int bits;         /* the grid is 2^-bits */
    double tilt;      /* the order minus one that matters */
    double log_scale; /* log E exp(tilt * loss), near */
    double cell;      /* allowed count * mass * width^2 / 8 in one cell */
    double tail;      /* mass that may go to infinity */
    double focus;     /* losses above this can pass epsilon in one run: */
    double jump;      /* there, allowed count * mass * width / 8 */
} assay_grid;

void assay_pmf_init(assay_pmf *pmf);
void assay_pmf_clear(assay_pmf *pmf);
/** Adds mass at a node (rounded up). */
void assay_pmf_put(assay_pmf *pmf, int64_t index, double mass);
void assay_pmf_sort(assay_pmf *pmf);

/**
 * The pmfs of one run of an event: `remove` for (with the record, without),
 * `add` for the reverse. *symmetric: they are the same and `add` is empty.
 * Errors  ASSAY_UNSUPPORTED if no dominating pair is known.
 */
assay_status assay_pmf_event(assay_pmf *remove, assay_pmf *add, int *symmetric,
                             const assay_event *event, const assay_grid *grid,
                             assay_error *err) ASSAY_MUST_CHECK;

/**
 * A pmf that one run dominates (`add`: for the reverse direction): its profile
 * is at most the pair's, so it gives lower bounds. Masses are rounded down.
 * Errors  ASSAY_UNSUPPORTED also for sampling without replacement, where the
 *         pair itself is only an upper bound.
 */
assay_status assay_pmf_event_lower(assay_pmf *out, const assay_event *event,
                                   const assay_grid *grid, int add,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** Cheap: whether assay_pmf_event covers it. */
assay_status assay_pmf_covers(const assay_event *event,
                              assay_error *err) ASSAY_MUST_CHECK;

#endif
