/* ring: glue */
/* Short rows side by side: lane k is row k of four. Every lane does what the
 * plain way does, in the same order: the bits are the same. */
#include "algorithms/dp_apvi_side.h"

#ifdef ASSAY_CONSISTENCY_SIDE
#pragma GCC target("avx2")
#include "algorithms/side_lanes.h"

#define SIDE ASSAY_SIDE
#define SAFE ASSAY_SIDE_SAFE
#define FOURS (ASSAY_CONSISTENCY_ROWS / SIDE)
#define INLINE ASSAY_SIDE_INLINE

/* What is known of four rows. */
typedef struct four_rows {
    __m256d y[ASSAY_CONSISTENCY_SHORT];
    __m256d sum, minus_t, out;
} four_rows;

/* Sum and least of the entries, and the bits of all. */
typedef struct row_sums {
    __m256i sum, bits;
    __m256d least;
} row_sums;

/* All numbers that have given their bits are within [0, SAFE). */
INLINE int in_range(__m256i bits)
{
    return _mm256_testz_si256(bits, _mm256_set1_epi64x(-SAFE));
}

INLINE __m256d add_entry(row_sums *s, __m256i x)
{
    __m256d y = assay_side_double(x);
    s->sum = _mm256_add_epi64(s->sum, x);
    s->bits = _mm256_or_si256(s->bits, x);
    s->least = _mm256_min_pd(s->least, y);
    return y;
}

/* Memory is asked for the next rows, half of them while these are loaded and
 * half with the moments: many requests at once would wait for each other. Two
 * entries of four rows are a line, so this is half a line for every two. */
INLINE void ask_for(uintptr_t next, size_t j)
{
    _mm_prefetch((const char *)(next + j * SIDE * sizeof(int64_t) / 2),
                 _MM_HINT_T1);
}

INLINE row_sums load_rows(__m256d *y, const int64_t *c, size_t n,
                          uintptr_t next)
{
    row_sums s = {_mm256_setzero_si256(), _mm256_setzero_si256(),
                  _mm256_set1_pd((double)SAFE)};
    const size_t even_n = n - n % 2;
#pragma GCC unroll 5
    for (size_t j = 0; j < even_n; j += 2) {
        __m256i even = assay_side_pair(c + j, c + j + 2 * n);
        __m256i odd = assay_side_pair(c + j + n, c + j + 3 * n);
        ask_for(next, j);
        y[j] = add_entry(&s, _mm256_unpacklo_epi64(even, odd));
        y[j + 1] = add_entry(&s, _mm256_unpackhi_epi64(even, odd));
    }
    if (even_n < n) {
        c += even_n;
        y[even_n] =
            add_entry(&s, _mm256_set_epi64x(c[3 * n], c[2 * n], c[n], *c));
    }
    return s;
}

/* assay_dp_apvi_total and next_level of consistency_row.h for four rows, all of
 * whose entries are above the level; where t is not above 0 that does not
 * matter. 1 if this is not the answer, and then the level stays. */
INLINE unsigned find_level(four_rows *r, int64_t *level, const row_sums *s,
                           const int64_t *visits, const assay_dp_apvi_terms *c,
                           size_t n)
{
    const __m256d zero = _mm256_setzero_pd();
    const __m256d slack = _mm256_set1_pd(c->slack);
    const __m256i count = assay_side_load(visits);
    const __m256d guess =
        _mm256_max_pd(assay_side_double(assay_side_load(level)), zero);
    const __m256i bits = _mm256_or_si256(s->bits, count);
    __m256d total = assay_side_double(count);
    __m256d most = _mm256_add_pd(total, slack);
    __m256d sum = assay_side_double(s->sum);
    __m256d over = _mm256_max_pd(_mm256_sub_pd(sum, most), zero);
    __m256d under =
        _mm256_max_pd(_mm256_sub_pd(_mm256_sub_pd(total, slack), sum), zero);
    __m256d t =
        _mm256_div_pd(_mm256_sub_pd(over, under), _mm256_set1_pd((double)n));
    __m256d bad = _mm256_cmp_pd(s->least, _mm256_max_pd(t, guess), _CMP_LE_OQ);
    __m256d next = _mm256_max_pd(_mm256_floor_pd(t), _mm256_set1_pd(-1.0));
    r->out = _mm256_cmp_pd(most, _mm256_set1_pd(c->noise), _CMP_LE_OQ);
    r->sum = sum;
    r->minus_t = _mm256_sub_pd(zero, t);
    bad = _mm256_and_pd(bad, _mm256_cmp_pd(t, zero, _CMP_GT_OQ));
    if (!in_range(bits) || !_mm256_testc_pd(r->out, bad)) {
        return 1;
    }
    next = _mm256_blendv_pd(next, guess, r->out);
    _mm256_storeu_si256((__m256i *)(void *)level, assay_side_integer(next));
    return 0;
}

typedef struct moment_sums {
    __m256d sum, first, second;
} moment_sums;

INLINE void add_moments(moment_sums *m, __m256d minus_t, __m256d y, __m256d v)
{
    __m256d x = _mm256_mul_pd(_mm256_add_pd(minus_t, y), v);
    m->first = _mm256_add_pd(m->first, x);
    m->second = _mm256_add_pd(m->second, _mm256_mul_pd(x, v));
}

/* No entry is below t. */
INLINE moment_sums find_moments(const four_rows *r, const __m256d *v, size_t n,
                                uintptr_t next)
{
    const size_t even_n = n - n % 2;
    __m256d raised = _mm256_mul_pd(r->minus_t, _mm256_set1_pd((double)n));
    moment_sums m = {_mm256_andnot_pd(r->out, _mm256_add_pd(r->sum, raised)),
                     _mm256_setzero_pd(), _mm256_setzero_pd()};
#pragma GCC unroll 5
    for (size_t j = 0; j < even_n; j += 2) {
        ask_for(next, j);
        add_moments(&m, r->minus_t, r->y[j], v[j]);
        add_moments(&m, r->minus_t, r->y[j + 1], v[j + 1]);
    }
    if (even_n < n) {
        add_moments(&m, r->minus_t, r->y[even_n], v[even_n]);
    }
    return m;
}

/* sqrt(factor iota rest), rest = 1/(n - noise) */
INLINE __m256d find_spread(__m256d variance, __m256d rest,
                           const assay_dp_apvi_terms *c)
{
    __m256d x = _mm256_max_pd(variance, _mm256_setzero_pd());
    x = _mm256_mul_pd(x, _mm256_set1_pd(c->variance_weight));
    x = _mm256_add_pd(x, _mm256_set1_pd(c->variance_base));
    x = _mm256_mul_pd(x, _mm256_set1_pd(c->iota));
    return _mm256_sqrt_pd(_mm256_mul_pd(x, rest));
}

/* assay_dp_apvi_value of four rows. */
INLINE __m256d find_value(const moment_sums *m, __m256d reward,
                          const assay_dp_apvi_terms *c)
{
    const __m256d noise = _mm256_set1_pd(c->noise);
    __m256d enough = _mm256_cmp_pd(m->sum, noise, _CMP_GT_OQ);
    __m256d n =
        _mm256_blendv_pd(_mm256_set1_pd(c->noise + 1.0), m->sum, enough);
    __m256d above = _mm256_sub_pd(n, noise);
    __m256d both = _mm256_div_pd(_mm256_set1_pd(1.0), _mm256_mul_pd(n, above));
    __m256d inverse = _mm256_mul_pd(above, both);
    __m256d rest = _mm256_mul_pd(n, both);
    __m256d mean = _mm256_mul_pd(m->first, inverse);
    __m256d variance = _mm256_sub_pd(_mm256_mul_pd(m->second, inverse),
                                     _mm256_mul_pd(mean, mean));
    __m256d y =
        _mm256_mul_pd(_mm256_set1_pd(c->c1), find_spread(variance, rest, c));
    y = _mm256_add_pd(y, _mm256_mul_pd(_mm256_set1_pd(c->second), inverse));
    y = _mm256_sub_pd(mean, y);
    y = _mm256_blendv_pd(_mm256_set1_pd(c->uniform - c->largest), y, enough);
    y = _mm256_max_pd(_mm256_add_pd(reward, y), _mm256_setzero_pd());
    return _mm256_min_pd(y, _mm256_set1_pd(c->top));
}

unsigned assay_dp_apvi_side(double *q, int64_t *level,
                            const assay_dp_apvi_terms *terms,
                            const assay_dp_apvi_rows *x)
{
    const assay_dp_apvi_terms c = *terms;
    const size_t n = x->n;
    const size_t half = SIDE * n * sizeof(int64_t) / 2; /* of four rows */
    uintptr_t next = (uintptr_t)x->next;
    four_rows r[FOURS];
    __m256d v[ASSAY_CONSISTENCY_SHORT];
    row_sums s[FOURS];
    moment_sums m[FOURS];
    const size_t fours = x->count / SIDE;
    unsigned bad = 0;
    for (size_t j = 0; j < n; j++) {
        v[j] = _mm256_set1_pd(x->v[j]);
    }
    for (size_t i = 0; i < fours; i++) {
        s[i] = load_rows(r[i].y, x->row + i * SIDE * n, n, next + i * half);
        if (i == 0 && !in_range(s[0].bits)) {
            return ASSAY_DP_APVI_NONE; /* the others will be like these */
        }
    }
    for (size_t i = 0; i < fours; i++) {
        bad |= find_level(&r[i], level + i * SIDE, &s[i], x->visits + i * SIDE,
                          &c, n)
               << i;
    }
    if ((size_t)__builtin_popcount(bad) > fours / 2) {
        return ASSAY_DP_APVI_NONE;
    }
    for (size_t i = 0; i < fours; i++) {
        m[i] = find_moments(&r[i], v, n, next + (fours + i) * half);
    }
    for (size_t i = 0; i < fours; i++) {
        __m256d reward = _mm256_loadu_pd(x->reward + i * SIDE);
        _mm256_storeu_pd(q + i * SIDE, find_value(&m[i], reward, &c));
    }
    return bad;
}

/* Action a of four states. */
INLINE __m256d load_action(const double *q, size_t a, size_t num_actions)
{
    q += a;
    return _mm256_set_pd(q[3 * num_actions], q[2 * num_actions], q[num_actions],
                         q[0]);
}

INLINE void choose_four(uint32_t *action, double *value, const double *q,
                        size_t num_actions)
{
    const __m256i low_halves = _mm256_set_epi32(7, 5, 3, 1, 6, 4, 2, 0);
    __m256d top = _mm256_setzero_pd();
    __m256d bar;
    __m256d best = _mm256_setzero_pd();
    for (size_t a = 0; a < num_actions; a++) {
        top = _mm256_max_pd(load_action(q, a, num_actions), top);
    }
    bar = _mm256_sub_pd(top, _mm256_set1_pd(ASSAY_DP_APVI_TIE));
    for (size_t a = num_actions; a-- > 0;) {
        __m256d y = load_action(q, a, num_actions);
        __m256i at = _mm256_set1_epi64x((int64_t)a);
        best = _mm256_blendv_pd(_mm256_castsi256_pd(at), best,
                                _mm256_cmp_pd(y, bar, _CMP_LT_OQ));
    }
    _mm256_storeu_pd(value, top);
    _mm_storeu_si128((__m128i *)(void *)action,
                     _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(
                         _mm256_castpd_si256(best), low_halves)));
}

void assay_dp_apvi_side_choose(uint32_t *action, double *value, const double *q,
                               size_t num_states, size_t num_actions)
{
    for (size_t s = 0; s < num_states; s += SIDE) {
        /* the last four: some of them for the second time */
        size_t at = s + SIDE <= num_states ? s : num_states - SIDE;
        choose_four(action + at, value + at, q + at * num_actions, num_actions);
    }
}
#endif
