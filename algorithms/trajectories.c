/* ring: glue */
#include "algorithms/trajectories.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "algorithms/csv_row.h"
#include "algorithms/roster.h"

#define HEADER "user,h,s,a,r,s_next"
#define BUFFER_LEN ((size_t)1 << 20)
#define LINE_LEN 4096u
#define MAX_THREADS 64u
#define PRIVATE_CELLS ((size_t)1 << 22)

/* One user's steps, to find the line at which they do not fit. */
typedef struct trail {
    uint64_t user;
    uint32_t *s, *s_next; /* [h] */
    uint64_t *line;       /* [h] */
} trail;

/* One thread's part of a file: the lines that begin in [begin, end). */
typedef struct part {
    const char *path;
    int fd;
    int seekable;
    off_t begin, end; /* end < 0: to the end of the file */
    off_t offset;     /* of the next byte to read */
    uint64_t line;    /* of the line just taken, from 1 */
    int shared;       /* counts are shared: add atomically */
    uint32_t num_parts;
    assay_counts *counts;
    assay_roster *roster;
    const assay_roster *others; /* may be NULL */
    assay_progress *meter;      /* of the first part alone, or NULL */
    trail *follow;              /* only these lines matter, if not NULL */
    uint64_t rows;
    char *buffer;
    assay_error err;
    assay_status status;
} part;

static int line_number(const part *p)
{
    return p->line > INT_MAX ? INT_MAX : (int)p->line;
}

#define REFUSE(p, ...)                                                         \
    assay_fail_at(&(p)->err, ASSAY_INVALID, line_number(p), 1, __VA_ARGS__)

static assay_status refuse_fault(part *p, assay_csv_fault fault)
{
    static const char *const field[] = {"",  "user", "h",     "s",
                                        "a", "r",    "s_next"};
    switch (fault) {
    case ASSAY_CSV_FIELDS:
        return REFUSE(p, "%s: expected six fields: " HEADER, p->path);
    case ASSAY_CSV_R:
        return REFUSE(p, "%s: r is not a finite decimal number", p->path);
    default:
        return REFUSE(p, "%s: %s is not a whole number", p->path, field[fault]);
    }
}

static assay_status check_ranges(part *p, const assay_csv_row *row)
{
    const assay_shape *shape = &p->counts->shape;
    if (row->h < 1 || row->h > shape->horizon) {
        return REFUSE(p, "%s: h is %" PRIu64 ", the steps are 1 to %u", p->path,
                      row->h, shape->horizon);
    }
    if (row->s >= shape->num_states || row->s_next >= shape->num_states) {
        return REFUSE(p, "%s: %s is %" PRIu64 ", the states are 0 to %u",
                      p->path, row->s >= shape->num_states ? "s" : "s_next",
                      row->s >= shape->num_states ? row->s : row->s_next,
                      shape->num_states - 1);
    }
    if (row->a >= shape->num_actions) {
        return REFUSE(p, "%s: a is %" PRIu64 ", the actions are 0 to %u",
                      p->path, row->a, shape->num_actions - 1);
    }
    return ASSAY_OK;
}

static assay_status note_user(part *p, const assay_csv_row *row)
{
    if (p->others != NULL && assay_roster_has(p->others, row->user)) {
        return REFUSE(p, "%s: user %" PRIu64 " is in the other file too",
                      p->path, row->user);
    }
    switch (assay_roster_note(p->roster, row->user, (uint32_t)row->h - 1,
                              (uint32_t)row->s, (uint32_t)row->s_next,
                              (uint32_t)line_number(p))) {
    case ASSAY_ROSTER_NEW:
        return ASSAY_OK;
    case ASSAY_ROSTER_DUPLICATE:
        return REFUSE(p, "%s: user %" PRIu64 " has step %" PRIu64 " twice",
                      p->path, row->user, row->h);
    case ASSAY_ROSTER_FULL:
        return REFUSE(p, "%s: too many users (fewer than 2^31 are supported)",
                      p->path);
    default:
        return assay_fail(&p->err, ASSAY_MEMORY, "no memory for the users");
    }
}

static void add_row(part *p, const assay_csv_row *row)
{
    assay_counts *counts = p->counts;
    uint32_t h = (uint32_t)row->h - 1;
    size_t pair;
    size_t triple;
    p->rows++;
    if (!p->shared) {
        assay_counts_add(counts, h, (uint32_t)row->s, (uint32_t)row->a,
                         (uint32_t)row->s_next);
        return;
    }
    pair =
        assay_shape_pair(&counts->shape, h, (uint32_t)row->s, (uint32_t)row->a);
    triple = counts->num_pairs + pair * counts->shape.num_states + row->s_next;
    __atomic_fetch_add(counts->cell + pair, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(counts->cell + triple, 1, __ATOMIC_RELAXED);
}

static void follow_row(const part *p, const assay_csv_row *row)
{
    trail *t = p->follow;
    if (row->user == t->user) {
        t->s[row->h - 1] = (uint32_t)row->s;
        t->s_next[row->h - 1] = (uint32_t)row->s_next;
        t->line[row->h - 1] = p->line;
    }
}

static assay_status take_line(part *p, const char *text, size_t len)
{
    assay_csv_row row = {0, 0, 0, 0, 0};
    assay_csv_fault fault;
    assay_status status;
    p->line++;
    if (len > 0 && text[len - 1] == '\r') {
        len--;
    }
    if (p->line == 1 && p->begin == 0) {
        if (len != strlen(HEADER) || memcmp(text, HEADER, len) != 0) {
            return REFUSE(p, "%s: the first line must be " HEADER, p->path);
        }
        return ASSAY_OK;
    }
    fault = assay_csv_row_parse(&row, text, len);
    status = fault == ASSAY_CSV_FINE ? check_ranges(p, &row)
                                     : refuse_fault(p, fault);
    if (status == ASSAY_OK && p->follow != NULL) {
        follow_row(p, &row);
        return ASSAY_OK;
    }
    if (status == ASSAY_OK) {
        status = note_user(p, &row);
    }
    if (status == ASSAY_OK) {
        add_row(p, &row);
    }
    return status;
}

/* Fills the buffer behind `held` bytes; *got is 0 at the end of the file. */
static assay_status refill(part *p, size_t held, size_t *got)
{
    ssize_t n;
    do {
        n = p->seekable
                ? pread(p->fd, p->buffer + held, BUFFER_LEN - held, p->offset)
                : read(p->fd, p->buffer + held, BUFFER_LEN - held);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return assay_fail(&p->err, ASSAY_IO, "%s: %s", p->path,
                          strerror(errno));
    }
    p->offset += n;
    *got = (size_t)n;
    if (p->meter != NULL) {
        assay_progress_update(p->meter, (uint64_t)p->offset * p->num_parts,
                              NULL);
    }
    return ASSAY_OK;
}

/* Takes the whole lines of the buffer that begin before p->end; *used is how
 * many bytes they are. `base` is the file offset of the buffer's start. */
static assay_status take_lines(part *p, size_t held, off_t base, size_t *used,
                               int *done)
{
    size_t at = 0;
    assay_status status = ASSAY_OK;
    while (status == ASSAY_OK) {
        const char *end;
        if (p->end >= 0 && base + (off_t)at >= p->end) {
            *done = 1;
            break;
        }
        end = memchr(p->buffer + at, '\n', held - at);
        if (end == NULL) {
            break;
        }
        status = take_line(p, p->buffer + at, (size_t)(end - (p->buffer + at)));
        at = (size_t)(end - p->buffer) + 1;
    }
    *used = at;
    return status;
}

/* A part that begins inside the file starts behind the first line end at or
 * after begin - 1. */
static assay_status skip_first(part *p, size_t *held)
{
    const char *end;
    size_t got = 0;
    assay_status status;
    *held = 0;
    if (p->begin == 0) {
        return ASSAY_OK;
    }
    p->offset = p->begin - 1;
    status = refill(p, 0, &got);
    if (status != ASSAY_OK) {
        return status;
    }
    end = memchr(p->buffer, '\n', got);
    if (end == NULL) {
        return got > LINE_LEN ? REFUSE(p, "%s: a line is too long", p->path)
                              : ASSAY_OK;
    }
    *held = got - (size_t)(end + 1 - p->buffer);
    memmove(p->buffer, end + 1, *held);
    return ASSAY_OK;
}

static assay_status read_part(part *p)
{
    size_t held = 0;
    int done = 0;
    assay_status status = skip_first(p, &held);
    while (status == ASSAY_OK && !done) {
        size_t used = 0;
        size_t got = 0;
        off_t base = p->offset - (off_t)held;
        status = take_lines(p, held, base, &used, &done);
        if (status != ASSAY_OK || done) {
            break;
        }
        held -= used;
        memmove(p->buffer, p->buffer + used, held);
        if (held > LINE_LEN) {
            p->line++;
            return REFUSE(p, "%s: the line is longer than %u bytes", p->path,
                          LINE_LEN);
        }
        status = refill(p, held, &got);
        if (status == ASSAY_OK && got == 0) {
            return held == 0 ? ASSAY_OK : take_line(p, p->buffer, held);
        }
        held += got;
    }
    return status;
}

static void *run_part(void *arg)
{
    part *p = arg;
    p->buffer = malloc(BUFFER_LEN);
    if (p->buffer == NULL) {
        p->status = assay_fail(&p->err, ASSAY_MEMORY, "no memory to read");
        return NULL;
    }
    p->status = read_part(p);
    OPENSSL_cleanse(p->buffer, BUFFER_LEN);
    free(p->buffer);
    return NULL;
}

/* What is wrong with a file whose lines are all fine. */
static assay_status check_whole(const part *p, uint64_t rows,
                                assay_counts *counts, assay_error *err)
{
    uint64_t user = 0;
    uint32_t h = 0;
    uint32_t line = 0;
    if (p->line == 0 && p->begin == 0 && rows == 0) {
        return assay_fail_at(
            err, ASSAY_INVALID, 1, 1,
            "%s: the file is empty; the first line must be " HEADER, p->path);
    }
    if (rows == 0) {
        return assay_fail_at(err, ASSAY_INVALID, 2, 1,
                             "%s: there are no transitions", p->path);
    }
    counts->num_users = assay_roster_users(p->roster);
    if (rows != counts->num_users * counts->shape.horizon &&
        assay_roster_gap(p->roster, &user, &h, &line)) {
        return assay_fail_at(err, ASSAY_INVALID, (int)line, 1,
                             "%s: user %" PRIu64 ", who begins here, has no "
                             "step %u",
                             p->path, user, h + 1);
    }
    return ASSAY_OK;
}

/* The line at which a user's steps do not fit, by reading once more. */
static assay_status refuse_trail(part *p, const trail *t, uint32_t horizon,
                                 assay_error *err)
{
    assay_status status;
    p->follow = NULL;
    for (uint32_t h = 1; h < horizon; h++) {
        if (t->s[h] != t->s_next[h - 1]) {
            p->line = t->line[h];
            status = REFUSE(p,
                            "%s: user %" PRIu64 " is in state %u at step %u, "
                            "but step %u went to state %u (line %" PRIu64 ")",
                            p->path, t->user, t->s[h], h + 1, h,
                            t->s_next[h - 1], t->line[h - 1]);
            if (err != NULL) {
                *err = p->err;
            }
            return status;
        }
    }
    return assay_fail(err, ASSAY_IO, "%s: the file changed while it was read",
                      p->path);
}

static assay_status find_jump(const part *first, assay_counts *counts,
                              uint64_t user, assay_error *err)
{
    uint32_t horizon = counts->shape.horizon;
    part p = *first;
    trail t;
    assay_status status;
    t.user = user;
    t.s = calloc(horizon, sizeof(uint32_t));
    t.s_next = calloc(horizon, sizeof(uint32_t));
    t.line = calloc(horizon, sizeof(uint64_t));
    p.end = -1;
    p.offset = 0;
    p.line = 0;
    p.meter = NULL;
    p.counts = counts;
    p.follow = &t;
    if (t.s == NULL || t.s_next == NULL || t.line == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory to read");
    } else {
        (void)run_part(&p);
        status = refuse_trail(&p, &t, horizon, err);
    }
    free(t.s);
    free(t.s_next);
    free(t.line);
    return status;
}

/* Everyone is complete; does everyone begin a step where the last ended? */
static assay_status check_jumps(const part *first, assay_counts *counts,
                                assay_error *err)
{
    uint64_t user = 0;
    uint32_t line = 0;
    if (!assay_roster_jump(first->roster, &user, &line)) {
        return ASSAY_OK;
    }
    if (first->seekable) {
        return find_jump(first, counts, user, err);
    }
    return assay_fail_at(err, ASSAY_INVALID, (int)line, 1,
                         "%s: user %" PRIu64 ", who begins here, does not "
                         "begin every step where the one before ended",
                         first->path, user);
}

/* A part's own table, or the shared one if a table each would be too much. */
static assay_status give_counts(part *p, assay_counts *shared, uint32_t i)
{
    size_t cells = shared->num_pairs + shared->num_triples;
    if (i == 0 || cells > PRIVATE_CELLS) {
        p->counts = shared;
        p->shared = cells > PRIVATE_CELLS;
        return ASSAY_OK;
    }
    return assay_counts_new(&p->counts, &shared->shape, &p->err);
}

static void run_parts(part *parts, uint32_t num_parts)
{
    pthread_t thread[MAX_THREADS];
    int started[MAX_THREADS] = {0};
    for (uint32_t i = 1; i < num_parts; i++) {
        started[i] = pthread_create(&thread[i], NULL, run_part, &parts[i]) == 0;
    }
    (void)run_part(&parts[0]);
    for (uint32_t i = 1; i < num_parts; i++) {
        if (started[i]) {
            (void)pthread_join(thread[i], NULL);
        } else {
            (void)run_part(&parts[i]);
        }
    }
}

/* The first part's error wins; with one part its line is exact. */
static assay_status join_parts(part *parts, uint32_t num_parts,
                               assay_counts *counts, uint64_t *rows,
                               assay_error *err)
{
    assay_status status = ASSAY_OK;
    *rows = 0;
    for (uint32_t i = 0; i < num_parts; i++) {
        if (parts[i].status != ASSAY_OK && status == ASSAY_OK) {
            status = parts[i].status;
            if (err != NULL) {
                *err = parts[i].err;
            }
        }
        *rows += parts[i].rows;
        if (parts[i].counts != counts && parts[i].counts != NULL) {
            assay_counts_merge(counts, parts[i].counts);
            assay_counts_free(parts[i].counts);
        }
    }
    return status;
}

static uint64_t most_users(const assay_read_options *how)
{
    uint64_t n = how->max_users;
    return n == 0 || n > ASSAY_COUNTS_MAX_USERS ? ASSAY_COUNTS_MAX_USERS : n;
}

static assay_status read_with(assay_counts **out, int fd, const char *path,
                              const assay_shape *shape, uint32_t num_parts,
                              off_t size, const assay_read_options *how,
                              assay_error *err)
{
    part parts[MAX_THREADS];
    assay_counts *counts = NULL;
    assay_roster *roster = NULL;
    uint64_t rows = 0;
    assay_status status = assay_counts_new(&counts, shape, err);
    if (status == ASSAY_OK) {
        status =
            assay_roster_new(&roster, shape->horizon, most_users(how), err);
    }
    memset(parts, 0, sizeof parts);
    for (uint32_t i = 0; status == ASSAY_OK && i < num_parts; i++) {
        part *p = &parts[i];
        p->path = path;
        p->fd = fd;
        p->seekable = size >= 0;
        p->begin = size / (off_t)num_parts * (off_t)i;
        p->end =
            i + 1 == num_parts ? -1 : size / (off_t)num_parts * (off_t)(i + 1);
        p->begin = size < 0 ? 0 : p->begin;
        p->roster = roster;
        p->others = how->others;
        p->meter = i == 0 && size > 0 ? how->meter : NULL;
        p->num_parts = num_parts;
        p->status = give_counts(p, counts, i);
        status = p->status;
    }
    if (status == ASSAY_OK) {
        run_parts(parts, num_parts);
    }
    if (counts != NULL) {
        assay_status joined = join_parts(parts, num_parts, counts, &rows, err);
        status = status == ASSAY_OK ? joined : status;
    }
    if (status == ASSAY_OK) {
        status = check_whole(&parts[0], rows, counts, err);
    }
    if (status == ASSAY_OK && !how->allow_jumps) {
        status = check_jumps(&parts[0], counts, err);
    }
    if (status == ASSAY_OK && how->roster != NULL) {
        *how->roster = roster;
        roster = NULL;
    }
    assay_roster_free(roster);
    if (status != ASSAY_OK) {
        assay_counts_free(counts);
        return status;
    }
    *out = counts;
    return ASSAY_OK;
}

assay_status assay_trajectories_read_csv(assay_counts **out, const char *path,
                                         const assay_shape *shape,
                                         const assay_read_options *options,
                                         assay_error *err)
{
    struct stat info;
    assay_read_options how;
    uint32_t threads;
    off_t size = -1;
    assay_status status = assay_shape_check(shape, err);
    int fd = status == ASSAY_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return status != ASSAY_OK
                   ? status
                   : assay_fail(err, ASSAY_IO, "%s: %s", path, strerror(errno));
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        size = info.st_size;
    }
    memset(&how, 0, sizeof how);
    how = options == NULL ? how : *options;
    if (how.meter != NULL && size > 0) {
        how.meter->total = (uint64_t)size;
    }
    threads = how.num_threads;
    threads = threads > MAX_THREADS ? MAX_THREADS : threads;
    if (threads < 2 || size < (off_t)(BUFFER_LEN * threads)) {
        threads = 1;
    }
    status = read_with(out, fd, path, shape, threads, size, &how, err);
    if (status == ASSAY_INVALID && threads > 1) {
        status = read_with(out, fd, path, shape, 1, size, &how, err);
    }
    (void)close(fd);
    return status;
}

/* Digits of x and then `end`; returns the place behind. */
static char *put_number(char *at, uint64_t x, char end)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + x % 10);
        x /= 10;
    } while (x > 0);
    while (n > 0) {
        *at++ = digits[--n];
    }
    *at++ = end;
    return at;
}

/* A reward is one of a few: its text is made once. */
#define REWARD_LEN 28

static char *reward_texts(const assay_mdp *mdp)
{
    size_t pairs = assay_shape_pairs(&mdp->shape);
    char *text = calloc(pairs, REWARD_LEN);
    for (size_t i = 0; text != NULL && i < pairs; i++) {
        (void)snprintf(text + i * REWARD_LEN, REWARD_LEN, "%.17g",
                       mdp->reward[i]);
    }
    return text;
}

static void write_user(FILE *file, const assay_mdp *mdp,
                       const double *behaviour, const char *rewards,
                       uint64_t user, assay_envrand *rand)
{
    const assay_shape *shape = &mdp->shape;
    uint32_t s = assay_mdp_reset(mdp, rand);
    for (uint32_t h = 0; h < shape->horizon; h++) {
        char line[160];
        char *at = line;
        size_t row = assay_shape_pair(shape, h, s, 0);
        uint32_t a = assay_mdp_draw(behaviour + row, shape->num_actions, rand);
        uint32_t next = assay_mdp_step(mdp, h, s, a, rand);
        const char *r = rewards + (row + a) * REWARD_LEN;
        at = put_number(at, user, ',');
        at = put_number(at, h + 1, ',');
        at = put_number(at, s, ',');
        at = put_number(at, a, ',');
        memcpy(at, r, strlen(r));
        at += strlen(r);
        *at++ = ',';
        at = put_number(at, next, '\n');
        (void)fwrite(line, 1, (size_t)(at - line), file);
        s = next;
    }
}

assay_status assay_trajectories_write_csv(const char *path,
                                          const assay_mdp *mdp,
                                          const double *behaviour,
                                          uint64_t num_users, uint64_t seed,
                                          assay_error *err)
{
    assay_envrand rand;
    char *rewards = reward_texts(mdp);
    FILE *file = fopen(path, "wb");
    int bad;
    if (file == NULL || rewards == NULL) {
        if (file != NULL) {
            (void)fclose(file);
        }
        free(rewards);
        return assay_fail(err, ASSAY_IO, "%s: cannot be written", path);
    }
    assay_envrand_init(&rand, seed, 0);
    (void)fprintf(file, HEADER "\n");
    for (uint64_t user = 1; user <= num_users && !ferror(file); user++) {
        write_user(file, mdp, behaviour, rewards, user, &rand);
    }
    bad = ferror(file);
    bad |= fclose(file) != 0;
    free(rewards);
    if (bad) {
        return assay_fail(err, ASSAY_IO, "%s: cannot write all of it", path);
    }
    return ASSAY_OK;
}
