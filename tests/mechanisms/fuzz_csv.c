/* ring: glue */
/* libFuzzer: any bytes as a CSV file, every field as a decimal. The reader
 * never crashes, never hands out a field outside its buffer, and a record has
 * as many fields as the header. */
#define _GNU_SOURCE /* memfd_create */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/csv.h"
#include "core/decimal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_fields(const assay_csv *csv, const assay_lattice *lattice)
{
    if (csv->num_fields != csv->num_columns) {
        abort();
    }
    for (size_t i = 0; i < csv->num_fields; i++) {
        const assay_field *f = &csv->fields[i];
        int64_t steps = 0;
        if (f->text < csv->buffer || f->len > ASSAY_CSV_RECORD * 2 ||
            f->text + f->len > csv->buffer + csv->end) {
            abort();
        }
        if (assay_decimal_to_steps(&steps, f->text, f->len, lattice, NULL) ==
                ASSAY_OK &&
            (steps < lattice->lo || steps > lattice->hi)) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const assay_lattice lattice = {.step_bits = 10, .lo = -5000, .hi = 5000};
    assay_csv csv;
    char path[64];
    int more = 1;
    int fd = memfd_create("csv", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        abort();
    }
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (assay_csv_open(&csv, path, NULL) == ASSAY_OK) {
        while (assay_csv_next(&csv, &more, NULL) == ASSAY_OK && more) {
            read_fields(&csv, &lattice);
        }
        assay_csv_close(&csv);
    }
    (void)close(fd);
    return 0;
}
