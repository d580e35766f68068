/* ring: glue */
/* Shared libraries as targets (external.h). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "audit/external.h"

typedef int (*width_fn)(void);
typedef int (*run_fn)(const char *, unsigned long long, double *);

struct assay_plugin {
    void *handle;
    run_fn run;
    size_t width;
    char *input[2];
    double *buffer;
};

/* ISO C has no conversion from void * to a function; POSIX gives it this way. */
static void *symbol(void *handle, const char *name, void *slot)
{
    void *found = dlsym(handle, name);
    memcpy(slot, &found, sizeof found);
    return found;
}

assay_status assay_plugin_open(assay_plugin **out, const char *path,
                               const char *left, const char *right,
                               assay_error *err)
{
    width_fn width = NULL;
    assay_plugin *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    p->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (p->handle == NULL) {
        const char *why = dlerror();
        free(p);
        return assay_fail(err, ASSAY_INVALID, "cannot load the library: %.300s",
                          why == NULL ? path : why);
    }
    p->input[0] = strdup(left);
    p->input[1] = strdup(right);
    if (symbol(p->handle, "assay_target_width", &width) == NULL ||
        symbol(p->handle, "assay_target_run", &p->run) == NULL) {
        assay_plugin_close(p);
        return assay_fail(err, ASSAY_INVALID,
                          "%.200s: needs assay_target_width and "
                          "assay_target_run",
                          path);
    }
    int w = width();
    p->buffer = w < 1 || w > ASSAY_ROWS_WIDTH
                    ? NULL
                    : malloc((size_t)w * ASSAY_ROWS_BLOCK * sizeof(double));
    if (p->buffer == NULL || p->input[0] == NULL || p->input[1] == NULL) {
        assay_plugin_close(p);
        return assay_fail(err, ASSAY_INVALID, "library: width %d is not 1..%d",
                          w, ASSAY_ROWS_WIDTH);
    }
    p->width = (size_t)w;
    *out = p;
    return ASSAY_OK;
}

void assay_plugin_close(assay_plugin *p)
{
    if (p == NULL) {
        return;
    }
    (void)dlclose(p->handle);
    free(p->input[0]);
    free(p->input[1]);
    free(p->buffer);
    free(p);
}

static assay_status plugin_fill(void *ctx, int side, uint64_t first, size_t n,
                                assay_rows *out, assay_error *err)
{
    assay_plugin *p = ctx;
    (void)first;
    int code = p->run(p->input[side], n, p->buffer);
    if (code != 0) {
        return assay_fail(err, ASSAY_IO, "the library's run returned %d", code);
    }
    for (size_t j = 0; j < p->width; j++) {
        for (size_t i = 0; i < n; i++) {
            out->value[j][i] = p->buffer[i * p->width + j];
        }
    }
    return ASSAY_OK;
}

assay_source assay_plugin_source(assay_plugin *p)
{
    assay_source s = {p->width, p, 1, plugin_fill, NULL};
    return s;
}
