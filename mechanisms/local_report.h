/* ring: glue */
/**
 * Local reports: every person adds noise to her own vector before it leaves
 * her, once.
 *
 * Charge       once, when the reporter is made: each person's report is a
 *              function of her data alone and nobody reports twice, so all
 *              reports together cost what one does [Theorem: parallel].
 * Sensitivity  between any two people's vectors: l1 for Laplace, squared l2
 *              for Gaussian, in units of the vector; the noise likewise.
 * Law          independent discrete Laplace or Gaussian noise per entry.
 * Theorem      laplace-vector, gaussian-vector-zcdp.
 * Errors       as mechanisms/release.h; ASSAY_INVALID after `max_reports`. A
 *              report that fails writes nothing, and none follows it.
 */
#ifndef ASSAY_MECHANISMS_LOCAL_REPORT_H
#define ASSAY_MECHANISMS_LOCAL_REPORT_H

#include "mechanisms/custodian.h"

typedef struct assay_local_reporter assay_local_reporter;

assay_status assay_local_reporter_new_laplace(
    assay_local_reporter **out, assay_custodian *custodian, size_t dimension,
    uint64_t max_reports, const mpq_t scale, const mpq_t sensitivity,
    const char *label, assay_error *err) ASSAY_MUST_CHECK;

assay_status assay_local_reporter_new_gaussian(
    assay_local_reporter **out, assay_custodian *custodian, size_t dimension,
    uint64_t max_reports, const mpq_t sigma2, const mpq_t sensitivity2,
    const char *label, assay_error *err) ASSAY_MUST_CHECK;

/** One person's vector in, her noisy report out; they may be the same array. */
assay_status assay_local_report(assay_local_reporter *reporter, int64_t *out,
                                const int64_t *in,
                                assay_error *err) ASSAY_MUST_CHECK;

/** Wipes and frees. */
void assay_local_reporter_free(assay_local_reporter *reporter);

#endif
