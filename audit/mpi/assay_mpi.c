/* ring: glue */
/*
 * assay-mpi: `assay audit` over the ranks of OpenMPI. A program of its own, so
 * that the plain tool needs no MPI.   mpirun -n 4 assay-mpi catalogue ...
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "audit/ranks.h"
#include "cli/commands.h"

static int sum(uint64_t *x, size_t n)
{
    return MPI_Allreduce(MPI_IN_PLACE, x, (int)n, MPI_UINT64_T, MPI_SUM,
                         MPI_COMM_WORLD) == MPI_SUCCESS
               ? 0
               : -1;
}

int main(int argc, char **argv)
{
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        (void)fputs("assay-mpi: cannot start MPI\n", stderr);
        return 1;
    }
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &assay_ranks_here.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &assay_ranks_here.size);
    assay_ranks_here.sum = sum;
    if (assay_ranks_here.rank > 0 && freopen("/dev/null", "w", stdout) == NULL) {
        (void)MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int code = 2;
    if (argc > 1 && strcmp(argv[1], "catalogue") == 0) {
        code = assay_cli_audit(argc, argv);
    } else if (assay_ranks_here.rank == 0) {
        (void)fputs("usage: mpirun -n N assay-mpi catalogue [OPTIONS]\n"
                    "(programs and libraries are not divided among ranks: "
                    "use assay audit)\n",
                    stderr);
    }
    (void)MPI_Finalize();
    return code;
}
