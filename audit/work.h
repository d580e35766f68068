/* ring: glue */
/** Inner parts of the audit: units of rows in parallel, sorting, choosing. */
#ifndef ASSAY_AUDIT_WORK_H
#define ASSAY_AUDIT_WORK_H

#include "audit/attacker.h"
#include "audit/bound.h"
#include "audit/rows.h"

/** Called for both sides of one unit; `first` is its first row. */
typedef assay_status (*assay_unit_fn)(void *arg, int thread, uint64_t first,
                                      const assay_rows *left,
                                      const assay_rows *right,
                                      assay_error *err);

/** Rows [first, end) in units of `unit` rows on up to `threads` threads. */
assay_status assay_work_units(const assay_source *source, uint64_t first,
                              uint64_t end, size_t unit, int threads,
                              assay_unit_fn fn, void *arg,
                              assay_error *err) ASSAY_MUST_CHECK;

#define ASSAY_MAX_THREADS 64
int assay_work_threads(int wanted);

/** Sort floats upwards; `spare` has room for n. */
void assay_work_sort(float *x, float *spare, size_t n);

/** An event: rows whose score is at least (swapped: at most) `threshold`. */
typedef struct assay_event {
    size_t model;
    int swapped;
    float threshold;
    double merit;      /* predicted bound */
    double p[2];       /* estimated probabilities, first the likelier side */
} assay_event;

/**
 * The best event of one score. `caution` is how many standard deviations the
 * counts are worsened by before they are scaled to `target` runs.
 */
assay_event assay_work_choose(const assay_claim *claim, float *left,
                              float *right, float *spare, size_t n,
                              double target, double level, double caution);

#endif
