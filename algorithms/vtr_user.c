/* ring: glue */
/* The user's side of UCRL-VTR, and what both sides know. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/vtr.h"

struct assay_vtr_user {
    assay_shape shape;
    assay_vtr_statistics statistics;
    unsigned lattice_bits;
    double *value; /* [h][s], h = H zero */
    double *phi;   /* scratch: a block */
    assay_policy *policy;
};

void assay_vtr_params_init(assay_vtr_params *params)
{
    memset(params, 0, sizeof *params);
    mpq_init(params->budget);
    mpq_set_ui(params->budget, 1, 1);
    params->statistics = ASSAY_VTR_COUNTS;
    params->noise = ASSAY_NOISE_NONE;
    params->episodes = 10000;
    params->lattice_bits = 8;
    params->bonus = 0.1;
    params->shift = 1.0;
    params->ridge = 1.0;
}

void assay_vtr_params_clear(assay_vtr_params *params)
{
    mpq_clear(params->budget);
}

assay_status assay_vtr_params_check(const assay_vtr_params *params,
                                    const assay_shape *shape, assay_error *err)
{
    if (params->noise == ASSAY_NOISE_UNARY ||
        (params->noise == ASSAY_NOISE_LAPLACE &&
         params->statistics == ASSAY_VTR_PRINTED)) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "UCRL-VTR has Gaussian noise, and Laplace noise with "
                          "counts");
    }
    if (shape->horizon < 2 || shape->num_states > 256 || params->episodes < 1 ||
        params->lattice_bits > 16 || !(params->bonus >= 0.0) ||
        !(params->shift >= 0.0) || !(params->ridge > 0.0) ||
        (params->noise != ASSAY_NOISE_NONE && mpq_sgn(params->budget) <= 0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "UCRL-VTR needs H >= 2, S <= 256, lattice_bits <= "
                          "16, a positive ridge and budget");
    }
    return assay_shape_check(shape, err);
}

/* Entries of a block: the upper triangle and u, or a row of counts. */
static size_t block_len(assay_vtr_statistics statistics, size_t states)
{
    return statistics == ASSAY_VTR_PRINTED ? states * (states + 1) / 2 + states
                                           : states;
}

size_t assay_vtr_report_len(const assay_vtr_params *params,
                            const assay_shape *shape)
{
    return (size_t)(shape->horizon - 1) * shape->num_states *
           shape->num_actions *
           block_len(params->statistics, shape->num_states);
}

/* (ceil(2^bits D) + 2 ceil(sqrt m))^2 */
static void printed_sensitivity(mpq_t out, unsigned bits,
                                const assay_shape *shape)
{
    mpz_t sum;
    mpz_t root;
    unsigned long m = (unsigned long)(shape->horizon - 1) *
                      block_len(ASSAY_VTR_PRINTED, shape->num_states);
    mpz_init_set_ui(sum, 0);
    mpz_init(root);
    for (uint32_t h = 1; h < shape->horizon; h++) {
        mpz_ui_pow_ui(root, shape->horizon - h, 4);
        mpz_add(sum, sum, root);
    }
    mpz_mul_ui(sum, sum, 9); /* 4.5 = 9/2 */
    mpz_mul_2exp(sum, sum, 2 * bits);
    mpz_cdiv_q_ui(sum, sum, 2);
    mpz_sqrt(root, sum);
    mpz_add_ui(root, root, 1);
    mpz_set_ui(sum, m);
    mpz_sqrt(sum, sum);
    mpz_add_ui(sum, sum, 1);
    mpz_mul_2exp(sum, sum, 1);
    mpz_add(root, root, sum);
    mpz_mul(mpq_numref(out), root, root);
    mpz_set_ui(mpq_denref(out), 1);
    mpz_clear(sum);
    mpz_clear(root);
}

void assay_vtr_sensitivity(mpq_t out, const assay_vtr_params *params,
                           const assay_shape *shape)
{
    if (params->statistics == ASSAY_VTR_PRINTED) {
        printed_sensitivity(out, params->lattice_bits, shape);
    } else {
        mpq_set_ui(out, 2 * (unsigned long)(shape->horizon - 1), 1);
    }
}

assay_status assay_vtr_user_new(assay_vtr_user **out, const assay_shape *shape,
                                const assay_vtr_params *params,
                                assay_error *err)
{
    assay_vtr_user *user;
    assay_status status = assay_vtr_params_check(params, shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    user = calloc(1, sizeof *user);
    if (user != NULL) {
        user->shape = *shape;
        user->statistics = params->statistics;
        user->lattice_bits = params->lattice_bits;
        user->value = calloc((size_t)(shape->horizon + 1) * shape->num_states,
                             sizeof(double));
        user->phi = calloc(shape->num_states, sizeof(double));
    }
    if (user == NULL || user->value == NULL || user->phi == NULL) {
        assay_vtr_user_free(user);
        return assay_fail(err, ASSAY_MEMORY, "no memory for a user");
    }
    status = assay_policy_new(&user->policy, shape, err);
    if (status != ASSAY_OK) {
        assay_vtr_user_free(user);
        return status;
    }
    *out = user;
    return ASSAY_OK;
}

void assay_vtr_user_free(assay_vtr_user *user)
{
    if (user == NULL) {
        return;
    }
    assay_policy_free(user->policy);
    free(user->value);
    free(user->phi);
    free(user);
}

/* phi' Sigma^{-1} phi of one block. */
static double width2(const assay_vtr_model *model, size_t pair,
                     const double *phi)
{
    size_t n = model->shape.num_states;
    const double *inverse = model->inverse + pair * n * n;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double row = 0.0;
        for (size_t j = 0; j < n; j++) {
            row += inverse[i * n + j] * phi[j];
        }
        sum += row * phi[i];
    }
    return sum;
}

/* <theta, phi_V> + beta ||Sigma^{-1/2} phi_V|| for one (h, s, a). With counts
 * Sigma = ridge + n phi phi', so the width is ||phi||/sqrt(ridge + n x). */
static double predict(const assay_vtr_model *model, size_t pair,
                      const double *next, double beta, double *phi)
{
    size_t n = model->shape.num_states;
    const double *theta = model->theta + pair * n;
    double root = sqrt((double)n);
    double mean = 0.0;
    double norm2 = 0.0;
    double wide;
    for (size_t i = 0; i < n; i++) {
        phi[i] = next[i] / root;
        mean += theta[i] * phi[i];
        norm2 += phi[i] * phi[i];
    }
    if (model->statistics == ASSAY_VTR_PRINTED) {
        wide = width2(model, pair, phi);
        return mean + beta * sqrt(wide > 0.0 ? wide : 0.0);
    }
    wide = norm2 / (model->ridge + model->visits[pair] * norm2);
    /* theta holds N(s,a,s') sqrt S: regress on the one feature phi */
    return mean * norm2 / (model->ridge + model->visits[pair] * norm2) +
           beta * sqrt(wide);
}

static void plan_state(assay_vtr_user *user, const assay_vtr_model *model,
                       const double *rewards, uint32_t h, uint32_t s)
{
    const assay_shape *shape = &user->shape;
    size_t at = (size_t)h * shape->num_states + s;
    const double *next = user->value + (size_t)(h + 1) * shape->num_states;
    double left = (double)(shape->horizon - h);
    double top = -1.0;
    for (uint32_t a = 0; a < shape->num_actions; a++) {
        size_t pair = at * shape->num_actions + a;
        double q = rewards[pair];
        if (h + 1 < shape->horizon) {
            q += predict(model, pair, next, model->beta * left, user->phi);
        }
        q = fmin(fmax(q, 0.0), left);
        if (q > top) {
            top = q;
            user->policy->action[at] = a;
        }
    }
    user->value[at] = top;
}

void assay_vtr_user_plan(assay_vtr_user *user, const assay_vtr_model *model,
                         const double *rewards)
{
    for (uint32_t h = user->shape.horizon; h-- > 0;) {
        for (uint32_t s = 0; s < user->shape.num_states; s++) {
            plan_state(user, model, rewards, h, s);
        }
    }
}

const assay_policy *assay_vtr_user_policy(const assay_vtr_user *user)
{
    return user->policy;
}

static int64_t on_lattice(double x, unsigned bits)
{
    return (int64_t)nearbyint(ldexp(x, (int)bits));
}

/* The upper triangle of phi phi' and phi V(s'), in steps. */
static void fill_block(int64_t *block, const assay_vtr_user *user,
                       const double *next, uint32_t s_next)
{
    size_t n = user->shape.num_states;
    double root = sqrt((double)n);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            block[at++] =
                on_lattice(next[i] * next[j] / (double)n, user->lattice_bits);
        }
    }
    for (size_t i = 0; i < n; i++) {
        block[at++] =
            on_lattice(next[i] / root * next[s_next], user->lattice_bits);
    }
}

void assay_vtr_user_statistics(int64_t *out, assay_vtr_user *user,
                               const assay_online_step *steps)
{
    const assay_shape *shape = &user->shape;
    size_t len = block_len(user->statistics, shape->num_states);
    memset(out, 0,
           (size_t)(shape->horizon - 1) * shape->num_states *
               shape->num_actions * len * sizeof *out);
    for (uint32_t h = 0; h + 1 < shape->horizon; h++) {
        size_t pair = assay_shape_pair(shape, h, steps[h].s, steps[h].a);
        const double *next = user->value + (size_t)(h + 1) * shape->num_states;
        if (user->statistics == ASSAY_VTR_COUNTS) {
            out[pair * len + steps[h].s_next] = 1;
        } else {
            fill_block(out + pair * len, user, next, steps[h].s_next);
        }
    }
}
