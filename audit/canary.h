/* ring: glue */
/**
 * The one-run audit on a mechanism with canaries (Steinke, Nasr and Jagielski
 * 2023): m unit vectors, each included by a fair coin; the sum with Gaussian
 * noise on every coordinate is released once; the auditor calls the largest
 * coordinates IN and the smallest OUT. A specimen: the noise comes from the
 * audit's own generator.
 */
#ifndef ASSAY_AUDIT_CANARY_H
#define ASSAY_AUDIT_CANARY_H

#include "audit/bound.h"

typedef struct assay_canary {
    uint64_t canaries, guesses; /* half of the guesses IN, half OUT */
    double sigma;               /* noise of each coordinate */
    uint64_t seed;
} assay_canary;

typedef struct assay_canary_result {
    uint64_t right; /* guesses that were right */
    double lower;   /* epsilon at the claim's delta, confidence as asked */
    int refuted;
} assay_canary_result;

/**
 * One run. Law  P[lower > true epsilon at delta] <= 1 - confidence (Theorem
 * 5.2 there). ASSAY_INVALID unless 2 <= guesses <= canaries, sigma > 0 and an
 * eps claim.
 */
assay_status assay_canary_run(assay_canary_result *out,
                              const assay_canary *canary,
                              const assay_claim *claim, double confidence,
                              assay_error *err) ASSAY_MUST_CHECK;

#endif
