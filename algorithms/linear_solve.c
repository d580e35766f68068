/* ring: glue */
#include "algorithms/linear_solve.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* inverse = U diag(1/max(e, floor)) U'; row k of `u` is eigenvector k. */
static void rebuild(double *inverse, const double *u, const double *e, size_t d,
                    double floor)
{
    memset(inverse, 0, d * d * sizeof *inverse);
    for (size_t k = 0; k < d; k++) {
        double scale = 1.0 / fmax(e[k], floor);
        for (size_t i = 0; i < d; i++) {
            double left = scale * u[k * d + i];
            for (size_t j = 0; j < d; j++) {
                inverse[i * d + j] += left * u[k * d + j];
            }
        }
    }
}

assay_status assay_floor_inverse(double *inverse, const double *matrix,
                                 size_t d, double floor, assay_error *err)
{
    double *work = malloc((d * d + d) * sizeof *work);
    lapack_int info;
    if (work == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a matrix");
    }
    memcpy(work, matrix, d * d * sizeof *work);
    /* the matrix is symmetric: column-major gives eigenvectors as rows */
    info = LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', (lapack_int)d, work,
                         (lapack_int)d, work + d * d);
    if (info == 0) {
        rebuild(inverse, work, work + d * d, d, floor);
    }
    free(work);
    return info == 0 ? ASSAY_OK
                     : assay_fail(err, ASSAY_RANGE,
                                  "the eigenvalues did not converge");
}

assay_status assay_solve(double *x, const double *matrix, const double *b,
                         size_t d, assay_error *err)
{
    double *work = malloc(d * d * sizeof *work);
    lapack_int *pivot = malloc(d * sizeof *pivot);
    lapack_int info = -1;
    if (work != NULL && pivot != NULL) {
        memcpy(work, matrix, d * d * sizeof *work);
        memcpy(x, b, d * sizeof *x);
        info = LAPACKE_dgesv(LAPACK_ROW_MAJOR, (lapack_int)d, 1, work,
                             (lapack_int)d, pivot, x, 1);
    }
    free(work);
    free(pivot);
    if (info < 0) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a matrix");
    }
    return info == 0 ? ASSAY_OK
                     : assay_fail(err, ASSAY_RANGE, "the matrix is singular");
}

void assay_times(double *y, const double *matrix, const double *x, size_t d)
{
    for (size_t i = 0; i < d; i++) {
        y[i] = 0.0;
        for (size_t j = 0; j < d; j++) {
            y[i] += matrix[i * d + j] * x[j];
        }
    }
}

double assay_quadratic(const double *matrix, const double *x, size_t d)
{
    double sum = 0.0;
    for (size_t i = 0; i < d; i++) {
        double row = 0.0;
        for (size_t j = 0; j < d; j++) {
            row += matrix[i * d + j] * x[j];
        }
        sum += x[i] * row;
    }
    return sum;
}
