/* ring: glue */
/**
 * The audit: attack a mechanism on two neighbouring inputs and report what
 * could be proved.
 *
 * The runs are split before anything is looked at: training rows fit the
 * attackers, selection rows choose the event (attacker, threshold and mass),
 * certification rows give the counts. A result is never "pass": what was not
 * refuted comes with a detection limit.
 */
#ifndef ASSAY_AUDIT_AUDIT_H
#define ASSAY_AUDIT_AUDIT_H

#include <jansson.h>

#include "audit/bound.h"
#include "audit/rows.h"

struct assay_stage; /* audit/certify.h */

typedef struct assay_audit_options {
    assay_claim claim;
    uint64_t samples;       /* runs of each input, at least 200 */
    double confidence;      /* 0.99 */
    int threads;            /* 0: all cores, at most 64 */
    int sequential;         /* stop as soon as the claim is refuted */
    int light;              /* leave out the slow attackers */
    int one_stage;          /* never train again on certified rows */
    uint64_t seen;          /* leading rows that somebody has looked at already:
                          they may train, they never certify */
    uint64_t seed;          /* of the thinning of layers; 0: the system's */
    const char *checkpoint; /* file for resuming, or NULL */
    const char *label;      /* name on the progress bar, NULL for none */
    /* called with the stages when all is concluded, unless NULL */
    assay_status (*look)(void *ctx, struct assay_stage *const *stage,
                         size_t num, assay_error *err);
    void *look_ctx;
} assay_audit_options;

#define ASSAY_AUDIT_TEXT 320

typedef struct assay_audit_result {
    assay_claim claim;
    double lower;         /* of the claimed parameter (epsilon, rho or mu) */
    double epsilon_lower; /* at `delta`, same confidence, same event */
    double delta;
    double confidence;
    int refuted;
    double detection_limit;
    double detection_mass;
    uint64_t samples;          /* runs of each input, all phases */
    uint64_t certified;        /* of these, used for the bound */
    assay_audit_counts counts; /* of the event; first side: see swapped */
    int swapped;               /* 1: the event is likelier on the right input */
    int num_events;            /* certified together (corrected for) */
    int stages;                /* 2: trained again on the first stage's rows */
    double log_wealth;         /* sequential: log of the e-value, else 0 */
    char event[ASSAY_AUDIT_TEXT];
    char example[ASSAY_AUDIT_TEXT]; /* one output in the event */
    char attacker[64];
    double seconds;
} assay_audit_result;

/** Audit a source. ASSAY_OK whether or not the claim was refuted. */
assay_status assay_audit_run(assay_audit_result *out,
                             const assay_source *source,
                             const assay_audit_options *options,
                             assay_error *err) ASSAY_MUST_CHECK;

/** How promising a pair of inputs is. */
typedef struct assay_promise {
    double merit;      /* the bound predicted for an audit of `target` runs */
    double noise;      /* its standard deviation, about */
    double separation; /* of the two sides' scores, in standard deviations */
    uint64_t runs;     /* looked at: rows 0 .. runs - 1 of each side */
} assay_promise;

/** Screen a pair with about `samples` runs. Nothing is certified. A close look
 *  takes the splines instead of quick attackers and counts on layers, too. */
assay_status assay_audit_screen(assay_promise *out, const assay_source *source,
                                const assay_claim *claim, uint64_t samples,
                                uint64_t target, int close,
                                assay_error *err) ASSAY_MUST_CHECK;

/** Rows are drawn in units of this many (a unit is one stream). */
size_t assay_audit_unit(uint64_t samples);

/**
 * Audit an in-process mechanism: `draw` writes n outputs of `width` numbers
 * each (row by row) for the left (0) or right (1) input. It is called from
 * one thread at a time.
 */
typedef assay_status (*assay_audit_draw)(void *ctx, int side, size_t n,
                                         double *out, assay_error *err);
assay_status assay_audit_function(assay_audit_result *out,
                                  assay_audit_draw draw, void *ctx,
                                  size_t width,
                                  const assay_audit_options *options,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** {"epsilon_lower", "delta", "confidence", "refuted", "detection_limit",
 *  "samples", "event", "counts", "attacker", "seconds", ...}; NULL if out of
 *  memory. A bound is rounded down, infinity is null. */
json_t *assay_audit_json(const assay_audit_result *result);

#endif
