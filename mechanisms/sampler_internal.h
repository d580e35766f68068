/* ring: glue */
/**
 * What a sampler object holds, shared by sampler.c (making and route 2) and
 * sampler_route1.c (drawing by table and by blocks).
 */
#ifndef ASSAY_MECHANISMS_SAMPLER_INTERNAL_H
#define ASSAY_MECHANISMS_SAMPLER_INTERNAL_H

#include "mechanisms/blocks.h"
#include "mechanisms/cdf.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/inverse.h"
#include "mechanisms/sampler.h"

typedef enum assay_draw_kind {
    ASSAY_DRAW_TABLE,       /* inverse(F) with a table              */
    ASSAY_DRAW_BLOCKS,      /* blocks(f, b)                          */
    ASSAY_DRAW_BLOCKS_SCAN, /* the same in constant time             */
    ASSAY_DRAW_DIGITS,      /* inverse(F) from Arb digits, no table  */
    ASSAY_DRAW_LAPLACE_64,
    ASSAY_DRAW_LAPLACE_BIG,
    ASSAY_DRAW_GAUSSIAN_64,
    ASSAY_DRAW_GAUSSIAN_BIG,
    ASSAY_DRAW_GEOMETRIC_64,
    ASSAY_DRAW_GEOMETRIC_BIG
} assay_draw_kind;

struct assay_sampler {
    assay_draw_kind draw;
    /* route 1 */
    assay_cdf *cdf;
    assay_inverse table;
    uint64_t *digits;
    uint64_t *halves; /* digits / 2, for constant time */
    uint32_t *guide;
    int64_t first; /* the k of digits[0] */
    assay_blocks blocks;
    mpq_t parameter; /* sigma^2 or scale */
    /* route 2 */
    assay_gaussian_64 gaussian;
    uint64_t s, t; /* Laplace and geometric: scale t/s */
    mpz_t big_s, big_t, big_n, big_d;
};

/** Builds cdf, table and blocks. `parameter` is set. */
assay_status assay_route1_prepare(assay_sampler *sampler, assay_cdf_kind kind,
                                  long step_bits, int constant_time,
                                  assay_error *err) ASSAY_MUST_CHECK;
void assay_route1_clear(assay_sampler *sampler);
assay_status assay_route1_fill(assay_sampler *sampler, assay_tape *tape,
                               int64_t *out, size_t n) ASSAY_MUST_CHECK;

#endif
