/* ring: glue */
/*
 * A small neural network: ranks in, one hidden layer of tanh units, the log
 * odds of the left input out. Adam on minibatches, the rate falling to zero,
 * started from small random weights of a fixed seed.
 */
#include "audit/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/rng.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define HIDDEN 16
#define BATCH 256
#define MAX_ROWS 250000 /* of a side */
#define RATE 0.01f

struct assay_mlp {
    size_t num_in, num_weights;
    float *w; /* [hidden][num_in], [hidden] offsets, [hidden] out, 1 */
};

static float fast_tanh(float x)
{
    /* a rational approximation: smooth, odd, right to 2e-3 */
    float y = x < -4.97f ? -4.97f : x > 4.97f ? 4.97f : x, s = y * y;
    return y * (135135 + s * (17325 + s * (378 + s))) /
           (135135 + s * (62370 + s * (3150 + 28 * s)));
}

/* Hidden units and log odds of n rows; code is by feature. */
ASSAY_SIMD
static void forward(const struct assay_mlp *m, const float *code, size_t stride,
                    size_t n, float *hidden, float *out)
{
    const float *offset = m->w + HIDDEN * m->num_in;
    const float *top = offset + HIDDEN;
    for (size_t i = 0; i < n; i++) {
        out[i] = top[HIDDEN];
    }
    for (size_t h = 0; h < HIDDEN; h++) {
        float *z = hidden + h * n;
        for (size_t i = 0; i < n; i++) {
            z[i] = offset[h];
        }
        for (size_t k = 0; k < m->num_in; k++) {
            float w = m->w[h * m->num_in + k];
            const float *x = code + k * stride;
            for (size_t i = 0; i < n; i++) {
                z[i] += w * x[i];
            }
        }
        for (size_t i = 0; i < n; i++) {
            z[i] = fast_tanh(z[i]);
            out[i] += top[h] * z[i];
        }
    }
}

/* Gradient of the mean loss; `delta` is p - label of each row. */
ASSAY_SIMD
static void backward(const struct assay_mlp *m, const float *code,
                     size_t stride, size_t n, const float *hidden,
                     const float *delta, float *grad)
{
    float *offset = grad + HIDDEN * m->num_in, *top = offset + HIDDEN;
    const float *out = m->w + HIDDEN * m->num_in + HIDDEN;
    float back[BATCH], sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += delta[i];
    }
    top[HIDDEN] = sum / (float)n;
    for (size_t h = 0; h < HIDDEN; h++) {
        const float *z = hidden + h * n;
        float a = 0, b = 0;
        for (size_t i = 0; i < n; i++) {
            a += delta[i] * z[i];
            back[i] = delta[i] * out[h] * (1 - z[i] * z[i]);
            b += back[i];
        }
        top[h] = a / (float)n;
        offset[h] = b / (float)n;
        for (size_t k = 0; k < m->num_in; k++) {
            const float *x = code + k * stride;
            float c = 0;
            for (size_t i = 0; i < n; i++) {
                c += back[i] * x[i];
            }
            grad[h * m->num_in + k] = c / (float)n;
        }
    }
}

typedef struct adam {
    float *grad, *mean, *square;
    double step, steps; /* done, planned */
} adam;

static void adam_step(struct assay_mlp *m, adam *o)
{
    o->step++;
    double part = o->step / o->steps;
    float rate = RATE * (float)(0.5 * (1 + cos(3.14159265358979 * part)));
    float c1 = (float)(1 - pow(0.9, o->step));
    float c2 = (float)(1 - pow(0.999, o->step));
    for (size_t k = 0; k < m->num_weights; k++) {
        float g = o->grad[k];
        o->mean[k] += 0.1f * (g - o->mean[k]);
        o->square[k] += 0.001f * (g * g - o->square[k]);
        m->w[k] -=
            rate * (o->mean[k] / c1) / (sqrtf(o->square[k] / c2) + 1e-8f);
    }
}

/* A minibatch: half left, half right rows. */
static void train_batch(struct assay_mlp *m, adam *o, const float *left,
                        const float *right, size_t first, float *batch)
{
    float hidden[HIDDEN * BATCH], out[BATCH];
    for (size_t k = 0; k < m->num_in; k++) {
        memcpy(batch + k * BATCH, left + k * BLOCK + first,
               BATCH / 2 * sizeof(float));
        memcpy(batch + k * BATCH + BATCH / 2, right + k * BLOCK + first,
               BATCH / 2 * sizeof(float));
    }
    forward(m, batch, BATCH, BATCH, hidden, out);
    for (size_t i = 0; i < BATCH; i++) {
        out[i] = 1 / (1 + expf(-out[i])) - (i < BATCH / 2);
    }
    backward(m, batch, BATCH, BATCH, hidden, out, o->grad);
    adam_step(m, o);
}

static void start_weights(struct assay_mlp *m)
{
    assay_rng rng;
    assay_rng_seed(&rng, 11, 5, 3);
    float size = 2 / sqrtf((float)m->num_in);
    for (size_t k = 0; k < m->num_weights; k++) {
        float u = (float)(2 * assay_rng_u01(&rng) - 1);
        /* the output starts at nothing */
        m->w[k] = k < HIDDEN * (m->num_in + 1) ? u * size : 0;
    }
}

static void train_epochs(struct assay_mlp *m, adam *o,
                         const assay_encoder *encoder,
                         const assay_training *data, float *code)
{
    size_t blocks = MAX_ROWS / BLOCK + 1;
    blocks = blocks < data->num_blocks ? blocks : data->num_blocks;
    size_t per = data->rows[0][0].num / (BATCH / 2);
    size_t epochs = 2 + 100000 / (blocks * BLOCK);
    float *right = code + m->num_in * BLOCK;
    float *batch = right + m->num_in * BLOCK;
    o->steps = (double)(epochs * blocks * per + 1);
    for (size_t e = 0; e < epochs; e++) {
        for (size_t b = 0; b < blocks; b++) {
            assay_encode(encoder, &data->rows[0][b], code);
            assay_encode(encoder, &data->rows[1][b], right);
            for (size_t k = 0; k < per; k++) {
                train_batch(m, o, code, right, k * (BATCH / 2), batch);
            }
        }
    }
}

assay_status assay_mlp_fit(struct assay_mlp **out, const assay_encoder *encoder,
                           const assay_training *data, assay_error *err)
{
    struct assay_mlp *m = calloc(1, sizeof *m);
    adam o;
    memset(&o, 0, sizeof o);
    *out = m;
    float *code = NULL;
    if (m != NULL) {
        m->num_in = encoder->num;
        m->num_weights = HIDDEN * (m->num_in + 2) + 1;
        m->w = calloc(m->num_weights, sizeof(float));
        o.grad = calloc(3 * m->num_weights, sizeof(float));
        code = malloc((m->num_in + 1) * (2 * BLOCK + BATCH) * sizeof(float));
    }
    if (m == NULL || m->w == NULL || o.grad == NULL || code == NULL) {
        free(o.grad);
        free(code);
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    o.mean = o.grad + m->num_weights;
    o.square = o.mean + m->num_weights;
    start_weights(m);
    train_epochs(m, &o, encoder, data, code);
    free(o.grad);
    free(code);
    return ASSAY_OK;
}

void assay_mlp_score(const struct assay_mlp *m, const assay_encoder *encoder,
                     const assay_rows *rows, float *out)
{
    static _Thread_local float code[ASSAY_CODE_MAX * BLOCK];
    static _Thread_local float hidden[HIDDEN * BLOCK];
    assay_encode(encoder, rows, code);
    forward(m, code, BLOCK, rows->num, hidden, out);
}

void assay_mlp_free(struct assay_mlp *m)
{
    if (m != NULL) {
        free(m->w);
        free(m);
    }
}
