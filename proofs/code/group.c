/* ring: kernel */
/* Sums of clipped gradients over neighbouring samples: a lemma function. It
 * computes the difference of two sums; its contract is what stage 2 of selective
 * DP-SGD charges.
 *
 *   group_difference  if a is b and one expert's vector more (assay_group_add),
 *                     and that vector is in the l2 ball of radius c
 *                     (assay_clip_l2), then a - b is in that ball
 *   group_step        the same expert added to both sums: they still differ by
 *                     that one vector; so the order of experts does not matter
 */
#include "algorithms/group_sum.h"

/*@ // a is b and one more
    predicate OneMore{L}(int64_t *a, int64_t *b, int64_t *one, integer n) =
      \forall integer i; 0 <= i < n ==> a[i] == b[i] + one[i];
*/

/*@ requires read: n > 0 ==> \valid_read(a + (0 .. n - 1)) &&
      \valid_read(b + (0 .. n - 1)) && \valid_read(one + (0 .. n - 1));
    requires write: n > 0 ==> \valid(diff + (0 .. n - 1));
    requires apart: \separated(diff + (0 .. n - 1), a + (0 .. n - 1),
      b + (0 .. n - 1)) && \separated(diff + (0 .. n - 1), one + (0 .. n - 1));
    requires sums: Within(a, n, 4611686018427387904) &&
      Within(b, n, 4611686018427387904);
    requires one_more: OneMore(a, b, one, n);
    requires ball: SumSquares(one, n) <= c * c;
    terminates \true;
    exits \false;
    assigns diff[0 .. n - 1];
    ensures difference: \forall integer i; 0 <= i < n ==>
      diff[i] == a[i] - b[i];
    ensures bounded: SumSquares(diff, n) <= c * c;
*/
void assay_lemma_group_difference(int64_t *diff, const int64_t *a,
                                  const int64_t *b, const int64_t *one,
                                  size_t n, int64_t c)
{
    (void)one;
    (void)c;
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant same: \forall integer j; 0 <= j < i ==>
          diff[j] == one[j] && diff[j] == a[j] - b[j];
        loop assigns i, diff[0 .. n - 1];
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        diff[i] = a[i] - b[i];
    }
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant same: SumSquares(diff, i) == SumSquares{Pre}(one, i);
        loop assigns i;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        //@ assert entry: diff[i] == \at(one[\at(i, Here)], Pre);
    }
}

/*@ requires write: n > 0 ==> \valid(a + (0 .. n - 1)) &&
      \valid(b + (0 .. n - 1));
    requires read: n > 0 ==> \valid_read(one + (0 .. n - 1)) &&
      \valid_read(other + (0 .. n - 1));
    requires apart: \separated(a + (0 .. n - 1), b + (0 .. n - 1),
      one + (0 .. n - 1)) && \separated(a + (0 .. n - 1), other + (0 .. n - 1))
      && \separated(b + (0 .. n - 1), other + (0 .. n - 1));
    requires range: 0 <= m && 0 <= r && m + r <= 4611686018427387904;
    requires sums: Within(a, n, m) && Within(b, n, m);
    requires entries: Within(other, n, r);
    requires one_more: OneMore(a, b, one, n);
    terminates \true;
    exits \false;
    assigns a[0 .. n - 1], b[0 .. n - 1];
    ensures one_more: OneMore(a, b, one, n);
    ensures range: Within(a, n, m + r) && Within(b, n, m + r);
*/
void assay_lemma_group_step(int64_t *a, int64_t *b, const int64_t *one,
                            const int64_t *other, size_t n, int64_t m,
                            int64_t r)
{
    (void)one;
    assay_group_add(a, other, n, m, r);
    assay_group_add(b, other, n, m, r);
}
