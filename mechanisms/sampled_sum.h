/* ring: glue */
/**
 * Noisy sums over secret random samples of the people, step after step.
 *
 * Charge    all `num_steps` steps at once, when the object is made.
 * Poisson   every person is in a step's sample with probability
 *           2^-rate_bits, independently; one person's term has norm at most
 *           sqrt(sensitivity2). Add-remove neighbours.
 * One       one person of `population` is drawn uniformly; sensitivity2 bounds
 *           the squared distance of two people's terms (twice the clipping
 *           norm, squared). Replace-one neighbours.
 * Coin      with a `coin`, a step reads the people with that probability only;
 *           whether it does is drawn from the tape and is public.
 * Law       out = round(in * step + N(0, sigma2)) / step per entry: a function
 *           of the continuous release. Variances in real units, `in` in steps
 *           of 2^-step_bits.
 * Theorem   rounded-gaussian; sampling and coin as the accountant has them.
 * Order     (coin, and if it is 1) draw, then release, `num_steps` times. A
 *           failure ends the run.
 */
#ifndef ASSAY_MECHANISMS_SAMPLED_SUM_H
#define ASSAY_MECHANISMS_SAMPLED_SUM_H

#include "mechanisms/custodian.h"

typedef struct assay_sampled_sum assay_sampled_sum;

typedef struct assay_sampling_plan {
    int poisson;         /* else one of `population` */
    unsigned rate_bits;  /* Poisson: 0 to 63 */
    uint64_t population; /* people who are there */
    uint64_t num_steps;
    size_t dimension;
    long step_bits;
    mpq_srcptr sigma2, sensitivity2;
    mpq_srcptr coin; /* NULL: every step runs */
} assay_sampling_plan;

/** Bits of a step for terms clipped to norm `clip` and noise of `multiplier`
 *  times that: the noise is 2^9 to 2^10 steps wide where the norm can be 2^4 to
 *  2^20 steps. */
int assay_sampled_sum_step_bits(const mpq_t clip, double multiplier);
/** floor(clip 2^bits): the norm in steps. */
int64_t assay_sampled_sum_radius(const mpq_t clip, int bits);

struct assay_event;
/** The event that is charged; `event` is initialised by this call. */
void assay_sampled_sum_event(struct assay_event *event,
                             const assay_sampling_plan *plan);

assay_status assay_sampled_sum_new(assay_sampled_sum **out,
                                   assay_custodian *custodian,
                                   const assay_sampling_plan *plan,
                                   const char *label,
                                   assay_error *err) ASSAY_MUST_CHECK;

/** The step's public coin, before its draw. At 0 the step is over. A plan
 *  without a coin gives 1 and reads nothing from the tape. */
assay_status assay_sampled_sum_coin(assay_sampled_sum *sum, int *heads,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** The indices of this step's people, increasing, in room for `population`.
 *  They are as secret as the data. */
assay_status assay_sampled_sum_draw(assay_sampled_sum *sum, uint64_t *chosen,
                                    size_t *num_chosen,
                                    assay_error *err) ASSAY_MUST_CHECK;

/** The sum over the sample in, the noisy sum out. */
assay_status assay_sampled_sum_release(assay_sampled_sum *sum, int64_t *out,
                                       const int64_t *in,
                                       assay_error *err) ASSAY_MUST_CHECK;

void assay_sampled_sum_free(assay_sampled_sum *sum);

#endif
