/* ring: glue */
/* Layers: the bound keeps its level, the thinning makes counts independent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/conclude.h"
#include "audit/layers.h"

#define SLICES 5
#define RUNS 6000
#define REPEATS 4000

/* Counts of n runs over slices with these shares. */
static void draw(uint64_t *out, const double *share, size_t n, assay_rng *rng)
{
    memset(out, 0, SLICES * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        double u = assay_rng_u01(rng);
        size_t k = 0;
        while (k + 1 < SLICES && u >= share[k]) {
            u -= share[k++];
        }
        out[k]++;
    }
}

/* A stage of `runs` runs of each side; the loss of confidence. */
static double one_stage(assay_layer_counts *out, const double *left,
                        const double *right, const double *weight, size_t runs,
                        assay_rng *rng)
{
    memset(out, 0, sizeof *out);
    out->num = SLICES;
    memcpy(out->weight, weight, SLICES * sizeof *weight);
    draw(out->count[0], left, runs, rng);
    draw(out->count[1], right, runs, rng);
    assay_layers_toss(out, rng);
    return assay_layers_thin(out->count[0], SLICES, rng) +
           assay_layers_thin(out->count[1], SLICES, rng);
}

static double one_bound(const double *left, const double *right,
                        const double *weight, double level, assay_rng *rng)
{
    assay_layer_counts c;
    level -= one_stage(&c, left, right, weight, RUNS, rng);
    return assay_bound_layers(&c, 1, level);
}

/* Two stages; the second's weights are what the first's counts suggest. */
static double two_bounds(const double *left, const double *right, double level,
                         assay_rng *rng)
{
    const double flat[SLICES] = {1, 1, -1, -1, 0};
    double learned[SLICES] = {0};
    assay_layer_counts c[2];
    level -= one_stage(&c[0], left, right, flat, RUNS / 3, rng);
    for (size_t k = 0; k + 1 < SLICES; k++) { /* the last has no ratio */
        double a = (double)c[0].count[0][k] + 1,
               b = (double)c[0].count[1][k] + 1;
        learned[k] = (a - b) / (a + b);
    }
    level -= one_stage(&c[1], left, right, learned, RUNS, rng);
    return assay_bound_layers(c, 2, level);
}

/* Every slice has exactly the ratio e^0.3, in one direction or the other: the
 * worst case for the level. */
static void bound_is_too_large_as_rarely_as_promised(void **state)
{
    (void)state;
    const double e = exp(0.3);
    const double left[SLICES] = {0.10, 0.05, 0.1 / e, 0.2 / e, 0};
    const double right[SLICES] = {0.10 / e, 0.05 / e, 0.1, 0.2, 0};
    const double weight[SLICES] = {1, 2, -1, -0.5, 0};
    assay_rng rng;
    assay_rng_seed(&rng, 5, 0, 0);
    size_t wrong = 0;
    double sum = 0;
    for (size_t i = 0; i < REPEATS; i++) {
        double b = one_bound(left, right, weight, 0.05, &rng);
        wrong += b > 0.3;
        sum += b;
    }
    print_message("%zu of %d above the truth, mean %.3f\n", wrong, REPEATS,
                  sum / REPEATS);
    assert_true((double)wrong <= 0.05 * REPEATS + 3 * sqrt(0.0475 * REPEATS));
    assert_true((double)wrong >= 0.02 * REPEATS); /* and not by being useless */
    assert_true(sum / REPEATS > 0.2);
}

static void second_stage_may_learn_from_the_first(void **state)
{
    (void)state;
    const double e = exp(0.3);
    const double left[SLICES] = {0.10, 0.05, 0.1 / e, 0.2 / e, 0};
    const double right[SLICES] = {0.10 / e, 0.05 / e, 0.1, 0.2, 0};
    assay_rng rng;
    assay_rng_seed(&rng, 8, 0, 0);
    size_t wrong = 0;
    double sum = 0;
    for (size_t i = 0; i < REPEATS; i++) {
        double b = two_bounds(left, right, 0.05, &rng);
        wrong += b > 0.3;
        sum += b;
    }
    print_message("%zu of %d above the truth, mean %.3f\n", wrong, REPEATS,
                  sum / REPEATS);
    assert_true((double)wrong <= 0.05 * REPEATS + 3 * sqrt(0.0475 * REPEATS));
    assert_true((double)wrong >= 0.02 * REPEATS);
    assert_true(sum / REPEATS > 0.2);
}

/* As often as the code chooses anew: every stage learns from all before it. */
static void every_stage_may_learn_from_those_before(void **state)
{
    enum { STAGES = 5 };
    (void)state;
    const double e = exp(0.3);
    const double left[SLICES] = {0.10, 0.05, 0.1 / e, 0.2 / e, 0};
    const double right[SLICES] = {0.10 / e, 0.05 / e, 0.1, 0.2, 0};
    assay_rng rng;
    assay_rng_seed(&rng, 9, 0, 0);
    size_t wrong = 0;
    double sum = 0;
    for (size_t i = 0; i < REPEATS / 2; i++) {
        assay_layer_counts c[STAGES];
        double weight[SLICES] = {1, 1, -1, -1, 0}, seen[2][SLICES] = {{0}};
        double level = 0.05;
        for (size_t stage = 0; stage < STAGES; stage++) {
            level -= one_stage(&c[stage], left, right, weight, RUNS / 4, &rng);
            for (size_t k = 0; k + 1 < SLICES; k++) {
                seen[0][k] += (double)c[stage].count[0][k];
                seen[1][k] += (double)c[stage].count[1][k];
                double a = seen[0][k] + 1, b = seen[1][k] + 1;
                weight[k] = (a - b) / (a + b);
            }
        }
        double bound = assay_bound_layers(c, STAGES, level);
        wrong += bound > 0.3;
        sum += bound;
    }
    print_message("%zu of %d above the truth, mean %.3f\n", wrong, REPEATS / 2,
                  sum / (REPEATS / 2));
    assert_true((double)wrong <=
                0.05 * REPEATS / 2 + 3 * sqrt(0.0475 * REPEATS / 2));
    assert_true((double)wrong >= 0.015 * REPEATS / 2);
    assert_true(sum / (REPEATS / 2) > 0.2);
}

/* Were a stage that shows nothing left out, a second stage could fall silent
 * whenever the first one was lucky. */
static void a_silent_stage_speaks_by_its_coin(void **state)
{
    (void)state;
    static assay_layer_counts c[2];
    memset(c, 0, sizeof c);
    c[0].num = c[1].num = 1;
    c[0].weight[0] = 1;
    c[0].count[0][0] = 3000;
    c[0].count[1][0] = 2000;
    c[0].coin[0] = 0.5;
    c[1].count[0][0] = c[1].count[1][0] = 2500;
    double alone = assay_bound_layers(c, 1, 0.01);
    assert_true(alone > 0.3 && alone < log(1.5));
    assert_true(assay_bound_layers(c, 2, 0.01) == 0);
    double last = 0;
    for (double coin = 0.1; coin < 1; coin += 0.2) {
        c[1].coin[0] = coin;
        double bound = assay_bound_layers(c, 2, 0.01);
        assert_true(bound > last);
        last = bound;
    }
    assert_true(last < log(1.5));
}

static void stage_with(assay_stage *s, uint64_t first, uint64_t end,
                       uint64_t left, uint64_t right)
{
    memset(s, 0, sizeof *s);
    s->first = first;
    s->end = end;
    s->z.num_events = 1;
    s->z.first_share = 1;
    s->z.event[0].p[0] = s->z.event[0].p[1] = 0.1;
    s->z.pairs[0] = (assay_pairs){0, left, right, end - first - left - right};
}

static assay_stage first_stage, second_stage;
static assay_stage *const both_stages[2] = {&first_stage, &second_stage};

/* The first stage is lucky; whatever the second does not have is no bound of
 * the first one's alone. */
static void a_second_stage_cannot_fall_silent(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_audit_result r;
    assay_audit_options o = {.claim = {ASSAY_CLAIM_EPS, 0, 0},
                             .confidence = 0.99};
    stage_with(&first_stage, 0, 100000, 20000, 10000);
    stage_with(&second_stage, 100000, 200000, 10000, 10000);
    second_stage.z.num_events = 0;
    assert_true(assay_conclude_event(both_stages, 1, 0, &o.claim, 0.01) > 0.6);
    assert_true(assay_conclude_event(both_stages, 2, 0, &o.claim, 0.01) == 0);
    second_stage.z.num_events = 1;
    double with = assay_conclude_event(both_stages, 2, 0, &o.claim, 0.01);
    assert_true(with >= 0 && with < 0.6);
    /* layers in the first stage only: the coin decides, so seeds differ */
    first_stage.z.num_bins = 1;
    first_stage.z.g[0] = 1;
    first_stage.z.bins_share = 0.99;
    first_stage.z.bin[0][0] = 20000;
    first_stage.z.bin[1][0] = 10000;
    second_stage.z.num_events = first_stage.z.num_events = 0;
    double least = INFINITY, most = 0, alone = 0;
    for (o.seed = 1; o.seed <= 40; o.seed++) {
        assert_int_equal(assay_conclude(&r, both_stages, 2, &o, &err),
                         ASSAY_OK);
        least = fmin(least, r.lower);
        most = fmax(most, r.lower);
        assert_int_equal(assay_conclude(&r, both_stages, 1, &o, &err),
                         ASSAY_OK);
        alone = fmax(alone, r.lower);
    }
    print_message("%.3f to %.3f, alone %.3f\n", least, most, alone);
    assert_true(least < alone - 0.02);
    assert_true(most < log(2) + 0.05);
}

/* ---- choosing ---------------------------------------------------------- */

enum { SCORES = 200000 };

/* Scores that are log ratios: of normal numbers a unit apart, times 0.2. */
static void draw_scores(float *left, float *right, uint64_t seed)
{
    float *spare = calloc(SCORES, sizeof(float));
    double x[64];
    assay_rng rng;
    assert_non_null(spare);
    assay_rng_seed(&rng, seed, 0, 0);
    for (int side = 0; side < 2; side++) {
        float *to = side == 0 ? left : right;
        for (size_t i = 0; i < SCORES; i += 64) {
            assay_rng_gauss(&rng, x, 64, side == 0 ? 0.1 : -0.1, 1);
            for (size_t k = 0; k < 64 && i + k < SCORES; k++) {
                to[i + k] = (float)(0.2 * x[k]);
            }
        }
        assay_work_sort(to, spare, SCORES);
    }
    free(spare);
}

static void cells_hold_every_score(void **state)
{
    static float left[SCORES], right[SCORES];
    static assay_cells cells;
    (void)state;
    draw_scores(left, right, 11);
    assay_layers_cells(&cells, left, right, SCORES);
    uint64_t sum[2] = {0, 0}, most = 0;
    for (size_t k = 0; k < cells.num; k++) {
        assert_true(k == 0 || cells.top[k] > cells.top[k - 1]);
        sum[0] += cells.count[0][k];
        sum[1] += cells.count[1][k];
        uint64_t here = cells.count[0][k] + cells.count[1][k];
        most = here > most ? here : most;
    }
    assert_int_equal(sum[0], SCORES);
    assert_int_equal(sum[1], SCORES);
    assert_true(cells.num > 1000 && cells.num <= ASSAY_CELLS);
    assert_true(most <= 2 * SCORES / 100); /* fine everywhere */
    assert_true(isinf(cells.top[cells.num - 1]));
}

/* The probabilities of { score >= t }: left and right. */
static void tail_of(double p[2], double t)
{
    p[0] = 0.5 * erfc((t / 0.2 - 0.1) / sqrt(2));
    p[1] = 0.5 * erfc((t / 0.2 + 0.1) / sqrt(2));
}

static double normal_bound(const double p[2], double runs)
{
    return log(p[0] / p[1]) -
           2.326 * sqrt(((1 - p[0]) / p[0] + (1 - p[1]) / p[1]) / runs);
}

/* What is lost by choosing the threshold from 200,000 runs a side, for a
 * certification of ten million: at most 3 % of the best threshold's bound. */
static void smoothed_ratios_find_the_threshold(void **state)
{
    static float left[SCORES], right[SCORES];
    static assay_cells cells;
    const assay_claim claim = {ASSAY_CLAIM_EPS, 0.1, 0};
    double best = 0;
    (void)state;
    for (double t = 0; t < 1; t += 0.005) {
        double p[2];
        tail_of(p, t);
        best = fmax(best, normal_bound(p, 1e7));
    }
    for (uint64_t seed = 21; seed < 27; seed++) {
        assay_audit_event e = {.model = 3};
        double p[2];
        draw_scores(left, right, seed);
        assay_layers_cells(&cells, left, right, SCORES);
        assert_true(assay_layers_event(&e, &cells, &claim, 1e7, 0.01));
        tail_of(p, e.swapped ? -(double)e.threshold : (double)e.threshold);
        print_message("threshold %.3f: %.3f of %.3f\n", (double)e.threshold,
                      normal_bound(p, 1e7), best);
        assert_true(normal_bound(p, 1e7) > 0.97 * best);
    }
}

static void layers_weigh_both_ends(void **state)
{
    static float left[SCORES], right[SCORES], down[2][SCORES];
    (void)state;
    assay_certify *z = calloc(1, sizeof *z);
    assert_non_null(z);
    draw_scores(left, right, 31);
    assay_layers_cells(&z->cells, left, right, SCORES);
    z->layers_target = 1e7;
    z->layers_level = 0.009;
    double promise = assay_layers_fit(z);
    for (size_t i = 0; i < SCORES; i++) { /* as the oracle wants them */
        down[0][i] = left[SCORES - 1 - i];
        down[1][i] = -right[i];
    }
    double exact = assay_layers_oracle(down[0], down[1], SCORES, 1e7, 0.009);
    print_message("promise %.3f, exact ratios %.3f\n", promise, exact);
    assert_true(promise > 0.9 * exact && promise < 1.05 * exact);
    assert_true(z->num_bins >= 3);
    assert_true(z->g[0] < 0 && z->g[z->num_bins - 1] > 0);
    for (size_t k = 1; k < z->num_bins; k++) {
        assert_true(z->g[k] >= z->g[k - 1]);
    }
    z->bin[0][0] = 5;
    assay_layers_refit(z); /* what was counted is put aside */
    assert_int_equal(z->num_past, 1);
    assert_int_equal(z->past[0].count[0][0], 5);
    assert_int_equal(z->bin[0][0], 0);
    assert_true(z->num_bins >= 3);
    free(z);
}

/* A slice that contradicts the claim of the others cannot be hidden. */
static void opposite_slices_cancel(void **state)
{
    (void)state;
    const assay_layer_counts both = {
        .num = 2, .weight = {1, 1}, .count = {{6000, 4000}, {4000, 6000}}};
    const assay_layer_counts apart = {
        .num = 2, .weight = {1, -1}, .count = {{6000, 4000}, {4000, 6000}}};
    assert_true(assay_bound_layers(&both, 1, 0.01) == 0);
    assert_true(assay_bound_layers(&apart, 1, 0.01) > 0.35);
    assert_true(assay_bound_layers(&apart, 1, 0.01) < log(1.5));
}

static void thinned_counts_are_independent(void **state)
{
    (void)state;
    const double share[SLICES] = {0.6, 0.2, 0.1, 0.05, 0.05};
    assay_rng rng;
    assay_rng_seed(&rng, 6, 0, 0);
    double sum[2] = {0, 0}, square[2] = {0, 0}, cross = 0;
    for (size_t i = 0; i < REPEATS; i++) {
        uint64_t c[SLICES];
        draw(c, share, RUNS, &rng);
        assert_true(assay_layers_thin(c, SLICES, &rng) < 1e-6);
        double a = (double)c[0], b = (double)(c[1] + c[2] + c[3] + c[4]);
        sum[0] += a;
        sum[1] += b;
        square[0] += a * a;
        square[1] += b * b;
        cross += a * b;
    }
    double n = REPEATS, ma = sum[0] / n, mb = sum[1] / n;
    double va = square[0] / n - ma * ma, vb = square[1] / n - mb * mb;
    /* Poisson: variance = mean; fixed n would give 0.4 of it, and correlation
     * -1 */
    assert_true(fabs(va / ma - 1) < 4 * sqrt(2 / n));
    assert_true(fabs(vb / mb - 1) < 4 * sqrt(2 / n));
    assert_true(fabs(cross / n - ma * mb) / sqrt(va * vb) < 4 / sqrt(n));
}

static void few_runs_give_no_bound(void **state)
{
    (void)state;
    uint64_t c[2] = {20, 10};
    assay_rng rng;
    assay_rng_seed(&rng, 7, 0, 0);
    (void)assay_layers_thin(c, 2, &rng);
    assert_int_equal(c[0] + c[1], 0); /* 30 - 6 sqrt(30) is below 1 */
    const assay_layer_counts none = {.num = 1, .weight = {1}};
    assert_true(assay_bound_layers(&none, 1, 0.01) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bound_is_too_large_as_rarely_as_promised),
        cmocka_unit_test(second_stage_may_learn_from_the_first),
        cmocka_unit_test(every_stage_may_learn_from_those_before),
        cmocka_unit_test(a_silent_stage_speaks_by_its_coin),
        cmocka_unit_test(a_second_stage_cannot_fall_silent),
        cmocka_unit_test(cells_hold_every_score),
        cmocka_unit_test(smoothed_ratios_find_the_threshold),
        cmocka_unit_test(layers_weigh_both_ends),
        cmocka_unit_test(opposite_slices_cancel),
        cmocka_unit_test(thinned_counts_are_independent),
        cmocka_unit_test(few_runs_give_no_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
