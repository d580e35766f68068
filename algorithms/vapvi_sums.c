/* ring: glue */
/* The integer statistics of (DP-)VAPVI, their ranges and their noise. */
#include <string.h>

#include "algorithms/vapvi.h"

void assay_vapvi_worst(mpq_t out, int variance, int value)
{
    if (variance && value) {
        mpq_set_ui(out, 361, 64);
    } else if (variance) {
        mpq_set_ui(out, 25, 8);
    } else {
        mpq_set_ui(out, 81, 32);
    }
}

void assay_vapvi_range_init(assay_vapvi_range *range)
{
    memset(range, 0, sizeof *range);
    mpq_init(range->square);
    mpq_init(range->value);
    mpq_init(range->target);
}

void assay_vapvi_range_clear(assay_vapvi_range *range)
{
    mpq_clear(range->square);
    mpq_clear(range->value);
    mpq_clear(range->target);
}

void assay_vapvi_range_set(assay_vapvi_range *range,
                           assay_vapvi_statistics statistics, uint32_t horizon,
                           uint32_t h, unsigned bits)
{
    int printed = statistics == ASSAY_VAPVI_PRINTED;
    unsigned long top = printed ? horizon : horizon - h - 1;
    range->bits = bits;
    range->centred = statistics == ASSAY_VAPVI_CENTRED;
    range->height = horizon - h - 1;
    mpq_set_ui(range->square, top * top, 1);
    mpq_set_ui(range->value, top, 1);
    mpq_set_ui(range->target, printed ? top : top + 1, 1);
    if (range->centred) {
        mpq_div_2exp(range->square, range->square, 3);
        mpq_div_2exp(range->value, range->value, 1);
        mpq_div_2exp(range->target, range->target, 1);
    }
}

void assay_vapvi_noise_init(assay_vapvi_noise *noise)
{
    memset(noise, 0, sizeof *noise);
    for (size_t i = 0; i < ASSAY_VAPVI_RUNS; i++) {
        mpq_init(noise->sigma2[i]);
    }
}

void assay_vapvi_noise_clear(assay_vapvi_noise *noise)
{
    for (size_t i = 0; i < ASSAY_VAPVI_RUNS; i++) {
        mpq_clear(noise->sigma2[i]);
    }
}

size_t assay_vapvi_noise_len(const assay_vapvi_noise *noise)
{
    size_t n = 0;
    for (size_t i = 0; i < ASSAY_VAPVI_RUNS; i++) {
        n += noise->length[i];
    }
    return n;
}

/* 2 bound^2 / rho0 on the lattice 2^-bits */
static void vector_noise(mpq_t out, const mpq_t bound, const mpq_t rho0,
                         unsigned bits)
{
    mpq_mul(out, bound, bound);
    mpq_mul_2exp(out, out, 1 + 2 * bits);
    mpq_div(out, out, rho0);
}

static void matrix_noise(assay_vapvi_noise *noise, size_t d, const mpq_t rho0)
{
    noise->length[0] = d;
    noise->length[1] = d * (d - 1) / 2;
    mpq_inv(noise->sigma2[0], rho0);
    mpq_mul_2exp(noise->sigma2[0], noise->sigma2[0],
                 4 * ASSAY_FEATURE_BITS - 1);
    mpq_div_2exp(noise->sigma2[1], noise->sigma2[0], 1);
}

void assay_vapvi_noise_variance(assay_vapvi_noise *noise, size_t d,
                                const assay_vapvi_range *range,
                                const mpq_t rho0)
{
    matrix_noise(noise, d, rho0);
    noise->length[2] = d;
    noise->length[3] = d;
    vector_noise(noise->sigma2[2], range->square, rho0,
                 ASSAY_FEATURE_BITS + 2 * range->bits);
    vector_noise(noise->sigma2[3], range->value, rho0,
                 ASSAY_FEATURE_BITS + range->bits);
}

void assay_vapvi_noise_value(assay_vapvi_noise *noise, size_t d,
                             const assay_vapvi_range *range, const mpq_t rho0)
{
    matrix_noise(noise, d, rho0);
    noise->length[2] = 0;
    noise->length[3] = d;
    vector_noise(noise->sigma2[3], range->target, rho0,
                 ASSAY_FEATURE_BITS + range->bits);
}

/* out += n x x', the diagonal first, then the rows behind it */
static void add_outer(int64_t *out, const int64_t *x, size_t d, int64_t n)
{
    int64_t *off = out + d;
    for (size_t i = 0; i < d; i++) {
        out[i] += n * x[i] * x[i];
        for (size_t j = i + 1; j < d; j++) {
            *off++ += n * x[i] * x[j];
        }
    }
}

static void add_scaled(int64_t *out, const int64_t *x, size_t d, int64_t n)
{
    for (size_t i = 0; i < d; i++) {
        out[i] += n * x[i];
    }
}

/* V and V^2 as they enter the sums. */
static void moments(int64_t *square, int64_t *first, int64_t value,
                    const assay_vapvi_range *range)
{
    int64_t height = range->height;
    if (!range->centred) {
        *first = value;
        *square = value * value;
        return;
    }
    *first = value - (height << range->bits) / 2;
    *square = *first * *first - ((height * height) << (2 * range->bits - 3));
}

void assay_vapvi_variance_sums(int64_t *out, const assay_counts *counts,
                               uint32_t h, const assay_features *features,
                               const int64_t *value,
                               const assay_vapvi_range *range)
{
    size_t d = features->dim;
    size_t matrix = d * (d + 1) / 2;
    uint32_t num_states = counts->shape.num_states;
    size_t first_pair = assay_shape_pair(&counts->shape, h, 0, 0);
    memset(out, 0, (matrix + 2 * d) * sizeof *out);
    for (size_t row = 0; row < features->num_rows; row++) {
        const int64_t *phi = assay_features_row(features, row);
        size_t pair = first_pair + row;
        const int64_t *next =
            counts->cell + counts->num_pairs + pair * num_states;
        int64_t squares = 0;
        int64_t firsts = 0;
        for (uint32_t t = 0; t < num_states; t++) {
            int64_t square;
            int64_t first;
            moments(&square, &first, value[t], range);
            squares += next[t] * square;
            firsts += next[t] * first;
        }
        add_outer(out, phi, d, counts->cell[pair]);
        add_scaled(out + matrix, phi, d, squares);
        add_scaled(out + matrix + d, phi, d, firsts);
    }
}

/* |x / sigma| <= |x| because sigma >= 1 and division rounds correctly */
static int64_t shrunk(int64_t x, double sigma)
{
    return (int64_t)((double)x / sigma);
}

void assay_vapvi_weigh(int64_t *psi, const assay_features *features,
                       const double *sigma)
{
    for (size_t row = 0; row < features->num_rows; row++) {
        for (size_t i = 0; i < features->dim; i++) {
            size_t at = row * features->dim + i;
            psi[at] = shrunk(features->entry[at], sigma[row]);
        }
    }
}

void assay_vapvi_value_sums(int64_t *out, const assay_counts *counts,
                            uint32_t h, size_t d, const int64_t *psi,
                            const double *sigma, const int64_t *reward,
                            const int64_t *value,
                            const assay_vapvi_range *range)
{
    size_t matrix = d * (d + 1) / 2;
    uint32_t num_states = counts->shape.num_states;
    size_t num_rows = (size_t)num_states * counts->shape.num_actions;
    size_t first_pair = assay_shape_pair(&counts->shape, h, 0, 0);
    int64_t centre = 0;
    if (range->centred) {
        centre = ((int64_t)(range->height + 1) << range->bits) / 2;
    }
    memset(out, 0, (matrix + d) * sizeof *out);
    for (size_t row = 0; row < num_rows; row++) {
        size_t pair = first_pair + row;
        const int64_t *next =
            counts->cell + counts->num_pairs + pair * num_states;
        int64_t sum = 0;
        for (uint32_t t = 0; t < num_states; t++) {
            sum +=
                next[t] * shrunk(reward[row] + value[t] - centre, sigma[row]);
        }
        add_outer(out, psi + row * d, d, counts->cell[pair]);
        add_scaled(out + matrix, psi + row * d, d, sum);
    }
}

assay_vapvi_blocks assay_vapvi_block(int64_t *sums, size_t d,
                                     const assay_shape *shape, uint32_t h)
{
    size_t tri = d * (d - 1) / 2;
    size_t steps = shape->horizon;
    size_t states = shape->num_states;
    assay_vapvi_blocks b;
    b.diagonal = sums + h * d;
    b.off = sums + steps * d + h * tri;
    b.next = sums + steps * (d + tri) + h * states * d;
    b.reward = sums + steps * (d + tri + states * d) + h * d;
    return b;
}

void assay_vapvi_free_sums(int64_t *sums, const assay_counts *counts,
                           uint32_t h, const assay_features *features,
                           const int64_t *reward)
{
    size_t d = features->dim;
    size_t states = counts->shape.num_states;
    assay_vapvi_blocks b = assay_vapvi_block(sums, d, &counts->shape, h);
    for (size_t row = 0; row < features->num_rows; row++) {
        const int64_t *phi = assay_features_row(features, row);
        size_t pair = assay_shape_pair(&counts->shape, h, 0, 0) + row;
        const int64_t *next = counts->cell + counts->num_pairs + pair * states;
        int64_t n = counts->cell[pair];
        size_t at = 0;
        for (size_t i = 0; i < d; i++) {
            b.diagonal[i] += n * phi[i] * phi[i];
            b.reward[i] += n * phi[i] * reward[row];
            for (size_t j = i + 1; j < d; j++) {
                b.off[at++] += n * phi[i] * phi[j];
            }
            for (size_t t = 0; t < states; t++) {
                b.next[t * d + i] += next[t] * phi[i];
            }
        }
    }
}

/* sigma^2 = 8 H/(2 rho), real; each block on its own lattice */
void assay_vapvi_noise_free(assay_vapvi_noise *noise, size_t d,
                            const assay_shape *shape, unsigned bits,
                            const mpq_t rho)
{
    size_t steps = shape->horizon;
    unsigned shift[] = {4 * ASSAY_FEATURE_BITS, 4 * ASSAY_FEATURE_BITS - 1,
                        2 * ASSAY_FEATURE_BITS,
                        2 * (ASSAY_FEATURE_BITS + bits)};
    noise->length[0] = steps * d;
    noise->length[1] = steps * (d * (d - 1) / 2);
    noise->length[2] = steps * d * shape->num_states;
    noise->length[3] = steps * d;
    for (size_t i = 0; i < ASSAY_VAPVI_RUNS; i++) {
        mpq_set_ui(noise->sigma2[i], 4 * steps, 1);
        mpq_div(noise->sigma2[i], noise->sigma2[i], rho);
        mpq_mul_2exp(noise->sigma2[i], noise->sigma2[i], shift[i]);
    }
}
