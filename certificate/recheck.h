/* ring: glue */
/**
 * The second implementation: every number of a certificate, derived again from
 * its ledger with GMP and MPFR alone. Nothing here includes or calls
 * accountant/, and nothing here ever states a guarantee: it only agrees or not.
 */
#ifndef ASSAY_CERTIFICATE_RECHECK_H
#define ASSAY_CERTIFICATE_RECHECK_H

#include <gmp.h>
#include <jansson.h>

/** A canonical rational, "7/3" or "7" (negative numbers are refused). 0 if the
 *  text is anything else. */
int assay_recheck_number(mpq_t out, const char *text);

/** Any number of the formats: "1e-5", "0.5", "2/4", "7". */
int assay_recheck_decimal(mpq_t out, const char *text);

/** The cost of one run of an event (its JSON) and the theorems behind it. */
typedef struct assay_recheck_price {
    int has_epsilon; /* epsilon-DP, exactly (delta 0) */
    mpq_t epsilon;
    int has_rho;
    mpq_t rho;
    int inexact; /* a logarithm was rounded up: relative error below 2^-100 */
    const char *ids[4];
    int num_ids;
} assay_recheck_price;

void assay_recheck_price_init(assay_recheck_price *price);
void assay_recheck_price_clear(assay_recheck_price *price);
/** 1 if this implementation prices the event, else 0. */
int assay_recheck_event(assay_recheck_price *out, const json_t *event,
                        int zcdp);

/** 1 if `stated` is the next decimal of 15 or 16 significant digits at or
 *  above `exact`. */
int assay_recheck_is_rounded(const mpq_t stated, const mpq_t exact);

/** 1 if `epsilon` is the epsilon of rho-zCDP at delta through the order alpha,
 *  rounded up in this way. */
int assay_recheck_epsilon(const mpq_t epsilon, const mpq_t rho,
                          const mpq_t delta, const mpq_t alpha);
/** The same for delta at epsilon. */
int assay_recheck_delta(const mpq_t delta, const mpq_t rho, const mpq_t epsilon,
                        const mpq_t alpha);

/** Appends a finding for each part of the predicate: ledger, deployment,
 *  derivation, guarantee, budget, profile, texts. */
void assay_recheck(json_t *findings, const json_t *predicate);

/** Appends the findings about "audit". */
void assay_recheck_audit(json_t *findings, const json_t *predicate);

#endif
