/* ring: glue */
#include "accountant/solve.h"

#include "accountant/numeric.h"

#define START_PREC 128
#define MAX_PREC 2048
#define STEPS 64

typedef struct solver {
    assay_profile_ball *profile;
    const void *context;
    arb_t target;
    arb_t delta;
} solver;

/* 1: certainly at most the target; -1: certainly above; 0: cannot tell */
static int side(solver *s, const mpq_t epsilon)
{
    for (slong prec = START_PREC; prec <= MAX_PREC; prec *= 2) {
        s->profile(s->delta, epsilon, s->context, prec);
        if (arb_le(s->delta, s->target)) {
            return 1;
        }
        if (arb_gt(s->delta, s->target)) {
            return -1;
        }
    }
    return 0;
}

/* Halves [low, high] until it is 10^-17 of itself; high stays certified. */
static void bisect(solver *s, mpq_t low, mpq_t high)
{
    mpq_t middle;
    mpq_init(middle);
    for (int i = 0; i < STEPS; i++) {
        mpq_add(middle, low, high);
        mpq_div_2exp(middle, middle, 1);
        mpq_set(side(s, middle) > 0 ? high : low, middle);
    }
    mpq_clear(middle);
}

static assay_status solve_epsilon(assay_bound *out, solver *s, assay_error *err)
{
    mpq_t low;
    mpq_t high;
    mpq_init(low);
    mpq_init(high);
    int found = side(s, low) > 0;
    if (!found) {
        mpq_set_ui(high, 1, 1 << 20);
        for (int i = 0; i < 80 && !found; i++) {
            found = side(s, high) > 0;
            if (!found) {
                mpq_set(low, high);
                mpq_mul_2exp(high, high, 1);
            }
        }
        if (found) {
            bisect(s, low, high);
        }
    }
    if (found) {
        mpq_set(out->epsilon, high);
        assay_decimal_outward(out->epsilon, ASSAY_DIGITS, 1);
        assay_decimal_outward(low, ASSAY_DIGITS, 0);
        out->has_lower = mpq_sgn(low) == 0 || side(s, low) < 0;
        mpq_set(out->epsilon_lower, low);
    }
    mpq_clear(low);
    mpq_clear(high);
    return found ? ASSAY_OK
                 : assay_fail(err, ASSAY_RANGE, "epsilon is above 2^60");
}

static assay_status solve_delta(assay_bound *out, const mpq_t epsilon,
                                solver *s, assay_error *err)
{
    slong prec = START_PREC;
    do {
        s->profile(s->delta, epsilon, s->context, prec);
        prec *= 2;
    } while (arb_rel_accuracy_bits(s->delta) < 60 && prec <= 8 * MAX_PREC);
    if (!assay_arb_upper(out->delta, s->delta) ||
        !assay_arb_lower(out->delta_lower, s->delta)) {
        return assay_fail(err, ASSAY_RANGE, "delta is out of range");
    }
    if (mpq_cmp_ui(out->delta, 1, 1) > 0) {
        mpq_set_ui(out->delta, 1, 1);
    }
    if (mpq_sgn(out->delta) < 0) {
        mpq_set_ui(out->delta, 0, 1);
    }
    if (mpq_sgn(out->delta_lower) < 0) {
        mpq_set_ui(out->delta_lower, 0, 1);
    }
    out->has_lower = 1;
    assay_decimal_outward(out->delta, ASSAY_DIGITS, 1);
    assay_decimal_outward(out->delta_lower, ASSAY_DIGITS, 0);
    mpq_set(out->epsilon, epsilon);
    return ASSAY_OK;
}

assay_status assay_solve_profile(assay_bound *out, const assay_query *query,
                                 assay_profile_ball *profile,
                                 const void *context, assay_error *err)
{
    solver s = {.profile = profile, .context = context};
    arb_init(s.target);
    arb_init(s.delta);
    assay_status status = ASSAY_OK;
    if (query->fixed_epsilon) {
        status = solve_delta(out, query->target, &s, err);
    } else {
        assay_arb_set_mpq(s.target, query->target, 2 * MAX_PREC);
        mpq_set(out->delta, query->target);
        status = solve_epsilon(out, &s, err);
    }
    arb_clear(s.target);
    arb_clear(s.delta);
    return status;
}
