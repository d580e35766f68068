/* ring: glue */
/**
 * Proof status: what was proved, of which sources, and whether the sources are
 * still those.
 *
 * SOURCE/proofs/results.tsv is written by the proof targets, one unit a line:
 *   lock, unit, goals proved, goals, source files, SHA-256 of their bytes
 *
 * Files are separated by blanks or commas and read one after the other; a
 * pattern stands for what it matches, in byte order. The digest may instead be
 * of the files and all headers of ours that they include, in byte order.
 *
 * Lines that begin with '#' are comments; `# tool NAME VERSION` names a tool.
 * SOURCE/proofs/coq/assumptions.txt lists the theorems that Coq has checked.
 *
 *   fresh       all goals proved, of these very sources
 *   incomplete  some goal was not proved
 *   stale       a source has changed since
 *   missing     a source is not there
 */
#ifndef ASSAY_CERTIFICATE_PROOFS_H
#define ASSAY_CERTIFICATE_PROOFS_H

#include <jansson.h>

#include "core/error.h"

/**
 * {"units", "theorems", "tools"}: every unit of the results, and the status of
 * the theorems in `ids` (an array of texts). A missing results file gives no
 * units. A new reference.
 */
assay_status assay_proofs_status(json_t **out, const char *source,
                                 const json_t *ids,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** Appends to `failures` one text per unit that is not fresh, or one if there
 *  is no unit. */
void assay_proofs_failures(json_t *failures, const json_t *proofs);

#endif
