/* ring: glue */
#include "audit/crew.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/process.h"
#include "audit/work.h"
#include "core/progress.h"

#define MOST 64

typedef struct crew {
    size_t num, next_out; /* rows handed to `done` */
    int hands, open;
    pid_t pid[MOST];
    int from[MOST];
    assay_crew_row *row;
    char *have;
} crew;

/* A hand: takes the next index from the shared counter until none is left. */
static void hand(size_t num, size_t *next, int to, assay_crew_work work,
                 void *ctx)
{
    assay_crew_row row;
    for (;;) {
        memset(&row, 0, sizeof row);
        row.index = __atomic_fetch_add(next, 1, __ATOMIC_SEQ_CST);
        if (row.index >= num) {
            return;
        }
        work(&row, ctx);
        if (assay_process_write(to, &row, sizeof row) != 0) {
            return;
        }
    }
}

static assay_status hire(crew *c, size_t *next, assay_crew_work work, void *ctx,
                         assay_error *err)
{
    int pipe_fd[2];
    if (pipe(pipe_fd) != 0) {
        return assay_fail(err, ASSAY_IO, "audit: no pipe");
    }
    pid_t pid = fork();
    if (pid < 0) {
        (void)close(pipe_fd[0]);
        (void)close(pipe_fd[1]);
        return assay_fail(err, ASSAY_IO, "audit: no process");
    }
    if (pid == 0) {
        for (int k = 0; k < c->open; k++) {
            (void)close(c->from[k]);
        }
        (void)close(pipe_fd[0]);
        assay_work_alone();
        hand(c->num, next, pipe_fd[1], work, ctx);
        (void)close(pipe_fd[1]);
        _exit(0);
    }
    (void)close(pipe_fd[1]);
    c->pid[c->open] = pid;
    c->from[c->open++] = pipe_fd[0];
    return ASSAY_OK;
}

typedef assay_status (*done_fn)(const assay_crew_row *, void *, assay_error *);

/* Hand on what is next in order. */
static assay_status deliver(crew *c, done_fn done, void *ctx, assay_error *err)
{
    while (c->next_out < c->num && c->have[c->next_out]) {
        const assay_crew_row *row = &c->row[c->next_out++];
        if (row->status != ASSAY_OK) {
            *err = row->err;
            return row->status;
        }
        assay_status status = done(row, ctx, err);
        if (status != ASSAY_OK) {
            return status;
        }
    }
    return ASSAY_OK;
}

static assay_status collect(crew *c, const char *label, done_fn done, void *ctx,
                            assay_error *err)
{
    assay_status status = ASSAY_OK;
    assay_progress meter;
    size_t got = 0;
    int living = c->open;
    assay_progress_start(&meter, label, c->num);
    while (status == ASSAY_OK && living > 0) {
        struct pollfd p[MOST];
        for (int k = 0; k < c->open; k++) {
            p[k] = (struct pollfd){c->from[k], POLLIN, 0};
        }
        if (poll(p, (nfds_t)c->open, -1) < 0) {
            continue;
        }
        for (int k = 0; status == ASSAY_OK && k < c->open; k++) {
            assay_crew_row row;
            if (p[k].revents == 0) {
                continue;
            }
            /* a row comes in one piece, or its hand has died */
            if (assay_process_read(c->from[k], &row, sizeof row, 60,
                                   INFINITY) != 1) {
                (void)close(c->from[k]);
                c->from[k] = -1; /* poll passes over it */
                living--;
                continue;
            }
            c->row[row.index] = row;
            c->have[row.index] = 1;
            assay_progress_update(&meter, ++got, "");
            status = deliver(c, done, ctx, err);
        }
    }
    assay_progress_finish(&meter);
    if (status == ASSAY_OK && c->next_out < c->num) {
        status = assay_fail(err, ASSAY_IO, "audit: a process of it died");
    }
    return status;
}

static void dismiss(crew *c)
{
    for (int k = 0; k < c->open; k++) {
        if (c->from[k] >= 0) {
            (void)close(c->from[k]);
            (void)kill(c->pid[k], SIGTERM);
        }
        while (waitpid(c->pid[k], NULL, 0) < 0 && errno == EINTR) {
        }
    }
}

static assay_status run_alone(size_t num, assay_crew_work work, done_fn done,
                              void *ctx, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (size_t k = 0; status == ASSAY_OK && k < num; k++) {
        assay_crew_row row;
        memset(&row, 0, sizeof row);
        row.index = k;
        work(&row, ctx);
        status = row.status;
        if (status != ASSAY_OK) {
            *err = row.err;
        } else {
            status = done(&row, ctx, err);
        }
    }
    return status;
}

assay_status assay_crew_run(size_t num, int hands, const char *label,
                            assay_crew_work work, done_fn done, void *ctx,
                            assay_error *err)
{
    if (hands <= 1 || num <= 1) {
        return run_alone(num, work, done, ctx, err);
    }
    crew c = {.num = num, .hands = hands < MOST ? hands : MOST};
    size_t *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    c.row = calloc(num, sizeof *c.row);
    c.have = calloc(num, 1);
    assay_status status = ASSAY_OK;
    if (next == MAP_FAILED || c.row == NULL || c.have == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    for (int k = 0; status == ASSAY_OK && k < c.hands; k++) {
        status = hire(&c, next, work, ctx, err);
    }
    if (status == ASSAY_OK) {
        status = collect(&c, label, done, ctx, err);
    }
    dismiss(&c);
    free(c.row);
    free(c.have);
    if (next != MAP_FAILED) {
        (void)munmap(next, sizeof *next);
    }
    return status;
}
