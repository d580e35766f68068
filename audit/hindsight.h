/* ring: glue */
/**
 * Hindsight: what the events and layers that an audit chose certify on average.
 *
 * One audit's bound is one draw: its counts are lucky or not. Where the exact
 * ratio is known the chosen events' probabilities are too, and with them the
 * bound that these choices give on average. Beside the oracle's, which is an
 * average itself, it tells what the attacker costs, without the luck.
 */
#ifndef ASSAY_AUDIT_HINDSIGHT_H
#define ASSAY_AUDIT_HINDSIGHT_H

#include "audit/conclude.h"
#include "audit/search.h"

typedef struct assay_hindsight {
    double bound;  /* of what was chosen: the best of the next two */
    double events; /* the best event */
    double layers; /* layers or profile, 0: none */
    double score[ASSAY_MAX_STAGES];  /* what the stage's score could certify by
                                       its best event with all runs */
    double slices[ASSAY_MAX_STAGES]; /* and by its best layers */
} assay_hindsight;

/**
 * Look back at stages that are done. `rows` rows of each side are drawn anew
 * with the seed of assay_search_oracle. All NAN if the specimen has no density.
 */
assay_status assay_hindsight_find(assay_hindsight *out,
                                  const assay_specimen *specimen,
                                  const assay_pair *pair,
                                  assay_stage *const *stage, size_t num,
                                  const assay_audit_options *options,
                                  uint64_t seed, size_t rows,
                                  assay_error *err) ASSAY_MUST_CHECK;

#endif
