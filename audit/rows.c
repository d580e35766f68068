/* ring: glue */
#include "audit/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/rng.h"

#define BLOCK ASSAY_ROWS_BLOCK

assay_status assay_rows_init(assay_rows *rows, size_t width, assay_error *err)
{
    memset(rows, 0, sizeof *rows);
    if (width == 0 || width > ASSAY_ROWS_WIDTH) {
        return assay_fail(err, ASSAY_INVALID, "rows: 1 to %d columns",
                          ASSAY_ROWS_WIDTH);
    }
    size_t column = BLOCK * (sizeof(double) + 1);
    size_t keys = BLOCK * sizeof(uint64_t) + sizeof(uint64_t);
    char *memory = calloc(1, width * column + keys);
    if (memory == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "rows: out of memory");
    }
    rows->memory = memory;
    rows->width = width;
    rows->pattern = (uint64_t *)(void *)(memory + width * column);
    rows->has_pattern = (int *)(void *)(rows->pattern + BLOCK);
    for (size_t j = 0; j < width; j++) {
        rows->value[j] = (double *)(void *)memory + j * BLOCK;
        rows->tag[j] =
            (uint8_t *)memory + width * BLOCK * sizeof(double) + j * BLOCK;
        rows->plain[j] = 1;
    }
    return ASSAY_OK;
}

void assay_rows_clear(assay_rows *rows)
{
    free(rows->memory);
    memset(rows, 0, sizeof *rows);
}

void assay_rows_number(assay_rows *rows, size_t col, size_t row, double x)
{
    rows->value[col][row] = x;
    rows->tag[col][row] = ASSAY_CELL_NUMBER;
}

void assay_rows_word(assay_rows *rows, size_t col, size_t row, int word)
{
    rows->value[col][row] = word;
    rows->tag[col][row] = ASSAY_CELL_WORD;
    rows->plain[col] = 0;
}

void assay_rows_absent(assay_rows *rows, size_t col, size_t row)
{
    rows->value[col][row] = 0;
    rows->tag[col][row] = ASSAY_CELL_ABSENT;
    rows->plain[col] = 0;
}

/* Not-a-number and infinities are categories, not magnitudes. */
static void odd_to_words(assay_rows *r, size_t j)
{
    int odd = 0;
    for (size_t i = 0; i < r->num; i++) {
        double x = r->value[j][i];
        odd |= !(x - x == 0);
    }
    for (size_t i = 0; odd && i < r->num; i++) {
        double x = r->value[j][i];
        if (!(x - x == 0) && r->tag[j][i] == ASSAY_CELL_NUMBER) {
            assay_rows_word(r, j, i,
                            isnan(x) ? ASSAY_WORD_NAN
                            : x > 0  ? ASSAY_WORD_INF
                                     : ASSAY_WORD_MINUS_INF);
        }
    }
}

assay_status assay_source_fill(const assay_source *source, int side,
                               uint64_t first, size_t n, assay_rows *out,
                               assay_error *err)
{
    for (size_t j = 0; j < out->width; j++) {
        if (!out->plain[j]) {
            memset(out->tag[j], 0, BLOCK);
            out->plain[j] = 1;
        }
    }
    out->num = n;
    *out->has_pattern = 0;
    assay_status status = source->fill(source->ctx, side, first, n, out, err);
    for (size_t j = 0; status == ASSAY_OK && j < out->width; j++) {
        odd_to_words(out, j);
    }
    return status;
}

static const char *word_text(const assay_source *source, int word, char *buffer,
                             size_t len)
{
    if (word >= ASSAY_WORD_NAN && word <= ASSAY_WORD_MINUS_INF) {
        static const char *const odd[] = {"nan", "inf", "-inf"};
        return odd[word - ASSAY_WORD_NAN];
    }
    const char *text =
        source->word == NULL ? NULL : source->word(source->ctx, word);
    if (text != NULL) {
        return text;
    }
    (void)snprintf(buffer, len, "word%d", word);
    return buffer;
}

void assay_rows_text(char *out, size_t len, const assay_source *source,
                     const assay_rows *rows, size_t i)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t j = 0; j < rows->width && used + 1 < len; j++) {
        char cell[40], word[32];
        if (rows->tag[j][i] == ASSAY_CELL_ABSENT) {
            continue;
        }
        if (rows->tag[j][i] == ASSAY_CELL_WORD) {
            (void)snprintf(
                cell, sizeof cell, "%s",
                word_text(source, (int)rows->value[j][i], word, sizeof word));
        } else {
            (void)snprintf(cell, sizeof cell, "%.17g", rows->value[j][i]);
        }
        int wrote = snprintf(out + used, len - used, "%s%s",
                             used == 0 ? "" : " ", cell);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* ---- features ----------------------------------------------------------- */

int assay_feature_is_key(assay_feature feature)
{
    return feature.kind >= ASSAY_F_PATTERN;
}

ASSAY_SIMD
static void numbers_or_nan(const double *x, const uint8_t *tag, size_t n,
                           double *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = tag[i] == ASSAY_CELL_NUMBER ? x[i] : NAN;
    }
}

static void copy_column(const assay_rows *r, size_t j, double *out)
{
    if (r->plain[j]) {
        memcpy(out, r->value[j], r->num * sizeof *out);
    } else {
        numbers_or_nan(r->value[j], r->tag[j], r->num, out);
    }
}

static void difference(const assay_rows *r, size_t j, double *out)
{
    double last[BLOCK];
    copy_column(r, j, out);
    if (j == 0) {
        return;
    }
    copy_column(r, j - 1, last);
    for (size_t i = 0; i < r->num; i++) {
        out[i] -= last[i]; /* NaN if either is none */
    }
}

static size_t row_numbers(const assay_rows *r, size_t i, double *x)
{
    size_t n = 0;
    for (size_t j = 0; j < r->width; j++) {
        if (r->plain[j] || r->tag[j][i] == ASSAY_CELL_NUMBER) {
            x[n++] = r->value[j][i];
        }
    }
    return n;
}

static double rank_of(double *x, size_t n, size_t rank)
{
    for (size_t a = 1; a < n; a++) {
        double v = x[a];
        size_t b = a;
        for (; b > 0 && x[b - 1] > v; b--) {
            x[b] = x[b - 1];
        }
        x[b] = v;
    }
    return rank < n ? x[rank] : NAN;
}

/* Sum, largest or smallest number, column by column; NaN for none. */
ASSAY_SIMD
static void fold_column(assay_feature_kind kind, const double *x, size_t n,
                        double *out)
{
    for (size_t i = 0; i < n; i++) {
        double y = kind == ASSAY_F_SUM   ? out[i] + x[i]
                   : kind == ASSAY_F_MAX ? (out[i] > x[i] ? out[i] : x[i])
                                         : (out[i] < x[i] ? out[i] : x[i]);
        y = out[i] == out[i] ? y : x[i];
        out[i] = x[i] == x[i] ? y : out[i];
    }
}

static void fold_row(const assay_rows *r, assay_feature_kind kind, double *out)
{
    double space[BLOCK];
    for (size_t i = 0; i < r->num; i++) {
        out[i] = NAN;
    }
    for (size_t j = 0; j < r->width; j++) {
        fold_column(
            kind,
            assay_feature_view(r, assay_feature_of(ASSAY_F_RAW, (int)j), space),
            r->num, out);
    }
}

/* How many cells of each row are of a kind (and, for words, which word). */
static void count_cells(const assay_rows *r, assay_feature f, double *out)
{
    memset(out, 0, r->num * sizeof *out);
    for (size_t j = 0; j < r->width; j++) {
        const uint8_t *tag = r->tag[j];
        for (size_t i = 0; i < r->num; i++) {
            int is = r->plain[j] ? ASSAY_CELL_NUMBER : tag[i];
            int hit = f.kind == ASSAY_F_LENGTH ? is != ASSAY_CELL_ABSENT
                      : f.kind == ASSAY_F_NUMBERS
                          ? is == ASSAY_CELL_NUMBER
                          : is == ASSAY_CELL_WORD && r->value[j][i] == f.col;
            out[i] += hit;
        }
    }
}

ASSAY_SIMD
static void count_words(const uint8_t *tag, const double *x, size_t n,
                        double word, double *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] += ((tag[i] == ASSAY_CELL_WORD) & (x[i] == word)) ? 1 : 0;
    }
}

ASSAY_SIMD
static void count_numbers(const double *x, size_t n, double at, int signs,
                          double *out)
{
    for (size_t i = 0; i < n; i++) {
        double sign = (x[i] > at ? 1.0 : 0.0) - (x[i] < at ? 1.0 : 0.0);
        double one = x[i] == x[i] ? 1.0 : 0.0;
        out[i] += signs ? sign : one;
    }
}

static void count_group(const assay_rows *r, assay_feature f, double *out)
{
    double space[BLOCK];
    memset(out, 0, r->num * sizeof *out);
    for (size_t j = 0; j < r->width; j++) {
        if ((f.mask >> j & 1) == 0) {
            continue;
        }
        if (f.kind != ASSAY_F_GROUP_WORDS) {
            const double *x = assay_feature_view(
                r, assay_feature_of(ASSAY_F_RAW, (int)j), space);
            count_numbers(x, r->num, f.at, f.kind == ASSAY_F_GROUP_SIGNS, out);
        } else if (!r->plain[j]) {
            count_words(r->tag[j], r->value[j], r->num, f.col, out);
        }
    }
}

static void last_number(const assay_rows *r, double *out)
{
    for (size_t i = 0; i < r->num; i++) {
        out[i] = NAN;
    }
    for (size_t j = 0; j < r->width; j++) {
        for (size_t i = 0; i < r->num; i++) {
            if (r->plain[j] || r->tag[j][i] == ASSAY_CELL_NUMBER) {
                out[i] = r->value[j][i];
            }
        }
    }
}

void assay_feature_numbers(const assay_rows *rows, assay_feature f, double *out)
{
    if (f.kind == ASSAY_F_LAST) {
        last_number(rows, out);
        return;
    }
    if (f.kind >= ASSAY_F_LENGTH && f.kind <= ASSAY_F_WORDS) {
        count_cells(rows, f, out);
        return;
    }
    if (f.kind >= ASSAY_F_GROUP_WORDS && f.kind <= ASSAY_F_GROUP_SIGNS) {
        count_group(rows, f, out);
        return;
    }
    if (f.kind == ASSAY_F_RAW) {
        copy_column(rows, (size_t)f.col, out);
        return;
    }
    if (f.kind == ASSAY_F_DIFF) {
        difference(rows, (size_t)f.col, out);
        return;
    }
    if (f.kind != ASSAY_F_SORTED) {
        fold_row(rows, f.kind, out);
        return;
    }
    for (size_t i = 0; i < rows->num; i++) {
        double x[ASSAY_ROWS_WIDTH];
        size_t n = row_numbers(rows, i, x);
        out[i] = n == 0 ? NAN : rank_of(x, n, (size_t)f.col);
    }
}

const double *assay_feature_view(const assay_rows *rows, assay_feature f,
                                 double *space)
{
    if (f.kind == ASSAY_F_RAW && rows->plain[f.col]) {
        return rows->value[f.col];
    }
    assay_feature_numbers(rows, f, space);
    return space;
}

static inline uint64_t bits_of(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* Sign, exponent and position of the lowest set bit of the significand. */
static uint64_t shape_of(double x)
{
    uint64_t b = bits_of(x);
    uint64_t m = b & UINT64_C(0xfffffffffffff);
    uint64_t low = m == 0 ? 52 : (uint64_t)__builtin_ctzll(m);
    return (b >> 52) << 8 | low;
}

static inline uint64_t fold(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ (h >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ (h >> 29);
}

/* Cells with the bits of words and, if wanted, of numbers; no branch depends on
 * the cell. */
ASSAY_SIMD
static void fold_cells(const double *x, const uint8_t *tag, size_t n,
                       int numbers, uint64_t *h)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t t = tag[i];
        uint64_t used = (t == ASSAY_CELL_WORD) |
                        ((t == ASSAY_CELL_NUMBER) & (numbers != 0));
        h[i] = fold(h[i], (t << 62) + (bits_of(x[i]) & (0 - used)));
    }
}

static void fold_shapes(const assay_rows *r, size_t j, uint64_t *h)
{
    for (size_t i = 0; i < r->num; i++) {
        uint64_t tag = r->tag[j][i], v = tag << 62;
        double x = r->value[j][i];
        v += tag == ASSAY_CELL_WORD     ? bits_of(x)
             : tag == ASSAY_CELL_NUMBER ? shape_of(x)
                                        : 0;
        h[i] = fold(h[i], v);
    }
}

static void key_of_column(const assay_rows *r, size_t j,
                          assay_feature_kind kind, uint64_t *h)
{
    if (kind == ASSAY_F_BITS) {
        fold_shapes(r, j, h);
    } else {
        fold_cells(r->value[j], r->tag[j], r->num, kind != ASSAY_F_PATTERN, h);
    }
}

static void pattern_keys(const assay_rows *rows, uint64_t *out)
{
    if (!*rows->has_pattern) {
        memset(rows->pattern, 0, rows->num * sizeof *out);
        for (size_t j = 0; j < rows->width; j++) {
            if (!rows->plain[j]) {
                key_of_column(rows, j, ASSAY_F_PATTERN, rows->pattern);
            }
        }
        *rows->has_pattern = 1;
    }
    memcpy(out, rows->pattern, rows->num * sizeof *out);
}

void assay_feature_keys(const assay_rows *rows, assay_feature f, uint64_t *out)
{
    if (f.kind == ASSAY_F_PATTERN) {
        pattern_keys(rows, out);
        return;
    }
    memset(out, 0, rows->num * sizeof *out);
    if (f.kind == ASSAY_F_CELL || f.kind == ASSAY_F_BITS) {
        key_of_column(rows, (size_t)f.col, f.kind, out);
        return;
    }
    for (size_t j = 0; j < rows->width; j++) {
        key_of_column(rows, j, f.kind, out);
    }
}
