/* Exact planning and evaluation, environments, the projection. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/consistency.h"
#include "algorithms/consistency_lanes.h"
#include "algorithms/dp_apvi_side.h"
#include "algorithms/environments.h"

static const int64_t i64_edge[] = {INT64_MIN, INT64_MAX, 0, (int64_t)1 << 50};

static assay_mdp *make(const char *spec)
{
    assay_mdp *mdp = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    if (assay_environment_new(&mdp, spec, &err) != ASSAY_OK) {
        print_error("%s: %s\n", spec, err.message);
    }
    assert_non_null(mdp);
    return mdp;
}

static const char *const ALL[] = {"riverswim",
                                  "riverswim:S=6,H=12",
                                  "riverswim-inhomogeneous:seed=3",
                                  "random:S=5,A=3,H=4,seed=9",
                                  "chain",
                                  "clinic"};

static void rows_are_distributions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++) {
        assay_mdp *mdp = make(ALL[i]);
        uint32_t num_states = mdp->shape.num_states;
        for (size_t p = 0; p < assay_shape_pairs(&mdp->shape); p++) {
            double sum = 0.0;
            for (uint32_t t = 0; t < num_states; t++) {
                double x = mdp->transition[p * num_states + t];
                assert_true(x >= 0.0);
                sum += x;
            }
            assert_true(fabs(sum - 1.0) < 1e-12);
            assert_true(mdp->reward[p] >= 0.0 && mdp->reward[p] <= 1.0);
        }
        assay_mdp_free(mdp);
    }
}

/* S=3, H=6: the optimum 1.3683562 and the uniform policy 0.1491947 (the gap
 * 1.2191615 is the slope of linear regret, 121,900 at K = 10^5). */
static void riverswim_has_its_known_values(void **state)
{
    assay_mdp *mdp = make("riverswim");
    assay_error err = ASSAY_ERROR_INIT;
    double best = 0.0;
    double even = 0.0;
    (void)state;
    assert_int_equal(assay_mdp_optimum(&best, NULL, mdp, &err), 0);
    assert_int_equal(assay_mdp_evaluate_mixed(&even, mdp, NULL, &err), 0);
    assert_true(fabs(best - 1.3683562) < 1e-9);
    assert_true(fabs(best - even - 1.21916153125) < 1e-9);
    assay_mdp_free(mdp);
}

/* Every deterministic policy of a small model is evaluated two ways: none
 * beats the optimum, the best attains it. */
static void optimum_is_the_best_of_all_policies(void **state)
{
    assay_mdp *mdp = make("random:S=2,A=2,H=3,seed=4");
    assay_error err = ASSAY_ERROR_INIT;
    assay_policy *policy = NULL;
    double top = -1.0;
    double best = 0.0;
    (void)state;
    assert_int_equal(assay_policy_new(&policy, &mdp->shape, &err), 0);
    for (uint32_t code = 0; code < 64; code++) {
        double value = 0.0;
        double mixed = 0.0;
        double probability[12] = {0};
        for (uint32_t i = 0; i < 6; i++) {
            policy->action[i] = (code >> i) & 1u;
            probability[2 * i + policy->action[i]] = 1.0;
        }
        assert_int_equal(assay_mdp_evaluate(&value, mdp, policy, &err), 0);
        assert_int_equal(
            assay_mdp_evaluate_mixed(&mixed, mdp, probability, &err), 0);
        assert_true(fabs(value - mixed) < 1e-12);
        top = value > top ? value : top;
    }
    assert_int_equal(assay_mdp_optimum(&best, policy, mdp, &err), 0);
    assert_true(fabs(best - top) < 1e-12);
    assay_policy_free(policy);
    assay_mdp_free(mdp);
}

static void unknown_environments_are_refused(void **state)
{
    static const char *const bad[] = {
        "",           "mars",          "riverswim:S=", "chain:A=3",
        "random:Q=4", "riverswim:S=1", "random:S=0x3", "clinic:S=3"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assay_mdp *mdp = NULL;
        assay_error err = ASSAY_ERROR_INIT;
        assert_int_equal(assay_environment_new(&mdp, bad[i], &err),
                         ASSAY_INVALID);
        assert_null(mdp);
    }
}

static void frequencies_follow_the_model(void **state)
{
    assay_mdp *mdp = make("random:S=4,A=1,H=1,seed=2");
    assay_envrand rand;
    uint64_t seen[4] = {0};
    uint64_t draws = 400000;
    double chi = 0.0;
    (void)state;
    assay_envrand_init(&rand, 11, 0);
    for (uint64_t i = 0; i < draws; i++) {
        seen[assay_mdp_step(mdp, 0, 0, 0, &rand)]++;
    }
    for (uint32_t t = 0; t < 4; t++) {
        double want = (double)draws * mdp->transition[t];
        chi += ((double)seen[t] - want) * ((double)seen[t] - want) / want;
    }
    assert_true(chi < 21.1); /* chi^2, 3 degrees, 1e-4; the seed is fixed */
    assay_mdp_free(mdp);
}

/* The smallest t for which some x >= 0 with |x - y| <= t has its sum within
 * the slack, by bisection on the reachable sums. */
static double best_change(const double *y, size_t n, double total, double slack)
{
    double low = 0.0;
    double high = 1e6;
    for (int i = 0; i < 200; i++) {
        double t = 0.5 * (low + high);
        double least = 0.0;
        double most = 0.0;
        for (size_t k = 0; k < n; k++) {
            least += fmax(y[k] - t, 0.0);
            most += y[k] + t;
        }
        if (least <= total + slack && most >= total - slack) {
            high = t;
        } else {
            low = t;
        }
    }
    return high;
}

/* From guesses below, at and above the answer, which must not matter. */
static void projection_solves_the_linear_program(void **state)
{
    assay_envrand rand;
    (void)state;
    assay_envrand_init(&rand, 3, 0);
    for (int trial = 0; trial < 5000; trial++) {
        double y[12];
        double x[12];
        int64_t row[12];
        size_t n = 1 + assay_envrand_below(&rand, 12);
        double total = assay_envrand_unit(&rand) * 100.0;
        double slack = assay_envrand_unit(&rand) * 10.0;
        double sum = 0.0;
        double change = 0.0;
        double best;
        int64_t level = (int64_t)(trial % 30) - 1;
        int64_t again = 0;
        assay_consistency got;
        assay_consistency other;
        for (size_t k = 0; k < n; k++) {
            row[k] = (int64_t)assay_envrand_below(&rand, 30) - 10;
            y[k] = row[k] > 0 ? (double)row[k] : 0.0;
        }
        assay_consistency_project(&got, &level, row, y, n, &total, slack, 1,
                                  row);
        assay_consistency_project(&other, &again, row, y, n, &total, slack, 1,
                                  row);
        for (size_t k = 0; k < n; k++) {
            x[k] = fmax(y[k] - got.t[0], 0.0);
            sum += x[k];
            change = fmax(change, fabs(x[k] - y[k]));
        }
        best = best_change(y, n, total, slack);
        assert_true(fabs(sum - total) <= slack + 1e-9);
        assert_true(change <= best + 1e-9);
        assert_true(fabs(got.moment[0][0] - sum) <= 1e-9);
        assert_true(fabs(got.t[0] - other.t[0]) <= 1e-9);
    }
}

#define ROWS 24u
#define LONGEST 40u

/* Rows of one length behind each other, some with odd values. */
typedef struct block {
    int64_t row[ROWS * LONGEST];
    double v[LONGEST];
    double total[ROWS];
    int64_t level[ROWS]; /* guesses */
    size_t n;
} block;

static void fill_block(block *b, assay_envrand *rand, size_t trial)
{
    b->n = 1 + trial % LONGEST;
    for (size_t i = 0; i < ROWS * b->n; i++) {
        b->row[i] = (int64_t)assay_envrand_below(rand, 1000) - 300;
    }
    for (size_t i = 0; i < b->n; i++) {
        b->v[i] = assay_envrand_unit(rand);
    }
    for (size_t r = 0; r < ROWS; r++) {
        b->total[r] = assay_envrand_unit(rand) * 500.0 * (double)b->n;
        b->level[r] = (int64_t)((trial + r) % 5) * 60 - 1;
    }
    if (trial % 3 == 0) {
        b->total[trial % ROWS] = -1.0;
        b->level[(trial + 1) % ROWS] = INT64_MAX;
    }
    if (trial >= 400) {
        b->row[trial % (ROWS * b->n)] = i64_edge[trial % 4];
    }
}

/* Sums of x, x v and x v^2 from the definition. */
static void check_moments(const assay_consistency *got, const block *b,
                          size_t r)
{
    double want[3] = {0.0, 0.0, 0.0};
    for (size_t i = 0; b->total[r] >= 0.0 && i < b->n; i++) {
        double y = fmin(fmax((double)b->row[r * b->n + i], 0.0), 0x1p50);
        double x = fmax(y - got->t[r], 0.0);
        want[0] += x;
        want[1] += x * b->v[i];
        want[2] += x * b->v[i] * b->v[i];
    }
    for (size_t k = 0; k < 3; k++) {
        assert_true(fabs(got->moment[k][r] - want[k]) <=
                    1e-9 * want[0] + 1e-11 * fabs(got->t[r]) + 1e-9);
    }
}

static void moments_of_a_projection_are_right(void **state)
{
    assay_envrand rand;
    (void)state;
    assay_envrand_init(&rand, 5, 0);
    for (size_t trial = 0; trial < 1600; trial++) {
        block b;
        assay_consistency got;
        size_t count = 1 + trial % ROWS;
        fill_block(&b, &rand, trial % 800);
        assay_consistency_project(&got, b.level, b.row, b.v, b.n, b.total, 20.0,
                                  count, b.row);
        for (size_t r = 0; r < count; r++) {
            check_moments(&got, &b, r);
        }
    }
}

typedef void way(assay_consistency *out, int64_t *level, const block *b);

/* Two ways agree in every bit. */
static void assert_same(way *one, way *two, const block *b)
{
    assay_consistency x;
    assay_consistency y;
    int64_t at[2][ROWS];
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    memcpy(at[0], b->level, sizeof at[0]);
    memcpy(at[1], b->level, sizeof at[1]);
    one(&x, at[0], b);
    two(&y, at[1], b);
    assert_memory_equal(at[0], at[1], sizeof at[0]);
    assert_memory_equal(&x, &y, sizeof x);
}

static void plain_way(assay_consistency *out, int64_t *level, const block *b)
{
    assay_consistency_project_plain(out, level, b->row, b->v, b->n, b->total,
                                    20.0, ROWS, b->row);
}

static void chosen_way(assay_consistency *out, int64_t *level, const block *b)
{
    assay_consistency_project(out, level, b->row, b->v, b->n, b->total, 20.0,
                              ROWS, b->row);
}

/* Short rows: side by side where the CPU can, and if entries are too large for
 * that, one number after the other. */
static void short_rows_are_the_same_on_every_cpu(void **state)
{
    assay_envrand rand;
    (void)state;
    assay_envrand_init(&rand, 7, 0);
    for (size_t trial = 0; trial < 4000; trial++) {
        block b;
        fill_block(&b, &rand, trial % 800);
        if (b.n <= ASSAY_CONSISTENCY_SHORT) {
            assert_same(chosen_way, plain_way, &b);
        }
    }
}

#ifdef ASSAY_CONSISTENCY_SIDE
/* What the test above compares is not the plain way twice. */
static void short_rows_go_side_by_side(void **state)
{
    assay_envrand rand;
    block b;
    assay_consistency x;
    (void)state;
    if (!__builtin_cpu_supports("avx2")) {
        skip();
    }
    assay_envrand_init(&rand, 8, 0);
    fill_block(&b, &rand, 9);
    assert_int_equal(assay_consistency_project_side(&x, b.level, b.row, b.v,
                                                    b.n, b.total, 20.0, ROWS,
                                                    b.row),
                     1);
    b.row[3] = (int64_t)1 << 44;
    assert_int_equal(assay_consistency_project_side(&x, b.level, b.row, b.v,
                                                    b.n, b.total, 20.0, ROWS,
                                                    b.row),
                     0);
}
#endif

#ifdef ASSAY_CONSISTENCY_SIDE
/* A block of short rows with counts near `mean` and their visits. */
static void fill_visits(block *b, int64_t *visits, double *reward,
                        assay_envrand *rand, size_t trial)
{
    int64_t mean = (int64_t)(trial % 7) * 40;
    fill_block(b, rand, trial % ASSAY_CONSISTENCY_SHORT);
    for (size_t r = 0; r < ROWS; r++) {
        int64_t sum = 0;
        for (size_t i = 0; i < b->n; i++) {
            int64_t y = mean + (int64_t)assay_envrand_below(rand, 60) - 30;
            b->row[r * b->n + i] = y;
            sum += y;
        }
        visits[r] = sum + (int64_t)assay_envrand_below(rand, 90) - 45;
        reward[r] = assay_envrand_unit(rand);
        b->level[r] = (int64_t)assay_envrand_below(rand, 6) - 1;
    }
    if (trial % 5 == 0) {
        b->row[(trial + 9 * b->n) % (ROWS * b->n)] = i64_edge[trial / 5 % 4];
    } else if (trial % 5 == 1) {
        visits[trial / 5 % ROWS] = i64_edge[trial / 5 % 4];
    } else if (trial % 5 == 2) {
        visits[trial / 5 % ROWS] /= 3; /* high water */
    }
}

static void make_terms(assay_dp_apvi_terms *c, size_t trial)
{
    int bernstein = trial % 2 == 0;
    memset(c, 0, sizeof *c);
    c->noise = trial % 11 == 0 ? 900.0 : 66.0;
    c->slack = trial % 13 == 0 ? 0.0 : 0.5 * c->noise;
    c->iota = 9.9;
    c->c1 = 0.1;
    c->second = 0.7;
    c->variance_weight = bernstein ? 1.0 : 0.0;
    c->variance_base = bernstein ? 0.0 : 400.0;
    c->uniform = 3.25;
    c->largest = trial % 3 == 0 ? 1.0 : 40.0;
    c->top = 1.0 + (double)(trial % 3);
}

/* Values one after the other. */
static void plain_values(double *q, block *b, const assay_dp_apvi_terms *c,
                         const int64_t *visits, const double *reward)
{
    assay_consistency x;
    for (size_t r = 0; r < ROWS; r++) {
        b->total[r] = assay_dp_apvi_total(c, visits[r]);
    }
    assay_consistency_project_plain(&x, b->level, b->row, b->v, b->n, b->total,
                                    c->slack, ROWS, b->row);
    for (size_t r = 0; r < ROWS; r++) {
        q[r] = assay_dp_apvi_value(c, reward[r], x.moment[0][r], x.moment[1][r],
                                   x.moment[2][r]);
    }
}

/* Rows 4k to 4k + 3 have the same bits, or the guesses of before. */
static void check_four(size_t k, unsigned left, const double *q,
                       const double *want, const int64_t *level,
                       const block *before, const block *after)
{
    size_t i = 4 * k;
    if (left >> k & 1) {
        assert_memory_equal(level + i, before->level + i, 4 * sizeof *level);
    } else {
        assert_memory_equal(q + i, want + i, 4 * sizeof *q);
        assert_memory_equal(level + i, after->level + i, 4 * sizeof *level);
    }
}

typedef unsigned side_way(double *q, int64_t *level,
                          const assay_dp_apvi_terms *terms,
                          const assay_dp_apvi_rows *x);

static void check_values(side_way *values, size_t num_rows)
{
    assay_envrand rand;
    size_t seen[3] = {0, 0, 0}; /* in one go, once more, not at all */
    assay_envrand_init(&rand, 10, 0);
    for (size_t trial = 0; trial < 5000; trial++) {
        block b, after;
        int64_t visits[ROWS], level[ROWS];
        double reward[ROWS], q[ROWS], want[ROWS];
        assay_dp_apvi_terms c;
        assay_dp_apvi_rows x = {b.row, visits, reward, b.v, 0, num_rows, b.row};
        unsigned left;
        fill_visits(&b, visits, reward, &rand, trial);
        make_terms(&c, trial);
        after = b;
        x.n = b.n;
        memcpy(level, b.level, sizeof level);
        plain_values(want, &after, &c, visits, reward);
        left = values(q, level, &c, &x);
        for (size_t k = 0; left != ASSAY_DP_APVI_NONE && k < num_rows / 4;
             k++) {
            seen[left >> k & 1]++;
            check_four(k, left, q, want, level, &b, &after);
        }
        seen[2] += left == ASSAY_DP_APVI_NONE;
    }
    assert_true(seen[0] > 5000 && seen[1] > 500 && seen[2] > 500);
}

static void values_in_one_go_are_the_plain_ones(void **state)
{
    (void)state;
    if (!__builtin_cpu_supports("avx2")) {
        skip();
    }
    check_values(assay_dp_apvi_side, ROWS);
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq")) {
        check_values(assay_dp_apvi_side8, ROWS);
    }
}

/* Many ties, in and out of the tolerance. */
static void actions_in_one_go_are_the_plain_ones(void **state)
{
    assay_envrand rand;
    (void)state;
    if (!__builtin_cpu_supports("avx2")) {
        skip();
    }
    assay_envrand_init(&rand, 12, 0);
    for (size_t trial = 0; trial < 2000; trial++) {
        double q[10 * 12], value[10];
        uint32_t action[10];
        size_t states = 4 + trial % 7;
        size_t actions = 1 + trial % 12;
        for (size_t i = 0; i < states * actions; i++) {
            q[i] = assay_envrand_below(&rand, 3) +
                   assay_envrand_below(&rand, 3) * (0.75 * ASSAY_DP_APVI_TIE);
        }
        assay_dp_apvi_side_choose(action, value, q, states, actions);
        for (size_t s = 0; s < states; s++) {
            const double *at = q + s * actions;
            uint32_t first = 0;
            for (size_t a = 0; a < actions; a++) {
                assert_true(at[a] <= value[s]);
            }
            while (at[first] < value[s] - ASSAY_DP_APVI_TIE) {
                first++;
            }
            assert_int_equal(action[s], first);
        }
    }
}
#endif

#ifdef ASSAY_CONSISTENCY_SIDE
typedef int project_way(assay_consistency *out, int64_t *level,
                        const int64_t *rows, const double *v, size_t n,
                        const double *total, double slack, size_t count,
                        const int64_t *next);

/* A way for long rows and the lanes agree in every bit, or both leave the
 * block alone. */
static void assert_as_lanes(project_way *fast, const block *b, size_t count,
                            int may_fail)
{
    assay_consistency x;
    assay_consistency lanes;
    int64_t at[2][ROWS];
    int done[2];
    memset(&x, 0, sizeof x);
    memset(&lanes, 0, sizeof lanes);
    memcpy(at[0], b->level, sizeof at[0]);
    memcpy(at[1], b->level, sizeof at[1]);
    done[0] =
        fast(&x, at[0], b->row, b->v, b->n, b->total, 20.0, count, b->row);
    done[1] = assay_consistency_project_lanes(&lanes, at[1], b->row, b->v, b->n,
                                              b->total, 20.0, count, b->row);
    assert_int_equal(done[0], done[1]);
    assert_true(done[0] || may_fail);
    if (done[0]) {
        assert_memory_equal(at[0], at[1], sizeof at[0]);
        assert_memory_equal(&x, &lanes, sizeof x);
    }
}
static int has_wide(void)
{
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq");
}

/* All ways for long rows, on a whole block. */
static void assert_ways_agree(const int64_t *row, const double *v, size_t n,
                              const double *total, const int64_t *guess)
{
    project_way *const ways[] = {assay_consistency_project_lanes,
                                 assay_consistency_project_long,
                                 assay_consistency_project_wide};
    assay_consistency x[3];
    int64_t level[3][ASSAY_CONSISTENCY_ROWS];
    for (size_t k = 0; k < (has_wide() ? 3 : 2); k++) {
        memcpy(level[k], guess, sizeof level[k]);
        assert_int_equal(ways[k](&x[k], level[k], row, v, n, total, 20.0,
                                 ASSAY_CONSISTENCY_ROWS, row),
                         1);
        assert_memory_equal(&x[k], &x[0], sizeof x[0]);
        assert_memory_equal(level[k], level[0], sizeof level[0]);
    }
}
#endif

static void projections_are_the_same_on_every_cpu(void **state)
{
#ifdef ASSAY_CONSISTENCY_SIDE
    assay_envrand rand;
    int wide = has_wide();
    (void)state;
    if (!__builtin_cpu_supports("avx2")) {
        skip();
    }
    assay_envrand_init(&rand, 6, 0);
    for (size_t trial = 0; trial < 1600; trial++) {
        block b;
        size_t count = trial < 800 ? ROWS : 1 + trial % ROWS;
        fill_block(&b, &rand, trial % 800);
        if (b.n >= 8) {
            assert_as_lanes(assay_consistency_project_long, &b, count,
                            trial % 800 >= 400);
        }
        if (wide) {
            assert_as_lanes(assay_consistency_project_wide, &b, count,
                            trial % 800 >= 400);
        }
    }
#else
    (void)state;
    skip();
#endif
}

/* As many rows as a block may have, of lengths on both sides of where the order
 * of reading changes. */
static void whole_blocks_are_the_same_on_every_cpu(void **state)
{
#ifdef ASSAY_CONSISTENCY_SIDE
    enum { COUNT = ASSAY_CONSISTENCY_ROWS, MOST = 1000 };
    static const size_t length[] = {25, 100, 511, 512, 515, MOST};
    static int64_t row[COUNT * MOST];
    static double v[MOST], total[COUNT];
    int64_t level[COUNT];
    assay_envrand rand;
    (void)state;
    if (!__builtin_cpu_supports("avx2")) {
        skip();
    }
    assay_envrand_init(&rand, 14, 0);
    for (size_t i = 0; i < COUNT * MOST; i++) {
        row[i] = (int64_t)assay_envrand_below(&rand, 30) - 12;
    }
    for (size_t i = 0; i < MOST; i++) {
        v[i] = assay_envrand_unit(&rand);
    }
    for (size_t k = 0; k < sizeof length / sizeof length[0]; k++) {
        for (size_t r = 0; r < COUNT; r++) {
            total[r] = assay_envrand_unit(&rand) * 8.0 * (double)length[k];
            level[r] = (int64_t)assay_envrand_below(&rand, 20) - 1;
        }
        assert_ways_agree(row, v, length[k], total, level);
    }
#else
    (void)state;
    skip();
#endif
}

/* Levels and sums in every bit; the moments are added in another order. */
static void long_rows_are_near_the_plain_way(void **state)
{
#ifdef ASSAY_CONSISTENCY_LANES
    assay_envrand rand;
    (void)state;
    assay_envrand_init(&rand, 9, 0);
    for (size_t trial = 0; trial < 400; trial++) {
        block b;
        assay_consistency x;
        assay_consistency y;
        int64_t at[2][ROWS];
        fill_block(&b, &rand, trial);
        memcpy(at[0], b.level, sizeof at[0]);
        memcpy(at[1], b.level, sizeof at[1]);
        plain_way(&x, at[0], &b);
        assert_int_equal(assay_consistency_project_lanes(&y, at[1], b.row, b.v,
                                                         b.n, b.total, 20.0,
                                                         ROWS, b.row),
                         1);
        for (size_t r = 0; r < ROWS; r++) {
            assert_true(x.t[r] == y.t[r] && at[0][r] == at[1][r]);
            assert_true(x.moment[0][r] == y.moment[0][r]);
            assert_true(fabs(x.moment[2][r] - y.moment[2][r]) <=
                        1e-12 * x.moment[0][r]);
        }
    }
#else
    (void)state;
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_distributions),
        cmocka_unit_test(riverswim_has_its_known_values),
        cmocka_unit_test(optimum_is_the_best_of_all_policies),
        cmocka_unit_test(unknown_environments_are_refused),
        cmocka_unit_test(frequencies_follow_the_model),
        cmocka_unit_test(moments_of_a_projection_are_right),
        cmocka_unit_test(projections_are_the_same_on_every_cpu),
        cmocka_unit_test(whole_blocks_are_the_same_on_every_cpu),
        cmocka_unit_test(short_rows_are_the_same_on_every_cpu),
#ifdef ASSAY_CONSISTENCY_SIDE
        cmocka_unit_test(short_rows_go_side_by_side),
        cmocka_unit_test(values_in_one_go_are_the_plain_ones),
        cmocka_unit_test(actions_in_one_go_are_the_plain_ones),
#endif
        cmocka_unit_test(long_rows_are_near_the_plain_way),
        cmocka_unit_test(projection_solves_the_linear_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
