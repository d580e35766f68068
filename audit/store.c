/* ring: glue */
/* Outputs of programs in memory: cells by row, words by index. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/external.h"
#include "audit/rng.h"

#define MAX_WORDS 65536
#define WORD_LEN 32
#define MAX_CELLS ((size_t)1 << 28) /* 2.4 GB a side */

typedef struct side {
    size_t num_rows, room_rows;
    size_t *start; /* first cell of each row; num_rows + 1 used */
    size_t num_cells, room_cells;
    double *value;
    uint8_t *tag;
} side;

struct assay_store {
    side s[2];
    size_t width;
    size_t num_words;
    char (*word)[WORD_LEN];
    uint32_t *slot; /* hash of words: index + 1 */
    uint64_t overflowed, too_wide, long_words;
    char notes[2048];
};

assay_store *assay_store_new(void)
{
    assay_store *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return NULL;
    }
    t->word = calloc(MAX_WORDS, WORD_LEN);
    t->slot = calloc(4 * MAX_WORDS, sizeof *t->slot);
    if (t->word == NULL || t->slot == NULL) {
        assay_store_free(t);
        return NULL;
    }
    return t;
}

void assay_store_free(assay_store *t)
{
    if (t == NULL) {
        return;
    }
    for (int k = 0; k < 2; k++) {
        free(t->s[k].start);
        free(t->s[k].value);
        free(t->s[k].tag);
    }
    free(t->word);
    free(t->slot);
    free(t);
}

void assay_store_note(assay_store *t, const char *format, ...)
{
    size_t used = strlen(t->notes);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(t->notes + used, sizeof t->notes - used, format, args);
    va_end(args);
    used = strlen(t->notes);
    if (used + 1 < sizeof t->notes) {
        t->notes[used] = '\n';
        t->notes[used + 1] = '\0';
    }
}

/* The word's index; words beyond the limit share the last one. */
static int word_index(assay_store *t, const char *text, size_t len)
{
    uint64_t h = len;
    for (size_t i = 0; i < len; i++) {
        h = assay_rng_mix(h ^ (uint8_t)text[i]);
    }
    char cut[WORD_LEN];
    size_t keep = len < WORD_LEN - 1 ? len : WORD_LEN - 1;
    memcpy(cut, text, keep);
    cut[keep] = '\0';
    if (len >= WORD_LEN) { /* long words: told apart by their hash */
        (void)snprintf(cut + 14, WORD_LEN - 14, "~%016llx",
                       (unsigned long long)h);
    }
    size_t at = h % (4 * MAX_WORDS);
    while (t->slot[at] != 0 && strcmp(t->word[t->slot[at] - 1], cut) != 0) {
        at = (at + 1) % (4 * MAX_WORDS);
    }
    if (t->slot[at] == 0) {
        if (t->num_words >= MAX_WORDS) {
            return MAX_WORDS - 1;
        }
        memcpy(t->word[t->num_words], cut, WORD_LEN);
        t->slot[at] = (uint32_t)++t->num_words;
    }
    return (int)t->slot[at] - 1;
}

static assay_status grow(void **memory, size_t *room, size_t need, size_t size,
                         assay_error *err)
{
    if (need <= *room) {
        return ASSAY_OK;
    }
    size_t more = *room < 1024 ? 1024 : 2 * *room;
    void *bigger = need > MAX_CELLS ? NULL : realloc(*memory, more * size);
    if (bigger == NULL) {
        return assay_fail(err, ASSAY_MEMORY,
                          "audit: outputs do not fit in memory; use fewer "
                          "--samples");
    }
    *memory = bigger;
    *room = more;
    return ASSAY_OK;
}

static assay_status add_cell(side *s, double x, int tag, assay_error *err)
{
    size_t room = s->room_cells;
    void *v = s->value, *g = s->tag;
    assay_status status =
        grow(&v, &room, s->num_cells + 1, sizeof(double), err);
    s->value = v;
    if (status == ASSAY_OK) {
        room = s->room_cells;
        status = grow(&g, &room, s->num_cells + 1, 1, err);
        s->tag = g;
        s->room_cells = room;
    }
    if (status == ASSAY_OK) {
        s->value[s->num_cells] = x;
        s->tag[s->num_cells++] = (uint8_t)tag;
    }
    return status;
}

/* A number if all of the token is one; 1e400 and the like become words. */
static assay_status add_token(assay_store *t, side *s, const char *text,
                              size_t len, assay_error *err)
{
    char copy[64], *end = NULL;
    if (len < sizeof copy &&
        (isdigit((unsigned char)text[0]) || strchr("+-.", text[0]) != NULL)) {
        memcpy(copy, text, len);
        copy[len] = '\0';
        double x = strtod(copy, &end);
        if (end == copy + len && isfinite(x)) {
            return add_cell(s, x, ASSAY_CELL_NUMBER, err);
        }
        t->overflowed += end == copy + len;
    }
    t->long_words += len >= sizeof copy;
    return add_cell(s, word_index(t, text, len), ASSAY_CELL_WORD, err);
}

assay_status assay_store_line(assay_store *t, int which, const char *line,
                              size_t len, assay_error *err)
{
    side *s = &t->s[which];
    void *start = s->start;
    assay_status status =
        grow(&start, &s->room_rows, s->num_rows + 2, sizeof(size_t), err);
    s->start = start;
    if (status != ASSAY_OK) {
        return status;
    }
    s->start[s->num_rows] = s->num_cells;
    size_t cells = 0;
    for (size_t i = 0; i < len && status == ASSAY_OK;) {
        while (i < len && (isspace((unsigned char)line[i]) || line[i] == ',')) {
            i++;
        }
        size_t from = i;
        while (i < len && !isspace((unsigned char)line[i]) && line[i] != ',') {
            i++;
        }
        if (i > from && cells >= ASSAY_ROWS_WIDTH) {
            t->too_wide++;
            break;
        }
        if (i > from) {
            status = add_token(t, s, line + from, i - from, err);
            cells++;
        }
    }
    t->width = cells > t->width ? cells : t->width;
    s->num_rows += status == ASSAY_OK;
    if (status == ASSAY_OK) {
        s->start[s->num_rows] = s->num_cells;
    }
    return status;
}

uint64_t assay_store_runs(const assay_store *t)
{
    size_t a = t->s[0].num_rows, b = t->s[1].num_rows;
    return a < b ? a : b;
}

const char *assay_store_notes(const assay_store *store)
{
    assay_store *t = (assay_store *)(uintptr_t)store;
    if (t->overflowed > 0) {
        assay_store_note(t,
                         "%llu numbers beyond the range of a double were "
                         "taken as words",
                         (unsigned long long)t->overflowed);
        t->overflowed = 0;
    }
    if (t->too_wide > 0) {
        assay_store_note(t,
                         "%llu lines had more than %d values: the rest was "
                         "ignored",
                         (unsigned long long)t->too_wide, ASSAY_ROWS_WIDTH);
        t->too_wide = 0;
    }
    return t->notes;
}

static assay_status store_fill(void *ctx, int which, uint64_t first, size_t n,
                               assay_rows *out, assay_error *err)
{
    const assay_store *t = ctx;
    const side *s = &t->s[which];
    if (first + n > s->num_rows) {
        return assay_fail(err, ASSAY_INTERNAL, "audit: rows out of range");
    }
    for (size_t i = 0; i < n; i++) {
        size_t from = s->start[first + i];
        size_t num = s->start[first + i + 1] - from;
        for (size_t j = 0; j < out->width; j++) {
            if (j >= num) {
                assay_rows_absent(out, j, i);
            } else if (s->tag[from + j] == ASSAY_CELL_WORD) {
                assay_rows_word(out, j, i, (int)s->value[from + j]);
            } else {
                assay_rows_number(out, j, i, s->value[from + j]);
            }
        }
    }
    return ASSAY_OK;
}

static const char *store_word(void *ctx, int k)
{
    const assay_store *t = ctx;
    return k >= 0 && (size_t)k < t->num_words ? t->word[k] : NULL;
}

assay_source assay_store_source(assay_store *t)
{
    assay_source s = {
        t->width > 0 ? t->width : 1, t, 0, store_fill, store_word, 1};
    return s;
}
