/* ring: glue */
#include "core/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BAR_WIDTH 30

static int64_t now_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void assay_progress_start(assay_progress *meter, const char *label,
                          uint64_t total)
{
    meter->label = label;
    meter->total = total;
    meter->started_ms = now_ms();
    meter->drawn_ms = meter->started_ms - 1000;
    meter->enabled = isatty(STDERR_FILENO);
}

static void draw(const assay_progress *meter, uint64_t done, const char *note)
{
    double share =
        meter->total == 0 ? 0.0 : (double)done / (double)meter->total;
    int full = (int)(share * BAR_WIDTH);
    double elapsed = (double)(meter->drawn_ms - meter->started_ms) / 1000.0;
    (void)fprintf(stderr, "\r\033[K%-20s [", meter->label);
    for (int i = 0; i < BAR_WIDTH; i++) {
        (void)fputc(i < full ? '#' : '.', stderr);
    }
    (void)fprintf(stderr, "] %3.0f %% %.0f s%s%s", share * 100.0, elapsed,
                  note == NULL ? "" : "  ", note == NULL ? "" : note);
    (void)fflush(stderr);
}

void assay_progress_update(assay_progress *meter, uint64_t done,
                           const char *note)
{
    int64_t now;
    if (!meter->enabled) {
        return;
    }
    now = now_ms();
    if (now - meter->drawn_ms < 100) {
        return;
    }
    meter->drawn_ms = now;
    draw(meter, done, note);
}

void assay_progress_finish(assay_progress *meter)
{
    if (meter->enabled) {
        (void)fprintf(stderr, "\r\033[K");
        (void)fflush(stderr);
    }
}
