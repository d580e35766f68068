/* ring: glue */
/**
 * DP-VAPVI (Qiao and Wang), its non-private form VAPVI (Yin et al. 2022) and
 * PEVI (Jin et al. 2021) for problems with finitely many states and actions
 * and a public feature map phi(s, a) of norm at most 1 (algorithms/features.h).
 *
 * Statistics of step h, sums over trajectories of exact integers:
 *   variance  phi phi', phi V^2(s'), phi V(s')       (from the data D')
 *   value     psi psi', psi u                        (from the data D)
 * with V the value after the step, psi = phi/sigma and u = (r + V(s'))/sigma,
 * both rounded towards zero, sigma >= 1 the released deviation. Everything but
 * the trajectory's (s, a, s') is public or released already, and products of
 * integers are exact: rounding is no part of the sensitivity.
 *
 * Noise        phi V^2: 2 B1^2/rho0, phi V: 2 B2^2/rho0, psi u: 2 B3^2/rho0, a
 *              matrix: 1/(2 rho0) on and 1/(4 rho0) off the diagonal (that is
 *              (Z+Z')/sqrt2), where B1, B2, B3 bound |V^2|, |V| and |r+V|.
 * Sensitivity  a replaced trajectory with cosine c between its features and
 *              the old ones costs, in units of rho0 and at most,
 *              variance  2(1-c^2) + (1-c)       <= 3.125     at c = -1/4
 *              value     2(1-c^2) + (1-c)/2     <= 2.53125   at c = -1/8
 *              both      4(1-c^2) + 1.5(1-c)    <= 5.640625  at c = -3/16
 *              (centred: |c| for -c; the same maxima).
 * Split        D and D' hold different people: each part costs rho, and so do
 *              both together. Without a split both are charged jointly.
 * printed      B1 = H^2, B2 = B3 = H at every step.
 * stepwise     R = H-h (steps from 1): B1 = R^2, B2 = R, B3 = R+1; the last
 *              step has no variance statistics.
 * centred      V - R/2, (V - R/2)^2 - R^2/8 and r + V - (R+1)/2 instead, so
 *              that B1 = R^2/8, B2 = R/2, B3 = (R+1)/2. It needs constants in
 *              the span of the features, as every linear MDP has them.
 * free         sum phi phi', sum phi e_{s'}', sum phi r, released once: they do
 *              not depend on V. Squared l2 distance at most 8 per step, so
 *              sigma^2 = 4H/rho; regression without weights, the deviation
 *              enters the penalty.
 * Theorem      gaussian-vector-zcdp, compose-zcdp, parallel-zcdp: rho-zCDP.
 */
#ifndef ASSAY_ALGORITHMS_VAPVI_H
#define ASSAY_ALGORITHMS_VAPVI_H

#include <gmp.h>

#include "algorithms/counts.h"
#include "algorithms/features.h"

struct assay_custodian;

typedef enum assay_vapvi_statistics {
    ASSAY_VAPVI_PRINTED = 0,
    ASSAY_VAPVI_STEPWISE,
    ASSAY_VAPVI_CENTRED,
    ASSAY_VAPVI_FREE
} assay_vapvi_statistics;

/** Values of `extra` that the learner fills in: H^3 sqrt(d) as printed, and
 *  H sqrt(d), which is small against H once K is some hundreds. */
#define ASSAY_VAPVI_PRINTED_D (-1.0)
#define ASSAY_VAPVI_SMALL_D (-2.0)

typedef struct assay_vapvi_params {
    assay_vapvi_statistics statistics;
    int is_private;
    int variance_aware; /* 0: PEVI */
    mpq_t budget;       /* rho */
    double c;     /* penalty c sqrt(d) |phi|; PEVI as printed c d H |phi| */
    double extra; /* D: the penalty's diminishing part D/K */
    double ridge; /* lambda, and the floor of the eigenvalues */
    double shift; /* times sqrt(d/rho0): E/2, added to a noisy diagonal */
    int paper;
} assay_vapvi_params;

/** `paper`: c = 1, D = H^3 sqrt(d) (set by the learner), shift 1; otherwise
 *  c = 0.05, D = 0, shift 0. Ridge 1; not private, centred, rho = 1. */
void assay_vapvi_params_init(assay_vapvi_params *params, int paper);
void assay_vapvi_params_clear(assay_vapvi_params *params);
assay_status assay_vapvi_params_check(const assay_vapvi_params *params,
                                      const assay_shape *shape,
                                      const assay_features *features,
                                      assay_error *err) ASSAY_MUST_CHECK;

/**
 * Learns from D (`values`) and D' (`variances`; NULL: no split, D is used
 * twice). Rewards [h][s][a] in [0, 1] are public. `custodian` may be NULL if
 * not private. Ties go to the lowest action.
 */
assay_status assay_vapvi_learn(assay_policy **out, const assay_counts *values,
                               const assay_counts *variances,
                               const assay_features *features,
                               const double *rewards,
                               const assay_vapvi_params *params,
                               struct assay_custodian *custodian,
                               assay_error *err) ASSAY_MUST_CHECK;

/* ---- the statistics of one step (for the learner and the tests) --------- */

/** Ranges on the lattice 2^-bits: |V^2|, |V|, |r+V| stay within them. */
typedef struct assay_vapvi_range {
    unsigned bits; /* of values */
    int centred;
    uint32_t height;             /* R: V is in [0, R] */
    mpq_t square, value, target; /* B1, B2, B3 */
} assay_vapvi_range;

void assay_vapvi_range_init(assay_vapvi_range *range);
void assay_vapvi_range_clear(assay_vapvi_range *range);
/** Ranges of step h (from 0) of the horizon. */
void assay_vapvi_range_set(assay_vapvi_range *range,
                           assay_vapvi_statistics statistics, uint32_t horizon,
                           uint32_t h, unsigned bits);

/** Variances on the lattice: matrix diagonal, matrix off, square, value (the
 *  last is the target's for the value statistics). */
#define ASSAY_VAPVI_RUNS 4
typedef struct assay_vapvi_noise {
    size_t length[ASSAY_VAPVI_RUNS];
    mpq_t sigma2[ASSAY_VAPVI_RUNS];
} assay_vapvi_noise;

void assay_vapvi_noise_init(assay_vapvi_noise *noise);
void assay_vapvi_noise_clear(assay_vapvi_noise *noise);
void assay_vapvi_noise_variance(assay_vapvi_noise *noise, size_t d,
                                const assay_vapvi_range *range,
                                const mpq_t rho0);
void assay_vapvi_noise_value(assay_vapvi_noise *noise, size_t d,
                             const assay_vapvi_range *range, const mpq_t rho0);
/** Total length. */
size_t assay_vapvi_noise_len(const assay_vapvi_noise *noise);

/** d(d+1)/2 matrix entries (diagonal first), phi V^2, phi V. `value` is [s'] on
 *  the lattice, in [0, R]. */
void assay_vapvi_variance_sums(int64_t *out, const assay_counts *counts,
                               uint32_t h, const assay_features *features,
                               const int64_t *value,
                               const assay_vapvi_range *range);

/** The matrix, and psi u. `psi` is [s a][d], sigma [s a] at least 1, reward [s
 *  a] on the lattice. */
void assay_vapvi_value_sums(int64_t *out, const assay_counts *counts,
                            uint32_t h, size_t d, const int64_t *psi,
                            const double *sigma, const int64_t *reward,
                            const int64_t *value,
                            const assay_vapvi_range *range);

/** psi = phi/sigma rounded towards zero. */
void assay_vapvi_weigh(int64_t *psi, const assay_features *features,
                       const double *sigma);

/** Where the value-free statistics of step h are: [h][d] diagonals, [h]
 *  triangles, [h][s'][d] transitions, [h][d] rewards. */
typedef struct assay_vapvi_blocks {
    int64_t *diagonal, *off, *next, *reward;
} assay_vapvi_blocks;

assay_vapvi_blocks assay_vapvi_block(int64_t *sums, size_t d,
                                     const assay_shape *shape, uint32_t h);

/** Adds step h of the counts; reward [s a] on the lattice 2^-bits, at most 1.
 */
void assay_vapvi_free_sums(int64_t *sums, const assay_counts *counts,
                           uint32_t h, const assay_features *features,
                           const int64_t *reward);
/** sigma^2 = 4H/rho, so that 8 per step and H steps cost rho. */
void assay_vapvi_noise_free(assay_vapvi_noise *noise, size_t d,
                            const assay_shape *shape, unsigned bits,
                            const mpq_t rho);

/** Worst-case costs in units of rho0: 25/8, 81/32, 361/64. */
void assay_vapvi_worst(mpq_t out, int variance, int value);

#endif
