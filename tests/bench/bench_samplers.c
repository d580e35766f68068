/* ring: glue */
/* Samples per second by law and scale, one core, beside the tape itself and a
 * naive continuous Box-Muller in double (which is not private: a yardstick). */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/rational.h"
#include "mechanisms/sampler.h"

#define CHUNK 65536
#define SECONDS 0.4

static int64_t values[CHUNK];
static double naive_sink;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double tape_rate(assay_tape *tape)
{
    double start = now();
    double words = 0;
    do {
        for (int i = 0; i < 16; i++) {
            const uint64_t *w = NULL;
            size_t count = 0;
            if (assay_tape_peek(tape, &w, &count, 1) != ASSAY_OK) {
                return 0;
            }
            assay_tape_advance(tape, count);
            words += (double)count;
        }
    } while (now() - start < SECONDS);
    return words / (now() - start);
}

static double box_muller_rate(assay_tape *tape)
{
    double start = now();
    double made = 0;
    do {
        const uint64_t *w = NULL;
        size_t count = 0;
        if (assay_tape_peek(tape, &w, &count, 2) != ASSAY_OK) {
            return 0;
        }
        for (size_t i = 0; i + 1 < count; i += 2) {
            double u = ((double)(w[i] >> 11) + 1.0) * 0x1p-53;
            double v = (double)(w[i + 1] >> 11) * 0x1p-53;
            double r = sqrt(-2.0 * log(u));
            naive_sink +=
                r * cos(6.283185307179586 * v) + r * sin(6.283185307179586 * v);
        }
        assay_tape_advance(tape, count);
        made += (double)count;
    } while (now() - start < SECONDS);
    return made / (now() - start);
}

static double sampler_rate(assay_sampler *sampler, assay_tape *tape, size_t n)
{
    double start = now();
    double made = 0;
    do {
        if (assay_sampler_fill(sampler, tape, values, n, NULL) != ASSAY_OK) {
            return 0;
        }
        made += (double)n;
    } while (now() - start < SECONDS);
    return made / (now() - start);
}

static void row(assay_tape *tape, const char *law, const char *parameter,
                assay_route route, int constant_time, double yardstick)
{
    assay_sampler_options options = {route, constant_time};
    assay_sampler *sampler = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status;
    double start = now();
    double made_ms;
    double rate;
    mpq_t q;
    mpq_init(q);
    if (assay_rational_parse(q, parameter, "parameter", &err) != ASSAY_OK) {
        exit(1);
    }
    if (law[0] == 'G') {
        status =
            assay_sampler_new_discrete_gaussian(&sampler, q, &options, &err);
    } else if (law[0] == 'L') {
        status =
            assay_sampler_new_discrete_laplace(&sampler, q, &options, &err);
    } else {
        status = assay_sampler_new_rounded_gaussian(&sampler, q, 10, &err);
    }
    mpq_clear(q);
    if (status != ASSAY_OK) {
        (void)printf("%-22s %-16s %s\n", law, parameter, err.message);
        return;
    }
    made_ms = 1e3 * (now() - start);
    rate = sampler_rate(
        sampler, tape,
        route == ASSAY_ROUTE_REJECTION || law[0] == 'R' ? 512 : CHUNK);
    (void)printf("%-22s %-16s %-10s %10.2f %10.2f %10.3f\n", law, parameter,
                 constant_time                    ? "constant"
                 : route == ASSAY_ROUTE_REJECTION ? "route 2"
                                                  : "route 1",
                 rate / 1e6, made_ms, rate / yardstick);
    assay_sampler_free(sampler);
}

int main(void)
{
    static const char *const sigma2[] = {"1/1000",
                                         "1",
                                         "100",
                                         "10000",
                                         "1000000",
                                         "1000000000000",
                                         "1208925819614629174706176"};
    static const char *const scale[] = {"1",    "10",      "100",
                                        "1000", "1000000", "1099511627776"};
    assay_tape tape;
    double naive;
    if (assay_tape_init(&tape, NULL) != ASSAY_OK) {
        return 1;
    }
    (void)printf("%-22s %-16s %-10s %10s %10s %10s\n", "law", "sigma2 or scale",
                 "mode", "million/s", "create ms", "x naive");
    naive = box_muller_rate(&tape);
    (void)printf("%-22s %-16s %-10s %10.2f\n", "tape (words)", "", "",
                 tape_rate(&tape) / 1e6);
    (void)printf("%-22s %-16s %-10s %10.2f\n", "naive Box-Muller", "", "double",
                 naive / 1e6);
    for (size_t i = 0; i < sizeof sigma2 / sizeof sigma2[0]; i++) {
        row(&tape, "Gaussian", sigma2[i], ASSAY_ROUTE_INVERSE, 0, naive);
    }
    for (size_t i = 0; i < sizeof scale / sizeof scale[0]; i++) {
        row(&tape, "Laplace", scale[i], ASSAY_ROUTE_INVERSE, 0, naive);
    }
    for (size_t i = 1; i < 5; i++) {
        row(&tape, "Gaussian", sigma2[i], ASSAY_ROUTE_INVERSE, 1, naive);
    }
    for (size_t i = 0; i < 4; i++) {
        row(&tape, "Laplace", scale[i], ASSAY_ROUTE_INVERSE, 1, naive);
    }
    for (size_t i = 1; i < 7; i++) {
        row(&tape, "Gaussian", sigma2[i], ASSAY_ROUTE_REJECTION, 0, naive);
    }
    for (size_t i = 0; i < 6; i++) {
        row(&tape, "Laplace", scale[i], ASSAY_ROUTE_REJECTION, 0, naive);
    }
    row(&tape, "Rounded Gaussian 2^-10", "1/4", ASSAY_ROUTE_AUTO, 0, naive);
    row(&tape, "Rounded Gaussian 2^-10", "100", ASSAY_ROUTE_AUTO, 0, naive);
    assay_tape_clear(&tape);
    return naive_sink == 0.5;
}
