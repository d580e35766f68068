/* ring: glue */
/* The server's side of UCRL-VTR: it sees reports, never an episode. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/vtr.h"

struct assay_vtr_server {
    assay_vtr_params params; /* without the budget */
    assay_vtr_model model;
    size_t report_len;
    size_t num_blocks; /* (H-1) S A */
    size_t block_len;
    double noise; /* standard deviation of an entry of one report */
    uint64_t reports;
    int64_t *sum;
    uint8_t *dirty; /* [block]: to be computed again */
    double *work;   /* an S x S matrix */
};

/* The standard deviation of the noise, in natural units. */
static double noise_of(const assay_vtr_params *params, const assay_shape *shape)
{
    mpq_t bound;
    double unit = 0.0;
    double value;
    if (params->noise == ASSAY_NOISE_NONE) {
        return 0.0;
    }
    mpq_init(bound);
    assay_vtr_sensitivity(bound, params, shape);
    mpq_div(bound, bound, params->budget);
    value = mpq_get_d(bound);
    mpq_clear(bound);
    if (params->statistics == ASSAY_VTR_PRINTED) {
        unit = (double)params->lattice_bits;
    }
    return params->noise == ASSAY_NOISE_GAUSSIAN
               ? ldexp(sqrt(value / 2.0), -(int)unit)
               : sqrt(2.0) * value;
}

static assay_status allocate(assay_vtr_server *server, assay_error *err)
{
    size_t n = server->model.shape.num_states;
    server->sum = calloc(server->report_len, sizeof(int64_t));
    server->dirty = malloc(server->num_blocks);
    server->work = calloc(n * n, sizeof(double));
    server->model.theta = calloc(server->num_blocks * n, sizeof(double));
    server->model.visits = calloc(server->num_blocks, sizeof(double));
    if (server->params.statistics == ASSAY_VTR_PRINTED) {
        server->model.inverse =
            calloc(server->num_blocks * n * n, sizeof(double));
    }
    if (server->sum == NULL || server->work == NULL || server->dirty == NULL ||
        server->model.theta == NULL || server->model.visits == NULL ||
        (server->params.statistics == ASSAY_VTR_PRINTED &&
         server->model.inverse == NULL)) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the server");
    }
    memset(server->dirty, 1, server->num_blocks);
    return ASSAY_OK;
}

assay_status assay_vtr_server_new(assay_vtr_server **out,
                                  const assay_shape *shape,
                                  const assay_vtr_params *params,
                                  assay_error *err)
{
    assay_vtr_server *server;
    assay_status status = assay_vtr_params_check(params, shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    server = calloc(1, sizeof *server);
    if (server == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the server");
    }
    server->params = *params;
    server->model.shape = *shape;
    server->model.statistics = params->statistics;
    server->model.ridge = params->ridge;
    server->report_len = assay_vtr_report_len(params, shape);
    server->num_blocks =
        (size_t)(shape->horizon - 1) * shape->num_states * shape->num_actions;
    server->block_len = server->report_len / server->num_blocks;
    server->noise = noise_of(params, shape);
    status = allocate(server, err);
    if (status != ASSAY_OK) {
        assay_vtr_server_free(server);
        return status;
    }
    *out = server;
    return ASSAY_OK;
}

void assay_vtr_server_free(assay_vtr_server *server)
{
    if (server == NULL) {
        return;
    }
    free(server->sum);
    free(server->dirty);
    free(server->work);
    free(server->model.theta);
    free(server->model.visits);
    free(server->model.inverse);
    free(server);
}

static int64_t clamp(int64_t x)
{
    int64_t top = (int64_t)1 << 40; /* 2^20 reports of 2^40 stay in range */
    return x > top ? top : x < -top ? -top : x;
}

void assay_vtr_server_add(assay_vtr_server *server, const int64_t *report)
{
    int64_t top = (int64_t)1 << 61;
    for (size_t i = 0; i < server->report_len; i++) {
        int64_t sum = server->sum[i] + clamp(report[i]);
        if (report[i] != 0) {
            server->dirty[i / server->block_len] = 1;
            server->sum[i] = sum > top ? top : sum < -top ? -top : sum;
        }
    }
    server->reports++;
}

/* Lower Cholesky factor in place; 0 if the matrix is not positive definite. */
static int cholesky(double *m, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        double d = m[j * n + j];
        for (size_t k = 0; k < j; k++) {
            d -= m[j * n + k] * m[j * n + k];
        }
        if (!(d > 1e-12)) {
            return 0;
        }
        d = sqrt(d);
        m[j * n + j] = d;
        for (size_t i = j + 1; i < n; i++) {
            double x = m[i * n + j];
            for (size_t k = 0; k < j; k++) {
                x -= m[i * n + k] * m[j * n + k];
            }
            m[i * n + j] = x / d;
        }
    }
    return 1;
}

/* The inverse of L L' into `out`, column by column. */
static void invert(double *out, const double *l, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        for (size_t i = 0; i < n; i++) {
            double x = i == c ? 1.0 : 0.0;
            for (size_t k = 0; k < i; k++) {
                x -= l[i * n + k] * out[k * n + c];
            }
            out[i * n + c] = x / l[i * n + i];
        }
        for (size_t i = n; i-- > 0;) {
            double x = out[i * n + c];
            for (size_t k = i + 1; k < n; k++) {
                x -= l[k * n + i] * out[k * n + c];
            }
            out[i * n + c] = x / l[i * n + i];
        }
    }
}

/* Sigma = Lambda + shift; a block that is still not positive definite gets a
 * larger shift: repaired, never redrawn. */
static void printed_block(assay_vtr_server *server, size_t block, double shift)
{
    size_t n = server->model.shape.num_states;
    const int64_t *in = server->sum + block * server->block_len;
    const int64_t *u = in + n * (n + 1) / 2;
    double *inverse = server->model.inverse + block * n * n;
    double step = ldexp(1.0, -(int)server->params.lattice_bits);
    double *m = server->work;
    for (int tries = 0; tries < 60; tries++, shift *= 2.0) {
        size_t at = 0;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j < n; j++) {
                m[j * n + i] = (double)in[at++] * step;
            }
            m[i * n + i] += shift;
        }
        if (cholesky(m, n)) {
            break;
        }
    }
    invert(inverse, m, n);
    for (size_t i = 0; i < n; i++) {
        double x = 0.0;
        for (size_t j = 0; j < n; j++) {
            x += inverse[i * n + j] * (double)u[j] * step;
        }
        server->model.theta[block * n + i] = x;
    }
}

/* theta = sqrt S N(s,a,.) and visits = max(N(s,a), 0): the user's one-feature
 * regression is built from them. */
static void counts_block(assay_vtr_server *server, size_t block)
{
    size_t n = server->model.shape.num_states;
    const int64_t *in = server->sum + block * n;
    double root = sqrt((double)n);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double x = in[i] > 0 ? (double)in[i] : 0.0;
        server->model.theta[block * n + i] = x * root;
        sum += x;
    }
    server->model.visits[block] = sum;
}

const assay_vtr_model *assay_vtr_server_model(assay_vtr_server *server)
{
    double k = (double)server->reports;
    double n = (double)server->model.shape.num_states;
    double spread = 2.0 * server->noise * sqrt(n * k);
    double shift = server->params.ridge + server->params.shift * spread;
    double logs = log((double)server->params.episodes) + log1p(k * n);
    for (size_t block = 0; block < server->num_blocks; block++) {
        if (!server->dirty[block]) {
            continue; /* its sums, and without noise its shift, are as before */
        }
        server->dirty[block] = server->noise > 0.0;
        if (server->params.statistics == ASSAY_VTR_PRINTED) {
            printed_block(server, block, shift);
        } else {
            counts_block(server, block);
        }
    }
    /* statistical width, and that of the summed noise */
    server->model.beta =
        server->params.bonus * (sqrt(logs) + sqrt(server->noise * sqrt(k)));
    return &server->model;
}
