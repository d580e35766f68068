/* ring: glue */
#include "algorithms/dp_apvi.h"

#include <math.h>
#include <string.h>

void assay_dp_apvi_params_init(assay_dp_apvi_params *params,
                               assay_preset preset)
{
    memset(params, 0, sizeof *params);
    params->noise = ASSAY_NOISE_GAUSSIAN;
    mpq_init(params->budget);
    mpq_set_ui(params->budget, 1, 1);
    mpq_init(params->pair_share);
    mpq_set_ui(params->pair_share, 1, 2);
    params->c1 = preset == ASSAY_PRESET_PAPER ? sqrt(2.0) : 0.1;
    params->c2 = preset == ASSAY_PRESET_PAPER ? 16.0 : 0.001;
    params->c = 2.0;
    params->failure = 0.1;
    params->num_threads = 1;
}

void assay_dp_apvi_params_clear(assay_dp_apvi_params *params)
{
    mpq_clear(params->budget);
    mpq_clear(params->pair_share);
}

/* Pairs and triples in two releases. */
static int is_split(const assay_dp_apvi_params *params)
{
    return !params->triples_only && mpq_cmp_ui(params->pair_share, 1, 2) != 0;
}

static int weight_ok(double w)
{
    return isfinite(w) && w >= 0.0;
}

assay_status assay_dp_apvi_params_check(const assay_dp_apvi_params *params,
                                        const assay_shape *shape,
                                        assay_error *err)
{
    if (!weight_ok(params->c1) || !weight_ok(params->c2) ||
        !weight_ok(params->c)) {
        return assay_fail(err, ASSAY_INVALID,
                          "penalty weights must be finite and not negative");
    }
    if (!(params->failure > 0.0 && params->failure < 1.0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "failure probability must be between 0 and 1");
    }
    if (mpq_sgn(params->pair_share) <= 0 ||
        mpq_cmp_ui(params->pair_share, 1, 1) >= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "the pairs' share must be between 0 and 1");
    }
    if (params->noise == ASSAY_NOISE_UNARY) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "DP-APVI has Gaussian and Laplace noise");
    }
    if (params->noise != ASSAY_NOISE_NONE && mpq_sgn(params->budget) <= 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "the privacy budget must be greater than zero");
    }
    return assay_shape_check(shape, err);
}

uint64_t assay_dp_apvi_sensitivity(const assay_dp_apvi_params *params,
                                   const assay_shape *shape)
{
    int one = params->triples_only || is_split(params);
    return (uint64_t)(one ? 2 : 4) * shape->horizon;
}

/* log(4 H S^2 A / failure) */
static double log_cells(const assay_dp_apvi_params *params,
                        const assay_shape *shape)
{
    return log(4.0 * (double)assay_shape_triples(shape) / params->failure);
}

/* The part of the budget that the pairs (or the triples) get. */
static void part_of(mpq_t out, const assay_dp_apvi_params *params, int pairs)
{
    mpq_set_ui(out, 1, 1);
    if (!params->triples_only) {
        mpq_sub(out, out, params->pair_share);
        if (pairs) {
            mpq_set(out, params->pair_share);
        }
    }
    mpq_mul(out, out, params->budget);
}

/* To the last digit or two. Small fractions without GMP's code, which takes
 * longer to come from memory than a small problem to be planned. */
static double value_of(const mpq_t x)
{
#ifndef __FRAMAC__
    if (mpz_fits_ulong_p(mpq_numref(x)) && mpz_fits_ulong_p(mpq_denref(x))) {
        return (double)mpz_get_ui(mpq_numref(x)) /
               (double)mpz_get_ui(mpq_denref(x));
    }
#endif
    return mpq_get_d(x);
}

/* sigma^2 or scale of the noise of pairs (or triples), in double arithmetic:
 * each alone has the sensitivity 2H, and half the budget is the joint release
 * of 4H. */
static double scale_of(const assay_dp_apvi_params *params,
                       const assay_shape *shape, int pairs)
{
    double share = params->triples_only ? 0.0 : value_of(params->pair_share);
    double part = pairs && !params->triples_only ? share : 1.0 - share;
    double scale = 2.0 * shape->horizon / (part * value_of(params->budget));
    return params->noise == ASSAY_NOISE_GAUSSIAN ? scale / 2.0 : scale;
}

/* Triples alone: a pair is a sum of S of them. Laplace: P[|X| > b t] = e^-t; a
 * sum of S is below b max(sqrt(8 S t), 4 t), and below S b t. */
static double sum_width(const assay_dp_apvi_params *params, double scale,
                        double states, double logs)
{
    if (params->noise == ASSAY_NOISE_GAUSSIAN) {
        return sqrt(2.0 * scale * logs * states);
    }
    return scale *
           fmin(states * logs, fmax(sqrt(8.0 * states * logs), 4.0 * logs));
}

void assay_dp_apvi_widths_get(assay_dp_apvi_widths *out,
                              const assay_dp_apvi_params *params,
                              const assay_shape *shape)
{
    double logs = log_cells(params, shape);
    double triple;
    double pair;
    out->triple = 0.0;
    out->pair = 0.0;
    if (params->noise == ASSAY_NOISE_NONE) {
        return;
    }
    triple = scale_of(params, shape, 0);
    pair = scale_of(params, shape, 1);
    if (params->noise == ASSAY_NOISE_GAUSSIAN) {
        out->triple = sqrt(2.0 * triple * logs);
        out->pair = sqrt(2.0 * pair * logs);
    } else {
        out->triple = triple * logs;
        out->pair = pair * logs;
    }
    if (params->triples_only) {
        out->pair = sum_width(params, triple, shape->num_states, logs);
    }
}

static int64_t clamp(int64_t x)
{
    int64_t top = (int64_t)1 << 44; /* S 2^44 < 2^61 */
    return x > top ? top : x < -top ? -top : x;
}

/* The pairs as sums of noisy triples: post-processing. */
static void sum_triples(assay_counts *counts)
{
    uint32_t num_states = counts->shape.num_states;
    const int64_t *row = counts->cell + counts->num_pairs;
    for (size_t pair = 0; pair < counts->num_pairs; pair++) {
        int64_t sum = 0;
        for (uint32_t t = 0; t < num_states; t++) {
            sum += clamp(row[t]);
        }
        counts->cell[pair] = sum;
        row += num_states;
    }
}

/* One release of cells [first, first + n) with a part of the budget. */
static assay_status release_part(assay_counts *noisy,
                                 const assay_counts *counts, size_t first,
                                 size_t n, const assay_dp_apvi_params *params,
                                 const mpq_t part, const char *label,
                                 struct assay_custodian *custodian,
                                 assay_error *err)
{
    return assay_privatizer_release(
        custodian, params->noise, noisy->cell + first, counts->cell + first, n,
        assay_dp_apvi_sensitivity(params, &counts->shape), part, label, err);
}

static assay_status release_split(assay_counts *noisy,
                                  const assay_counts *counts,
                                  const assay_dp_apvi_params *params,
                                  struct assay_custodian *custodian,
                                  assay_error *err)
{
    mpq_t part;
    assay_status status;
    mpq_init(part);
    part_of(part, params, 1);
    status = release_part(noisy, counts, 0, counts->num_pairs, params, part,
                          "dp-apvi: pair counts", custodian, err);
    part_of(part, params, 0);
    if (status == ASSAY_OK) {
        status = release_part(noisy, counts, counts->num_pairs,
                              counts->num_triples, params, part,
                              "dp-apvi: triple counts", custodian, err);
    }
    mpq_clear(part);
    return status;
}

static assay_status release_cells(assay_counts *noisy,
                                  const assay_counts *counts,
                                  const assay_dp_apvi_params *params,
                                  struct assay_custodian *custodian,
                                  assay_error *err)
{
    size_t n = counts->num_pairs + counts->num_triples;
    if (is_split(params)) {
        return release_split(noisy, counts, params, custodian, err);
    }
    if (params->triples_only) {
        return release_part(noisy, counts, counts->num_pairs,
                            counts->num_triples, params, params->budget,
                            "dp-apvi: triple counts", custodian, err);
    }
    return release_part(noisy, counts, 0, n, params, params->budget,
                        "dp-apvi: counts", custodian, err);
}

assay_status assay_dp_apvi_release(assay_counts **released,
                                   const assay_counts *counts,
                                   const assay_dp_apvi_params *params,
                                   struct assay_custodian *custodian,
                                   assay_error *err)
{
    assay_counts *noisy = NULL;
    assay_status status =
        assay_dp_apvi_params_check(params, &counts->shape, err);
    if (status == ASSAY_OK) {
        status = assay_counts_new(&noisy, &counts->shape, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    noisy->num_users = counts->num_users; /* public */
    status = release_cells(noisy, counts, params, custodian, err);
    if (status != ASSAY_OK) {
        assay_counts_free(noisy);
        return status;
    }
    if (params->triples_only) {
        sum_triples(noisy);
    }
    *released = noisy;
    return ASSAY_OK;
}

assay_status assay_dp_apvi_learn(assay_policy **out, const assay_counts *counts,
                                 const double *rewards,
                                 const assay_dp_apvi_params *params,
                                 struct assay_custodian *custodian,
                                 assay_error *err)
{
    assay_counts *released = NULL;
    assay_status status =
        assay_dp_apvi_rewards_check(rewards, &counts->shape, err);
    if (status == ASSAY_OK) {
        status =
            assay_dp_apvi_release(&released, counts, params, custodian, err);
    }
    if (status == ASSAY_OK) {
        status = assay_dp_apvi_plan(out, NULL, released, rewards, params, err);
    }
    assay_counts_free(released);
    return status;
}
