/* ring: kernel */
/**
 * Bookkeeping of the binary tree counter.
 *
 * Leaves are the steps 1, 2, ..., K. Node i of level j covers the 2^j leaves
 * i 2^j + 1, ..., (i + 1) 2^j, so leaf t lies in exactly one node of each
 * level, number (t - 1) / 2^j, and in TreeLevels(K) closed nodes at most. Step
 * t closes the node of level Closing(t), the number of times 2 divides t.
 */
#ifndef ASSAY_MECHANISMS_TREE_NODES_H
#define ASSAY_MECHANISMS_TREE_NODES_H

#include <stddef.h>
#include <stdint.h>

#include "core/bound.h"

#define ASSAY_TREE_MAX_LEVELS 62

/*@ logic integer Power2(integer j) = j <= 0 ? 1 : 2 * Power2(j - 1);
*/

/** floor(log2 K) + 1: how many closed nodes one leaf can lie in. */
/*@ requires range: 1 <= horizon < 4611686018427387904;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures some: 1 <= \result;
    ensures fits: Power2(\result - 1) <= horizon;
    ensures next: Power2(\result) > horizon;
*/
uint64_t assay_tree_levels(uint64_t horizon);

/** The level of the node that step t closes. */
/*@ requires range: 1 <= t < 4611686018427387904;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures closes: \exists integer q; q % 2 == 1 &&
      t == q * Power2(\result);
*/
uint64_t assay_tree_closing(uint64_t t);

/** a[i] += b[i], exact and kept in [-2^62, 2^62]. Each result moves by at most
 *  as much as an argument does, so it does not raise a sensitivity. */
/*@ requires valid: n > 0 ==> \valid(a + (0 .. n - 1));
    requires readable: n > 0 ==> \valid_read(b + (0 .. n - 1));
    requires apart: \separated(a + (0 .. n - 1), b + (0 .. n - 1));
    terminates \true;
    exits \false;
    assigns a[0 .. n - 1];
    ensures value: \forall integer i; 0 <= i < n ==>
      a[i] == Clip(\old(a[i]) + b[i], -4611686018427387904,
                   4611686018427387904);
*/
void assay_tree_add_row(int64_t *a, const int64_t *b, size_t n);

/** a[i] = 0. */
/*@ requires valid: n > 0 ==> \valid(a + (0 .. n - 1));
    terminates \true;
    exits \false;
    assigns a[0 .. n - 1];
    ensures zero: \forall integer i; 0 <= i < n ==> a[i] == 0;
*/
void assay_tree_zero_row(int64_t *a, size_t n);

#endif
