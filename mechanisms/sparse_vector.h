/* ring: glue */
/**
 * Sparse vector: which of a stream of queries lie above a threshold.
 *
 * The noisy threshold is drawn when the object is made; each question draws
 * fresh noise, compares and answers one bit. After `positives` answers "above"
 * it stops; assay_sparse_vector_reset charges again and goes on with a fresh
 * threshold. Questions may depend on earlier answers.
 *
 * Law      answer = [query + Y >= threshold + X], X discrete Laplace of
 *          `threshold_scale` drawn once, Y of `query_scale` drawn per question.
 * Theorem  sparse-vector: every query moves by at most `sensitivity` between
 *          neighbours; epsilon = sensitivity / threshold_scale +
 *          2 positives sensitivity / query_scale.
 *          sparse-vector-monotone: if between any two neighbours all queries
 *          move in the same direction, the factor 2 is not needed.
 * Errors   as mechanisms/release.h; ASSAY_BUDGET when all positives are used.
 */
#ifndef ASSAY_MECHANISMS_SPARSE_VECTOR_H
#define ASSAY_MECHANISMS_SPARSE_VECTOR_H

#include "mechanisms/custodian.h"

typedef struct assay_sparse_vector assay_sparse_vector;

assay_status assay_sparse_vector_new(assay_sparse_vector **out,
                                     assay_custodian *custodian,
                                     uint64_t positives, int monotone,
                                     const mpq_t threshold_scale,
                                     const mpq_t query_scale,
                                     const mpq_t sensitivity, const char *label,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** *above is 1 or 0; untouched on error. */
assay_status assay_sparse_vector_ask(assay_sparse_vector *sv, int *above,
                                     int64_t query, int64_t threshold,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** Charges once more: a fresh noisy threshold and all positives again. */
assay_status assay_sparse_vector_reset(assay_sparse_vector *sv,
                                       assay_error *err) ASSAY_MUST_CHECK;

/** How many more times it can answer "above". */
uint64_t assay_sparse_vector_left(const assay_sparse_vector *sv);

void assay_sparse_vector_free(assay_sparse_vector *sv);

#endif
