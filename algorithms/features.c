/* ring: glue */
#include "algorithms/features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/bound.h"
#include "core/csv.h"

#define MAX_ROWS ((size_t)1 << 24)

assay_status assay_features_new(assay_features **out, size_t num_rows,
                                size_t dim, assay_error *err)
{
    assay_features *f;
    if (num_rows == 0 || num_rows > MAX_ROWS || dim == 0 ||
        dim > ASSAY_FEATURE_MAX_DIM) {
        return assay_fail(err, ASSAY_INVALID,
                          "features need 1 to 2^24 rows of 1 to %u numbers",
                          ASSAY_FEATURE_MAX_DIM);
    }
    f = calloc(1, sizeof *f);
    if (f != NULL) {
        f->num_rows = num_rows;
        f->dim = dim;
        f->entry = calloc(num_rows * dim, sizeof(int64_t));
    }
    if (f == NULL || f->entry == NULL) {
        free(f);
        return assay_fail(err, ASSAY_MEMORY, "no memory for features");
    }
    *out = f;
    return ASSAY_OK;
}

void assay_features_free(assay_features *features)
{
    if (features != NULL) {
        free(features->entry);
        free(features);
    }
}

/* The scale that brings x to norm at most 1; 0 if x is not finite. */
static double shrink(const double *x, size_t dim)
{
    double top = 0.0;
    double sum = 0.0;
    for (size_t i = 0; i < dim; i++) {
        if (!isfinite(x[i])) {
            return 0.0;
        }
        top = fmax(top, fabs(x[i]));
    }
    if (top < 0x1p-500) {
        return 1.0;
    }
    for (size_t i = 0; i < dim; i++) {
        sum += x[i] / top * (x[i] / top);
    }
    return top * sqrt(sum) <= 1.0 ? 1.0 : 1.0 / (top * sqrt(sum));
}

assay_status assay_features_quantize(int64_t *out, const double *x, size_t dim,
                                     assay_error *err)
{
    double scale = shrink(x, dim);
    int64_t top = 2 * ASSAY_FEATURE_ONE; /* dim 4^(BITS+1) <= 2^60 */
    if (!(scale > 0.0)) {
        return assay_fail(err, ASSAY_INVALID, "a feature is not finite");
    }
    for (size_t i = 0; i < dim; i++) {
        double y = x[i] * scale * (double)ASSAY_FEATURE_ONE;
        out[i] = assay_clip((int64_t)llrint(y), -top, top);
    }
    (void)assay_clip_l2(out, dim, top, ASSAY_FEATURE_ONE);
    return ASSAY_OK;
}

double assay_features_dot(const int64_t *row, const double *w, size_t dim)
{
    double sum = 0.0;
    for (size_t i = 0; i < dim; i++) {
        sum += (double)row[i] * w[i];
    }
    return sum / (double)ASSAY_FEATURE_ONE;
}

assay_status assay_features_one_hot(assay_features **out, size_t num_rows,
                                    assay_error *err)
{
    assay_status status = assay_features_new(out, num_rows, num_rows, err);
    for (size_t i = 0; status == ASSAY_OK && i < num_rows; i++) {
        (*out)->entry[i * num_rows + i] = ASSAY_FEATURE_ONE;
    }
    return status;
}

assay_status assay_features_linear(assay_features **out,
                                   const assay_shape *shape, assay_error *err)
{
    size_t signs = shape->num_actions <= 256 ? 8 : 16;
    double x[18];
    assay_features *f = NULL;
    assay_status status;
    if (shape->num_states != 2 || shape->num_actions > 65536) {
        return assay_fail(err, ASSAY_INVALID,
                          "linear features: S = 2 and A up to 2^16");
    }
    status =
        assay_features_new(&f, 2 * (size_t)shape->num_actions, signs + 2, err);
    for (uint32_t s = 0; status == ASSAY_OK && s < 2; s++) {
        for (uint32_t a = 0; status == ASSAY_OK && a < shape->num_actions;
             a++) {
            double delta = (s == 0) == (a == 0) ? 1.0 : 0.0;
            for (size_t i = 0; i < signs; i++) {
                x[i] = (a >> i & 1u) != 0 ? 1.0 / 3.0 : -1.0 / 3.0;
            }
            x[signs] = delta / 3.0;
            x[signs + 1] = (1.0 - delta) / 3.0;
            status = assay_features_quantize(
                f->entry + ((size_t)s * shape->num_actions + a) * f->dim, x,
                f->dim, err);
        }
    }
    if (status != ASSAY_OK) {
        assay_features_free(f);
        return status;
    }
    *out = f;
    return ASSAY_OK;
}

/* A field as a finite double, or NAN. */
static double number(const assay_csv *csv, size_t column)
{
    char text[64];
    char *end = NULL;
    double x;
    size_t len = csv->fields[column].len;
    if (len == 0 || len >= sizeof text) {
        return NAN;
    }
    memcpy(text, csv->fields[column].text, len);
    text[len] = '\0';
    if (strspn(text, "+-0123456789.eE") != len) {
        return NAN;
    }
    x = strtod(text, &end);
    return *end == '\0' && isfinite(x) ? x : NAN;
}

/* The whole number of a field, or `limit`. */
static size_t whole(const assay_csv *csv, size_t column, size_t limit)
{
    double x = number(csv, column);
    return x >= 0.0 && x < (double)limit && x == floor(x) ? (size_t)x : limit;
}

static assay_status read_record(assay_features *f, unsigned char *seen,
                                const assay_csv *csv, const assay_shape *shape,
                                assay_error *err)
{
    double x[ASSAY_FEATURE_MAX_DIM];
    size_t s = whole(csv, 0, shape->num_states);
    size_t a = whole(csv, 1, shape->num_actions);
    size_t row = s * shape->num_actions + a;
    if (s == shape->num_states || a == shape->num_actions) {
        return assay_csv_fail(csv, s == shape->num_states ? 0 : 1,
                              "is not a state or action of the shape", err);
    }
    if (seen[row]) {
        return assay_csv_fail(csv, 1, "this pair has features already", err);
    }
    seen[row] = 1;
    for (size_t i = 0; i < f->dim; i++) {
        x[i] = number(csv, i + 2);
        if (isnan(x[i])) {
            return assay_csv_fail(csv, i + 2, "is not a finite number", err);
        }
    }
    return assay_features_quantize(f->entry + row * f->dim, x, f->dim, err);
}

static assay_status read_all(assay_features *f, assay_csv *csv,
                             const assay_shape *shape, assay_error *err)
{
    unsigned char *seen = calloc(f->num_rows, 1);
    size_t records = 0;
    int more = 1;
    assay_status status =
        seen == NULL ? assay_fail(err, ASSAY_MEMORY, "no memory") : ASSAY_OK;
    while (status == ASSAY_OK) {
        status = assay_csv_next(csv, &more, err);
        if (status != ASSAY_OK || !more) {
            break;
        }
        status = read_record(f, seen, csv, shape, err);
        records++;
    }
    if (status == ASSAY_OK && records != f->num_rows) {
        status = assay_fail(err, ASSAY_INVALID,
                            "features: %zu of %zu pairs have a row", records,
                            f->num_rows);
    }
    free(seen);
    return status;
}

assay_status assay_features_read(assay_features **out, const char *path,
                                 const assay_shape *shape, assay_error *err)
{
    assay_csv csv;
    assay_features *f = NULL;
    assay_status status = assay_csv_open(&csv, path, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (csv.num_columns < 3 || strcmp(assay_csv_name(&csv, 0), "s") != 0 ||
        strcmp(assay_csv_name(&csv, 1), "a") != 0) {
        status = assay_fail(err, ASSAY_INVALID,
                            "%.200s: the header must be s,a,f1,...,fd", path);
    }
    if (status == ASSAY_OK) {
        status = assay_features_new(
            &f, (size_t)shape->num_states * shape->num_actions,
            csv.num_columns - 2, err);
    }
    if (status == ASSAY_OK) {
        status = read_all(f, &csv, shape, err);
    }
    assay_csv_close(&csv);
    if (status != ASSAY_OK) {
        assay_features_free(f);
        return status;
    }
    *out = f;
    return ASSAY_OK;
}

assay_status assay_features_by_name(assay_features **out, const char *name,
                                    const assay_shape *shape, assay_error *err)
{
    if (strcmp(name, "one-hot") == 0) {
        return assay_features_one_hot(
            out, (size_t)shape->num_states * shape->num_actions, err);
    }
    if (strcmp(name, "linear") == 0) {
        return assay_features_linear(out, shape, err);
    }
    return assay_features_read(out, name, shape, err);
}

static double unit(double x)
{
    return x < 0.0 ? 0.0 : x > 1.0 ? 1.0 : x;
}

size_t assay_fourier_dim(size_t order, size_t num_inputs)
{
    size_t n = 1;
    for (size_t i = 0; i < num_inputs; i++) {
        n = n > ((size_t)1 << 20) ? n : n * (order + 1);
    }
    return n;
}

void assay_fourier(double *out, const double *x, size_t order,
                   size_t num_inputs)
{
    size_t n = assay_fourier_dim(order, num_inputs);
    for (size_t i = 0; i < n; i++) {
        size_t rest = i;
        double dot = 0.0;
        for (size_t j = 0; j < num_inputs; j++) {
            dot += (double)(rest % (order + 1)) * unit(x[j]);
            rest /= order + 1;
        }
        out[i] = cos(acos(-1.0) * dot) / sqrt((double)n);
    }
}

size_t assay_tiles_dim(size_t tilings, size_t tiles, size_t num_inputs)
{
    /* one more tile per input: the shifted grids stick out */
    return tilings * assay_fourier_dim(tiles, num_inputs);
}

void assay_tiles(double *out, const double *x, size_t tilings, size_t tiles,
                 size_t num_inputs)
{
    size_t per = assay_fourier_dim(tiles, num_inputs);
    memset(out, 0, tilings * per * sizeof *out);
    for (size_t k = 0; k < tilings; k++) {
        double shift = (double)k / (double)tilings;
        size_t at = 0;
        for (size_t j = num_inputs; j-- > 0;) {
            double y = floor(unit(x[j]) * (double)tiles + shift);
            size_t cell = (size_t)fmin(y, (double)tiles);
            at = at * (tiles + 1) + cell;
        }
        out[k * per + at] = 1.0 / sqrt((double)tilings);
    }
}
