/* ring: glue */
/**
 * Memory for large arrays that are read or filled at random: in large pages
 * where the system has them, so that few of its tables are looked up. Freed
 * with free().
 */
#ifndef ASSAY_CORE_PAGES_H
#define ASSAY_CORE_PAGES_H

#include <stddef.h>

#ifdef __FRAMAC__
#include <stdlib.h>
#define assay_pages_new(count, size) calloc(count, size)
#else
/** Zeros, as calloc; NULL if there is no such memory. */
void *assay_pages_new(size_t count, size_t size);
#endif

#endif
