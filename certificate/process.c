/* ring: glue */
#include "certificate/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "certificate/text.h"

/* The input goes through an unlinked file: no deadlock between two pipes. */
static int input_file(const char *input)
{
    if (input == NULL) {
        return open("/dev/null", O_RDONLY);
    }
    FILE *file = tmpfile();
    if (file == NULL) {
        return -1;
    }
    size_t len = strlen(input);
    int fd = -1;
    if (fwrite(input, 1, len, file) == len && fflush(file) == 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        fd = dup(fileno(file));
    }
    (void)fclose(file);
    return fd;
}

static void become(char *const *argv, int in, int out)
{
    if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0) {
        (void)lseek(0, 0, SEEK_SET);
        (void)execvp(argv[0], argv);
    }
    _exit(127);
}

static int drain(assay_text *text, int fd)
{
    char buffer[4096];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n > 0) {
            assay_text_add_bytes(text, buffer, (size_t)n);
        } else if (n == 0) {
            return !text->failed;
        } else if (errno != EINTR) {
            return 0;
        }
    }
}

static int await(pid_t child)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0) {
        if (errno != EINTR) {
            return 126;
        }
    }
    return WIFEXITED(state) ? WEXITSTATUS(state) : 126;
}

assay_status assay_process_run(char **out, int *code, char *const *argv,
                               const char *input, assay_error *err)
{
    int ends[2] = {-1, -1};
    assay_text text = ASSAY_TEXT_INIT;
    int in = input_file(input);
    if (in < 0 || pipe(ends) != 0) {
        if (in >= 0) {
            (void)close(in);
        }
        return assay_fail(err, ASSAY_IO, "cannot run '%s'", argv[0]);
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        become(argv, in, ends[1]);
    }
    (void)close(in);
    (void)close(ends[1]);
    int ok = child > 0 && drain(&text, ends[0]);
    (void)close(ends[0]);
    if (child > 0) {
        *code = await(child);
    }
    if (!ok) {
        assay_text_clear(&text);
        return assay_fail(err, ASSAY_IO, "cannot run '%s'", argv[0]);
    }
    assay_text_add(&text, "");
    *out = text.bytes;
    return ASSAY_OK;
}
