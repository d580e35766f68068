/* ring: glue */
/**
 * Policies and public problem descriptions as JSON files.
 *
 * Policy  {"H", "S", "A", "policy": [h][s] -> a, "guarantee": {...}}
 * Schema  {"H", "S", "A", "rewards": [h][s][a]}: what is public about a
 *         dataset, written beside it as FILE.schema.json. Rewards are never
 *         read from the data.
 */
#ifndef ASSAY_ALGORITHMS_POLICY_FILE_H
#define ASSAY_ALGORITHMS_POLICY_FILE_H

#include <jansson.h>

#include "algorithms/mdp.h"

/** The policy as JSON (a new reference); `guarantee` (borrowed) may be NULL. */
assay_status assay_policy_to_json(json_t **out, const assay_policy *policy,
                                  json_t *guarantee,
                                  assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_policy_from_json(assay_policy **out, const json_t *json,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** The same with a file; reading gives the guarantee (NULL if none) to
 *  `guarantee` if that is not NULL. */
assay_status assay_policy_write(const char *path, const assay_policy *policy,
                                json_t *guarantee,
                                assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_policy_read(assay_policy **out, json_t **guarantee,
                               const char *path,
                               assay_error *err) ASSAY_MUST_CHECK;

/** Writes a model's shape and rewards. */
assay_status assay_schema_write(const char *path, const assay_mdp *mdp,
                                assay_error *err) ASSAY_MUST_CHECK;

/**
 * Rewards [h][s][a] of the shape in fresh memory, from a schema (`.json`) or a
 * CSV file with the header `h,s,a,r` (every pair once) or `s,a,r` (the same at
 * every step). Refuses anything outside [0, 1].
 */
assay_status assay_rewards_read(double **out, const char *path,
                                const assay_shape *shape,
                                assay_error *err) ASSAY_MUST_CHECK;

#endif
