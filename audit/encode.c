/* ring: glue */
/* Rows as ranks in [-1, 1]. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/smooth.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define KNOTS ASSAY_CODE_KNOTS
#define SAMPLE 32768

static void values(const assay_encoder *e, const assay_code *c,
                   const assay_rows *rows, double *out)
{
    if (c->is_pattern) {
        assay_piece_value(e->pattern, rows, out);
    } else {
        assay_feature_numbers(rows, c->feature, out);
    }
}

/* The rank by linear interpolation between knots; no branch depends on x. */
static float rank_of(const double *knot, const double *inverse, double x)
{
    double y = x > knot[0] ? x : knot[0];
    y = y < knot[KNOTS - 1] ? y : knot[KNOTS - 1];
    size_t lo = 0;
    for (size_t step = (KNOTS - 1) / 2; step > 0; step /= 2) {
        lo += y >= knot[lo + step] ? step : 0;
    }
    double part = (y - knot[lo]) * inverse[lo];
    return x == x ? (float)(2 * ((double)lo + part) / (KNOTS - 1) - 1) : 0;
}

void assay_encode(const assay_encoder *e, const assay_rows *rows, float *out)
{
    double x[BLOCK];
    for (size_t k = 0; k < e->num; k++) {
        const assay_code *c = &e->code[k];
        double inverse[KNOTS] = {0};
        for (size_t q = 0; q + 1 < KNOTS; q++) {
            double width = c->knot[q + 1] - c->knot[q];
            inverse[q] = width > 0 ? 1 / width : 0;
        }
        values(e, c, rows, x);
        for (size_t i = 0; i < rows->num; i++) {
            out[k * BLOCK + i] = rank_of(c->knot, inverse, x[i]);
        }
    }
}

/* Quantiles of both sides together; 0 if the feature is constant. */
static int fit_knots(assay_code *c, const assay_encoder *e,
                     const assay_training *d, double *sample)
{
    size_t blocks = d->num_blocks < 4 ? d->num_blocks : 4, n = 0;
    for (size_t b = 0; b < 2 * blocks; b++) {
        double x[BLOCK];
        const assay_rows *r = &d->rows[b % 2][b / 2];
        values(e, c, r, x);
        for (size_t i = 0; i < r->num && n < SAMPLE; i++) {
            if (!isnan(x[i])) {
                sample[n++] = x[i];
            }
        }
    }
    if (n < 32) {
        return 0;
    }
    qsort(sample, n, sizeof *sample, assay_compare_doubles);
    for (size_t k = 0; k < KNOTS; k++) {
        c->knot[k] = sample[k * (n - 1) / (KNOTS - 1)];
    }
    return sample[0] < sample[n - 1];
}

int assay_code_fit(assay_code *c, const assay_encoder *e,
                   const assay_training *data)
{
    double *sample = malloc(SAMPLE * sizeof *sample);
    int ok = sample != NULL && fit_knots(c, e, data, sample);
    free(sample);
    return ok;
}

static void add_code(assay_encoder *e, const assay_training *d, assay_code c,
                     double *sample)
{
    if (e->num < ASSAY_CODE_MAX && fit_knots(&c, e, d, sample)) {
        e->code[e->num++] = c;
    }
}

static void add_summary(assay_encoder *e, const assay_training *d, int kind,
                        int col, double *sample)
{
    assay_code c = {.feature = assay_feature_of((assay_feature_kind)kind, col),
                    .is_summary = 1};
    add_code(e, d, c, sample);
}

assay_status assay_encoder_fit(assay_encoder *out, const assay_training *data,
                               const int *numeric_col, int mixed,
                               const int *words, size_t num_words,
                               assay_piece *pattern, assay_error *err)
{
    double *sample = malloc(SAMPLE * sizeof *sample);
    memset(out, 0, sizeof *out);
    out->code = calloc(ASSAY_CODE_MAX, sizeof *out->code);
    out->pattern = pattern;
    if (sample == NULL || out->code == NULL) {
        free(sample);
        assay_encoder_clear(out);
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    if (pattern != NULL) {
        assay_code c = {.is_pattern = 1, .is_summary = 1};
        add_code(out, data, c, sample);
    }
    if (mixed) {
        add_summary(out, data, ASSAY_F_LENGTH, 0, sample);
        add_summary(out, data, ASSAY_F_LAST, 0, sample);
        for (size_t k = 0; k < num_words && k < 2; k++) {
            add_summary(out, data, ASSAY_F_WORDS, words[k], sample);
        }
    } else if (data->width > 1) {
        add_summary(out, data, ASSAY_F_SUM, 0, sample);
        add_summary(out, data, ASSAY_F_MAX, 0, sample);
        add_summary(out, data, ASSAY_F_MIN, 0, sample);
    }
    for (size_t j = 0; j < data->width; j++) {
        if (numeric_col[j]) {
            assay_code c = {.feature = assay_feature_of(ASSAY_F_RAW, (int)j)};
            c.is_summary = data->width <= 3;
            add_code(out, data, c, sample);
        }
    }
    free(sample);
    return ASSAY_OK;
}

void assay_encoder_clear(assay_encoder *e)
{
    free(e->code);
    memset(e, 0, sizeof *e);
}
