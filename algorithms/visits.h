/* ring: kernel */
/**
 * Where a transition is counted: the cells of (h, s, a) and (h, s, a, s'), and
 * the two units that it adds there.
 *
 * Sensitivity  a trajectory adds one unit in one pair and one triple of each of
 *              its H steps, so replacing it moves the counts by at most 4H in
 *              l1 and in squared l2 norm.   [Coq: visit-counts-sensitivity]
 */
#ifndef ASSAY_ALGORITHMS_VISITS_H
#define ASSAY_ALGORITHMS_VISITS_H

#include <stddef.h>
#include <stdint.h>

/** The place of (h, s, a) in a table of H x S x A. */
/*@ requires inside: h < horizon && s < num_states && a < num_actions;
    requires small: horizon * num_states * num_actions <= 8589934592;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == (h * num_states + s) * num_actions + a;
    ensures range: 0 <= \result < horizon * num_states * num_actions;
*/
size_t assay_visits_pair(uint32_t horizon, uint32_t num_states,
                         uint32_t num_actions, uint32_t h, uint32_t s,
                         uint32_t a);

/** One unit more in two different cells. */
/*@ requires valid: \valid(cell + (0 .. n - 1));
    requires inside: pair < n && triple < n && pair != triple;
    requires room: cell[pair] < INT64_MAX && cell[triple] < INT64_MAX;
    terminates \true;
    exits \false;
    assigns cell[pair], cell[triple];
    ensures pair: cell[pair] == \old(cell[pair]) + 1;
    ensures triple: cell[triple] == \old(cell[triple]) + 1;
*/
void assay_visits_add(int64_t *cell, size_t n, size_t pair, size_t triple);

#endif
