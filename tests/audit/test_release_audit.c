/* The release of stable prefixes under attack: experts who agree, and one more
 * who always does the opposite. Each draw of the real parts (ledger, tape,
 * played trajectory, lattice counts, noisy questions), put together as
 * algorithms/data_release.c does, is one output; the attacker sees the length
 * of what is released and whether its actions are the crowd's. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithms/data_source.h"
#include "algorithms/prefix_count.h"
#include "audit/audit.h"
#include "mechanisms/stable_prefix.h"
#include "tests/support/custodian.h"
#include "tests/support/support.h"

#define CROWD 150
#define CAP 2
#define WIDTH 3
#define SAMPLES 60000

typedef struct bench {
    assay_experts *experts[2]; /* with and without the odd one */
    assay_control env;
    test_vault vault;
    assay_stable_plan plan;
    assay_stable_prefix *stable;
    int64_t least, one;
    int64_t running[CROWD + 1], factor[CROWD + 1];
    uint64_t asked, released;
} bench;

static assay_experts *crowd(size_t count)
{
    assay_experts *e = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(
        assay_experts_scripted(&e, "cartpole", count, 0.02, 0.0, 7, &err), 0);
    return e;
}

static void bench_open(bench *b, assay_stable_bar bar)
{
    assay_error err = ASSAY_ERROR_INIT;
    memset(b, 0, sizeof *b);
    b->experts[0] = crowd(CROWD + 1);
    b->experts[1] = crowd(CROWD);
    double *odd = assay_experts_params(b->experts[0], CROWD);
    for (size_t i = 0; i < b->experts[0]->shape.num_params; i++) {
        odd[i] = -odd[i];
    }
    assert_int_equal(assay_control_find(&b->env, "cartpole", NULL, &err), 0);
    b->least = assay_policy_least(0.02);
    b->one = bar == ASSAY_BAR_NORMALISED ? ASSAY_PREFIX_ONE - b->least
                                         : ASSAY_PREFIX_ONE;
    assay_stable_plan_init(&b->plan);
    b->plan.bar = bar;
    b->plan.num_draws = 2 * SAMPLES;
    b->plan.cap = CAP;
    b->plan.unit = ASSAY_PREFIX_UNIT;
    mpq_set_si(b->plan.least, b->least, ASSAY_PREFIX_ONE);
    mpq_set_si(b->plan.most, ASSAY_PREFIX_ONE - b->least, ASSAY_PREFIX_ONE);
    mpq_canonicalize(b->plan.least);
    mpq_canonicalize(b->plan.most);
    support_rational(b->plan.epsilon, "1");
    support_rational(b->plan.delta, "1e-6");
    test_vault_open(&b->vault, "1000000", "0.9", NULL, 0);
    if (assay_stable_prefix_new(&b->stable, &b->vault.custodian, &b->plan,
                                "attack", &err) != ASSAY_OK) {
        fail_msg("%s", err.message);
    }
}

static void bench_close(bench *b)
{
    assay_stable_prefix_free(b->stable);
    assay_stable_plan_clear(&b->plan);
    test_vault_close(&b->vault);
    assay_experts_free(b->experts[0]);
    assay_experts_free(b->experts[1]);
}

static int64_t count(bench *b, int side, const assay_transition *row)
{
    size_t n = assay_experts_count(b->experts[side]);
    int64_t weight[ASSAY_EXPERTS_MAX_ACTIONS];
    for (size_t i = 0; i < n; i++) {
        assay_policy_weights(weight, b->experts[side], i, row->state, b->least);
        b->factor[i] = weight[row->action];
    }
    return assay_prefix_query(
        assay_prefix_extend(b->running, b->factor, n, b->one));
}

/* 2 if the action is the crowd's favourite there, else 1 */
static double agrees(const bench *b, const assay_transition *row)
{
    double probs[ASSAY_EXPERTS_MAX_ACTIONS];
    assay_experts_probs(b->experts[1], 0, row->state, probs);
    return probs[row->action] > 0.5 ? 2.0 : 1.0;
}

static void one_draw(bench *b, int side, double *out)
{
    assay_data_source source;
    assay_transition row;
    assay_error err = ASSAY_ERROR_INIT;
    uint64_t who = 0;
    int yes = 1;
    assert_int_equal(assay_data_source_play(&source, b->experts[side], &b->env,
                                            &b->vault.custodian.tape, b->least,
                                            &err),
                     0);
    assert_int_equal(
        assay_stable_prefix_draw(b->stable, &who,
                                 assay_experts_count(b->experts[side]), &err),
        0);
    assert_int_equal(assay_data_source_begin(&source, (size_t)who, &err), 0);
    for (size_t i = 0; i <= CROWD; i++) {
        b->running[i] = ASSAY_PREFIX_ONE;
    }
    memset(out, 0, WIDTH * sizeof *out);
    for (int t = 0; t < CAP && yes; t++) {
        int more = 0;
        assert_int_equal(assay_data_source_next(&source, &row, &more, &err), 0);
        assert_int_equal(assay_stable_prefix_ask(b->stable, &yes,
                                                 count(b, side, &row), &err),
                         0);
        if (yes) {
            out[0] = t + 1;
            out[1 + t] = agrees(b, &row);
        }
    }
    b->asked++;
    b->released += out[0] > 0.0 ? 1 : 0;
    assay_data_source_clear(&source);
}

static assay_status draw(void *ctx, int side, size_t n, double *out,
                         assay_error *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++) {
        one_draw(ctx, side, out + i * WIDTH);
    }
    return ASSAY_OK;
}

static void attack(assay_stable_bar bar, const char *name)
{
    bench *b = malloc(sizeof *b);
    assay_audit_result r;
    assay_error err = ASSAY_ERROR_INIT;
    assert_non_null(b);
    bench_open(b, bar);
    assay_audit_options o = {
        .samples = SAMPLES, .confidence = 0.999, .light = 1, .threads = 1};
    o.claim.kind = ASSAY_CLAIM_EPS;
    o.claim.value = 2.0;
    o.claim.delta = 1e-6;
    if (assay_audit_function(&r, draw, b, WIDTH, &o, &err) != ASSAY_OK) {
        fail_msg("%s", err.message);
    }
    (void)printf("# %s: a draw is (2, 1e-6)-DP; %.0f %% release something; at "
                 "least %.3f, detection limit %.3f\n",
                 name, 100.0 * (double)b->released / (double)b->asked, r.lower,
                 r.detection_limit);
    assert_false(r.refuted);
    assert_true(b->released > b->asked / 2); /* it is no empty thing */
    bench_close(b);
    free(b);
}

static void the_release_is_not_refuted(void **state)
{
    (void)state;
    attack(ASSAY_BAR_MONOTONE, "monotone");
    attack(ASSAY_BAR_NORMALISED, "normalised");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_release_is_not_refuted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
