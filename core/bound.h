/* ring: kernel */
/**
 * Bounding kernels: what one person can contribute, decided in integers.
 *
 * Each leaves a fact that a sensitivity argument needs, exactly: an interval, a
 * sum of absolute values at most c, a sum of squares at most c^2. A vector that
 * is already inside the ball is left alone; one outside is scaled towards zero
 * and rounded towards zero.
 */
#ifndef ASSAY_CORE_BOUND_H
#define ASSAY_CORE_BOUND_H

#include <stddef.h>
#include <stdint.h>

/* Entries and radii of the ball kernels are at most 2^30 in absolute value. */
#define ASSAY_BOUND_ENTRY ((int64_t)1 << 30)
/* A sum of squares stays at most 2^60. */
#define ASSAY_BOUND_SQUARES ((int64_t)1 << 60)

/*@ logic integer Abs(integer x) = x < 0 ? -x : x;
    logic integer Square(integer x) = x * x;
    logic integer Clip(integer x, integer lo, integer hi) =
      x < lo ? lo : (x > hi ? hi : x);
    logic integer SumAbs{L}(int64_t *v, integer n) =
      n <= 0 ? 0 : SumAbs(v, n - 1) + Abs(v[n - 1]);
    logic integer Sum{L}(int64_t *v, integer n) =
      n <= 0 ? 0 : Sum(v, n - 1) + v[n - 1];
    logic integer SumSquares{L}(int64_t *v, integer n) =
      n <= 0 ? 0 : SumSquares(v, n - 1) + Square(v[n - 1]);
    predicate Within{L}(int64_t *v, integer n, integer b) =
      \forall integer i; 0 <= i < n ==> -b <= v[i] <= b;
*/

/** x moved to the nearest point of [lo, hi]. */
/*@ requires ordered: lo <= hi;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == Clip(x, lo, hi);
    ensures range: lo <= \result <= hi;
*/
int64_t assay_clip(int64_t x, int64_t lo, int64_t hi);

/** The smallest r with r * r >= x. */
/*@ requires range: 0 <= x <= 1152921504606846976;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures range: 0 <= \result <= 1073741824;
    ensures above: \result * \result >= x;
    ensures least: \result > 0 ==> (\result - 1) * (\result - 1) < x;
*/
int64_t assay_sqrt_up(int64_t x);

/** Trunc(x * c / m) for |x|, c <= m: one step of the two kernels below. */
/*@ requires range: 0 < m <= 1152921504606846976 && 0 <= c <= 1073741824;
    requires entry: -1073741824 <= x <= 1073741824 && c <= m;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures scaled: Abs(\result) * m <= Abs(x) * c;
    ensures squared: (m * m) * (\result * \result) <= (c * c) * (x * x);
    ensures sign: x >= 0 ? 0 <= \result <= x : x <= \result <= 0;
*/
int64_t assay_scale_one(int64_t x, int64_t c, int64_t m);

/**
 * Clip an integer vector to the l1 ball of radius c.
 * Returns the sum of absolute values before clipping.
 */
/*@ requires valid: n > 0 ==> \valid(v + (0 .. n - 1));
    requires length: n <= 1073741824;
    requires entries: Within(v, n, 1073741824);
    requires radius: 0 <= c <= 1073741824;
    terminates \true;
    exits \false;
    assigns v[0 .. n - 1];
    ensures ball: SumAbs(v, n) <= c;
    ensures before: \result == SumAbs{Pre}(v, n);
    ensures inside: SumAbs{Pre}(v, n) <= c ==>
      \forall integer i; 0 <= i < n ==> v[i] == \old(v[i]);
*/
int64_t assay_clip_l1(int64_t *v, size_t n, int64_t c);

/**
 * Clip an integer vector to the l2 ball of radius c: afterwards the sum of
 * squares is at most c * c. Returns the sum of squares before clipping.
 * The caller knows b with |v[i]| <= b and n * b * b <= 2^60.
 */
/*@ requires valid: n > 0 ==> \valid(v + (0 .. n - 1));
    requires length: n <= 1152921504606846976;
    requires entries: 0 <= b <= 1073741824 && Within(v, n, b);
    requires squares: n * (b * b) <= 1152921504606846976;
    requires radius: 0 <= c <= 1073741824;
    terminates \true;
    exits \false;
    assigns v[0 .. n - 1];
    ensures ball: SumSquares(v, n) <= c * c;
    ensures before: \result == SumSquares{Pre}(v, n);
    ensures inside: SumSquares{Pre}(v, n) <= c * c ==>
      \forall integer i; 0 <= i < n ==> v[i] == \old(v[i]);
*/
int64_t assay_clip_l2(int64_t *v, size_t n, int64_t b, int64_t c);

/**
 * Contribution bounding: 1 if a person who has already `*used` records may add
 * one more under the limit, and counts it; 0 otherwise.
 */
/*@ requires writable: \valid(used);
    requires counted: *used <= limit;
    terminates \true;
    exits \false;
    assigns *used;
    ensures bounded: *used <= limit;
    ensures taken: \old(*used) < limit ==>
      \result == 1 && *used == \old(*used) + 1;
    ensures refused: \old(*used) >= limit ==>
      \result == 0 && *used == \old(*used);
*/
int assay_take_record(uint32_t *used, uint32_t limit);

/**
 * The sum of n entries, each in [-b, b] with n * b at most 2^62: exact, the
 * same in every order.
 */
/*@ requires valid: n > 0 ==> \valid_read(v + (0 .. n - 1));
    requires entries: 0 <= b <= 4611686018427387904 && Within(v, n, b);
    requires length: n <= 4611686018427387904;
    requires range: n * b <= 4611686018427387904;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == Sum(v, n);
    ensures range: -(n * b) <= \result <= n * b;
*/
int64_t assay_sum(const int64_t *v, size_t n, int64_t b);

/** a + b taken exactly, then moved into [-2^62, 2^62]. */
/*@ terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result ==
      Clip(a + b, -4611686018427387904, 4611686018427387904);
*/
int64_t assay_add_clamped(int64_t a, int64_t b);

#endif
