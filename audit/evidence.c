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

static void try_lambda(assay_evidence *e, size_t f, double x, double *best,
                       double *value)
{
    double old = e->lambda[f];
    e->lambda[f] = x;
    double here = evidence(e);
    e->lambda[f] = old;
    if (here > *value) {
        *value = here;
        *best = x;
    }
}

/* The best precision of one family, the others as they are: every other power
 * of ten, then the neighbours of the best. */
static double best_lambda(assay_evidence *e, size_t f, double *value)
{
    double best = e->lambda[f];
    *value = -INFINITY;
    for (double x = LEAST; x <= ASSAY_EVIDENCE_OFF; x *= 100) {
        try_lambda(e, f, x, &best, value);
    }
    double middle = best;
    for (double x = middle / 10; x <= middle * 10; x *= 100) {
        if (x >= LEAST && x <= ASSAY_EVIDENCE_OFF) {
            try_lambda(e, f, x, &best, value);
        }
    }
    return best;
}

#define MOST_STEPS 16
/* Of log evidence that is worth a step. A family more is soon believed by luck,
 * and tails that are luck spoil the rarest rows, which matter most. */
#define GAIN 3.0

/* What a family gained when it was last looked at. It gains less once others
 * have spoken, hardly ever more: only the first of the list is looked at
 * again. */
typedef struct offer {
    double gain, lambda;
    int step; /* when */
} offer;

static size_t best_offer(const offer *list)
{
    size_t at = 0;
    for (size_t f = 1; f < ASSAY_FAMILIES; f++) {
        at = list[f].gain > list[at].gain ? f : at;
    }
    return at;
}

/* Family after family, the one that gains most; those in `out` are left
 * alone. */
static double climb(assay_evidence *e, uint32_t out)
{
    offer list[ASSAY_FAMILIES];
    double now = evidence(e), value;
    for (size_t f = 0; f < ASSAY_FAMILIES; f++) {
        list[f] = (offer){-1, 0, -1};
    }
    for (size_t k = 0; k < e->num; k++) {
        size_t f = e->family[k];
        list[f].gain = f == 0 || (out >> f & 1) != 0 ? -1 : INFINITY;
    }
    for (int step = 0; step < MOST_STEPS;) {
        size_t f = best_offer(list);
        if (list[f].gain < GAIN) {
            return now;
        }
        if (list[f].step == step) {
            e->lambda[f] = list[f].lambda;
            now += list[f].gain;
            list[f].gain = 0;
            step++;
            continue;
        }
        list[f].lambda = best_lambda(e, f, &value);
        list[f].gain = value - now;
        list[f].step = step;
    }
    return now;
}

/* A rich family that comes first may say, badly, what a poorer one would have
 * said better: the climb is tried with the rich ones last, too. */
void assay_evidence_tune(assay_evidence *e)
{
    double start[ASSAY_FAMILIES], first[ASSAY_FAMILIES];
    memcpy(start, e->lambda, sizeof start);
    double value = climb(e, 0);
    int spoke = 0;
    for (size_t f = 0; f < ASSAY_FAMILIES; f++) {
        spoke |= (e->rich >> f & 1) != 0 && e->lambda[f] < start[f];
    }
    if (!spoke) {
        return;
    }
    memcpy(first, e->lambda, sizeof first);
    memcpy(e->lambda, start, sizeof start);
    (void)climb(e, e->rich);
    if (!(climb(e, 0) > value)) {
        memcpy(e->lambda, first, sizeof first);
    }
}
