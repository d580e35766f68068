/* ring: glue */
#include "audit/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "audit/certify.h"
#include "audit/work.h"

/* ---- pairs ------------------------------------------------------------------------ */

typedef struct climb {
    const assay_specimen *specimen;
    uint64_t samples, target, seed, spent;
    assay_rng rng;
    assay_pair best;
    double merit;
} climb;

/* Screen one pair; keep it if it is the best so far. */
static assay_status try_pair(climb *c, const assay_pair *pair, double *merit,
                             assay_error *err)
{
    assay_specimen_run run = {c->specimen, *pair, c->seed + c->spent + 1};
    assay_source source = assay_specimen_source(&run);
    assay_status status = assay_audit_screen(
        merit, &source, &c->specimen->claim, c->samples, c->target, err);
    c->spent += c->samples;
    if (status == ASSAY_OK && *merit > c->merit) {
        c->merit = *merit;
        c->best = *pair;
    }
    return status;
}

static double within(double x, double size)
{
    return fmin(fmax(x, -size), size);
}

static double symmetric(climb *c, double size)
{
    return size * (2 * assay_rng_u01(&c->rng) - 1);
}

static void random_pair(climb *c, assay_pair *p)
{
    const assay_specimen *s = c->specimen;
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < s->num_inputs; i++) {
        double step = assay_rng_u01(&c->rng) < 0.5 ? -1 : 1;
        p->q[0][i] = symmetric(c, s->search);
        p->q[1][i] = within(p->q[0][i] + step, s->search);
    }
}

/* One answer at the top of the domain, the others at the bottom, all moved. */
static void corner_pair(climb *c, assay_pair *p)
{
    const assay_specimen *s = c->specimen;
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < s->num_inputs; i++) {
        p->q[0][i] = i == 0 ? s->search : 1 - s->search;
        p->q[1][i] = p->q[0][i] - 1;
    }
}

/* Move one answer, often to the edge of the domain, or flip one change. */
static void mutate(climb *c, assay_pair *p)
{
    const assay_specimen *s = c->specimen;
    size_t i = (size_t)(assay_rng_u64(&c->rng) % s->num_inputs);
    double u = assay_rng_u01(&c->rng), d = p->q[1][i] - p->q[0][i];
    if (u < 0.3) {
        d = -d;
    } else if (u < 0.6) {
        p->q[0][i] = within(p->q[0][i] + symmetric(c, s->search / 2), s->search);
    } else {
        p->q[0][i] = u < 0.8 ? s->search - 1 : 1 - s->search;
    }
    p->q[1][i] = within(p->q[0][i] + d, s->search);
}

static assay_status hill_climb(climb *c, assay_error *err)
{
    assay_status status = ASSAY_OK;
    c->samples = c->samples / 4 > 10000 ? c->samples / 4 : 10000;
    for (int restart = 0; status == ASSAY_OK && restart < 4; restart++) {
        assay_pair here;
        double at, next;
        random_pair(c, &here);
        if (restart == 0) {
            corner_pair(c, &here);
        }
        status = try_pair(c, &here, &at, err);
        for (int step = 0; status == ASSAY_OK && step < 24; step++) {
            assay_pair there = here;
            mutate(c, &there);
            status = try_pair(c, &there, &next, err);
            if (next >= at) {
                at = next;
                here = there;
            }
        }
    }
    return status;
}

/* All pairs with a few runs, the best four with three times as many, the best
 * two of these with eight times as many. */
static assay_status screen_pairs(climb *c, const assay_pair *pairs, size_t num,
                                 assay_error *err)
{
    static const uint64_t times[3] = {1, 3, 8};
    static const size_t keep[3] = {8, 4, 2};
    double merit[8] = {0};
    uint64_t samples = c->samples;
    assay_status status = ASSAY_OK;
    for (int stage = 0; stage < (num > 1 ? 3 : 1); stage++) {
        double before[8];
        memcpy(before, merit, sizeof before);
        c->samples = samples * times[stage];
        c->merit = -30;
        for (size_t k = 0; status == ASSAY_OK && k < num; k++) {
            size_t better = 0;
            for (size_t l = 0; l < num; l++) {
                better += before[l] > before[k] ||
                          (l < k && before[l] == before[k]);
            }
            merit[k] = -40;
            if (better < keep[stage]) {
                status = try_pair(c, &pairs[k], &merit[k], err);
            }
        }
    }
    c->samples = samples;
    return status;
}

assay_status assay_search_pair(assay_pair *out, uint64_t *spent,
                               const assay_specimen *specimen, uint64_t samples,
                               uint64_t target, uint64_t seed, assay_error *err)
{
    assay_pair pairs[8];
    size_t num = assay_specimen_pairs(specimen, pairs);
    climb c = {.specimen = specimen, .samples = samples, .target = target,
               .seed = seed, .merit = -30};
    assay_rng_seed(&c.rng, seed, 77, 0);
    *spent = 0;
    *out = pairs[0];
    if (num == 1 && !(specimen->search > 0)) {
        return ASSAY_OK;
    }
    assay_status status = screen_pairs(&c, pairs, num, err);
    if (status == ASSAY_OK && specimen->search > 0) {
        assay_pair known = c.best;
        c.merit = -30;
        status = hill_climb(&c, err);
        assay_pair final[2] = {known, c.best};
        c.samples = samples;
        if (status == ASSAY_OK) {
            status = screen_pairs(&c, final, 2, err);
        }
    }
    if (status == ASSAY_OK) {
        *out = c.best;
        *spent = c.spent;
    }
    return status;
}

/* ---- oracle ----------------------------------------------------------------------- */

#define ORACLE_ROWS 2000000

typedef struct oracle_work {
    assay_oracle oracle;
    float *score[2];
    uint64_t first;
} oracle_work;

static assay_status oracle_unit(void *arg, int thread, uint64_t first,
                                const assay_rows *left, const assay_rows *right,
                                assay_error *err)
{
    oracle_work *w = arg;
    double out[ASSAY_ROWS_BLOCK];
    (void)thread;
    (void)err;
    for (int side = 0; side < 2; side++) {
        const assay_rows *r = side == 0 ? left : right;
        w->oracle.specimen->llr(&w->oracle, r, out);
        for (size_t i = 0; i < r->num; i++) {
            w->score[side][first - w->first + i] = (float)out[i];
        }
    }
    return ASSAY_OK;
}

static int compare_down(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* Runs of the first side sorted by their log ratio, largest first: at every
 * threshold p1 is their share and p2 the mean of exp(-ratio), which has far
 * less noise than counting the other side. */
static double oracle_sweep(const float *ratio, size_t n, double samples,
                           double level, const assay_claim *claim)
{
    double best = 0, p2 = 0;
    size_t next = 1;
    for (size_t i = 0; i < n; i++) {
        p2 += exp(-(double)ratio[i]) / (double)n;
        int last = i + 1 == n || ratio[i + 1] < ratio[i] - 1e-6f;
        if (!last || i + 1 < next) {
            continue;
        }
        next = i + 1 + i / 200;
        double p1 = (double)(i + 1) / (double)n;
        best = fmax(best, assay_bound_fast(claim, p1 * samples, samples,
                                           fmax(p2 * samples - 0.5, 0), samples,
                                           level));
    }
    return best;
}

/* Rho claims: the profile of the exact ratio. */
static double oracle_profile(oracle_work *w, size_t n, double samples,
                             double level, const assay_claim *claim,
                             float *spare)
{
    assay_certify *z = calloc(1, sizeof *z);
    if (z == NULL) {
        return NAN;
    }
    assay_work_sort(w->score[0], spare, n);
    assay_work_sort(w->score[1], spare, n);
    double rho = assay_profile_fit(z, w->score[0], w->score[1], n, samples,
                                   level, claim);
    free(z);
    return rho;
}

static double oracle_bound(oracle_work *w, size_t n, double samples,
                           double level, const assay_claim *claim, float *spare)
{
    if (claim->kind == ASSAY_CLAIM_RHO) {
        return oracle_profile(w, n, samples, level, claim, spare);
    }
    (void)spare;
    for (size_t i = 0; i < n; i++) {
        w->score[1][i] = -w->score[1][i];
    }
    double best = 0;
    for (int side = 0; side < 2; side++) {
        qsort(w->score[side], n, sizeof(float), compare_down);
        best = fmax(best, oracle_sweep(w->score[side], n, samples, level,
                                       claim));
    }
    return best;
}

assay_status assay_search_oracle(double *out, const assay_specimen *specimen,
                                 const assay_pair *pair, uint64_t samples,
                                 double confidence, uint64_t seed,
                                 assay_error *err)
{
    *out = NAN;
    if (specimen->llr == NULL) {
        return ASSAY_OK;
    }
    assay_specimen_run run = {specimen, *pair, seed ^ 0x5bd1e995};
    assay_source source = assay_specimen_source(&run);
    size_t n = ORACLE_ROWS;
    oracle_work w = {.oracle = {specimen, *pair, NULL}};
    w.oracle.table = calloc(2 * ASSAY_SPECIMEN_TABLE, sizeof(double));
    w.score[0] = malloc(n * sizeof(float));
    w.score[1] = malloc(n * sizeof(float));
    float *spare = malloc(n * sizeof(float));
    assay_status status = ASSAY_MEMORY;
    if (w.oracle.table != NULL && w.score[0] != NULL && w.score[1] != NULL &&
        spare != NULL) {
        if (specimen->prepare != NULL) {
            specimen->prepare(&w.oracle);
        }
        status = assay_work_units(&source, 0, n, ASSAY_ROWS_BLOCK, 0,
                                  oracle_unit, &w, err);
    }
    if (status == ASSAY_OK) {
        *out = oracle_bound(&w, n, (double)samples, 1 - confidence,
                            &specimen->claim, spare);
    }
    free(w.oracle.table);
    free(w.score[0]);
    free(w.score[1]);
    free(spare);
    return status;
}
