/* ring: glue */
/** Scores of selection rows by several attackers, and the attackers' data. */
#ifndef ASSAY_AUDIT_SCORES_H
#define ASSAY_AUDIT_SCORES_H

#include "audit/attacker.h"
#include "audit/work.h"

/** Where the phases of an audit end: rows of each side, in units. */
typedef struct assay_plan {
    uint64_t train_end, pick_end, select_end, end;
    uint64_t before; /* rows certified by an earlier stage */
    size_t unit;
} assay_plan;

/** Draw the training rows and fit the attackers (those in `only`, NULL: all).
 *  The caller clears both. */
assay_status assay_train(assay_models *out, assay_training *data,
                         const assay_source *source, const assay_plan *plan,
                         int light, const assay_names *only,
                         assay_error *err) ASSAY_MUST_CHECK;
void assay_training_clear(assay_training *data);

typedef struct assay_scores {
    const assay_models *models;
    size_t num;
    size_t which[ASSAY_MAX_MODELS]; /* model of each score column */
    uint64_t base;
    size_t n[ASSAY_MAX_MODELS]; /* rows of each column */
    size_t room;                /* of `spare` */
    float *s[ASSAY_MAX_MODELS][2];
    float *spare;
} assay_scores;

assay_status assay_scores_init(assay_scores *c, const assay_models *models,
                               const size_t *which, size_t num, size_t rows,
                               assay_error *err) ASSAY_MUST_CHECK;
void assay_scores_clear(assay_scores *c);

/** Score the rows [first, end) of both sides. */
assay_status assay_scores_range(assay_scores *c, const assay_source *source,
                                uint64_t first, uint64_t end, size_t unit,
                                int threads, assay_error *err) ASSAY_MUST_CHECK;
void assay_scores_sort(assay_scores *c);

/** Append the training rows to the columns of scores that were not fitted. */
assay_status assay_scores_plain(assay_scores *c, const assay_training *data,
                                assay_error *err) ASSAY_MUST_CHECK;
/** May the score be believed as a likelihood ratio where rows are rare? */
int assay_scores_trusted(const assay_model *model);
/** Calibrate column k, which is sorted, if it may be believed. */
void assay_scores_calibrate(assay_choice *o, const assay_scores *c, size_t k);

/** How far the two sides of column k are apart, in standard deviations: it uses
 *  every row, so that weak signals show in few runs. */
double assay_scores_separation(const assay_scores *c, size_t k);

#endif
