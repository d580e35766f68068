/* ring: glue */
/**
 * Exact samplers as objects: create once for a parameter, then draw.
 *
 * Law     for every k, P[X = k] is the stated law to the last digit if the
 *         tape is uniform: tails are not cut and tables are refined on a tie
 *         (docs/math/samplers.md; Coq: proofs/coq/samplers).
 * Errors  ASSAY_ENTROPY from the tape; ASSAY_RANGE if the exact value does not
 *         fit int64_t (its probability is fixed by the parameter); nothing is
 *         written then.
 */
#ifndef ASSAY_MECHANISMS_SAMPLER_H
#define ASSAY_MECHANISMS_SAMPLER_H

#include <gmp.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"
#include "mechanisms/tape.h"

typedef enum assay_route {
    ASSAY_ROUTE_AUTO = 0,
    ASSAY_ROUTE_INVERSE = 1,  /* route 1: digits compared lazily */
    ASSAY_ROUTE_REJECTION = 2 /* route 2: integers only          */
} assay_route;

typedef struct assay_sampler_options {
    assay_route route;
    /* The number of rounds is independent of the value drawn (Coq:
     * sampler-blocks-rounds), and a round reads three words and touches the
     * same memory whatever it proposes. What is left: a tie (about 2^-55) and
     * a coin that needs exact digits (about 2^-22) take longer. For discrete
     * Gaussian and Laplace up to scale ASSAY_CONSTANT_TIME_SCALE. */
    int constant_time;
} assay_sampler_options;

#define ASSAY_CONSTANT_TIME_SCALE 4096

typedef struct assay_sampler assay_sampler;

/** P[x] proportional to exp(-x^2 / (2 sigma2)). `options` may be NULL. */
assay_status
assay_sampler_new_discrete_gaussian(assay_sampler **out, const mpq_t sigma2,
                                    const assay_sampler_options *options,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** P[x] proportional to exp(-|x| / scale). */
assay_status
assay_sampler_new_discrete_laplace(assay_sampler **out, const mpq_t scale,
                                   const assay_sampler_options *options,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** P[y] proportional to exp(-y / scale), y = 0, 1, 2, ... */
assay_status assay_sampler_new_geometric(assay_sampler **out, const mpq_t scale,
                                         assay_error *err) ASSAY_MUST_CHECK;

/** The continuous Gaussian of variance sigma2, rounded to the nearest multiple
 *  of 2^-step_bits; the result counts steps. step_bits from -60 to 200. */
assay_status
assay_sampler_new_rounded_gaussian(assay_sampler **out, const mpq_t sigma2,
                                   long step_bits,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** The continuous Laplace law of the given scale, rounded likewise. */
assay_status
assay_sampler_new_rounded_laplace(assay_sampler **out, const mpq_t scale,
                                  long step_bits,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** Draw one value. */
assay_status assay_sampler_one(assay_sampler *sampler, assay_tape *tape,
                               int64_t *out, assay_error *err) ASSAY_MUST_CHECK;

/** Draw n independent values. On error `out` is wiped. */
assay_status assay_sampler_fill(assay_sampler *sampler, assay_tape *tape,
                                int64_t *out, size_t n,
                                assay_error *err) ASSAY_MUST_CHECK;

/** Wipes and frees. */
void assay_sampler_free(assay_sampler *sampler);

#endif
