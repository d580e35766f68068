/* ring: driver */
/**
 * A uniform permutation of {0, ..., n-1} (Fisher-Yates).
 *
 * Law     every permutation with probability 1/n!.  [Coq: sampler-permutation]
 * Errors  ASSAY_ENTROPY: `a` then holds a permutation of no particular law and
 *         must not be used.
 */
#ifndef ASSAY_MECHANISMS_PERMUTATION_H
#define ASSAY_MECHANISMS_PERMUTATION_H

#include <stddef.h>
#include <stdint.h>

#include "mechanisms/uniform.h"

/*@ // a after the swaps for i = n-1 down to m, read from p to q; place is the
    // array as a function: place(s, k) for the state s of that history
    axiomatic Shuffles {
      type history;
      logic history unmoved;
      logic history swapped(history s, integer i, integer j);
      logic integer place(history s, integer k);
      axiom place_unmoved: \forall integer k; place(unmoved, k) == k;
      axiom place_swapped: \forall history s, integer i, j, k;
        place(swapped(s, i, j), k) ==
          (k == i ? place(s, j) : k == j ? place(s, i) : place(s, k));
    }

    inductive Swaps(integer n, integer m, history s, integer p, integer q) {
      case swaps_none: \forall integer n, p; Swaps(n, n, unmoved, p, p);
      case swaps_more: \forall integer n, i, j, p, q, r, history s;
        Swaps(n, i, s, p, q) && Uniform(i, q, j, r) ==>
        Swaps(n, i - 1, swapped(s, i - 1, j), p, r);
    }

    predicate Shuffled(uint64_t *a, integer n, integer p, integer q) =
      \exists history s; Swaps(n, \min(n, 1), s, p, q) &&
      (\forall integer k; 0 <= k < n ==> a[k] == place(s, k));
*/

/*@ requires valid: \valid(tape) && \valid(a + (0 .. n - 1)) &&
      \separated(tape, a + (0 .. n - 1));
    requires size: n <= 9223372036854775807;
    terminates \false;
    exits \false;
    assigns a[0 .. n - 1], tape->position;
    ensures value: \result == ASSAY_OK ==>
      Shuffled(a, n, \old(tape->position), tape->position);
    ensures codes: \result == ASSAY_OK || \result == ASSAY_ENTROPY;
*/
assay_status assay_permutation(assay_tape *tape, uint64_t *a,
                               size_t n) ASSAY_MUST_CHECK;

#endif
