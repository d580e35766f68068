/* ring: glue */
/** The last phase: count fixed events on fresh rows. */
#ifndef ASSAY_AUDIT_CERTIFY_H
#define ASSAY_AUDIT_CERTIFY_H

#include "audit/audit.h"
#include "audit/work.h"

#define ASSAY_MAX_EVENTS 4
#define ASSAY_PROFILE_BINS 64
#define ASSAY_CELLS 3072
#define ASSAY_REFITS 4

/** Counts of a score in fine cells: cell k has those in (top[k-1], top[k]]. */
typedef struct assay_cells {
    size_t num; /* 0: none */
    float top[ASSAY_CELLS];
    uint64_t count[2][ASSAY_CELLS];
} assay_cells;

/** Counts of disjoint slices, left and right. weight > 0: the left input is
 *  likelier; < 0: the right; 0: not used. */
typedef struct assay_layer_counts {
    size_t num;
    double weight[ASSAY_PROFILE_BINS];
    float edge[ASSAY_PROFILE_BINS]; /* num - 1 of them, upwards */
    uint64_t count[2][ASSAY_PROFILE_BINS];
    /* uniform in [0, 1): the share of a tie that does not speak for the claim;
     * 0 is safe without chance */
    double coin[ASSAY_PROFILE_BINS];
} assay_layer_counts;

typedef struct assay_certify {
    size_t num_events;
    assay_audit_event event[ASSAY_MAX_EVENTS];
    assay_pairs pairs[ASSAY_MAX_EVENTS];
    /* Renyi profile (rho claims) or layers (eps claims): bins of one score */
    size_t num_bins;    /* 0: none */
    double bins_share;  /* of the error budget */
    double first_share; /* of the rest: of the first event */
    size_t profile_model;
    int profile_swapped;
    float edge[ASSAY_PROFILE_BINS];
    double g[ASSAY_PROFILE_BINS]; /* layers: signed weights */
    double alpha;                 /* layers: 0 */
    uint64_t bin[2][ASSAY_PROFILE_BINS];
    /* Layers are chosen anew from all rows seen so far, a few times; what was
     * counted with earlier ones stays as it is. */
    assay_cells cells; /* the selection rows and what was counted since */
    double layers_target, layers_level;
    size_t num_past;
    assay_layer_counts past[ASSAY_REFITS];
} assay_certify;

/** Choose bins, g and alpha from sorted selection scores; returns a careful
 *  prediction of rho for `target` runs, for comparing scores. */
double assay_profile_fit(assay_certify *z, const float *left,
                         const float *right, size_t n, double target,
                         double level, const assay_claim *claim);

/** A stage: events that were fixed before its rows first .. end - 1 were seen,
 *  and what was counted there. It must not be moved (blends point into it). */
typedef struct assay_stage {
    assay_models models;
    assay_certify z;
    uint64_t first, end;
    char examples[ASSAY_MAX_EVENTS * ASSAY_AUDIT_TEXT];
} assay_stage;

/** Count the stage's rows; a sequential test may stop early (stage->end). */
assay_status assay_certify_run(assay_stage *stage, const assay_source *source,
                               size_t unit, const assay_audit_options *options,
                               const char *checkpoint,
                               assay_error *err) ASSAY_MUST_CHECK;

#endif
