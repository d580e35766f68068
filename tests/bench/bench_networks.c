/* ring: glue */
/* What per-example clipping costs beside a plain batch step, measured in turn
 * on the same network and batch: medians of the ratio. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algorithms/envrand.h"
#include "algorithms/network.h"
#include "algorithms/selective.h"

#define INPUTS 8
#define OUTPUTS 4
#define ROUNDS 41
#define MAX_BATCH 256

/* Processor time: other programs do not change it. */
static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *x)
{
    qsort(x, ROUNDS, sizeof *x, by_value);
    return x[ROUNDS / 2];
}

typedef struct bench {
    assay_network net;
    assay_network_work work;
    size_t batch, rows; /* rows of a group */
    double x[MAX_BATCH * INPUTS], d[MAX_BATCH * OUTPUTS];
    double norms[MAX_BATCH], scale[MAX_BATCH];
    size_t begin[MAX_BATCH + 1];
    double *grad;
    int64_t *one, *sum;
} bench;

static void start(bench *b)
{
    (void)assay_network_forward(&b->net, &b->work, b->x, b->batch);
    assay_network_backward(&b->net, &b->work, b->d);
}

static double plain(bench *b)
{
    double from = now();
    start(b);
    assay_network_gradient(&b->net, &b->work, NULL, b->grad);
    assay_sgd_step(b->net.params, b->grad, b->net.num_params, 1e-6);
    return now() - from;
}

static double clipped(bench *b)
{
    double from = now();
    start(b);
    assay_network_clipped(&b->net, &b->work, b->begin, b->batch / b->rows, 1.0,
                          b->norms, b->scale, b->grad);
    assay_sgd_step(b->net.params, b->grad, b->net.num_params, 1e-6);
    return now() - from;
}

/* every group's gradient formed, rounded to the lattice and clipped there */
static double on_lattice(bench *b)
{
    double from = now();
    size_t n = b->net.num_params;
    start(b);
    memset(b->sum, 0, n * sizeof *b->sum);
    for (size_t g = 0; g < b->batch / b->rows; g++) {
        assay_network_rows_gradient(&b->net, &b->work, b->begin[g], b->rows,
                                    b->grad);
        assay_selective_bound(b->one, b->grad, n, 9, 512);
        for (size_t i = 0; i < n; i++) {
            b->sum[i] += b->one[i];
        }
    }
    return now() - from;
}

static int run(size_t width, size_t batch, size_t rows)
{
    const size_t widths[4] = {INPUTS, width, width, OUTPUTS};
    static bench b;
    double time[3][ROUNDS];
    double ratio[2][ROUNDS];
    assay_envrand rand;
    assay_error err = ASSAY_ERROR_INIT;
    b.batch = batch;
    b.rows = rows;
    if (assay_network_init(&b.net, widths, 3, ASSAY_RELU, &err) != ASSAY_OK ||
        assay_network_work_init(&b.work, &b.net, batch, rows, &err) !=
            ASSAY_OK) {
        return 1;
    }
    assay_network_randomise(&b.net, 1, 1.0);
    assay_envrand_init(&rand, 2, 0);
    for (size_t i = 0; i < batch * INPUTS; i++) {
        b.x[i] = 2 * assay_envrand_unit(&rand) - 1;
    }
    for (size_t i = 0; i < batch * OUTPUTS; i++) {
        b.d[i] = 2 * assay_envrand_unit(&rand) - 1;
    }
    for (size_t g = 0; g <= batch / rows; g++) {
        b.begin[g] = g * rows;
    }
    b.grad = calloc(b.net.num_params, sizeof *b.grad);
    b.one = calloc(b.net.num_params, sizeof *b.one);
    b.sum = calloc(b.net.num_params, sizeof *b.sum);
    for (int i = 0; i < ROUNDS; i++) {
        time[0][i] = plain(&b);
        time[1][i] = clipped(&b);
        time[2][i] = on_lattice(&b);
        ratio[0][i] = time[1][i] / time[0][i];
        ratio[1][i] = time[2][i] / time[0][i];
    }
    (void)printf("%6zu %6zu %6zu %9zu %10.3f %10.3f %7.2f %11.3f %7.2f\n",
                 width, batch, rows, b.net.num_params, 1e3 * median(time[0]),
                 1e3 * median(time[1]), median(ratio[0]), 1e3 * median(time[2]),
                 median(ratio[1]));
    free(b.grad);
    free(b.one);
    free(b.sum);
    assay_network_work_clear(&b.work);
    assay_network_clear(&b.net);
    return 0;
}

int main(void)
{
    static const size_t cases[][3] = {
        {256, 128, 1}, {256, 128, 8}, {64, 128, 1}, {64, 128, 8}, {32, 128, 8}};
    (void)printf(
        "processor milliseconds a step, two hidden layers; median of %d\n"
        " width  batch  group    params      plain    clipped   "
        "ratio  on lattice   ratio\n",
        ROUNDS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (run(cases[i][0], cases[i][1], cases[i][2]) != 0) {
            return 1;
        }
    }
    return 0;
}
