/* ring: glue */
/**
 * Distribution functions on the integers, digit by digit (Arb intervals).
 *
 * F is the distribution function of a law that is symmetric about zero, or
 * lives on {0, 1, 2, ...}. digit_m(F(k)) = floor(2^(64 m) F(k)) is exact: the
 * precision is raised until the interval holds one integer part.
 */
#ifndef ASSAY_MECHANISMS_CDF_H
#define ASSAY_MECHANISMS_CDF_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "mechanisms/tape.h"

typedef enum assay_cdf_kind {
    ASSAY_CDF_GAUSSIAN, /* weights exp(-k^2 / (2 parameter))         */
    ASSAY_CDF_LAPLACE,  /* weights exp(-|k| / parameter)             */
    ASSAY_CDF_ROUNDED_GAUSSIAN /* N(0, parameter) rounded to steps          */,
    ASSAY_CDF_ROUNDED_LAPLACE /* Laplace(parameter) rounded to steps       */
} assay_cdf_kind;

typedef struct assay_cdf assay_cdf;

/** `one_sided` (first two kinds): on {0, 1, ...}. Rounded kinds: the step is
 *  2^-step_bits. The parameter is positive. */
assay_status assay_cdf_new(assay_cdf **out, assay_cdf_kind kind, int one_sided,
                           const mpq_t parameter, long step_bits,
                           assay_error *err) ASSAY_MUST_CHECK;
void assay_cdf_free(assay_cdf *cdf);

/**
 * floor(2^64 P[X >= j]) for j = 1, 2, ..., J, where J is the first j for which
 * it is zero. Fresh memory (free() it). ASSAY_RANGE if J would pass `most`.
 */
assay_status assay_cdf_tails(assay_cdf *cdf, uint64_t **out, size_t *num_tails,
                             size_t most, assay_error *err) ASSAY_MUST_CHECK;

/** digit_m(F(k)) */
void assay_cdf_digit(assay_cdf *cdf, mpz_t out, int64_t k, unsigned m);

/**
 * inverse(F) of docs/math/samplers.md, from the tape's position.
 * Errors  ASSAY_ENTROPY; ASSAY_RANGE if |X| passes 2^62.
 */
assay_status assay_cdf_inverse(assay_cdf *cdf, assay_tape *tape,
                               int64_t *out) ASSAY_MUST_CHECK;

/** below(exp(-gamma)) of docs/math/samplers.md, gamma >= 0. */
assay_status assay_below_exp(assay_tape *tape, const mpq_t gamma,
                             int *out) ASSAY_MUST_CHECK;

#endif
