/* ring: glue */
/**
 * Continual counter: noisy prefix sums of a stream, by the binary tree.
 *
 * Each step brings a vector of `dimension` integers; each answer is the noisy
 * sum of all vectors so far. Noise is drawn once per node, when the node is
 * closed, and used again in every prefix that needs the node. Memory is
 * 2 * dimension * levels integers (twice that when refined).
 *
 * Neighbours  streams that differ in one step, by at most the stated l1 (or
 *             squared l2) sensitivity.
 * Charge      once, when the counter is made: it covers all answers.
 * Horizon     K steps, levels = floor(log2 K) + 1; or K = 0 for any length:
 *             epochs of 1, 2, 4, ... steps, each with a tree of its own whose
 *             noise grows with its levels (scale * levels, sigma2 * levels), so
 *             that each epoch costs the same; a step lies in one epoch, so the
 *             cost is that of one [Theorem: parallel].
 * Theorem     tree-laplace: epsilon = levels * sensitivity / scale.
 *             tree-gaussian: rho = levels * sensitivity2 / (2 sigma2).
 * Errors      as mechanisms/release.h; a step that fails changes nothing.
 */
#ifndef ASSAY_MECHANISMS_TREE_H
#define ASSAY_MECHANISMS_TREE_H

#include "mechanisms/custodian.h"

typedef struct assay_tree assay_tree;

assay_status assay_tree_new_laplace(assay_tree **out,
                                    assay_custodian *custodian,
                                    size_t dimension, uint64_t horizon,
                                    const mpq_t scale, const mpq_t sensitivity,
                                    const char *label,
                                    assay_error *err) ASSAY_MUST_CHECK;

assay_status
assay_tree_new_gaussian(assay_tree **out, assay_custodian *custodian,
                        size_t dimension, uint64_t horizon, const mpq_t sigma2,
                        const mpq_t sensitivity2, const char *label,
                        assay_error *err) ASSAY_MUST_CHECK;

/**
 * From now on combine each node with the nodes below it: answers are rounded
 * estimates whose variance falls towards half, at the same cost; about twice
 * the draws. Before the first step only.
 */
assay_status assay_tree_refine(assay_tree *tree,
                               assay_error *err) ASSAY_MUST_CHECK;

/** One more step; `prefix` (may be NULL) gets the noisy sums of all steps so
 *  far. Errors  ASSAY_INVALID after the horizon's last step. */
assay_status assay_tree_add(assay_tree *tree, const int64_t *step,
                            int64_t *prefix, assay_error *err) ASSAY_MUST_CHECK;

/** The last answer again; free. */
void assay_tree_prefix(const assay_tree *tree, int64_t *prefix);

/** Steps so far, and levels of the current tree. */
uint64_t assay_tree_steps(const assay_tree *tree);
unsigned assay_tree_num_levels(const assay_tree *tree);

/** Wipes and frees. */
void assay_tree_free(assay_tree *tree);

#endif
