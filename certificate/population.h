/* ring: glue */
/**
 * Simulated persons for examples: a table of public columns with public values.
 *
 *   census   region, age, sex, employed, household
 *
 * The seed drives the simulated world only.
 */
#ifndef ASSAY_CERTIFICATE_POPULATION_H
#define ASSAY_CERTIFICATE_POPULATION_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_POPULATION_COLUMNS 5

typedef struct assay_column {
    const char *name;
    size_t num_values;
    const char *values[6];
} assay_column;

/** The columns in order; the domain does not depend on the data. */
extern const assay_column assay_population_columns[ASSAY_POPULATION_COLUMNS];

/** The column of a name, or -1. */
int assay_population_column(const char *name);
/** The value of a column, or -1. */
int assay_population_value(int column, const char *value);

/** `num_persons` rows of ASSAY_POPULATION_COLUMNS value numbers, in fresh
 *  memory: free() it. */
assay_status assay_population_draw(uint8_t **out, uint64_t num_persons,
                                   uint64_t seed,
                                   assay_error *err) ASSAY_MUST_CHECK;

#endif
