/* ring: glue */
/* Running programs: pipes, process groups, deadlines. */
#include "audit/external.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/process.h"
#include "audit/rng.h"

#define MAX_LINE 65536
#define CHUNK 65536
#define ANSWER (1 << 20) /* of a worker */

/* ---- the command line --------------------------------------------------- */

/* A copy of `text` with {input}, {runs} and {first} replaced. */
static char *expand(const char *text, const char *input, uint64_t runs,
                    uint64_t first)
{
    char number[24], before[24];
    (void)snprintf(number, sizeof number, "%llu", (unsigned long long)runs);
    (void)snprintf(before, sizeof before, "%llu", (unsigned long long)first);
    size_t room = strlen(text) * (strlen(input) + 24) + 1, used = 0;
    char *out = malloc(room);
    for (const char *p = text; out != NULL && *p != '\0';) {
        const char *with = NULL;
        size_t skip = 0;
        if (strncmp(p, "{input}", 7) == 0) {
            with = input;
            skip = 7;
        } else if (strncmp(p, "{runs}", 6) == 0) {
            with = number;
            skip = 6;
        } else if (strncmp(p, "{first}", 7) == 0) {
            with = before;
            skip = 7;
        }
        if (with == NULL) {
            out[used++] = *p++;
        } else {
            used += (size_t)sprintf(out + used, "%s", with);
            p += skip;
        }
    }
    if (out != NULL) {
        out[used] = '\0';
    }
    return out;
}

static void free_list(char **list)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        free(list[i]);
    }
    free(list);
}

static char **expand_all(char *const *command, const char *input, uint64_t runs,
                         uint64_t first)
{
    size_t n = 0;
    while (command[n] != NULL) {
        n++;
    }
    char **out = calloc(n + 1, sizeof *out);
    for (size_t i = 0; out != NULL && i < n; i++) {
        out[i] = expand(command[i], input, runs, first);
        if (out[i] == NULL) {
            free_list(out);
            return NULL;
        }
    }
    return out;
}

/* ---- reading lines ------------------------------------------------------ */

typedef struct reader {
    assay_store *store;
    int side;
    uint64_t want, got, blank, overlong;
    FILE *keep;
    FILE *capture; /* lines go there instead of the store */
    char line[MAX_LINE];
    size_t len;
    int dropping; /* inside a line that is too long */
    int binary;   /* saw bytes that are no text */
    int more;     /* wrote more than was asked for */
} reader;

static assay_status end_line(reader *r, assay_error *err)
{
    assay_status status = ASSAY_OK;
    size_t len = r->len;
    r->overlong += (uint64_t)r->dropping;
    r->dropping = 0;
    r->len = 0;
    if (len > 0 && r->line[len - 1] == '\r') {
        len--;
    }
    if (r->got < r->want) {
        r->blank += len == 0;
        if (r->capture != NULL) {
            (void)fprintf(r->capture, "%.*s\n", (int)len, r->line);
        } else {
            status = assay_store_line(r->store, r->side, r->line, len, err);
        }
        r->got++;
        if (r->keep != NULL) {
            (void)fprintf(r->keep, "%.*s\n", (int)len, r->line);
        }
    }
    return status;
}

static assay_status take_bytes(reader *r, const char *bytes, size_t n,
                               assay_error *err)
{
    assay_status status = ASSAY_OK;
    size_t i = 0;
    for (; i < n && status == ASSAY_OK && r->got < r->want; i++) {
        char b = bytes[i];
        if (b == '\n') {
            status = end_line(r, err);
        } else if (r->len < MAX_LINE) {
            r->binary |= b == '\0';
            r->line[r->len++] = b == '\0' ? '?' : b;
        } else {
            r->dropping = 1; /* the rest of an endless line */
        }
    }
    r->more |= i < n;
    return status;
}

typedef enum { ENDED, ENOUGH, SILENT, LATE, BROKEN } outcome;

/* Whether the program writes on within a second of its last wanted output. */
static int goes_on(const assay_process *c)
{
    char byte;
    struct pollfd p = {c->out, POLLIN, 0};
    return poll(&p, 1, 1000) > 0 && read(c->out, &byte, 1) > 0;
}

/* Ten times the timeout and one second per thousand runs in all. */
static double time_limit(const reader *r, double timeout)
{
    return assay_process_clock() + 10 * timeout + 0.001 * (double)r->want;
}

static outcome read_all(reader *r, assay_process *c, double timeout,
                        assay_error *err, assay_status *status)
{
    static char chunk[CHUNK];
    double limit = time_limit(r, timeout);
    while (r->got < r->want) {
        struct pollfd p = {c->out, POLLIN, 0};
        double left = limit - assay_process_clock();
        if (left <= 0) {
            return LATE;
        }
        int wait = (int)(1000 * (left < timeout ? left : timeout)) + 1;
        int ready = poll(&p, 1, wait);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready == 0) {
            return left < timeout ? LATE : SILENT;
        }
        ssize_t n = read(c->out, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            if (r->len > 0) {
                *status = end_line(r, err); /* no newline at the end */
            }
            return ENDED;
        }
        *status = take_bytes(r, chunk, (size_t)n, err);
        if (*status != ASSAY_OK) {
            return BROKEN;
        }
    }
    r->more |= goes_on(c);
    return ENOUGH;
}

static const char *side_name(int side)
{
    return side == 0 ? "left" : "right";
}

static void note_outcome(reader *r, outcome how, int status, int ended)
{
    assay_store *t = r->store;
    const char *name = side_name(r->side);
    unsigned long long got = (unsigned long long)r->got;
    if (how == SILENT || how == LATE) {
        assay_store_note(t, "%s: %s after %llu of %llu outputs; killed", name,
                         how == SILENT ? "silent" : "too slow", got,
                         (unsigned long long)r->want);
    } else if (how == ENOUGH && (r->more || !ended)) {
        assay_store_note(t, "%s: did not stop after %llu outputs; ended", name,
                         got);
    } else if (WIFSIGNALED(status) && how == ENDED) {
        assay_store_note(t, "%s: killed by signal %d after %llu outputs", name,
                         WTERMSIG(status), got);
    } else if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        assay_store_note(t, "%s: exit status %d after %llu outputs", name,
                         WEXITSTATUS(status), got);
    }
    if (r->got < r->want) {
        assay_store_note(t, "%s: short output: %llu of %llu", name, got,
                         (unsigned long long)r->want);
    }
    if (r->blank > 0) {
        assay_store_note(t, "%s: %llu empty lines counted as outputs", name,
                         (unsigned long long)r->blank);
    }
    if (r->overlong > 0) {
        assay_store_note(t, "%s: %llu lines longer than %d bytes were cut",
                         name, (unsigned long long)r->overlong, MAX_LINE);
    }
    if (r->binary) {
        assay_store_note(t, "%s: output has zero bytes: is it text?", name);
    }
}

FILE *assay_external_keep(const char *directory, int side, assay_status *status,
                          assay_error *err)
{
    char path[4096];
    if (directory == NULL) {
        return NULL;
    }
    (void)mkdir(directory, 0700);
    (void)snprintf(path, sizeof path, "%s/%s.txt", directory, side_name(side));
    FILE *f = fopen(path, "w");
    if (f == NULL) {
        *status = assay_fail(err, ASSAY_IO, "cannot write %.300s: %s", path,
                             strerror(errno));
    }
    return f;
}

/* One request of the worker protocol: 4 bytes length (big-endian), then
 * "<input>\n<runs>\n". The answer is a length and as many bytes of lines. */
static void send_request(const assay_process *c, const char *input,
                         uint64_t runs)
{
    char text[4200];
    int len = snprintf(text + 4, sizeof text - 4, "%s\n%llu\n", input,
                       (unsigned long long)runs);
    len = len > (int)sizeof text - 5 ? (int)sizeof text - 5 : len;
    for (int k = 0; k < 4; k++) {
        text[k] = (char)((len >> (24 - 8 * k)) & 255);
    }
    (void)assay_process_write(c->in, text, (size_t)len + 4);
}

/* The answer to one request into `body` (room for 2^20 bytes). */
static outcome take_answer(const assay_process *c, char *body, size_t *len,
                           double timeout)
{
    double limit = assay_process_clock() + 10 * timeout;
    unsigned char head[4] = {0, 0, 0, 0};
    int got = assay_process_read(c->out, head, 4, timeout, limit);
    *len = (size_t)head[0] << 24 | (size_t)head[1] << 16 |
           (size_t)head[2] << 8 | head[3];
    if (got == 1 && *len > ANSWER - 64) {
        return BROKEN;
    }
    if (got == 1) {
        got = assay_process_read(c->out, body, *len, timeout, limit);
    }
    if (got == 0) {
        return assay_process_clock() > limit ? LATE : SILENT;
    }
    return got < 0 ? ENDED : ENOUGH;
}

/* One request; with `timing` the nanoseconds of the answer become a last
 * column. */
static outcome ask_once(reader *r, const assay_process *c,
                        const assay_external_options *o, uint64_t batch,
                        assay_error *err, assay_status *status)
{
    static char body[ANSWER];
    uint64_t before = r->got;
    size_t len = 0;
    double begin = assay_process_clock();
    send_request(c, o->input[r->side], batch);
    outcome how = take_answer(c, body, &len, o->timeout);
    double took = assay_process_clock() - begin;
    if (how != ENOUGH) {
        return how;
    }
    if (o->timing) {
        while (len > 0 && body[len - 1] == '\n') {
            len--;
        }
        len += (size_t)snprintf(body + len, 64, " %.0f\n", 1e9 * took);
    }
    *status = take_bytes(r, body, len, err);
    if (r->len > 0 && *status == ASSAY_OK) {
        *status = end_line(r, err);
    }
    r->more |= r->got > before + batch;
    return r->got == before || *status != ASSAY_OK ? BROKEN : ENOUGH;
}

static outcome ask_all(reader *r, const assay_process *c,
                       const assay_external_options *o, assay_error *err,
                       assay_status *status)
{
    outcome how = ENOUGH;
    while (how == ENOUGH && r->got < r->want) {
        uint64_t left = r->want - r->got;
        how = ask_once(r, c, o, left < 1000 ? left : 1000, err, status);
    }
    return how;
}

/* One worker for both sides, one run of each at a time in an order by lot: a
 * machine whose load changes is not to be taken for a difference of inputs. */
static outcome ask_timed(reader *const r[2], const assay_process *c,
                         const assay_external_options *o, assay_error *err,
                         assay_status *status)
{
    outcome how = ENOUGH;
    assay_rng lot;
    assay_rng_seed(&lot, 1, 0, o->first);
    while (how == ENOUGH && r[1]->got + r[0]->got < 2 * o->runs) {
        size_t first = assay_rng_u64(&lot) & 1;
        how = ask_once(r[first], c, o, 1, err, status);
        if (how == ENOUGH) {
            how = ask_once(r[1 - first], c, o, 1, err, status);
        }
    }
    return how;
}

/* ---- runs --------------------------------------------------------------- */

static reader *reader_open(assay_store *store, int side,
                           const assay_external_options *o,
                           assay_status *status, assay_error *err)
{
    reader *r = calloc(1, sizeof *r);
    if (r == NULL) {
        *status = assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
        return NULL;
    }
    r->store = store;
    r->side = side;
    r->want = o->runs;
    r->capture = o->capture[side];
    r->keep = assay_external_keep(o->keep, side, status, err);
    return r;
}

static void reader_close(reader *r, const assay_external_options *o,
                         assay_status *status, assay_error *err)
{
    if (r != NULL && r->keep != NULL && fclose(r->keep) != 0 &&
        *status == ASSAY_OK) {
        *status = assay_fail(err, ASSAY_IO, "cannot write to %s", o->keep);
    }
    free(r);
}

/* Ends the process and notes how it went for each of its readers. */
static void end_run(reader *const *r, size_t num, assay_process *c, outcome how,
                    int worker)
{
    int ended;
    int code = assay_process_finish(c, &ended);
    /* a worker that has answered all was ended by us */
    int answered = worker && how == ENOUGH;
    for (size_t k = 0; k < num; k++) {
        if (how == BROKEN) {
            assay_store_note(r[k]->store, "%s: the worker broke the protocol",
                             side_name(r[k]->side));
        }
        note_outcome(r[k], answered && !r[k]->more ? ENDED : how,
                     answered ? 0 : code, answered || ended);
    }
}

/* The sides from `side` on: one, or both with one worker that is timed. */
static assay_status run_sides(assay_store *store, int side, size_t num,
                              const assay_external_options *o, assay_error *err)
{
    char **argv = expand_all(o->command, o->input[side], o->runs, o->first);
    reader *r[2] = {NULL, NULL};
    assay_process c = {0, -1, -1, 0};
    assay_status status = argv == NULL ? ASSAY_MEMORY : ASSAY_OK;
    for (size_t k = 0; status == ASSAY_OK && k < num; k++) {
        r[k] = reader_open(store, side + (int)k, o, &status, err);
    }
    if (status == ASSAY_OK) {
        status = assay_process_start(&c, argv, o->worker, o->error_fd, err);
    }
    if (status == ASSAY_OK) {
        outcome how = num > 1 ? ask_timed(r, &c, o, err, &status)
                      : o->worker
                          ? ask_all(r[0], &c, o, err, &status)
                          : read_all(r[0], &c, o->timeout, err, &status);
        end_run(r, num, &c, how, o->worker);
    }
    reader_close(r[0], o, &status, err);
    reader_close(r[1], o, &status, err);
    free_list(argv);
    return status;
}

assay_status assay_external_run(assay_store **out,
                                const assay_external_options *options,
                                assay_error *err)
{
    assay_store *store = assay_store_new();
    if (store == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    int together = options->worker && options->timing;
    assay_status status = run_sides(store, 0, together ? 2 : 1, options, err);
    if (status == ASSAY_OK && !together) {
        status = run_sides(store, 1, 1, options, err);
    }
    (void)signal(SIGPIPE, before);
    if (status != ASSAY_OK) {
        assay_store_free(store);
        return status;
    }
    *out = store;
    return ASSAY_OK;
}

assay_status assay_external_text(assay_store *store, int side, const char *text,
                                 size_t len, FILE *keep, assay_error *err)
{
    reader *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    r->store = store;
    r->side = side;
    r->want = UINT64_MAX;
    r->keep = keep;
    assay_status status = take_bytes(r, text, len, err);
    free(r);
    return status;
}

static assay_status load_side(assay_store *store, const char *directory,
                              int side, assay_error *err)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s.txt", directory, side_name(side));
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        return assay_fail(err, ASSAY_IO, "cannot read %.300s: %s", path,
                          strerror(errno));
    }
    reader *r = calloc(1, sizeof *r);
    char *chunk = malloc(CHUNK);
    assay_status status = r == NULL || chunk == NULL ? ASSAY_MEMORY : ASSAY_OK;
    size_t n;
    if (status == ASSAY_OK) {
        r->store = store;
        r->side = side;
        r->want = UINT64_MAX;
    }
    while (status == ASSAY_OK && (n = fread(chunk, 1, CHUNK, f)) > 0) {
        status = take_bytes(r, chunk, n, err);
    }
    (void)fclose(f);
    free(chunk);
    free(r);
    return status;
}

assay_status assay_external_load(assay_store **out, const char *directory,
                                 assay_error *err)
{
    assay_store *store = assay_store_new();
    if (store == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    assay_status status = load_side(store, directory, 0, err);
    if (status == ASSAY_OK) {
        status = load_side(store, directory, 1, err);
    }
    if (status != ASSAY_OK) {
        assay_store_free(store);
        return status;
    }
    *out = store;
    return ASSAY_OK;
}
