/* ring: glue */
/**
 * Guarantees: what a list of events amounts to.
 *
 * Every epsilon and delta here is an upper bound: an exact rational that is
 * rounded towards more loss, with the theorems that it rests on. A lower bound
 * on the same quantity, where a method has one, says how tight it is.
 */
#ifndef ASSAY_ACCOUNTANT_GUARANTEE_H
#define ASSAY_ACCOUNTANT_GUARANTEE_H

#include <gmp.h>
#include <jansson.h>

#include "accountant/event.h"

#define ASSAY_MAX_THEOREMS 24
#define ASSAY_MAX_METHODS 16
#define ASSAY_METHOD_LEN 24

/** One method's answer. */
typedef struct assay_bound {
    char method[ASSAY_METHOD_LEN]; /* "zcdp", "renyi", "pld", ... */
    mpq_t epsilon;                 /* upper bound */
    mpq_t delta;                   /* upper bound */
    mpq_t epsilon_lower;           /* certified lower bound on the best epsilon
                                      of the same dominating pair; */
    mpq_t delta_lower;
    int has_lower;
    mpq_t rho;   /* zcdp: the exact sum */
    mpq_t alpha; /* zcdp, renyi: the order used */
    mpq_t value; /* renyi: upper bound on the divergence at that order */
    int num_theorems;
    const char *theorems[ASSAY_MAX_THEOREMS]; /* ids, static text */
    int assumed; /* rests on an event marked assumed */
    double seconds;
} assay_bound;

typedef struct assay_guarantee {
    assay_neighbours neighbours;
    char unit[ASSAY_UNIT_LEN];
    int fixed_epsilon; /* 1: epsilon was given and delta is the answer */
    int num_bounds;    /* best first */
    assay_bound bounds[ASSAY_MAX_METHODS];
} assay_guarantee;

/** What to compute. Zero everywhere is a good choice. */
typedef struct assay_account_options {
    const char *method; /* only this one; NULL: all that apply */
    double max_gap;     /* relative gap a privacy-loss distribution aims at */
    int cheap;          /* 1: only methods that take milliseconds */
    int lower;          /* 1: lower bounds too */
} assay_account_options;

void assay_guarantee_init(assay_guarantee *out);
void assay_guarantee_clear(assay_guarantee *out);

/**
 * The smallest epsilon at `delta` that each method can prove for the adaptive
 * composition of all events; best first. `options` may be NULL. `out` is
 * initialised by the caller and replaced.
 * Errors  ASSAY_INVALID (delta outside [0,1)), ASSAY_UNSUPPORTED (no method
 *         covers the list; the message names the event).
 */
assay_status assay_account(assay_guarantee *out, const assay_event_list *events,
                           const mpq_t delta,
                           const assay_account_options *options,
                           assay_error *err) ASSAY_MUST_CHECK;

/** The smallest delta at `epsilon`, in the same way. */
assay_status assay_account_delta(assay_guarantee *out,
                                 const assay_event_list *events,
                                 const mpq_t epsilon,
                                 const assay_account_options *options,
                                 assay_error *err) ASSAY_MUST_CHECK;

/**
 * The exact zCDP parameter of the list: the sum of count * rho(event).
 * Theorems  compose-zcdp, gaussian-vector-zcdp, pure-to-zcdp, group-zcdp.
 * Errors    ASSAY_UNSUPPORTED if an event has no zCDP theorem.
 */
assay_status assay_account_rho(mpq_t out, const assay_event_list *events,
                               assay_error *err) ASSAY_MUST_CHECK;

/**
 * delta of rho-zCDP at epsilon through the order alpha, rounded up:
 * exp((alpha-1)(alpha rho - epsilon)) / (alpha-1) * (1 - 1/alpha)^alpha.
 * Theorem  zcdp-to-dp.
 */
assay_status assay_zcdp_delta(mpq_t delta, const mpq_t rho, const mpq_t epsilon,
                              const mpq_t alpha,
                              assay_error *err) ASSAY_MUST_CHECK;
/** The smallest epsilon at delta, and the order that shows it. */
assay_status assay_zcdp_epsilon(mpq_t epsilon, mpq_t alpha, const mpq_t rho,
                                const mpq_t delta,
                                assay_error *err) ASSAY_MUST_CHECK;

/** {"delta", "epsilon", "method", "methods": [...]}; numbers as text. */
assay_status assay_guarantee_to_json(json_t **out, const assay_guarantee *g,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** A decimal of `digits` digits, rounded up, in fresh memory: free() it. */
char *assay_bound_text(const mpq_t value, int digits);

#endif
