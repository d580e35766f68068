/* ring: glue */
/**
 * UCRL-VTR and LDP-UCRL-VTR (Liao, He and Gu) for tabular problems as linear
 * mixtures: phi(s'|s,a) is the unit vector of (s,a,s') divided by sqrt S, so
 * ||phi_V|| <= max V. All matrices are block diagonal, one S x S block for each
 * (h, s, a); entries outside the blocks are zero by construction.
 *
 * Sides    The user gets the public model, plans, acts, and turns her own
 *          episode into integers (assay_vtr_user_*). The integers pass a local
 *          report. The server (assay_vtr_server_*) only adds up reports and
 *          refreshes the model: no function of the server takes an episode.
 * Printed  the statistics phi phi' and phi V(s') for h < H (the last step has
 *          no value behind it), V clipped to [0, H-h] on both sides: squared
 *          l2 sensitivity 4.5 (H-h)^4 for each h, worst at c = -1/2 where c is
 *          the cosine between two users' features.
 * Counts   one-hot (s,a,s') counts for h < H: l2^2 = l1 = 2 (H-1); the server
 *          builds both statistics from them.
 * Lattice  step 2^-lattice_bits; rounding and floating point are paid for in
 *          the sensitivity: (2^bits D + 2 sqrt m)^2, D^2 = 4.5 sum (H-h)^4, m
 *          the number of entries of one user that can differ from zero.
 * Trust    local: Theorem gaussian-vector-zcdp (or laplace-vector for counts).
 */
#ifndef ASSAY_ALGORITHMS_VTR_H
#define ASSAY_ALGORITHMS_VTR_H

#include <gmp.h>

#include "algorithms/mdp.h"
#include "algorithms/online.h"
#include "algorithms/privatizer.h"

typedef enum assay_vtr_statistics {
    ASSAY_VTR_PRINTED = 0,
    ASSAY_VTR_COUNTS
} assay_vtr_statistics;

typedef struct assay_vtr_params {
    assay_vtr_statistics statistics;
    assay_noise noise; /* none: UCRL-VTR; laplace only with counts */
    mpq_t budget;      /* rho or epsilon */
    uint64_t episodes;
    unsigned lattice_bits; /* of the printed statistics, at most 16 */
    double bonus;          /* c: times the width of the confidence set */
    double shift;          /* times 2 sigma sqrt(S k), added to the diagonal */
    double ridge;          /* lambda */
} assay_vtr_params;

/** Counts, no noise, 10000 episodes, lattice_bits 8, bonus 0.1, shift 1. */
void assay_vtr_params_init(assay_vtr_params *params);
void assay_vtr_params_clear(assay_vtr_params *params);
assay_status assay_vtr_params_check(const assay_vtr_params *params,
                                    const assay_shape *shape,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** Entries of one user's report. */
size_t assay_vtr_report_len(const assay_vtr_params *params,
                            const assay_shape *shape);

/** Squared l2 sensitivity of a report on the lattice (Gaussian), or l1
 *  (Laplace, counts only), exact. */
void assay_vtr_sensitivity(mpq_t out, const assay_vtr_params *params,
                           const assay_shape *shape);

/* ---- what everybody may see -------------------------------------------- */

/** theta and the inverse of Sigma in blocks: prediction is the inner product
 *  of theta with phi_V, uncertainty is beta ||Sigma^{-1/2} phi_V||. */
typedef struct assay_vtr_model {
    assay_shape shape;
    double *theta;   /* [h][s][a][s'], h < H-1          */
    double *inverse; /* [h][s][a][s'][s''], printed only */
    double *visits;  /* [h][s][a], counts only           */
    double beta;     /* c times the width, before (H-h)  */
    double ridge;
    assay_vtr_statistics statistics;
} assay_vtr_model;

/* ---- the user's side ---------------------------------------------------- */

typedef struct assay_vtr_user assay_vtr_user;

assay_status assay_vtr_user_new(assay_vtr_user **out, const assay_shape *shape,
                                const assay_vtr_params *params,
                                assay_error *err) ASSAY_MUST_CHECK;
void assay_vtr_user_free(assay_vtr_user *user);

/** Optimistic values from the model, clipped to [0, H-h]. */
void assay_vtr_user_plan(assay_vtr_user *user, const assay_vtr_model *model,
                         const double *rewards);
const assay_policy *assay_vtr_user_policy(const assay_vtr_user *user);

/** The user's own episode as lattice integers (report_len of them). */
void assay_vtr_user_statistics(int64_t *out, assay_vtr_user *user,
                               const assay_online_step *steps);

/* ---- the server's side -------------------------------------------------- */

typedef struct assay_vtr_server assay_vtr_server;

assay_status assay_vtr_server_new(assay_vtr_server **out,
                                  const assay_shape *shape,
                                  const assay_vtr_params *params,
                                  assay_error *err) ASSAY_MUST_CHECK;
void assay_vtr_server_free(assay_vtr_server *server);

/** Adds one (noisy) report. */
void assay_vtr_server_add(assay_vtr_server *server, const int64_t *report);

/** The model of all reports so far. */
const assay_vtr_model *assay_vtr_server_model(assay_vtr_server *server);

#endif
