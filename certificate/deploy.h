/* ring: glue */
/**
 * Running a deployment: the manifest's learner or releases, through a custodian
 * on a ledger.
 */
#ifndef ASSAY_CERTIFICATE_DEPLOY_H
#define ASSAY_CERTIFICATE_DEPLOY_H

#include "certificate/manifest.h"
#include "mechanisms/custodian.h"

/**
 * Runs it and writes the outputs into `folder`; appends their file names to
 * the array `outputs` (also on error: what was written by then).
 * Errors  ASSAY_BUDGET if the ledger refuses a charge; nothing of that release
 *         is written.
 */
assay_status assay_deploy(json_t *outputs, const assay_manifest *manifest,
                          const char *folder, assay_custodian *custodian,
                          assay_error *err) ASSAY_MUST_CHECK;

/** The kinds. */
assay_status assay_deploy_offline(json_t *outputs,
                                  const assay_manifest *manifest,
                                  const char *folder,
                                  assay_custodian *custodian,
                                  assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_deploy_online(json_t *outputs,
                                 const assay_manifest *manifest,
                                 const char *folder, assay_custodian *custodian,
                                 assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_deploy_releases(json_t *outputs,
                                   const assay_manifest *manifest,
                                   const char *folder,
                                   assay_custodian *custodian,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** A statistic of the manifest's CSV file (mechanisms/query.h), as JSON: a new
 *  reference. */
assay_status assay_deploy_query(json_t **out, const assay_manifest *manifest,
                                const assay_yaml *release,
                                assay_custodian *custodian,
                                assay_error *err) ASSAY_MUST_CHECK;

/** FOLDER/NAME in fresh memory. */
char *assay_deploy_path(const char *folder, const char *name);

#endif
