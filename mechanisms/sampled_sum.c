/* ring: glue */
#include "mechanisms/sampled_sum.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "core/rational.h"
#include "mechanisms/bernoulli.h"
#include "mechanisms/noise.h"
#include "mechanisms/sampler.h"
#include "mechanisms/uniform.h"

struct assay_sampled_sum {
    assay_custodian *custodian;
    assay_sampler *sampler;
    int poisson;
    unsigned rate_bits;
    uint64_t population;
    uint64_t left; /* steps */
    size_t dimension;
    int drawn;              /* this step's sample is out */
    int tossed;             /* this step's coin was 1 */
    uint64_t heads, tosses; /* the coin is heads / tosses; 0: none */
    int64_t *noise;
};

void assay_sampled_sum_event(assay_event *event,
                             const assay_sampling_plan *plan)
{
    assay_event_init(event, ASSAY_ROUNDED_GAUSSIAN);
    mpq_set(event->sigma2, plan->sigma2);
    mpq_set(event->sensitivity2, plan->sensitivity2);
    event->count = plan->num_steps;
    if (plan->coin != NULL) {
        mpq_set(event->coin, plan->coin);
    }
    if (plan->poisson && plan->rate_bits > 0) {
        event->sampling = ASSAY_SAMPLE_POISSON;
        mpq_set_ui(event->rate, 1, 1);
        mpq_div_2exp(event->rate, event->rate, plan->rate_bits);
    } else if (!plan->poisson) {
        event->sampling = ASSAY_SAMPLE_WITHOUT_REPLACEMENT;
        event->population = plan->population;
        event->batch = 1;
    }
}

static assay_status allocate(assay_sampled_sum **out,
                             const assay_sampling_plan *plan, assay_error *err)
{
    assay_sampled_sum *s;
    if (plan->population == 0 || plan->num_steps == 0 || plan->rate_bits > 63 ||
        plan->dimension == 0 || plan->dimension > ((size_t)1 << 32)) {
        return assay_fail(err, ASSAY_INVALID,
                          "sampled sums need people, steps, 1 to 2^32 entries "
                          "and a rate of at least 2^-63");
    }
    s = calloc(1, sizeof *s);
    if (s != NULL) {
        s->poisson = plan->poisson;
        s->rate_bits = plan->rate_bits;
        s->population = plan->population;
        s->left = plan->num_steps;
        s->dimension = plan->dimension;
        s->noise = calloc(plan->dimension, sizeof(int64_t));
    }
    if (s == NULL || s->noise == NULL) {
        free(s);
        return assay_fail(err, ASSAY_MEMORY, "no memory for sampled sums");
    }
    *out = s;
    return ASSAY_OK;
}

static assay_status set_coin(assay_sampled_sum *s, mpq_srcptr coin,
                             assay_error *err)
{
    if (coin == NULL) {
        return ASSAY_OK;
    }
    if (mpq_sgn(coin) <= 0 || mpq_cmp_ui(coin, 1, 1) > 0 ||
        !assay_mpz_fits_u64(mpq_denref(coin))) {
        return assay_fail(err, ASSAY_INVALID,
                          "a coin is above 0, at most 1, and its denominator "
                          "below 2^64");
    }
    s->heads = assay_mpz_get_u64(mpq_numref(coin));
    s->tosses = assay_mpz_get_u64(mpq_denref(coin));
    return ASSAY_OK;
}

static assay_status charge(assay_custodian *custodian,
                           const assay_sampling_plan *plan, const char *label,
                           assay_error *err)
{
    assay_event event;
    assay_status status;
    assay_sampled_sum_event(&event, plan);
    status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

assay_status assay_sampled_sum_new(assay_sampled_sum **out,
                                   assay_custodian *custodian,
                                   const assay_sampling_plan *plan,
                                   const char *label, assay_error *err)
{
    assay_sampled_sum *s = NULL;
    assay_status status;
    if (custodian == NULL) {
        return assay_fail(err, ASSAY_INVALID, "sampled sums need a custodian");
    }
    status = allocate(&s, plan, err);
    if (status != ASSAY_OK) {
        return status;
    }
    s->custodian = custodian;
    status = set_coin(s, plan->coin, err);
    if (status == ASSAY_OK) {
        status = assay_sampler_new_rounded_gaussian(&s->sampler, plan->sigma2,
                                                    plan->step_bits, err);
    }
    if (status == ASSAY_OK) {
        status = charge(custodian, plan, label, err);
    }
    if (status != ASSAY_OK) {
        assay_sampled_sum_free(s);
        return status;
    }
    *out = s;
    return ASSAY_OK;
}

/* 64 independent bits, each one with probability 2^-bits. */
static assay_status rare_bits(assay_tape *tape, uint64_t *out, unsigned bits)
{
    uint64_t mask = UINT64_MAX;
    for (unsigned i = 0; i < bits && mask != 0; i++) {
        uint64_t word = 0;
        assay_status status = assay_tape_next(tape, &word);
        if (status != ASSAY_OK) {
            return status;
        }
        mask &= word;
    }
    *out = mask;
    return ASSAY_OK;
}

static assay_status draw_poisson(assay_sampled_sum *s, uint64_t *chosen,
                                 size_t *num_chosen)
{
    size_t n = 0;
    for (uint64_t base = 0; base < s->population; base += 64) {
        uint64_t mask = 0;
        assay_status status =
            rare_bits(&s->custodian->tape, &mask, s->rate_bits);
        if (status != ASSAY_OK) {
            return status;
        }
        for (uint64_t i = base; mask != 0 && i < s->population; i++) {
            if ((mask & 1u) != 0) {
                chosen[n++] = i;
            }
            mask >>= 1;
        }
    }
    *num_chosen = n;
    return ASSAY_OK;
}

assay_status assay_sampled_sum_coin(assay_sampled_sum *sum, int *heads,
                                    assay_error *err)
{
    int bit = 1;
    if (sum->left == 0 || sum->drawn || sum->tossed) {
        return assay_fail(err, ASSAY_INVALID,
                          sum->left == 0 ? "all steps that were charged are "
                                           "done"
                                         : "finish the last step first");
    }
    if (sum->tosses != 0) {
        assay_status status = assay_bernoulli(&sum->custodian->tape, sum->heads,
                                              sum->tosses, &bit);
        if (status != ASSAY_OK) {
            sum->left = 0;
            return assay_fail(err, status, "the random tape failed");
        }
        sum->tossed = bit;
        sum->left -= bit == 0;
    }
    *heads = bit;
    return ASSAY_OK;
}

assay_status assay_sampled_sum_draw(assay_sampled_sum *sum, uint64_t *chosen,
                                    size_t *num_chosen, assay_error *err)
{
    assay_status status;
    if (sum->left == 0 || sum->drawn) {
        return assay_fail(err, ASSAY_INVALID,
                          sum->left == 0
                              ? "all steps that were charged are done"
                              : "release the last sample first");
    }
    if (sum->tosses != 0 && !sum->tossed) {
        return assay_fail(err, ASSAY_INVALID, "toss the step's coin first");
    }
    if (sum->poisson) {
        status = draw_poisson(sum, chosen, num_chosen);
    } else {
        status = assay_uniform_below(&sum->custodian->tape, sum->population,
                                     &chosen[0]);
        *num_chosen = 1;
    }
    if (status != ASSAY_OK) {
        sum->left = 0;
        return assay_fail(err, status, "the random tape failed");
    }
    sum->drawn = 1;
    return ASSAY_OK;
}

assay_status assay_sampled_sum_release(assay_sampled_sum *sum, int64_t *out,
                                       const int64_t *in, assay_error *err)
{
    assay_status status;
    if (!sum->drawn) {
        return assay_fail(err, ASSAY_INVALID, "draw a sample first");
    }
    sum->drawn = 0;
    sum->tossed = 0;
    sum->left--;
    status = assay_sampler_fill(sum->sampler, &sum->custodian->tape, sum->noise,
                                sum->dimension, err);
    if (status != ASSAY_OK) {
        sum->left = 0;
        return status;
    }
    assay_noise_add(sum->noise, in, sum->dimension);
    memcpy(out, sum->noise, sum->dimension * sizeof *out);
    OPENSSL_cleanse(sum->noise, sum->dimension * sizeof *out);
    return ASSAY_OK;
}

void assay_sampled_sum_free(assay_sampled_sum *sum)
{
    if (sum == NULL) {
        return;
    }
    assay_sampler_free(sum->sampler);
    OPENSSL_cleanse(sum->noise, sum->dimension * sizeof *sum->noise);
    free(sum->noise);
    free(sum);
}
