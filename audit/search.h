/* ring: glue */
/**
 * Neighbours and oracles of specimens: which pair of inputs shows most, and
 * what the exact likelihood ratio could certify.
 */
#ifndef ASSAY_AUDIT_SEARCH_H
#define ASSAY_AUDIT_SEARCH_H

#include "audit/specimens/specimens.h"

#define ASSAY_SEARCH_PAIRS 16

/**
 * The most promising pair: every pair of the specimen is screened with twice
 * `samples` runs, the better ones with up to sixteen times as many; if the
 * specimen states a domain, random restarts and hill climbing within it come
 * first. *seen counts the leading rows of the chosen pair's source (seed as
 * given) that were looked at, *spent all other runs of each input.
 */
assay_status assay_search_pair(assay_pair *out, uint64_t *spent, uint64_t *seen,
                               const assay_specimen *specimen, uint64_t samples,
                               uint64_t target, uint64_t seed,
                               assay_error *err) ASSAY_MUST_CHECK;

/** The oracle bound, its noise (standard deviation of a certified bound at
 *  the oracle's event, 0 if not computed), the event's mass on either side,
 *  and what weighted slices of the exact ratio certify (eps claims without
 *  delta, else NAN). */
typedef struct assay_oracle_bound {
    double bound, noise, mass, other, layers;
} assay_oracle_bound;

/**
 * What the exact likelihood ratio certifies for the claim on this pair with
 * `samples` runs of each input, all of them for the bound, at the best
 * threshold and with nothing to correct for. NAN if no density. The same for
 * the best of this and the specimen's own pairs into *best (may be NULL).
 */
assay_status assay_search_oracle(assay_oracle_bound *out,
                                 assay_oracle_bound *best,
                                 const assay_specimen *specimen,
                                 const assay_pair *pair, uint64_t samples,
                                 double confidence, uint64_t seed,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** What an event with probabilities p1 and p2 certifies on average, counted
 *  in n runs of either side: the mean over the second side's count where
 *  that is small. */
double assay_search_expected(const assay_claim *claim, double p1, double p2,
                             double n, double level, double w);

/** The seed of the rows that the oracle of an audit with `seed` looks at. */
uint64_t assay_search_oracle_seed(uint64_t seed);

#endif
