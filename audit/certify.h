/* ring: glue */
/** The last phase: count fixed events on fresh rows and bound. */
#ifndef ASSAY_AUDIT_CERTIFY_H
#define ASSAY_AUDIT_CERTIFY_H

#include "audit/audit.h"
#include "audit/work.h"

#define ASSAY_MAX_EVENTS 4
#define ASSAY_PROFILE_BINS 64

typedef struct assay_certify {
    size_t num_events;
    assay_audit_event event[ASSAY_MAX_EVENTS];
    assay_pairs pairs[ASSAY_MAX_EVENTS];
    /* Renyi profile (rho claims): bins of one score */
    size_t num_bins; /* 0: none */
    size_t profile_model;
    int profile_swapped;
    float edge[ASSAY_PROFILE_BINS];
    double g[ASSAY_PROFILE_BINS];
    double alpha;
    uint64_t bin[2][ASSAY_PROFILE_BINS];
} assay_certify;

/** Choose bins, g and alpha from sorted selection scores; returns the
 *  predicted rho for `target` runs. */
double assay_profile_fit(assay_certify *z, const float *left,
                         const float *right, size_t n, double target,
                         double level, const assay_claim *claim);

assay_status assay_certify_run(assay_audit_result *out, assay_certify *z,
                               const assay_models *models,
                               const assay_source *source, uint64_t first,
                               uint64_t end, size_t unit,
                               const assay_audit_options *options,
                               assay_error *err) ASSAY_MUST_CHECK;

#endif
