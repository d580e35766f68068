/* ring: glue */
/**
 * A streaming reader of CSV files (RFC 4180): any size, fixed memory.
 *
 * The first record is the header. Fields may be quoted; a quoted field may hold
 * commas, line ends and doubled quotes. Records end with LF or CRLF; the last
 * one may end with the file. A byte-order mark is skipped.
 *
 * Errors  ASSAY_INVALID with the line number: an empty file, a NUL byte, a lone
 *         CR, a quote inside an unquoted field, text behind a closing quote, an
 *         open quote at the end, a record with another number of fields than
 *         the header, a record longer than ASSAY_CSV_RECORD bytes. ASSAY_IO if the
 *         file cannot be read.
 */
#ifndef ASSAY_CORE_CSV_H
#define ASSAY_CORE_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#ifndef ASSAY_CSV_RECORD /* small in fuzzing, to meet the ends of blocks */
#define ASSAY_CSV_RECORD ((size_t)1 << 20)
#endif
#define ASSAY_CSV_FIELDS 4096

/** Text of a field, not NUL-terminated; valid until the next record. */
typedef struct assay_field {
    const char *text;
    size_t len;
} assay_field;

typedef struct assay_csv {
    int fd;
    int owns_fd;
    int at_end; /* the file has no more bytes */
    char *buffer;
    size_t begin; /* unread bytes are buffer[begin .. end) */
    size_t end;
    uint64_t line; /* of the record's first byte, from 1 */
    uint64_t next_line;
    uint64_t bytes;     /* consumed so far */
    size_t num_columns; /* of the header; 0 before it */
    char *header;       /* names, each followed by a NUL */
    size_t *name_at;
    size_t num_fields;
    assay_field *fields;
} assay_csv;

/** Opens a file ("-" is standard input) and reads the header. After an error
 *  there is nothing to clear. */
assay_status assay_csv_open(assay_csv *csv, const char *path,
                            assay_error *err) ASSAY_MUST_CHECK;
/** Wipes the buffer and closes. */
void assay_csv_close(assay_csv *csv);

/** The column's index by its name. Errors  ASSAY_INVALID. */
assay_status assay_csv_column(const assay_csv *csv, size_t *out,
                              const char *name,
                              assay_error *err) ASSAY_MUST_CHECK;
const char *assay_csv_name(const assay_csv *csv, size_t column);

/** The next record into csv->fields; *more is 0 at the end of the file. */
assay_status assay_csv_next(assay_csv *csv, int *more,
                            assay_error *err) ASSAY_MUST_CHECK;

/** A failure in the current record: file line and column name. */
assay_status assay_csv_fail(const assay_csv *csv, size_t column,
                            const char *what, assay_error *err);

#endif
