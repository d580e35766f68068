/* ring: kernel */
#include "core/bound.h"

/*@ lemma mul_mono: \forall integer k, a, b;
      0 <= k && a <= b ==> k * a <= k * b;
    lemma mul_cancel: \forall integer m, a, b;
      m > 0 && a * m <= b * m ==> a <= b;
    lemma next_multiple: \forall integer i, n, b;
      i < n && 0 <= b ==> i * b + b <= n * b;
    lemma square_mono: \forall integer a, b; 0 <= a <= b ==> a * a <= b * b;
    lemma square_less: \forall integer a, b;
      0 <= a && 0 <= b && a * a < b * b ==> a < b;
    lemma square_of_abs: \forall integer x; Abs(x) * Abs(x) == x * x;
    lemma square_of_product: \forall integer a, b;
      (a * b) * (a * b) == (a * a) * (b * b);
*/

/*@ ghost
    /@ requires order: a <= b && 0 <= k;
       terminates \true;
       exits \false;
       assigns \nothing;
       ensures product: a * k <= b * k;
    @/
    void lemma_times(int64_t a, int64_t b, int64_t k)
    {
    }
*/
/*@ ghost
    /@ requires order: a * k <= b * k && 0 < k;
       terminates \true;
       exits \false;
       assigns \nothing;
       ensures cancelled: a <= b;
    @/
    void lemma_cancel(int64_t a, int64_t b, int64_t k)
    {
    }
*/

/*@ ghost
    /@ requires order: 0 <= a <= b;
       terminates \true;
       exits \false;
       assigns \nothing;
       ensures square: a * a <= b * b;
    @/
    void lemma_square(int64_t a, int64_t b)
    {
    }
*/
/*@ ghost
    /@ requires order: i < n && 0 <= b;
       terminates \true;
       exits \false;
       assigns \nothing;
       ensures next: i * b + b <= n * b;
    @/
    void lemma_next(size_t i, size_t n, int64_t b)
    {
    }
*/

int64_t assay_clip(int64_t x, int64_t lo, int64_t hi)
{
    if (x < lo) {
        return lo;
    }
    return x > hi ? hi : x;
}

int64_t assay_sqrt_up(int64_t x)
{
    int64_t below = -1; /* below < 0 or below^2 < x */
    int64_t above = ASSAY_BOUND_ENTRY;
    /*@ loop invariant range: -1 <= below < above <= 1073741824;
        loop invariant high: above * above >= x;
        loop invariant low: below >= 0 ==> below * below < x;
        loop assigns below, above;
        loop variant above - below;
    */
    while (above - below > 1) {
        int64_t middle = below + (above - below) / 2;
        //@ assert inside: 0 <= middle <= 1073741824;
        //@ ghost lemma_square(0, middle);
        //@ ghost lemma_square(middle, 1073741824);
        //@ assert fits: 0 <= middle * middle <= 1073741824 * 1073741824;
        if (middle * middle >= x) {
            above = middle;
        } else {
            below = middle;
        }
    }
    return above;
}

int64_t assay_scale_one(int64_t x, int64_t c, int64_t m)
{
    int64_t a = x < 0 ? -x : x;
    //@ assert product: 0 <= a * c <= 1073741824 * 1073741824;
    int64_t q = a * c / m;
    //@ assert division: q * m <= a * c;
    //@ assert shrink: a * c <= a * m;
    //@ assert small: q * m <= a * m;
    //@ assert less: q <= a;
    //@ ghost lemma_square(q * m, a * c);
    //@ assert square: (q * m) * (q * m) <= (a * c) * (a * c);
    //@ assert left: (q * m) * (q * m) == (m * m) * (q * q);
    //@ assert right: (a * c) * (a * c) == (c * c) * (a * a);
    return x < 0 ? -q : q;
}

/*@ requires valid: n > 0 ==> \valid_read(v + (0 .. n - 1));
    requires length: n <= 1073741824;
    requires entries: Within(v, n, 1073741824);
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == SumAbs(v, n);
    ensures range: 0 <= \result <= n * 1073741824;
*/
static int64_t sum_abs(const int64_t *v, size_t n)
{
    int64_t s = 0;
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant value: s == SumAbs(v, i);
        loop invariant bound: 0 <= s <= i * 1073741824;
        loop assigns i, s;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        s += v[i] < 0 ? -v[i] : v[i];
    }
    return s;
}

/*@ requires valid: n > 0 ==> \valid_read(v + (0 .. n - 1));
    requires length: n <= 1152921504606846976;
    requires entries: Within(v, n, 1073741824);
    requires bound: \forall integer i; 0 <= i < n ==> Square(v[i]) <= b2;
    requires squares: 0 <= b2 && n * b2 <= 1152921504606846976;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures value: \result == SumSquares(v, n);
    ensures range: 0 <= \result <= n * b2;
*/
static int64_t sum_squares(const int64_t *v, size_t n, int64_t b2)
{
    int64_t s = 0;
    (void)b2;
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant value: s == SumSquares(v, i);
        loop invariant bound: 0 <= s <= i * b2;
        loop assigns i, s;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        const int64_t x = v[i];
        //@ assert entry: 0 <= x * x <= b2;
        //@ ghost lemma_next(i, n, b2);
        s += x * x;
    }
    return s;
}

/*@ requires valid: n > 0 ==> \valid(v + (0 .. n - 1));
    requires length: n <= 1073741824;
    requires entries: Within(v, n, 1073741824);
    requires range: 0 <= c <= 1073741824 && c <= m;
    requires total: 0 < m <= 1152921504606846976;
    terminates \true;
    exits \false;
    assigns v[0 .. n - 1];
    ensures sum: SumAbs(v, n) * m <= SumAbs{Pre}(v, n) * c;
*/
static void scale_l1(int64_t *v, size_t n, int64_t c, int64_t m)
{
    //@ ghost int64_t after = 0;
    //@ ghost int64_t before = 0;
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant rest: \forall integer j; i <= j < n ==>
          v[j] == \at(v[j], Pre);
        loop invariant after: after == SumAbs(v, i);
        loop invariant before: before == SumAbs{Pre}(v, i);
        loop invariant bound: 0 <= after <= before <= i * 1073741824;
        loop invariant sum: after * m <= before * c;
        loop assigns i, v[0 .. n - 1], after, before;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        const int64_t x = v[i];
        /*@ assert unfold: SumAbs{Pre}(v, i + 1) ==
              SumAbs{Pre}(v, i) + Abs(x); */
        const int64_t y = assay_scale_one(x, c, m);
        //@ ghost int64_t p = y < 0 ? -y : y;
        //@ ghost int64_t q = x < 0 ? -x : x;
        //@ assert entry: p * m <= q * c;
        //@ assert step: (after + p) * m <= (before + q) * c;
        //@ ghost Before: ;
        v[i] = y;
        /*@ ghost
            /@ loop invariant range: 0 <= k <= i;
               loop invariant same: SumAbs(v, k) == SumAbs{Before}(v, k);
               loop assigns k;
               loop variant i - k;
            @/
            for (size_t k = 0; k < i; k++) {
            }
        */
        //@ assert frame: SumAbs(v, i) == SumAbs{Before}(v, i);
        //@ assert grown: SumAbs(v, i + 1) == SumAbs(v, i) + Abs(y);
        //@ ghost after += p;
        //@ ghost before += q;
    }
    //@ assert total: after * m <= before * c;
}

/*@ requires valid: n > 0 ==> \valid(v + (0 .. n - 1));
    requires length: n <= 1152921504606846976;
    requires entries: Within(v, n, 1073741824);
    requires bound: \forall integer i; 0 <= i < n ==> Square(v[i]) <= b2;
    requires squares: 0 <= b2 && n * b2 <= 1152921504606846976;
    requires range: 0 <= c <= r && 0 < r <= 1073741824;
    terminates \true;
    exits \false;
    assigns v[0 .. n - 1];
    ensures after: \result == SumSquares(v, n);
    ensures sum: \result * (r * r) <= SumSquares{Pre}(v, n) * (c * c);
*/
static int64_t scale_l2(int64_t *v, size_t n, int64_t b2, int64_t c, int64_t r)
{
    int64_t after = 0;
    (void)b2;
    //@ ghost int64_t before = 0;
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant rest: \forall integer j; i <= j < n ==>
          v[j] == \at(v[j], Pre);
        loop invariant after: after == SumSquares(v, i);
        loop invariant before: before == SumSquares{Pre}(v, i);
        loop invariant bound: 0 <= after <= before <= i * b2;
        loop invariant sum: after * (r * r) <= before * (c * c);
        loop assigns i, v[0 .. n - 1], after, before;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        const int64_t x = v[i];
        /*@ assert unfold: SumSquares{Pre}(v, i + 1) ==
              SumSquares{Pre}(v, i) + Square(x); */
        //@ assert entry: 0 <= x * x <= b2;
        //@ ghost lemma_next(i, n, b2);
        const int64_t y = assay_scale_one(x, c, r);
        //@ assert smaller: 0 <= y * y <= x * x;
        /*@ assert step: (after + y * y) * (r * r) <=
              (before + x * x) * (c * c); */
        //@ ghost Before: ;
        v[i] = y;
        /*@ ghost
            /@ loop invariant range: 0 <= k <= i;
               loop invariant same: SumSquares(v, k) ==
                 SumSquares{Before}(v, k);
               loop assigns k;
               loop variant i - k;
            @/
            for (size_t k = 0; k < i; k++) {
            }
        */
        //@ assert frame: SumSquares(v, i) == SumSquares{Before}(v, i);
        //@ assert grown: SumSquares(v, i + 1) == SumSquares(v, i) + Square(y);
        after += y * y;
        //@ ghost before += x * x;
    }
    //@ assert total: after * (r * r) <= before * (c * c);
    return after;
}

int64_t assay_clip_l1(int64_t *v, size_t n, int64_t c)
{
    int64_t m = sum_abs(v, n);
    if (m <= c) {
        return m;
    }
    scale_l1(v, n, c, m);
    //@ assert scaled: SumAbs(v, n) * m <= c * m;
    return m;
}

int64_t assay_clip_l2(int64_t *v, size_t n, int64_t b, int64_t c)
{
    //@ assert square_b: 0 <= b * b <= 1152921504606846976;
    //@ assert square_c: 0 <= c * c <= 1152921504606846976;
    /*@ assert entries: \forall integer i; 0 <= i < n ==>
          v[i] * v[i] <= b * b; */
    int64_t s = sum_squares(v, n, b * b);
    if (s <= c * c) {
        return s;
    }
    int64_t r = assay_sqrt_up(s);
    //@ assert square_r: 0 < r * r <= 1152921504606846976;
    //@ assert larger: c * c < r * r;
    //@ assert radius: c < r;
    int64_t t = scale_l2(v, n, b * b, c, r);
    //@ ghost lemma_times(s, r * r, c * c);
    //@ assert scaled: t * (r * r) <= (c * c) * (r * r);
    //@ ghost lemma_cancel(t, c * c, r * r);
    (void)t;
    return s;
}

int assay_take_record(uint32_t *used, uint32_t limit)
{
    if (*used >= limit) {
        return 0;
    }
    *used += 1;
    return 1;
}

int64_t assay_sum(const int64_t *v, size_t n, int64_t b)
{
    int64_t s = 0;
    (void)b;
    /*@ loop invariant range: 0 <= i <= n;
        loop invariant value: s == Sum(v, i);
        loop invariant bound: -(i * b) <= s <= i * b;
        loop assigns i, s;
        loop variant n - i;
    */
    for (size_t i = 0; i < n; i++) {
        //@ ghost lemma_next(i, n, b);
        s += v[i];
    }
    return s;
}

int64_t assay_add_clamped(int64_t a, int64_t b)
{
    const int64_t most = 4611686018427387904; /* 2^62 */
    /* Chosen without a jump on the signs, which are as random as the noise;
     * the jumps below are the same nearly always. */
    int64_t above = b > 0 ? most - b : INT64_MAX;
    int64_t below = b < 0 ? -most - b : INT64_MIN;
    if (a > above) {
        return most;
    }
    if (a < below) {
        return -most;
    }
    return assay_clip(a + b, -most, most);
}
