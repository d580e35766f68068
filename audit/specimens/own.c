/* ring: glue */
/* Assay's own samplers, drawn from the real tape: nothing may be refuted. */
#include <gmp.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "audit/specimens/specimens.h"
#include "mechanisms/sampler.h"

#define P(k) (s->param[k])
#define KINDS 5
#define SLOTS 16

/* Samplers and tapes are lent to one thread at a time and kept. */
typedef struct drawer {
    assay_sampler *sampler;
    assay_tape tape;
    int busy;
} drawer;

static drawer drawers[KINDS][SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static assay_status make(drawer *d, int kind)
{
    assay_sampler_options constant = {ASSAY_ROUTE_AUTO, 1};
    assay_sampler_options rejection = {ASSAY_ROUTE_REJECTION, 0};
    mpq_t one;
    mpq_init(one);
    mpq_set_ui(one, 1, 1);
    assay_status status = assay_tape_init(&d->tape, NULL);
    if (status == ASSAY_OK && kind == 0) {
        status =
            assay_sampler_new_discrete_laplace(&d->sampler, one, NULL, NULL);
    } else if (status == ASSAY_OK && kind == 1) {
        status =
            assay_sampler_new_discrete_gaussian(&d->sampler, one, NULL, NULL);
    } else if (status == ASSAY_OK && kind == 2) {
        status = assay_sampler_new_discrete_gaussian(&d->sampler, one,
                                                     &constant, NULL);
    } else if (status == ASSAY_OK && kind == 3) {
        status = assay_sampler_new_rounded_laplace(&d->sampler, one, 10, NULL);
    } else if (status == ASSAY_OK) {
        status = assay_sampler_new_discrete_laplace(&d->sampler, one,
                                                    &rejection, NULL);
    }
    mpq_clear(one);
    return status;
}

static drawer *borrow(int kind)
{
    drawer *found = NULL;
    (void)pthread_mutex_lock(&lock);
    for (int k = 0; k < SLOTS && found == NULL; k++) {
        drawer *d = &drawers[kind][k];
        if (!d->busy && (d->sampler != NULL || make(d, kind) == ASSAY_OK)) {
            d->busy = 1;
            found = d;
        }
    }
    (void)pthread_mutex_unlock(&lock);
    return found;
}

static void give_back(drawer *d)
{
    (void)pthread_mutex_lock(&lock);
    d->busy = 0;
    (void)pthread_mutex_unlock(&lock);
}

/* param: kind, step. A failure shows as NaN on both sides. */
static void draw_own(const assay_specimen *s, const double *q, assay_rng *rng,
                     size_t n, assay_rows *out)
{
    int64_t x[ASSAY_ROWS_BLOCK];
    (void)rng;
    drawer *d = borrow((int)P(0));
    assay_status status = ASSAY_MEMORY;
    if (d != NULL) {
        status = assay_sampler_fill(d->sampler, &d->tape, x, n, NULL);
        give_back(d);
    }
    for (size_t i = 0; i < n; i++) {
        out->value[0][i] =
            status == ASSAY_OK ? q[0] + P(1) * (double)x[i] : NAN;
    }
}

static void llr_laplace(const assay_oracle *o, const assay_rows *rows,
                        double *out)
{
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        out[i] = fabs(x - o->pair.q[1][0]) - fabs(x - o->pair.q[0][0]);
    }
}

static void llr_gauss(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    double a = o->pair.q[0][0], b = o->pair.q[1][0];
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        out[i] = ((x - b) * (x - b) - (x - a) * (x - a)) / 2;
    }
}

static const assay_pair zero_one[] = {{{{0}, {1}}}};

#define OWN(label, claim_value, kind, step, ratio)                             \
    {                                                                          \
        .name = label, .note = "correct: Assay's own", .claim = claim_value,   \
        .truth = NAN, .width = 1, .num_inputs = 1, .num_pairs = 1,             \
        .pairs = zero_one, .param = {kind, step}, .draw = draw_own,            \
        .llr = ratio, .raw = 1, .fresh = 1                                     \
    }
#define EPS_1 ASSAY_EPS(1, 0)
#define RHO_HALF                                                               \
    {                                                                          \
        ASSAY_CLAIM_RHO, 0.5, 0                                                \
    }

const assay_specimen assay_specimens_own[] = {
    OWN("Own-discrete-Laplace", EPS_1, 0, 1, llr_laplace),
    OWN("Own-discrete-Laplace-rej", EPS_1, 4, 1, llr_laplace),
    OWN("Own-discrete-Gaussian", RHO_HALF, 1, 1, llr_gauss),
    OWN("Own-discrete-Gaussian-ct", RHO_HALF, 2, 1, llr_gauss),
    OWN("Own-rounded-Laplace", EPS_1, 3, 0.0009765625, NULL),
    {.name = NULL},
};
