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
/** From now on this process uses one thread where all cores were wanted. */
void assay_work_alone(void);

/** Sort floats upwards; `spare` has room for n. */
void assay_work_sort(float *x, float *spare, size_t n);

/** An event: rows whose score is at least (swapped: at most) `threshold`. */
typedef struct assay_audit_event {
    size_t model;
    int swapped;
    float threshold;
    double merit; /* predicted bound */
    double p[2];  /* estimated probabilities, first the likelier side */
} assay_audit_event;

typedef struct assay_choice {
    double target; /* runs of the certification */
    double level;
    double caution; /* standard deviations by which estimates are worsened */
    double mass_min, mass_max; /* of the event on the likelier side */
    int bold;                  /* 1: caution alone, however few the counts */
    int plain;    /* 1: believe counts only, no calibration, no extrapolation */
    int straight; /* 1: calibrate by a line only */
    int is_ratio; /* the score orders rows by likelihood ratio, nearly */
    double curve[4]; /* calibration: ratio ~ a cubic of the standardised s */
    double centre, width; /* of the score */
} assay_choice;

/** Logistic regression of the side on a cubic of the score; `left` and `right`
 *  are sorted. */
void assay_work_calibrate(assay_choice *choice, const float *left,
                          const float *right, size_t n);

/** The calibrated log ratio at a score. */
double assay_work_curve(const assay_choice *choice, double score);

/** The best event of one score; `left` and `right` are sorted. */
assay_audit_event assay_work_choose(const assay_claim *claim, const float *left,
                                    const float *right, size_t n,
                                    const assay_choice *choice);

#endif
