/* ring: glue */
/**
 * One line of a trajectory file, `user,h,s,a,r,s_next`.
 */
#ifndef ASSAY_ALGORITHMS_CSV_ROW_H
#define ASSAY_ALGORITHMS_CSV_ROW_H

#include <stddef.h>
#include <stdint.h>

typedef struct assay_csv_row {
    uint64_t user;
    uint64_t h, s, a, s_next;
} assay_csv_row;

typedef enum assay_csv_fault {
    ASSAY_CSV_FINE = 0,
    ASSAY_CSV_USER, /* not a whole number below 2^64          */
    ASSAY_CSV_H,    /* likewise, and so on                    */
    ASSAY_CSV_S,
    ASSAY_CSV_A,
    ASSAY_CSV_R, /* not a finite decimal                   */
    ASSAY_CSV_S_NEXT,
    ASSAY_CSV_FIELDS /* not six fields                         */
} assay_csv_fault;

/**
 * Parses the line text[0 .. len-1] (no line end). The reward is checked, not
 * kept: rewards are public and come from elsewhere. A reward is an optional
 * sign, digits with at most one point, and an optional power of ten of at most
 * three digits and at most 300: so it is finite.
 */
assay_csv_fault assay_csv_row_parse(assay_csv_row *out, const char *text,
                                    size_t len);

#endif
