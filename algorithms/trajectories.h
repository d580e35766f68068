/* ring: glue */
/**
 * Trajectories from CSV files, streamed into counts.
 *
 * Format  a header line `user,h,s,a,r,s_next`, then one transition a line, in
 *         any order: `user` a whole number below 2^64 that names a person, h
 *         from 1 to H, s and s_next from 0 to S-1, a from 0 to A-1, r a finite
 *         decimal. CRLF is accepted, blank lines are not. Every user has every
 *         step once, and begins it where the step before ended (unless jumps
 *         are allowed; the guarantee does not need it).
 * Memory  the counts, and 20 bytes + H/8 bytes per user (H/8 rounded up; at
 *         most 8/3 of that, for room in the table); nothing grows with rows.
 * Threads a regular file is read in parts; the counts are sums of integers and
 *         do not depend on the number of threads. A bad file is read again by
 *         one thread, so the message is always that of the first bad line.
 * Errors  ASSAY_INVALID with file, line and reason; ASSAY_IO; ASSAY_MEMORY.
 *         They come before anything is charged or released.
 */
#ifndef ASSAY_ALGORITHMS_TRAJECTORIES_H
#define ASSAY_ALGORITHMS_TRAJECTORIES_H

#include "algorithms/counts.h"
#include "algorithms/roster.h"
#include "core/progress.h"

typedef struct assay_read_options {
    uint32_t num_threads; /* 0: one */
    uint64_t max_users;   /* 0: ASSAY_COUNTS_MAX_USERS */
    int allow_jumps;      /* s need not be the s_next of the step before */
    const assay_roster *others; /* nobody of these may be in the file */
    assay_roster **roster;      /* CSV: who was in it; the caller frees it */
    assay_progress *meter;      /* in bytes, or rows */
} assay_read_options;

/** Reads and counts a CSV file; `options`, and what it points to, may be
 *  NULL. */
assay_status assay_trajectories_read_csv(assay_counts **out, const char *path,
                                         const assay_shape *shape,
                                         const assay_read_options *options,
                                         assay_error *err) ASSAY_MUST_CHECK;

/**
 * Reads and counts an HDF5 file in the common offline layout: `observations`,
 * `actions`, `rewards`, `terminals`, each N or N x 1, optionally `timeouts` and
 * `next_observations`. A trajectory ends where terminals or timeouts is not
 * zero; each is one user and has exactly H steps, and next_observations, if
 * there, are the observations that follow. Nobody has a name in such a file:
 * `others` is refused. Without next_observations
 * the state after the last step is recorded as the last state: no value
 * depends on it. States and actions are whole numbers, of any number type.
 * "Line" in a message is the row, from 1. Memory does not grow with rows.
 */
assay_status assay_trajectories_read_hdf5(assay_counts **out, const char *path,
                                          const assay_shape *shape,
                                          assay_error *err) ASSAY_MUST_CHECK;

/** HDF5 for names that end in .h5 or .hdf5, else CSV. */
assay_status assay_trajectories_read(assay_counts **out, const char *path,
                                     const assay_shape *shape,
                                     const assay_read_options *options,
                                     assay_error *err) ASSAY_MUST_CHECK;

/** Writes simulated trajectories of a model under a policy [h][s][a]. */
assay_status assay_trajectories_write_csv(const char *path,
                                          const assay_mdp *mdp,
                                          const double *behaviour,
                                          uint64_t num_users, uint64_t seed,
                                          assay_error *err) ASSAY_MUST_CHECK;

#endif
