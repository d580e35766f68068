/* ring: glue */
/**
 * Public feature maps on a lattice, with enforced norm.
 *
 * A table gives every row (a state, or a pair s * A + a) a vector of `dim`
 * integers in steps of 2^-ASSAY_FEATURE_BITS. The sum of squares of a row is at
 * most 4^ASSAY_FEATURE_BITS, i.e. the norm is at most 1: a longer vector is
 * scaled down, rounded, and clipped by the integer kernel of core/bound.h.
 * Sensitivities rest on that integer fact alone. Feature maps are public: they
 * do not depend on anybody's data.
 */
#ifndef ASSAY_ALGORITHMS_FEATURES_H
#define ASSAY_ALGORITHMS_FEATURES_H

#include "algorithms/mdp.h"

#define ASSAY_FEATURE_BITS 14
#define ASSAY_FEATURE_ONE ((int64_t)1 << ASSAY_FEATURE_BITS)
#define ASSAY_FEATURE_MAX_DIM 1024u

typedef struct assay_features {
    size_t num_rows;
    size_t dim;
    int64_t *entry; /* [row][dim] */
} assay_features;

/** Zero vectors; 1 <= dim <= ASSAY_FEATURE_MAX_DIM. */
assay_status assay_features_new(assay_features **out, size_t num_rows,
                                size_t dim, assay_error *err) ASSAY_MUST_CHECK;
void assay_features_free(assay_features *features);

/** Scale, round and clip one real vector; refuses NaN and infinity. */
assay_status assay_features_quantize(int64_t *out, const double *x, size_t dim,
                                     assay_error *err) ASSAY_MUST_CHECK;

static inline const int64_t *assay_features_row(const assay_features *features,
                                                size_t row)
{
    return features->entry + row * features->dim;
}

/** The inner product with a real vector, in real units. */
double assay_features_dot(const int64_t *row, const double *w, size_t dim);

/** Row i is the i-th unit vector. */
assay_status assay_features_one_hot(assay_features **out, size_t num_rows,
                                    assay_error *err) ASSAY_MUST_CHECK;

/**
 * The map of the 2-state example: (signs of the bits of a, delta, 1 - delta)/3,
 * delta = 1 if (s = 0) equals (a = 0). S = 2, 1 <= A <= 2^16; 8 signs up to A =
 * 256. The usual map is not divided and has norm 3.
 */
assay_status assay_features_linear(assay_features **out,
                                   const assay_shape *shape,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** CSV with header `s,a,f1,...,fd` and every pair once. */
assay_status assay_features_read(assay_features **out, const char *path,
                                 const assay_shape *shape,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** "one-hot", "linear", or a CSV file. */
assay_status assay_features_by_name(assay_features **out, const char *name,
                                    const assay_shape *shape,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** Fourier basis of order n on [0,1]^k (Konidaris et al. 2011), divided by
 *  sqrt((n+1)^k): cos(pi c.x) for all c in {0..n}^k. `x` is clipped. */
size_t assay_fourier_dim(size_t order, size_t num_inputs);
void assay_fourier(double *out, const double *x, size_t order,
                   size_t num_inputs);

/** Tile coding on [0,1]^k: `tilings` grids of `tiles`^k cells, each shifted by
 *  1/(tiles tilings); one tile of each is 1/sqrt(tilings), the rest 0. */
size_t assay_tiles_dim(size_t tilings, size_t tiles, size_t num_inputs);
void assay_tiles(double *out, const double *x, size_t tilings, size_t tiles,
                 size_t num_inputs);

#endif
