/* ring: glue */
#include "algorithms/network.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/checkpoint.h"
#include "algorithms/envrand.h"

static pthread_once_t blas_once = PTHREAD_ONCE_INIT;

static void one_blas_thread(void)
{
    openblas_set_num_threads(1);
}

static size_t layer_params(const assay_network *net, size_t layer)
{
    return net->widths[layer + 1] * (net->widths[layer] + 1);
}

assay_status assay_network_init(assay_network *net, const size_t *widths,
                                size_t num_layers, assay_activation activation,
                                assay_error *err)
{
    memset(net, 0, sizeof *net);
    if (num_layers < 1 || num_layers > ASSAY_NETWORK_MAX_LAYERS) {
        return assay_fail(err, ASSAY_INVALID, "a network has 1 to %d layers",
                          ASSAY_NETWORK_MAX_LAYERS);
    }
    for (size_t i = 0; i <= num_layers; i++) {
        if (widths[i] < 1 || widths[i] > ASSAY_NETWORK_MAX_WIDTH) {
            return assay_fail(err, ASSAY_INVALID,
                              "a layer has 1 to %d units, not %zu",
                              ASSAY_NETWORK_MAX_WIDTH, widths[i]);
        }
        net->widths[i] = widths[i];
    }
    net->num_layers = num_layers;
    net->activation = activation;
    for (size_t l = 0; l < num_layers; l++) {
        net->num_params += layer_params(net, l);
    }
    net->params = calloc(net->num_params, sizeof *net->params);
    return net->params == NULL
               ? assay_fail(err, ASSAY_MEMORY, "no memory for a network")
               : ASSAY_OK;
}

void assay_network_clear(assay_network *net)
{
    free(net->params);
    memset(net, 0, sizeof *net);
}

assay_status assay_network_copy(assay_network *out, const assay_network *net,
                                assay_error *err)
{
    assay_status status = assay_network_init(out, net->widths, net->num_layers,
                                             net->activation, err);
    if (status == ASSAY_OK) {
        memcpy(out->params, net->params, net->num_params * sizeof(double));
    }
    return status;
}

void assay_network_randomise(assay_network *net, uint64_t seed, double last)
{
    double *p = net->params;
    assay_envrand rand;
    assay_envrand_init(&rand, seed, 0);
    for (size_t l = 0; l < net->num_layers; l++) {
        size_t in = net->widths[l];
        size_t out = net->widths[l + 1];
        double gain = net->activation == ASSAY_RELU ? 2.0 : 1.0;
        double width = sqrt(6.0 * gain / (double)(in + out));
        width = l + 1 == net->num_layers ? width * last : width;
        for (size_t i = 0; i < in * out; i++) {
            p[i] = width * (2.0 * assay_envrand_unit(&rand) - 1.0);
        }
        memset(p + in * out, 0, out * sizeof *p);
        p += layer_params(net, l);
    }
}

assay_status assay_network_work_init(assay_network_work *work,
                                     const assay_network *net, size_t max_rows,
                                     size_t max_group, assay_error *err)
{
    int ok = 1;
    (void)pthread_once(&blas_once, one_blas_thread);
    memset(work, 0, sizeof *work);
    work->max_rows = max_rows;
    work->max_group = max_group;
    for (size_t l = 0; l <= net->num_layers; l++) {
        work->values[l] = calloc(max_rows * net->widths[l] + 1, 8);
        work->deltas[l] = calloc(max_rows * net->widths[l] + 1, 8);
        ok = ok && work->values[l] != NULL && work->deltas[l] != NULL;
    }
    work->gram = calloc(2 * max_group * max_group + 1, sizeof(double));
    if (!ok || work->gram == NULL) {
        assay_network_work_clear(work);
        return assay_fail(err, ASSAY_MEMORY, "no memory for a network");
    }
    return ASSAY_OK;
}

void assay_network_work_clear(assay_network_work *work)
{
    for (size_t l = 0; l <= ASSAY_NETWORK_MAX_LAYERS; l++) {
        free(work->values[l]);
        free(work->deltas[l]);
    }
    free(work->gram);
    memset(work, 0, sizeof *work);
}

static void activate(double *x, size_t n, assay_activation activation)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = activation == ASSAY_TANH ? tanh(x[i]) : x[i] > 0 ? x[i] : 0;
    }
}

/* delta *= f'(value), the derivative written by the value itself */
static void slope(double *delta, const double *value, size_t n,
                  assay_activation activation)
{
    for (size_t i = 0; i < n; i++) {
        delta[i] *= activation == ASSAY_TANH ? 1.0 - value[i] * value[i]
                                             : (double)(value[i] > 0);
    }
}

/* Four sums side by side: a fixed order, and the processor is kept busy. */
static double dot(const double *a, const double *b, size_t n)
{
    double s[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s[0] += a[i] * b[i];
        s[1] += a[i + 1] * b[i + 1];
        s[2] += a[i + 2] * b[i + 2];
        s[3] += a[i + 3] * b[i + 3];
    }
    for (; i < n; i++) {
        s[0] += a[i] * b[i];
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

void assay_network_apply(const assay_network *net, const double *params,
                         const double *x, double *out)
{
    double room[2][ASSAY_NETWORK_MAX_WIDTH];
    const double *from = x;
    for (size_t l = 0; l < net->num_layers; l++) {
        size_t in = net->widths[l];
        size_t num = net->widths[l + 1];
        int last = l + 1 == net->num_layers;
        // cppcheck-suppress legacyUninitvar // written before it is read
        double *to = last ? out : room[l & 1];
        for (size_t i = 0; i < num; i++) {
            to[i] = params[in * num + i] + dot(params + i * in, from, in);
        }
        if (!last) {
            activate(to, num, net->activation);
        }
        params += layer_params(net, l);
        from = to;
    }
}

const double *assay_network_forward(const assay_network *net,
                                    assay_network_work *work, const double *x,
                                    size_t num_rows)
{
    const double *p = net->params;
    int rows = (int)num_rows;
    work->num_rows = num_rows;
    memcpy(work->values[0], x, num_rows * net->widths[0] * sizeof *x);
    for (size_t l = 0; l < net->num_layers; l++) {
        int in = (int)net->widths[l];
        int out = (int)net->widths[l + 1];
        double *to = work->values[l + 1];
        for (size_t r = 0; r < num_rows; r++) {
            memcpy(to + r * net->widths[l + 1], p + in * out,
                   net->widths[l + 1] * sizeof *to);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, out, in, 1.0,
                    work->values[l], in, p, in, 1.0, to, out);
        if (l + 1 < net->num_layers) {
            activate(to, num_rows * net->widths[l + 1], net->activation);
        }
        p += layer_params(net, l);
    }
    return work->values[net->num_layers];
}

void assay_network_backward(const assay_network *net, assay_network_work *work,
                            const double *d_outputs)
{
    size_t last = net->num_layers;
    const double *p = net->params + net->num_params;
    int rows = (int)work->num_rows;
    memcpy(work->deltas[last], d_outputs,
           work->num_rows * net->widths[last] * sizeof *d_outputs);
    for (size_t l = last; l-- > 1;) {
        int in = (int)net->widths[l];
        int out = (int)net->widths[l + 1];
        p -= layer_params(net, l);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, in, out,
                    1.0, work->deltas[l + 1], out, p, in, 0.0, work->deltas[l],
                    in);
        slope(work->deltas[l], work->values[l], work->num_rows * net->widths[l],
              net->activation);
    }
}

void assay_network_rows_gradient(const assay_network *net,
                                 const assay_network_work *work, size_t first,
                                 size_t num, double *grad)
{
    for (size_t l = 0; l < net->num_layers; l++) {
        size_t in = net->widths[l];
        size_t out = net->widths[l + 1];
        const double *delta = work->deltas[l + 1] + first * out;
        double *bias = grad + in * out;
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)out, (int)in,
                    (int)num, 1.0, delta, (int)out,
                    work->values[l] + first * in, (int)in, 0.0, grad, (int)in);
        memset(bias, 0, out * sizeof *bias);
        for (size_t r = 0; r < num; r++) {
            for (size_t i = 0; i < out; i++) {
                bias[i] += delta[r * out + i];
            }
        }
        grad += layer_params(net, l);
    }
}

void assay_network_gradient(const assay_network *net, assay_network_work *work,
                            const double *scale, double *grad)
{
    for (size_t l = 1; scale != NULL && l <= net->num_layers; l++) {
        size_t n = net->widths[l];
        for (size_t r = 0; r < work->num_rows; r++) {
            cblas_dscal((int)n, scale[r], work->deltas[l] + r * n, 1);
        }
    }
    assay_network_rows_gradient(net, work, 0, work->num_rows, grad);
}

static double squares(const double *x, size_t n)
{
    return cblas_ddot((int)n, x, 1, x, 1);
}

void assay_network_row_norms2(const assay_network *net,
                              const assay_network_work *work, double *out)
{
    for (size_t r = 0; r < work->num_rows; r++) {
        double sum = 0.0;
        for (size_t l = 0; l < net->num_layers; l++) {
            size_t in = net->widths[l];
            size_t num = net->widths[l + 1];
            sum += (1.0 + squares(work->values[l] + r * in, in)) *
                   squares(work->deltas[l + 1] + r * num, num);
        }
        out[r] = sum;
    }
}

/* sum over pairs of rows of (delta_i . delta_j)(a_i . a_j + 1) */
static double pairs(assay_network_work *work, size_t l, size_t in, size_t out,
                    size_t first, size_t num)
{
    double *a = work->gram;
    double *d = work->gram + num * num;
    double sum = 0.0;
    int n = (int)num;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, (int)in, 1.0,
                work->values[l] + first * in, (int)in,
                work->values[l] + first * in, (int)in, 0.0, a, n);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, (int)out, 1.0,
                work->deltas[l + 1] + first * out, (int)out,
                work->deltas[l + 1] + first * out, (int)out, 0.0, d, n);
    for (size_t i = 0; i < num * num; i++) {
        sum += d[i] * (a[i] + 1.0);
    }
    return sum;
}

void assay_network_group_norms2(const assay_network *net,
                                assay_network_work *work, const size_t *begin,
                                size_t num_groups, double *out)
{
    for (size_t g = 0; g < num_groups; g++) {
        out[g] = 0.0;
        for (size_t l = 0; begin[g + 1] > begin[g] && l < net->num_layers;
             l++) {
            out[g] += pairs(work, l, net->widths[l], net->widths[l + 1],
                            begin[g], begin[g + 1] - begin[g]);
        }
    }
}

void assay_network_clipped(const assay_network *net, assay_network_work *work,
                           const size_t *begin, size_t num_groups, double clip,
                           double *norms2, double *scale, double *grad)
{
    if (num_groups == work->num_rows) {
        assay_network_row_norms2(net, work, norms2);
    } else {
        assay_network_group_norms2(net, work, begin, num_groups, norms2);
    }
    for (size_t g = 0; g < num_groups; g++) {
        double norm = sqrt(norms2[g]);
        for (size_t r = begin[g]; r < begin[g + 1]; r++) {
            scale[r] = norm > clip ? clip / norm : 1.0;
        }
    }
    assay_network_gradient(net, work, scale, grad);
}

assay_status assay_adam_init(assay_adam *adam, size_t n, double rate,
                             assay_error *err)
{
    adam->n = n;
    adam->rate = rate;
    adam->beta1 = 0.9;
    adam->beta2 = 0.999;
    adam->epsilon = 1e-8;
    adam->steps = 0;
    adam->mean = calloc(n + 1, sizeof(double));
    adam->square = calloc(n + 1, sizeof(double));
    if (adam->mean == NULL || adam->square == NULL) {
        assay_adam_clear(adam);
        return assay_fail(err, ASSAY_MEMORY, "no memory for Adam");
    }
    return ASSAY_OK;
}

void assay_adam_clear(assay_adam *adam)
{
    free(adam->mean);
    free(adam->square);
    adam->mean = NULL;
    adam->square = NULL;
}

void assay_adam_step(assay_adam *adam, double *params, const double *grad)
{
    double t = (double)++adam->steps;
    double rate = adam->rate * sqrt(1.0 - pow(adam->beta2, t)) /
                  (1.0 - pow(adam->beta1, t));
    double *m = adam->mean;
    double *v = adam->square;
    for (size_t i = 0; i < adam->n; i++) {
        m[i] = adam->beta1 * m[i] + (1.0 - adam->beta1) * grad[i];
        v[i] = adam->beta2 * v[i] + (1.0 - adam->beta2) * grad[i] * grad[i];
        params[i] -= rate * m[i] / (sqrt(v[i]) + adam->epsilon);
    }
}

void assay_sgd_step(double *params, const double *grad, size_t n, double rate)
{
    for (size_t i = 0; i < n; i++) {
        params[i] -= rate * grad[i];
    }
}

void assay_gradient_limit(double *grad, size_t n, double most)
{
    double norm = sqrt(squares(grad, n));
    if (norm > most) {
        cblas_dscal((int)n, most / norm, grad, 1);
    }
}

assay_status assay_network_save(const char *path, const assay_network *net,
                                assay_error *err)
{
    json_t *header = json_pack("{s:o}", "shape", assay_checkpoint_shape(net));
    assay_status status = assay_checkpoint_write(
        path, "network", header, net->params, net->num_params, err);
    json_decref(header);
    return status;
}

assay_status assay_network_load(assay_network *net, const char *path,
                                assay_error *err)
{
    json_t *header = NULL;
    double *values = NULL;
    size_t num = 0;
    assay_status status =
        assay_checkpoint_read(&header, &values, &num, path, "network", err);
    if (status != ASSAY_OK) {
        return status;
    }
    status =
        assay_checkpoint_from_shape(net, json_object_get(header, "shape"), err);
    if (status == ASSAY_OK && num != net->num_params) {
        assay_network_clear(net);
        status = assay_fail(err, ASSAY_INVALID,
                            "%s: the shape and the %zu parameters disagree",
                            path, num);
    }
    if (status == ASSAY_OK) {
        free(net->params);
        net->params = values;
        values = NULL;
    }
    free(values);
    json_decref(header);
    return status;
}
