/* ring: glue */
/* Does the time or the number of words of a draw tell its value?
 *
 * Every draw is timed alone and put into one of two classes by |value| (below
 * the median or not). Welch's t between the classes, in the manner of dudect:
 * beyond about 4.5 the time depends on the value. Times in the upper 5 % (the
 * scheduler, a refill of the tape) are left out of both classes. Beside it the
 * correlation of words drawn with |value|, and the mean words and time by
 * |value| for one case. A report, never a failure: the machine may be busy. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/rational.h"
#include "mechanisms/sampler.h"

#define DRAWS 400000

typedef struct draw {
    double size;
    double time;
    double words;
} draw;

static draw draws[DRAWS];
static double sorted[DRAWS];

static double ticks(void)
{
#if defined(__x86_64__)
    return (double)__builtin_ia32_rdtsc();
#else
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
#endif
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(size_t offset, double q)
{
    for (size_t i = 0; i < DRAWS; i++) {
        sorted[i] = *(const double *)((const char *)&draws[i] + offset);
    }
    qsort(sorted, DRAWS, sizeof sorted[0], by_value);
    return sorted[(size_t)(q * (DRAWS - 1))];
}

static int take(assay_sampler *sampler, assay_tape *tape)
{
    for (size_t i = 0; i < DRAWS; i++) {
        uint64_t at = tape->position;
        double start = ticks();
        int64_t value = 0;
        if (assay_sampler_one(sampler, tape, &value, NULL) != ASSAY_OK) {
            return 0;
        }
        draws[i].time = ticks() - start;
        draws[i].words = (double)(tape->position - at);
        draws[i].size = fabs((double)value);
    }
    return 1;
}

typedef struct moments {
    double n, mean, m2;
} moments;

static void add(moments *m, double x)
{
    double d = x - m->mean;
    m->n++;
    m->mean += d / m->n;
    m->m2 += d * (x - m->mean);
}

static double welch(double median, double cut)
{
    moments low = {0, 0, 0};
    moments high = {0, 0, 0};
    for (size_t i = 0; i < DRAWS; i++) {
        if (draws[i].time <= cut) {
            add(draws[i].size < median ? &low : &high, draws[i].time);
        }
    }
    return (high.mean - low.mean) /
           sqrt(low.m2 / (low.n - 1) / low.n + high.m2 / (high.n - 1) / high.n);
}

static double correlation(void)
{
    double sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    double n = DRAWS;
    for (size_t i = 0; i < DRAWS; i++) {
        double x = draws[i].size;
        double y = draws[i].words;
        sx += x;
        sy += y;
        sxx += x * x;
        syy += y * y;
        sxy += x * y;
    }
    if (syy * n <= sy * sy) {
        return 0; /* the same number of words every time */
    }
    return (n * sxy - sx * sy) /
           sqrt((n * sxx - sx * sx) * (n * syy - sy * sy));
}

static void by_size(double unit, double cut)
{
    (void)printf("    |value| / scale   mean words   mean ticks\n");
    for (int b = 0; b < 6; b++) {
        moments words = {0, 0, 0};
        moments time = {0, 0, 0};
        for (size_t i = 0; i < DRAWS; i++) {
            int bucket = (int)(2 * draws[i].size / unit);
            if ((bucket > 5 ? 5 : bucket) == b) {
                add(&words, draws[i].words);
                if (draws[i].time <= cut) {
                    add(&time, draws[i].time);
                }
            }
        }
        (void)printf("    %.1f to %-9.1f %10.3f %12.1f\n", b / 2.0,
                     (b + 1) / 2.0, words.mean, time.mean);
    }
}

static void row(assay_tape *tape, const char *law, const char *parameter,
                assay_route route, int constant_time, double unit)
{
    assay_sampler_options options = {route, constant_time};
    assay_sampler *s = NULL;
    assay_status status;
    mpq_t q;
    double median;
    double cut;
    mpq_init(q);
    if (assay_rational_parse(q, parameter, "parameter", NULL) != ASSAY_OK) {
        exit(1);
    }
    status = law[0] == 'G'
                 ? assay_sampler_new_discrete_gaussian(&s, q, &options, NULL)
                 : assay_sampler_new_discrete_laplace(&s, q, &options, NULL);
    mpq_clear(q);
    if (status != ASSAY_OK || !take(s, tape)) {
        exit(1);
    }
    median = quantile(offsetof(draw, size), 0.5);
    cut = quantile(offsetof(draw, time), 0.95);
    (void)printf("%-9s %-8s %-14s %8.2f %14.3f\n", law, parameter,
                 constant_time                    ? "constant time"
                 : route == ASSAY_ROUTE_REJECTION ? "route 2"
                                                  : "route 1",
                 welch(median, cut), correlation());
    if (unit > 0) {
        by_size(unit, cut);
    }
    assay_sampler_free(s);
}

int main(void)
{
    assay_tape tape;
    if (assay_tape_init(&tape, NULL) != ASSAY_OK) {
        return 1;
    }
    (void)printf("%-9s %-8s %-14s %8s %14s\n", "law", "sigma2/t", "mode",
                 "t value", "corr. words");
    row(&tape, "Gaussian", "10000", ASSAY_ROUTE_REJECTION, 0, 100);
    row(&tape, "Gaussian", "10000", ASSAY_ROUTE_INVERSE, 0, 0);
    row(&tape, "Gaussian", "10000", ASSAY_ROUTE_INVERSE, 1, 100);
    row(&tape, "Laplace", "100", ASSAY_ROUTE_REJECTION, 0, 100);
    row(&tape, "Laplace", "100", ASSAY_ROUTE_INVERSE, 0, 0);
    row(&tape, "Laplace", "100", ASSAY_ROUTE_INVERSE, 1, 100);
    assay_tape_clear(&tape);
    return 0;
}
