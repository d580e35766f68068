/* ring: glue */
/**
 * Binomial tails and Clopper-Pearson limits with guaranteed direction.
 *
 * The head of a tail sum is computed with MPFR at 192 bits, the rest by the
 * recurrence of consecutive terms in doubles whose relative error is counted
 * and added, and the cut-off remainder is bounded by a geometric series. So a
 * returned tail is an upper bound, and a returned limit satisfies the
 * defining inequality of Clopper and Pearson (1934) for certain.
 */
#ifndef ASSAY_AUDIT_BINOMIAL_H
#define ASSAY_AUDIT_BINOMIAL_H

#include <stdint.h>

/** Upper bound of P[Bin(n,p) >= k], tight to about 1e-8 relative. */
double assay_binomial_at_least(uint64_t k, uint64_t n, double p);

/** Upper bound of P[Bin(n,p) <= k]. */
double assay_binomial_at_most(uint64_t k, uint64_t n, double p);

/**
 * One-sided Clopper-Pearson limits.
 *
 * Law     P[lower(K) <= p] >= 1 - level and P[p <= upper(K)] >= 1 - level
 *         for K ~ Bin(n,p), any p.
 * lower is 0 at k = 0, upper is 1 at k = n. 0 < level < 1.
 */
double assay_binomial_lower(uint64_t k, uint64_t n, double level);
double assay_binomial_upper(uint64_t k, uint64_t n, double level);

/** The standard normal: distribution function and its inverse. */
double assay_normal_cdf(double x);
double assay_normal_quantile(double u);

#endif
