/* Learners: time and memory of DP-APVI, stage by stage, each beside one pass
 * over the arrays that it reads; episodes per second online, beside NumPy. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "algorithms/dp_apvi.h"
#include "algorithms/environments.h"
#include "algorithms/simulate.h"
#include "tests/support/custodian.h"

#define ACTIONS 10u
#define HORIZON 20u
#define SWEEP ((size_t)600 << 20) /* more than any cache here */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HOT __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define HOT
#endif

/* Processor time: other programs do not change it. All is on one thread. */
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

static void *room(size_t n)
{
    void *p = malloc(n);
    if (p == NULL) {
        (void)fprintf(stderr, "bench_learners: no memory\n");
        exit(1);
    }
    return p;
}

static double peak_megabytes(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024.0;
}

/* One pass: the sum of words of 8 bytes, as fast as the compiler can. */
static HOT uint64_t one_pass(const void *from, size_t n)
{
    const uint64_t *x = from;
    uint64_t sum[64] = {0};
    uint64_t total = 0;
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        for (size_t k = 0; k < 64; k++) {
            sum[k] += x[i + k];
        }
    }
    for (; i < n; i++) {
        total += x[i];
    }
    for (size_t k = 0; k < 64; k++) {
        total += sum[k];
    }
    return total;
}

/* Lines of the second table, while the first is printed. */
static FILE *later;

/* ---- planning ----------------------------------------------------------- */

/* Where the arrays are when planning begins. */
typedef enum place {
    IN_CACHES, /* whatever fits */
    IN_MEMORY, /* caches emptied, then a step of other data planned */
    FIRST_CALL /* caches emptied: the program comes from memory too */
} place;

static const char *const place_name[] = {"caches", "memory", "first"};

typedef struct plan_bench {
    const assay_counts *released;
    const double *rewards;
    const assay_dp_apvi_params *params;
    assay_counts *other; /* one step */
    unsigned char *sweep;
    place from;
} plan_bench;

static double pass_over(const assay_counts *counts, const double *rewards)
{
    volatile uint64_t keep;
    double start = now();
    keep = one_pass(counts->cell, counts->num_pairs + counts->num_triples);
    keep = keep + one_pass(rewards, counts->num_pairs);
    return now() - start;
}

static double plan_for(const assay_counts *counts, const plan_bench *b)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_policy *policy = NULL;
    double start = now();
    double took;
    if (assay_dp_apvi_plan(&policy, NULL, counts, b->rewards, b->params,
                           &err) != ASSAY_OK) {
        die(&err);
    }
    took = now() - start;
    assay_policy_free(policy);
    return took;
}

static void empty_caches(const plan_bench *b)
{
    for (size_t i = 0; b->from != IN_CACHES && i < SWEEP; i += 64) {
        b->sweep[i]++;
    }
}

/* Everything that planning reads: counts and rewards. */
static double time_pass(const plan_bench *b)
{
    double last_step[ACTIONS] = {0.0};
    empty_caches(b);
    if (b->from == IN_MEMORY) {
        assay_counts tiny = *b->other;
        tiny.num_pairs = ACTIONS;
        tiny.num_triples = 0;
        (void)pass_over(&tiny, last_step);
    }
    return pass_over(b->released, b->rewards);
}

/* The other data are planned with the first rewards, which the plan that is
 * timed reads last. */
static double time_plan(const plan_bench *b)
{
    empty_caches(b);
    if (b->from == IN_MEMORY) {
        (void)plan_for(b->other, b);
    }
    return plan_for(b->released, b);
}

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x;
    double b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Medians of passes and plans, in turn: what other programs do to the memory
 * then hits both. (The least would not do: on a virtual machine the clock of a
 * process now and then shows too little.) */
static void compare_plan(plan_bench *b, place from, size_t times)
{
    double pass[1000];
    double plan[1000];
    double rows = (double)b->released->num_pairs;
    b->from = from;
    for (size_t i = 0; i < times; i++) {
        pass[i] = time_pass(b);
        plan[i] = time_plan(b);
    }
    qsort(pass, times, sizeof pass[0], compare_doubles);
    qsort(plan, times, sizeof plan[0], compare_doubles);
    (void)fprintf(later, "%6u %-7s %11.1f %11.1f %10.2f %9.1f %9.1f\n",
                  b->released->shape.num_states, place_name[from],
                  1e6 * pass[times / 2], 1e6 * plan[times / 2],
                  plan[times / 2] / pass[times / 2],
                  1e9 * pass[times / 2] / rows, 1e9 * plan[times / 2] / rows);
}

/* ---- counting and release ------------------------------------------------ */

/* n trajectories that go everywhere: the worst pattern for counting. */
static assay_visit *make_data(uint32_t states, uint64_t users)
{
    assay_visit *data =
        room((size_t)users * (HORIZON + 1) * sizeof(assay_visit));
    assay_envrand rand;
    assay_envrand_init(&rand, 1, 0);
    for (size_t i = 0; i < (size_t)users * (HORIZON + 1); i++) {
        data[i].s = assay_envrand_below(&rand, states);
        data[i].a = assay_envrand_below(&rand, ACTIONS);
    }
    return data;
}

static void count(assay_counts *counts, const assay_visit *data, uint64_t users)
{
    for (uint64_t user = 0; user < users; user++) {
        assay_counts_add_all(counts, data + user * (HORIZON + 1));
    }
    counts->num_users = users;
}

typedef struct stages {
    double fresh; /* zeros from the system, for the counts */
    double count, count_pass, release, release_pass, peak;
} stages;

static void print_stages(uint32_t states, uint64_t users, size_t cells,
                         const stages *t)
{
    double steps = (double)users * HORIZON;
    (void)printf("%6u %8" PRIu64
                 " %8.3f %8.3f %8.3f %8.1f %8.3f %8.3f %8.1f %8.0f\n",
                 states, users, t->fresh, t->count, t->count_pass,
                 1e9 * t->count / steps, t->release, t->release_pass,
                 1e9 * t->release / (double)cells, t->peak);
}

/* Counts in memory and their release; the yardsticks are one pass over the
 * transitions and the counts, and one over the counts. */
static void count_and_release(assay_counts **released, uint32_t states,
                              uint64_t users, assay_dp_apvi_params *params,
                              test_vault *vault)
{
    assay_shape shape = {states, ACTIONS, HORIZON};
    assay_counts *counts = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assay_visit *data = make_data(states, users);
    size_t cells = assay_shape_pairs(&shape) + assay_shape_triples(&shape);
    volatile uint64_t keep;
    stages t;
    double start = now();
    if (assay_counts_new(&counts, &shape, &err) != ASSAY_OK) {
        die(&err);
    }
    t.fresh = now() - start;
    start = now();
    count(counts, data, users);
    t.count = now() - start;
    start = now();
    keep = one_pass(data, (size_t)users * (HORIZON + 1));
    t.count_pass = now() - start;
    free(data);
    start = now();
    keep = keep + one_pass(counts->cell, cells);
    t.release_pass = now() - start;
    t.count_pass += t.release_pass;
    start = now();
    if (assay_dp_apvi_release(released, counts, params, &vault->custodian,
                              &err) != ASSAY_OK) {
        die(&err);
    }
    t.release = now() - start;
    t.peak = peak_megabytes();
    assay_counts_free(counts);
    print_stages(states, users, cells, &t);
}

/* The first step of the counts, elsewhere. */
static assay_counts *copy_step(const assay_counts *counts)
{
    assay_shape shape = counts->shape;
    assay_counts *step = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    shape.horizon = 1;
    if (assay_counts_new(&step, &shape, &err) != ASSAY_OK) {
        die(&err);
    }
    memcpy(step->cell, counts->cell, step->num_pairs * sizeof(int64_t));
    memcpy(step->cell + step->num_pairs, counts->cell + counts->num_pairs,
           step->num_triples * sizeof(int64_t));
    return step;
}

static void plan_all_ways(const assay_counts *released,
                          const assay_dp_apvi_params *params)
{
    uint32_t states = released->shape.num_states;
    size_t times = states > 500 ? 7 : states > 50 ? 25 : 41;
    double *rewards = room(released->num_pairs * sizeof *rewards);
    plan_bench b = {released, rewards, params, NULL, NULL, IN_CACHES};
    for (size_t i = 0; i < released->num_pairs; i++) {
        rewards[i] = (double)(i % 17) / 16.0;
    }
    b.other = copy_step(released);
    b.sweep = room(SWEEP);
    memset(b.sweep, 1, SWEEP);
    compare_plan(&b, IN_CACHES, states > 500 ? times : 10 * times);
    compare_plan(&b, IN_MEMORY, times);
    compare_plan(&b, FIRST_CALL, times);
    assay_counts_free(b.other);
    free(b.sweep);
    free(rewards);
}

/* A size in a process of its own, so that its peak memory is its own. */
static void bench_apvi(uint32_t states, uint64_t users, int plan)
{
    assay_counts *released = NULL;
    assay_dp_apvi_params params;
    test_vault vault;
    pid_t child;
    (void)fflush(stdout);
    child = fork();
    if (child != 0) {
        (void)waitpid(child, NULL, 0);
        return;
    }
    test_vault_open(&vault, NULL, NULL, "1000000000", 1);
    assay_dp_apvi_params_init(&params, ASSAY_PRESET_PRACTICAL);
    count_and_release(&released, states, users, &params, &vault);
    if (plan) {
        plan_all_ways(released, &params);
    }
    assay_counts_free(released);
    assay_dp_apvi_params_clear(&params);
    test_vault_close(&vault);
    exit(0);
}

static void print_later(void)
{
    char line[200];
    (void)printf(
        "\nPlanning beside one pass over counts and rewards; \"memory\": "
        "the caches are emptied before each;\n\"first\": and the program is "
        "not in them either\n");
    (void)printf("%6s %-7s %11s %11s %10s %9s %9s\n", "S", "from", "pass us",
                 "plan us", "plan/pass", "ns/row", "ns/row");
    rewind(later);
    while (fgets(line, sizeof line, later) != NULL) {
        (void)fputs(line, stdout);
    }
}

static void bench_offline(int all)
{
    later = tmpfile();
    if (later == NULL) {
        perror("bench_learners");
        exit(1);
    }
    (void)printf("DP-APVI, A = 10, H = 20: processor seconds of one thread\n");
    (void)printf("%6s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "S", "n", "zeros",
                 "count", "pass", "ns/step", "release", "pass", "ns/cell",
                 "peak MB");
    for (uint64_t n = 10000; n <= 1000000; n *= 10) {
        bench_apvi(10, n, n == 1000000);
    }
    bench_apvi(100, 1000000, 1);
    if (all) {
        bench_apvi(1000, 1000000, 1);
    }
    print_later();
    (void)fclose(later);
}

/* ---- online ----------------------------------------------------------------
 */

typedef struct online_bench {
    const char *name;
    assay_online_rule rule;
    assay_trust trust;
    assay_noise noise;
    const char *numpy; /* its arguments */
} online_bench;

static const online_bench online[] = {
    {"UCB-VI", ASSAY_UCB_VI, ASSAY_TRUST_NONE, ASSAY_NOISE_LAPLACE, ""},
    {"UCB-VI central Laplace", ASSAY_UCB_VI, ASSAY_TRUST_CENTRAL,
     ASSAY_NOISE_LAPLACE, "--central"},
    {"UCB-VI central Gaussian", ASSAY_UCB_VI, ASSAY_TRUST_CENTRAL,
     ASSAY_NOISE_GAUSSIAN, "--central --gaussian"},
    {"UCB-VI local Laplace", ASSAY_UCB_VI, ASSAY_TRUST_LOCAL,
     ASSAY_NOISE_LAPLACE, "--local"},
    {"UCB-VI local Gaussian", ASSAY_UCB_VI, ASSAY_TRUST_LOCAL,
     ASSAY_NOISE_GAUSSIAN, "--local --gaussian"},
    {"UCB-VI local unary", ASSAY_UCB_VI, ASSAY_TRUST_LOCAL, ASSAY_NOISE_UNARY,
     "--local --unary"},
    {"UCB-PO", ASSAY_UCB_PO, ASSAY_TRUST_NONE, ASSAY_NOISE_LAPLACE, "--po"},
    {"UCB-PO central Laplace", ASSAY_UCB_PO, ASSAY_TRUST_CENTRAL,
     ASSAY_NOISE_LAPLACE, "--po --central"},
    {"UCB-PO central Gaussian", ASSAY_UCB_PO, ASSAY_TRUST_CENTRAL,
     ASSAY_NOISE_GAUSSIAN, "--po --central --gaussian"},
    {"UCB-PO local Laplace", ASSAY_UCB_PO, ASSAY_TRUST_LOCAL,
     ASSAY_NOISE_LAPLACE, "--po --local"},
    {"PUCB central Laplace", ASSAY_PUCB, ASSAY_TRUST_CENTRAL,
     ASSAY_NOISE_LAPLACE, "--pucb --central"},
    {"LDP-OB local Laplace", ASSAY_LDP_OB, ASSAY_TRUST_LOCAL,
     ASSAY_NOISE_LAPLACE, "--ldp-ob --local"},
};

typedef struct vtr_bench {
    const char *name;
    assay_vtr_statistics statistics;
    assay_noise noise;
    const char *numpy;
} vtr_bench;

static const vtr_bench vtr[] = {
    {"UCRL-VTR counts", ASSAY_VTR_COUNTS, ASSAY_NOISE_NONE, ""},
    {"LDP-UCRL-VTR counts", ASSAY_VTR_COUNTS, ASSAY_NOISE_GAUSSIAN, "--local"},
    {"UCRL-VTR printed", ASSAY_VTR_PRINTED, ASSAY_NOISE_NONE, "--printed"},
    {"LDP-UCRL-VTR printed", ASSAY_VTR_PRINTED, ASSAY_NOISE_GAUSSIAN,
     "--printed --local"},
};

/* Episodes per second of a NumPy script, 0 where there is none. */
static double numpy_rate(const char *script, uint64_t episodes,
                         const char *more)
{
    char command[300];
    double rate = 0.0;
    FILE *pipe;
    (void)snprintf(command, sizeof command,
                   "X='tests/bench/%s 3000 %" PRIu64 " %s'; export "
                   "OMP_NUM_THREADS=1; (python3 $X || /usr/bin/python3 $X) "
                   "2>/dev/null",
                   script, episodes, more);
    (void)fflush(stdout);
    pipe = popen(command, "r");
    if (pipe != NULL) {
        if (fscanf(pipe, "%lf", &rate) != 1) {
            rate = 0.0;
        }
        (void)pclose(pipe);
    }
    return rate;
}

static void print_rate(const char *name, double rate, double numpy)
{
    if (numpy > 0.0) {
        (void)printf("%-26s %12.0f %12.0f %9.0f\n", name, rate, numpy,
                     rate / numpy);
    } else {
        (void)printf("%-26s %12.0f %12s\n", name, rate, "no NumPy");
    }
}

static void bench_online(const online_bench *b, const assay_mdp *mdp,
                         test_vault *vault)
{
    assay_online_params params;
    assay_curve curve = {0, NULL, NULL};
    assay_error err = ASSAY_ERROR_INIT;
    double start;
    assay_online_params_init(&params);
    params.rule = b->rule;
    params.trust = b->trust;
    params.noise = b->noise;
    params.episodes = 100000;
    params.bonus_scale = 0.02;
    params.width_scale = 0.001;
    if (assay_curve_init(&curve, params.episodes, 10, &err) != ASSAY_OK) {
        die(&err);
    }
    start = now();
    if (assay_simulate_online(&curve, mdp, &params, &vault->custodian, 1, 0,
                              NULL, &err) != ASSAY_OK) {
        die(&err);
    }
    print_rate(b->name, (double)params.episodes / (now() - start),
               numpy_rate("ucb_vi_numpy.py", params.episodes, b->numpy));
    assay_curve_clear(&curve);
    assay_online_params_clear(&params);
}

static void bench_vtr(const vtr_bench *b, const assay_mdp *mdp,
                      test_vault *vault)
{
    assay_vtr_params params;
    assay_curve curve = {0, NULL, NULL};
    assay_error err = ASSAY_ERROR_INIT;
    double start;
    assay_vtr_params_init(&params);
    params.statistics = b->statistics;
    params.noise = b->noise;
    if (assay_curve_init(&curve, params.episodes, 10, &err) != ASSAY_OK) {
        die(&err);
    }
    start = now();
    if (assay_simulate_vtr(&curve, mdp, &params, &vault->custodian, 1, 0, NULL,
                           &err) != ASSAY_OK) {
        die(&err);
    }
    print_rate(b->name, (double)params.episodes / (now() - start),
               numpy_rate("vtr_numpy.py", params.episodes, b->numpy));
    assay_curve_clear(&curve);
    assay_vtr_params_clear(&params);
}

int main(int argc, char **argv)
{
    test_vault vault;
    assay_mdp *mdp = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    if (argc < 2 || strcmp(argv[1], "online") != 0) {
        bench_offline(argc < 2 || strcmp(argv[1], "small") != 0);
    }
    if (argc > 1 && strcmp(argv[1], "online") != 0) {
        return 0;
    }
    test_vault_open(&vault, NULL, NULL, "1000000000", 1);
    if (assay_environment_new(&mdp, "riverswim", &err) != ASSAY_OK) {
        die(&err);
    }
    (void)printf("\nRiverSwim S = 3, A = 2, H = 6, K = 10^5 (UCRL-VTR: 10^4); "
                 "episodes a second\n");
    (void)printf("%-26s %12s %12s %9s\n", "learner", "assay", "NumPy", "times");
    for (size_t i = 0; i < sizeof online / sizeof online[0]; i++) {
        bench_online(&online[i], mdp, &vault);
    }
    for (size_t i = 0; i < sizeof vtr / sizeof vtr[0]; i++) {
        bench_vtr(&vtr[i], mdp, &vault);
    }
    assay_mdp_free(mdp);
    test_vault_close(&vault);
    return 0;
}
