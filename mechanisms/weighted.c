/* ring: glue */
#include "mechanisms/weighted.h"

#include <mpfr.h>

#include "core/rational.h"
#include "mechanisms/big.h"

/* One attempt at a given precision. */
typedef struct attempt {
    const uint64_t *weight;
    const uint64_t *distance;
    size_t n;
    uint64_t least; /* the least distance of a positive weight */
    mpq_srcptr rate;
    uint64_t reach; /* candidates within `reach` of the least are summed */
    mpfr_t lo, hi;  /* one candidate's weight */
    mpfr_t sum_lo, sum_hi;
    mpfr_t total_lo, total_hi;
    mpfr_t point_lo, point_hi; /* the uniform number times the total */
    mpfr_t t;
} attempt;

static void attempt_init(attempt *a, mpfr_prec_t bits)
{
    mpfr_inits2(bits, a->lo, a->hi, a->sum_lo, a->sum_hi, a->total_lo,
                a->total_hi, a->point_lo, a->point_hi, a->t, (mpfr_ptr)0);
}

static void attempt_clear(attempt *a)
{
    mpfr_clears(a->lo, a->hi, a->sum_lo, a->sum_hi, a->total_lo, a->total_hi,
                a->point_lo, a->point_hi, a->t, (mpfr_ptr)0);
}

static void set_u64(mpfr_t out, uint64_t x, mpfr_rnd_t round)
{
    (void)mpfr_set_uj(out, x, round);
}

/* [lo, hi] around exp(-rate * gap) */
static void exp_interval(attempt *a, uint64_t gap)
{
    set_u64(a->t, gap, MPFR_RNDU);
    (void)mpfr_mul_q(a->lo, a->t, a->rate, MPFR_RNDU);
    set_u64(a->t, gap, MPFR_RNDD);
    (void)mpfr_mul_q(a->hi, a->t, a->rate, MPFR_RNDD);
    (void)mpfr_neg(a->lo, a->lo, MPFR_RNDN);
    (void)mpfr_neg(a->hi, a->hi, MPFR_RNDN);
    (void)mpfr_exp(a->lo, a->lo, MPFR_RNDD);
    (void)mpfr_exp(a->hi, a->hi, MPFR_RNDU);
}

static void weight_interval(attempt *a, size_t i)
{
    exp_interval(a, a->distance[i] - a->least);
    set_u64(a->t, a->weight[i], MPFR_RNDD);
    (void)mpfr_mul(a->lo, a->lo, a->t, MPFR_RNDD);
    set_u64(a->t, a->weight[i], MPFR_RNDU);
    (void)mpfr_mul(a->hi, a->hi, a->t, MPFR_RNDU);
}

static int is_near(const attempt *a, size_t i)
{
    return a->weight[i] != 0 && a->distance[i] - a->least <= a->reach;
}

/* Total of the near ones exactly bracketed; the far ones together weigh at
 * least 0 and at most (sum of their weights) exp(-rate reach). */
static void add_totals(attempt *a)
{
    mpz_t far_weight;
    mpz_init(far_weight);
    mpfr_set_zero(a->total_lo, 1);
    mpfr_set_zero(a->total_hi, 1);
    for (size_t i = 0; i < a->n; i++) {
        if (is_near(a, i)) {
            weight_interval(a, i);
            (void)mpfr_add(a->total_lo, a->total_lo, a->lo, MPFR_RNDD);
            (void)mpfr_add(a->total_hi, a->total_hi, a->hi, MPFR_RNDU);
        } else if (a->weight[i] != 0) {
            mpz_add_ui(far_weight, far_weight, a->weight[i]);
        }
    }
    exp_interval(a, a->reach);
    (void)mpfr_mul_z(a->hi, a->hi, far_weight, MPFR_RNDU);
    (void)mpfr_add(a->total_hi, a->total_hi, a->hi, MPFR_RNDU);
    assay_big_wipe(far_weight);
}

/* The number lies in [digits, digits + 1) / 2^bits. */
static void set_point(attempt *a, mpz_t digits, unsigned long bits)
{
    (void)mpfr_mul_z(a->point_lo, a->total_lo, digits, MPFR_RNDD);
    mpz_add_ui(digits, digits, 1);
    (void)mpfr_mul_z(a->point_hi, a->total_hi, digits, MPFR_RNDU);
    mpz_sub_ui(digits, digits, 1);
    (void)mpfr_div_2ui(a->point_lo, a->point_lo, bits, MPFR_RNDD);
    (void)mpfr_div_2ui(a->point_hi, a->point_hi, bits, MPFR_RNDU);
}

/* 1 and *out if some candidate certainly holds the point. */
static int locate(attempt *a, size_t *out)
{
    mpfr_set_zero(a->sum_lo, 1);
    mpfr_set_zero(a->sum_hi, 1);
    for (size_t i = 0; i < a->n; i++) {
        if (!is_near(a, i)) {
            continue;
        }
        if (mpfr_cmp(a->point_lo, a->sum_hi) < 0) {
            return 0;
        }
        weight_interval(a, i);
        (void)mpfr_add(a->sum_lo, a->sum_lo, a->lo, MPFR_RNDD);
        (void)mpfr_add(a->sum_hi, a->sum_hi, a->hi, MPFR_RNDU);
        if (mpfr_cmp(a->point_hi, a->sum_lo) <= 0) {
            *out = i;
            return 1;
        }
    }
    return 0;
}

/* The largest gap with rate * gap <= bits, so that what lies beyond weighs
 * less than 2^-bits each. */
static uint64_t reach_of(const mpq_t rate, unsigned long bits)
{
    mpz_t z;
    mpz_init(z);
    mpz_mul_ui(z, mpq_denref(rate), bits);
    mpz_fdiv_q(z, z, mpq_numref(rate));
    uint64_t reach = assay_mpz_fits_u64(z) ? assay_mpz_get_u64(z) : UINT64_MAX;
    mpz_clear(z);
    return reach;
}

static assay_status least_distance(attempt *a, assay_error *err)
{
    int found = 0;
    for (size_t i = 0; i < a->n; i++) {
        if (a->weight[i] != 0 && (!found || a->distance[i] < a->least)) {
            a->least = a->distance[i];
            found = 1;
        }
    }
    return found ? ASSAY_OK
                 : assay_fail(err, ASSAY_INVALID, "no candidate has weight");
}

static int try_with(attempt *a, size_t *out, mpz_t digits, unsigned long bits)
{
    attempt_init(a, (mpfr_prec_t)(bits + 128));
    a->reach = reach_of(a->rate, bits + 128);
    add_totals(a);
    set_point(a, digits, bits);
    int found = locate(a, out);
    attempt_clear(a);
    return found;
}

assay_status assay_weighted_draw(assay_tape *tape, size_t *out,
                                 const uint64_t *weight,
                                 const uint64_t *distance, size_t n,
                                 const mpq_t rate, assay_error *err)
{
    attempt a = {.weight = weight, .distance = distance, .n = n, .rate = rate};
    mpz_t digits;
    int found = 0;
    assay_status status = least_distance(&a, err);
    if (status != ASSAY_OK) {
        return status;
    }
    mpz_init(digits);
    for (unsigned long bits = 64; !found; bits += 64) {
        uint64_t word = 0;
        status = assay_tape_next(tape, &word);
        if (status != ASSAY_OK) {
            (void)assay_fail(err, status,
                             "no randomness: nothing was released");
            break;
        }
        mpz_mul_2exp(digits, digits, 64);
        mpz_add_ui(digits, digits, word);
        found = try_with(&a, out, digits, bits);
    }
    assay_big_wipe(digits);
    return status;
}
