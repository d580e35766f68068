/* ring: glue */
/* Kills and broken disks: the ledger verifies every time, never holds fewer
 * charges than answers, and a release that failed wrote nothing. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "mechanisms/release.h"
#include "tests/support/custodian.h"

enum { RANDOM_KILLS = 100, DRAW_KILLS = 200 };

static void one_release(assay_custodian *custodian, assay_status *status,
                        int64_t *out, assay_error *err)
{
    mpq_t scale;
    mpq_t one;
    mpq_init(scale);
    mpq_init(one);
    mpq_set_ui(scale, 1000, 1);
    mpq_set_ui(one, 1, 1);
    *status = assay_release_laplace(custodian, out, 42, scale, one, "c", err);
    mpq_clear(scale);
    mpq_clear(one);
}

/* The child releases until it is killed and writes a byte per answer. */
static void release_forever(const char *path, int answers)
{
    assay_custodian custodian;
    assay_error err = ASSAY_ERROR_INIT;
    if (assay_custodian_init(&custodian, path, &err) != ASSAY_OK) {
        _exit(3);
    }
    for (;;) {
        assay_status status = ASSAY_OK;
        int64_t out = 0;
        one_release(&custodian, &status, &out, &err);
        if (status != ASSAY_OK || write(answers, "x", 1) != 1) {
            _exit(4);
        }
    }
}

static uint64_t drain(int fd)
{
    char bytes[4096];
    uint64_t n = 0;
    ssize_t got = 0;
    while ((got = read(fd, bytes, sizeof bytes)) > 0) {
        n += (uint64_t)got;
    }
    return n;
}

/* Every other child is let alone until its first answer. */
static uint64_t kill_one(const char *path, long microseconds, int wait_first)
{
    int ends[2];
    char first = 0;
    uint64_t answers = 0;
    struct timespec t = {0, microseconds * 1000};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        release_forever(path, ends[1]);
    }
    (void)close(ends[1]);
    if (wait_first) {
        assert_int_equal(read(ends[0], &first, 1), 1);
        answers = 1;
    }
    (void)nanosleep(&t, NULL);
    assert_int_equal(kill(child, SIGKILL), 0);
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    answers += drain(ends[0]);
    (void)close(ends[0]);
    return answers;
}

static void killed_processes_lose_at_most_the_release(void **state)
{
    test_vault v;
    uint64_t answers = 0;
    (void)state;
    test_vault_open(&v, "100000", "0", NULL, 0);
    srand(11);
    for (uint64_t i = 0; i < RANDOM_KILLS; i++) {
        answers += kill_one(v.path, rand() % 8000, i % 2 == 0);
        uint64_t rows = test_vault_rows(&v);
        if (rows < answers || rows > answers + i + 1) {
            fail_msg("%llu charges, %llu answers after %llu kills",
                     (unsigned long long)rows, (unsigned long long)answers,
                     (unsigned long long)(i + 1));
        }
    }
    assert_true(answers > 0);
    test_vault_close(&v);
}

/* The recorded tape lies in memory that cannot be read: the process dies at the
 * first draw, after the charge and before the write. */
static void die_at_the_draw(const char *path, int64_t *shared)
{
    assay_custodian custodian;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status = ASSAY_OK;
    struct rlimit none = {0, 0};
    void *page =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(SIGSEGV, SIG_DFL);
    if (page == MAP_FAILED ||
        assay_custodian_init_unsafe_recorded(&custodian, path, page, 512,
                                             &err) != ASSAY_OK) {
        _exit(3);
    }
    one_release(&custodian, &status, shared, &err);
    _exit(5);
}

static void a_crash_between_charge_and_write_keeps_the_charge(void **state)
{
    test_vault v;
    (void)state;
    int64_t *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    *shared = -7;
    test_vault_open(&v, "100000", "0", NULL, 0);
    for (uint64_t i = 0; i < DRAW_KILLS; i++) {
        int how = 0;
        pid_t child = fork();
        if (child == 0) {
            die_at_the_draw(v.path, shared);
        }
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_false(WIFEXITED(how) && WEXITSTATUS(how) == 5);
        assert_false(WIFEXITED(how) && WEXITSTATUS(how) == 3);
        assert_int_equal(test_vault_rows(&v), i + 1);
        assert_int_equal(*shared, -7);
    }
    test_vault_close(&v);
    (void)munmap(shared, 4096);
}

/* Run in a child: 0 if the release failed closed. */
static int fails_closed(const char *path)
{
    assay_custodian custodian;
    assay_error err = ASSAY_ERROR_INIT;
    assay_status status = assay_custodian_init(&custodian, path, &err);
    int64_t out = -7;
    if (status == ASSAY_OK) {
        uint64_t before = custodian.tape.position;
        one_release(&custodian, &status, &out, &err);
        if (custodian.tape.position != before) {
            return 6;
        }
        assay_custodian_clear(&custodian);
    }
    if (status == ASSAY_OK) {
        return 7;
    }
    return out == -7 && err.message[0] != 0 ? 0 : 8;
}

static void expect_closed(test_vault *v, void (*prepare)(const char *))
{
    int how = 0;
    pid_t child = fork();
    if (child == 0) {
        prepare(v->path);
        _exit(fails_closed(v->path));
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    assert_int_equal(test_vault_rows(v), 0);
}

/* No file of the process can grow beyond what the ledger has now. */
static void fill_the_disk(const char *path)
{
    struct stat s;
    struct rlimit limit;
    (void)signal(SIGXFSZ, SIG_IGN);
    if (stat(path, &s) != 0) {
        _exit(3);
    }
    limit.rlim_cur = limit.rlim_max = 100;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) {
        _exit(3);
    }
}

static void full_disks_release_nothing(void **state)
{
    test_vault v;
    (void)state;
    test_vault_open(&v, "100", "0", NULL, 0);
    expect_closed(&v, fill_the_disk);
    test_vault_close(&v);
}

static void become_nobody(const char *path)
{
    (void)path;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) {
        _exit(3);
    }
}

static void read_only_ledgers_release_nothing(void **state)
{
    test_vault v;
    (void)state;
    test_vault_open(&v, "100", "0", NULL, 0);
    assert_int_equal(chmod(v.path, 0444), 0);
    assert_int_equal(chmod(v.directory, 0555), 0);
    expect_closed(&v, become_nobody);
    assert_int_equal(chmod(v.directory, 0755), 0);
    assert_int_equal(chmod(v.path, 0644), 0);
    test_vault_close(&v);
}

enum { THREADS = 4, EACH = 25 };

static void *release_in_a_thread(void *at)
{
    static const uint64_t refused = 1000;
    assay_custodian custodian;
    assay_error err = ASSAY_ERROR_INIT;
    uintptr_t done = 0;
    if (assay_custodian_init(&custodian, at, &err) != ASSAY_OK) {
        return (void *)(uintptr_t)refused;
    }
    for (int i = 0; i < EACH; i++) {
        assay_status status = ASSAY_OK;
        int64_t out = 0;
        one_release(&custodian, &status, &out, &err);
        if (status != ASSAY_OK && status != ASSAY_BUDGET) {
            done = refused;
            break;
        }
        done += status == ASSAY_OK;
    }
    assay_custodian_clear(&custodian);
    return (void *)done;
}

/* One custodian per thread on a shared ledger whose budget is 60 releases: 60
 * of the 100 go through, whichever. */
static void threads_share_a_budget(void **state)
{
    test_vault v;
    pthread_t thread[THREADS];
    uintptr_t done = 0;
    (void)state;
    test_vault_open(&v, "60/1000", "0", NULL, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(
            pthread_create(&thread[i], NULL, release_in_a_thread, v.path), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(thread[i], &result), 0);
        done += (uintptr_t)result;
    }
    assert_int_equal(done, 60);
    assert_int_equal(test_vault_rows(&v), 60);
    test_vault_close(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_a_budget),
        cmocka_unit_test(killed_processes_lose_at_most_the_release),
        cmocka_unit_test(a_crash_between_charge_and_write_keeps_the_charge),
        cmocka_unit_test(full_disks_release_nothing),
        cmocka_unit_test(read_only_ledgers_release_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
