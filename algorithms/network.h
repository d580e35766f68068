/* ring: glue */
/**
 * Small fully connected networks: values and policies of learners.
 *
 * Shape    widths[0] inputs, widths[num_layers] outputs; hidden layers have
 *          one activation, the last layer has none. A network with one layer
 *          is a linear map. Parameters lie in one array, layer by layer: the
 *          weights [out][in], then the biases [out].
 * Batches  rows of an array; forward keeps what backward needs in the work
 *          space, which belongs to one thread.
 * Groups   gradients of single rows, or of groups of consecutive rows (all
 *          rows of one person), without forming them: the squared norm of a
 *          sum of products delta a^T is the sum over pairs of rows of
 *          (delta_i . delta_j)(a_i . a_j + 1), layer by layer.
 * Repeat   OpenBLAS runs with one thread, so a result depends on the input and
 *          the machine, not on the number of threads of the caller.
 * Privacy  none: this is double arithmetic. A private gradient goes through
 *          algorithms/group_gradient.h, which bounds it in integers.
 */
#ifndef ASSAY_ALGORITHMS_NETWORK_H
#define ASSAY_ALGORITHMS_NETWORK_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

#define ASSAY_NETWORK_MAX_LAYERS 6
#define ASSAY_NETWORK_MAX_WIDTH 1024

typedef enum assay_activation { ASSAY_TANH = 0, ASSAY_RELU } assay_activation;

typedef struct assay_network {
    size_t num_layers;
    size_t widths[ASSAY_NETWORK_MAX_LAYERS + 1];
    assay_activation activation;
    size_t num_params;
    double *params;
} assay_network;

/** What one thread needs for batches of up to max_rows rows. */
typedef struct assay_network_work {
    size_t max_rows;
    size_t num_rows;                              /* of the last forward */
    double *values[ASSAY_NETWORK_MAX_LAYERS + 1]; /* [row][width] */
    double *deltas[ASSAY_NETWORK_MAX_LAYERS + 1]; /* [row][width] */
    double *gram;                                 /* two small matrices */
    size_t max_group;
} assay_network_work;

/** Parameters are zero. Errors  ASSAY_INVALID for a shape out of range. */
assay_status assay_network_init(assay_network *net, const size_t *widths,
                                size_t num_layers, assay_activation activation,
                                assay_error *err) ASSAY_MUST_CHECK;
void assay_network_clear(assay_network *net);
/** `out` is initialised by this call. */
assay_status assay_network_copy(assay_network *out, const assay_network *net,
                                assay_error *err) ASSAY_MUST_CHECK;

/** Uniform weights of the usual width, biases zero, the last layer times
 *  `last`; a function of the seed alone. */
void assay_network_randomise(assay_network *net, uint64_t seed, double last);

/** `max_group` rows at most belong to one group (1: single rows). */
assay_status assay_network_work_init(assay_network_work *work,
                                     const assay_network *net, size_t max_rows,
                                     size_t max_group,
                                     assay_error *err) ASSAY_MUST_CHECK;
void assay_network_work_clear(assay_network_work *work);

/** One row with parameters of the network's shape given apart: no work space,
 *  no BLAS, safe in any thread. */
void assay_network_apply(const assay_network *net, const double *params,
                         const double *x, double *out);

/** The outputs [row][output], valid until the next call; x is copied. */
const double *assay_network_forward(const assay_network *net,
                                    assay_network_work *work, const double *x,
                                    size_t num_rows);

/** The loss's derivatives by the outputs [row][output] go back through all
 *  layers; no gradient of parameters yet. */
void assay_network_backward(const assay_network *net, assay_network_work *work,
                            const double *d_outputs);

/** grad = sum over rows (first, num) of scale[row] times the row's gradient.
 *  `scale` may be NULL: all one; otherwise the deltas are scaled in place. */
void assay_network_gradient(const assay_network *net, assay_network_work *work,
                            const double *scale, double *grad);

/** The gradient of rows first .. first + num - 1 alone. */
void assay_network_rows_gradient(const assay_network *net,
                                 const assay_network_work *work, size_t first,
                                 size_t num, double *grad);

/** out[i] = squared norm of row i's gradient. */
void assay_network_row_norms2(const assay_network *net,
                              const assay_network_work *work, double *out);

/** Group g is rows begin[g] .. begin[g + 1] - 1, at most max_group of them. */
void assay_network_group_norms2(const assay_network *net,
                                assay_network_work *work, const size_t *begin,
                                size_t num_groups, double *out);

/** grad = sum over groups of the group's gradient, scaled to norm at most
 *  `clip`. `norms2` (num_groups) and `scale` (rows) are room for the call. */
void assay_network_clipped(const assay_network *net, assay_network_work *work,
                           const size_t *begin, size_t num_groups, double clip,
                           double *norms2, double *scale, double *grad);

typedef struct assay_adam {
    size_t n;
    double rate, beta1, beta2, epsilon;
    uint64_t steps;
    double *mean, *square;
} assay_adam;

assay_status assay_adam_init(assay_adam *adam, size_t n, double rate,
                             assay_error *err) ASSAY_MUST_CHECK;
void assay_adam_clear(assay_adam *adam);
void assay_adam_step(assay_adam *adam, double *params, const double *grad);

/** params -= rate * grad. */
void assay_sgd_step(double *params, const double *grad, size_t n, double rate);

/** Scales `grad` to norm at most `most`. */
void assay_gradient_limit(double *grad, size_t n, double most);

/** A checkpoint file (algorithms/checkpoint.h, kind "network"). Reading
 *  initialises `net` and refuses NaN, infinity and sizes that disagree. */
assay_status assay_network_save(const char *path, const assay_network *net,
                                assay_error *err) ASSAY_MUST_CHECK;
assay_status assay_network_load(assay_network *net, const char *path,
                                assay_error *err) ASSAY_MUST_CHECK;

#endif
