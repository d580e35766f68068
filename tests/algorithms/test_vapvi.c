/* DP-VAPVI: worst cases are attained and never passed, limits, learning. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "algorithms/environments.h"
#include "algorithms/vapvi.h"
#include "mechanisms/session.h"
#include "tests/support/custodian.h"

#define BITS 10u
#define H 5u

/* One trajectory that is in row `a` at step 0 and goes to state `t`. */
static assay_counts *one_step(uint32_t actions, uint32_t a, uint32_t t)
{
    assay_shape shape = {2, actions, H};
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_counts_new(&counts, &shape, &err), 0);
    assay_counts_add(counts, 0, 0, a, t);
    counts->num_users = 1;
    return counts;
}

/* sum difference^2 / (2 sigma2): the cost in units of rho0 = 1. */
static double cost(const int64_t *x, const int64_t *y,
                   const assay_vapvi_noise *noise)
{
    double sum = 0.0;
    size_t at = 0;
    for (size_t k = 0; k < ASSAY_VAPVI_RUNS; k++) {
        double sigma2 = mpq_get_d(noise->sigma2[k]);
        for (size_t i = 0; i < noise->length[k]; i++, at++) {
            double d = (double)(x[at] - y[at]);
            sum += d * d / (2.0 * sigma2);
        }
    }
    return sum;
}

typedef struct setting {
    assay_features *features;
    int64_t value[2];
    int64_t reward[8];
    double sigma[8];
    assay_vapvi_statistics statistics;
} setting;

/* Costs of replacing (row 0, t0) by (row 1, t1) at step 0. */
static void costs(double out[2], const setting *s, uint32_t t0, uint32_t t1)
{
    assay_counts *one = one_step(4, 0, t0);
    assay_counts *two = one_step(4, 1, t1);
    assay_vapvi_range range;
    assay_vapvi_noise noise;
    size_t d = s->features->dim;
    int64_t left[64];
    int64_t right[64];
    int64_t psi[64];
    mpq_t unit;
    mpq_init(unit);
    mpq_set_ui(unit, 1, 1);
    assay_vapvi_range_init(&range);
    assay_vapvi_noise_init(&noise);
    assay_vapvi_range_set(&range, s->statistics, H, 0, BITS);
    assay_vapvi_noise_variance(&noise, d, &range, unit);
    assert_true(assay_vapvi_noise_len(&noise) <= 64);
    assay_vapvi_variance_sums(left, one, 0, s->features, s->value, &range);
    assay_vapvi_variance_sums(right, two, 0, s->features, s->value, &range);
    out[0] = cost(left, right, &noise);
    assay_vapvi_noise_value(&noise, d, &range, unit);
    assay_vapvi_weigh(psi, s->features, s->sigma);
    assay_vapvi_value_sums(left, one, 0, d, psi, s->sigma, s->reward, s->value,
                           &range);
    assay_vapvi_value_sums(right, two, 0, d, psi, s->sigma, s->reward, s->value,
                           &range);
    out[1] = cost(left, right, &noise);
    assay_vapvi_range_clear(&range);
    assay_vapvi_noise_clear(&noise);
    mpq_clear(unit);
    assay_counts_free(one);
    assay_counts_free(two);
}

static void set_row(assay_features *f, size_t row, const double *x)
{
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(
        assay_features_quantize(f->entry + row * f->dim, x, f->dim, &err), 0);
}

/* The largest value and reward everywhere, cosine c between the two rows. */
static void at_angle(double out[2], double c, assay_vapvi_statistics statistics)
{
    setting s;
    assay_error err = ASSAY_ERROR_INIT;
    double x[2] = {1.0, 0.0};
    double y[2] = {c, sqrt(1.0 - c * c)};
    memset(&s, 0, sizeof s);
    s.statistics = statistics;
    assert_int_equal(assay_features_new(&s.features, 8, 2, &err), 0);
    set_row(s.features, 0, x);
    set_row(s.features, 1, y);
    for (size_t i = 0; i < 8; i++) {
        s.sigma[i] = 1.0;
        s.reward[i] = (int64_t)1 << BITS;
    }
    s.value[0] = (int64_t)(H - 1) << BITS;
    s.value[1] = s.value[0];
    costs(out, &s, 0, 1);
    assay_features_free(s.features);
}

static void worst_angles_attain_the_printed_constants(void **state)
{
    double best[3] = {0.0, 0.0, 0.0};
    double where[3] = {0.0, 0.0, 0.0};
    (void)state;
    for (int i = -64; i <= 64; i++) {
        double c = i / 64.0;
        double two[2];
        double all[3];
        at_angle(two, c, ASSAY_VAPVI_STEPWISE);
        all[0] = two[0];
        all[1] = two[1];
        all[2] = two[0] + two[1];
        assert_true(fabs(all[0] - (2 * (1 - c * c) + 1 - c)) < 1e-3);
        for (size_t k = 0; k < 3; k++) {
            if (all[k] > best[k]) {
                best[k] = all[k];
                where[k] = c;
            }
        }
    }
    assert_true(best[0] <= 3.125 && best[0] > 3.125 - 5e-4);
    assert_true(best[1] <= 2.53125 && best[1] > 2.53125 - 5e-4);
    assert_true(best[2] <= 5.640625 && best[2] > 5.640625 - 1e-3);
    assert_true(fabs(where[0] + 0.25) < 0.04);
    assert_true(fabs(where[1] + 0.125) < 0.04);
    assert_true(fabs(where[2] + 0.1875) < 0.04);
}

static double worst_value(int variance, int value)
{
    double x;
    mpq_t q;
    mpq_init(q);
    assay_vapvi_worst(q, variance, value);
    x = mpq_get_d(q);
    mpq_clear(q);
    return x;
}

static void random_setting(setting *s, assay_envrand *rand)
{
    for (size_t row = 0; row < 2; row++) {
        double x[3];
        for (size_t i = 0; i < 3; i++) {
            x[i] = 4.0 * assay_envrand_unit(rand) - 2.0;
        }
        set_row(s->features, row, x);
    }
    for (size_t t = 0; t < 2; t++) {
        s->value[t] = assay_envrand_below(rand, 3) == 0
                          ? (int64_t)(H - 1) << BITS
                          : assay_envrand_below(rand, (H - 1) << BITS);
    }
    for (size_t i = 0; i < 8; i++) {
        s->sigma[i] = assay_envrand_below(rand, 2) == 0
                          ? 1.0
                          : 1.0 + 3.0 * assay_envrand_unit(rand);
        s->reward[i] = assay_envrand_below(rand, (1u << BITS) + 1);
    }
}

static void random_neighbours_never_pass(void **state)
{
    double worst[3] = {worst_value(1, 0), worst_value(0, 1), worst_value(1, 1)};
    assay_envrand rand;
    (void)state;
    assay_envrand_init(&rand, 11, 0);
    for (int kind = 0; kind < 3; kind++) {
        setting s;
        assay_error err = ASSAY_ERROR_INIT;
        double top = 0.0;
        memset(&s, 0, sizeof s);
        s.statistics = (assay_vapvi_statistics)kind;
        assert_int_equal(assay_features_new(&s.features, 8, 3, &err), 0);
        for (int trial = 0; trial < 20000; trial++) {
            double two[2];
            random_setting(&s, &rand);
            costs(two, &s, assay_envrand_below(&rand, 2),
                  assay_envrand_below(&rand, 2));
            assert_true(two[0] <= worst[0] && two[1] <= worst[1]);
            assert_true(two[0] + two[1] <= worst[2]);
            top = fmax(top, two[0] + two[1]);
        }
        assert_true(top > 0.8 * worst[2]); /* they come near */
        assay_features_free(s.features);
    }
}

/* A trajectory that is in row `rows[h]` at step h and goes to state next[h]. */
static void free_sums(int64_t *out, size_t n, const setting *s,
                      const uint32_t *rows, const uint32_t *next)
{
    assay_shape shape = {2, 4, H};
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_counts_new(&counts, &shape, &err), 0);
    memset(out, 0, n * sizeof *out);
    for (uint32_t h = 0; h < H; h++) {
        assay_counts_add(counts, h, 0, rows[h], next[h]);
        assay_vapvi_free_sums(out, counts, h, s->features, s->reward);
    }
    assay_counts_free(counts);
}

/* Opposite features, the same next state, reward 1: 8 at every step. */
static void value_free_statistics_cost_rho_and_no_more(void **state)
{
    assay_shape shape = {2, 4, H};
    assay_vapvi_noise noise;
    assay_envrand rand;
    assay_error err = ASSAY_ERROR_INIT;
    setting s;
    int64_t left[256];
    int64_t right[256];
    uint32_t zeros[H] = {0};
    uint32_t ones[H] = {1, 1, 1, 1, 1};
    double up[3] = {1.0, 0.0, 0.0};
    double down[3] = {-1.0, 0.0, 0.0};
    mpq_t rho;
    size_t n;
    (void)state;
    mpq_init(rho);
    mpq_set_ui(rho, 3, 2);
    memset(&s, 0, sizeof s);
    assert_int_equal(assay_features_new(&s.features, 8, 3, &err), 0);
    assay_vapvi_noise_init(&noise);
    assay_vapvi_noise_free(&noise, 3, &shape, BITS, rho);
    n = assay_vapvi_noise_len(&noise);
    assert_true(n <= 256);
    set_row(s.features, 0, up);
    set_row(s.features, 1, down);
    s.reward[0] = (int64_t)1 << BITS;
    s.reward[1] = (int64_t)1 << BITS;
    free_sums(left, n, &s, zeros, zeros);
    free_sums(right, n, &s, ones, zeros);
    assert_true(fabs(cost(left, right, &noise) - 1.5) < 1e-12);
    assay_envrand_init(&rand, 12, 0);
    for (int trial = 0; trial < 5000; trial++) {
        uint32_t t[2][H];
        for (size_t h = 0; h < H; h++) {
            t[0][h] = assay_envrand_below(&rand, 2);
            t[1][h] = assay_envrand_below(&rand, 2);
        }
        random_setting(&s, &rand);
        free_sums(left, n, &s, zeros, t[0]);
        free_sums(right, n, &s, ones, t[1]);
        assert_true(cost(left, right, &noise) <= 1.5);
    }
    assay_vapvi_noise_clear(&noise);
    assay_features_free(s.features);
    mpq_clear(rho);
}

static void learn(assay_policy **policy, assay_counts *const *data,
                  const assay_mdp *mdp, const assay_features *features,
                  const assay_vapvi_params *params, assay_custodian *custodian)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status =
        assay_vapvi_learn(policy, data[0], data[1], features, mdp->reward,
                          params, custodian, &err);
    if (status != ASSAY_OK) {
        print_message("%s\n", err.message);
    }
    assert_int_equal(status, 0);
}

static void world(assay_mdp **mdp, assay_features **features,
                  assay_counts **one, assay_counts **two, uint64_t users)
{
    double *behaviour = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assert_int_equal(assay_environment_new(mdp, "linear:seed=3", &err), 0);
    assert_int_equal(
        assay_environment_behaviour(&behaviour, "linear", *mdp, &err), 0);
    assert_int_equal(assay_features_linear(features, &(*mdp)->shape, &err), 0);
    assert_int_equal(
        assay_counts_simulate(one, *mdp, behaviour, users, 5, &err), 0);
    assert_int_equal(
        assay_counts_simulate(two, *mdp, behaviour, users, 6, &err), 0);
    free(behaviour);
}

#define HUGE_RHO "100000000000000000000000000000000000000000000000000"

static void without_noise_it_is_the_same_learner(void **state)
{
    assay_mdp *mdp = NULL;
    assay_features *features = NULL;
    assay_counts *data[2] = {NULL, NULL};
    (void)state;
    world(&mdp, &features, &data[0], &data[1], 500);
    for (int split = 0; split < 2; split++) {
        assay_counts *both[2] = {data[0], split ? data[1] : NULL};
        for (int kind = 0; kind < 4; kind++) {
            assay_vapvi_params params;
            assay_policy *open = NULL;
            assay_policy *closed = NULL;
            test_vault vault;
            test_vault_open(&vault, NULL, NULL, HUGE_RHO, 1);
            assay_vapvi_params_init(&params, 0);
            params.statistics = (assay_vapvi_statistics)kind;
            learn(&open, both, mdp, features, &params, NULL);
            params.is_private = 1;
            assert_int_equal(mpq_set_str(params.budget, HUGE_RHO, 10), 0);
            learn(&closed, both, mdp, features, &params, &vault.custodian);
            assert_memory_equal(open->action, closed->action,
                                40 * sizeof(uint32_t));
            assert_int_equal(test_vault_rows(&vault), 1);
            assay_policy_free(open);
            assay_policy_free(closed);
            assay_vapvi_params_clear(&params);
            test_vault_close(&vault);
        }
    }
    assay_counts_free(data[0]);
    assay_counts_free(data[1]);
    assay_features_free(features);
    assay_mdp_free(mdp);
}

/* Counts in proportion to the exact probabilities: infinite data. */
static assay_counts *expected(const assay_mdp *mdp, double users)
{
    const assay_shape *shape = &mdp->shape;
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    double even = 1.0 / (shape->num_states * shape->num_actions);
    assert_int_equal(assay_counts_new(&counts, shape, &err), 0);
    for (size_t pair = 0; pair < counts->num_pairs; pair++) {
        for (uint32_t t = 0; t < shape->num_states; t++) {
            size_t at = pair * shape->num_states + t;
            int64_t n = llrint(users * even * mdp->transition[at]);
            counts->cell[pair] += n;
            counts->cell[counts->num_pairs + at] = n;
        }
    }
    counts->num_users = (uint64_t)users;
    return counts;
}

static void much_data_gives_the_optimum(void **state)
{
    static const char *const envs[] = {"linear:seed=3", "random:S=4,A=3,H=6",
                                       "riverswim"};
    (void)state;
    for (size_t e = 0; e < 3; e++) {
        for (int kind = 0; kind < 4; kind++) {
            assay_mdp *mdp = NULL;
            assay_features *features = NULL;
            assay_vapvi_params params;
            assay_policy *policy = NULL;
            assay_error err = ASSAY_ERROR_INIT;
            double best = 0.0;
            double value = 0.0;
            assert_int_equal(assay_environment_new(&mdp, envs[e], &err), 0);
            assert_int_equal(
                assay_features_by_name(&features, e == 0 ? "linear" : "one-hot",
                                       &mdp->shape, &err),
                0);
            assay_counts *data[2] = {expected(mdp, 1e8), NULL};
            assay_vapvi_params_init(&params, 0);
            params.statistics = (assay_vapvi_statistics)kind;
            learn(&policy, data, mdp, features, &params, NULL);
            assert_int_equal(assay_mdp_optimum(&best, NULL, mdp, &err), 0);
            assert_int_equal(assay_mdp_evaluate(&value, mdp, policy, &err), 0);
            if (best - value > 0.02) {
                print_message("%s statistics %d: gap %g\n", envs[e], kind,
                              best - value);
            }
            assert_true(best - value <= 0.02);
            assay_vapvi_params_clear(&params);
            assay_policy_free(policy);
            assay_counts_free(data[0]);
            assay_features_free(features);
            assay_mdp_free(mdp);
        }
    }
}

static void a_run_costs_rho_and_is_quick(void **state)
{
    assay_mdp *mdp = NULL;
    assay_features *features = NULL;
    assay_counts *data[2] = {NULL, NULL};
    clock_t start;
    (void)state;
    world(&mdp, &features, &data[0], &data[1], 50000);
    assert_int_equal(features->dim, 10);
    for (int split = 0; split < 2; split++) {
        assay_counts *both[2] = {data[0], split ? data[1] : NULL};
        for (int kind = 0; kind < 4; kind++) {
            assay_vapvi_params params;
            assay_policy *policy = NULL;
            test_vault vault;
            assay_error err = ASSAY_ERROR_INIT;
            test_vault_open(&vault, NULL, NULL, "3", 1);
            assay_vapvi_params_init(&params, kind % 2);
            params.is_private = 1;
            params.statistics = (assay_vapvi_statistics)kind;
            mpq_set_ui(params.budget, 5, 2);
            start = clock();
            learn(&policy, both, mdp, features, &params, &vault.custodian);
            assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
            assert_true(fabs(test_vault_spent_rho(&vault) - 2.5) < 1e-12);
            assay_policy_free(policy);
            policy = NULL;
            assert_int_equal(assay_vapvi_learn(&policy, both[0], both[1],
                                               features, mdp->reward, &params,
                                               &vault.custodian, &err),
                             ASSAY_BUDGET);
            assert_null(policy);
            assay_vapvi_params_clear(&params);
            test_vault_close(&vault);
        }
    }
    assay_counts_free(data[0]);
    assay_counts_free(data[1]);
    assay_features_free(features);
    assay_mdp_free(mdp);
}

static void features_have_norm_one_and_refuse_nonsense(void **state)
{
    assay_shape shape = {2, 100, 20};
    assay_features *f = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    double bad[2] = {1.0, NAN};
    double wide[2] = {1e300, -1e300};
    double x[6] = {0.3, 0.7, 0.1, 0.9, 0.5, 2.0};
    double big[1024];
    int64_t out[1024];
    (void)state;
    assert_int_equal(assay_features_linear(&f, &shape, &err), 0);
    for (size_t row = 0; row < f->num_rows; row++) {
        int64_t sum = 0;
        for (size_t i = 0; i < f->dim; i++) {
            sum += f->entry[row * f->dim + i] * f->entry[row * f->dim + i];
        }
        assert_true(sum <= ASSAY_FEATURE_ONE * ASSAY_FEATURE_ONE);
        assert_true((double)sum > 0.999 * 0x1p28);
    }
    assay_features_free(f);
    assert_int_equal(assay_features_quantize(out, bad, 2, &err), ASSAY_INVALID);
    assert_int_equal(assay_features_quantize(out, wide, 2, &err), 0);
    assert_true(out[0] * out[0] + out[1] * out[1] <= (int64_t)1 << 28);
    assert_true(out[0] > 11000 && out[1] < -11000);
    assert_int_equal(assay_fourier_dim(5, 2), 36);
    assay_fourier(big, x, 5, 2);
    assert_true(fabs(big[0] - 1.0 / 6.0) < 1e-12);
    assert_true(fabs(big[7] - cos(acos(-1.0)) / 6.0) < 1e-12);
    assert_int_equal(assay_tiles_dim(4, 3, 2), 64);
    assay_tiles(big, x, 4, 3, 2);
    double sum = 0.0;
    for (size_t i = 0; i < 64; i++) {
        sum += big[i] * big[i];
    }
    assert_true(fabs(sum - 1.0) < 1e-12);
}

static void a_session_draws_only_what_is_paid(void **state)
{
    assay_session *session = NULL;
    test_vault vault;
    assay_error err = ASSAY_ERROR_INIT;
    int64_t x[3] = {1, 2, 3};
    mpq_t one;
    mpq_t two;
    (void)state;
    mpq_init(one);
    mpq_init(two);
    mpq_set_ui(one, 1, 1);
    mpq_set_ui(two, 2, 1);
    assay_noise_run runs[2] = {{1, one}, {2, two}};
    test_vault_open(&vault, NULL, NULL, "1", 1);
    assert_int_equal(
        assay_session_new(&session, &vault.custodian, 2, two, "t", &err), 0);
    assert_true(fabs(test_vault_spent_rho(&vault) - 1.0) < 1e-12);
    assert_int_equal(assay_session_draw(session, 0, x, x, runs, 2, &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_session_pay(session, 0, one, 1, &err), 0);
    assert_int_equal(assay_session_draw(session, 1, x, x, runs, 2, &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_session_draw(session, 0, x, x, runs, 2, &err), 0);
    assert_int_equal(assay_session_draw(session, 0, x, x, runs, 2, &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_session_pay(session, 0, two, 1, &err), ASSAY_BUDGET);
    assert_int_equal(assay_session_pay(session, 0, one, 1, &err), 0);
    assert_int_equal(assay_session_pay(session, 1, two, 1, &err), 0);
    assert_int_equal(assay_session_pay(session, 2, one, 1, &err),
                     ASSAY_INVALID);
    assay_session_free(session);
    session = NULL;
    assert_int_equal(
        assay_session_new(&session, &vault.custodian, 1, one, "t", &err),
        ASSAY_BUDGET);
    assert_null(session);
    test_vault_close(&vault);
    mpq_clear(one);
    mpq_clear(two);
}

/* A tape that ends: nothing is written, and nothing is drawn after it. */
static void a_session_stops_when_the_tape_fails(void **state)
{
    assay_session *session = NULL;
    test_vault vault;
    assay_error err = ASSAY_ERROR_INIT;
    uint64_t words[1] = {12345};
    int64_t in[64] = {0};
    int64_t out[64];
    mpq_t one;
    (void)state;
    mpq_init(one);
    mpq_set_ui(one, 1, 1);
    assay_noise_run runs[1] = {{64, one}};
    memset(out, 7, sizeof out);
    test_vault_open_recorded(&vault, NULL, NULL, "1", 1, words, 1);
    assert_int_equal(
        assay_session_new(&session, &vault.custodian, 1, one, "t", &err), 0);
    assert_int_equal(assay_session_pay(session, 0, one, 2, &err), 0);
    assert_int_equal(assay_session_draw(session, 0, out, in, runs, 1, &err),
                     ASSAY_ENTROPY);
    assert_int_equal(assay_session_draw(session, 0, out, in, runs, 1, &err),
                     ASSAY_INVALID);
    assert_int_equal(out[0], 0x0707070707070707);
    assert_int_equal(test_vault_rows(&vault), 1); /* the charge stays */
    assay_session_free(session);
    test_vault_close(&vault);
    mpq_clear(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worst_angles_attain_the_printed_constants),
        cmocka_unit_test(random_neighbours_never_pass),
        cmocka_unit_test(value_free_statistics_cost_rho_and_no_more),
        cmocka_unit_test(without_noise_it_is_the_same_learner),
        cmocka_unit_test(much_data_gives_the_optimum),
        cmocka_unit_test(a_run_costs_rho_and_is_quick),
        cmocka_unit_test(features_have_norm_one_and_refuse_nonsense),
        cmocka_unit_test(a_session_draws_only_what_is_paid),
        cmocka_unit_test(a_session_stops_when_the_tape_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
