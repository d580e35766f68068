/* ring: glue */
/* Epsilon and CPU time per method, one core. Prints a table; never fails on
   time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "accountant/event_yaml.h"
#include "accountant/guarantee.h"
#include "core/rational.h"

static double cpu(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void row(const char *name, const assay_event_list *list,
                const char *delta_text, const char *method)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_account_options options = {.method = method};
    assay_guarantee g;
    mpq_t delta;
    mpq_init(delta);
    assay_guarantee_init(&g);
    if (assay_rational_parse(delta, delta_text, "delta", &err) != ASSAY_OK) {
        return;
    }
    double start = cpu();
    if (assay_account(&g, list, delta, &options, &err) == ASSAY_OK) {
        double seconds = cpu() - start;
        char *epsilon = assay_bound_text(g.bounds[0].epsilon, 9);
        (void)printf("%-34s %-7s %-9s %-14s %9.2f ms\n", name, delta_text,
                     method, epsilon, 1e3 * seconds);
        free(epsilon);
    }
    assay_guarantee_clear(&g);
    mpq_clear(delta);
}

static void bench(const char *name, const char *yaml, const char *delta)
{
    static const char *const methods[] = {"basic",    "zcdp",    "renyi",
                                          "gaussian", "lattice", "pld"};
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_file file;
    if (assay_event_file_parse(&file, yaml, strlen(yaml), &err) != ASSAY_OK) {
        (void)printf("%s: %s\n", name, err.message);
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        row(name, &file.list, delta, methods[i]);
    }
    assay_event_file_clear(&file);
}

/* 10^5 Gaussian releases, each with its own noise of two decimals */
static void heterogeneous(void)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_event_list list;
    assay_event_list_init(&list, ASSAY_ADD_REMOVE, NULL);
    for (unsigned i = 0; i < 100000; i++) {
        assay_event event;
        assay_event_init(&event, ASSAY_DISCRETE_GAUSSIAN);
        mpq_set_ui(event.sigma2, (10000 + i % 5000) * 7u, 10);
        mpq_canonicalize(event.sigma2);
        if (assay_event_list_add(&list, &event, &err) != ASSAY_OK) {
            (void)printf("%s\n", err.message);
        }
        assay_event_clear(&event);
    }
    row("1e5 heterogeneous zCDP events", &list, "1e-6", "zcdp");
    assay_event_list_clear(&list);
}

int main(void)
{
    (void)printf("%-34s %-7s %-9s %-14s %12s\n", "case", "delta", "method",
                 "epsilon <=", "CPU time");
    bench("q=0.01 sigma=1.1 T=1e4",
          "events: [{mechanism: gaussian, sigma: 1.1, sampling: poisson, "
          "rate: 0.01, count: 10000}]",
          "1e-5");
    bench("q=0.01 sigma=1.1 T=1e6",
          "events: [{mechanism: gaussian, sigma: 1.1, sampling: poisson, "
          "rate: 0.01, count: 1000000}]",
          "1e-5");
    bench("q=1e-4 sigma=1 T=1e6",
          "events: [{mechanism: gaussian, sigma: 1, sampling: poisson, "
          "rate: 1e-4, count: 1000000}]",
          "1e-6");
    bench("q=1 sigma=0.3 T=100",
          "events: [{mechanism: gaussian, sigma: 0.3, count: 100}]", "1e-5");
    heterogeneous();
    bench("randomized response, T=1e4",
          "events: [{mechanism: randomized-response, p: 9/10, count: 10000}]",
          "1e-6");
    bench("DP-APVI H=20 rho=1/2",
          "neighbours: replace-one\nevents: [{mechanism: discrete-gaussian, "
          "sigma2: 80, sensitivity2: 80}]",
          "1e-5");
    bench("UCB-VI central tree H=6 K=1e5",
          "neighbours: replace-one\nevents: [{mechanism: tree-gaussian, "
          "sigma2: 11000, sensitivity2: 36, leaves: 100000}]",
          "1e-6");
    bench("selective DP-SGD, public coin",
          "events: [{mechanism: gaussian, sigma: 2, sampling: poisson, "
          "rate: 128/3000, coin: 1/2, count: 1500}]",
          "1/30000");
    bench("GPOPE m=N=1000 sigma=2.63",
          "neighbours: replace-one\nevents: [{mechanism: gaussian, sigma: "
          "2.63, sensitivity: 2, sampling: without-replacement, population: "
          "1000, batch: 1, count: 1000}]",
          "1e-5");
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("peak memory %ld MB\n", usage.ru_maxrss / 1024);
    return 0;
}
