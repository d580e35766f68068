/* Learners: time and memory of DP-APVI, episodes per second online. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "algorithms/dp_apvi.h"
#include "algorithms/environments.h"
#include "algorithms/simulate.h"
#include "tests/support/custodian.h"

/* Processor time: other programs do not change it. */
static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const assay_error *err)
{
    (void)fprintf(stderr, "bench_learners: %s\n", err->message);
    exit(1);
}

static double peak_megabytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

/* Transitions that go everywhere: the worst pattern for counting. */
static void fill(assay_counts *counts, uint64_t users)
{
    const assay_shape *shape = &counts->shape;
    assay_envrand rand;
    assay_envrand_init(&rand, 1, 0);
    for (uint64_t user = 0; user < users; user++) {
        uint32_t s = assay_envrand_below(&rand, shape->num_states);
        for (uint32_t h = 0; h < shape->horizon; h++) {
            uint32_t a = assay_envrand_below(&rand, shape->num_actions);
            uint32_t t = assay_envrand_below(&rand, shape->num_states);
            assay_counts_add(counts, h, s, a, t);
            s = t;
        }
    }
    counts->num_users = users;
}

/* One pass over the released integers: their sum. */
static int64_t one_pass(const assay_counts *counts)
{
    uint64_t sum = 0;
    size_t n = counts->num_pairs + counts->num_triples;
    for (size_t i = 0; i < n; i++) {
        sum += (uint64_t)counts->cell[i];
    }
    return (int64_t)sum;
}

/* The fastest of five passes and of five plans, in turn: what other programs
 * do to the memory then hits both. */
static void time_plan(double *pass, double *plan, const assay_counts *released,
                      const double *rewards, const assay_dp_apvi_params *params)
{
    assay_error err = ASSAY_ERROR_INIT;
    volatile int64_t keep;
    *pass = 1e9;
    *plan = 1e9;
    for (int i = 0; i < 5; i++) {
        assay_policy *policy = NULL;
        double start = now();
        double middle;
        keep = one_pass(released);
        (void)keep;
        middle = now();
        if (assay_dp_apvi_plan(&policy, NULL, released, rewards, params,
                               &err) != ASSAY_OK) {
            die(&err);
        }
        *plan = now() - middle < *plan ? now() - middle : *plan;
        *pass = middle - start < *pass ? middle - start : *pass;
        assay_policy_free(policy);
    }
}

static void bench_apvi(uint32_t states, uint64_t users, uint32_t threads,
                       test_vault *vault)
{
    assay_shape shape = {states, 10, 20};
    assay_counts *counts = NULL;
    assay_counts *released = NULL;
    assay_dp_apvi_params params;
    assay_error err = ASSAY_ERROR_INIT;
    double *rewards = calloc(assay_shape_pairs(&shape), sizeof(double));
    double t[3];
    double pass;
    double plan;
    assay_dp_apvi_params_init(&params, ASSAY_PRESET_PRACTICAL);
    params.num_threads = threads;
    if (rewards == NULL ||
        assay_counts_new(&counts, &shape, &err) != ASSAY_OK) {
        die(&err);
    }
    for (size_t i = 0; i < assay_shape_pairs(&shape); i++) {
        rewards[i] = (double)(i % 17) / 16.0;
    }
    t[0] = now();
    fill(counts, users);
    t[1] = now();
    if (assay_dp_apvi_release(&released, counts, &params, &vault->custodian,
                              &err) != ASSAY_OK) {
        die(&err);
    }
    t[2] = now();
    time_plan(&pass, &plan, released, rewards, &params);
    (void)printf("%6u %8" PRIu64 " %3u %9.3f %9.3f %9.5f %9.5f %8.1f %8.0f\n",
                 states, users, threads, t[1] - t[0], t[2] - t[1], pass, plan,
                 plan / pass, peak_megabytes());
    assay_counts_free(counts);
    assay_counts_free(released);
    assay_dp_apvi_params_clear(&params);
    free(rewards);
}

static double bench_online(const char *name, assay_online_rule rule,
                           assay_trust trust, assay_noise noise,
                           test_vault *vault)
{
    assay_online_params params;
    assay_curve curve = {0, NULL, NULL};
    assay_mdp *mdp = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    double start;
    double rate;
    assay_online_params_init(&params);
    params.rule = rule;
    params.trust = trust;
    params.noise = noise;
    params.episodes = 100000;
    params.bonus_scale = 0.02;
    params.width_scale = 0.001;
    if (assay_environment_new(&mdp, "riverswim", &err) != ASSAY_OK ||
        assay_curve_init(&curve, params.episodes, 10, &err) != ASSAY_OK) {
        die(&err);
    }
    start = now();
    if (assay_simulate_online(&curve, mdp, &params, &vault->custodian, 1, 0,
                              NULL, &err) != ASSAY_OK) {
        die(&err);
    }
    rate = (double)params.episodes / (now() - start);
    (void)printf("%-32s %12.0f episodes/s\n", name, rate);
    assay_curve_clear(&curve);
    assay_mdp_free(mdp);
    assay_online_params_clear(&params);
    return rate;
}

/* Episodes per second of the NumPy script, 0 where there is none. */
static double numpy_rate(const char *more)
{
    char command[200];
    double rate = 0.0;
    FILE *pipe;
    (void)snprintf(command, sizeof command,
                   "X='tests/bench/ucb_vi_numpy.py 3000 %s'; export "
                   "OMP_NUM_THREADS=1; (python3 $X || /usr/bin/python3 $X) "
                   "2>/dev/null",
                   more);
    pipe = popen(command, "r");
    if (pipe != NULL) {
        if (fscanf(pipe, "%lf", &rate) != 1) {
            rate = 0.0;
        }
        (void)pclose(pipe);
    }
    return rate;
}

static void compare(const char *name, double rate, double numpy)
{
    if (numpy > 0.0) {
        (void)printf("%-32s %12.0f times the NumPy script\n", name,
                     rate / numpy);
    } else {
        (void)printf("%-32s no NumPy to compare with\n", name);
    }
}

int main(void)
{
    test_vault vault;
    double plain;
    double tree;
    double local;
    double po;
    test_vault_open(&vault, NULL, NULL, "1000000000", 1);
    (void)printf(
        "DP-APVI, A = 10, H = 20 (processor seconds; pass: the sum of the same "
        "array)\n");
    (void)printf("%6s %8s %3s %9s %9s %9s %9s %8s %8s\n", "S", "n", "thr",
                 "count", "release", "pass", "plan", "plan/pas", "peak MB");
    for (uint64_t n = 10000; n <= 1000000; n *= 10) {
        bench_apvi(10, n, 1, &vault);
    }
    bench_apvi(100, 1000000, 1, &vault);
    bench_apvi(1000, 1000000, 1, &vault);
    (void)printf("\nRiverSwim S = 3, A = 2, H = 6, K = 10^5\n");
    plain = bench_online("UCB-VI", ASSAY_UCB_VI, ASSAY_TRUST_NONE,
                         ASSAY_NOISE_LAPLACE, &vault);
    tree = bench_online("UCB-VI central Laplace", ASSAY_UCB_VI,
                        ASSAY_TRUST_CENTRAL, ASSAY_NOISE_LAPLACE, &vault);
    (void)bench_online("UCB-VI central Gaussian", ASSAY_UCB_VI,
                       ASSAY_TRUST_CENTRAL, ASSAY_NOISE_GAUSSIAN, &vault);
    local = bench_online("UCB-VI local Laplace", ASSAY_UCB_VI,
                         ASSAY_TRUST_LOCAL, ASSAY_NOISE_LAPLACE, &vault);
    po = bench_online("UCB-PO", ASSAY_UCB_PO, ASSAY_TRUST_NONE,
                      ASSAY_NOISE_LAPLACE, &vault);
    (void)bench_online("UCB-PO central Laplace", ASSAY_UCB_PO,
                       ASSAY_TRUST_CENTRAL, ASSAY_NOISE_LAPLACE, &vault);
    compare("UCB-VI", plain, numpy_rate(""));
    compare("UCB-VI central Laplace", tree, numpy_rate("--central"));
    compare("UCB-VI local Laplace", local, numpy_rate("--local"));
    compare("UCB-PO", po, numpy_rate("--po"));
    test_vault_close(&vault);
    return 0;
}
