/* ring: glue */
/**
 * Programs as targets. The command is run once for each input with {input}
 * replaced by the path, {runs} by the number of runs and {first} by the number
 * of runs that other processes do before these (0 unless the runs are divided,
 * audit/divide.h); it writes one output per line.
 * Timeouts, crashes, short output, endless output and garbage are
 * noted, never fatal, and no process outlives the audit: each runs in its own
 * process group, which is killed as a whole.
 */
#ifndef ASSAY_AUDIT_EXTERNAL_H
#define ASSAY_AUDIT_EXTERNAL_H

#include <stdio.h>

#include "audit/rows.h"

/** What was collected: rows of both sides in memory. */
typedef struct assay_store assay_store;

typedef struct assay_external_options {
    const char *input[2];
    char *const *command; /* NULL-terminated, with {input} and {runs} */
    uint64_t runs;        /* of each input */
    double timeout;       /* seconds without a new line, and per side in all
                             ten times that plus one per 1000 runs */
    int timing;           /* add the elapsed time of a run as a last column
                             (worker mode only): one worker then serves both
                             inputs in turn, in an order by lot */
    int worker;           /* length-prefixed requests on stdin/stdout */
    const char *keep;     /* directory for the raw outputs, or NULL */
    uint64_t first;       /* runs before these */
    FILE *capture[2];     /* lines of a side go there, not into the store */
    int error_fd;         /* > 0: the programs' standard error */
} assay_external_options;

/** Run both sides. Fails only if nothing usable came from one of them. */
assay_status assay_external_run(assay_store **out,
                                const assay_external_options *options,
                                assay_error *err) ASSAY_MUST_CHECK;

/** Read what --keep wrote. */
assay_status assay_external_load(assay_store **out, const char *directory,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** Whole lines of text as rows of a side; also written to `keep` if given. */
assay_status assay_external_text(assay_store *store, int side, const char *text,
                                 size_t len, FILE *keep,
                                 assay_error *err) ASSAY_MUST_CHECK;

/** Opens DIRECTORY/left.txt or right.txt for writing; NULL if `directory` is
 *  NULL, or on an error (*status). */
FILE *assay_external_keep(const char *directory, int side, assay_status *status,
                          assay_error *err);

/** Rows available on both sides; a source over them; notes, one a line. */
uint64_t assay_store_runs(const assay_store *store);
assay_source assay_store_source(assay_store *store);
const char *assay_store_notes(const assay_store *store);
void assay_store_free(assay_store *store);

/** One line of text as a row of a side: numbers or words between blanks. For
 *  tests and for loading. */
assay_status assay_store_line(assay_store *store, int side, const char *line,
                              size_t len, assay_error *err) ASSAY_MUST_CHECK;
assay_store *assay_store_new(void);
void assay_store_note(assay_store *store, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * A shared library as target, two functions:
 *   int assay_target_width(void);
 *   int assay_target_run(const char *input, unsigned long long runs,
 *                        double *out);   rows of width numbers; 0 is success
 * and, if it is there, before each run the number of its first row:
 *   void assay_target_seek(unsigned long long first);
 * It runs in a child process: a crash, a hang of `timeout` seconds and what it
 * prints or forks end with an error, not with the audit.
 */
typedef struct assay_plugin assay_plugin;
assay_status assay_plugin_open(assay_plugin **out, const char *path,
                               const char *left, const char *right,
                               double timeout,
                               assay_error *err) ASSAY_MUST_CHECK;
assay_source assay_plugin_source(assay_plugin *plugin);

/** Rows first .. first + n - 1 as lines of text that read back exactly. */
assay_status assay_plugin_write(assay_plugin *plugin, int side, uint64_t first,
                                uint64_t n, FILE *to,
                                assay_error *err) ASSAY_MUST_CHECK;
void assay_plugin_close(assay_plugin *plugin);

#endif
