/* ring: glue */
/* The spline attacker and its penalties. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/evidence.h"
#include "audit/rng.h"
#include "audit/scores.h"
#include "audit/smooth.h"
#include "audit/specimens/specimens.h"

/* ---- evidence ------------------------------------------------------------ */

enum { P = 6 };

/* Coefficients 1-3 are of size 0.1 with precision 1e6, 4 and 5 are nothing. */
static void precisions_follow_the_size_of_coefficients(void **state)
{
    (void)state;
    const uint8_t family[P] = {0, 1, 1, 1, 2, 2};
    const double b[P] = {0, 0.1, -0.12, 0.08, 0, 0};
    const double luck[P] = {300, 700, -500, 200, 900, -800}; /* about sd */
    double hess[P * P] = {0}, grad[P], work[P * P + P], out[P];
    for (size_t k = 0; k < P; k++) {
        hess[k * P + k] = 1e6;
        grad[k] = 1e6 * b[k] + luck[k];
    }
    assay_evidence e = {P, family, hess, grad, work, {1e-3}, 0};
    e.lambda[1] = e.lambda[2] = ASSAY_EVIDENCE_OFF;
    assay_evidence_tune(&e);
    assert_true(e.lambda[1] >= 10 && e.lambda[1] <= 1000);
    assert_true(e.lambda[2] >= 1e6);
    assert_true(assay_evidence_solve(&e, out));
    for (size_t k = 1; k < 4; k++) {
        assert_true(fabs(out[k] - b[k]) < 0.002);
    }
    assert_true(fabs(out[4]) < 5e-4 && fabs(out[5]) < 5e-4);
}

/* What four coefficients say badly two families of one say well, together: the
 * fifth stands for the first two, the sixth for the others. */
static void rich_families_may_come_last(void **state)
{
    enum { N = 7 };
    const uint8_t family[N] = {0, 1, 1, 1, 1, 2, 3};
    const double truth[N] = {0, 0, 0, 0, 0, 0.01, 0.01};
    double hess[(size_t)N * N] = {0}, grad[N] = {0}, work[(size_t)N * N + N];
    (void)state;
    for (size_t k = 0; k < N; k++) {
        hess[k * N + k] = k < 5 ? 1e6 : 2e6;
    }
    for (size_t k = 1; k < 5; k++) {
        hess[(size_t)(k < 3 ? 5 : 6) * N + k] = 1e6;
    }
    for (size_t k = 0; k < N; k++) {
        for (size_t l = 0; l < N; l++) {
            grad[k] += hess[k > l ? k * N + l : l * N + k] * truth[l];
        }
    }
    for (int rich = 0; rich < 2; rich++) {
        assay_evidence e = {
            N, family, hess, grad, work, {1e-3}, rich ? UINT32_C(2) : 0};
        e.lambda[1] = e.lambda[2] = e.lambda[3] = ASSAY_EVIDENCE_OFF;
        assay_evidence_tune(&e);
        assert_true((e.lambda[1] < ASSAY_EVIDENCE_OFF) == !rich);
        assert_true((e.lambda[2] < ASSAY_EVIDENCE_OFF) == rich);
        assert_true((e.lambda[3] < ASSAY_EVIDENCE_OFF) == rich);
    }
}

static void a_matrix_that_is_not_definite_is_refused(void **state)
{
    (void)state;
    const uint8_t family[1] = {0};
    double hess[1] = {-5}, grad[1] = {1}, work[2], out[1];
    assay_evidence e = {1, family, hess, grad, work, {1}, 0};
    assert_false(assay_evidence_solve(&e, out));
}

/* ---- the attacker against exact ratios ---------------------------------- */

typedef struct moments {
    double n, x, y, xx, yy, xy;
} moments;

static double correlation(const moments *m)
{
    double cov = m->xy / m->n - m->x / m->n * (m->y / m->n);
    double vx = m->xx / m->n - m->x / m->n * (m->x / m->n);
    double vy = m->yy / m->n - m->y / m->n * (m->y / m->n);
    return cov / sqrt(vx * vy);
}

static void compare_block(moments *m, const assay_oracle *o,
                          const assay_model *model, const assay_rows *rows)
{
    double ratio[ASSAY_ROWS_BLOCK];
    float score[ASSAY_ROWS_BLOCK];
    o->specimen->llr(o, rows, ratio);
    assay_model_score(model, rows, score);
    for (size_t i = 0; i < rows->num; i++) {
        double x = ratio[i], y = (double)score[i];
        m->n += 1;
        m->x += x;
        m->y += y;
        m->xx += x * x;
        m->yy += y * y;
        m->xy += x * y;
    }
}

/* Correlation of the fitted score with the exact log ratio on new rows. */
static double quality(const char *name, size_t pair, size_t blocks)
{
    assay_error err = ASSAY_ERROR_INIT;
    const assay_specimen *s = assay_specimen_find(name);
    assert_non_null(s);
    assay_pair pairs[16];
    assert_true(pair < assay_specimen_pairs(s, pairs));
    assay_specimen_run run = {s, pairs[pair], 3};
    assay_source source = assay_specimen_source(&run);
    const assay_names only = {1, {"splines"}};
    assay_plan p = {.train_end = blocks * ASSAY_ROWS_BLOCK,
                    .unit = ASSAY_ROWS_BLOCK};
    assay_models models;
    assay_training data;
    assert_int_equal(assay_train(&models, &data, &source, &p, 0, &only, &err),
                     ASSAY_OK);
    size_t at = 0;
    while (at < models.num && strcmp(models.model[at].name, "splines") != 0) {
        at++;
    }
    assert_true(at < models.num);
    assay_oracle o = {s, pairs[pair],
                      calloc(2 * ASSAY_SPECIMEN_TABLE, sizeof(double))};
    if (s->prepare != NULL) {
        s->prepare(&o);
    }
    moments m = {0, 0, 0, 0, 0, 0};
    assay_rows rows;
    assert_int_equal(assay_rows_init(&rows, source.width, &err), ASSAY_OK);
    for (size_t b = 0; b < 20; b++) {
        assert_int_equal(assay_source_fill(&source, (int)(b % 2),
                                           (1000 + b) * ASSAY_ROWS_BLOCK,
                                           ASSAY_ROWS_BLOCK, &rows, &err),
                         ASSAY_OK);
        compare_block(&m, &o, &models.model[at], &rows);
    }
    assay_rows_clear(&rows);
    free(o.table);
    assay_training_clear(&data);
    assay_models_clear(&models);
    print_message("%s: correlation %.4f\n", name, correlation(&m));
    return correlation(&m);
}

/* Differences of ten columns, twenty exchangeable columns of almost nothing,
 * and words with numbers. */
static void splines_are_close_to_the_exact_ratio(void **state)
{
    (void)state;
    assert_true(quality("PrefixSum", 5, 40) > 0.97);
    assert_true(quality("LaplaceParallel", 0, 160) > 0.98);
    assert_true(quality("DPFinder-AT3", 7, 100) > 0.95);
}

/* What a miss says depends on the value put out: without products of the two
 * the first correlation is 0.96, without jumps shared between columns 0.975. */
static void words_and_numbers_together_say_more(void **state)
{
    (void)state;
    assert_true(quality("SVT3", 4, 200) > 0.98);
    assert_true(quality("SVT2-two-hits", 4, 200) > 0.92); /* no numbers */
}

/* ---- step functions ----------------------------------------------------- */

enum { N = 20000 };

/* Numbers from 1e-300 to 1e300 of both signs, the left ones mostly positive. */
static void steps_take_numbers_of_any_size(void **state)
{
    (void)state;
    static double x[2][N];
    assay_error err = ASSAY_ERROR_INIT;
    assay_rng rng;
    assay_steps t;
    assay_rng_seed(&rng, 5, 0, 0);
    for (size_t i = 0; i < N; i++) {
        for (int side = 0; side < 2; side++) {
            double size = pow(10, 600 * assay_rng_u01(&rng) - 300);
            int up = assay_rng_u01(&rng) < (side == 0 ? 0.7 : 0.3);
            x[side][i] = up ? size : -size;
        }
    }
    x[0][0] = 1.7e308; /* the range is infinite */
    x[1][0] = -1.7e308;
    x[1][1] = NAN;
    assert_int_equal(assay_steps_fit(&t, x[0], x[1], N, N, 384, 24, &err),
                     ASSAY_OK);
    for (double at = 1e-200; at < 1e200; at *= 1e50) {
        assert_true(fabs(assay_steps_at(&t, at) - log(7 / 3.0)) < 0.2);
        assert_true(fabs(assay_steps_at(&t, -at) + log(7 / 3.0)) < 0.2);
    }
    assay_steps_clear(&t);
}

/* Five answers go up, five down, and the last ones are seldom reached: each of
 * those says too little by itself. */
static void weak_columns_join_their_group(void **state)
{
    enum { BLOCKS = 200 };
    const assay_specimen *s = assay_specimen_find("NumericalSVT");
    const assay_names only = {1, {"sum"}};
    const int word = 2; /* FALSE */
    assay_pair pairs[8];
    assay_error err = ASSAY_ERROR_INIT;
    size_t right = 0;
    (void)state;
    assert_true(assay_specimen_pairs(s, pairs) > 4);
    for (uint64_t seed = 27; seed < 31; seed++) {
        assay_specimen_run run = {s, pairs[4], seed};
        assay_source source = assay_specimen_source(&run);
        assay_plan p = {.train_end = BLOCKS * ASSAY_ROWS_BLOCK,
                        .unit = ASSAY_ROWS_BLOCK};
        assay_models models;
        assay_training data;
        uint64_t mask[2];
        assert_int_equal(
            assay_train(&models, &data, &source, &p, 0, &only, &err), ASSAY_OK);
        (void)assay_groups_lean(mask, &data, &word, 1);
        right += mask[0] == 0x3e0 && mask[1] == 0x1f;
        assay_training_clear(&data);
        assay_models_clear(&models);
    }
    assert_true(right >= 3);
}

/* ---- lines and squares -------------------------------------------------- */

/* Rows (shift + 10 + width * normal, 20 + normal); the left side has the shift,
 * the right one the width. */
typedef struct far_off {
    double shift, width;
} far_off;

static assay_status fill_far_off(void *ctx, int side, uint64_t first, size_t n,
                                 assay_rows *out, assay_error *err)
{
    const far_off *f = ctx;
    assay_rng rng;
    (void)err;
    assay_rng_seed(&rng, 11, first, (uint64_t)side);
    assay_rng_gauss(&rng, out->value[0], n, 10 + (side == 0 ? f->shift : 0),
                    side == 0 ? 1 : f->width);
    assay_rng_gauss(&rng, out->value[1], n, 20, 1);
    return ASSAY_OK;
}

/* Fits the attacker `name` and the others of one look; the scores of four
 * rows. */
static void score_far_off(float *out, far_off f, const char *name,
                          const double (*x)[4], double *lead)
{
    const char *rival = strcmp(name, "linear logistic") == 0
                            ? "quadratic logistic"
                            : "broken lines";
    assay_names only = {2, {""}};
    (void)strcpy(only.name[0], name);
    (void)strcpy(only.name[1], rival);
    assay_error err = ASSAY_ERROR_INIT;
    assay_source source = {2, &f, 1, fill_far_off, NULL, 0};
    assay_plan p = {.train_end = 40 * ASSAY_ROWS_BLOCK,
                    .unit = ASSAY_ROWS_BLOCK};
    assay_models models;
    assay_training data;
    assay_rows rows;
    assert_int_equal(assay_train(&models, &data, &source, &p, 0, &only, &err),
                     ASSAY_OK);
    assert_int_equal(assay_rows_init(&rows, 2, &err), ASSAY_OK);
    rows.num = 4;
    memcpy(rows.value[0], x[0], sizeof x[0]);
    memcpy(rows.value[1], x[1], sizeof x[1]);
    *lead = 0;
    for (size_t k = 0; k < models.num; k++) {
        const assay_model *m = &models.model[k];
        int mine = strcmp(m->name, name) == 0;
        if (mine) {
            float block[ASSAY_ROWS_BLOCK];
            assay_model_score(m, &rows, block);
            memcpy(out, block, 4 * sizeof *out);
        }
        *lead += mine                          ? m->evidence
                 : strcmp(m->name, rival) == 0 ? -m->evidence
                                               : 0;
    }
    assay_rows_clear(&rows);
    assay_training_clear(&data);
    assay_models_clear(&models);
}

/* Only the first column differs; without a constant the second one stands in
 * for it, because it is far from 0. */
static void slopes_carry_no_constant(void **state)
{
    const double x[2][4] = {{10, 11, 10, 10}, {20, 20, 21, 19}};
    float s[4];
    double lead;
    (void)state;
    score_far_off(s, (far_off){0.5, 1}, "linear logistic", x, &lead);
    double slope = (double)(s[1] - s[0]), other = (double)(s[2] - s[3]) / 2;
    assert_true(fabs(slope - 0.5) < 0.03);
    assert_true(fabs(other) < 0.03);
    assert_true(lead > 0); /* it has fewer terms than the squares */
}

/* A wider right side: both tails are alike. */
static void squares_see_another_width(void **state)
{
    const double x[2][4] = {{10, 14, 6, 10}, {20, 20, 20, 20}};
    float s[4];
    double lead;
    (void)state;
    score_far_off(s, (far_off){0, 1.25}, "quadratic logistic", x, &lead);
    double up = (double)(s[0] - s[1]), down = (double)(s[0] - s[2]);
    assert_true(fabs(up - 8 * (1 - 1 / 1.5625)) < 0.2);
    assert_true(fabs(down - 8 * (1 - 1 / 1.5625)) < 0.2);
    assert_true(lead > 0); /* than broken lines */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_carry_no_constant),
        cmocka_unit_test(squares_see_another_width),
        cmocka_unit_test(precisions_follow_the_size_of_coefficients),
        cmocka_unit_test(rich_families_may_come_last),
        cmocka_unit_test(a_matrix_that_is_not_definite_is_refused),
        cmocka_unit_test(splines_are_close_to_the_exact_ratio),
        cmocka_unit_test(words_and_numbers_together_say_more),
        cmocka_unit_test(weak_columns_join_their_group),
        cmocka_unit_test(steps_take_numbers_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
