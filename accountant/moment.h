/* ring: glue */
/**
 * Rényi moments of single events. Private to the room.
 *
 * The moment of order a is (a - 1) D_a, the logarithm of E_Q[(P/Q)^a], the
 * larger of the two directions. Moments add under adaptive composition.
 */
#ifndef ASSAY_ACCOUNTANT_MOMENT_H
#define ASSAY_ACCOUNTANT_MOMENT_H

#include <arb.h>

#include "accountant/account.h"

/** One kind of event, prepared for many orders. */
typedef struct assay_moment {
    const assay_event *event;
    int integer_only; /* its theorem is for integer orders */
    int has_curve;
    assay_cost cost;
    double rho, epsilon, rate, coin, mu2, count; /* for searches only */
} assay_moment;

assay_status assay_moment_init(assay_moment *out, const assay_event *event,
                               assay_neighbours neighbours,
                               assay_error *err) ASSAY_MUST_CHECK;
void assay_moment_clear(assay_moment *moment);

/** Near the moment of count runs, for searches; infinity if none. */
double assay_moment_near(const assay_moment *moment, double order);
/** A ball above the moment of one run. 0 if the order has no theorem. */
int assay_moment_ball(arb_t out, const assay_moment *moment, const mpq_t order,
                      slong prec);
/** Cites the theorems. */
void assay_moment_cite(assay_bound *bound, const assay_moment *moment);

#endif
