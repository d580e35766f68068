/* ring: glue */
/**
 * One attack, as JSON. Private to the room.
 */
#ifndef ASSAY_CERTIFICATE_ATTACK_RUN_H
#define ASSAY_CERTIFICATE_ATTACK_RUN_H

#include <gmp.h>
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/** Where a block of runs comes from: `draw` releases n integers of which the
 *  left input has 0 and the right input has `shift`. */
typedef struct assay_target {
    int gaussian;
    mpq_srcptr noise;       /* sigma2 or scale */
    mpq_srcptr sensitivity; /* l2 squared or l1 */
    unsigned long levels;   /* of a tree; 0: a plain vector */
    size_t coordinates;     /* released per run */
    long shift;
} assay_target;

/** The plan's part for one claim. `claim` is "rho" or "epsilon". */
assay_status assay_attack_target(json_t **out, const assay_target *target,
                                 const char *claim, const mpq_t value,
                                 uint64_t runs, const mpq_t confidence,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** The same for a mechanism of the audit's collection. */
assay_status assay_attack_specimen(json_t **out, const char *name,
                                   const mpq_t epsilon, uint64_t runs,
                                   const mpq_t confidence,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** 1 if there is such a specimen. */
int assay_attack_has_specimen(const char *name);

#endif
