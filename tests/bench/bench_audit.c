/* ring: glue */
/* Runs per second of the audit: in process, and a program over the pipe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/attacker.h"
#include "audit/audit.h"
#include "audit/external.h"
#include "audit/specimens/specimens.h"

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Draw both sides and classify them with the attacker x >= 1, one core. */
static void bench_specimen(const char *name, int blocks)
{
    const assay_specimen *s = assay_specimen_find(name);
    assay_pair pairs[8];
    assay_rows rows;
    assay_error err = ASSAY_ERROR_INIT;
    float score[ASSAY_ROWS_BLOCK];
    if (s == NULL || assay_rows_init(&rows, s->width, &err) != ASSAY_OK) {
        return;
    }
    (void)assay_specimen_pairs(s, pairs);
    assay_specimen_run run = {s, pairs[0], 1};
    assay_source source = assay_specimen_source(&run);
    assay_piece piece = {.kind = ASSAY_PIECE_IDENTITY,
                         .feature = assay_feature_of(ASSAY_F_RAW, 0),
                         .sign = 1};
    assay_model model = {.num_pieces = 1, .piece = &piece};
    uint64_t hits = 0;
    double start = now();
    for (int b = 0; b < blocks; b++) {
        if (assay_source_fill(&source, b % 2, (uint64_t)b * ASSAY_ROWS_BLOCK,
                              ASSAY_ROWS_BLOCK, &rows, &err) != ASSAY_OK) {
            return;
        }
        assay_model_score(&model, &rows, score);
        for (size_t i = 0; i < ASSAY_ROWS_BLOCK; i++) {
            hits += score[i] >= 1.0f;
        }
    }
    double seconds = now() - start;
    (void)printf("%-24s %8.2f million runs/s, one core (%llu hits)\n", name,
                 (double)blocks * ASSAY_ROWS_BLOCK / seconds / 1e6,
                 (unsigned long long)hits);
    assay_rows_clear(&rows);
}

static void bench_pipe(void)
{
    static char code[] = "import sys,random\n"
                         "w=sys.stdout.write\n"
                         "for i in range(int(sys.argv[2])):\n"
                         "  w(repr(random.expovariate(1))+'\\n')\n";
    static char python[] = "python3", dash_c[] = "-c", input[] = "{input}",
                runs[] = "{runs}";
    char *command[] = {python, dash_c, code, input, runs, NULL};
    assay_external_options o = {
        .input = {"a", "b"}, .command = command, .runs = 200000, .timeout = 30};
    assay_store *store = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    double start = now();
    if (assay_external_run(&store, &o, &err) != ASSAY_OK) {
        (void)printf("python over the pipe: %s\n", err.message);
        return;
    }
    (void)printf("%-24s %8.2f million runs/s\n", "Python over the pipe",
                 2.0 * (double)assay_store_runs(store) / (now() - start) / 1e6);
    assay_store_free(store);
}

int main(void)
{
    bench_specimen("Laplace", 20000);
    bench_specimen("Gauss-mu", 10000);
    bench_specimen("NoisyHist1", 5000);
    bench_specimen("LaplaceParallel", 2000);
    bench_specimen("SVT1", 500);
    bench_specimen("Own-discrete-Laplace", 2000);
    bench_pipe();
    return 0;
}
