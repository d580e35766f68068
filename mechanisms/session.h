/* ring: glue */
/**
 * A session: a run of adaptive Gaussian releases that is charged once, before
 * the first of them.
 *
 * Parts    persons are in `num_parts` parts by a public rule (by their place in
 *          the data, never by its content); one draw reads one part. Every
 *          part may cost at most `cost2`.
 * Charge   rho = cost2 / 2, when the session is made.
 * Theorem  gaussian-vector-zcdp and zcdp-filter, applied to every single pair
 *          of neighbours: two such datasets differ in one part, releases of
 *          the other parts cost them nothing, and along every branch the costs
 *          of their own part sum to at most cost2 / 2. The accountant books it
 *          as a parallel event.
 * Pay      before drawing, a learner says what the next `num_draws` draws from
 *          a part cost together: `cost2` bounds sum_i difference_i^2 /
 *          sigma2_i over all neighbours, over these draws jointly. What would
 *          pass the allowance is refused (ASSAY_BUDGET): a filter.
 * Law      independent discrete Gaussians, P[x] ~ exp(-x^2 / (2 sigma2)).
 * Errors   as mechanisms/release.h; ASSAY_INVALID for a draw that nobody paid.
 *          After a failure of the tape the session draws no more.
 */
#ifndef ASSAY_MECHANISMS_SESSION_H
#define ASSAY_MECHANISMS_SESSION_H

#include "mechanisms/custodian.h"

typedef struct assay_session assay_session;

/** `length` entries in a row with one variance. */
typedef struct assay_noise_run {
    size_t length;
    mpq_srcptr sigma2;
} assay_noise_run;

assay_status assay_session_new(assay_session **out, assay_custodian *custodian,
                               size_t num_parts, const mpq_t cost2,
                               const char *label,
                               assay_error *err) ASSAY_MUST_CHECK;

assay_status assay_session_pay(assay_session *session, size_t part,
                               const mpq_t cost2, unsigned num_draws,
                               assay_error *err) ASSAY_MUST_CHECK;

/** out = clamp(in + noise), the runs one behind another; runs of length 0 are
 *  skipped. `out` and `in` may be the same array. */
assay_status assay_session_draw(assay_session *session, size_t part,
                                int64_t *out, const int64_t *in,
                                const assay_noise_run *runs, size_t num_runs,
                                assay_error *err) ASSAY_MUST_CHECK;

void assay_session_free(assay_session *session);

#endif
