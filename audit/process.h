/* ring: glue */
/**
 * Targets in processes of their own: pipes, process groups, deadlines. Nothing
 * outlives assay_process_finish: the group is killed as a whole, and what has
 * left the group (a daemon) is adopted, known by a mark in its environment,
 * and killed too (Linux). If the audit itself is killed, so is its target.
 */
#ifndef ASSAY_AUDIT_PROCESS_H
#define ASSAY_AUDIT_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

#include "core/error.h"

typedef struct assay_process {
    pid_t pid;
    int in, out; /* its standard input (or -1) and output */
    unsigned mark;
} assay_process;

/** Start a program. `error_fd` > 0 becomes its standard error. */
assay_status assay_process_start(assay_process *p, char *const *argv,
                                 int with_input, int error_fd,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** A child that calls `serve` with its ends of the two pipes and then exits;
 *  its standard output is /dev/null. */
assay_status assay_process_serve(assay_process *p,
                                 void (*serve)(void *ctx, int in, int out),
                                 void *ctx, assay_error *err) ASSAY_MUST_CHECK;

/** Ends the whole group; returns the wait status of the leader, *ended says
 *  whether it had gone by itself. */
int assay_process_finish(assay_process *p, int *ended);

/** Seconds of the monotonic clock. */
double assay_process_clock(void);

/** Exactly n bytes. 1: read; 0: nothing for `timeout` seconds, or the clock
 *  passed `limit`; -1: the other end is closed. */
int assay_process_read(int fd, void *out, size_t n, double timeout,
                       double limit);

/** All n bytes; -1 if the other end is closed. */
int assay_process_write(int fd, const void *bytes, size_t n);

#endif
