/* ring: glue */
/**
 * What a mechanism under test puts out: blocks of rows, stored by column. A
 * cell is a number, a word (a categorical symbol, never a magic number) or
 * absent (rows may differ in length). And sources: whatever yields such rows.
 */
#ifndef ASSAY_AUDIT_ROWS_H
#define ASSAY_AUDIT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_ROWS_BLOCK 4096
/* Further columns are dropped: post-processing, so bounds stay valid. */
#define ASSAY_ROWS_WIDTH 64

enum { ASSAY_CELL_NUMBER = 0, ASSAY_CELL_ABSENT = 1, ASSAY_CELL_WORD = 2 };

typedef struct assay_rows {
    size_t width;
    size_t num;                      /* at most ASSAY_ROWS_BLOCK */
    double *value[ASSAY_ROWS_WIDTH]; /* a number, or a word's index */
    uint8_t *tag[ASSAY_ROWS_WIDTH];  /* kind of each cell */
    uint8_t plain[ASSAY_ROWS_WIDTH]; /* 1: the whole column is numbers */
    void *memory;
    uint64_t *pattern; /* keys of ASSAY_F_PATTERN, computed on first use: one
                          thread at a time may look at a block */
    int *has_pattern;
} assay_rows;

assay_status assay_rows_init(assay_rows *rows, size_t width,
                             assay_error *err) ASSAY_MUST_CHECK;
void assay_rows_clear(assay_rows *rows);

/** Set one cell (marks the column as mixed unless it is a number). */
void assay_rows_number(assay_rows *rows, size_t col, size_t row, double x);
void assay_rows_word(assay_rows *rows, size_t col, size_t row, int word);
void assay_rows_absent(assay_rows *rows, size_t col, size_t row);

/**
 * A source of outputs for two sides (0 left, 1 right). `fill` writes the rows
 * first .. first + n - 1 of a side; calls may run in parallel unless `serial`.
 * Each row is asked for once, unless it `repeats`. Numbers that are not finite
 * become words.
 */
typedef struct assay_source {
    size_t width;
    void *ctx;
    int serial; /* 1: one call at a time */
    assay_status (*fill)(void *ctx, int side, uint64_t first, size_t n,
                         assay_rows *out, assay_error *err);
    /* the text of a word, or NULL; may be NULL itself */
    const char *(*word)(void *ctx, int word);
    int repeats; /* 1: whoever asks again for rows gets the same */
} assay_source;

enum { ASSAY_WORD_NAN = 1000001, ASSAY_WORD_INF, ASSAY_WORD_MINUS_INF };

/** Checks the block and calls `fill` with every column marked plain. */
assay_status assay_source_fill(const assay_source *source, int side,
                               uint64_t first, size_t n, assay_rows *out,
                               assay_error *err) ASSAY_MUST_CHECK;

/** Row `i` as text: words and numbers separated by blanks. */
void assay_rows_text(char *out, size_t len, const assay_source *source,
                     const assay_rows *rows, size_t i);

/* ---- features ----------------------------------------------------------- */

typedef enum assay_feature_kind {
    /* numbers; NaN where there is none */
    ASSAY_F_RAW,    /* column j                                */
    ASSAY_F_DIFF,   /* column j minus column j-1 (j = 0: itself) */
    ASSAY_F_SORTED, /* j-th smallest number of the row         */
    ASSAY_F_SUM,
    ASSAY_F_MAX,
    ASSAY_F_MIN,
    ASSAY_F_LAST,    /* the row's last number                   */
    ASSAY_F_LENGTH,  /* how many cells are there                */
    ASSAY_F_NUMBERS, /* how many of them are numbers            */
    ASSAY_F_WORDS,   /* how many are word j                     */
    /* of the columns in `mask` alone */
    ASSAY_F_GROUP_WORDS,   /* how many are word j               */
    ASSAY_F_GROUP_NUMBERS, /* how many are numbers              */
    ASSAY_F_GROUP_SIGNS,   /* numbers above `at` less those below */
    /* keys */
    ASSAY_F_PATTERN, /* kinds of all cells and the words        */
    ASSAY_F_EXACT,   /* every bit of the row                    */
    ASSAY_F_CELL,    /* every bit of column j                   */
    ASSAY_F_BITS     /* sign, exponent, lowest set bit of column j */
} assay_feature_kind;

typedef struct assay_feature {
    assay_feature_kind kind;
    int col;
    uint64_t mask; /* GROUP features: bit j is column j */
    double at;
} assay_feature;

static inline assay_feature assay_feature_of(assay_feature_kind kind, int col)
{
    return (assay_feature){kind, col, 0, 0};
}

int assay_feature_is_key(assay_feature feature);
void assay_feature_numbers(const assay_rows *rows, assay_feature feature,
                           double *out);
/** The same, in `space` (room for a block) or where they are already. */
const double *assay_feature_view(const assay_rows *rows, assay_feature feature,
                                 double *space);
void assay_feature_keys(const assay_rows *rows, assay_feature feature,
                        uint64_t *out);

#endif
