/* ring: glue */
/*
 * Shared libraries as targets (external.h). The library lives in a child
 * process, so that one which crashes, hangs, forks or prints ends with a
 * message, not with the audit.
 */
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "audit/external.h"
#include "audit/process.h"

typedef int (*width_fn)(void);
typedef int (*run_fn)(const char *, unsigned long long, double *);
typedef void (*seek_fn)(unsigned long long);

struct assay_plugin {
    assay_process child;
    int running;
    char *path, *input[2];
    size_t width;
    double timeout;
    double *buffer;
};

/* The child's first words. */
typedef struct greeting {
    int width; /* 0: see text */
    char text[300];
} greeting;

typedef struct request {
    int side;
    uint64_t first, runs;
} request;

/* Before the rows of a batch. */
typedef struct batch {
    int code; /* of the library; not 0: no rows follow */
    int runs;
} batch;

/* ---- the child ---------------------------------------------------------- */

typedef struct library {
    run_fn run;
    seek_fn seek; /* or NULL */
    int width;
    uint64_t batch; /* runs in about a tenth of a second, at most a block */
    double *buffer;
} library;

/* ISO C cannot convert void * to a function; POSIX gives it this way. */
static void *symbol(void *handle, const char *name, void *slot)
{
    void *found = dlsym(handle, name);
    memcpy(slot, &found, sizeof found);
    return found;
}

static void load(library *l, greeting *g, const char *path)
{
    width_fn width = NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        const char *why = dlerror();
        (void)snprintf(g->text, sizeof g->text, "cannot load the library: %s",
                       why == NULL ? path : why);
        return;
    }
    if (symbol(handle, "assay_target_width", &width) == NULL ||
        symbol(handle, "assay_target_run", &l->run) == NULL) {
        (void)snprintf(g->text, sizeof g->text,
                       "%.200s: needs assay_target_width and assay_target_run",
                       path);
        return;
    }
    (void)symbol(handle, "assay_target_seek", &l->seek);
    l->width = width();
    l->buffer =
        l->width < 1 || l->width > ASSAY_ROWS_WIDTH
            ? NULL
            : malloc((size_t)l->width * ASSAY_ROWS_BLOCK * sizeof(double));
    if (l->buffer == NULL) {
        (void)snprintf(g->text, sizeof g->text,
                       "library: width %d is not 1..%d", l->width,
                       ASSAY_ROWS_WIDTH);
        return;
    }
    g->width = l->width;
}

/* One batch: the library's code, then its rows. */
static int run_batch(library *l, const char *input, uint64_t first,
                     uint64_t runs, int out)
{
    double begin = assay_process_clock();
    if (l->seek != NULL) {
        l->seek(first);
    }
    batch b = {l->run(input, runs, l->buffer), (int)runs};
    double took = assay_process_clock() - begin;
    if (took < 0.05 && l->batch < ASSAY_ROWS_BLOCK) {
        l->batch *= 2;
    } else if (took > 0.2 && l->batch > 1) {
        l->batch /= 2;
    }
    return assay_process_write(out, &b, sizeof b) == 0 && b.code == 0 &&
                   assay_process_write(out, l->buffer,
                                       runs * (size_t)l->width *
                                           sizeof(double)) == 0
               ? 0
               : -1;
}

/* In batches, so that silence means that the library hangs. */
static int answer(library *l, const char *input, request q, int out)
{
    while (q.runs > 0) {
        uint64_t n = q.runs < l->batch ? q.runs : l->batch;
        if (run_batch(l, input, q.first, n, out) != 0) {
            return -1;
        }
        q.first += n;
        q.runs -= n;
    }
    return 0;
}

static void serve(void *ctx, int in, int out)
{
    assay_plugin *p = ctx;
    library l = {NULL, NULL, 0, 1, NULL};
    greeting g;
    request q;
    memset(&g, 0, sizeof g);
    load(&l, &g, p->path);
    int ok = assay_process_write(out, &g, sizeof g) == 0 && g.width > 0;
    while (ok && assay_process_read(in, &q, sizeof q, 1e6, INFINITY) == 1) {
        ok = answer(&l, p->input[q.side], q, out) == 0;
    }
    free(l.buffer);
}

/* ---- the parent --------------------------------------------------------- */

/* Ends the child and says how it went. */
static assay_status gone(assay_plugin *p, const char *doing, int got,
                         assay_error *err)
{
    int ended = 0;
    int status = assay_process_finish(&p->child, &ended);
    p->running = 0;
    if (got == 0) {
        return assay_fail(err, ASSAY_IO,
                          "the library was silent for %g s %s; killed",
                          p->timeout, doing);
    }
    if (WIFSIGNALED(status)) {
        return assay_fail(err, ASSAY_IO, "the library died by signal %d %s",
                          WTERMSIG(status), doing);
    }
    return assay_fail(err, ASSAY_IO, "the library ended with status %d %s",
                      WIFEXITED(status) ? WEXITSTATUS(status) : -1, doing);
}

static assay_status greet(assay_plugin *p, assay_error *err)
{
    greeting g;
    assay_status status = assay_process_serve(&p->child, serve, p, err);
    if (status != ASSAY_OK) {
        return status;
    }
    p->running = 1;
    int got =
        assay_process_read(p->child.out, &g, sizeof g, p->timeout, INFINITY);
    if (got != 1) {
        return gone(p, "while loading", got, err);
    }
    if (g.width < 1 || g.width > ASSAY_ROWS_WIDTH) {
        g.text[sizeof g.text - 1] = '\0';
        return assay_fail(err, ASSAY_INVALID, "%s", g.text);
    }
    p->width = (size_t)g.width;
    p->buffer = malloc(p->width * ASSAY_ROWS_BLOCK * sizeof(double));
    return p->buffer == NULL
               ? assay_fail(err, ASSAY_MEMORY, "audit: out of memory")
               : ASSAY_OK;
}

assay_status assay_plugin_open(assay_plugin **out, const char *path,
                               const char *left, const char *right,
                               double timeout, assay_error *err)
{
    assay_plugin *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    p->timeout = timeout;
    p->path = strdup(path);
    p->input[0] = strdup(left);
    p->input[1] = strdup(right);
    assay_status status =
        p->path == NULL || p->input[0] == NULL || p->input[1] == NULL
            ? assay_fail(err, ASSAY_MEMORY, "audit: out of memory")
            : greet(p, err);
    if (status != ASSAY_OK) {
        assay_plugin_close(p);
        return status;
    }
    *out = p;
    return ASSAY_OK;
}

void assay_plugin_close(assay_plugin *p)
{
    int ended;
    if (p == NULL) {
        return;
    }
    if (p->running) {
        (void)assay_process_finish(&p->child, &ended);
    }
    free(p->path);
    free(p->input[0]);
    free(p->input[1]);
    free(p->buffer);
    free(p);
}

/* The next batch of an answer; q moves on. */
static assay_status take_batch(assay_plugin *p, double *rows, request *q,
                               assay_error *err)
{
    char doing[100];
    batch b = {0, 0};
    int got =
        assay_process_read(p->child.out, &b, sizeof b, p->timeout, INFINITY);
    if (got == 1 && b.code != 0) {
        return assay_fail(err, ASSAY_IO, "the library's run returned %d",
                          b.code);
    }
    if (got == 1 && (b.runs < 1 || (uint64_t)b.runs > q->runs)) {
        return assay_fail(err, ASSAY_IO, "the library broke its pipe");
    }
    if (got == 1) {
        size_t len = (size_t)b.runs * p->width * sizeof(double);
        got = assay_process_read(p->child.out, rows, len, p->timeout, INFINITY);
    }
    if (got != 1) {
        (void)snprintf(doing, sizeof doing, "after %llu runs of the %s input",
                       (unsigned long long)q->first,
                       q->side == 0 ? "left" : "right");
        return gone(p, doing, got, err);
    }
    q->first += (uint64_t)b.runs;
    q->runs -= (uint64_t)b.runs;
    return ASSAY_OK;
}

/* n rows into the buffer, at most a block. */
static assay_status run_block(assay_plugin *p, int side, uint64_t first,
                              size_t n, assay_error *err)
{
    request q;
    memset(&q, 0, sizeof q);
    q.side = side;
    q.first = first;
    q.runs = n;
    if (!p->running) {
        return assay_fail(err, ASSAY_IO, "the library has ended");
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    int sent = assay_process_write(p->child.in, &q, sizeof q);
    (void)signal(SIGPIPE, before);
    if (sent != 0) {
        return gone(p, "between two runs", -1, err);
    }
    assay_status status = ASSAY_OK;
    while (status == ASSAY_OK && q.runs > 0) {
        status = take_batch(p, p->buffer + (n - q.runs) * p->width, &q, err);
    }
    return status;
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

assay_source assay_plugin_source(assay_plugin *p)
{
    assay_source s = {p->width, p, 1, plugin_fill, NULL, 0};
    return s;
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
