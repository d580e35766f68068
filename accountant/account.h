/* ring: glue */
/**
 * Inside the accountant: prices of single events, and the methods that combine
 * them. Private to the room.
 */
#ifndef ASSAY_ACCOUNTANT_ACCOUNT_H
#define ASSAY_ACCOUNTANT_ACCOUNT_H

#include "accountant/guarantee.h"

/** The question: one of epsilon and delta is given in `target`. */
typedef struct assay_query {
    const assay_event_list *events;
    int fixed_epsilon;
    mpq_srcptr target;
    const assay_account_options *options;
    int assumed; /* some event is the user's word */
} assay_query;

/** ASSAY_UNSUPPORTED: the method does not apply to this list (the message names
 *  the event). `out` is initialised; its method name is set. */
typedef assay_status assay_method(assay_bound *out, const assay_query *query,
                                  assay_error *err);

assay_method assay_method_basic;
assay_method assay_method_advanced;
assay_method assay_method_zcdp;
assay_method assay_method_gaussian;
assay_method assay_method_renyi;
assay_method assay_method_pld;
assay_method assay_method_lattice;

/** Plain Gaussian noise (or nothing): the closed form covers it. */
int assay_event_is_gaussian(const assay_event *event);

/** The price of one run of an event (count 1), group and coin included.
 *  has_pure: it is (epsilon, delta)-DP. has_rho: it is rho-zCDP except with
 *  probability rho_delta. Both may hold. All are upper bounds. */
typedef struct assay_cost {
    int has_pure;
    mpq_t epsilon;
    mpq_t delta;
    int has_rho;
    mpq_t rho;
    mpq_t rho_delta;
    const char *pure_id; /* the theorem behind epsilon */
    const char *rho_id;  /* the theorem behind rho */
    const char *pure_id2;
    const char *rho_id2;
} assay_cost;

void assay_cost_init(assay_cost *cost);
void assay_cost_reset(assay_cost *cost);
void assay_cost_clear(assay_cost *cost);
assay_status assay_event_cost(assay_cost *out, const assay_event *event,
                              assay_neighbours neighbours,
                              assay_error *err) ASSAY_MUST_CHECK;

/** The smallest delta of rho-zCDP at epsilon, and the order that shows it. */
assay_status assay_zcdp_best_delta(mpq_t delta, mpq_t alpha, const mpq_t rho,
                                   const mpq_t epsilon,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** epsilon at delta from a Renyi divergence of at most `value` at one order. */
assay_status assay_renyi_epsilon(mpq_t epsilon, const mpq_t value,
                                 const mpq_t delta, const mpq_t alpha,
                                 assay_error *err) ASSAY_MUST_CHECK;

void assay_bound_init(assay_bound *bound, const char *method);
void assay_bound_clear(assay_bound *bound);
/** Adds a theorem id once; NULL is fine. */
void assay_bound_cite(assay_bound *bound, const char *id);

/** The theorem that prices Gaussian noise; NULL for anything else. */
const char *assay_gaussian_id(const assay_event *event);
/** D2 / (2 sigma2), not in lowest terms (assay_sum_add does not need them); 0
 *  and untouched unless it is plain Gaussian noise for one person. */
int assay_gaussian_rho_fast(mpq_t out, const assay_event *event);

/** A sum that stays short: exact until its denominator passes 2^14 bits; from
 *  then on it and every further term are rounded up to multiples of 2^-512. */
typedef struct assay_sum {
    mpq_t total;
    mpq_t chunk;
    mpq_t small;
    mpz_t fixed; /* in units of 2^-512 */
    mpz_t step;  /* scratch */
    int rounded;
} assay_sum;
void assay_sum_init(assay_sum *sum);
void assay_sum_add(assay_sum *sum, const mpq_t term, uint64_t count);
void assay_sum_get(mpq_t out, assay_sum *sum);
void assay_sum_clear(assay_sum *sum);

#endif
