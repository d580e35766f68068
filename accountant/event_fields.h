/* ring: glue */
/**
 * The table of parameters: key, kind, and which mechanism takes which. Private
 * to the event files.
 */
#ifndef ASSAY_ACCOUNTANT_EVENT_FIELDS_H
#define ASSAY_ACCOUNTANT_EVENT_FIELDS_H

#include "accountant/event.h"

enum {
    ASSAY_F_SIGMA2 = 1 << 0,
    ASSAY_F_SCALE = 1 << 1,
    ASSAY_F_SCALE2 = 1 << 2,
    ASSAY_F_SENSITIVITY = 1 << 3,
    ASSAY_F_SENSITIVITY2 = 1 << 4,
    ASSAY_F_EPSILON = 1 << 5,
    ASSAY_F_DELTA = 1 << 6,
    ASSAY_F_RHO = 1 << 7,
    ASSAY_F_P = 1 << 8,
    ASSAY_F_K = 1 << 9,
    ASSAY_F_LEVELS = 1 << 10,
    ASSAY_F_BOUND = 1 << 11,
    ASSAY_F_CURVE = 1 << 12,
    ASSAY_F_PARTS = 1 << 13,
    ASSAY_F_POPULATION = 1 << 14,
    ASSAY_F_MONOTONE = 1 << 15,
    ASSAY_F_DIMENSION = 1 << 16,
    ASSAY_F_SAMPLING = 1 << 17 /* sampling, rate, population, batch */
};

/** The parameters a mechanism needs, and those it may have besides. */
unsigned assay_event_needs(assay_mechanism mechanism);
unsigned assay_event_takes(assay_mechanism mechanism);

/** A rational parameter by its canonical key; NULL if there is none. */
typedef struct assay_rational_field {
    const char *key;
    unsigned field;
    size_t offset;
} assay_rational_field;
typedef struct assay_count_field {
    const char *key;
    unsigned field;
    size_t offset;
} assay_count_field;

extern const assay_rational_field assay_rational_fields[];
extern const assay_count_field assay_count_fields[];

/** The rational at a field's offset. */
mpq_ptr assay_event_rational(const assay_event *event,
                             const assay_rational_field *field);
uint64_t *assay_event_count(const assay_event *event,
                            const assay_count_field *field);

#endif
