/* ring: glue */
/** MurmurHash3 x86 32 (public domain, Austin Appleby): RAPPOR's Bloom
 *  filter. */
#ifndef ASSAY_AUDIT_MURMUR_H
#define ASSAY_AUDIT_MURMUR_H

#include <stddef.h>
#include <stdint.h>

uint32_t assay_murmur3(const void *data, size_t len, uint32_t seed);

#endif
