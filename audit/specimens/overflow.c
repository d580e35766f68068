/* ring: glue */
/* Sums whose sensitivity is not what the reals say, and time that tells. */
#include <math.h>
#include <stdint.h>

#include "audit/specimens/specimens.h"

#define P(k) (s->param[k])

enum { WRAP32, WRAP64, TIE32, TIE64, ORDER, REPEATED };

/* Integers that wrap around at their limit: q more records of 1. */
static double wrapped(int kind, double q)
{
    if (kind == WRAP32) {
        uint32_t sum = (uint32_t)INT32_MAX + (uint32_t)q;
        return (double)(int32_t)sum;
    }
    uint64_t sum = (uint64_t)INT64_MAX + (uint64_t)q;
    return (double)(int64_t)sum;
}

/* Records in [0,1] from 2^24 + 2 (2^53 + 2 in doubles), less 2^24 (2^53): a
 * record of 1 is a tie that rounds up to even, so it moves the sum by 2. q
 * records of 1. */
static double tie(int kind, double q)
{
    volatile float narrow = 0x1p24f + 2;
    volatile double wide = 0x1p53 + 2;
    for (int k = 0; k < (int)q; k++) {
        narrow = narrow + 1;
        wide = wide + 1;
    }
    return kind == TIE32 ? (double)narrow - 0x1p24 : wide - 0x1p53;
}

/* 2^24 - 8 ones and 16 halves, less 2^24 - 8: halves first (q = 1) count, the
 * ones first (q = 0) swallow them. The same people in another order. */
static double ordered(double q)
{
    volatile float sum = q > 0.5 ? 0 : 0x1p24f - 8;
    for (int k = 0; k < 16; k++) {
        sum = sum + 0.5f;
    }
    /* whole numbers up to 2^24: adding the ones one by one is exact */
    sum = q > 0.5 ? sum + (0x1p24f - 8) : sum;
    return (double)sum - (0x1p24 - 8);
}

/* Records in [-1.25, 1.25] after a running sum of 2^24 - 1: the first is 1.25
 * (q = 1) or -1.25, then eight pairs of 1.2 and -0.8. Beyond 2^24 each pair
 * rounds to +2, below it to 0. */
static double repeated(double q)
{
    volatile float sum = 0x1p24f - 1;
    sum = sum + (q > 0.5 ? 1.25f : -1.25f);
    for (int k = 0; k < 8; k++) {
        sum = sum + 1.2f;
        sum = sum - 0.8f;
    }
    return (double)sum - 0x1p24;
}

static double added(const assay_specimen *s, double q)
{
    switch ((int)P(1)) {
    case WRAP32:
    case WRAP64:
        return wrapped((int)P(1), q);
    case TIE32:
    case TIE64:
        return tie((int)P(1), q);
    case ORDER:
        return ordered(q);
    default:
        return repeated(q);
    }
}

/* param: scale, which sum. */
static void draw_added(const assay_specimen *s, const double *q, assay_rng *rng,
                       size_t n, assay_rows *out)
{
    assay_rng_laplace(rng, out->value[0], n, added(s, q[0]), P(0));
}

static void llr_added(const assay_oracle *o, const assay_rows *rows,
                      double *out)
{
    const assay_specimen *s = o->specimen;
    double a = added(s, o->pair.q[0][0]), b = added(s, o->pair.q[1][0]);
    for (size_t i = 0; i < rows->num; i++) {
        double x = rows->value[0][i];
        out[i] = (fabs(x - b) - fabs(x - a)) / P(0);
    }
}

/* The number is hidden but for its sign; the time is proportional to
 * |noise|. */
static void draw_timing(const assay_specimen *s, const double *q,
                        assay_rng *rng, size_t n, assay_rows *out)
{
    double jitter[ASSAY_ROWS_BLOCK];
    assay_rng_gauss(rng, jitter, n, 0, 3);
    for (size_t i = 0; i < n; i++) {
        double g = floor(-log(assay_rng_u01(rng)) * P(0));
        double sign = assay_rng_u64(rng) >> 63 != 0 ? -1 : 1;
        double y = q[0] + sign * g;
        out->value[0][i] = y > 0 ? 1 : 0;
        out->value[1][i] = floor(100 + 25 * g + jitter[i]);
    }
}

/* The chance of a sign and a time: at most two values of the noise g could
 * have taken about that long. */
static double timing_chance(const assay_specimen *s, double q, int positive,
                            double time)
{
    double least = fmax(floor((time - 100) / 25) - 1, 0), p = 0;
    for (double g = least; g < least + 4; g++) {
        double geometric = exp(-g / P(0)) * -expm1(-1 / P(0));
        double plus = ((q + g > 0) == positive) + ((q - g > 0) == positive);
        double z = (time - 100 - 25 * g) / 3 * 0.70710678118654752;
        double after = z + 0.70710678118654752 / 3;
        p += geometric * plus / 2 * (erf(after) - erf(z)) / 2;
    }
    return p;
}

static void llr_timing(const assay_oracle *o, const assay_rows *rows,
                       double *out)
{
    for (size_t i = 0; i < rows->num; i++) {
        double p[2];
        for (int side = 0; side < 2; side++) {
            p[side] = timing_chance(o->specimen, o->pair.q[side][0],
                                    rows->value[0][i] > 0.5, rows->value[1][i]);
        }
        out[i] = fmin(fmax(log((p[0] + 1e-60) / (p[1] + 1e-60)), -100), 100);
    }
}

static const assay_pair zero_one[] = {{{{0.0}, {1.0}}}};
static const assay_pair one_more[] = {{{{0}, {1}}}, {{{1}, {2}}}, {{{2}, {3}}}};

#define ADDED(label, text, true_eps, kind, num, list, is_raw, ratio, scale)    \
    {                                                                          \
        .name = label, .note = text, .claim = ASSAY_EPS(1, 0),                 \
        .truth = true_eps, .violates = 1, .width = 1, .num_inputs = 1,         \
        .num_pairs = num, .pairs = list, .param = {scale, kind},               \
        .draw = draw_added, .llr = ratio, .raw = is_raw, .slow = 4             \
    }

const assay_specimen assay_specimens_overflow[] = {
    ADDED("WrappedSum", "32-bit sum wraps around", INFINITY, WRAP32, 1,
          zero_one, 1, llr_added, 1),
    ADDED("WrappedSum64", "64-bit sum wraps around", INFINITY, WRAP64, 1,
          zero_one, 1, llr_added, 1),
    ADDED("FloatSum", "float32 sum rounds 1 record to 2", 2, TIE32, 3, one_more,
          0, llr_added, 1),
    ADDED("DoubleSum", "double sum rounds 1 record to 2", 2, TIE64, 3, one_more,
          0, llr_added, 1),
    ADDED("OrderedSum", "float32 sum depends on the order", 8, ORDER, 1,
          zero_one, 0, llr_added, 1),
    /* -2 or 16 where the reals say 2.5 apart */
    ADDED("RepeatedRounding", "every later record rounds the other way", 7.2,
          REPEATED, 1, zero_one, 0, llr_added, 2.5),
    {.name = "TimingGeometric",
     .note = "time tells |noise|",
     .claim = ASSAY_EPS(1, 0),
     .truth = INFINITY,
     .violates = 1,
     .width = 2,
     .num_inputs = 1,
     .num_pairs = 1,
     .pairs = zero_one,
     .param = {1},
     .draw = draw_timing,
     .llr = llr_timing,
     .slow = 4},
    {.name = NULL},
};
