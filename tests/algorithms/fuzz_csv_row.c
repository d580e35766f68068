/* Any bytes as a line of a trajectory file: accepted lines have six fields and
 * a reward that strtod reads as finite. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/csv_row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    assay_csv_row row;
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (assay_csv_row_parse(&row, text, size) == ASSAY_CSV_FINE) {
        const char *r = text;
        for (int i = 0; i < 4; i++) {
            r = strchr(r, ',') + 1;
        }
        if (!isfinite(strtod(r, NULL))) {
            abort();
        }
    }
    free(text);
    return 0;
}
