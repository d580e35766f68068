/* ring: glue */
/**
 * The guarantee as a Coq theorem, from the certificate alone.
 *
 * The file states the ledger, the neighbour relation, epsilon and delta, and
 * proves: every process whose releases follow the ledger is (epsilon, delta)-DP
 * (theorems releases-dp and releases-pure of proofs/coq/rules). Side
 * conditions are closed by lra and coq-interval. Discrete Gaussian and Laplace
 * lines carry their own proof; other mechanisms enter as "proved elsewhere",
 * which the file says line by line. For DP-APVI a corollary says that the visit
 * counts of trajectories meet the theorem's hypothesis.
 */
#ifndef ASSAY_CERTIFICATE_COQFILE_H
#define ASSAY_CERTIFICATE_COQFILE_H

#include <jansson.h>

#include "core/error.h"

/** The text of guarantee.v in fresh memory.
 *  Errors  ASSAY_UNSUPPORTED: an event that no line of the theory expresses. */
assay_status assay_coq_text(char **out, const json_t *predicate,
                            assay_error *err) ASSAY_MUST_CHECK;

/** Writes it to a scratch folder and runs coqc against SOURCE/build/coq, which
 *  is compiled first if it is not there (minutes).
 *  Errors  ASSAY_REFUTED: coqc does not accept it; ASSAY_UNSUPPORTED: no coqc
 *          or no theory. */
assay_status assay_coq_check(const json_t *predicate, const char *source,
                             assay_error *err) ASSAY_MUST_CHECK;

#endif
