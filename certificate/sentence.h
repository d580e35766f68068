/* ring: glue */
/**
 * The guarantee in one sentence, from its numbers.
 */
#ifndef ASSAY_CERTIFICATE_SENTENCE_H
#define ASSAY_CERTIFICATE_SENTENCE_H

#include <jansson.h>

/** From the predicate's "guarantee". Fresh memory; NULL if a part is missing
 *  or there is no memory. */
char *assay_sentence(const json_t *guarantee);

#endif
