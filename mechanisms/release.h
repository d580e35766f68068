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
assay_status assay_release_gaussian_vector(assay_custodian *custodian,
                                           int64_t *out, const int64_t *in,
                                           size_t n, const mpq_t sigma2,
                                           const mpq_t sensitivity2,
                                           const char *label,
                                           assay_error *err) ASSAY_MUST_CHECK;

/**
 * Discrete Laplace noise on each of n coordinates.
 *
 * Law      out[i] - in[i] are independent, P[x] ~ exp(-|x| / scale).
 * Theorem  laplace-vector: with l1 sensitivity `sensitivity` the release is
 *          (sensitivity / scale)-DP.
 */
assay_status assay_release_laplace_vector(assay_custodian *custodian,
                                          int64_t *out, const int64_t *in,
                                          size_t n, const mpq_t scale,
                                          const mpq_t sensitivity,
                                          const char *label,
                                          assay_error *err) ASSAY_MUST_CHECK;

/**
 * The two above for an `out` that nobody has seen and that is apart from `in`,
 * a new array, say: the noise is drawn in it, which saves a second array. If
 * the tape fails, `out` is wiped; before the charge it is not touched.
 */
assay_status assay_release_gaussian_fresh(assay_custodian *custodian,
                                          int64_t *out, const int64_t *in,
                                          size_t n, const mpq_t sigma2,
                                          const mpq_t sensitivity2,
                                          const char *label,
                                          assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_release_laplace_fresh(assay_custodian *custodian,
                                         int64_t *out, const int64_t *in,
                                         size_t n, const mpq_t scale,
                                         const mpq_t sensitivity,
                                         const char *label,
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

/**
 * A count of sensitivity 1 at `epsilon`: the two-sided geometric mechanism,
 * i.e. discrete Laplace of scale 1 / epsilon.
 * Theorem  laplace-vector.
 */
assay_status assay_release_count(assay_custodian *custodian, int64_t *out,
                                 int64_t count, const mpq_t epsilon,
                                 const char *label,
                                 assay_error *err) ASSAY_MUST_CHECK;

/**
 * The continuous Gaussian, rounded to the lattice of step 2^-step_bits.
 * `in` and `out` count steps; sigma2 and sensitivity2 are in real units.
 *
 * Law      out = round(in * step + N(0, sigma2)) / step: a function of the
 *          continuous release, because `in` is on the lattice.
 * Theorem  rounded-gaussian (post-processing of the continuous mechanism).
 */
assay_status assay_release_rounded_gaussian_vector(
    assay_custodian *custodian, int64_t *out, const int64_t *in, size_t n,
    long step_bits, const mpq_t sigma2, const mpq_t sensitivity2,
    const char *label, assay_error *err) ASSAY_MUST_CHECK;

/** The continuous Laplace law likewise; Theorem  rounded-laplace. */
assay_status assay_release_rounded_laplace_vector(
    assay_custodian *custodian, int64_t *out, const int64_t *in, size_t n,
    long step_bits, const mpq_t scale, const mpq_t sensitivity,
    const char *label, assay_error *err) ASSAY_MUST_CHECK;

/**
 * Discrete Gaussian noise with a variance of its own for every entry.
 * `cost2` bounds sum_i (difference_i)^2 / sigma2[i] over all neighbours.
 *
 * Law      as the vector, with sigma2[i].
 * Theorem  gaussian-vector-zcdp and compose-zcdp: rho = cost2 / 2.
 */
assay_status assay_release_gaussian_each(assay_custodian *custodian,
                                         int64_t *out, const int64_t *in,
                                         size_t n, const mpq_t *sigma2,
                                         const mpq_t cost2, const char *label,
                                         assay_error *err) ASSAY_MUST_CHECK;

/**
 * A symmetric d x d matrix, stored whole by rows: the upper triangle is read
 * and noised, the lower one mirrored. Variance sigma2_diagonal on the
 * diagonal and sigma2_off off it; `frobenius2` bounds the squared Frobenius
 * norm of a difference, where an entry off the diagonal counts twice.
 *
 * Law      entries of the upper triangle are independent discrete Gaussians.
 * Theorem  gaussian-vector-zcdp: sum_i M_ii^2 / (2 sd) + sum_{i<j} M_ij^2 /
 *          (2 so) <= frobenius2 / (2 min(sd, 2 so)) = rho.
 *          (Z + Z^T)/sqrt(2) with Var Z = v is sd = 2v, so = v: rho = f2/(4v).
 */
assay_status assay_release_gaussian_symmetric(
    assay_custodian *custodian, int64_t *out, const int64_t *in, size_t d,
    const mpq_t sigma2_diagonal, const mpq_t sigma2_off, const mpq_t frobenius2,
    const char *label, assay_error *err) ASSAY_MUST_CHECK;

#endif
