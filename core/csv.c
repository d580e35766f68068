/* ring: glue */
#include "core/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ASSAY_CSV_RECORD
#define CAPACITY (ASSAY_CSV_RECORD + BLOCK)

/* Set in a field's length while it still holds doubled quotes. */
#define DOUBLED (~(SIZE_MAX >> 1))

/* What a parse of one record found. */
typedef enum parsed {
    PARSED,    /* a whole record */
    NEED_MORE, /* the buffer ends inside it */
    BROKEN     /* err is set */
} parsed;

static int line_number(uint64_t line)
{
    return line > INT_MAX ? INT_MAX : (int)line;
}

static parsed broken(const assay_csv *csv, uint64_t line, const char *why,
                     assay_error *err)
{
    (void)csv;
    (void)assay_fail_at(err, ASSAY_INVALID, line_number(line), 1, "%s", why);
    return BROKEN;
}

static parsed add_field(assay_csv *csv, const char *text, size_t len,
                        assay_error *err)
{
    if (csv->num_fields == ASSAY_CSV_FIELDS) {
        return broken(csv, csv->line, "more than 4096 fields in a record", err);
    }
    csv->fields[csv->num_fields].text = text;
    csv->fields[csv->num_fields].len = len;
    csv->num_fields++;
    return PARSED;
}

/* 1 for the bytes that end or break an unquoted field. */
static const unsigned char stops[256] = {
    ['\0'] = 1, ['\n'] = 1, ['\r'] = 1, ['"'] = 1, [','] = 1};

/* The byte after a field: sets *done at the end of the record. `p` points at
 * it; the new position goes to *next. */
static parsed after_field(assay_csv *csv, char *p, char **next, int *done,
                          assay_error *err)
{
    char *end = csv->buffer + csv->end;
    *done = 0;
    if (p == end) {
        *done = 1;
        *next = p;
        return csv->at_end ? PARSED : NEED_MORE;
    }
    if (*p == ',') {
        *next = p + 1;
        return PARSED;
    }
    if (*p == '\r') {
        if (p + 1 == end && !csv->at_end) {
            return NEED_MORE;
        }
        p++;
    }
    if (p < end && *p == '\n') {
        csv->next_line++;
        *done = 1;
        *next = p + 1;
        return PARSED;
    }
    if (p > csv->buffer && p[-1] == '\r') {
        return broken(csv, csv->next_line,
                      "a carriage return without a line feed", err);
    }
    if (*p == '\0') {
        return broken(csv, csv->next_line, "a NUL byte", err);
    }
    return broken(csv, csv->next_line,
                  "a quote in the middle of a field: quote the whole field and "
                  "double the quotes in it",
                  err);
}

static parsed plain_field(assay_csv *csv, char **p, assay_error *err)
{
    char *start = *p;
    char *q = start;
    while (!stops[(unsigned char)*q]) { /* buffer[end] is a NUL */
        q++;
    }
    *p = q;
    return add_field(csv, start, (size_t)(q - start), err);
}

/* The text between quotes. Doubled quotes are only noted: a record that is not
 * whole yet is parsed again from the same bytes. */
static parsed quoted_field(assay_csv *csv, char **p, uint64_t *lines,
                           assay_error *err)
{
    char *end = csv->buffer + csv->end;
    char *start = *p + 1;
    char *q = start;
    size_t doubled = 0;
    for (;;) {
        while (q < end && *q != '"' && *q != '\n' && *q != '\0') {
            q++;
        }
        if (q == end || (*q == '"' && q + 1 == end && !csv->at_end)) {
            if (csv->at_end) {
                return broken(csv, csv->line, "a quote is never closed", err);
            }
            return NEED_MORE;
        }
        if (*q == '\0') {
            return broken(csv, csv->next_line + *lines, "a NUL byte", err);
        }
        if (*q == '\n') {
            ++*lines;
            q++;
        } else if (q + 1 < end && q[1] == '"') {
            doubled++;
            q += 2;
        } else {
            break;
        }
    }
    *p = q + 1;
    if (q + 1 < end && q[1] != ',' && q[1] != '\n' && q[1] != '\r') {
        return broken(csv, csv->next_line + *lines,
                      "text behind a closing quote", err);
    }
    size_t len = (size_t)(q - start);
    return add_field(csv, start, doubled ? len | DOUBLED : len, err);
}

/* Doubled quotes become single ones, once the record is whole. */
static void undo_quotes(assay_csv *csv)
{
    for (size_t i = 0; i < csv->num_fields; i++) {
        assay_field *f = &csv->fields[i];
        if ((f->len & DOUBLED) == 0) {
            continue;
        }
        size_t len = f->len & ~DOUBLED;
        char *text = csv->buffer + (f->text - csv->buffer);
        size_t kept = 0;
        for (size_t j = 0; j < len; j++) {
            text[kept++] = text[j];
            j += text[j] == '"' ? 1 : 0;
        }
        f->len = kept;
    }
}

static parsed parse_record(assay_csv *csv, int *quoted, assay_error *err)
{
    char *p = csv->buffer + csv->begin;
    uint64_t first_line = csv->next_line;
    uint64_t lines = 0;
    int done = 0;
    csv->num_fields = 0;
    *quoted = 0;
    while (!done) {
        parsed result = PARSED;
        if (*p == '"' && p < csv->buffer + csv->end) {
            *quoted = 1;
            result = quoted_field(csv, &p, &lines, err);
        } else {
            result = plain_field(csv, &p, err);
        }
        if (result == PARSED) {
            result = after_field(csv, p, &p, &done, err);
        }
        if (result != PARSED) {
            csv->next_line = first_line;
            return result;
        }
    }
    csv->next_line += lines;
    size_t used = (size_t)(p - csv->buffer) - csv->begin;
    csv->bytes += used;
    csv->begin += used;
    return PARSED;
}

/* Moves what is left to the front and reads a block behind it. */
static assay_status refill(assay_csv *csv, assay_error *err)
{
    size_t left = csv->end - csv->begin;
    if (left > ASSAY_CSV_RECORD) {
        return assay_fail_at(err, ASSAY_INVALID, line_number(csv->next_line), 1,
                             "a record longer than %zu bytes: is a quote "
                             "missing?",
                             ASSAY_CSV_RECORD);
    }
    memmove(csv->buffer, csv->buffer + csv->begin, left);
    csv->begin = 0;
    csv->end = left;
    while (csv->end == left && !csv->at_end) {
        ssize_t got = read(csv->fd, csv->buffer + left, CAPACITY - left);
        if (got < 0 && errno != EINTR) {
            return assay_fail(err, ASSAY_IO, "cannot read the data: %s",
                              strerror(errno));
        }
        csv->at_end = got == 0;
        csv->end += got > 0 ? (size_t)got : 0;
    }
    csv->buffer[csv->end] = '\0';
    return ASSAY_OK;
}

static assay_status check_count(const assay_csv *csv, assay_error *err)
{
    if (csv->num_columns != 0 && csv->num_fields != csv->num_columns) {
        return assay_fail_at(err, ASSAY_INVALID, line_number(csv->line), 1,
                             "%zu fields where the header has %zu",
                             csv->num_fields, csv->num_columns);
    }
    return ASSAY_OK;
}

assay_status assay_csv_next(assay_csv *csv, int *more, assay_error *err)
{
    for (;;) {
        if (csv->begin == csv->end && csv->at_end) {
            *more = 0;
            return ASSAY_OK;
        }
        int quoted = 0;
        csv->line = csv->next_line;
        parsed result = csv->begin == csv->end
                            ? NEED_MORE
                            : parse_record(csv, &quoted, err);
        if (result == BROKEN) {
            return ASSAY_INVALID;
        }
        if (result == PARSED) {
            if (quoted) {
                undo_quotes(csv);
            }
            *more = 1;
            return check_count(csv, err);
        }
        assay_status status = refill(csv, err);
        if (status != ASSAY_OK) {
            return status;
        }
    }
}

static void skip_mark(assay_csv *csv)
{
    if (csv->end - csv->begin >= 3 &&
        memcmp(csv->buffer + csv->begin, "\xef\xbb\xbf", 3) == 0) {
        csv->begin += 3;
        csv->bytes += 3;
    }
}

static assay_status keep_header(assay_csv *csv, assay_error *err)
{
    size_t len = 0;
    for (size_t i = 0; i < csv->num_fields; i++) {
        len += csv->fields[i].len + 1;
    }
    csv->header = malloc(len);
    csv->name_at = calloc(csv->num_fields, sizeof *csv->name_at);
    if (csv->header == NULL || csv->name_at == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the header");
    }
    len = 0;
    for (size_t i = 0; i < csv->num_fields; i++) {
        csv->name_at[i] = len;
        memcpy(csv->header + len, csv->fields[i].text, csv->fields[i].len);
        len += csv->fields[i].len;
        csv->header[len++] = '\0';
    }
    csv->num_columns = csv->num_fields;
    return ASSAY_OK;
}

static assay_status read_header(assay_csv *csv, assay_error *err)
{
    int more = 0;
    assay_status status = ASSAY_OK;
    while (status == ASSAY_OK && csv->end - csv->begin < 3 && !csv->at_end) {
        status = refill(csv, err);
    }
    if (status == ASSAY_OK) {
        skip_mark(csv);
        status = assay_csv_next(csv, &more, err);
    }
    if (status == ASSAY_OK && !more) {
        return assay_fail(err, ASSAY_INVALID,
                          "the file is empty: a header line is needed");
    }
    return status == ASSAY_OK ? keep_header(csv, err) : status;
}

assay_status assay_csv_open(assay_csv *csv, const char *path, assay_error *err)
{
    memset(csv, 0, sizeof *csv);
    csv->owns_fd = strcmp(path, "-") != 0;
    csv->fd = csv->owns_fd ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (csv->fd < 0) {
        csv->owns_fd = 0;
        return assay_fail(err, ASSAY_IO, "cannot open '%.200s': %s", path,
                          strerror(errno));
    }
    csv->next_line = 1;
    csv->buffer = malloc(CAPACITY + 1);
    csv->fields = calloc(ASSAY_CSV_FIELDS, sizeof *csv->fields);
    assay_status status = ASSAY_OK;
    if (csv->buffer == NULL || csv->fields == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for the reader");
    } else {
        csv->buffer[0] = '\0';
        status = read_header(csv, err);
    }
    if (status != ASSAY_OK) {
        assay_csv_close(csv);
    }
    return status;
}

void assay_csv_close(assay_csv *csv)
{
    if (csv->buffer != NULL) {
        OPENSSL_cleanse(csv->buffer, CAPACITY + 1);
    }
    free(csv->buffer);
    free(csv->fields);
    free(csv->header);
    free(csv->name_at);
    if (csv->owns_fd) {
        (void)close(csv->fd);
    }
    memset(csv, 0, sizeof *csv);
}

const char *assay_csv_name(const assay_csv *csv, size_t column)
{
    return csv->header + csv->name_at[column];
}

assay_status assay_csv_column(const assay_csv *csv, size_t *out,
                              const char *name, assay_error *err)
{
    for (size_t i = 0; i < csv->num_columns; i++) {
        if (strcmp(assay_csv_name(csv, i), name) == 0) {
            *out = i;
            return ASSAY_OK;
        }
    }
    return assay_fail(err, ASSAY_INVALID, "the header has no column '%.80s'",
                      name);
}

assay_status assay_csv_fail(const assay_csv *csv, size_t column,
                            const char *what, assay_error *err)
{
    return assay_fail_at(err, ASSAY_INVALID, line_number(csv->line),
                         (int)column + 1, "column '%.60s': %s",
                         assay_csv_name(csv, column), what);
}
