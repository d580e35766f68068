/* ring: glue */
#include "audit/work.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int assay_work_threads(int wanted)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int n = wanted > 0 ? wanted : (int)(cores > 0 ? cores : 1);
    return n > ASSAY_MAX_THREADS ? ASSAY_MAX_THREADS : n;
}

typedef struct shared {
    const assay_source *source;
    uint64_t next, end;
    size_t unit;
    assay_unit_fn fn;
    void *arg;
    pthread_mutex_t lock;
    assay_status status;
    assay_error err;
} shared;

typedef struct job {
    shared *all;
    int thread;
} job;

static int take(shared *s, uint64_t *first, size_t *n)
{
    int got = 0;
    (void)pthread_mutex_lock(&s->lock);
    if (s->status == ASSAY_OK && s->next < s->end) {
        *first = s->next;
        *n = s->end - s->next < s->unit ? (size_t)(s->end - s->next) : s->unit;
        s->next += *n;
        got = 1;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return got;
}

static void stop(shared *s, assay_status status, const assay_error *err)
{
    (void)pthread_mutex_lock(&s->lock);
    if (s->status == ASSAY_OK) {
        s->status = status;
        s->err = *err;
    }
    (void)pthread_mutex_unlock(&s->lock);
}

static void *run(void *data)
{
    job *j = data;
    shared *s = j->all;
    assay_rows rows[2];
    assay_error err = ASSAY_ERROR_INIT;
    memset(rows, 0, sizeof rows);
    assay_status status = assay_rows_init(&rows[0], s->source->width, &err);
    if (status == ASSAY_OK) {
        status = assay_rows_init(&rows[1], s->source->width, &err);
    }
    uint64_t first;
    size_t n;
    while (status == ASSAY_OK && take(s, &first, &n)) {
        for (int side = 0; status == ASSAY_OK && side < 2; side++) {
            status = assay_source_fill(s->source, side, first, n, &rows[side],
                                       &err);
        }
        if (status == ASSAY_OK) {
            status = s->fn(s->arg, j->thread, first, &rows[0], &rows[1], &err);
        }
    }
    if (status != ASSAY_OK) {
        stop(s, status, &err);
    }
    assay_rows_clear(&rows[0]);
    assay_rows_clear(&rows[1]);
    return NULL;
}

assay_status assay_work_units(const assay_source *source, uint64_t first,
                              uint64_t end, size_t unit, int threads,
                              assay_unit_fn fn, void *arg, assay_error *err)
{
    shared s = {.source = source, .next = first, .end = end, .unit = unit,
                .fn = fn, .arg = arg, .status = ASSAY_OK};
    pthread_t id[ASSAY_MAX_THREADS];
    job jobs[ASSAY_MAX_THREADS];
    int started = 0;
    int wanted = source->serial ? 1 : assay_work_threads(threads);
    (void)pthread_mutex_init(&s.lock, NULL);
    for (int t = 0; t < wanted; t++) {
        jobs[t] = (job){&s, t};
        if (t + 1 < wanted &&
            pthread_create(&id[started], NULL, run, &jobs[t]) == 0) {
            started++;
        }
    }
    (void)run(&jobs[wanted - 1]); /* this thread works too */
    for (int t = 0; t < started; t++) {
        (void)pthread_join(id[t], NULL);
    }
    (void)pthread_mutex_destroy(&s.lock);
    if (s.status != ASSAY_OK && err != NULL) {
        *err = s.err;
    }
    return s.status;
}

/* ---- sorting: least-significant digit first, 11 bits a pass ------------------- */

static uint32_t float_key(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b ^ ((b >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

void assay_work_sort(float *x, float *spare, size_t n)
{
    for (unsigned shift = 0; shift < 33; shift += 11) {
        size_t count[2048] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++) {
            count[(float_key(x[i]) >> shift) & 2047]++;
        }
        for (size_t k = 0; k < 2048; k++) {
            size_t c = count[k];
            count[k] = sum;
            sum += c;
        }
        for (size_t i = 0; i < n; i++) {
            spare[count[(float_key(x[i]) >> shift) & 2047]++] = x[i];
        }
        memcpy(x, spare, n * sizeof *x);
    }
}

/* ---- choosing ----------------------------------------------------------------- */

typedef struct sweep {
    const assay_claim *claim;
    double n, target, level, caution;
    assay_event best;
} sweep;

/* A threshold where k1 of the first side and k2 of the second are inside. */
static void consider(sweep *s, double k1, double k2, float threshold,
                     int swapped)
{
    double scale = s->target / s->n, c = s->caution;
    double a = k1 - c * sqrt(k1 * (1 - k1 / s->n));
    double b = k2 + c * sqrt((k2 + 0.3) * (1 - k2 / s->n));
    if (!(a > 0)) {
        return;
    }
    double merit = assay_bound_fast(s->claim, a * scale, s->target, b * scale,
                                    s->target, s->level);
    if (merit > s->best.merit) {
        s->best.merit = merit;
        s->best.threshold = threshold;
        s->best.swapped = swapped;
        s->best.p[0] = k1 / s->n;
        s->best.p[1] = k2 / s->n;
    }
}

/* From the top (events score >= t, `a` in front) or, swapped, from the bottom
 * (score <= t, `b` in front). Looks at masses that grow by 1 %. */
static void walk(sweep *s, const float *a, const float *b, size_t n,
                 int swapped)
{
    size_t i = 0, j = 0;
    double next = 1;
    while (i < n || j < n) {
        float x = i < n ? a[swapped ? i : n - 1 - i] : 0;
        float y = j < n ? b[swapped ? j : n - 1 - j] : 0;
        float t;
        if (i >= n) {
            t = y;
        } else if (j >= n) {
            t = x;
        } else {
            t = swapped ? (x < y ? x : y) : (x > y ? x : y);
        }
        while (i < n && a[swapped ? i : n - 1 - i] == t) {
            i++;
        }
        while (j < n && b[swapped ? j : n - 1 - j] == t) {
            j++;
        }
        if ((double)(i + j) >= next) {
            consider(s, (double)(swapped ? j : i), (double)(swapped ? i : j),
                     t, swapped);
            next = 1.01 * (double)(i + j);
        }
    }
}

assay_event assay_work_choose(const assay_claim *claim, float *left,
                              float *right, float *spare, size_t n,
                              double target, double level, double caution)
{
    sweep s = {claim, (double)n, target, level, caution,
               {0, 0, 0, -1, {0, 0}}};
    assay_work_sort(left, spare, n);
    assay_work_sort(right, spare, n);
    walk(&s, left, right, n, 0);
    walk(&s, left, right, n, 1);
    return s.best;
}
