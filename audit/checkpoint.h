/* ring: glue */
/**
 * Checkpoints of a long audit. The events are fitted again on resuming (the
 * same seed gives the same events); the checkpoint holds the counts and a
 * digest of events and claim, and a checkpoint of another audit is refused.
 */
#ifndef ASSAY_AUDIT_CHECKPOINT_H
#define ASSAY_AUDIT_CHECKPOINT_H

#include "audit/certify.h"

/** Nothing happens if `path` is NULL or (load) the file does not exist. */
assay_status assay_checkpoint_load(const char *path, assay_certify *z,
                                   const assay_audit_options *options,
                                   uint64_t *at, char *examples,
                                   assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_checkpoint_save(const char *path, const assay_certify *z,
                                   const assay_audit_options *options,
                                   uint64_t at, const char *examples,
                                   assay_error *err) ASSAY_MUST_CHECK;

#endif
