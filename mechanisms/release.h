/* ring: glue */
/**
 * Releases of integers: exact noise is added and the sum leaves.
 *
 * Values are int64_t on a lattice the caller has chosen (core/lattice.h);
 * variance, scale and sensitivity are in units of that lattice, exact. `label`
 * says in the ledger what was released. `out` and `in` may be the same array.
 *
 * Range   out = clamp(in + noise, -2^62, 2^62), the sum taken exactly. The
 *         clamp is a function of the exact noisy sum alone, so it is
 *         post-processing and costs nothing [Theorem: postprocess]; nothing
 *         wraps and no error tells how large the data is. At 2^62 the caller
 *         can see that a value is saturated.
 * Errors  ASSAY_INVALID parameters; ASSAY_BUDGET, ASSAY_IO from the ledger;
 *         ASSAY_ENTROPY from the tape, ASSAY_RANGE if a noise value itself
 *         leaves int64_t (a probability fixed by the parameter). Nothing is
 *         written then.
 */
#ifndef ASSAY_MECHANISMS_RELEASE_H
#define ASSAY_MECHANISMS_RELEASE_H

#include "mechanisms/custodian.h"

#define ASSAY_RELEASE_MAX ((int64_t)1 << 62)

/**
 * Discrete Gaussian noise on each of n coordinates.
 *
 * Law      out[i] - in[i] are independent, P[x] ~ exp(-x^2 / (2 sigma2)).
 * Theorem  gaussian-vector-zcdp: if neighbours differ by at most sensitivity2
 *          in squared l2 norm, the cost is rho = sensitivity2 / (2 sigma2).
 */
assay_status assay_release_gaussian_vector(
    assay_custodian *custodian, int64_t *out, const int64_t *in, size_t n,
    const mpq_t sigma2, const mpq_t sensitivity2, const char *label,
    assay_error *err) ASSAY_MUST_CHECK;

/**
 * Discrete Laplace noise on each of n coordinates.
 *
 * Law      out[i] - in[i] are independent, P[x] ~ exp(-|x| / scale).
 * Theorem  laplace-vector: with l1 sensitivity `sensitivity` the release is
 *          (sensitivity / scale)-DP.
 */
assay_status assay_release_laplace_vector(
    assay_custodian *custodian, int64_t *out, const int64_t *in, size_t n,
    const mpq_t scale, const mpq_t sensitivity, const char *label,
    assay_error *err) ASSAY_MUST_CHECK;

/** One value; otherwise as the vectors. */
assay_status assay_release_gaussian(assay_custodian *custodian, int64_t *out,
                                    int64_t in, const mpq_t sigma2,
                                    const mpq_t sensitivity2, const char *label,
                                    assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_release_laplace(assay_custodian *custodian, int64_t *out,
                                   int64_t in, const mpq_t scale,
                                   const mpq_t sensitivity, const char *label,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** A count of sensitivity 1 with epsilon: Laplace of scale 1 / epsilon. */
assay_status assay_release_count(assay_custodian *custodian, int64_t *out,
                                 int64_t count, const mpq_t epsilon,
                                 const char *label,
                                 assay_error *err) ASSAY_MUST_CHECK;

#endif
