/* ring: glue */
#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/guarantee.h"
#include "algorithms/ope.h"
#include "algorithms/ope_step.h"
#include "core/bound.h"
#include "mechanisms/sampled_sum.h"

#define SIGMA_STEPS 128ul
#define SIGMA_MOST 4096ul

void assay_gpope_params_init(assay_gpope_params *params)
{
    memset(params, 0, sizeof *params);
    params->poisson = 1;
    params->rate_bits = 10;
    params->num_steps = 1000;
    params->gamma = 0.99;
    params->size.beta = 0.1;
    mpq_init(params->clip);
    mpq_init(params->sigma);
    mpq_set_ui(params->clip, 1, 100);
    mpq_set_ui(params->sigma, 1, 1);
}

void assay_gpope_params_clear(assay_gpope_params *params)
{
    mpq_clear(params->clip);
    mpq_clear(params->sigma);
}

static assay_status check(const assay_gpope_params *p, assay_error *err)
{
    if (mpq_sgn(p->clip) <= 0 || mpq_sgn(p->sigma) <= 0 ||
        mpq_get_d(p->clip) < 0x1p-40 || mpq_get_d(p->clip) > 0x1p40) {
        return assay_fail(err, ASSAY_INVALID,
                          "sigma must be positive and the clipping norm "
                          "between 2^-40 and 2^40");
    }
    if (!(p->gamma >= 0.0 && p->gamma <= 1.0) || !(p->size.beta > 0.0) ||
        !isfinite(p->size.beta) || !(p->size.dual >= 0.0) ||
        !isfinite(p->size.dual) || p->num_steps == 0 || p->rate_bits > 63) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs gamma in [0, 1], a positive step size, at "
                          "least one step and a rate of at least 2^-63");
    }
    return ASSAY_OK;
}

static int step_bits(const assay_gpope_params *p)
{
    return assay_sampled_sum_step_bits(p->clip, mpq_get_d(p->sigma));
}

static int64_t to_steps(double x, long bits, int64_t top)
{
    double y = ldexp(x, (int)bits);
    if (!(fabs(y) < (double)top)) {
        return isnan(y) ? 0 : y > 0.0 ? top : -top;
    }
    return (int64_t)llrint(y);
}

void assay_gpope_gradient(int64_t *out, double *work,
                          const assay_episodes *episodes, size_t episode,
                          double gamma, const double *x, long bits,
                          int64_t most)
{
    int64_t top = (int64_t)1 << 23; /* 2 dim 4^23 <= 2^60 for dim <= 4096 */
    size_t n = 2 * episodes->dim;
    assay_ope_gradient(work, episodes, episode, gamma, x);
    for (size_t i = 0; i < n; i++) {
        out[i] = to_steps(work[i], bits, top);
    }
    (void)assay_clip_l2(out, n, top, most);
}

/* sigma2 = (h sigma)^2; sensitivity2 = h^2, or (2h)^2 for one of m */
static void set_plan(assay_sampling_plan *plan, mpq_t sigma2,
                     mpq_t sensitivity2, const assay_gpope_params *p,
                     uint64_t population, size_t dimension)
{
    mpq_mul(sensitivity2, p->clip, p->clip);
    mpq_mul(sigma2, p->sigma, p->sigma);
    mpq_mul(sigma2, sigma2, sensitivity2);
    if (!p->poisson) {
        mpq_mul_2exp(sensitivity2, sensitivity2, 2);
    }
    plan->poisson = p->poisson;
    plan->rate_bits = p->rate_bits;
    plan->population = population;
    plan->num_steps = p->num_steps;
    plan->dimension = dimension;
    plan->step_bits = step_bits(p);
    plan->sigma2 = sigma2;
    plan->sensitivity2 = sensitivity2;
    plan->coin = NULL;
}

typedef struct gpope {
    const assay_episodes *episodes;
    const assay_gpope_params *params;
    assay_sampled_sum *sums;
    int bits;
    int64_t radius;
    size_t n;           /* 2 dim */
    uint64_t *chosen;   /* [episodes] */
    int64_t *one, *sum; /* private */
    int64_t *noisy;     /* released */
    double *x, *move;   /* functions of what was released */
    double *work;       /* private */
} gpope;

static void gpope_clear(gpope *g)
{
    if (g->sum != NULL) {
        OPENSSL_cleanse(g->sum, g->n * sizeof *g->sum);
        OPENSSL_cleanse(g->one, g->n * sizeof *g->one);
        OPENSSL_cleanse(g->work, g->n * sizeof *g->work);
        OPENSSL_cleanse(g->chosen,
                        g->episodes->num_episodes * sizeof *g->chosen);
    }
    free(g->chosen);
    free(g->one);
    free(g->sum);
    free(g->noisy);
    free(g->x);
    free(g->move);
    free(g->work);
    assay_sampled_sum_free(g->sums);
}

static assay_status gpope_init(gpope *g, const assay_episodes *e,
                               const assay_gpope_params *p, assay_error *err)
{
    memset(g, 0, sizeof *g);
    g->episodes = e;
    g->params = p;
    g->n = 2 * e->dim;
    g->bits = step_bits(p);
    g->radius = assay_sampled_sum_radius(p->clip, g->bits);
    g->chosen = calloc(e->num_episodes + 1, sizeof *g->chosen);
    g->one = calloc(g->n, sizeof *g->one);
    g->noisy = calloc(g->n, sizeof *g->noisy);
    g->x = calloc(g->n, sizeof *g->x);
    g->move = calloc(g->n, sizeof *g->move);
    g->work = calloc(g->n, sizeof *g->work);
    if (g->chosen == NULL || g->one == NULL || g->x == NULL ||
        g->move == NULL || g->work == NULL || g->noisy == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for GPOPE");
    }
    g->sum = calloc(g->n, sizeof *g->sum);
    return g->sum == NULL ? assay_fail(err, ASSAY_MEMORY, "no memory for GPOPE")
                          : ASSAY_OK;
}

static assay_status one_step(gpope *g, uint64_t step, assay_error *err)
{
    size_t num_chosen = 0;
    assay_status status =
        assay_sampled_sum_draw(g->sums, g->chosen, &num_chosen, err);
    if (status != ASSAY_OK) {
        return status;
    }
    memset(g->sum, 0, g->n * sizeof *g->sum);
    for (size_t k = 0; k < num_chosen; k++) {
        assay_gpope_gradient(g->one, g->work, g->episodes, (size_t)g->chosen[k],
                             g->params->gamma, g->x, g->bits, g->radius);
        for (size_t i = 0; i < g->n; i++) {
            g->sum[i] += g->one[i];
        }
    }
    status = assay_sampled_sum_release(g->sums, g->noisy, g->sum, err);
    if (status != ASSAY_OK) {
        return status;
    }
    for (size_t i = 0; i < g->n; i++) {
        g->move[i] = ldexp((double)g->noisy[i], -g->bits);
    }
    assay_ope_move(g->x, g->n / 2, g->params->size, step, g->params->num_steps,
                   g->move);
    return ASSAY_OK;
}

static assay_status run(double *theta, gpope *g,
                        struct assay_custodian *custodian, assay_error *err)
{
    assay_sampling_plan plan;
    mpq_t sigma2;
    mpq_t sensitivity2;
    assay_status status;
    mpq_init(sigma2);
    mpq_init(sensitivity2);
    set_plan(&plan, sigma2, sensitivity2, g->params, g->episodes->num_episodes,
             g->n);
    status = assay_sampled_sum_new(
        &g->sums, custodian, &plan,
        g->params->poisson ? "gpope: Poisson sums" : "gpope: one episode", err);
    for (uint64_t i = 0; status == ASSAY_OK && i < g->params->num_steps; i++) {
        status = one_step(g, i, err);
    }
    if (status == ASSAY_OK) {
        memcpy(theta, g->x, g->episodes->dim * sizeof *theta);
    }
    mpq_clear(sigma2);
    mpq_clear(sensitivity2);
    return status;
}

assay_status assay_gpope(double *theta, const assay_episodes *episodes,
                         const assay_gpope_params *params,
                         struct assay_custodian *custodian, assay_error *err)
{
    gpope g;
    assay_status status = check(params, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (custodian == NULL || episodes->num_episodes == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "GPOPE needs a custodian and episodes");
    }
    status = gpope_init(&g, episodes, params, err);
    if (status == ASSAY_OK) {
        status = run(theta, &g, custodian, err);
    }
    gpope_clear(&g);
    return status;
}

/* 1 if this sigma is enough, 0 if not; errors are the accountant's. */
static assay_status enough(int *out, assay_gpope_params *p, uint64_t population,
                           const mpq_t epsilon, const mpq_t delta,
                           const char *method, assay_error *err)
{
    assay_account_options options = {method, 0.0, 0, 0};
    assay_sampling_plan plan;
    assay_event event;
    assay_event_list list;
    assay_guarantee guarantee;
    mpq_t sigma2;
    mpq_t sensitivity2;
    assay_status status;
    mpq_init(sigma2);
    mpq_init(sensitivity2);
    set_plan(&plan, sigma2, sensitivity2, p, population, 1);
    assay_sampled_sum_event(&event, &plan);
    assay_event_list_init(
        &list, p->poisson ? ASSAY_ADD_REMOVE : ASSAY_REPLACE_ONE, "person");
    assay_guarantee_init(&guarantee);
    status = assay_event_list_add(&list, &event, err);
    if (status == ASSAY_OK) {
        status = assay_account(&guarantee, &list, delta, &options, err);
    }
    *out = status == ASSAY_OK &&
           mpq_cmp(guarantee.bounds[0].epsilon, epsilon) <= 0;
    assay_guarantee_clear(&guarantee);
    assay_event_list_clear(&list);
    assay_event_clear(&event);
    mpq_clear(sigma2);
    mpq_clear(sensitivity2);
    return status;
}

assay_status assay_gpope_calibrate(mpq_t sigma,
                                   const assay_gpope_params *params,
                                   uint64_t population, const mpq_t epsilon,
                                   const mpq_t delta, const char *method,
                                   assay_error *err)
{
    assay_gpope_params p = *params;
    unsigned long low = SIGMA_STEPS / 4; /* taken as too small */
    unsigned long high = SIGMA_STEPS;
    int fits = 0;
    assay_status status = check(params, err);
    mpq_init(p.sigma);
    while (status == ASSAY_OK && !fits && high <= SIGMA_MOST * SIGMA_STEPS) {
        mpq_set_ui(p.sigma, high, SIGMA_STEPS);
        mpq_canonicalize(p.sigma);
        status = enough(&fits, &p, population, epsilon, delta, method, err);
        if (!fits) {
            low = high;
            high *= 2;
        }
    }
    while (status == ASSAY_OK && fits && high - low > 1) {
        unsigned long mid = low + (high - low) / 2;
        int good = 0;
        mpq_set_ui(p.sigma, mid, SIGMA_STEPS);
        mpq_canonicalize(p.sigma);
        status = enough(&good, &p, population, epsilon, delta, method, err);
        high = good ? mid : high;
        low = good ? low : mid;
    }
    mpq_clear(p.sigma);
    if (status == ASSAY_OK && !fits) {
        status =
            assay_fail(err, ASSAY_INVALID,
                       "no sigma up to %lu reaches this epsilon", SIGMA_MOST);
    }
    if (status == ASSAY_OK) {
        mpq_set_ui(sigma, high, SIGMA_STEPS);
        mpq_canonicalize(sigma);
    }
    return status;
}
