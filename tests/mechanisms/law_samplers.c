/* ring: glue */
/* The laws, by chi-square against the exact probabilities (MPFR, 192 bits).
 *
 * About 100 cells of nearly equal probability; each case is rejected at p below
 * 1e-7, so that a correct sampler fails this whole program with probability
 * below 1e-5. Samples per case: 400,000 by route 1, 40,000 by route 2, times
 * ASSAY_LAW_SCALE (`make law`: 20). */
#include <mpfr.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#define CELLS 100
#define ALPHA 1e-7
#define PREC 192
#define CHUNK 4096

/* Cells [edge[i], edge[i+1]) of a law, with their probabilities. */
typedef struct cells {
    int64_t edge[CELLS + 2];
    double p[CELLS + 1];
    int num;
} cells;

/* w = exp(-k^2 / (2 q)) or exp(-|k| / q) */
static void weight(mpfr_t w, int gaussian, const mpq_t q, int64_t k)
{
    mpq_t e;
    mpq_init(e);
    mpq_set_si(e, (long)llabs(k), 1);
    if (gaussian) {
        mpq_mul(e, e, e);
        mpq_div_2exp(e, e, 1);
    }
    mpq_div(e, e, q);
    mpfr_set_q(w, e, MPFR_RNDN);
    mpfr_neg(w, w, MPFR_RNDN);
    mpfr_exp(w, w, MPFR_RNDN);
    mpq_clear(e);
}

/* Sums weights over [a, b). */
static void sum_range(mpfr_t s, int gaussian, const mpq_t q, int64_t a,
                      int64_t b)
{
    mpfr_t w;
    mpfr_init2(w, PREC);
    mpfr_set_zero(s, 1);
    for (int64_t k = a; k < b; k++) {
        weight(w, gaussian, q, k);
        mpfr_add(s, s, w, MPFR_RNDN);
    }
    mpfr_clear(w);
}

/* For large scales the cell sum is the integral of the weight, up to a relative
 * error of 1/(24 sigma^2): below 1e-8 there, and the sample cannot see it. */
static double smooth_cell(int gaussian, double scale, double a, double b)
{
    if (gaussian) {
        double r = scale * sqrt(2.0);
        return 0.5 * (erf((b - 0.5) / r) - erf((a - 0.5) / r));
    }
    if (a < 0 && b > 0) {
        return 1.0 - 0.5 * exp((a - 0.5) / scale) -
               0.5 * exp(-(b - 0.5) / scale);
    }
    if (a < 0) {
        return 0.5 * (exp((b - 0.5) / scale) - exp((a - 0.5) / scale));
    }
    return 0.5 * (exp(-(a - 0.5) / scale) - exp(-(b - 0.5) / scale));
}

static void exact_cells(cells *c, int gaussian, const mpq_t q, int64_t reach)
{
    mpfr_t total;
    mpfr_t s;
    int64_t at = -reach;
    double have = 0;
    mpfr_inits2(PREC, total, s, NULL);
    sum_range(total, gaussian, q, -reach, reach + 1);
    c->num = 0;
    c->edge[0] = INT64_MIN;
    for (int64_t k = at; k <= reach; k++) {
        weight(s, gaussian, q, k);
        mpfr_div(s, s, total, MPFR_RNDN);
        have += mpfr_get_d(s, MPFR_RNDN);
        if (have >= 1.0 / CELLS && c->num < CELLS) {
            c->p[c->num] = have;
            c->edge[++c->num] = k + 1;
            have = 0;
        }
    }
    if (c->num > 0 && have < 1e-4) { /* too thin: join it to its neighbour */
        c->p[c->num - 1] += have;
        c->edge[c->num] = INT64_MAX;
    } else {
        c->p[c->num] = have;
        c->edge[++c->num] = INT64_MAX;
    }
    mpfr_clears(total, s, NULL);
}

static void smooth_cells(cells *c, int gaussian, double scale)
{
    double reach = gaussian ? 3.0 : 5.0;
    c->num = CELLS;
    c->edge[0] = INT64_MIN;
    c->edge[CELLS] = INT64_MAX;
    for (int i = 1; i < CELLS; i++) {
        double x = (2.0 * i / CELLS - 1.0) * reach * scale;
        c->edge[i] = (int64_t)floor(x);
    }
    for (int i = 0; i < CELLS; i++) {
        double a = i == 0 ? -1e3 * scale : (double)c->edge[i];
        double b = i == CELLS - 1 ? 1e3 * scale : (double)c->edge[i + 1];
        c->p[i] = smooth_cell(gaussian, scale, a, b);
    }
}

static void make_cells(cells *c, const char *law, const char *parameter)
{
    int gaussian = strcmp(law, "gaussian") == 0;
    double scale;
    mpq_t q;
    mpq_init(q);
    support_rational(q, parameter);
    scale = gaussian ? sqrt(mpq_get_d(q)) : mpq_get_d(q);
    if (scale < 2000) {
        exact_cells(c, gaussian, q,
                    (int64_t)(scale * (gaussian ? 12 : 50)) + 3);
    } else {
        smooth_cells(c, gaussian, scale);
    }
    mpq_clear(q);
}

static void count(const cells *c, double *counts, const int64_t *values,
                  size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int low = 0;
        int high = c->num; /* edge[low] <= v < edge[high] */
        while (high - low > 1) {
            int mid = (low + high) / 2;
            if (values[i] >= c->edge[mid]) {
                low = mid;
            } else {
                high = mid;
            }
        }
        counts[low]++;
    }
}

static void draw_counts(const cells *c, double *counts, assay_sampler *sampler,
                        size_t n)
{
    static int64_t values[CHUNK];
    assay_tape tape;
    assert_int_equal(assay_tape_init(&tape, NULL), ASSAY_OK);
    memset(counts, 0, (CELLS + 1) * sizeof *counts);
    for (size_t done = 0; done < n; done += CHUNK) {
        assert_int_equal(
            assay_sampler_fill(sampler, &tape, values, CHUNK, NULL), ASSAY_OK);
        count(c, counts, values, CHUNK);
    }
    assay_tape_clear(&tape);
}

static void check_law(const char *law, const char *parameter, assay_route route,
                      int constant_time, size_t n)
{
    assay_sampler *sampler =
        support_sampler(law, parameter, route, constant_time);
    double counts[CELLS + 1];
    double chi2 = 0;
    double total = 0;
    double p;
    cells c;
    make_cells(&c, law, parameter);
    n = (support_samples(n) + CHUNK - 1) / CHUNK * CHUNK;
    draw_counts(&c, counts, sampler, n);
    for (int i = 0; i < c.num; i++) {
        double expected = c.p[i] * (double)n;
        total += c.p[i];
        if (expected > 0) {
            chi2 += (counts[i] - expected) * (counts[i] - expected) / expected;
        }
    }
    assert_true(fabs(total - 1) < 1e-6);
    p = c.num < 2 ? 1.0 : support_chi2_p(chi2, (unsigned)c.num - 1);
    assay_sampler_free(sampler);
    if (p < ALPHA) {
        fail_msg("%s %s route %d ct %d: chi2 %.1f on %d cells, p = %.2g, n = "
                 "%zu",
                 law, parameter, (int)route, constant_time, chi2, c.num, p, n);
    }
}

static const char *const sigma2_grid[] = {
    "1/1000", "1/3", "1", "2", "100", "7000001/7", "1000000000000"};
static const char *const scale_grid[] = {"1/20", "1/3",  "1",      "7/3",
                                         "100",  "1000", "1000000"};
#define GRID (sizeof sigma2_grid / sizeof sigma2_grid[0])

static void discrete_gaussian_by_route_1_has_its_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < GRID; i++) {
        check_law("gaussian", sigma2_grid[i], ASSAY_ROUTE_INVERSE, 0, 400000);
    }
}

static void discrete_gaussian_by_route_2_has_its_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < GRID; i++) {
        check_law("gaussian", sigma2_grid[i], ASSAY_ROUTE_REJECTION, 0, 40000);
    }
}

static void discrete_laplace_by_route_1_has_its_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < GRID; i++) {
        check_law("laplace", scale_grid[i], ASSAY_ROUTE_INVERSE, 0, 400000);
    }
}

static void discrete_laplace_by_route_2_has_its_law(void **state)
{
    (void)state;
    for (size_t i = 0; i < GRID; i++) {
        check_law("laplace", scale_grid[i], ASSAY_ROUTE_REJECTION, 0, 40000);
    }
}

static void constant_time_modes_have_the_same_laws(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < GRID; i++) {
        check_law("gaussian", sigma2_grid[i], ASSAY_ROUTE_INVERSE, 1, 400000);
        check_law("laplace", scale_grid[i], ASSAY_ROUTE_INVERSE, 1, 400000);
    }
}

static void huge_scales_have_their_laws(void **state)
{
    (void)state;
    check_law("gaussian", "1208925819614629174706176", ASSAY_ROUTE_INVERSE, 0,
              400000);
    check_law("laplace", "1099511627776", ASSAY_ROUTE_INVERSE, 0, 400000);
    check_law("laplace", "1099511627776", ASSAY_ROUTE_REJECTION, 0, 20000);
}

/* Two samples, one law: the two routes against each other. */
static void check_routes(const char *law, const char *parameter)
{
    assay_sampler *a = support_sampler(law, parameter, ASSAY_ROUTE_INVERSE, 0);
    assay_sampler *b =
        support_sampler(law, parameter, ASSAY_ROUTE_REJECTION, 0);
    size_t n = (support_samples(60000) + CHUNK - 1) / CHUNK * CHUNK;
    double ca[CELLS + 1];
    double cb[CELLS + 1];
    double chi2 = 0;
    int num = 0;
    cells c;
    make_cells(&c, law, parameter);
    draw_counts(&c, ca, a, n);
    draw_counts(&c, cb, b, n);
    for (int i = 0; i < c.num; i++) {
        double d = ca[i] - cb[i];
        if (ca[i] + cb[i] > 0) {
            chi2 += d * d / (ca[i] + cb[i]);
            num++;
        }
    }
    assay_sampler_free(a);
    assay_sampler_free(b);
    if (num > 1 && support_chi2_p(chi2, (unsigned)num - 1) < ALPHA) {
        fail_msg("%s %s: routes differ, chi2 %.1f on %d cells", law, parameter,
                 chi2, num);
    }
}

static void the_two_routes_agree(void **state)
{
    (void)state;
    check_routes("gaussian", "1/3");
    check_routes("gaussian", "100");
    check_routes("laplace", "7/3");
    check_routes("laplace", "1000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discrete_gaussian_by_route_1_has_its_law),
        cmocka_unit_test(discrete_gaussian_by_route_2_has_its_law),
        cmocka_unit_test(discrete_laplace_by_route_1_has_its_law),
        cmocka_unit_test(discrete_laplace_by_route_2_has_its_law),
        cmocka_unit_test(constant_time_modes_have_the_same_laws),
        cmocka_unit_test(huge_scales_have_their_laws),
        cmocka_unit_test(the_two_routes_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
