/* ring: glue */
#include "mechanisms/sampler.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "core/rational.h"
#include "mechanisms/big.h"
#include "mechanisms/sampler_internal.h"

#define MAX_T_64 ((uint64_t)1 << 32)

static assay_status new_sampler(assay_sampler **out, const mpq_t parameter,
                                const char *name, assay_error *err)
{
    assay_sampler *s;
    if (mpq_sgn(parameter) <= 0) {
        return assay_fail(err, ASSAY_INVALID, "%s must be greater than zero",
                          name);
    }
    s = calloc(1, sizeof *s);
    if (s == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "out of memory");
    }
    mpq_init(s->parameter);
    mpq_set(s->parameter, parameter);
    mpz_inits(s->big_s, s->big_t, s->big_n, s->big_d, NULL);
    *out = s;
    return ASSAY_OK;
}

void assay_sampler_free(assay_sampler *s)
{
    if (s == NULL) {
        return;
    }
    assay_route1_clear(s);
    mpq_clear(s->parameter);
    mpz_clears(s->big_s, s->big_t, s->big_n, s->big_d, NULL);
    OPENSSL_cleanse(s, sizeof *s);
    free(s);
}

static int wants_route1(const assay_sampler_options *options)
{
    return options == NULL || options->route != ASSAY_ROUTE_REJECTION;
}

static assay_status check_options(const assay_sampler_options *options,
                                  const mpq_t parameter, int squared,
                                  assay_error *err)
{
    unsigned long most = ASSAY_CONSTANT_TIME_SCALE;
    if (options == NULL || !options->constant_time) {
        return ASSAY_OK;
    }
    if (options->route == ASSAY_ROUTE_REJECTION) {
        return assay_fail(err, ASSAY_INVALID,
                          "constant time needs route 1: route 2 takes longer "
                          "for larger values");
    }
    if (mpq_cmp_ui(parameter, squared ? most * most : most, 1) > 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "constant time is offered up to scale %lu", most);
    }
    return ASSAY_OK;
}

static void set_scale(assay_sampler *s, assay_draw_kind small,
                      assay_draw_kind big)
{
    mpz_set(s->big_s, mpq_denref(s->parameter));
    mpz_set(s->big_t, mpq_numref(s->parameter));
    s->draw = big;
    if (assay_mpz_fits_u64(s->big_s) && assay_mpz_fits_u64(s->big_t) &&
        assay_mpz_get_u64(s->big_t) <= MAX_T_64) {
        s->s = assay_mpz_get_u64(s->big_s);
        s->t = assay_mpz_get_u64(s->big_t);
        s->draw = small;
    }
}

/* GaussianFits of discrete_gaussian.h */
static int gaussian_fits(const mpz_t n, const mpz_t d, const mpz_t t)
{
    mpz_t x;
    int fits;
    mpz_init(x);
    mpz_mul(x, d, t);
    fits = mpz_cmp_ui(n, 2147483648u) < 0 && mpz_cmp_ui(x, 2147483648u) < 0;
    mpz_mul(x, x, n);
    mpz_mul(x, x, t);
    mpz_mul_2exp(x, x, 1);
    fits = fits && assay_mpz_fits_u64(x);
    mpz_clear(x);
    return fits;
}

static void set_gaussian(assay_sampler *s)
{
    mpz_set(s->big_n, mpq_numref(s->parameter));
    mpz_set(s->big_d, mpq_denref(s->parameter));
    assay_big_gaussian_scale(s->big_t, s->big_n, s->big_d);
    s->draw = ASSAY_DRAW_GAUSSIAN_BIG;
    if (gaussian_fits(s->big_n, s->big_d, s->big_t)) {
        s->gaussian.n = assay_mpz_get_u64(s->big_n);
        s->gaussian.d = assay_mpz_get_u64(s->big_d);
        s->gaussian.t = assay_mpz_get_u64(s->big_t);
        s->draw = ASSAY_DRAW_GAUSSIAN_64;
    }
}

/* Route 1 for a fresh object, which is freed on failure. */
static assay_status route1(assay_sampler **out, assay_sampler *s,
                           assay_cdf_kind kind, long step_bits,
                           int constant_time, assay_error *err)
{
    assay_status status =
        assay_route1_prepare(s, kind, step_bits, constant_time, err);
    if (status != ASSAY_OK) {
        assay_sampler_free(s);
        return status;
    }
    *out = s;
    return ASSAY_OK;
}

assay_status
assay_sampler_new_discrete_gaussian(assay_sampler **out, const mpq_t sigma2,
                                    const assay_sampler_options *options,
                                    assay_error *err)
{
    assay_sampler *s = NULL;
    assay_status status = check_options(options, sigma2, 1, err);
    if (status == ASSAY_OK) {
        status = new_sampler(&s, sigma2, "sigma2", err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    if (wants_route1(options)) {
        return route1(out, s, ASSAY_CDF_GAUSSIAN, 0,
                      options != NULL && options->constant_time, err);
    }
    set_gaussian(s);
    *out = s;
    return ASSAY_OK;
}

assay_status
assay_sampler_new_discrete_laplace(assay_sampler **out, const mpq_t scale,
                                   const assay_sampler_options *options,
                                   assay_error *err)
{
    assay_sampler *s = NULL;
    assay_status status = check_options(options, scale, 0, err);
    if (status == ASSAY_OK) {
        status = new_sampler(&s, scale, "scale", err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    if (wants_route1(options)) {
        return route1(out, s, ASSAY_CDF_LAPLACE, 0,
                      options != NULL && options->constant_time, err);
    }
    set_scale(s, ASSAY_DRAW_LAPLACE_64, ASSAY_DRAW_LAPLACE_BIG);
    *out = s;
    return ASSAY_OK;
}

assay_status assay_sampler_new_geometric(assay_sampler **out, const mpq_t scale,
                                         assay_error *err)
{
    assay_sampler *s = NULL;
    assay_status status = new_sampler(&s, scale, "scale", err);
    if (status != ASSAY_OK) {
        return status;
    }
    set_scale(s, ASSAY_DRAW_GEOMETRIC_64, ASSAY_DRAW_GEOMETRIC_BIG);
    *out = s;
    return ASSAY_OK;
}

static assay_status new_rounded(assay_sampler **out, const mpq_t parameter,
                                long step_bits, assay_cdf_kind kind,
                                const char *name, assay_error *err)
{
    assay_sampler *s = NULL;
    assay_status status;
    if (step_bits < -60 || step_bits > 200) {
        return assay_fail(err, ASSAY_INVALID,
                          "the step 2^-k needs k from -60 to 200");
    }
    status = new_sampler(&s, parameter, name, err);
    if (status != ASSAY_OK) {
        return status;
    }
    return route1(out, s, kind, step_bits, 0, err);
}

assay_status assay_sampler_new_rounded_gaussian(assay_sampler **out,
                                                const mpq_t sigma2,
                                                long step_bits,
                                                assay_error *err)
{
    return new_rounded(out, sigma2, step_bits, ASSAY_CDF_ROUNDED_GAUSSIAN,
                       "sigma2", err);
}

assay_status assay_sampler_new_rounded_laplace(assay_sampler **out,
                                               const mpq_t scale,
                                               long step_bits, assay_error *err)
{
    return new_rounded(out, scale, step_bits, ASSAY_CDF_ROUNDED_LAPLACE,
                       "scale", err);
}

static assay_status big_one(assay_sampler *s, assay_tape *tape, int64_t *out)
{
    mpz_t x;
    assay_status status;
    mpz_init(x);
    if (s->draw == ASSAY_DRAW_GAUSSIAN_BIG) {
        status =
            assay_big_discrete_gaussian(tape, x, s->big_n, s->big_d, s->big_t);
    } else if (s->draw == ASSAY_DRAW_LAPLACE_BIG) {
        status = assay_big_discrete_laplace(tape, x, s->big_s, s->big_t);
    } else {
        status = assay_big_geometric(tape, x, s->big_s, s->big_t);
    }
    if (status == ASSAY_OK && mpz_sizeinbase(x, 2) > 63) {
        status = ASSAY_RANGE;
    }
    if (status == ASSAY_OK) {
        int64_t size = (int64_t)assay_mpz_get_u64(x);
        *out = mpz_sgn(x) < 0 ? -size : size;
    }
    assay_big_wipe(x);
    return status;
}

static assay_status draw_one(assay_sampler *s, assay_tape *tape, int64_t *out)
{
    switch (s->draw) {
    case ASSAY_DRAW_LAPLACE_64:
        return assay_discrete_laplace(tape, s->s, s->t, out);
    case ASSAY_DRAW_GAUSSIAN_64:
        return assay_discrete_gaussian(tape, &s->gaussian, out);
    case ASSAY_DRAW_GEOMETRIC_64:
        return assay_geometric(tape, s->s, s->t, out);
    case ASSAY_DRAW_LAPLACE_BIG:
    case ASSAY_DRAW_GAUSSIAN_BIG:
    case ASSAY_DRAW_GEOMETRIC_BIG:
        return big_one(s, tape, out);
    default:
        return assay_route1_fill(s, tape, out, 1);
    }
}

static assay_status explain(assay_status status, assay_error *err)
{
    if (status == ASSAY_ENTROPY) {
        return assay_fail(err, status,
                          "the random generator failed: nothing was drawn");
    }
    if (status == ASSAY_RANGE) {
        return assay_fail(err, status, "the value drawn does not fit 64 bits");
    }
    return status;
}

assay_status assay_sampler_fill(assay_sampler *s, assay_tape *tape,
                                int64_t *out, size_t n, assay_error *err)
{
    assay_status status = ASSAY_OK;
    if (s->draw <= ASSAY_DRAW_DIGITS) {
        status = assay_route1_fill(s, tape, out, n);
    } else {
        for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
            status = draw_one(s, tape, out + i);
        }
    }
    if (status != ASSAY_OK) {
        OPENSSL_cleanse(out, n * sizeof *out);
    }
    return explain(status, err);
}

assay_status assay_sampler_one(assay_sampler *s, assay_tape *tape, int64_t *out,
                               assay_error *err)
{
    int64_t value = 0;
    assay_status status = draw_one(s, tape, &value);
    if (status == ASSAY_OK) {
        *out = value;
    }
    OPENSSL_cleanse(&value, sizeof value);
    return explain(status, err);
}
