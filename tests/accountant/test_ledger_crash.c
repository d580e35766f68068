/* ring: glue */
/* The ledger under kill -9 and under eight processes at once. Temporary files
   honour TMPDIR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "accountant/guarantee.h"
#include "accountant/ledger.h"
#include "core/rational.h"

#define NUM_WORKERS 8
#define NUM_KILLS 200

static char path[256];

static void create(const char *rho)
{
    static int number;
    assay_budget budget;
    assay_error err = ASSAY_ERROR_INIT;
    const char *folder = getenv("TMPDIR");
    (void)snprintf(path, sizeof path, "%s/assay-crash-%d-%d.db",
                   folder != NULL ? folder : "/tmp", (int)getpid(), number++);
    (void)unlink(path);
    assay_budget_init(&budget);
    budget.has_rho = 1;
    assert_int_equal(assay_rational_parse(budget.rho, rho, "rho", &err),
                     ASSAY_OK);
    assert_int_equal(assay_ledger_create(path, &budget, NULL, &err), ASSAY_OK);
    assay_budget_clear(&budget);
}

static void remove_files(void)
{
    char journal[280];
    (void)snprintf(journal, sizeof journal, "%s-journal", path);
    (void)unlink(journal);
    (void)unlink(path);
}

/* Charges 1/1000 at a time until the budget is gone; a byte to `pipe` after
   each success. Returns what ended it. */
static assay_status charge_on(int pipe_end)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_ledger *ledger = NULL;
    assay_event event;
    assay_status status = assay_ledger_open(&ledger, path, &err);
    assay_event_init(&event, ASSAY_ZCDP);
    mpq_set_ui(event.rho, 1, 1000);
    while (status == ASSAY_OK) {
        status = assay_ledger_charge(ledger, &event, "crash", &err);
        if (status == ASSAY_OK && pipe_end >= 0 &&
            write(pipe_end, "x", 1) != 1) {
            break;
        }
    }
    assay_event_clear(&event);
    assay_ledger_close(ledger);
    return status;
}

static size_t drain(int end)
{
    char bytes[4096];
    size_t total = 0;
    ssize_t got = 0;
    while ((got = read(end, bytes, sizeof bytes)) > 0) {
        total += (size_t)got;
    }
    return total;
}

static uint64_t verified_rows(void)
{
    assay_error err = ASSAY_ERROR_INIT;
    assay_ledger *ledger = NULL;
    uint64_t rows = 0;
    assert_int_equal(assay_ledger_open(&ledger, path, &err), ASSAY_OK);
    if (assay_ledger_verify(ledger, &rows, &err) != ASSAY_OK) {
        fail_msg("%s", err.message);
    }
    assay_ledger_close(ledger);
    return rows;
}

static void a_killed_process_never_loses_a_charge(void **state)
{
    (void)state;
    uint64_t acknowledged = 0;
    uint64_t before = 0;
    create("1000");
    srandom(7);
    for (int i = 0; i < 100; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            (void)close(ends[0]);
            (void)charge_on(ends[1]);
            _exit(0);
        }
        (void)close(ends[1]);
        struct timespec pause = {0, 1000000 + random() % 60000000};
        (void)nanosleep(&pause, NULL);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        acknowledged = drain(ends[0]);
        (void)close(ends[0]);
        uint64_t now = verified_rows();
        /* every acknowledged charge is there, and at most one more */
        assert_in_range(now - before, acknowledged, acknowledged + 1);
        before = now;
    }
    print_message("%llu charges in 100 killed processes\n",
                  (unsigned long long)before);
    remove_files();
}

static void eight_processes_never_pass_the_budget(void **state)
{
    (void)state;
    pid_t children[8];
    create("1/4"); /* 250 charges */
    for (int i = 0; i < 8; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            _exit(charge_on(-1) == ASSAY_BUDGET ? 0 : 1);
        }
    }
    for (int i = 0; i < 8; i++) {
        int code = 0;
        assert_int_equal(waitpid(children[i], &code, 0), children[i]);
        assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    }
    assert_int_equal(verified_rows(), 250);
    remove_files();
}

typedef struct worker {
    pid_t pid;
    int end; /* of the pipe that gets a byte per charge */
} worker;

static worker start_worker(void)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    worker w = {fork(), ends[0]};
    assert_true(w.pid >= 0);
    if (w.pid == 0) {
        (void)close(ends[0]);
        _exit(charge_on(ends[1]) == ASSAY_BUDGET ? 0 : 1);
    }
    (void)close(ends[1]);
    return w;
}

/* The charges that a dead process was told of. */
static size_t bury(worker *w, int *ended)
{
    int code = 0;
    assert_int_equal(waitpid(w->pid, &code, 0), w->pid);
    *ended = WIFEXITED(code);
    assert_true(!*ended || WEXITSTATUS(code) == 0);
    size_t charges = drain(w->end);
    (void)close(w->end);
    return charges;
}

/* All eight at once, killed within microseconds of each other while they
   charge; a round's charges are acknowledged or at most one per process more,
   and the budget of 60 charges is never passed. */
static uint64_t kill_eight(uint64_t before)
{
    worker workers[NUM_WORKERS];
    struct timespec pause = {0, 1000000 + random() % 60000000};
    uint64_t told = 0;
    uint64_t cut = 0;
    for (int i = 0; i < NUM_WORKERS; i++) {
        workers[i] = start_worker();
    }
    (void)nanosleep(&pause, NULL);
    for (int i = 0; i < NUM_WORKERS; i++) {
        assert_int_equal(kill(workers[i].pid, SIGKILL), 0);
    }
    for (int i = 0; i < NUM_WORKERS; i++) {
        int ended = 0;
        told += bury(&workers[i], &ended);
        cut += !ended;
    }
    uint64_t now = verified_rows();
    assert_in_range(now, before + told, 60);
    assert_true(now <= before + told + cut);
    return now;
}

static void two_hundred_kills_of_eight_processes(void **state)
{
    (void)state;
    uint64_t rows = 0;
    uint64_t charges = 0;
    create("6/100");
    for (int round = 0; round < NUM_KILLS / NUM_WORKERS; round++) {
        uint64_t now = kill_eight(rows);
        charges += now - rows;
        rows = now;
        if (rows == 60) {
            assert_int_equal(charge_on(-1), ASSAY_BUDGET);
            remove_files();
            create("6/100");
            rows = 0;
        }
    }
    print_message("%llu charges in %d killed processes\n",
                  (unsigned long long)charges, NUM_KILLS);
    remove_files();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_never_loses_a_charge),
        cmocka_unit_test(eight_processes_never_pass_the_budget),
        cmocka_unit_test(two_hundred_kills_of_eight_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
