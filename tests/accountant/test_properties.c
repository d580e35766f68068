/* ring: glue */
/*
 * Properties of the accountant on generated cases, method by method: what can
 * only lose more privacy never has a smaller epsilon. Seeded, so that a failure
 * can be run again (ASSAY_PROPERTY_SEED, ASSAY_PROPERTY_CASES).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event_yaml.h"
#include "accountant/guarantee.h"
#include "core/rational.h"

static uint64_t seed_state = 20240613;

static unsigned below(unsigned n)
{
    seed_state = seed_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((seed_state >> 33) % n);
}

static int num_cases(int usual)
{
    const char *text = getenv("ASSAY_PROPERTY_CASES");
    return text != NULL ? atoi(text) : usual;
}

static const char *const methods[] = {"basic",    "advanced", "zcdp", "renyi",
                                      "gaussian", "lattice",  "pld"};
#define NUM_METHODS (sizeof methods / sizeof methods[0])

/* The order of zcdp and renyi has 16 bits, so two answers may differ by their
   square; pld aims at 1e-4 of the truth on each side. */
static double slack(const char *method)
{
    if (strcmp(method, "pld") == 0) {
        return 2e-4;
    }
    return strcmp(method, "zcdp") == 0 || strcmp(method, "renyi") == 0 ? 1e-8
                                                                       : 1e-12;
}

/* -1: the method does not apply, or has no lower bound */
static double bound_at(const char *yaml, const char *delta_text,
                       const char *method, int lower)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_file file;
    assay_guarantee g;
    assay_account_options options = {.method = method, .lower = lower};
    mpq_t delta;
    if (assay_event_file_parse(&file, yaml, strlen(yaml), &err) != ASSAY_OK) {
        fail_msg("%s: %s", yaml, err.message);
    }
    mpq_init(delta);
    assay_guarantee_init(&g);
    assert_int_equal(assay_rational_parse(delta, delta_text, "delta", &err),
                     ASSAY_OK);
    double out = -1.0;
    if (assay_account(&g, &file.list, delta, &options, &err) == ASSAY_OK) {
        const assay_bound *b = &g.bounds[0];
        out = !lower           ? mpq_get_d(b->epsilon)
              : b->has_lower   ? mpq_get_d(b->epsilon_lower)
                               : -1.0;
    }
    assay_guarantee_clear(&g);
    mpq_clear(delta);
    assay_event_file_clear(&file);
    return out;
}

static double epsilon_at(const char *yaml, const char *delta,
                         const char *method)
{
    return bound_at(yaml, delta, method, 0);
}

/* `more` loses at least as much as `less`; the slow methods only now and then */
static void never_less(const char *less, const char *less_delta,
                       const char *more, const char *more_delta, int slow)
{
    for (size_t m = 0; m < NUM_METHODS - (slow ? 0 : 2); m++) {
        double a = epsilon_at(less, less_delta, methods[m]);
        double b = epsilon_at(more, more_delta, methods[m]);
        if (a >= 0 && b >= 0 && b < a * (1 - slack(methods[m]))) {
            fail_msg("%s: %.15g at %s for\n%s\nabove %.15g at %s for\n%s",
                     methods[m], a, less_delta, less, b, more_delta, more);
        }
    }
}

/* An event as text; the knobs are what the properties turn. */
typedef struct knobs {
    unsigned kind;
    unsigned noise; /* in tenths */
    unsigned count;
    unsigned rate;  /* of 1000 */
    unsigned coin;  /* of 100 */
    unsigned group;
    unsigned shift; /* the sensitivity */
} knobs;

static const char *const kinds[] = {
    "gaussian, sigma: %s, sensitivity: %u",
    "discrete-gaussian, sigma: %s, sensitivity: %u",
    "rounded-gaussian, sigma: %s, sensitivity: %u",
    "laplace, scale: %s, sensitivity: %u",
    "discrete-laplace, scale: %s, sensitivity: %u",
    "tree-laplace, scale: %s, sensitivity: %u, levels: 5",
    "tree-gaussian, sigma: %s, sensitivity: %u, levels: 5",
    "sparse-vector, scale: %s, scale2: 20, sensitivity: %u",
    /* from here on: sampled */
    "gaussian, sigma: %s, sensitivity: %u, sampling: poisson, rate: %u/1000",
    "laplace, scale: %s, sensitivity: %u, sampling: poisson, rate: %u/1000",
    ("discrete-gaussian, sigma: %s, sensitivity: %u, sampling: poisson, "
     "rate: %u/1000"),
};
#define NUM_KINDS 11u
#define FIRST_SAMPLED 8u

static knobs any(int sampled)
{
    knobs k;
    k.kind = sampled ? FIRST_SAMPLED + below(NUM_KINDS - FIRST_SAMPLED)
                     : below(FIRST_SAMPLED);
    k.noise = 15 + below(150);
    k.count = 1 + below(60);
    k.rate = 1 + below(500);
    k.coin = below(3) == 0 ? 1 + below(100) : 100;
    k.group = sampled ? 1 : 1 + below(3);
    k.shift = 1 + below(2);
    return k;
}

static void write_event(char *out, size_t len, const knobs *k)
{
    char noise[24];
    char body[200];
    (void)snprintf(noise, sizeof noise, "%u.%u", k->noise / 10, k->noise % 10);
    (void)snprintf(body, sizeof body, kinds[k->kind], noise, k->shift, k->rate);
    (void)snprintf(out, len,
                   "{mechanism: %s, count: %u, coin: %u/100, group: %u}", body,
                   k->count, k->coin, k->group);
}

static void write_list(char out[1024], const knobs *k, size_t n)
{
    (void)strcpy(out, "events: [");
    for (size_t i = 0; i < n; i++) {
        char event[320];
        write_event(event, sizeof event, &k[i]);
        (void)strcat(out, i > 0 ? ", " : "");
        (void)strcat(out, event);
    }
    (void)strcat(out, "]");
}

static void compare(const knobs *less, size_t num_less, const knobs *more,
                    size_t num_more, int i)
{
    char a[1024], b[1024];
    write_list(a, less, num_less);
    write_list(b, more, num_more);
    never_less(a, "1e-6", b, "1e-6", i % 10 == 0);
}

static void more_noise_never_raises_epsilon(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(120); i++) {
        knobs more = any(i % 3 == 0);
        knobs less = more;
        less.noise += 1 + below(40);
        compare(&less, 1, &more, 1, i);
    }
}

static void fewer_steps_never_raise_epsilon(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(120); i++) {
        knobs less = any(i % 3 == 0);
        knobs more = less;
        more.count += 1 + below(30);
        compare(&less, 1, &more, 1, i);
    }
}

static void smaller_rates_never_raise_epsilon(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(90); i++) {
        knobs less = any(1);
        knobs more = less;
        more.rate += 1 + below(400);
        compare(&less, 1, &more, 1, i);
    }
}

static void smaller_batches_never_raise_epsilon(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(40); i++) {
        char text[2][256];
        unsigned noise = 2 + below(8), count = 1 + below(30);
        unsigned batch[2] = {1 + below(300), 0};
        batch[1] = batch[0] + 1 + below(200);
        for (int j = 0; j < 2; j++) {
            (void)snprintf(text[j], sizeof text[j],
                           "neighbours: replace-one\nevents: [{mechanism: "
                           "gaussian, sigma: %u, sampling: without-"
                           "replacement, population: 1000, batch: %u, "
                           "count: %u}]",
                           noise, batch[j], count);
        }
        never_less(text[0], "1e-6", text[1], "1e-6", i % 10 == 0);
    }
}

static void larger_groups_shifts_and_coins_never_help(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(90); i++) {
        knobs less = any(i % 3 == 2);
        knobs more = less;
        if (i % 3 == 0) {
            more.group += 1 + below(3);
        } else if (i % 3 == 1) {
            more.shift += 1;
        } else {
            less.coin = 1 + below(99);
            more.coin = less.coin + 1 + below(100 - less.coin);
        }
        compare(&less, 1, &more, 1, i);
    }
}

/* A group of runs written as two groups, in any order, among others. */
static void splitting_a_group_never_lowers_epsilon(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(120); i++) {
        knobs whole[2] = {any(i % 2), any(i % 3 == 0)};
        whole[0].count = 2 + below(60);
        knobs split[3] = {whole[0], whole[1], whole[0]};
        split[0].count = 1 + below(whole[0].count - 1);
        split[2].count = whole[0].count - split[0].count;
        compare(whole, 2, split, 3, i);
        compare(split, 3, whole, 2, i + 1); /* nor does joining */
    }
}

/* Persons: a and b persons at once are bounded by basic group privacy. */
static void a_group_of_persons_is_the_sum_of_its_parts(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(60); i++) {
        knobs k = any(0);
        unsigned a = 1 + below(4), b = 1 + below(4);
        char text[1024];
        double part[3];
        const unsigned size[3] = {a, b, a + b};
        for (int j = 0; j < 3; j++) {
            k.group = size[j];
            write_list(text, &k, 1);
            part[j] = epsilon_at(text, "0", "basic");
        }
        if (part[2] >= 0 && (part[2] < (part[0] + part[1]) * (1 - 1e-12) ||
                             part[2] > (part[0] + part[1]) * (1 + 1e-12))) {
            fail_msg("%s: %.15g, not %.15g + %.15g", text, part[2], part[0],
                     part[1]);
        }
    }
}

static void more_events_and_smaller_deltas_never_help(void **state)
{
    (void)state;
    const char *deltas[] = {"1e-3", "1e-5", "1e-8", "1e-12"};
    for (int i = 0; i < num_cases(60); i++) {
        knobs k[2] = {any(i % 3 == 0), any(i % 4 == 0)};
        compare(k, 1, k, 2, i);
        char text[1024];
        write_list(text, k, 2);
        unsigned d = below(3);
        never_less(text, deltas[d], text, deltas[d + 1], i % 10 == 0);
    }
}

static void order_and_post_processing_do_not_matter(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(60); i++) {
        knobs k[3] = {any(0), any(i % 2), any(i % 3 == 0)};
        knobs turned[3] = {k[2], k[0], k[1]};
        compare(k, 3, turned, 3, i);
        compare(turned, 3, k, 3, i);
        char plain[1024], more[1100];
        write_list(plain, k, 2);
        (void)strcpy(more, plain);
        more[strlen(more) - 1] = '\0';
        (void)strcat(more, ", {mechanism: post-processing}]");
        never_less(more, "1e-6", plain, "1e-6", 0);
        never_less(plain, "1e-6", more, "1e-6", 0);
    }
}

static void two_persons_are_no_better_than_one_replaced(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    for (int i = 0; i < num_cases(40); i++) {
        knobs k = any(0);
        char text[1024];
        assay_event_file file;
        assay_guarantee one, two;
        mpq_t delta;
        static const assay_account_options cheap = {.cheap = 1};
        mpq_init(delta);
        mpq_set_ui(delta, 1, 1000000);
        assay_guarantee_init(&one);
        assay_guarantee_init(&two);
        write_list(text, &k, 1);
        assert_int_equal(
            assay_event_file_parse(&file, text, strlen(text), &err), ASSAY_OK);
        assert_int_equal(assay_account(&one, &file.list, delta, &cheap, &err),
                         ASSAY_OK);
        assert_int_equal(assay_event_list_replace(&file.list, &err), ASSAY_OK);
        assert_int_equal(assay_account(&two, &file.list, delta, &cheap, &err),
                         ASSAY_OK);
        assert_true(
            mpq_cmp(two.bounds[0].epsilon, one.bounds[0].epsilon) >= 0);
        assay_guarantee_clear(&one);
        assay_guarantee_clear(&two);
        mpq_clear(delta);
        assay_event_file_clear(&file);
    }
}

static void lower_is_not_above(const char *text, const char *delta,
                               double exact)
{
    double low = bound_at(text, delta, "pld", 1);
    if (low > exact * (1 + 1e-12)) {
        fail_msg("%s at %s: a lower bound of %.15g, the truth is %.15g", text,
                 delta, low, exact);
    }
}

/* -1: the method does not apply */
static double delta_at(const char *yaml, unsigned thousandths,
                       const char *method)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_file file;
    assay_guarantee g;
    assay_account_options options = {.method = method};
    mpq_t epsilon;
    assert_int_equal(assay_event_file_parse(&file, yaml, strlen(yaml), &err),
                     ASSAY_OK);
    mpq_init(epsilon);
    mpq_set_ui(epsilon, thousandths, 1000);
    mpq_canonicalize(epsilon);
    assay_guarantee_init(&g);
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

/* The same for delta, at an epsilon somewhere around the answer. */
static void no_delta_is_below(const char *text, const char *truth, double near)
{
    unsigned at = (unsigned)(near * (double)(100 + below(1000)));
    double exact = delta_at(text, at, truth);
    for (size_t m = 0; m < NUM_METHODS && exact >= 0; m++) {
        double d = delta_at(text, at, methods[m]);
        if (d >= 0 && d < exact * (1 - 1e-12)) {
            fail_msg("%s at epsilon %u/1000: %s gives %.15g, the truth is "
                     "%.15g",
                     text, at, methods[m], d, exact);
        }
    }
}

/* Where the lattice is exact, nothing is below it, at any delta. */
static void nothing_is_below_the_exact_lattice(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(60); i++) {
        char text[256], delta[16];
        unsigned a = 1 + below(99), n = 1 + below(i % 2 ? 8 : 60);
        switch (i % 4) {
        case 0:
            (void)snprintf(text, sizeof text,
                           "events: [{mechanism: randomized-response, p: "
                           "%u/1000, k: %u, count: %u}]",
                           a, 2 + below(4), n);
            break;
        case 1:
            (void)snprintf(text, sizeof text,
                           "events: [{mechanism: pure, epsilon: %u/%u, count: "
                           "%u}]",
                           a, 1 + below(99), n);
            break;
        case 2:
            (void)snprintf(text, sizeof text,
                           "events: [{mechanism: approximate, epsilon: %u/10, "
                           "delta: 1e-%u, count: %u}]",
                           a, 4 + below(30), n);
            break;
        default:
            (void)snprintf(text, sizeof text,
                           "events: [{mechanism: discrete-laplace, scale: "
                           "%u/7, count: %u}]",
                           a, n);
        }
        (void)snprintf(delta, sizeof delta, "1e-%u", 1 + below(60));
        double exact = epsilon_at(text, delta, "lattice");
        for (size_t m = 0; m < NUM_METHODS && exact >= 0; m++) {
            double e = epsilon_at(text, delta, methods[m]);
            if (e >= 0 && e < exact * (1 - 1e-12)) {
                fail_msg("%s at %s: %s gives %.15g, the truth is %.15g", text,
                         delta, methods[m], e, exact);
            }
        }
        if (exact >= 0 && i % 3 == 0) {
            lower_is_not_above(text, delta, exact);
            no_delta_is_below(text, "lattice", exact);
        }
    }
}

/* Nor below the closed form of Gaussian noise. */
static void nothing_is_below_the_exact_gaussian(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(30); i++) {
        char text[256], delta[16];
        (void)snprintf(text, sizeof text,
                       "events: [{mechanism: gaussian, sigma: %u/10, count: "
                       "%u}, {mechanism: rounded-gaussian, sigma: %u/3}]",
                       2 + below(200), 1 + below(90), 1 + below(90));
        (void)snprintf(delta, sizeof delta, "1e-%u", 1 + below(40));
        double exact = epsilon_at(text, delta, "gaussian");
        for (size_t m = 0; m < NUM_METHODS && exact >= 0; m++) {
            double e = epsilon_at(text, delta, methods[m]);
            if (e >= 0 && e < exact * (1 - 1e-12)) {
                fail_msg("%s at %s: %s gives %.15g, the truth is %.15g", text,
                         delta, methods[m], e, exact);
            }
        }
        if (exact >= 0 && i % 3 == 0) {
            lower_is_not_above(text, delta, exact);
            no_delta_is_below(text, "gaussian", exact);
        }
    }
}

/* Sampled events have no closed form: the two ends must be in order. */
static void lower_and_upper_ends_are_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < num_cases(12); i++) {
        knobs k = any(1);
        k.noise = 30 + below(100);
        k.rate = 10 + below(200);
        char text[1024];
        write_list(text, &k, 1);
        double high = epsilon_at(text, "1e-6", "pld");
        double low = bound_at(text, "1e-6", "pld", 1);
        /* 0: no lower bound within a tenth */
        if (high >= 0 && (low > high * (1 + 1e-12) || low < 0)) {
            fail_msg("%s: %.12g and %.12g", text, low, high);
        }
    }
}

/* Too long for an exact sum: never below it, and above by less than 2^-490. */
static void a_long_sum_is_rounded_up_and_not_by_much(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_list list;
    mpq_t exact, rho, gap, term;
    mpq_inits(exact, rho, gap, term, NULL);
    assay_event_list_init(&list, ASSAY_ADD_REMOVE, NULL);
    for (unsigned i = 0; i < 3000; i++) {
        assay_event event;
        assay_event_init(&event, ASSAY_ZCDP);
        event.count = 1 + below(9);
        mpq_set_ui(event.rho, 1 + below(50), 1000003 + 2 * below(1000000));
        mpq_canonicalize(event.rho);
        assert_int_equal(assay_event_list_add(&list, &event, &err), ASSAY_OK);
        mpq_set_ui(term, (unsigned)event.count, 1);
        mpq_mul(term, term, event.rho);
        mpq_add(exact, exact, term);
        assay_event_clear(&event);
    }
    assert_int_equal(assay_account_rho(rho, &list, &err), ASSAY_OK);
    mpq_sub(gap, rho, exact);
    assert_true(mpq_sgn(gap) > 0); /* it was rounded */
    mpq_mul_2exp(gap, gap, 490);
    assert_true(mpq_cmp_ui(gap, 1, 1) < 0);
    assay_event_list_clear(&list);
    mpq_clears(exact, rho, gap, term, NULL);
}

static int set_seed(void **state)
{
    (void)state;
    const char *text = getenv("ASSAY_PROPERTY_SEED");
    if (text != NULL) {
        seed_state = strtoull(text, NULL, 10);
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_noise_never_raises_epsilon),
        cmocka_unit_test(fewer_steps_never_raise_epsilon),
        cmocka_unit_test(smaller_rates_never_raise_epsilon),
        cmocka_unit_test(smaller_batches_never_raise_epsilon),
        cmocka_unit_test(larger_groups_shifts_and_coins_never_help),
        cmocka_unit_test(splitting_a_group_never_lowers_epsilon),
        cmocka_unit_test(a_group_of_persons_is_the_sum_of_its_parts),
        cmocka_unit_test(more_events_and_smaller_deltas_never_help),
        cmocka_unit_test(order_and_post_processing_do_not_matter),
        cmocka_unit_test(two_persons_are_no_better_than_one_replaced),
        cmocka_unit_test(nothing_is_below_the_exact_lattice),
        cmocka_unit_test(nothing_is_below_the_exact_gaussian),
        cmocka_unit_test(lower_and_upper_ends_are_in_order),
        cmocka_unit_test(a_long_sum_is_rounded_up_and_not_by_much),
    };
    return cmocka_run_group_tests(tests, set_seed, NULL);
}
