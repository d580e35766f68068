/* ring: glue */
/**
 * From counts to lower bounds on a privacy parameter. Theorems and proofs:
 * docs/audit.md. Every function here is a statement about data that were not
 * used to choose the event.
 */
#ifndef ASSAY_AUDIT_BOUND_H
#define ASSAY_AUDIT_BOUND_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

typedef enum assay_claim_kind {
    ASSAY_CLAIM_EPS = 0, /* (epsilon, delta)-DP           */
    ASSAY_CLAIM_RHO = 1, /* rho-zCDP                      */
    ASSAY_CLAIM_MU = 2   /* mu-Gaussian DP (whole f-curve) */
} assay_claim_kind;

typedef struct assay_claim {
    assay_claim_kind kind;
    double value; /* epsilon, rho or mu */
    double delta; /* 0 unless EPS */
} assay_claim;

/** "eps=1,delta=1e-6", "rho=0.5", "mu=1". A decimal is read exactly and then
 *  rounded up, so a refutation is one of the claim as written. */
assay_status assay_claim_parse(assay_claim *out, const char *text,
                               assay_error *err) ASSAY_MUST_CHECK;
/** "eps=1,delta=1e-06" into `out`. */
void assay_claim_text(char *out, size_t len, const assay_claim *claim);

/** How often an event happened: `k` of `n` runs on each side. The first side
 *  is the one where the event should be more likely. */
typedef struct assay_audit_counts {
    uint64_t k1, n1, k2, n2;
} assay_audit_counts;

/**
 * The parameter that an event with probabilities p1 and p2 forces:
 * ln((p1 - delta) / p2); Phi^-1(p1) - Phi^-1(p2); the largest
 * D_alpha(p1 || p2) / alpha of the two-point laws. Grows with p1, falls with
 * p2 (where p1 >= p2); 0 if nothing is forced; +inf possible.
 */
double assay_claim_forced(const assay_claim *claim, double p1, double p2);

/**
 * Clopper-Pearson on both sides at level/2 each (union bound).
 * Law     P[bound > true parameter] <= level.
 */
double assay_bound_union(const assay_claim *claim,
                         const assay_audit_counts *counts, double level);

/**
 * The joint bound: the two exact tail probabilities are independent and
 * superuniform, so their weighted normal scores w z1 + sqrt(1-w^2) z2 exceed
 * z(level) with probability at most `level`; the bound is the smallest forced
 * parameter over all (p1, p2) that survive. 36 % less noise than the union.
 *
 * Law     P[bound > true parameter] <= level, if w in (0,1) was fixed before
 *         the counts were seen.
 */
double assay_bound_joint(const assay_claim *claim,
                         const assay_audit_counts *counts, double level,
                         double w);

/**
 * The joint bound of one or two stages. The second stage's event may depend on
 * all rows of the first: given those its score is still stochastically below a
 * normal variable, so v1 Z1 + v2 Z2 is, with v fixed by the numbers of runs.
 *
 * Law     P[bound > true parameter] <= level.
 */
double assay_bound_stages(const assay_claim *claim,
                          const assay_audit_counts *counts, const double *w,
                          size_t num, double level);

/** The weight that minimises the expected noise at probabilities p1, p2. */
double assay_bound_weight(double p1, uint64_t n1, double p2, uint64_t n2);

/** The joint bound by the arcsine approximation: for choosing, not for
 *  reporting. Counts may be expected values. */
double assay_bound_fast(const assay_claim *claim, double k1, double n1,
                        double k2, double n2, double level);

/**
 * The smallest parameter above the claim for which a run of n runs a side
 * finds the violation with probability 95 %, were the attacker to hold an
 * event of that parameter; minimised over the event's mass (under the second
 * side), which is written to *mass. +inf if no such event.
 */
double assay_bound_detection_limit(const assay_claim *claim, uint64_t n,
                                   double level, double *mass);

/* ---- anytime-valid test ------------------------------------------------ */

/** Joint counts of paired runs (left in event, right in event). */
typedef struct assay_pairs {
    uint64_t both, left, right, none;
} assay_pairs;

/**
 * Log of the wealth of a mixture of bettors against p1 <= e^eps p2 + delta,
 * rounded down. Each bettor holds the product of 1 + lambda x_i,
 * x = 1{left} - e^eps 1{right} - delta: a nonnegative supermartingale under
 * the claim.
 *
 * Law     P[wealth ever >= 1/level] <= level under the claim (Ville).
 */
double assay_bound_log_wealth(double eps, double delta,
                              const assay_pairs *pairs);

/** The largest epsilon that the wealth refutes at `level`, at whatever time
 *  the runs stopped; 0 if none. */
double assay_bound_anytime(double delta, const assay_pairs *pairs,
                           double level);

/* ---- Renyi profile ----------------------------------------------------- */

/**
 * Lower bound on rho for rho-zCDP from a score cut into bins. For a function g
 * that is constant on bins, D_alpha >= alpha/(alpha-1) ln E_P exp((alpha-1) g)
 * - ln E_Q exp(alpha g); the two means are bounded by Maurer and Pontil's
 * empirical Bernstein inequality, each at level/2.
 *
 * Law     P[bound > true rho] <= level, if alpha, g and the bins were fixed
 *         before the counts were seen.
 */
double assay_bound_renyi(const double *g, const uint64_t *left,
                         const uint64_t *right, size_t num_bins, double alpha,
                         double level);

/* ---- one-run audit ------------------------------------------------------ */

/** The p-value of `v` right guesses out of `r` (m canaries) against
 *  (eps, delta)-DP: Steinke, Nasr and Jagielski 2023, Theorem 5.2. */
double assay_bound_one_run_p(uint64_t m, uint64_t r, uint64_t v, double eps,
                             double delta);
/** The largest epsilon with p-value at most `level`; 0 if none. */
double assay_bound_one_run(uint64_t m, uint64_t r, uint64_t v, double delta,
                           double level);

#endif
