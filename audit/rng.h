/* ring: glue */
/**
 * A fast seeded generator for specimens: simulated mechanisms that the audit
 * attacks. It is NOT a source of noise for releases (that is
 * mechanisms/tape.c) and works in doubles on purpose: the specimens copy what
 * other people's code does.
 *
 * Eight lanes of xoshiro256++ (Blackman and Vigna), seeded by splitmix64 from
 * (seed, stream, block): block b of a stream is the same whatever thread or
 * machine draws it.
 */
#ifndef ASSAY_AUDIT_RNG_H
#define ASSAY_AUDIT_RNG_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_AUDIT_LANES 8

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ASSAY_SIMD                                                             \
    __attribute__((                                                            \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define ASSAY_SIMD
#endif

typedef struct assay_rng {
    uint64_t s[4][ASSAY_AUDIT_LANES];
    uint64_t word[ASSAY_AUDIT_LANES]; /* for assay_rng_u64 */
    unsigned used;
} assay_rng;

uint64_t assay_rng_mix(uint64_t x);
/** A seed from the system, never 0. */
assay_status assay_rng_fresh(uint64_t *seed, assay_error *err) ASSAY_MUST_CHECK;
void assay_rng_seed(assay_rng *rng, uint64_t seed, uint64_t stream,
                    uint64_t block);

/** One word, one uniform double in (0,1): the slow path for odd cases. */
uint64_t assay_rng_u64(assay_rng *rng);
double assay_rng_u01(assay_rng *rng);

/** n words / uniforms in (0,1) with 52 bits. */
void assay_rng_words(assay_rng *rng, uint64_t *out, size_t n);
void assay_rng_uniform(assay_rng *rng, double *out, size_t n);

/** n draws of location + scale * standard law. */
void assay_rng_laplace(assay_rng *rng, double *out, size_t n, double location,
                       double scale);
void assay_rng_exponential(assay_rng *rng, double *out, size_t n,
                           double location, double scale);
void assay_rng_gumbel(assay_rng *rng, double *out, size_t n, double location,
                      double scale);
void assay_rng_gauss(assay_rng *rng, double *out, size_t n, double location,
                     double scale);

#endif
