/* ring: glue */
/* Speed of the releases: CSV queries in MB/s on one core, charges, vectors,
 * tree counters. ASSAY_BENCH_ROWS sets the rows of the CSV (10^6). Prints a
 * table; never fails on time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mechanisms/query.h"
#include "mechanisms/release.h"
#include "mechanisms/tree.h"
#include "tests/support/custodian.h"

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static long peak_kb(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

static void write_csv(const char *path, long rows)
{
    FILE *f = fopen(path, "w");
    uint32_t s = 1;
    if (f == NULL) {
        perror(path);
        exit(1);
    }
    (void)fprintf(f, "patient,age,ward,cost,note\n");
    for (long i = 0; i < rows; i++) {
        s = s * 1664525u + 1013904223u;
        uint32_t r = s >> 8;
        (void)fprintf(f, "p%06u,%u,%c,%u.%02u,seen at clinic\n", r % 500000,
                      r % 100, 'A' + (char)(r % 7), r % 1000, r % 97);
    }
    (void)fclose(f);
}

static void run_query(test_vault *v, const char *name, assay_query *query,
                      double megabytes)
{
    assay_answer answer;
    assay_error err = ASSAY_ERROR_INIT;
    double start = now();
    assay_status status = assay_query_run(&answer, &v->custodian, query, &err);
    double seconds = now() - start;
    if (status != ASSAY_OK) {
        (void)printf("%-28s failed: %s\n", name, err.message);
        return;
    }
    (void)printf("%-28s %8.2f s %8.0f MB/s   peak %ld kB\n", name, seconds,
                 megabytes / seconds, peak_kb());
    assay_answer_clear(&answer);
}

static void bench_csv(test_vault *v, long rows)
{
    char path[128];
    struct stat s;
    assay_query query;
    (void)snprintf(path, sizeof path, "%s/rows.csv", v->directory);
    write_csv(path, rows);
    if (stat(path, &s) != 0) {
        return;
    }
    double megabytes = (double)s.st_size / 1e6;
    (void)printf("CSV of %ld rows, %.0f MB\n", rows, megabytes);
    assay_query_init(&query);
    query.path = path;
    mpq_set_ui(query.epsilon, 1, 1);
    run_query(v, "count", &query, megabytes);
    query.kind = ASSAY_QUERY_SUM;
    query.column = "cost";
    query.has_bounds = 1;
    mpq_set_ui(query.hi, 1000, 1);
    run_query(v, "sum", &query, megabytes);
    query.kind = ASSAY_QUERY_HISTOGRAM;
    query.bins = 20;
    run_query(v, "histogram, 20 bins", &query, megabytes);
    query.kind = ASSAY_QUERY_QUANTILE;
    run_query(v, "quantile", &query, megabytes);
    query.kind = ASSAY_QUERY_COUNT;
    query.person = "patient";
    run_query(v, "count of persons (500,000)", &query, megabytes);
    query.kind = ASSAY_QUERY_SUM;
    run_query(v, "sum, by person", &query, megabytes);
    query.kind = ASSAY_QUERY_HISTOGRAM;
    run_query(v, "histogram, by person", &query, megabytes);
    assay_query_clear(&query);
    (void)unlink(path);
}

static void bench_releases(test_vault *v)
{
    enum { CELLS = 1000000, CHARGES = 200, STEPS = 20000 };
    static int64_t values[CELLS];
    mpq_t scale;
    mpq_t one;
    assay_tree *tree = NULL;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status = ASSAY_OK;
    mpq_init(scale);
    mpq_init(one);
    mpq_set_ui(scale, 100, 1);
    mpq_set_ui(one, 1, 1);
    double start = now();
    status = assay_release_laplace_vector(&v->custodian, values, values, CELLS,
                                          scale, one, "v", &err);
    (void)printf("Laplace vector               %8.1f million values/s (%s)\n",
                 1e-6 * CELLS / (now() - start), assay_status_name(status));
    start = now();
    for (int i = 0; i < CHARGES && status == ASSAY_OK; i++) {
        status = assay_release_laplace(&v->custodian, values, 1, scale, one,
                                       "s", &err);
    }
    (void)printf("single releases              %8.0f /s of CPU time, one "
                 "durable charge each (%s)\n",
                 CHARGES / (now() - start), assay_status_name(status));
    status = assay_tree_new_laplace(&tree, &v->custodian, 100, STEPS, scale,
                                    one, "t", &err);
    start = now();
    for (int i = 0; i < STEPS && status == ASSAY_OK; i++) {
        status = assay_tree_add(tree, values, values + 100, &err);
    }
    (void)printf("tree counter, 100 cells      %8.0f steps/s (%s)\n",
                 STEPS / (now() - start), assay_status_name(status));
    assay_tree_free(tree);
    mpq_clear(scale);
    mpq_clear(one);
}

int main(void)
{
    const char *text = getenv("ASSAY_BENCH_ROWS");
    long rows = text != NULL ? strtol(text, NULL, 10) : 1000000;
    test_vault v;
    test_vault_open(&v, "1000000", "0", NULL, 0);
    bench_releases(&v);
    bench_csv(&v, rows < 1 ? 1 : rows);
    test_vault_close(&v);
    return 0;
}
