/* ring: glue */
/*
 * assay-mpi: `assay audit` over the ranks of OpenMPI. A program of its own, so
 * that the plain tool needs no MPI.   mpirun -n 4 assay-mpi audit ...
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/divide.h"
#include "audit/ranks.h"
#include "cli/commands.h"

#define CHUNK ((size_t)1 << 28) /* MPI counts in int */
enum { TAG_LENGTH = 1, TAG_GO, TAG_BYTES };

static int sum(uint64_t *x, size_t n)
{
    return MPI_Allreduce(MPI_IN_PLACE, x, (int)n, MPI_UINT64_T, MPI_SUM,
                         MPI_COMM_WORLD) == MPI_SUCCESS
               ? 0
               : -1;
}

/* Waits without taking the processor: MPI_Wait would spin while the other
 * ranks' programs run. */
static int settle(MPI_Request *request)
{
    const struct timespec pause = {0, 2000000};
    for (;;) {
        int done = 0;
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return -1;
        }
        if (done) {
            return 0;
        }
        (void)nanosleep(&pause, NULL);
    }
}

/* The length, then, when rank 0 is ready for it, the bytes. */
static int send(const void *bytes, size_t len)
{
    uint64_t length = len;
    char go;
    MPI_Request r;
    if (MPI_Isend(&length, 1, MPI_UINT64_T, 0, TAG_LENGTH, MPI_COMM_WORLD,
                  &r) != MPI_SUCCESS ||
        settle(&r) != 0 ||
        MPI_Irecv(&go, 1, MPI_CHAR, 0, TAG_GO, MPI_COMM_WORLD, &r) !=
            MPI_SUCCESS ||
        settle(&r) != 0) {
        return -1;
    }
    for (size_t at = 0; at < len; at += CHUNK) {
        size_t n = len - at < CHUNK ? len - at : CHUNK;
        if (MPI_Send((const char *)bytes + at, (int)n, MPI_CHAR, 0, TAG_BYTES,
                     MPI_COMM_WORLD) != MPI_SUCCESS) {
            return -1;
        }
    }
    return 0;
}

static int receive(int rank, char **bytes, size_t *len)
{
    uint64_t length = 0;
    char go = 1;
    MPI_Request r;
    *bytes = NULL;
    if (MPI_Irecv(&length, 1, MPI_UINT64_T, rank, TAG_LENGTH, MPI_COMM_WORLD,
                  &r) != MPI_SUCCESS ||
        settle(&r) != 0) {
        return -1;
    }
    *len = (size_t)length;
    *bytes = malloc(*len + 1);
    if (*bytes == NULL) { /* the sender would wait for ever */
        (void)fputs("assay-mpi: out of memory\n", stderr);
        (void)MPI_Abort(MPI_COMM_WORLD, 1);
        return -1;
    }
    if (MPI_Send(&go, 1, MPI_CHAR, rank, TAG_GO, MPI_COMM_WORLD) !=
        MPI_SUCCESS) {
        return -1;
    }
    for (size_t at = 0; at < *len; at += CHUNK) {
        size_t n = *len - at < CHUNK ? *len - at : CHUNK;
        if (MPI_Recv(*bytes + at, (int)n, MPI_CHAR, rank, TAG_BYTES,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return -1;
        }
    }
    return 0;
}

/* Only rank 0 speaks; programs keep the standard error. */
static int hush(void)
{
    assay_post_here.error_fd = fcntl(2, F_DUPFD_CLOEXEC, 3);
    return freopen("/dev/null", "w", stdout) != NULL &&
                   freopen("/dev/null", "w", stderr) != NULL
               ? 0
               : -1;
}

static void take_place(void)
{
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &assay_ranks_here.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &assay_ranks_here.size);
    assay_ranks_here.sum = sum;
    assay_post_here.send = send;
    assay_post_here.receive = receive;
    (void)gethostname(assay_post_here.host, sizeof assay_post_here.host - 1);
    if (assay_ranks_here.rank > 0 && hush() != 0) {
        (void)MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static int audit(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "audit") == 0) {
        argc--;
        argv++;
    }
    if (argc > 1) {
        return assay_cli_audit(argc, argv);
    }
    (void)fputs("usage: mpirun -n N assay-mpi audit ...; the options are those "
                "of `assay audit`\n",
                stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        (void)fputs("assay-mpi: cannot start MPI\n", stderr);
        return 1;
    }
    take_place();
    int code = audit(argc, argv);
    MPI_Request r;
    (void)fflush(NULL); /* mpirun ends the others when one returns not 0 */
    if (MPI_Ibarrier(MPI_COMM_WORLD, &r) != MPI_SUCCESS || settle(&r) != 0) {
        (void)MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int first = assay_ranks_here.rank == 0;
    (void)MPI_Finalize();
    return first ? code : 0;
}
