/* ring: glue */
#include "core/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)1 << 21)

/* Large pages are a wish: a system that refuses gives the usual ones. */
void *assay_pages_new(size_t count, size_t size)
{
    size_t bytes = count * size;
    void *room;
    if (size != 0 && count > (SIZE_MAX - LARGE_PAGE) / size) {
        return NULL;
    }
    if (bytes < 2 * LARGE_PAGE) {
        return calloc(count, size);
    }
    bytes = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    room = aligned_alloc(LARGE_PAGE, bytes);
    if (room != NULL) {
#ifdef MADV_HUGEPAGE
        (void)madvise(room, bytes, MADV_HUGEPAGE);
#endif
        memset(room, 0, bytes);
    }
    return room;
}
