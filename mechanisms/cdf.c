/* ring: glue */
#include "mechanisms/cdf.h"

#include <arb.h>
#include <arb_hypgeom.h>
#include <math.h>
#include <stdlib.h>

#include "core/rational.h"
#include "mechanisms/big.h"

/* Every tail P[X >= j], j >= 1, is one interval; F follows from it:
 *   F(k) = 1 - P[X >= k+1] for k >= 0;  for k < 0 it is P[X >= -k] if the law
 *   is symmetric and 0 if it is one-sided.
 * A tail is positive and irrational, so that floor and ceiling are certain as
 * soon as the interval lies between two integers (Lindemann-Weierstrass: exp
 * of a nonzero rational, and its ratios here, are transcendental; where that
 * is not proved, for theta quotients and erfc, an integer value would only
 * make the loop below run on, never give a wrong digit). */
struct assay_cdf {
    assay_cdf_kind kind;
    int one_sided;
    fmpq_t parameter;
    long step_bits;
    /* Gaussian: tails[j] for 1 <= j <= num, relative to the total, at prec */
    arb_ptr tails;
    slong num;
    slong prec;
};

assay_status assay_cdf_new(assay_cdf **out, assay_cdf_kind kind, int one_sided,
                           const mpq_t parameter, long step_bits,
                           assay_error *err)
{
    assay_cdf *cdf = calloc(1, sizeof *cdf);
    if (cdf == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "out of memory");
    }
    cdf->kind = kind;
    cdf->one_sided = one_sided;
    cdf->step_bits = step_bits;
    fmpq_init(cdf->parameter);
    fmpq_set_mpq(cdf->parameter, parameter);
    *out = cdf;
    return ASSAY_OK;
}

static void forget_tails(assay_cdf *cdf)
{
    if (cdf->tails != NULL) {
        _arb_vec_clear(cdf->tails, cdf->num + 1);
        cdf->tails = NULL;
    }
}

void assay_cdf_free(assay_cdf *cdf)
{
    if (cdf != NULL) {
        forget_tails(cdf);
        fmpq_clear(cdf->parameter);
        free(cdf);
    }
}

/* out = exp(-1 / (scale * parameter)) */
static void exp_minus_inverse(arb_t out, const fmpq_t parameter, ulong scale,
                              slong prec)
{
    fmpq_t x;
    fmpq_init(x);
    fmpq_mul_ui(x, parameter, scale);
    fmpq_inv(x, x);
    fmpq_neg(x, x);
    arb_set_fmpq(out, x, prec);
    arb_exp(out, out, prec);
    fmpq_clear(x);
}

/* weights[k] = exp(-k^2 / (2 v)) for 0 <= k <= num: each is the one before
 * times a ratio, and the ratio shrinks by exp(-1/v). Returns the last ratio. */
static void gaussian_weights(arb_ptr weights, slong num, arb_t ratio,
                             const fmpq_t v, slong prec)
{
    arb_t shrink;
    arb_init(shrink);
    exp_minus_inverse(ratio, v, 2, prec);
    exp_minus_inverse(shrink, v, 1, prec);
    arb_one(weights);
    for (slong k = 0; k < num; k++) {
        arb_mul(weights + k + 1, weights + k, ratio, prec);
        arb_mul(ratio, ratio, shrink, prec);
    }
    arb_clear(shrink);
}

/* The sum of all weights beyond num is at most w_num ratio / (1 - ratio). */
static void beyond(arb_t out, const arb_t last, const arb_t ratio, slong prec)
{
    arb_t rest;
    mag_t most;
    arb_init(rest);
    mag_init(most);
    arb_sub_ui(rest, ratio, 1, prec);
    arb_neg(rest, rest);
    arb_div(rest, ratio, rest, prec);
    arb_mul(rest, rest, last, prec);
    arb_get_mag(most, rest);
    arb_zero(out);
    arb_add_error_mag(out, most);
    arb_nonnegative_part(out, out);
    mag_clear(most);
    arb_clear(rest);
}

static void sum_gaussian(assay_cdf *cdf, slong num, slong prec)
{
    arb_t sum;
    arb_t total;
    arb_t ratio;
    forget_tails(cdf);
    cdf->tails = _arb_vec_init(num + 1);
    cdf->num = num;
    cdf->prec = prec;
    arb_init(sum);
    arb_init(total);
    arb_init(ratio);
    gaussian_weights(cdf->tails, num, ratio, cdf->parameter, prec);
    beyond(sum, cdf->tails + num, ratio, prec);
    for (slong j = num; j >= 1; j--) {
        arb_add(sum, sum, cdf->tails + j, prec);
        arb_set(cdf->tails + j, sum);
    }
    arb_mul_ui(total, sum, cdf->one_sided ? 1 : 2, prec);
    arb_add_ui(total, total, 1, prec);
    for (slong j = 1; j <= num; j++) {
        arb_div(cdf->tails + j, cdf->tails + j, total, prec);
    }
    arb_clear(sum);
    arb_clear(total);
    arb_clear(ratio);
}

/* Enough terms that what lies beyond is below 2^-prec; only speed depends on
 * this estimate. */
static slong gaussian_terms(const fmpq_t v, slong prec)
{
    arf_t x;
    double sigma2;
    arf_init(x);
    arf_set_fmpz(x, fmpq_numref(v));
    arf_div_fmpz(x, x, fmpq_denref(v), 53, ARF_RND_UP);
    sigma2 = arf_get_d(x, ARF_RND_UP);
    arf_clear(x);
    return (slong)sqrt(2.0 * sigma2 * 0.7 * (double)prec) + 2;
}

static void gaussian_tail(arb_t out, assay_cdf *cdf, int64_t j, slong prec)
{
    if (cdf->tails == NULL || cdf->prec < prec) {
        slong work = prec + 64;
        sum_gaussian(cdf, gaussian_terms(cdf->parameter, work), work);
    }
    if (j <= cdf->num) {
        arb_set(out, cdf->tails + j);
    } else { /* between 0 and the last tail: below 2^-prec */
        mag_t most;
        mag_init(most);
        arb_get_mag(most, cdf->tails + cdf->num);
        arb_zero(out);
        arb_add_error_mag(out, most);
        arb_nonnegative_part(out, out);
        mag_clear(most);
    }
}

/* symmetric: q^j / (1 + q); one-sided: q^j */
static void laplace_tail(arb_t out, const assay_cdf *cdf, int64_t j, slong prec)
{
    fmpq_t x;
    fmpq_init(x);
    fmpq_inv(x, cdf->parameter);
    fmpz_mul_si(fmpq_numref(x), fmpq_numref(x), (slong)-j);
    fmpq_canonicalise(x);
    arb_set_fmpq(out, x, prec);
    arb_exp(out, out, prec);
    if (!cdf->one_sided) {
        arb_t q;
        arb_init(q);
        exp_minus_inverse(q, cdf->parameter, 1, prec);
        arb_add_ui(q, q, 1, prec);
        arb_div(out, out, q, prec);
        arb_clear(q);
    }
    fmpq_clear(x);
}

/* (j - 1/2) 2^-step_bits, exactly */
static void cell_edge(arb_t out, const assay_cdf *cdf, int64_t j)
{
    fmpz_t twice;
    fmpz_init(twice);
    fmpz_set_si(twice, (slong)j);
    fmpz_mul_2exp(twice, twice, 1);
    fmpz_sub_ui(twice, twice, 1);
    arb_set_fmpz(out, twice);
    arb_mul_2exp_si(out, out, -cdf->step_bits - 1);
    fmpz_clear(twice);
}

static void rounded_gaussian_tail(arb_t out, const assay_cdf *cdf, int64_t j,
                                  slong prec)
{
    arb_t edge;
    fmpq_t twice;
    arb_init(edge);
    fmpq_init(twice);
    cell_edge(edge, cdf, j);
    fmpq_mul_ui(twice, cdf->parameter, 2);
    arb_set_fmpq(out, twice, prec);
    arb_rsqrt(out, out, prec);
    arb_mul(out, out, edge, prec);
    arb_hypgeom_erfc(out, out, prec);
    arb_mul_2exp_si(out, out, -1);
    fmpq_clear(twice);
    arb_clear(edge);
}

static void rounded_laplace_tail(arb_t out, const assay_cdf *cdf, int64_t j,
                                 slong prec)
{
    arb_t scale;
    arb_init(scale);
    cell_edge(out, cdf, j);
    arb_set_fmpq(scale, cdf->parameter, prec);
    arb_div(out, out, scale, prec);
    arb_neg(out, out);
    arb_exp(out, out, prec);
    arb_mul_2exp_si(out, out, -1);
    arb_clear(scale);
}

static void tail(arb_t out, assay_cdf *cdf, int64_t j, slong prec)
{
    switch (cdf->kind) {
    case ASSAY_CDF_GAUSSIAN:
        gaussian_tail(out, cdf, j, prec);
        break;
    case ASSAY_CDF_LAPLACE:
        laplace_tail(out, cdf, j, prec);
        break;
    case ASSAY_CDF_ROUNDED_GAUSSIAN:
        rounded_gaussian_tail(out, cdf, j, prec);
        break;
    default:
        rounded_laplace_tail(out, cdf, j, prec);
        break;
    }
}

/* floor(2^(64 m) x) if the interval x, known to hold a number strictly between
 * 0 and 1, determines it. */
static int floor_scaled(fmpz_t out, const arb_t x, unsigned m, slong prec)
{
    arb_t y;
    arf_t upper;
    int sure;
    arb_init(y);
    arf_init(upper);
    arb_mul_2exp_si(y, x, 64 * (slong)m);
    arb_get_ubound_arf(upper, y, prec);
    if (arf_cmp_si(upper, 1) < 0) {
        fmpz_zero(out);
        sure = 1;
    } else {
        arb_floor(y, y, prec);
        sure = arb_get_unique_fmpz(out, y);
    }
    arf_clear(upper);
    arb_clear(y);
    return sure;
}

static void tail_digit(fmpz_t out, assay_cdf *cdf, int64_t j, unsigned m)
{
    arb_t x;
    slong prec = 64 * (slong)m + 64;
    arb_init(x);
    do {
        tail(x, cdf, j, prec);
        prec *= 2;
    } while (!floor_scaled(out, x, m, prec));
    arb_clear(x);
}

/* P[X >= j+1] = q P[X >= j] for the two exponential laws; sets q. */
static int has_constant_ratio(arb_t ratio, const assay_cdf *cdf, slong prec)
{
    if (cdf->kind != ASSAY_CDF_LAPLACE &&
        cdf->kind != ASSAY_CDF_ROUNDED_LAPLACE) {
        return 0;
    }
    arb_set_fmpq(ratio, cdf->parameter, prec);
    arb_inv(ratio, ratio, prec);
    if (cdf->kind == ASSAY_CDF_ROUNDED_LAPLACE) {
        arb_mul_2exp_si(ratio, ratio, -cdf->step_bits);
    }
    arb_neg(ratio, ratio);
    arb_exp(ratio, ratio, prec);
    return 1;
}

/* One after the other: floor(2^64 P[X >= j]) for j = 1, 2, ... */
typedef struct tail_walk {
    arb_t ratio;
    arb_t x;
    int is_constant;
} tail_walk;

#define WALK_PREC 256

static uint64_t next_tail(tail_walk *walk, assay_cdf *cdf, int64_t j)
{
    fmpz_t d;
    uint64_t value;
    int sure = 0;
    fmpz_init(d);
    if (walk->is_constant) {
        if (j == 1) {
            tail(walk->x, cdf, 1, WALK_PREC);
        } else {
            arb_mul(walk->x, walk->x, walk->ratio, WALK_PREC);
        }
        sure = floor_scaled(d, walk->x, 1, WALK_PREC);
    }
    if (!sure) {
        tail_digit(d, cdf, j, 1);
    }
    value = fmpz_get_ui(d);
    fmpz_clear(d);
    return value;
}

assay_status assay_cdf_tails(assay_cdf *cdf, uint64_t **out, size_t *num_tails,
                             size_t most, assay_error *err)
{
    size_t room = 64;
    size_t num = 0;
    uint64_t *tails = malloc(room * sizeof *tails);
    tail_walk walk;
    arb_init(walk.ratio);
    arb_init(walk.x);
    walk.is_constant = has_constant_ratio(walk.ratio, cdf, WALK_PREC);
    while (tails != NULL && num < most) {
        tails[num] = next_tail(&walk, cdf, (int64_t)num + 1);
        num++;
        if (tails[num - 1] == 0) {
            break;
        }
        if (num == room) {
            uint64_t *more = realloc(tails, 2 * room * sizeof *tails);
            if (more == NULL) {
                free(tails);
            }
            tails = more;
            room *= 2;
        }
    }
    arb_clear(walk.ratio);
    arb_clear(walk.x);
    if (tails == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "out of memory");
    }
    if (num == 0 || tails[num - 1] != 0) {
        free(tails);
        return assay_fail(err, ASSAY_RANGE, "the table would be too long");
    }
    *out = tails;
    *num_tails = num;
    return ASSAY_OK;
}

static void digit(fmpz_t out, assay_cdf *cdf, int64_t k, unsigned m)
{
    if (k >= 0) { /* floor(W - y) = W - 1 - floor(y), y not an integer */
        fmpz_t all;
        fmpz_init(all);
        tail_digit(out, cdf, k + 1, m);
        fmpz_one_2exp(all, 64 * (ulong)m);
        fmpz_sub_ui(all, all, 1);
        fmpz_sub(out, all, out);
        fmpz_clear(all);
    } else if (cdf->one_sided) {
        fmpz_zero(out);
    } else {
        tail_digit(out, cdf, -k, m);
    }
}

void assay_cdf_digit(assay_cdf *cdf, mpz_t out, int64_t k, unsigned m)
{
    fmpz_t d;
    fmpz_init(d);
    digit(d, cdf, k, m);
    fmpz_get_mpz(out, d);
    fmpz_clear(d);
}

static int compare(assay_cdf *cdf, const fmpz_t u, int64_t k, unsigned m)
{
    fmpz_t d;
    int order;
    fmpz_init(d);
    digit(d, cdf, k, m);
    order = fmpz_cmp(u, d);
    fmpz_clear(d);
    return order;
}

#define FAR ((int64_t)1 << 62)

/* The upper quantile z with P[N(0,1) > z] = p, for p in (0, 1/2]: Hastings'
 * approximation and one Newton step. A first guess: no digit depends on it. */
static double normal_quantile(double p)
{
    double t = sqrt(-2 * log(p));
    double z = t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                       (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    for (int i = 0; i < 3; i++) {
        double gap = 0.5 * erfc(z / sqrt(2.0)) - p;
        z += gap * sqrt(8 * atan(1.0)) * exp(0.5 * z * z);
    }
    return z;
}

/* Where to look for the k that the digits u choose: near enough, mostly. */
static int64_t first_guess(const assay_cdf *cdf, const fmpz_t u, unsigned m)
{
    fmpz_t top;
    double p, side, j;
    double scale = fmpz_get_d(fmpq_numref(cdf->parameter)) /
                   fmpz_get_d(fmpq_denref(cdf->parameter));
    fmpz_init(top);
    fmpz_fdiv_q_2exp(top, u, 64 * (ulong)(m - 1));
    p = (fmpz_get_d(top) + 0.5) * 0x1p-64;
    fmpz_clear(top);
    side = p < 0.5 ? p : 1 - p;
    if (!(side > 1e-300) || !(scale > 1e-300 && scale < 1e300)) {
        return 0;
    }
    if (cdf->kind == ASSAY_CDF_ROUNDED_GAUSSIAN) {
        j = ldexp(sqrt(scale) * normal_quantile(side), (int)cdf->step_bits);
    } else if (cdf->kind == ASSAY_CDF_ROUNDED_LAPLACE) {
        j = ldexp(-scale * log(2 * side), (int)cdf->step_bits);
    } else {
        return 0;
    }
    if (!(j < 0x1p60)) {
        return 0;
    }
    return p < 0.5 ? -(int64_t)j : (int64_t)j;
}

/* The least k in (-FAR, FAR) with u <= digit_m(F(k)), by doubling away from
 * the guess and then halving; ASSAY_RANGE if there is none. u > 0. */
static assay_status least(assay_cdf *cdf, const fmpz_t u, unsigned m,
                          int64_t *out)
{
    int64_t high = first_guess(cdf, u, m); /* u <= digit(F(high)) */
    int64_t low = high - 1;                /* u >  digit(F(low))  */
    for (int64_t step = 1; compare(cdf, u, high, m) > 0; step *= 2) {
        low = high;
        high += step;
        if (high >= FAR) {
            return ASSAY_RANGE;
        }
    }
    for (int64_t step = 1; compare(cdf, u, low, m) <= 0; step *= 2) {
        high = low;
        low -= step;
        if (low <= -FAR) {
            return ASSAY_RANGE;
        }
    }
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (compare(cdf, u, middle, m) <= 0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    *out = high;
    return ASSAY_OK;
}

/* U_(m+1) = 2^64 U_m + the next word */
static assay_status append_word(assay_tape *tape, fmpz_t u)
{
    uint64_t word = 0;
    if (assay_tape_next(tape, &word) != ASSAY_OK) {
        return ASSAY_ENTROPY;
    }
    fmpz_mul_2exp(u, u, 64);
    fmpz_add_ui(u, u, word);
    return ASSAY_OK;
}

assay_status assay_cdf_inverse(assay_cdf *cdf, assay_tape *tape, int64_t *out)
{
    fmpz_t u;
    int64_t k = 0;
    assay_status status = ASSAY_AGAIN;
    fmpz_init(u);
    for (unsigned m = 1; status == ASSAY_AGAIN; m++) {
        status = append_word(tape, u);
        if (status != ASSAY_OK) {
            break;
        }
        if (fmpz_is_zero(u)) { /* ties with the lower end */
            status = ASSAY_AGAIN;
            continue;
        }
        status = least(cdf, u, m, &k);
        if (status == ASSAY_OK && compare(cdf, u, k, m) == 0) {
            status = ASSAY_AGAIN;
        }
    }
    if (status == ASSAY_OK) {
        *out = k;
    }
    fmpz_zero(u);
    fmpz_clear(u);
    return status;
}

static void exp_digit(fmpz_t out, const fmpq_t minus_gamma, unsigned m)
{
    arb_t x;
    slong prec = 64 * (slong)m + 64;
    arb_init(x);
    do {
        arb_set_fmpq(x, minus_gamma, prec);
        arb_exp(x, x, prec);
        prec *= 2;
    } while (!floor_scaled(out, x, m, prec));
    arb_clear(x);
}

assay_status assay_below_exp(assay_tape *tape, const mpq_t gamma, int *out)
{
    fmpq_t x;
    fmpz_t u;
    fmpz_t d;
    int order = 0;
    assay_status status = ASSAY_OK;
    fmpq_init(x);
    fmpz_init(u);
    fmpz_init(d);
    fmpq_set_mpq(x, gamma);
    fmpq_neg(x, x);
    for (unsigned m = 1; order == 0; m++) {
        status = append_word(tape, u);
        if (status != ASSAY_OK) {
            break;
        }
        if (fmpq_is_zero(x)) {
            order = -1; /* digit_1(1) = 2^64 is above every word */
        } else {
            exp_digit(d, x, m);
            order = fmpz_cmp(u, d);
        }
    }
    if (status == ASSAY_OK) {
        *out = order < 0;
    }
    fmpz_zero(u);
    fmpz_clear(u);
    fmpz_clear(d);
    fmpq_clear(x);
    return status;
}
