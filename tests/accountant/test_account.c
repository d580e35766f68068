/* ring: glue */
/* Closed forms, and properties that must hold whatever the numbers are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/calibrate.h"
#include "accountant/event_yaml.h"
#include "accountant/guarantee.h"
#include "core/rational.h"

static assay_event_file parse(const char *text)
{
    assay_event_file file;
    assay_error err = ASSAY_ERROR_INIT;
    if (assay_event_file_parse(&file, text, strlen(text), &err) != ASSAY_OK) {
        fail_msg("%s: line %d: %s", text, err.line, err.message);
    }
    return file;
}

/* epsilon at delta by a method (NULL: the best); -1 if it does not apply */
static double epsilon_of(const char *yaml, const char *delta_text,
                         const char *method)
{
    assay_event_file file = parse(yaml);
    assay_account_options options = {.method = method};
    assay_error err = ASSAY_ERROR_INIT;
    assay_guarantee g;
    mpq_t delta;
    mpq_init(delta);
    assay_guarantee_init(&g);
    assert_int_equal(assay_rational_parse(delta, delta_text, "d", &err),
                     ASSAY_OK);
    double out = -1.0;
    if (assay_account(&g, &file.list, delta, &options, &err) == ASSAY_OK) {
        out = mpq_get_d(g.bounds[0].epsilon);
    }
    assay_guarantee_clear(&g);
    mpq_clear(delta);
    assay_event_file_clear(&file);
    return out;
}

static double delta_of(const char *yaml, const char *epsilon_text,
                       const char *method)
{
    assay_event_file file = parse(yaml);
    assay_account_options options = {.method = method};
    assay_error err = ASSAY_ERROR_INIT;
    assay_guarantee g;
    mpq_t epsilon;
    mpq_init(epsilon);
    assay_guarantee_init(&g);
    assert_int_equal(assay_rational_parse(epsilon, epsilon_text, "e", &err),
                     ASSAY_OK);
    double out = -1.0;
    if (assay_account_delta(&g, &file.list, epsilon, &options, &err) ==
        ASSAY_OK) {
        out = mpq_get_d(g.bounds[0].delta);
    }
    assay_guarantee_clear(&g);
    mpq_clear(epsilon);
    assay_event_file_clear(&file);
    return out;
}

#define ONE(body) "events: [{" body "}]"

static void near(double value, double truth, double relative)
{
    if (!(value >= truth * (1 - 1e-14) && value <= truth * (1 + relative))) {
        fail_msg("%.17g is not in [%.17g, +%g]", value, truth, relative);
    }
}

static void gaussian_matches_known_values(void **state)
{
    (void)state;
    /* rho = 0.1, 1, 5, 25 at delta = 1e-5: 1.76, 6.6, 17.9, 54 */
    near(epsilon_of(ONE("mechanism: gaussian, sigma2: 5"), "1e-5", NULL), 1.75,
         0.01);
    near(epsilon_of(ONE("mechanism: gaussian, sigma2: 1/2"), "1e-5", NULL),
         6.55, 0.01);
    near(epsilon_of(ONE("mechanism: gaussian, sigma2: 1/10"), "1e-5", NULL),
         17.85, 0.01);
    near(epsilon_of(ONE("mechanism: gaussian, sigma2: 1/50"), "1e-5", NULL),
         53.5, 0.02);
    /* zcdp-to-dp is above it, and below rho + 2 sqrt(rho log(1/delta)) */
    near(epsilon_of(ONE("mechanism: zcdp, rho: 1"), "1e-5", "zcdp"), 6.6, 0.18);
}

static void rho_is_an_exact_sum(void **state)
{
    (void)state;
    assay_event_file file =
        parse("events:\n"
              "  - {mechanism: discrete-gaussian, sigma2: 3, count: 7}\n"
              "  - {mechanism: discrete-gaussian, sigma2: 7/5, "
              "sensitivity2: 4}\n"
              "  - {mechanism: discrete-laplace, scale: 10, sensitivity: 3}\n"
              "  - {mechanism: zcdp, rho: 1/9, group: 2}\n"
              "  - {mechanism: tree-gaussian, sigma2: 100, leaves: 1000}\n");
    assay_error err = ASSAY_ERROR_INIT;
    mpq_t rho, expected, term;
    mpq_init(rho);
    mpq_init(expected);
    mpq_init(term);
    assert_int_equal(assay_account_rho(rho, &file.list, &err), ASSAY_OK);
    const char *terms[] = {"7/6", "10/7", "9/200", "4/9", "1/20"};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(mpq_set_str(term, terms[i], 10), 0);
        mpq_add(expected, expected, term);
    }
    assert_int_equal(mpq_cmp(rho, expected), 0);
    mpq_clear(rho);
    mpq_clear(expected);
    mpq_clear(term);
    assay_event_file_clear(&file);
}

static const char *const kinds[] = {
    "mechanism: gaussian, sigma: %s",
    "mechanism: gaussian, sigma: %s, sampling: poisson, rate: 1/50",
    "mechanism: laplace, scale: %s",
    "mechanism: laplace, scale: %s, sampling: poisson, rate: 1/50",
    "mechanism: discrete-laplace, scale: %s, sensitivity: 2",
    "mechanism: discrete-gaussian, sigma: %s",
    "mechanism: discrete-gaussian, sigma: %s, sampling: poisson, rate: 1/50",
    "mechanism: gaussian, sigma: %s, coin: 1/3",
    "mechanism: tree-gaussian, sigma: %s, levels: 5",
};
#define NUM_KINDS (sizeof kinds / sizeof kinds[0])
static const char *const all_methods[] = {
    "basic", "advanced", "zcdp", "renyi", "gaussian", "lattice", "pld"};
#define NUM_METHODS (sizeof all_methods / sizeof all_methods[0])

static void make(char *out, size_t len, const char *kind, const char *noise,
                 const char *more)
{
    char body[256];
    (void)snprintf(body, sizeof body, kind, noise);
    (void)snprintf(out, len, "events: [{%s%s}]", body, more);
}

static void n_fold_is_n_singles(void **state)
{
    (void)state;
    for (size_t k = 0; k < NUM_KINDS; k++) {
        char body[256], once[400], many[4000] = "events: [";
        (void)snprintf(body, sizeof body, kinds[k], "4");
        make(once, sizeof once, kinds[k], "4", ", count: 10");
        for (int i = 0; i < 10; i++) {
            (void)strcat(many, i > 0 ? ", {" : "{");
            (void)strcat(many, body);
            (void)strcat(many, "}");
        }
        (void)strcat(many, "]");
        for (size_t m = 0; m < NUM_METHODS; m++) {
            double a = epsilon_of(once, "1e-6", all_methods[m]);
            double b = epsilon_of(many, "1e-6", all_methods[m]);
            if (fabs(a - b) > 1e-12 * fabs(a)) {
                fail_msg("%s by %s: %.17g for count 10, %.17g for ten", body,
                         all_methods[m], a, b);
            }
        }
    }
}

/* epsilon of `second` is at least that of `first`, method by method */
static void rises(const char *first, const char *second)
{
    for (size_t m = 0; m < NUM_METHODS; m++) {
        double a = epsilon_of(first, "1e-6", all_methods[m]);
        double b = epsilon_of(second, "1e-6", all_methods[m]);
        /* pld aims at 1e-4, so neighbouring grids may differ by that */
        double slack = strcmp(all_methods[m], "pld") == 0 ? 2e-4 : 1e-12;
        if (a >= 0 && b >= 0 && b < a * (1 - slack)) {
            fail_msg("%s: %.15g for %s above %.15g for %s", all_methods[m], a,
                     first, b, second);
        }
    }
}

static void less_noise_and_more_steps_never_help(void **state)
{
    (void)state;
    const char *noises[] = {"8", "4", "3.9", "2", "1"};
    const char *counts[] = {", count: 3", ", count: 7", ", count: 50"};
    for (size_t k = 0; k < NUM_KINDS; k++) {
        char a[400], b[400];
        for (int i = 0; i < 4; i++) {
            make(a, sizeof a, kinds[k], noises[i], ", count: 5");
            make(b, sizeof b, kinds[k], noises[i + 1], ", count: 5");
            rises(a, b);
        }
        for (int i = 0; i < 2; i++) {
            make(a, sizeof a, kinds[k], "4", counts[i]);
            make(b, sizeof b, kinds[k], "4", counts[i + 1]);
            rises(a, b);
        }
    }
}

static void more_sampling_never_helps(void **state)
{
    (void)state;
    const char *rates[] = {"1/1000", "1/100", "1/20", "1/2", "99/100", "1"};
    for (int i = 0; i < 5; i++) {
        char a[400], b[400];
        const char *format = "events: [{mechanism: gaussian, sigma: 2, "
                             "sampling: poisson, rate: %s, count: 20}]";
        (void)snprintf(a, sizeof a, format, rates[i]);
        (void)snprintf(b, sizeof b, format, rates[i + 1]);
        rises(a, b);
    }
}

static void groups_and_coins_are_monotone(void **state)
{
    (void)state;
    rises(ONE("mechanism: gaussian, sigma: 9"),
          ONE("mechanism: gaussian, sigma: 9, group: 2"));
    rises(ONE("mechanism: discrete-laplace, scale: 9, group: 2"),
          ONE("mechanism: discrete-laplace, scale: 9, group: 3"));
    rises(ONE("mechanism: gaussian, sigma: 3, sampling: poisson, rate: 1/10, "
              "coin: 1/2, count: 30"),
          ONE("mechanism: gaussian, sigma: 3, sampling: poisson, rate: 1/10, "
              "count: 30"));
    rises(ONE("mechanism: pure, epsilon: 1/10, group: 2, count: 2"),
          ONE("mechanism: pure, epsilon: 1/10, group: 4, count: 2"));
}

static void every_method_is_above_the_exact_one(void **state)
{
    (void)state;
    const char *lists[] = {
        ONE("mechanism: gaussian, sigma: 5, count: 40"),
        ONE("mechanism: discrete-laplace, scale: 8, count: 60"),
        ONE("mechanism: discrete-gaussian, sigma2: 9, count: 12"),
        ONE("mechanism: randomized-response, p: 2/3, k: 4, count: 15"),
        ONE("mechanism: approximate, epsilon: 1/5, delta: 1e-9, count: 30"),
    };
    for (size_t i = 0; i < 5; i++) {
        double exact =
            epsilon_of(lists[i], "1e-6", i == 0 ? "gaussian" : "lattice");
        assert_true(exact > 0);
        for (size_t m = 0; m < NUM_METHODS; m++) {
            double e = epsilon_of(lists[i], "1e-6", all_methods[m]);
            if (e >= 0 && e < exact * (1 - 1e-12)) {
                fail_msg("%s by %s: %.15g below %.15g", lists[i],
                         all_methods[m], e, exact);
            }
        }
        near(epsilon_of(lists[i], "1e-6", "pld"), exact, 1e-4);
    }
}

/* upper and lower bound of pld */
static void both_ends(const char *yaml, const char *delta_text, double *low,
                      double *high)
{
    assay_event_file file = parse(yaml);
    assay_account_options options = {.method = "pld", .lower = 1};
    assay_error err = ASSAY_ERROR_INIT;
    assay_guarantee g;
    mpq_t delta;
    mpq_init(delta);
    assay_guarantee_init(&g);
    assert_int_equal(assay_rational_parse(delta, delta_text, "d", &err),
                     ASSAY_OK);
    assert_int_equal(assay_account(&g, &file.list, delta, &options, &err),
                     ASSAY_OK);
    assert_true(g.bounds[0].has_lower);
    *low = mpq_get_d(g.bounds[0].epsilon_lower);
    *high = mpq_get_d(g.bounds[0].epsilon);
    assay_guarantee_clear(&g);
    mpq_clear(delta);
    assay_event_file_clear(&file);
}

static void lower_bounds_are_below_the_truth(void **state)
{
    (void)state;
    double low, high;
    both_ends(ONE("mechanism: gaussian, sigma: 5, count: 40"), "1e-6", &low,
              &high);
    double exact = epsilon_of(ONE("mechanism: gaussian, sigma: 5, count: 40"),
                              "1e-6", "gaussian");
    assert_true(low <= exact && low >= 0.99 * exact);
    const char *steps = ONE("mechanism: gaussian, sigma: 1.1, sampling: "
                            "poisson, rate: 0.01, count: 10000");
    both_ends(steps, "1e-5", &low, &high); /* the truth is 5.19258 */
    assert_true(low <= 5.19259 && low >= 5.17);
    assert_true(high >= 5.19257 && high <= 5.19258 * 1.0001);
    both_ends(ONE("mechanism: laplace, scale: 10, count: 100"), "1e-5", &low,
              &high); /* 4.22034 */
    assert_true(low <= 4.22035 && low >= 4.1 && high >= 4.22034);
    both_ends(ONE("mechanism: discrete-laplace, scale: 10, count: 30"), "1e-5",
              &low, &high);
    exact = epsilon_of(ONE("mechanism: discrete-laplace, scale: 10, count: 30"),
                       "1e-5", "lattice");
    assert_true(low <= exact && high >= exact * (1 - 1e-13));
}

static void epsilon_and_delta_agree(void **state)
{
    (void)state;
    const char *list = ONE("mechanism: gaussian, sigma: 1.1, "
                           "sampling: poisson, rate: 1/100, count: 1000");
    for (size_t m = 0; m < NUM_METHODS; m++) {
        double e = epsilon_of(list, "1e-6", all_methods[m]);
        if (e < 0) {
            continue;
        }
        char text[64];
        (void)snprintf(text, sizeof text, "%.12g", e * (1 + 1e-9));
        double d = delta_of(list, text, all_methods[m]);
        if (d > 1.002e-6 || d < 0.5e-6) {
            fail_msg("%s: epsilon %.10g at 1e-6, but delta %.10g there",
                     all_methods[m], e, d);
        }
    }
}

static void tiny_deltas_are_exact(void **state)
{
    (void)state;
    const char *list = ONE("mechanism: gaussian, sigma: 2, count: 3");
    double exact = delta_of(list, "14", "gaussian");
    assert_true(exact < 1e-30 && exact > 1e-80);
    near(delta_of(list, "14", "pld"), exact, 1e-3);
}

static void parallel_costs_its_largest_part(void **state)
{
    (void)state;
    near(epsilon_of(ONE("mechanism: parallel, parts: [{mechanism: pure, "
                        "epsilon: 1}, {mechanism: laplace, scale: 1/2}, "
                        "{mechanism: pure, epsilon: 1/4, count: 3}]"),
                    "0", NULL),
         2.0, 1e-12);
}

static void public_coin_matches_the_known_case(void **state)
{
    (void)state;
    near(epsilon_of(ONE("mechanism: gaussian, sigma: 2, sampling: poisson, "
                        "rate: 128/3000, coin: 1/2, count: 1500"),
                    "1/30000", "pld"),
         2.445, 0.002);
}

static void counts_are_many_small_shifts(void **state)
{
    (void)state;
    /* 80 cells by 1 are 80 events of sensitivity 1 */
    double cells = epsilon_of(ONE("mechanism: discrete-laplace, scale: 40, "
                                  "sensitivity: 80, cells: 80, entry: 1"),
                              "1e-5", "lattice");
    double events =
        epsilon_of(ONE("mechanism: discrete-laplace, scale: 40, count: 80"),
                   "1e-5", "lattice");
    near(cells, events, 1e-12);
    cells = epsilon_of(ONE("mechanism: discrete-gaussian, sigma2: 80, "
                           "sensitivity2: 80, cells: 80, entry: 1"),
                       "1e-5", "pld");
    near(cells, 4.3771, 1e-4); /* a continuous Gaussian of mu = 1: 4.37718 */
    assay_event event;
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_init(&event, ASSAY_DISCRETE_GAUSSIAN);
    mpq_set_ui(event.sigma2, 80, 1);
    event.cells = 80;
    event.entry = 1;
    assert_int_equal(assay_event_validate(&event, &err), ASSAY_INVALID);
    mpq_set_ui(event.sensitivity2, 80, 1);
    assert_int_equal(assay_event_validate(&event, &err), ASSAY_OK);
    assay_event_clear(&event);
}

static void sparse_vector_and_trees_add_up(void **state)
{
    (void)state;
    near(epsilon_of(ONE("mechanism: sparse-vector, scale: 2, scale2: 4"), "0",
                    "basic"),
         1.0, 1e-12);
    near(epsilon_of(ONE("mechanism: sparse-vector, scale: 2, scale2: 2, "
                        "monotone: true"),
                    "0", "basic"),
         1.0, 1e-12);
    near(epsilon_of(ONE("mechanism: tree-laplace, scale: 30, leaves: 1024, "
                        "sensitivity: 3"),
                    "0", "basic"),
         1.1, 1e-12);
}

/* 10 runs, each ln(1 + (e^(1/4) - 1)/100)-DP: 0.02836 by basic composition. */
static void laplace_without_replacement_is_amplified(void **state)
{
    (void)state;
    const char *kinds_here[] = {"laplace", "rounded-laplace",
                                "discrete-laplace"};
    for (int i = 0; i < 3; i++) {
        char yaml[300];
        (void)snprintf(yaml, sizeof yaml,
                       "neighbours: replace-one\nevents: [{mechanism: %s, "
                       "scale: 4, sampling: without-replacement, population: "
                       "60000, batch: 600, count: 10}]",
                       kinds_here[i]);
        double e = epsilon_of(yaml, "1e-6", "pld");
        assert_true(e > 0.02 && e < 0.02837);
    }
}

static void counts_beyond_every_limit_do_not_wrap(void **state)
{
    (void)state;
    const char *many = "{mechanism: randomized-response, p: 1/2, count: "
                       "4611686018427387904}";
    char yaml[600];
    (void)snprintf(yaml, sizeof yaml,
                   "events: [%s, %s, %s, %s, {mechanism: "
                   "randomized-response, p: 1/2, count: 3}]",
                   many, many, many, many);
    for (size_t m = 0; m < NUM_METHODS; m++) {
        double e = epsilon_of(yaml, "1e-6", all_methods[m]);
        assert_true(e < 0 || e > 1e18);
    }
}

static void unknown_keys_rest_on_their_theorem(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_guarantee g;
    mpq_t delta;
    mpq_init(delta);
    mpq_set_ui(delta, 1, 1000000);
    assay_guarantee_init(&g);
    assay_event_file file =
        parse(ONE("mechanism: unknown-keys, epsilon: 1, delta: 1e-7"));
    assert_int_equal(assay_account(&g, &file.list, delta, NULL, &err),
                     ASSAY_OK);
    near(mpq_get_d(g.bounds[0].epsilon), 0.999997, 1e-5);
    assert_false(g.bounds[0].assumed);
    assert_string_equal(g.bounds[0].theorems[0], "keys-threshold");
    file.list.neighbours = ASSAY_REPLACE_ONE;
    assert_int_equal(assay_account(&g, &file.list, delta, NULL, &err),
                     ASSAY_UNSUPPORTED);
    file.list.neighbours = ASSAY_ADD_REMOVE;
    assert_int_equal(assay_event_list_replace(&file.list, &err), ASSAY_OK);
    assert_int_equal(assay_account(&g, &file.list, delta, NULL, &err),
                     ASSAY_OK);
    near(mpq_get_d(g.bounds[0].epsilon), 1.99999, 1e-5);
    assay_event_file_clear(&file);
    assay_guarantee_clear(&g);
    mpq_clear(delta);
}

static void unknown_combinations_are_refused_by_name(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_guarantee g;
    mpq_t delta;
    mpq_init(delta);
    mpq_set_ui(delta, 1, 1000000);
    assay_guarantee_init(&g);
    assay_event_file file =
        parse("neighbours: replace-one\nevents:\n  - {mechanism: laplace, "
              "scale: 1, group: 2, sampling: poisson, rate: 1/2}\n"
              "  - {mechanism: renyi, curve: [[2, 1]], group: 3}");
    assert_int_equal(assay_account(&g, &file.list, delta, NULL, &err),
                     ASSAY_UNSUPPORTED);
    assert_true(strlen(err.message) > 0);
    assay_event_file_clear(&file);
    assay_guarantee_clear(&g);
    mpq_clear(delta);
}

static void mixing_units_is_an_error(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_list a, b, c;
    assay_event_list_init(&a, ASSAY_ADD_REMOVE, "person");
    assay_event_list_init(&b, ASSAY_REPLACE_ONE, "person");
    assay_event_list_init(&c, ASSAY_ADD_REMOVE, "household");
    assert_int_equal(assay_event_list_join(&a, &b, &err), ASSAY_INVALID);
    assert_int_equal(assay_event_list_join(&a, &c, &err), ASSAY_INVALID);
    assert_int_equal(assay_event_list_replace(&a, &err), ASSAY_OK);
    assert_int_equal(assay_event_list_join(&a, &b, &err), ASSAY_OK);
    assay_event_list_clear(&a);
    assay_event_list_clear(&b);
    assay_event_list_clear(&c);
}

static void json_is_canonical(void **state)
{
    (void)state;
    const char *lists[] = {
        ONE("mechanism: gaussian, sigma: 1.1, sampling: poisson, rate: 0.01, "
            "count: 9"),
        ONE("mechanism: sparse-vector, scale: 2, scale2: 4, monotone: true"),
        ONE("mechanism: renyi, curve: [[2, 0.1], [3, 1/3]], assumed: true"),
        ONE("mechanism: parallel, parts: [{mechanism: pure, epsilon: 1}]"),
    };
    for (size_t i = 0; i < 4; i++) {
        assay_error err = ASSAY_ERROR_INIT;
        assay_event_file file = parse(lists[i]);
        assay_event again;
        json_t *json = NULL;
        char *one = NULL, *two = NULL;
        assert_int_equal(assay_event_to_json(&json, &file.list.events[0], &err),
                         ASSAY_OK);
        assert_int_equal(assay_event_from_json(&again, json, &err), ASSAY_OK);
        assert_int_equal(assay_event_text(&one, &file.list.events[0], &err),
                         ASSAY_OK);
        assert_int_equal(assay_event_text(&two, &again, &err), ASSAY_OK);
        assert_string_equal(one, two);
        free(one);
        free(two);
        json_decref(json);
        assay_event_clear(&again);
        assay_event_file_clear(&file);
    }
}

static void calibrated_noise_is_the_smallest(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_file file = parse(ONE("mechanism: gaussian, sigma: 1"));
    assay_target target;
    assay_guarantee g;
    assay_guarantee_init(&g);
    assay_target_init(&target);
    mpq_set_ui(target.epsilon, 1, 1);
    mpq_set_ui(target.delta, 1, 1000000);
    assay_account_options options = {.method = "gaussian"};
    assert_int_equal(
        assay_calibrate_noise(&file.list, 0, &target, &options, &g, &err),
        ASSAY_OK);
    /* mu(1, 1e-6) = 0.2365..., sigma = 4.2247... */
    near(sqrt(mpq_get_d(file.list.events[0].sigma2)), 4.22467, 3e-6);
    assert_true(mpq_cmp(g.bounds[0].epsilon, target.epsilon) <= 0);
    assay_guarantee_clear(&g);
    assay_target_clear(&target);
    assay_event_file_clear(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaussian_matches_known_values),
        cmocka_unit_test(rho_is_an_exact_sum),
        cmocka_unit_test(n_fold_is_n_singles),
        cmocka_unit_test(less_noise_and_more_steps_never_help),
        cmocka_unit_test(more_sampling_never_helps),
        cmocka_unit_test(groups_and_coins_are_monotone),
        cmocka_unit_test(every_method_is_above_the_exact_one),
        cmocka_unit_test(lower_bounds_are_below_the_truth),
        cmocka_unit_test(epsilon_and_delta_agree),
        cmocka_unit_test(tiny_deltas_are_exact),
        cmocka_unit_test(parallel_costs_its_largest_part),
        cmocka_unit_test(public_coin_matches_the_known_case),
        cmocka_unit_test(counts_are_many_small_shifts),
        cmocka_unit_test(sparse_vector_and_trees_add_up),
        cmocka_unit_test(laplace_without_replacement_is_amplified),
        cmocka_unit_test(counts_beyond_every_limit_do_not_wrap),
        cmocka_unit_test(unknown_keys_rest_on_their_theorem),
        cmocka_unit_test(unknown_combinations_are_refused_by_name),
        cmocka_unit_test(mixing_units_is_an_error),
        cmocka_unit_test(json_is_canonical),
        cmocka_unit_test(calibrated_noise_is_the_smallest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
