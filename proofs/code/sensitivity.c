/* ring: kernel */
/* Sensitivity theorems in integers: lemma functions about two neighbouring
 * inputs. They compute nothing; their contracts are what the events charge.
 *
 *   clip_*            clipping moves no two values apart; a clipped value moves
 *                     by at most the width of its interval
 *   sum_replace       one entry replaced: the sum moves by the entry's change
 *   ball_l1, ball_l2  two persons' vectors in a ball of radius c: their
 *                     difference has l1 at most 2c, squared l2 at most 4c^2
 *   count_replace     one record replaced: a cell's count moves by at most 1
 *   histogram_l1      and all cells together by at most 2
 *   histogram_l2      their squares too by at most 2
 *   other_persons     erasing one person's records leaves every other person's
 *                     count, and so what she contributes, as it was
 *   tree_*            a step lies in one node of each level, and in no closed
 *                     node above the top level
 */
#include <stddef.h>
#include <stdint.h>

#include "core/bound.h"
#include "mechanisms/tree_nodes.h"

/*@ lemma clip_near: \forall integer x, y, lo, hi; lo <= hi ==>
      Abs(Clip(x, lo, hi) - Clip(y, lo, hi)) <= Abs(x - y);
    lemma clip_width: \forall integer x, y, lo, hi; lo <= hi ==>
      Abs(Clip(x, lo, hi) - Clip(y, lo, hi)) <= hi - lo;
    // a clamped running sum moves by at most what one of its terms moves
    lemma clip_sum_near: \forall integer a, b, c, lo, hi; lo <= hi ==>
      Abs(Clip(a + c, lo, hi) - Clip(b + c, lo, hi)) <= Abs(a - b);

    lemma square_positive: \forall integer z; 0 <= Square(z);
    lemma square_unit: \forall integer z; -1 <= z <= 1 ==> Square(z) == Abs(z);

    predicate Neighbours{L}(int64_t *a, int64_t *b, integer n, integer j) =
      0 <= j < n && \forall integer i; 0 <= i < n && i != j ==> a[i] == b[i];

    logic integer Is(integer x, integer c) = x == c ? 1 : 0;
    logic integer Count{L}(int64_t *a, integer n, integer c) =
      n <= 0 ? 0 : Count(a, n - 1, c) + Is(a[n - 1], c);
    logic integer HistogramL1{L}(int64_t *a, int64_t *b, integer n,
                                 integer k) =
      k <= 0 ? 0 : HistogramL1(a, b, n, k - 1) +
        Abs(Count(a, n, k - 1) - Count(b, n, k - 1));
    logic integer HistogramL2{L}(int64_t *a, int64_t *b, integer n,
                                 integer k) =
      k <= 0 ? 0 : HistogramL2(a, b, n, k - 1) +
        Square(Count(a, n, k - 1) - Count(b, n, k - 1));
    logic integer DifferenceL1{L}(int64_t *u, int64_t *v, integer n) =
      n <= 0 ? 0 : DifferenceL1(u, v, n - 1) + Abs(u[n - 1] - v[n - 1]);
    logic integer DifferenceL2{L}(int64_t *u, int64_t *v, integer n) =
      n <= 0 ? 0 : DifferenceL2(u, v, n - 1) + Square(u[n - 1] - v[n - 1]);
*/

/*@ requires readable: \valid_read(a + (0 .. n - 1)) &&
      \valid_read(b + (0 .. n - 1));
    requires neighbours: Neighbours(a, b, n, j);
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures moves: Sum(a, n) - Sum(b, n) == a[j] - b[j];
    ensures bounded: \forall integer lo, hi;
      lo <= a[j] <= hi && lo <= b[j] <= hi ==>
      Abs(Sum(a, n) - Sum(b, n)) <= hi - lo;
    ensures removed: \forall integer c; -c <= a[j] <= c && b[j] == 0 ==>
      Abs(Sum(a, n) - Sum(b, n)) <= c;
*/
void assay_lemma_sum_replace(const int64_t *a, const int64_t *b, size_t n,
                             size_t j)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant before: i <= j ==> Sum(a, i) == Sum(b, i);
        loop invariant after: i > j ==> Sum(a, i) - Sum(b, i) == a[j] - b[j];
        loop assigns i;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
    }
    (void)a;
    (void)b;
    (void)j;
}

/*@ requires readable: n > 0 ==> \valid_read(u + (0 .. n - 1)) &&
      \valid_read(v + (0 .. n - 1));
    requires ball: SumAbs(u, n) <= c && SumAbs(v, n) <= c;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures replaced: DifferenceL1(u, v, n) <= 2 * c;
*/
void assay_lemma_ball_l1(const int64_t *u, const int64_t *v, size_t n,
                         int64_t c)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant sum: DifferenceL1(u, v, i) <=
          SumAbs(u, i) + SumAbs(v, i);
        loop assigns i;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
    }
    (void)u;
    (void)v;
    (void)c;
}

/*@ ghost
    /@ terminates \true;
       exits \false;
       assigns \nothing;
       ensures parallelogram: Square(x - y) <= 2 * Square(x) + 2 * Square(y);
    @/
    void lemma_parallelogram(int64_t x, int64_t y)
    {
        /@ assert sum: 0 <= Square(x + y); @/
        /@ assert both: Square(x - y) + Square(x + y) ==
             2 * Square(x) + 2 * Square(y); @/
    }
*/

/*@ requires readable: n > 0 ==> \valid_read(u + (0 .. n - 1)) &&
      \valid_read(v + (0 .. n - 1));
    requires ball: SumSquares(u, n) <= c * c && SumSquares(v, n) <= c * c;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures replaced: DifferenceL2(u, v, n) <= 4 * (c * c);
*/
void assay_lemma_ball_l2(const int64_t *u, const int64_t *v, size_t n,
                         int64_t c)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant sum: DifferenceL2(u, v, i) <=
          2 * SumSquares(u, i) + 2 * SumSquares(v, i);
        loop assigns i;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        //@ ghost lemma_parallelogram(u[i], v[i]);
        ;
    }
    (void)u;
    (void)v;
    (void)c;
}

/*@ requires readable: \valid_read(a + (0 .. n - 1)) &&
      \valid_read(b + (0 .. n - 1));
    requires neighbours: Neighbours(a, b, n, j);
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures moves: Count(a, n, c) - Count(b, n, c) == Is(a[j], c) - Is(b[j], c);
    ensures one: Abs(Count(a, n, c) - Count(b, n, c)) <= 1;
*/
void assay_lemma_count_replace(const int64_t *a, const int64_t *b, size_t n,
                               size_t j, int64_t c)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant before: i <= j ==> Count(a, i, c) == Count(b, i, c);
        loop invariant after: i > j ==>
          Count(a, i, c) - Count(b, i, c) == Is(a[j], c) - Is(b[j], c);
        loop assigns i;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
    }
    (void)a;
    (void)b;
    (void)j;
    (void)c;
}

/*@ requires readable: \valid_read(a + (0 .. n - 1)) &&
      \valid_read(b + (0 .. n - 1));
    requires neighbours: Neighbours(a, b, n, j);
    requires cells: 0 <= k;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures l1: HistogramL1(a, b, n, k) <= 2;
    ensures l2: HistogramL2(a, b, n, k) <= 2;
*/
void assay_lemma_histogram(const int64_t *a, const int64_t *b, size_t n,
                           size_t j, int64_t k)
{
    /*@ loop invariant range: 0 <= c <= k;
        loop invariant same: a[j] == b[j] ==>
          HistogramL1(a, b, n, c) == 0 && HistogramL2(a, b, n, c) == 0;
        loop invariant l1: a[j] != b[j] ==> HistogramL1(a, b, n, c) ==
          (0 <= a[j] < c ? 1 : 0) + (0 <= b[j] < c ? 1 : 0);
        loop invariant l2: a[j] != b[j] ==> HistogramL2(a, b, n, c) ==
          (0 <= a[j] < c ? 1 : 0) + (0 <= b[j] < c ? 1 : 0);
        loop assigns c;
        loop variant k - c;
    */
    for (int64_t c = 0; c < k; c++) {
        assay_lemma_count_replace(a, b, n, j, c);
        /*@ assert unit: Count(a, n, c) - Count(b, n, c) ==
              Is(a[j], c) - Is(b[j], c); */
        //@ assert small: -1 <= Count(a, n, c) - Count(b, n, c) <= 1;
        /*@ assert square: Square(Count(a, n, c) - Count(b, n, c)) ==
              Abs(Count(a, n, c) - Count(b, n, c)); */
    }
}

/* ids[i] is whose record i is; erased[i] is the same with person p's records
 * given to nobody (-1). What person q contributes under a limit is a function
 * of her count alone. */
/*@ requires readable: n > 0 ==> \valid_read(ids + (0 .. n - 1)) &&
      \valid_read(erased + (0 .. n - 1));
    requires erased: \forall integer i; 0 <= i < n ==>
      erased[i] == (ids[i] == p ? -1 : ids[i]);
    requires other: q != p && q != -1;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures kept: Count(erased, n, q) == Count(ids, n, q);
*/
void assay_lemma_other_persons(const int64_t *ids, const int64_t *erased,
                               size_t n, int64_t p, int64_t q)
{
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant kept: Count(erased, i, q) == Count(ids, i, q);
        loop assigns i;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
    }
    (void)ids;
    (void)erased;
    (void)p;
    (void)q;
}

/*@ predicate Covers(integer i, integer size, integer t) =
      i * size < t <= i * size + size;
    lemma smaller_node: \forall integer i, k, size;
      0 < size && i < k ==> i * size + size <= k * size;
    lemma tree_one_node: \forall integer i, k, size, t;
      0 < size && Covers(i, size, t) && Covers(k, size, t) ==> i == k;
    // a node that is closed by step `horizon` is no larger than it
    lemma tree_no_higher: \forall integer i, size, t, horizon;
      0 < size && 0 <= i && horizon < size && Covers(i, size, t) &&
      i * size + size <= horizon ==> \false;
*/
