/* ring: glue */
/**
 * The values of short rows side by side, one row a lane. Included once a width
 * of registers (algorithms/dp_apvi_side.c, dp_apvi_side8.c), behind a header
 * that defines the lanes:
 *
 *   SIDE           lanes of a register
 *   vd, vi, vm     doubles, integers, a mask of lanes
 *   vd_set, vd_load, vd_store, vi_load, vi_store, vi_set
 *   vd_max, vd_min, vd_floor, vd_sqrt, vd_le, vd_gt
 *   vd_pick        one where the mask is set, else the other
 *   vm_and, vm_any_out (is a lane set that is not in the other mask?)
 *   vi_double, vd_integer, vi_any (any of these bits in any lane)
 *   load_one, load_two   entries j (and j + 1) of SIDE rows of n
 */
#ifndef ASSAY_ALGORITHMS_DP_APVI_ROWS_H
#define ASSAY_ALGORITHMS_DP_APVI_ROWS_H

#include "algorithms/dp_apvi_side.h"

#define SAFE ASSAY_SIDE_SAFE
#define GROUPS (ASSAY_CONSISTENCY_ROWS / SIDE)
#define INLINE ASSAY_SIDE_INLINE

/* What is known of SIDE rows. */
typedef struct side_rows {
    vd y[ASSAY_CONSISTENCY_SHORT];
    vd sum, minus_t;
    vm out;
} side_rows;

/* Sum and least of the entries, and the bits of all. */
typedef struct row_sums {
    vi sum, bits;
    vd least;
} row_sums;

/* All numbers that have given their bits are within [0, SAFE). */
INLINE int in_range(vi bits)
{
    return !vi_any(bits, -SAFE);
}

INLINE vd add_entry(row_sums *s, vi x)
{
    vd y = vi_double(x);
    s->sum = s->sum + x;
    s->bits = s->bits | x;
    s->least = vd_min(s->least, y);
    return y;
}

/* Memory is asked for the next rows, half of them while these are loaded and
 * half with the moments: many requests at once would wait for each other. Two
 * entries of four rows are a line, so this is half of SIDE rows. */
INLINE void ask_for(uintptr_t next, size_t j)
{
    for (size_t i = 0; i < SIDE / 4; i++) {
        _mm_prefetch((const char *)(next + (j * (SIDE / 4) + 2 * i) * 4 *
                                               sizeof(int64_t) / 2),
                     _MM_HINT_T1);
    }
}

INLINE row_sums load_rows(vd *y, const int64_t *c, size_t n, uintptr_t next)
{
    row_sums s = {vi_set(0), vi_set(0), vd_set((double)SAFE)};
    const size_t even_n = n - n % 2;
#pragma GCC unroll 5
    for (size_t j = 0; j < even_n; j += 2) {
        vi even, odd;
        load_two(&even, &odd, c + j, n);
        ask_for(next, j);
        y[j] = add_entry(&s, even);
        y[j + 1] = add_entry(&s, odd);
    }
    if (even_n < n) {
        y[even_n] = add_entry(&s, load_one(c + even_n, n));
    }
    return s;
}

/* assay_dp_apvi_total and next_level of consistency_row.h for rows all of whose
 * entries are above the level; where t is not above 0 that does not matter. 1
 * if this is not the answer, and then the level stays. */
INLINE unsigned find_level(side_rows *r, int64_t *level, const row_sums *s,
                           const int64_t *visits, const assay_dp_apvi_terms *c,
                           size_t n)
{
    const vd zero = vd_set(0.0);
    const vd slack = vd_set(c->slack);
    const vi count = vi_load(visits);
    const vd guess = vd_max(vi_double(vi_load(level)), zero);
    vd total = vi_double(count);
    vd most = total + slack;
    vd sum = vi_double(s->sum);
    vd over = vd_max(sum - most, zero);
    vd under = vd_max(total - slack - sum, zero);
    vd t = (over - under) / vd_set((double)n);
    vm bad = vd_le(s->least, vd_max(t, guess));
    vd next = vd_max(vd_floor(t), vd_set(-1.0));
    r->out = vd_le(most, vd_set(c->noise));
    r->sum = sum;
    r->minus_t = zero - t;
    bad = vm_and(bad, vd_gt(t, zero));
    if (!in_range(s->bits | count) || vm_any_out(bad, r->out)) {
        return 1;
    }
    vi_store(level, vd_integer(vd_pick(r->out, guess, next)));
    return 0;
}

typedef struct moment_sums {
    vd sum, first, second;
} moment_sums;

INLINE void add_moments(moment_sums *m, vd minus_t, vd y, vd v)
{
    vd x = (minus_t + y) * v;
    m->first = m->first + x;
    m->second = m->second + x * v;
}

/* No entry is below t. */
INLINE moment_sums find_moments(const side_rows *r, const double *v, size_t n,
                                uintptr_t next)
{
    const size_t even_n = n - n % 2;
    const vd zero = vd_set(0.0);
    vd raised = r->minus_t * vd_set((double)n);
    moment_sums m = {vd_pick(r->out, zero, r->sum + raised), zero, zero};
#pragma GCC unroll 5
    for (size_t j = 0; j < even_n; j += 2) {
        ask_for(next, j);
        add_moments(&m, r->minus_t, r->y[j], vd_set(v[j]));
        add_moments(&m, r->minus_t, r->y[j + 1], vd_set(v[j + 1]));
    }
    if (even_n < n) {
        add_moments(&m, r->minus_t, r->y[even_n], vd_set(v[even_n]));
    }
    return m;
}

/* sqrt(factor iota rest), rest = 1/(n - noise) */
INLINE vd find_spread(vd variance, vd rest, const assay_dp_apvi_terms *c)
{
    vd x = vd_max(variance, vd_set(0.0));
    x = x * vd_set(c->variance_weight);
    x = x + vd_set(c->variance_base);
    x = x * vd_set(c->iota);
    return vd_sqrt(x * rest);
}

/* assay_dp_apvi_value of SIDE rows. */
INLINE vd find_value(const moment_sums *m, vd reward,
                     const assay_dp_apvi_terms *c)
{
    const vd noise = vd_set(c->noise);
    vm enough = vd_gt(m->sum, noise);
    vd n = vd_pick(enough, m->sum, vd_set(c->noise + 1.0));
    vd above = n - noise;
    vd both = vd_set(1.0) / (n * above);
    vd inverse = above * both;
    vd rest = n * both;
    vd mean = m->first * inverse;
    vd variance = m->second * inverse - mean * mean;
    vd y = vd_set(c->c1) * find_spread(variance, rest, c);
    y = y + vd_set(c->second) * inverse;
    y = vd_pick(enough, mean - y, vd_set(c->uniform - c->largest));
    y = vd_max(reward + y, vd_set(0.0));
    return vd_min(y, vd_set(c->top));
}

/* The bits of fours for a group. */
INLINE unsigned fours_of(unsigned bad, size_t group)
{
    return (bad != 0 ? (1u << (SIDE / 4)) - 1 : 0u) << (group * (SIDE / 4));
}

INLINE unsigned rows_in_one_go(double *q, int64_t *level,
                               const assay_dp_apvi_terms *terms,
                               const assay_dp_apvi_rows *x)
{
    const assay_dp_apvi_terms c = *terms;
    const size_t n = x->n;
    const size_t half = SIDE * n * sizeof(int64_t) / 2; /* of SIDE rows */
    uintptr_t next = (uintptr_t)x->next;
    side_rows r[GROUPS];
    row_sums s[GROUPS];
    moment_sums m[GROUPS];
    const size_t groups = x->count / SIDE;
    unsigned bad = 0;
    for (size_t i = 0; i < groups; i++) {
        s[i] = load_rows(r[i].y, x->row + i * SIDE * n, n, next + i * half);
        if (i == 0 && !in_range(s[0].bits)) {
            return ASSAY_DP_APVI_NONE; /* the others will be like these */
        }
    }
    for (size_t i = 0; i < groups; i++) {
        bad |= fours_of(find_level(&r[i], level + i * SIDE, &s[i],
                                   x->visits + i * SIDE, &c, n),
                        i);
    }
    if ((size_t)__builtin_popcount(bad) > x->count / 8) {
        return ASSAY_DP_APVI_NONE;
    }
    for (size_t i = 0; i < groups; i++) {
        m[i] = find_moments(&r[i], x->v, n, next + (groups + i) * half);
    }
    for (size_t i = 0; i < groups; i++) {
        vd reward = vd_load(x->reward + i * SIDE);
        vd_store(q + i * SIDE, find_value(&m[i], reward, &c));
    }
    return bad;
}

#endif
