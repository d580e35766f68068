/* ring: glue */
#include "audit/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define MARK "ASSAY_AUDIT_TARGET"

double assay_process_clock(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- strays ------------------------------------------------------------- */

static void mark_text(char out[64], unsigned mark)
{
    (void)snprintf(out, 64, "%ld-%u", (long)getpid(), mark);
}

/* Orphans of our targets become our children rather than init's. */
static void adopt(int on)
{
#ifdef __linux__
    (void)prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)on, 0UL, 0UL, 0UL);
#else
    (void)on;
#endif
}

/* In the child: killed when the audit is. */
static void die_with_parent(void)
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL);
#endif
}

/* In a child that is not a new program: a crash is a crash. */
static void forget_handlers(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS,  SIGFPE,
                                SIGILL,  SIGABRT, SIGPIPE};
    for (size_t k = 0; k < sizeof fatal / sizeof fatal[0]; k++) {
        (void)signal(fatal[k], SIG_DFL);
    }
}

/* The start of a small file of /proc; the length, 0 if there is none. */
static size_t slurp(const char *pid, const char *name, char *out, size_t room)
{
    char path[300];
    (void)snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
    FILE *f = fopen(path, "r");
    size_t n = f == NULL ? 0 : fread(out, 1, room - 1, f);
    if (f != NULL) {
        (void)fclose(f);
    }
    out[n] = '\0';
    return n;
}

/* Is this a child of ours that carries the mark? */
static int is_stray(const char *pid, const char *wanted)
{
    static char text[1 << 17];
    if (slurp(pid, "stat", text, sizeof text) == 0) {
        return 0;
    }
    const char *after = strrchr(text, ')'); /* ") S ppid ..." */
    if (after == NULL || strlen(after) < 5 ||
        strtol(after + 4, NULL, 10) != (long)getpid()) {
        return 0;
    }
    size_t n = slurp(pid, "environ", text, sizeof text), len = strlen(wanted);
    for (size_t i = 0; i + len < n; i++) {
        if ((i == 0 || text[i - 1] == '\0') &&
            memcmp(text + i, wanted, len + 1) == 0) {
            return 1;
        }
    }
    return 0;
}

static int kill_strays(const char *wanted)
{
    DIR *d = opendir("/proc");
    int found = 0;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (!isdigit((unsigned char)e->d_name[0]) ||
            !is_stray(e->d_name, wanted)) {
            continue;
        }
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        found++;
    }
    if (d != NULL) {
        (void)closedir(d);
    }
    return found;
}

/* Killing one hands us its children: again until there are none. */
static void kill_all_strays(unsigned mark)
{
    char value[64], wanted[128];
    mark_text(value, mark);
    (void)snprintf(wanted, sizeof wanted, MARK "=%s", value);
    for (int round = 0; round < 100 && kill_strays(wanted) > 0; round++) {
    }
}

/* ---- starting and ending ------------------------------------------------ */

typedef struct pipes {
    int to[2], from[2], report[2];
} pipes;

static void close_all(pipes *p)
{
    int *const fd[] = {&p->to[0],   &p->to[1],     &p->from[0],
                       &p->from[1], &p->report[0], &p->report[1]};
    for (size_t k = 0; k < sizeof fd / sizeof fd[0]; k++) {
        if (*fd[k] >= 0) {
            (void)close(*fd[k]);
            *fd[k] = -1;
        }
    }
}

static assay_status open_pipes(pipes *p, int with_input, assay_error *err)
{
    *p = (pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (pipe(p->from) != 0 || pipe(p->report) != 0 ||
        (with_input && pipe(p->to) != 0)) {
        int code = errno;
        close_all(p);
        return assay_fail(err, ASSAY_IO, "audit: no pipe: %s", strerror(code));
    }
    (void)fcntl(p->report[1], F_SETFD, FD_CLOEXEC);
    return ASSAY_OK;
}

/* The child's half: does not return. */
static void become(pipes *p, char *const *argv, int with_input, int error_fd,
                   const char *mark)
{
    (void)setpgid(0, 0);
    die_with_parent();
    int zero = with_input ? p->to[0] : open("/dev/null", O_RDONLY);
    (void)dup2(zero, 0);
    (void)dup2(p->from[1], 1);
    if (error_fd > 0) {
        (void)dup2(error_fd, 2);
    }
    int report = p->report[1];
    p->report[1] = -1;
    close_all(p);
    (void)setenv(MARK, mark, 1);
    if (argv[0] != NULL) {
        (void)execvp(argv[0], argv);
    }
    int code = errno;
    _exit(write(report, &code, sizeof code) < 0 ? 126 : 127);
}

assay_status assay_process_start(assay_process *c, char *const *argv,
                                 int with_input, int error_fd, assay_error *err)
{
    static unsigned marks;
    char mark[64];
    pipes p;
    assay_status status = open_pipes(&p, with_input, err);
    if (status != ASSAY_OK) {
        return status;
    }
    mark_text(mark, ++marks);
    adopt(1);
    pid_t pid = fork();
    if (pid == 0) {
        become(&p, argv, with_input, error_fd, mark);
    }
    int code = errno;
    (void)close(p.report[1]);
    p.report[1] = -1;
    ssize_t got = pid < 0 ? -1 : read(p.report[0], &code, sizeof code);
    if (pid < 0 || got > 0) {
        close_all(&p);
        if (pid > 0) {
            (void)waitpid(pid, NULL, 0);
        }
        return assay_fail(err, ASSAY_INVALID, "cannot run '%.100s': %s",
                          argv[0], strerror(code));
    }
    (void)setpgid(pid, pid);
    *c = (assay_process){pid, p.to[1], p.from[0], marks};
    p.to[1] = p.from[0] = -1;
    close_all(&p);
    return ASSAY_OK;
}

assay_status assay_process_serve(assay_process *c,
                                 void (*serve)(void *ctx, int in, int out),
                                 void *ctx, assay_error *err)
{
    pipes p;
    assay_status status = open_pipes(&p, 1, err);
    if (status != ASSAY_OK) {
        return status;
    }
    (void)fflush(NULL); /* or the child would write our buffers again */
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR), in = p.to[0], out = p.from[1];
        (void)setpgid(0, 0);
        die_with_parent();
        forget_handlers();
        (void)dup2(null, 0);
        (void)dup2(null, 1);
        p.to[0] = p.from[1] = -1;
        close_all(&p);
        serve(ctx, in, out);
        _exit(0);
    }
    if (pid < 0) {
        int code = errno;
        close_all(&p);
        return assay_fail(err, ASSAY_IO, "audit: no process: %s",
                          strerror(code));
    }
    (void)setpgid(pid, pid);
    *c = (assay_process){pid, p.to[1], p.from[0], 0};
    p.to[1] = p.from[0] = -1;
    close_all(&p);
    return ASSAY_OK;
}

int assay_process_finish(assay_process *c, int *ended)
{
    int status = 0;
    if (c->in >= 0) {
        (void)close(c->in);
    }
    (void)close(c->out);
    *ended = 0;
    for (int k = 0; k < 20 && !*ended; k++) {
        struct timespec ms = {0, 10000000};
        *ended = waitpid(c->pid, &status, WNOHANG) == c->pid;
        if (!*ended) {
            (void)nanosleep(&ms, NULL);
        }
    }
    (void)kill(-c->pid, SIGKILL); /* children it left behind */
    if (!*ended) {
        (void)waitpid(c->pid, &status, 0);
    }
    if (c->mark != 0) {
        kill_all_strays(c->mark);
        adopt(0);
    }
    return status;
}

/* ---- bytes -------------------------------------------------------------- */

int assay_process_read(int fd, void *out, size_t n, double timeout,
                       double limit)
{
    size_t done = 0;
    while (done < n) {
        struct pollfd p = {fd, POLLIN, 0};
        double left = limit - assay_process_clock();
        if (left <= 0) {
            return 0;
        }
        int ready =
            poll(&p, 1, (int)(1000 * (left < timeout ? left : timeout)) + 1);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready == 0) {
            return 0;
        }
        ssize_t got = read(fd, (char *)out + done, n - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return -1;
        }
        done += (size_t)got;
    }
    return 1;
}

int assay_process_write(int fd, const void *bytes, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = write(fd, (const char *)bytes + done, n - done);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return -1;
        }
        done += (size_t)got;
    }
    return 0;
}
