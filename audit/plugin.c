/* ring: glue */
/* Shared libraries as targets (external.h). */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "audit/external.h"

typedef int (*width_fn)(void);
typedef int (*run_fn)(const char *, unsigned long long, double *);
typedef void (*seek_fn)(unsigned long long);

struct assay_plugin {
    void *handle;
    run_fn run;
    seek_fn seek; /* or NULL */
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
    (void)symbol(p->handle, "assay_target_seek", &p->seek);
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

/* n rows into the buffer, at most a block. */
static assay_status run_block(assay_plugin *p, int side, uint64_t first,
                              size_t n, assay_error *err)
{
    if (p->seek != NULL) {
        p->seek(first);
    }
    int code = p->run(p->input[side], n, p->buffer);
    if (code != 0) {
        return assay_fail(err, ASSAY_IO, "the library's run returned %d", code);
    }
    return ASSAY_OK;
}

static assay_status plugin_fill(void *ctx, int side, uint64_t first, size_t n,
                                assay_rows *out, assay_error *err)
{
    assay_plugin *p = ctx;
    assay_status status = run_block(p, side, first, n, err);
    for (size_t j = 0; status == ASSAY_OK && j < p->width; j++) {
        for (size_t i = 0; i < n; i++) {
            out->value[j][i] = p->buffer[i * p->width + j];
        }
    }
    return status;
}

assay_status assay_plugin_write(assay_plugin *p, int side, uint64_t first,
                                uint64_t n, FILE *to, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (uint64_t done = 0; status == ASSAY_OK && done < n;) {
        uint64_t left = n - done;
        size_t now = left < ASSAY_ROWS_BLOCK ? (size_t)left : ASSAY_ROWS_BLOCK;
        status = run_block(p, side, first + done, now, err);
        for (size_t k = 0; status == ASSAY_OK && k < now * p->width; k++) {
            (void)fprintf(to, "%a%c", p->buffer[k],
                          (k + 1) % p->width == 0 ? '\n' : ' ');
        }
        done += now;
    }
    return status;
}

assay_source assay_plugin_source(assay_plugin *p)
{
    assay_source s = {p->width, p, 1, plugin_fill, NULL};
    return s;
}
