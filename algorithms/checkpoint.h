/* ring: glue */
/**
 * Checkpoint files: a JSON header and an array of doubles.
 *
 * Format   "ASSAYCP1", the header's length (8 bytes, little endian), the
 *          header, the doubles (IEEE 754, little endian), a SHA-256 of all
 *          before it. The header has "kind", "version" and "num_values" beside
 *          what the caller puts there.
 * Errors   ASSAY_CORRUPT: cut short, changed, or not a checkpoint;
 *          ASSAY_INVALID: another kind or version, NaN or infinity among the
 *          values; ASSAY_IO.
 */
#ifndef ASSAY_ALGORITHMS_CHECKPOINT_H
#define ASSAY_ALGORITHMS_CHECKPOINT_H

#include <jansson.h>
#include <stddef.h>

#include "algorithms/network.h"
#include "core/error.h"

#define ASSAY_CHECKPOINT_VERSION 1

/** `header` is borrowed and gets the three fields. */
assay_status assay_checkpoint_write(const char *path, const char *kind,
                                    json_t *header, const double *values,
                                    size_t num_values,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** A new reference and fresh memory. */
assay_status assay_checkpoint_read(json_t **header, double **values,
                                   size_t *num_values, const char *path,
                                   const char *kind,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** A network's shape as JSON and back; `net` is initialised by reading. */
json_t *assay_checkpoint_shape(const assay_network *net);
assay_status assay_checkpoint_from_shape(assay_network *net, const json_t *json,
                                         assay_error *err) ASSAY_MUST_CHECK;

#endif
