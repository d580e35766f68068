/* ring: glue */
/**
 * Running sums of vectors that people contribute one after another: charged
 * once when the counter is made, for all steps to come.
 *
 * Tree   the server adds. Step t closes one node of a binary tree over the
 *        steps; its sum leaves with fresh noise, drawn once, and the running
 *        sum is that of the at most L = ceil(log2 max_steps) open nodes. A
 *        contribution is in at most L nodes: max_steps - 1 steps are allowed.
 * Local  every person adds noise to her own vector and the server adds up what
 *        it gets. Each person reports once, so the charge is that of one
 *        report.
 *
 * Sensitivity  of one contribution under replacement: l1 for Laplace, squared
 *        l2 for Gaussian, in units of the vector; the noise likewise.
 * Theorem  tree-laplace: L sensitivity / scale; tree-gaussian: rho =
 *        L sensitivity / (2 sigma2); local: laplace-vector, or
 *        gaussian-vector-zcdp. Contributions may depend on earlier outputs.
 * Memory  O(L n) for a tree, O(n) locally.
 * Errors  ASSAY_BUDGET and ASSAY_IO before anything is drawn; ASSAY_ENTROPY and
 *         ASSAY_INVALID (no steps left) at a step: nothing is written then and
 *         the counter refuses every later step.
 */
#ifndef ASSAY_MECHANISMS_VECTOR_COUNTER_H
#define ASSAY_MECHANISMS_VECTOR_COUNTER_H

#include "mechanisms/custodian.h"

typedef struct assay_vector_counter assay_vector_counter;

typedef enum assay_counter_kind {
    ASSAY_COUNTER_TREE = 0,
    ASSAY_COUNTER_LOCAL
} assay_counter_kind;

typedef struct assay_counter_spec {
    assay_counter_kind kind;
    int gaussian;       /* else Laplace */
    size_t n;           /* length of a contribution */
    uint64_t max_steps; /* K: K - 1 contributions in a tree, K locally */
    const char *label;
} assay_counter_spec;

/** L = ceil(log2 max_steps), at least 1: the nodes a contribution is in. */
uint64_t assay_counter_levels(uint64_t max_steps);

/** Charges and makes the counter. `noise` is the scale or sigma2. The
 *  custodian must outlive the counter. */
assay_status assay_vector_counter_new(assay_vector_counter **out,
                                      assay_custodian *custodian,
                                      const assay_counter_spec *spec,
                                      const mpq_t noise,
                                      const mpq_t sensitivity,
                                      assay_error *err) ASSAY_MUST_CHECK;

/** Wipes and frees. */
void assay_vector_counter_free(assay_vector_counter *counter);

/** Adds one contribution; `out` becomes the noisy running sum of all so far,
 *  clamped to +-2^62. */
assay_status assay_vector_counter_step(assay_vector_counter *counter,
                                       int64_t *out, const int64_t *in,
                                       assay_error *err) ASSAY_MUST_CHECK;

#endif
