/* ring: glue */
/**
 * Policy evaluation with linear features: GTD2, LSTD, WIS-LSTD, GPOPE (Xie,
 * Thomas and Miklau) and, in tabular problems, the output perturbation DP-LSW
 * and DP-LSL (Balle, Gomrokchi and Precup 2016).
 *
 * Per episode of length tau, with importance weights w_t,
 *   A = (1/tau) sum w_t phi_t (phi_t - gamma phi_{t+1})', b = (1/tau) sum w_t
 *   phi_t r_t, C = (1/tau) sum phi_t phi_t'
 * (or a public length instead of tau), and MSPBE(theta) = |E A theta - E b|^2
 * in the norm of (E C)^{-1}.
 */
#ifndef ASSAY_ALGORITHMS_OPE_H
#define ASSAY_ALGORITHMS_OPE_H

#include <gmp.h>

#include "algorithms/episodes.h"

struct assay_custodian;

/** The mean A, b, C of episodes, or of a model: d x d, d, d x d. */
typedef struct assay_ope_model {
    size_t dim;
    double *a, *b, *c;
} assay_ope_model;

assay_status assay_ope_model_new(assay_ope_model **out, size_t dim,
                                 assay_error *err) ASSAY_MUST_CHECK;
void assay_ope_model_free(assay_ope_model *model);

/** Means over episodes. */
assay_status assay_ope_model_fit(assay_ope_model **out,
                                 const assay_episodes *episodes, double gamma,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** Exact expectations for the chain of n states (assay_episodes_chain): times
 *  in states are exchangeable, so E[time in s / tau] = 1/k for k states ahead;
 *  E[1/tau] is a sum over negative binomials. With a fixed length a state
 *  that is reached has 2 visits and 1 advance on average. */
assay_status assay_ope_model_chain(assay_ope_model **out, size_t num_states,
                                   double gamma, double fixed_length,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** (A theta - b)' C^{-1} (A theta - b); eigenvalues of C below 1e-9 of the
 *  largest are left out. */
assay_status assay_ope_mspbe(double *out, const assay_ope_model *model,
                             const double *theta,
                             assay_error *err) ASSAY_MUST_CHECK;

/**
 * LSTD: A theta = b (plus ridge times I). Without weights it is on-policy LSTD,
 * with them WIS-LSTD(0): the normaliser of weighted importance sampling scales
 * A and b alike and cancels. Not private.
 */
assay_status assay_lstd(double *theta, const assay_ope_model *model,
                        double ridge, assay_error *err) ASSAY_MUST_CHECK;

/**
 * Step sizes: beta, or beta c/(c + i) with c a tenth of the steps. The dual
 * variable w = C^{-1}(A theta - b) may have its own: it converges at the rate
 * of C, theta at that of A'C^{-1}A, which is far smaller when gamma is near 1.
 */
typedef struct assay_step_size {
    double beta;
    int diminishing;
    double dual; /* beta of w; 0: the same */
} assay_step_size;

/** GTD2: `num_steps` episodes drawn with a seed. Not private. */
assay_status assay_gtd2(double *theta, const assay_episodes *episodes,
                        double gamma, assay_step_size size, uint64_t num_steps,
                        uint64_t seed, assay_error *err) ASSAY_MUST_CHECK;

/**
 * GPOPE. The gradient of an episode is rounded to the lattice and clipped to
 * norm h by the integer kernel, whatever the weights are: they are accounted
 * in h. Noise h sigma per entry.
 *
 * one      one episode a step, as printed. Two episodes may differ by 2h, so
 *          the event has sensitivity 2h and is sampled one of m (replace-one,
 *          m public).
 * Poisson  the sum over a Poisson sample of rate 2^-rate_bits: an episode that
 *          is not there contributes 0, so the distance is h (add-remove; the
 *          rate is public, m is not used).
 */
typedef struct assay_gpope_params {
    int poisson;
    unsigned rate_bits;
    uint64_t num_steps;
    double gamma;
    assay_step_size size;
    mpq_t clip;  /* h */
    mpq_t sigma; /* noise multiplier */
} assay_gpope_params;

/** Poisson, 1000 steps, rate 2^-10, gamma 0.99, beta 0.1, h 0.01, sigma 1. */
void assay_gpope_params_init(assay_gpope_params *params);
void assay_gpope_params_clear(assay_gpope_params *params);

assay_status assay_gpope(double *theta, const assay_episodes *episodes,
                         const assay_gpope_params *params,
                         struct assay_custodian *custodian,
                         assay_error *err) ASSAY_MUST_CHECK;

/** The smallest sigma (a multiple of 1/128, at most 4096) whose run of
 *  `population` people the accountant shows to be (epsilon, delta)-DP by the
 *  method (NULL: the best). A ledger is a filter and charges by "renyi". */
assay_status assay_gpope_calibrate(mpq_t sigma,
                                   const assay_gpope_params *params,
                                   uint64_t population, const mpq_t epsilon,
                                   const mpq_t delta, const char *method,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** The clipped gradient of one episode in steps of 2^-step_bits: 2 dim
 *  entries, norm at most `radius` steps. `work` has 2 dim doubles. */
void assay_gpope_gradient(int64_t *out, double *work,
                          const assay_episodes *episodes, size_t episode,
                          double gamma, const double *x, long step_bits,
                          int64_t radius);

/** Output perturbation; ASSAY_LSL has the regulariser lambda. */
typedef enum assay_output_kind { ASSAY_LSW = 0, ASSAY_LSL } assay_output_kind;

typedef struct assay_output_params {
    assay_output_kind kind;
    double gamma,
        max_reward; /* |r| <= max_reward, public; rewards are clipped */
    double lambda;  /* above |rho|_inf = 1 */
    mpq_t epsilon, delta;
} assay_output_params;

/**
 * DP-LSW or DP-LSL with one-hot features and unit weights (vectors of the
 * episodes are the states). sigma follows the data by the smooth sensitivity of
 * the paper and is rounded up to a power of 2 of its square.
 * Status  assumed: the theorem is the paper's, evaluated in doubles; the event
 *         is charged as (epsilon, delta) with that mark.
 */
assay_status assay_output_evaluate(double *theta, double *sigma,
                                   const assay_episodes *episodes,
                                   const assay_output_params *params,
                                   struct assay_custodian *custodian,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** sigma for visit counts X [dim] of m episodes, before rounding. */
double assay_output_sigma(const assay_output_params *params,
                          const uint64_t *visits, size_t dim, uint64_t m);

#endif
