/* ring: glue */
/**
 * A histogram whose keys are not known beforehand.
 *
 * Only keys that occur in the data are given, each with its count; a key is
 * shown when its noisy count reaches a threshold that hides a key one person
 * brought alone. A person adds at most `per_key` to each of at most
 * `keys_per_person` keys. Neighbours: add-remove.
 *
 * Law      noisy = count + discrete Laplace of scale
 *          keys_per_person * per_key / epsilon; shown if noisy >= threshold =
 *          per_key + ceil(scale ln(keys_per_person / delta)), rounded up.
 * Theorem  keys-threshold: (epsilon, delta)-DP. Keys of both neighbours cost
 *          epsilon; a key of one neighbour alone has count at most per_key and
 *          is shown with probability at most P[Z >= threshold - per_key] <
 *          delta / keys_per_person.
 * Errors   as mechanisms/release.h. Write shown keys in an order that does not
 *          depend on the data's order (sorted, say).
 */
#ifndef ASSAY_MECHANISMS_KEYS_H
#define ASSAY_MECHANISMS_KEYS_H

#include "mechanisms/custodian.h"

/** noisy[i] is written and shown[i] is 1 where the key may be shown; both are 0
 *  elsewhere. */
assay_status assay_release_keys(assay_custodian *custodian, int64_t *noisy,
                                uint8_t *shown, const int64_t *counts, size_t n,
                                uint64_t keys_per_person, uint64_t per_key,
                                const mpq_t epsilon, const mpq_t delta,
                                const char *label,
                                assay_error *err) ASSAY_MUST_CHECK;

/** The positions of the shown keys, in order, into at[0 .. n - 1]; returns how
 *  many there are. With assay_keys_name the only way from the table of all keys
 *  to an answer: what is not shown leaves no trace. */
size_t assay_keys_shown(size_t *at, const uint8_t *shown, size_t n);
/** Takes the name of a shown key out of the table. */
char *assay_keys_name(char **names, size_t at);

/** The threshold of the law above. */
assay_status assay_release_keys_threshold(int64_t *out,
                                          uint64_t keys_per_person,
                                          uint64_t per_key, const mpq_t epsilon,
                                          const mpq_t delta,
                                          assay_error *err) ASSAY_MUST_CHECK;

#endif
