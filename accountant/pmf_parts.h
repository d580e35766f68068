/* ring: glue */
/** Shared by the files that build pmfs. Private. */
#ifndef ASSAY_ACCOUNTANT_PMF_PARTS_H
#define ASSAY_ACCOUNTANT_PMF_PARTS_H

#include <math.h>

#include "accountant/numeric.h"
#include "accountant/pmf.h"

#define ASSAY_PMF_PREC 128

/** The next double above a nearest-rounded result: above the exact one. */
static inline double assay_up(double x)
{
    return nextafter(x, INFINITY);
}

/** The upper end of a ball as a double, at least 0. */
double assay_ball_up(const arb_t x);
/** The lower end, at least 0. */
double assay_ball_down(const arb_t x);
void assay_pmf_split(assay_pmf *out, int64_t low, int64_t high, const arb_t p,
                     const arb_t q, int bits);
void assay_pmf_atom(assay_pmf *out, const arb_t loss, const arb_t p,
                    const arb_t q, int bits);

/** How many copies of the pmf one event is (ones of a vector). */
uint64_t assay_pmf_repeats(const assay_event *event);

/** The theorem by which a vector is one number, NULL if not needed. */
const char *assay_pmf_vector_id(const assay_event *event);

/* Gaussian and Laplace noise: losses with a density. */
int assay_pmf_is_smooth(const assay_event *event);
assay_status assay_pmf_smooth(assay_pmf *remove, assay_pmf *add,
                              const assay_event *event, const assay_grid *grid,
                              assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_pmf_smooth_lower(assay_pmf *out, const assay_event *event,
                                    const assay_grid *grid, int add,
                                    assay_error *err) ASSAY_MUST_CHECK;
/* Discrete noise and everything with a fixed epsilon: finitely many losses. */
int assay_pmf_is_atomic(const assay_event *event);
assay_status assay_pmf_atoms(assay_pmf *remove, assay_pmf *add,
                             const assay_event *event, const assay_grid *grid,
                             assay_error *err) ASSAY_MUST_CHECK;

/** The atoms of one whole run, as balls. What a discrete Gaussian has beyond
 *  them is in `infinite` (both tails, counted as infinite loss). */
typedef struct assay_atoms {
    size_t num, capacity;
    arb_ptr loss, mass;
    double infinite;
} assay_atoms;
assay_status assay_atoms_event(assay_atoms *out, const assay_event *event,
                               double tail, assay_error *err) ASSAY_MUST_CHECK;

#endif
