/* White-box audit of the private step of selective DP-SGD in one run: canary
 * experts whose gradients are orthogonal, each there by a fair coin, seen
 * through the noisy sums of every step (Steinke, Nasr and Jagielski 2023).
 * The step is the learner's: clipping by assay_selective_bound, public coin,
 * Poisson sample, noise and charge by mechanisms/sampled_sum.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "accountant/guarantee.h"
#include "algorithms/envrand.h"
#include "algorithms/selective.h"
#include "audit/bound.h"
#include "mechanisms/sampled_sum.h"
#include "tests/support/custodian.h"
#include "tests/support/support.h"

#define CANARIES 1000
#define GUESSES 200 /* fixed beforehand: the highest and lowest 100 */
#define STEPS 40
#define BITS 10
#define VARIANCE 16 /* in units of the clipping norm, squared */
#define RATE 0.5
#define DELTA 1e-5
#define LEVEL 0.01

typedef struct run {
    assay_sampling_plan plan;
    mpq_t sigma2, sensitivity2, coin;
    unsigned char there[CANARIES];
    uint64_t who[CANARIES];
    double score[CANARIES];
    int64_t sum[CANARIES], noisy[CANARIES], one[CANARIES];
    uint64_t chosen[CANARIES];
    double reach; /* norm of a canary, in units of the clipping norm */
} run;

static void set_up(run *r, double reach, uint64_t seed)
{
    assay_envrand rand;
    memset(r, 0, sizeof *r);
    mpq_inits(r->sigma2, r->sensitivity2, r->coin, NULL);
    mpq_set_ui(r->sigma2, VARIANCE, 1);
    mpq_set_ui(r->sensitivity2, 1, 1);
    mpq_set_ui(r->coin, 1, 2);
    r->plan = (assay_sampling_plan){.poisson = 1,
                                    .rate_bits = 1,
                                    .num_steps = STEPS,
                                    .dimension = CANARIES,
                                    .step_bits = BITS,
                                    .sigma2 = r->sigma2,
                                    .sensitivity2 = r->sensitivity2,
                                    .coin = r->coin};
    r->reach = reach;
    assay_envrand_init(&rand, seed, 0);
    for (size_t j = 0; j < CANARIES; j++) {
        r->there[j] = (unsigned char)(assay_envrand_next(&rand) >> 63);
        if (r->there[j]) {
            r->who[r->plan.population++] = j;
        }
    }
}

static void tear_down(run *r)
{
    mpq_clears(r->sigma2, r->sensitivity2, r->coin, NULL);
}

/* epsilon of what is charged; `reach` > 1 is the truth without clipping */
static double account(const run *r, double reach)
{
    assay_event event;
    assay_event_list list;
    assay_guarantee g;
    assay_account_options options = {.method = "pld"};
    assay_error err = ASSAY_ERROR_INIT;
    mpq_t delta;
    mpq_init(delta);
    mpq_set_d(delta, DELTA);
    assay_sampled_sum_event(&event, &r->plan);
    mpq_set_d(event.sensitivity2, reach * reach);
    assay_event_list_init(&list, ASSAY_ADD_REMOVE, "expert");
    assay_guarantee_init(&g);
    assert_int_equal(assay_event_list_add(&list, &event, &err), 0);
    assert_int_equal(assay_account(&g, &list, delta, &options, &err), 0);
    double epsilon = mpq_get_d(g.bounds[0].epsilon);
    assay_guarantee_clear(&g);
    assay_event_list_clear(&list);
    assay_event_clear(&event);
    mpq_clear(delta);
    return epsilon;
}

/* The learner's clipping, or a copy that forgets it. */
static void add_canary(run *r, size_t j, int clipped)
{
    static double gradient[CANARIES];
    if (!clipped) {
        r->sum[j] += (int64_t)llrint(r->reach * (1 << BITS));
        return;
    }
    gradient[j] = 50.0; /* far outside the ball */
    assay_selective_bound(r->one, gradient, CANARIES, BITS, 1 << BITS);
    gradient[j] = 0.0;
    for (size_t i = 0; i < CANARIES; i++) {
        r->sum[i] += r->one[i];
    }
}

/* What a noisy sum says about canary j: its log likelihood ratio. */
static void look(run *r)
{
    double d = r->reach;
    for (size_t j = 0; j < CANARIES; j++) {
        double x = ldexp((double)r->noisy[j], -BITS);
        r->score[j] += log1p(RATE * expm1(d * (x - d / 2.0) / VARIANCE));
    }
}

static void all_steps(run *r, int clipped)
{
    test_vault v;
    assay_sampled_sum *sums = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    test_vault_open(&v, "20", "1e-5", NULL, 0);
    assert_int_equal(
        assay_sampled_sum_new(&sums, &v.custodian, &r->plan, "canary", &err),
        0);
    for (int step = 0; step < STEPS; step++) {
        int heads = 0;
        size_t num = 0;
        assert_int_equal(assay_sampled_sum_coin(sums, &heads, &err), 0);
        if (!heads) {
            continue;
        }
        assert_int_equal(assay_sampled_sum_draw(sums, r->chosen, &num, &err),
                         0);
        memset(r->sum, 0, sizeof r->sum);
        for (size_t k = 0; k < num; k++) {
            add_canary(r, (size_t)r->who[r->chosen[k]], clipped);
        }
        assert_int_equal(
            assay_sampled_sum_release(sums, r->noisy, r->sum, &err), 0);
        look(r);
    }
    assay_sampled_sum_free(sums);
    test_vault_close(&v);
}

static int by_score(const void *a, const void *b)
{
    const double *x = *(const double *const *)a;
    const double *y = *(const double *const *)b;
    return *x < *y ? -1 : *x > *y;
}

/* How many of the guesses are right. */
static uint64_t guess(const run *r)
{
    const double *order[CANARIES];
    uint64_t right = 0;
    for (size_t j = 0; j < CANARIES; j++) {
        order[j] = &r->score[j];
    }
    qsort(order, CANARIES, sizeof order[0], by_score);
    for (size_t k = 0; k < GUESSES / 2; k++) {
        right += r->there[order[k] - r->score] ? 0 : 1;
        right += r->there[order[CANARIES - 1 - k] - r->score] ? 1 : 0;
    }
    return right;
}

static double audit(double reach, int clipped, double *claim)
{
    run *r = malloc(sizeof *r);
    assert_non_null(r);
    set_up(r, reach, 11);
    all_steps(r, clipped);
    uint64_t right = guess(r);
    double lower = assay_bound_one_run(CANARIES, GUESSES, right, DELTA, LEVEL);
    double truth = account(r, clipped ? 1.0 : reach);
    *claim = account(r, 1.0);
    (void)printf("# reach %.2f C: epsilon %.3f, %d of %d right, at least "
                 "%.3f; claim %.3f: %s\n",
                 reach, truth, (int)right, GUESSES, lower, *claim,
                 lower > *claim ? "refuted" : "not refuted");
    tear_down(r);
    free(r);
    return lower;
}

static void the_corrected_step_is_not_refuted(void **state)
{
    double claim = 0.0;
    (void)state;
    double lower = audit(1.0, 1, &claim);
    (void)printf("# the most that %d right guesses can show: %.3f\n", GUESSES,
                 assay_bound_one_run(CANARIES, GUESSES, GUESSES, DELTA, LEVEL));
    assert_true(lower <= claim);
}

static void a_step_without_clipping_is_refuted(void **state)
{
    double claim = 0.0;
    (void)state;
    for (int k = 3; k < 8; k++) {
        (void)audit(0.5 * k, 0, &claim);
    }
    assert_true(audit(8.0, 0, &claim) > claim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_corrected_step_is_not_refuted),
        cmocka_unit_test(a_step_without_clipping_is_refuted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
