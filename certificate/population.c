/* ring: glue */
#include "certificate/population.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/envrand.h"

const assay_column assay_population_columns[ASSAY_POPULATION_COLUMNS] = {
    {"region", 4, {"north", "south", "east", "west"}},
    {"age", 5, {"0-17", "18-34", "35-54", "55-74", "75+"}},
    {"sex", 2, {"female", "male"}},
    {"employed", 2, {"no", "yes"}},
    {"household", 5, {"1", "2", "3", "4", "5+"}},
};

int assay_population_column(const char *name)
{
    for (int i = 0; i < ASSAY_POPULATION_COLUMNS; i++) {
        if (strcmp(assay_population_columns[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int assay_population_value(int column, const char *value)
{
    const assay_column *c = &assay_population_columns[column];
    for (size_t i = 0; i < c->num_values; i++) {
        if (strcmp(c->values[i], value) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static uint8_t pick(assay_envrand *rand, const double *weights, int n)
{
    double u = assay_envrand_unit(rand);
    for (int i = 0; i < n - 1; i++) {
        u -= weights[i];
        if (u < 0) {
            return (uint8_t)i;
        }
    }
    return (uint8_t)(n - 1);
}

/* Made-up shares; nobody was asked. */
static void draw_person(uint8_t *row, assay_envrand *rand)
{
    static const double region[] = {0.35, 0.30, 0.20, 0.15};
    static const double age[] = {0.19, 0.21, 0.27, 0.23, 0.10};
    static const double work[] = {0.02, 0.74, 0.82, 0.41, 0.03};
    static const double household[] = {0.28, 0.34, 0.16, 0.14, 0.08};
    row[0] = pick(rand, region, 4);
    row[1] = pick(rand, age, 5);
    row[2] = (uint8_t)assay_envrand_below(rand, 2);
    row[3] = assay_envrand_unit(rand) < work[row[1]];
    row[4] = pick(rand, household, 5);
}

assay_status assay_population_draw(uint8_t **out, uint64_t num_persons,
                                   uint64_t seed, assay_error *err)
{
    assay_envrand rand;
    if (num_persons < 1 || num_persons > 100000000) {
        return assay_fail(err, ASSAY_INVALID,
                          "a simulated population has 1 to 10^8 persons");
    }
    *out = malloc((size_t)num_persons * ASSAY_POPULATION_COLUMNS);
    if (*out == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a population");
    }
    assay_envrand_init(&rand, seed, 77);
    for (uint64_t i = 0; i < num_persons; i++) {
        draw_person(*out + i * ASSAY_POPULATION_COLUMNS, &rand);
    }
    return ASSAY_OK;
}
