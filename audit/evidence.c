/* ring: glue */
#include "audit/evidence.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

#define LEAST 1e-1

/* Factor H + Lambda into work; 0 on failure. (The lower triangle by rows is
 * the upper one by columns, which needs no transposition.) */
static int factor(const assay_evidence *e)
{
    size_t n = e->num;
    memcpy(e->work, e->hess, n * n * sizeof *e->work);
    for (size_t k = 0; k < n; k++) {
        e->work[k * n + k] += e->lambda[e->family[k]];
    }
    return LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'U', (lapack_int)n, e->work,
                          (lapack_int)n) == 0;
}

int assay_evidence_solve(const assay_evidence *e, double *out)
{
    size_t n = e->num;
    if (!factor(e)) {
        return 0;
    }
    memcpy(out, e->grad, n * sizeof *out);
    return LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'U', (lapack_int)n, 1, e->work,
                          (lapack_int)n, out, (lapack_int)n) == 0;
}

/* Log marginal likelihood, up to a constant. */
static double evidence(const assay_evidence *e)
{
    size_t n = e->num;
    double *b = e->work + n * n, value = 0;
    if (!assay_evidence_solve(e, b)) {
        return -INFINITY;
    }
    for (size_t k = 0; k < n; k++) {
        value += 0.5 * e->grad[k] * b[k] - log(e->work[k * n + k]) +
                 0.5 * log(e->lambda[e->family[k]]);
    }
    return value;
}

/* The best precision of one family, the others as they are. */
static double best_lambda(assay_evidence *e, size_t f, double *value)
{
    double old = e->lambda[f], best = old;
    *value = -INFINITY;
    for (double x = LEAST; x <= ASSAY_EVIDENCE_OFF; x *= 10) {
        e->lambda[f] = x;
        double here = evidence(e);
        if (here > *value) {
            *value = here;
            best = x;
        }
    }
    e->lambda[f] = old;
    return best;
}

#define MOST_STEPS 16

void assay_evidence_tune(assay_evidence *e)
{
    int present[ASSAY_FAMILIES] = {0};
    double now = evidence(e);
    for (size_t k = 0; k < e->num; k++) {
        present[e->family[k]] = 1;
    }
    for (int step = 0; step < MOST_STEPS; step++) {
        double most = now + 1, take = 0;
        size_t at = ASSAY_FAMILIES;
        for (size_t f = 1; f < ASSAY_FAMILIES; f++) {
            double value = 0;
            double x = present[f] ? best_lambda(e, f, &value) : 0;
            if (present[f] && value > most) {
                most = value;
                take = x;
                at = f;
            }
        }
        if (at == ASSAY_FAMILIES) {
            return;
        }
        e->lambda[at] = take;
        now = most;
    }
}
