/* ring: kernel */
/**
 * Prefix counts: how many experts would have acted like this, in integers.
 *
 * A prefix is (s_1, a_1, ..., s_k, a_k). Its count over experts i is
 *   sum_i prod_t pi_i(a_t | s_t) / q^k
 * in steps of 2^-30, where q is 1 (plain) or the largest probability that any
 * expert can give to an action (normalised; then every factor is still at most
 * 1). Each expert has a running product; a product is rounded down after every
 * step, so a term is never above its true value and never above one.
 *
 * Sensitivity  an expert more or less changes a count by one term: at most
 *              ASSAY_PREFIX_ONE, always in the same direction (monotone). In
 *              the units of a query it is ASSAY_PREFIX_UNIT.
 *              [WP: assay_lemma_prefix_step, assay_lemma_prefix_query]
 */
#ifndef ASSAY_ALGORITHMS_PREFIX_COUNT_H
#define ASSAY_ALGORITHMS_PREFIX_COUNT_H

#include <stddef.h>
#include <stdint.h>

#include "core/bound.h"

#define ASSAY_PREFIX_ONE 1073741824  /* 2^30: probability 1 */
#define ASSAY_PREFIX_UNIT 1024       /* 2^10: one expert in a query */
#define ASSAY_PREFIX_RATIO 1048576   /* 2^20 */
#define ASSAY_PREFIX_MOST 1073741824 /* experts */
#define ASSAY_PREFIX_ACTIONS 1048576 /* actions */

/*@ predicate Terms{L}(int64_t *v, integer n, integer most) =
      \forall integer i; 0 <= i < n ==> 0 <= v[i] <= most;
*/

/** One product: floor(r p / q). */
/*@ requires running: 0 <= r <= ASSAY_PREFIX_ONE;
    requires factor: 0 <= p <= q && 0 < q <= ASSAY_PREFIX_ONE;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == r * p / q;
    ensures down: \result * q <= r * p;
    ensures bounded: 0 <= \result <= r;
*/
int64_t assay_prefix_term(int64_t r, int64_t p, int64_t q);

/**
 * The next step of a prefix: every expert's running product is multiplied by
 * the probability p[i] that expert gives to the action taken; returns the
 * count, the sum of the products. Start with all products at one.
 */
/*@ requires experts: n <= ASSAY_PREFIX_MOST;
    requires products: n > 0 ==> \valid(running + (0 .. n - 1));
    requires factors: n > 0 ==> \valid_read(p + (0 .. n - 1));
    requires apart: n > 0 ==> \separated(running + (0 .. n - 1),
      p + (0 .. n - 1));
    requires one: 0 < q <= ASSAY_PREFIX_ONE;
    requires within: Terms(running, n, ASSAY_PREFIX_ONE);
    requires most: Terms(p, n, q);
    terminates \true;
    exits \false;
    assigns running[0 .. n - 1];
    ensures each: \forall integer i; 0 <= i < n ==>
      running[i] == \old(running[i]) * \old(p[i]) / q;
    ensures within: Terms(running, n, ASSAY_PREFIX_ONE);
    ensures value: \result == Sum(running, n);
    ensures range: 0 <= \result <= n * ASSAY_PREFIX_ONE;
*/
int64_t assay_prefix_extend(int64_t *running, const int64_t *p, size_t n,
                            int64_t q);

/** The count as a query: floor(count / 2^20), one expert is 2^10. */
/*@ requires count: 0 <= count;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == count / ASSAY_PREFIX_RATIO;
    ensures range: 0 <= \result;
*/
int64_t assay_prefix_query(int64_t count);

/**
 * Makes weights a distribution: afterwards each is at least `least` and they
 * sum to one exactly, so none is above one - (n - 1) least. Weights that are
 * one already stay as they are; the last takes what rounding has left over.
 */
/*@ requires actions: 0 < n <= ASSAY_PREFIX_ACTIONS;
    requires valid: \valid(w + (0 .. n - 1));
    requires least: 0 <= least && n * least <= ASSAY_PREFIX_ONE;
    terminates \true;
    exits \false;
    assigns w[0 .. n - 1];
    ensures total: Sum(w, n) == ASSAY_PREFIX_ONE;
    ensures least: \forall integer i; 0 <= i < n ==> least <= w[i];
    ensures most: \forall integer i; 0 <= i < n ==>
      w[i] <= ASSAY_PREFIX_ONE - (n - 1) * least;
*/
void assay_prefix_balance(int64_t *w, size_t n, int64_t least);

#endif
