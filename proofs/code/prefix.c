/* ring: kernel */
/* Prefix counts of neighbouring expert sets: lemma functions. They compute
 * nothing of their own; their contracts are what the sparse vector charges.
 *
 *   prefix_sum    one more term in [0, one]: the sum moves by 0 to one
 *   prefix_query  then the query moves by 0 to one unit
 *   prefix_step   if two sets of running products differ by one expert at place
 *                 j, they do so after the next step too, and the counts differ
 *                 by 0 to one; with the sets alike at the start (all products
 *                 one) this holds for every prefix of every trajectory
 */
#include <stddef.h>
#include <stdint.h>

#include "algorithms/prefix_count.h"

/*@ // a has n + 1 experts; b is a without the one at place j
    predicate Without{L}(int64_t *a, int64_t *b, integer n, integer j) =
      0 <= j <= n &&
      (\forall integer i; 0 <= i < j ==> b[i] == a[i]) &&
      (\forall integer i; j <= i < n ==> b[i] == a[i + 1]);
*/

/*@ requires experts: n < ASSAY_PREFIX_MOST;
    requires larger: \valid_read(a + (0 .. n));
    requires smaller: n > 0 ==> \valid_read(b + (0 .. n - 1));
    requires one_less: Without(a, b, n, j);
    requires terms: Terms(a, n + 1, ASSAY_PREFIX_ONE);
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures moves: Sum(a, n + 1) - Sum(b, n) == a[j];
    ensures bounded: 0 <= Sum(a, n + 1) - Sum(b, n) <= ASSAY_PREFIX_ONE;
*/
void assay_lemma_prefix_sum(const int64_t *a, const int64_t *b, size_t n,
                            size_t j)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant before: i <= j ==> Sum(a, i) == Sum(b, i);
        loop invariant after: i >= j ==>
          Sum(a, i + 1) - Sum(b, i) == a[j];
        loop assigns i;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
    }
    (void)a;
    (void)b;
    (void)j;
}

/*@ requires counts: 0 <= x <= y <= x + ASSAY_PREFIX_ONE;
    requires small: y <= 4611686018427387904;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures bounded: 0 <= y / ASSAY_PREFIX_RATIO - x / ASSAY_PREFIX_RATIO <=
      ASSAY_PREFIX_UNIT;
*/
void assay_lemma_prefix_query(int64_t x, int64_t y)
{
    (void)x;
    (void)y;
}

/* assay_prefix_extend leaves the sum over another array alone */
/*@ requires experts: n <= ASSAY_PREFIX_MOST && m <= ASSAY_PREFIX_MOST;
    requires valid: n > 0 ==> \valid(a + (0 .. n - 1)) &&
      \valid_read(p + (0 .. n - 1));
    requires other: m > 0 ==> \valid_read(b + (0 .. m - 1));
    requires apart: \separated(a + (0 .. n - 1), b + (0 .. m - 1),
      p + (0 .. n - 1));
    requires one: 0 < q <= ASSAY_PREFIX_ONE;
    requires terms: Terms(a, n, ASSAY_PREFIX_ONE) && Terms(p, n, q);
    terminates \true;
    exits \false;
    assigns a[0 .. n - 1];
    ensures each: \forall integer i; 0 <= i < n ==>
      a[i] == \old(a[i]) * \old(p[i]) / q;
    ensures within: Terms(a, n, ASSAY_PREFIX_ONE);
    ensures value: \result == Sum(a, n);
    ensures range: 0 <= \result <= n * ASSAY_PREFIX_ONE;
    ensures kept: Sum(b, m) == \old(Sum(b, m));
*/
static int64_t extend_apart(int64_t *a, const int64_t *p, size_t n, int64_t q,
                            const int64_t *b, size_t m)
{
    int64_t sum = assay_prefix_extend(a, p, n, q);
    /*@ ghost
        /@ loop invariant range: 0 <= k <= m;
           loop invariant same: \forall integer i; 0 <= i <= k ==>
             Sum(b, i) == \at(Sum(b, i), Pre);
           loop assigns k;
           loop variant m - k;
        @/
        for (size_t k = 0; k < m; k++) {
        }
    */
    (void)b;
    (void)m;
    return sum;
}

/*@ requires experts: n < ASSAY_PREFIX_MOST;
    requires larger: \valid(a + (0 .. n)) && \valid_read(p + (0 .. n));
    requires smaller: n > 0 ==> \valid(b + (0 .. n - 1)) &&
      \valid_read(r + (0 .. n - 1));
    requires apart: \separated(a + (0 .. n), b + (0 .. n - 1),
      p + (0 .. n), r + (0 .. n - 1));
    requires one: 0 < q <= ASSAY_PREFIX_ONE;
    requires terms: Terms(a, n + 1, ASSAY_PREFIX_ONE) && Terms(p, n + 1, q);
    requires one_less: Without(a, b, n, j) && Without(p, r, n, j);
    terminates \true;
    exits \false;
    assigns a[0 .. n], b[0 .. n - 1];
    ensures one_less: Without(a, b, n, j);
    ensures terms: Terms(a, n + 1, ASSAY_PREFIX_ONE);
    ensures query: \result <= ASSAY_PREFIX_UNIT;
    ensures monotone: 0 <= \result;
*/
int64_t assay_lemma_prefix_step(int64_t *a, int64_t *b, const int64_t *p,
                                const int64_t *r, size_t n, size_t j, int64_t q)
{
    //@ assert smaller: Terms(b, n, ASSAY_PREFIX_ONE) && Terms(r, n, q);
    int64_t x = assay_prefix_extend(b, r, n, q);
    int64_t y = extend_apart(a, p, n + 1, q, b, n);
    //@ assert still: Without(a, b, n, j);
    assay_lemma_prefix_sum(a, b, n, j);
    //@ assert sums: x == Sum(b, n) && y == Sum(a, n + 1);
    assay_lemma_prefix_query(x, y);
    return assay_prefix_query(y) - assay_prefix_query(x);
}
