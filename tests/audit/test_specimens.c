/* ring: glue */
/*
 * The specimens agree with what is written beside them: names are unique, a
 * claim is false where the truth exceeds it, the log likelihood ratio is the
 * ratio of the two laws that are drawn, and it stays within the truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/specimens/specimens.h"

#define BLOCKS 6
#define NEAR 1.5 /* ratios that are compared */

/* Sums over the rows of one side. */
typedef struct sums {
    double share[2], square[2]; /* of the ratio inside (-NEAR, 0) and (0, NEAR),
                                   weighted on the right side */
    double most;
} sums;

static void add_row(sums *t, double llr, int side)
{
    double w = side == 0 ? 1 : exp(llr);
    t->most = fmax(t->most, fabs(llr));
    if (llr != 0 && fabs(llr) < NEAR) {
        t->share[llr > 0] += w;
        t->square[llr > 0] += w * w;
    }
}

static void draw_side(sums *t, const assay_source *source,
                      const assay_oracle *o, int side)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_rows rows;
    double llr[ASSAY_ROWS_BLOCK];
    assert_int_equal(assay_rows_init(&rows, source->width, &err), ASSAY_OK);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        assert_int_equal(assay_source_fill(source, side, b * ASSAY_ROWS_BLOCK,
                                           ASSAY_ROWS_BLOCK, &rows, &err),
                         ASSAY_OK);
        o->specimen->llr(o, &rows, llr);
        for (size_t i = 0; i < ASSAY_ROWS_BLOCK; i++) {
            add_row(t, llr[i], side);
        }
    }
    assay_rows_clear(&rows);
}

/* P_left(A) = E_right[exp(llr); A] for A = {0 < llr < NEAR} and its mirror. */
static void check_pair(const assay_specimen *s, const assay_pair *pair)
{
    assay_specimen_run run = {s, *pair, 77};
    assay_source source = assay_specimen_source(&run);
    assay_oracle o = {s, *pair, NULL};
    sums t[2];
    double n = BLOCKS * ASSAY_ROWS_BLOCK;
    memset(t, 0, sizeof t);
    o.table = calloc(2 * ASSAY_SPECIMEN_TABLE, sizeof *o.table);
    assert_non_null(o.table);
    if (s->prepare != NULL) {
        s->prepare(&o);
    }
    draw_side(&t[0], &source, &o, 0);
    draw_side(&t[1], &source, &o, 1);
    free(o.table);
    for (int k = 0; k < 2; k++) {
        double gap = fabs(t[0].share[k] - t[1].share[k]) / n;
        double sd = sqrt(t[0].square[k] + t[1].square[k]) / n;
        if (gap > 5 * sd + 1e-4) {
            print_error("%s: %g against %g (sd %g)\n", s->name,
                        t[0].share[k] / n, t[1].share[k] / n, sd);
            fail();
        }
    }
    double most = fmax(t[0].most, t[1].most);
    if (s->claim.kind == ASSAY_CLAIM_EPS && s->claim.delta == 0 &&
        isfinite(s->truth) && most > s->truth * 1.001 + 1e-6) {
        print_error("%s: ratio %g, truth %g\n", s->name, most, s->truth);
        fail();
    }
}

static void ratios_are_those_of_the_laws(void **state)
{
    (void)state;
    size_t count = 0;
    for (size_t g = 0; assay_specimen_groups[g] != NULL; g++) {
        for (const assay_specimen *s = assay_specimen_groups[g];
             s->name != NULL; s++) {
            assay_pair pair[8];
            size_t num = assay_specimen_pairs(s, pair);
            for (size_t k = 0; s->llr != NULL && k < num; k++) {
                check_pair(s, &pair[k]);
                count++;
            }
        }
    }
    print_message("%zu pairs of inputs\n", count);
    assert_true(count > 100);
}

/* How many of a side's rows are zeros with this sign bit, and their log
 * ratio. */
static double zeros(const assay_specimen *s, int side, int sign, double *llr)
{
    assay_specimen_run run = {s, s->pairs[0], 5};
    assay_source source = assay_specimen_source(&run);
    assay_oracle o = {s, s->pairs[0], NULL};
    assay_error err = ASSAY_ERROR_INIT;
    assay_rows rows;
    double all[ASSAY_ROWS_BLOCK], count = 0;
    assert_int_equal(assay_rows_init(&rows, source.width, &err), ASSAY_OK);
    for (uint64_t b = 0; b < 20; b++) {
        assert_int_equal(assay_source_fill(&source, side, b * ASSAY_ROWS_BLOCK,
                                           ASSAY_ROWS_BLOCK, &rows, &err),
                         ASSAY_OK);
        s->llr(&o, &rows, all);
        for (size_t i = 0; i < ASSAY_ROWS_BLOCK; i++) {
            double y = rows.value[0][i];
            if (y == 0 && (signbit(y) != 0) == sign) {
                count++;
                *llr = all[i];
            }
        }
    }
    assay_rows_clear(&rows);
    return count;
}

static void snapped_zeros_have_a_sign_and_a_ratio_each(void **state)
{
    const assay_specimen *s = assay_specimen_find("FloatSnapping");
    (void)state;
    assert_non_null(s);
    for (int sign = 0; sign < 2; sign++) {
        double llr = NAN;
        double left = zeros(s, 0, sign, &llr), right = zeros(s, 1, sign, &llr);
        double sd = sqrt(1 / left + 1 / right);
        if (!(fabs(log(left / right) - llr) < 5 * sd)) {
            print_error("sign %d: %g and %g zeros, ratio %g by law\n", sign,
                        left, right, llr);
            fail();
        }
    }
}

static void truth_and_verdict_agree(void **state)
{
    (void)state;
    for (size_t g = 0; assay_specimen_groups[g] != NULL; g++) {
        for (const assay_specimen *s = assay_specimen_groups[g];
             s->name != NULL; s++) {
            assert_ptr_equal(assay_specimen_find(s->name), s);
            assert_non_null(s->note);
            assert_in_range(s->width, 1, ASSAY_ROWS_WIDTH);
            assert_in_range(s->num_inputs, 1, ASSAY_SPECIMEN_INPUTS);
            int false_claim = s->truth > s->claim.value;
            if (!isnan(s->truth) && s->violates != false_claim) {
                print_error("%s: truth %g, claim %g, violates %d\n", s->name,
                            s->truth, s->claim.value, s->violates);
                fail();
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_and_verdict_agree),
        cmocka_unit_test(ratios_are_those_of_the_laws),
        cmocka_unit_test(snapped_zeros_have_a_sign_and_a_ratio_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
