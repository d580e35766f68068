/* ring: glue */
/**
 * The runs of a program or library divided among the ranks of MPI. Rank r of
 * size does runs [N r / size, N (r+1) / size); all lines go to rank 0 in the
 * order of the ranks, which analyses them as one process does. So for a target
 * whose run k is the same whoever does it ({first} in the command,
 * assay_target_seek in a library) the result is that of one process, and for a
 * random one it has the same law.
 *
 * What goes wrong on a rank is noted with its number and host. A target that
 * gives two ranks the same runs (a fixed seed) is refused: its rows would be
 * counted twice.
 */
#ifndef ASSAY_AUDIT_DIVIDE_H
#define ASSAY_AUDIT_DIVIDE_H

#include "audit/external.h"

/** The post between ranks, set by assay-mpi. */
typedef struct assay_post {
    char host[64];
    int error_fd; /* > 0: standard error for programs */
    /* to rank 0, and from a rank into fresh memory; 0 is success */
    int (*send)(const void *bytes, size_t len);
    int (*receive)(int rank, char **bytes, size_t *len);
} assay_post;

extern assay_post assay_post_here;

/**
 * The program's outputs. On rank 0 *out has the rows of all ranks, and from
 * then on this process is alone (assay_ranks_here.size is 1); on the others
 * *out is NULL and their part is done.
 *
 * Errors  on rank 0: ASSAY_INVALID if a rank cannot run the program or two
 *         ranks gave the same runs, ASSAY_IO if a rank was lost.
 */
assay_status assay_divide_program(assay_store **out,
                                  const assay_external_options *options,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** The same for a shared library. */
assay_status assay_divide_library(assay_store **out, const char *path,
                                  const assay_external_options *options,
                                  assay_error *err) ASSAY_MUST_CHECK;

#endif
