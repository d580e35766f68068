/* Libraries that misbehave, for the audit's tests: the kind is the input's
 * name. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long long done, seed = 1;

int assay_target_width(void)
{
    return 1;
}

int assay_target_run(const char *input, unsigned long long runs, double *out)
{
    for (unsigned long long k = 0; k < runs; k++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        out[k] = (double)(seed >> 61);
    }
    done += runs;
    if (strncmp(input, "dies", 4) == 0 && done >= 9999) {
        raise(SIGSEGV);
    }
    if (strncmp(input, "exits", 5) == 0 && done >= 9999) {
        exit(3);
    }
    if (strncmp(input, "hangs", 5) == 0 && done >= 9999) {
        for (;;) {
            sleep(1);
        }
    }
    if (strncmp(input, "fails", 5) == 0 && done >= 9999) {
        return 7;
    }
    if (strncmp(input, "forks", 5) == 0 && done == runs && fork() == 0) {
        execl("/bin/sleep", input, "613", (char *)NULL);
        _exit(1);
    }
    if (strncmp(input, "prints", 6) == 0) {
        (void)printf("not an answer\n");
        (void)fprintf(stderr, "noise on stderr\n");
    }
    if (strncmp(input, "huge", 4) == 0) {
        out[0] = 1e308 * 10;
        out[runs - 1] = 0 * out[0];
    }
    return 0;
}
