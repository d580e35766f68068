/* ring: glue */
/**
 * Neighbours and oracles of specimens: which pair of inputs shows most, and
 * what the exact likelihood ratio could certify.
 */
#ifndef ASSAY_AUDIT_SEARCH_H
#define ASSAY_AUDIT_SEARCH_H

#include "audit/specimens/specimens.h"

/**
 * The most promising pair: every pair of the specimen is screened with
 * `samples` runs; if the specimen states a domain, random restarts and hill
 * climbing within it follow. *spent counts the runs of each input.
 */
assay_status assay_search_pair(assay_pair *out, uint64_t *spent,
                               const assay_specimen *specimen, uint64_t samples,
                               uint64_t target, uint64_t seed,
                               assay_error *err) ASSAY_MUST_CHECK;

/**
 * The oracle bound: what the exact likelihood ratio certifies for the claim on
 * this pair with `samples` runs of each input, all of them for the bound, at
 * the best threshold and with nothing to correct for. NAN if no density.
 */
assay_status assay_search_oracle(double *out, const assay_specimen *specimen,
                                 const assay_pair *pair, uint64_t samples,
                                 double confidence, uint64_t seed,
                                 assay_error *err) ASSAY_MUST_CHECK;

#endif
