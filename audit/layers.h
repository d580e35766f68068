/* ring: glue */
/**
 * Layers: one claim tested on many slices of a score at once.
 *
 * A single event { score >= t } gives every run in it the same say. Slices of
 * the score, each with a weight of its own, use the runs better: those just
 * above the threshold say little, those far above say much. Both ends count,
 * for the claim binds both directions.
 */
#ifndef ASSAY_AUDIT_LAYERS_H
#define ASSAY_AUDIT_LAYERS_H

#include "audit/certify.h"
#include "audit/rng.h"
#include "audit/work.h"

/**
 * Make counts of disjoint slices independent: keep N of the n runs, N from a
 * Poisson law of mean n - 6 sqrt(n), chosen without looking at them.
 *
 * Law     the kept counts are independent Poisson variables, but for an
 *         event of probability at most the returned number.
 */
double assay_layers_thin(uint64_t *count, size_t num, assay_rng *rng);

/** Toss the coins that break the slices' ties. */
void assay_layers_toss(assay_layer_counts *counts, assay_rng *rng);

#define ASSAY_LAYER_STAGES (2 * (ASSAY_REFITS + 1))

/**
 * Lower bound on epsilon (delta = 0) from the slices of some stages, whose
 * counts are independent Poisson variables. In slice i, given left + right = m,
 * the likelier side's count K is binomial with probability at most
 * e^eps/(1+e^eps). Its exact tail at k, coin P[K > k] + (1 - coin) P[K >= k],
 * is uniform and becomes a normal score; without coins dozens of slices would
 * each lose half a count. The scores are summed with weights w sqrt(m) within a
 * stage. A stage weighs as the square root of its runs. One without a weight or
 * runs in its slices has a normal score by its first coin (coin 0: there is no
 * bound).
 *
 * Law     P[bound > true epsilon] <= level, if slices and weights of a stage
 *         were fixed before its counts were seen.
 */
double assay_bound_layers(const assay_layer_counts *stage, size_t num_stages,
                          double level);

/** Fine cells for a score, and the counts of sorted selection scores. */
void assay_layers_cells(assay_cells *out, const float *left, const float *right,
                        size_t n);

/** Choose slices and weights (z->edge, z->g, z->num_bins) from the cells' counts
 *  for z->layers_target runs at z->layers_level. Returns the bound that they
 *  promise; 0 (and no bins) if the score shows nothing. */
double assay_layers_fit(assay_certify *z);

/** The single event that promises most, from the same estimates; 0 if the cells
 *  are too few. The model is left to the caller. */
int assay_layers_event(assay_audit_event *best, const assay_cells *cells,
                       const assay_claim *claim, double target, double level);

/** Put the counts so far aside and choose anew from the cells. */
void assay_layers_refit(assay_certify *z);

/** What layers of the exact log ratio could certify; `left` has ratios of
 *  left runs, `right` those of right runs with the sign changed, both
 *  sorted downwards. */
double assay_layers_oracle(const float *left, const float *right, size_t n,
                           double samples, double level);

#endif
