/* ring: glue */
/**
 * Private answers to questions about a CSV file: count, sum, mean, histogram,
 * quantile. One pass over the file, then one release.
 *
 * Person   with `person` (a column) the first `limit` records of each person
 *          count and memory grows with the number of persons; without it every
 *          record is a person of its own and memory is fixed.
 * Bounds   values are clamped to [lo, hi] on a lattice whose step is chosen
 *          from the bounds alone; text becomes an integer exactly, without a double.
 * Charge   one event per answer, after the file has been read without an error:
 *          discrete Laplace [laplace-vector] with l1 sensitivity (L = limit)
 *            count      L
 *            sum        L max(|lo|,|hi|), replace-one L (max(hi,0)-min(lo,0))
 *            mean       sum about the middle and count in one vector
 *            histogram  L, replace-one 2L
 *          the exponential mechanism for a quantile [exponential], and
 *          (epsilon, delta) for a histogram of unknown keys
 *          (mechanisms/keys.h).
 * Errors   ASSAY_INVALID with the line for bad data, before any charge;
 *          otherwise as mechanisms/release.h.
 */
#ifndef ASSAY_MECHANISMS_QUERY_H
#define ASSAY_MECHANISMS_QUERY_H

#include "mechanisms/custodian.h"

typedef enum assay_query_kind {
    ASSAY_QUERY_COUNT,
    ASSAY_QUERY_SUM,
    ASSAY_QUERY_MEAN,
    ASSAY_QUERY_HISTOGRAM,
    ASSAY_QUERY_QUANTILE
} assay_query_kind;

#define ASSAY_QUERY_MAX_BINS 65536
#define ASSAY_QUERY_MAX_LIMIT 65536u

typedef struct assay_query {
    assay_query_kind kind;
    const char *path;   /* "-" is standard input */
    const char *column; /* may be NULL for a count */
    const char *person; /* may be NULL */
    uint32_t limit;     /* records per person, at least 1 */
    int has_bounds;
    mpq_t lo;
    mpq_t hi;
    size_t bins;             /* histogram of numbers */
    const char **categories; /* histogram of words: known ones, then "other" */
    size_t num_categories;
    int unknown_keys; /* histogram of words that are not known beforehand */
    mpq_t quantile;
    mpq_t epsilon;
    mpq_t delta; /* unknown keys */
} assay_query;

/** All zero, limit 1, quantile 1/2. */
void assay_query_init(assay_query *query);
void assay_query_clear(assay_query *query);

typedef struct assay_answer {
    size_t n; /* number of values: 1 unless a histogram */
    double *value;
    double *low; /* value lies within [low, high] of the unnoised answer */
    double *high;
    int has_interval;  /* 95 % of the noise, per value */
    double rank_error; /* quantile: 95 % bound on the error in rank */
    char **key;        /* histogram: bin or word; NULL otherwise */
} assay_answer;

/** Reads, charges, draws. `out` is filled on success only: clear it then. */
assay_status assay_query_run(assay_answer *out, assay_custodian *custodian,
                             const assay_query *query,
                             assay_error *err) ASSAY_MUST_CHECK;
void assay_answer_clear(assay_answer *answer);

#endif
