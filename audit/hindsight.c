/* ring: glue */
#include "audit/hindsight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/binomial.h"
#include "audit/work.h"

/* ---- rows, their exact ratios and their scores -------------------------- */

#define MAX_SCORES (2 * ASSAY_MAX_STAGES) /* a stage's events and its layers */

typedef struct wanted {
    const assay_stage *stage;
    size_t model;
} wanted;

typedef struct looking {
    assay_oracle oracle;
    size_t n;
    float *ratio[2];
    size_t num;
    wanted want[MAX_SCORES];
    float *score[MAX_SCORES][2];
} looking;

static assay_status look_unit(void *arg, int thread, uint64_t first,
                              const assay_rows *left, const assay_rows *right,
                              assay_error *err)
{
    looking *w = arg;
    double ratio[ASSAY_ROWS_BLOCK];
    (void)thread;
    (void)err;
    for (int side = 0; side < 2; side++) {
        const assay_rows *r = side == 0 ? left : right;
        w->oracle.specimen->llr(&w->oracle, r, ratio);
        for (size_t i = 0; i < r->num; i++) {
            w->ratio[side][first + i] = (float)ratio[i];
        }
        for (size_t k = 0; k < w->num; k++) {
            const wanted *m = &w->want[k];
            float out[ASSAY_ROWS_BLOCK] = {0};
            assay_model_score(&m->stage->models.model[m->model], r, out);
            memcpy(w->score[k][side] + first, out, r->num * sizeof *out);
        }
    }
    return ASSAY_OK;
}

/* The column of a stage's score; a new one if it is not there yet. */
static size_t column_of(looking *w, const assay_stage *stage, size_t model)
{
    size_t k = 0;
    while (k < w->num &&
           (w->want[k].stage != stage || w->want[k].model != model)) {
        k++;
    }
    if (k == w->num && k < MAX_SCORES) {
        w->want[w->num++] = (wanted){stage, model};
    }
    return k < MAX_SCORES ? k : MAX_SCORES - 1;
}

static assay_status look(looking *w, assay_stage *const *stage, size_t num,
                         const assay_specimen_run *run, assay_error *err)
{
    assay_specimen_run own = *run;
    assay_source source = assay_specimen_source(&own);
    int full = w->oracle.table != NULL;
    for (size_t i = 0; i < num; i++) {
        for (size_t k = 0; k < stage[i]->z.num_events; k++) {
            (void)column_of(w, stage[i], stage[i]->z.event[k].model);
        }
        if (assay_conclude_has_bins(&stage[i]->z)) {
            (void)column_of(w, stage[i], stage[i]->z.profile_model);
        }
    }
    for (int side = 0; side < 2; side++) {
        w->ratio[side] = malloc(w->n * sizeof(float));
        full = full && w->ratio[side] != NULL;
        for (size_t k = 0; k < w->num; k++) {
            w->score[k][side] = malloc(w->n * sizeof(float));
            full = full && w->score[k][side] != NULL;
        }
    }
    if (!full) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    if (run->specimen->prepare != NULL) {
        run->specimen->prepare(&w->oracle);
    }
    return assay_work_units(&source, 0, w->n, ASSAY_ROWS_BLOCK, 0, look_unit, w,
                            err);
}

/* ---- events ------------------------------------------------------------- */

/* An event's probabilities, first the likelier side: that side's rows tell
 * both, for the other side's density is theirs times exp(-ratio). */
static void probabilities(double p[2], const looking *w, size_t column,
                          const assay_audit_event *e)
{
    int side = e->swapped;
    double sign = side ? 1 : -1;
    const float *score = w->score[column][side], *ratio = w->ratio[side];
    p[0] = p[1] = 0;
    for (size_t i = 0; i < w->n; i++) {
        if (side ? score[i] <= e->threshold : score[i] >= e->threshold) {
            p[0] += 1;
            p[1] += exp(sign * (double)ratio[i]);
        }
    }
    p[0] /= (double)w->n;
    p[1] = fmin(p[1] / (double)w->n, 1);
}

static assay_pairs expected_pairs(const double p[2], double n)
{
    double a = nearbyint(p[0] * n), b = nearbyint(p[1] * n);
    double both = fmin(a, b);
    return (assay_pairs){(uint64_t)both, (uint64_t)(a - both),
                         (uint64_t)(b - both), (uint64_t)(n - fmax(a, b))};
}

static double runs_of(const assay_stage *s)
{
    return (double)(s->end - s->first);
}

/* The bound of event k, whose expected counts are put into the stages'
 * copies. */
static double event_bound(looking *w, assay_stage *const *stage,
                          assay_stage *const *copy, size_t num, size_t k,
                          const assay_claim *claim, double level)
{
    double p[2] = {0, 0};
    const assay_audit_event *e = NULL;
    for (size_t i = 0; i < num; i++) {
        if (k < stage[i]->z.num_events) {
            e = &stage[i]->z.event[k];
            probabilities(p, w, column_of(w, stage[i], e->model), e);
            copy[i]->z.pairs[k] = expected_pairs(p, runs_of(stage[i]));
        }
    }
    double mine = assay_conclude_level(&stage[0]->z, k, level);
    double n = runs_of(stage[0]);
    if (num == 1 && e != NULL) { /* few counts: their luck matters */
        double weight =
            assay_bound_weight(e->p[0], (uint64_t)n, e->p[1], (uint64_t)n);
        return assay_search_expected(claim, p[0], p[1], n, mine, weight);
    }
    return assay_conclude_event(copy, num, k, claim, level);
}

/* ---- layers and profiles ------------------------------------------------ */

/* Expected counts of the bins with these edges, by the likelier side's rows. */
static void expected_bins(uint64_t (*out)[ASSAY_PROFILE_BINS],
                          const float *edge, size_t num, const looking *w,
                          size_t column, double runs)
{
    double mean[2][ASSAY_PROFILE_BINS];
    memset(mean, 0, sizeof mean);
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < w->n; i++) {
            double r = (double)w->ratio[side][i];
            size_t k = 0;
            if ((r > 0) != (side == 0)) {
                continue;
            }
            while (k + 1 < num && w->score[column][side][i] > edge[k]) {
                k++;
            }
            mean[side][k] += 1;
            mean[!side][k] += exp(-fabs(r));
        }
    }
    for (size_t side = 0; side < 2; side++) {
        for (size_t k = 0; k < num; k++) {
            out[side][k] =
                (uint64_t)(mean[side][k] * runs / (double)w->n + 0.5);
        }
    }
}

static uint64_t left_runs(const uint64_t *count, size_t num)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < num; k++) {
        sum += count[k];
    }
    return sum;
}

static void expect_bins(looking *w, const assay_stage *stage, assay_stage *copy)
{
    const assay_certify *z = &stage->z;
    size_t column = column_of(w, stage, z->profile_model);
    for (size_t k = 0; k < z->num_past; k++) {
        const assay_layer_counts *p = &z->past[k];
        expected_bins(copy->z.past[k].count, p->edge, p->num, w, column,
                      (double)left_runs(p->count[0], p->num));
    }
    if (z->num_bins > 0) {
        expected_bins(copy->z.bin, z->edge, z->num_bins, w, column,
                      (double)left_runs(z->bin[0], z->num_bins));
    }
}

static assay_status layers_bound(double *out, looking *w,
                                 assay_stage *const *stage,
                                 assay_stage *const *copy, size_t num,
                                 const assay_audit_options *o, assay_error *err)
{
    assay_audit_result result;
    assay_audit_options once = *o;
    once.seed = 1; /* the thinning takes the same from everybody */
    *out = 0;
    if (!assay_conclude_has_bins(&stage[0]->z)) {
        return ASSAY_OK;
    }
    for (size_t i = 0; i < num; i++) {
        expect_bins(w, stage[i], copy[i]);
        copy[i]->z.num_events = 0;
    }
    assay_status status = assay_conclude(&result, copy, num, &once, err);
    *out = status == ASSAY_OK ? result.lower : 0;
    return status;
}

/* ---- the scores by themselves ------------------------------------------- */

typedef struct scored {
    float score, other; /* other: exp(-ratio) of the side in front */
} scored;

static int compare_down(const void *a, const void *b)
{
    float x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x < y) - (x > y);
}

/* One side's rows by their score, the likelier end first. */
static void sort_side(scored *out, const looking *w, size_t column, int side)
{
    double sign = side ? 1 : -1;
    for (size_t i = 0; i < w->n; i++) {
        out[i].score = (side ? -1.0f : 1.0f) * w->score[column][side][i];
        out[i].other = (float)exp(sign * (double)w->ratio[side][i]);
    }
    qsort(out, w->n, sizeof *out, compare_down);
}

/* What slices of about a fiftieth of the rows so far tell of `eps`, from one
 * end. */
static double information(const scored *s, size_t n, double eps)
{
    double a = 0, b = 0, sum = 0, e = exp(eps);
    for (size_t i = 0; i < n; i++) {
        a += 1;
        b += (double)s[i].other;
        if (a >= 100 && a >= (double)i / 50) {
            double x = fmax(a - e * b, 0);
            sum += x * x / (e * (a + b));
            a = b = 0;
        }
    }
    return sum / (double)n;
}

/* The best layers of one score, of slices with exact probabilities. */
static double slice_bound(scored *const *side, size_t n, double samples,
                          double level)
{
    double z = -assay_normal_quantile(level), lo = 0, hi = 12;
    for (int i = 0; i < 16; i++) {
        double mid = 0.5 * (lo + hi);
        double got =
            information(side[0], n, mid) + information(side[1], n, mid);
        *(got * samples > z * z ? &lo : &hi) = mid;
    }
    return lo;
}

/* The best event of one score from one end, with exact probabilities. */
static double sweep(const scored *space, const looking *w,
                    const assay_claim *claim, double samples, double level)
{
    double best = 0, p2 = 0, n = (double)w->n;
    size_t next = claim->kind == ASSAY_CLAIM_EPS ? 60 : w->n / 500;
    for (size_t i = 0; i < w->n; i++) {
        p2 += (double)space[i].other / n;
        int last = i + 1 == w->n || space[i + 1].score < space[i].score;
        if (!last || i + 1 < next) {
            continue;
        }
        next = i + 1 + i / 200;
        double k1 = (double)(i + 1) / n * samples;
        best = fmax(best, assay_bound_fast(claim, k1, samples,
                                           fmax(p2 * samples - 0.5, 0), samples,
                                           level));
    }
    return best;
}

static void score_bounds(assay_hindsight *out, looking *w,
                         assay_stage *const *stage, size_t num,
                         const assay_audit_options *o)
{
    scored *side[2] = {malloc((w->n + 1) * sizeof **side),
                       malloc((w->n + 1) * sizeof **side)};
    double samples = (double)o->samples, level = 1 - o->confidence;
    for (size_t i = 0; side[0] != NULL && side[1] != NULL && i < num; i++) {
        const assay_certify *z = &stage[i]->z;
        if (z->num_events > 0 && o->claim.kind != ASSAY_CLAIM_RHO) {
            size_t column = column_of(w, stage[i], z->event[0].model);
            for (int k = 0; k < 2; k++) {
                sort_side(side[k], w, column, k);
                out->score[i] = fmax(out->score[i], sweep(side[k], w, &o->claim,
                                                          samples, level));
            }
            if (o->claim.kind == ASSAY_CLAIM_EPS && o->claim.delta == 0) {
                out->slices[i] = slice_bound(side, w->n, samples, level);
            }
        }
    }
    free(side[0]);
    free(side[1]);
}

/* ---- public ------------------------------------------------------------- */

static assay_status find(assay_hindsight *out, looking *w,
                         assay_stage *const *stage, assay_stage *const *copy,
                         size_t num, const assay_audit_options *o,
                         assay_error *err)
{
    for (size_t k = 0; k < stage[0]->z.num_events; k++) {
        out->events =
            fmax(out->events, event_bound(w, stage, copy, num, k, &o->claim,
                                          1 - o->confidence));
    }
    score_bounds(out, w, stage, num, o);
    assay_status status =
        layers_bound(&out->layers, w, stage, copy, num, o, err);
    out->bound = fmax(out->events, out->layers);
    return status;
}

assay_status assay_hindsight_find(assay_hindsight *out,
                                  const assay_specimen *specimen,
                                  const assay_pair *pair,
                                  assay_stage *const *stage, size_t num,
                                  const assay_audit_options *options,
                                  uint64_t seed, size_t rows, assay_error *err)
{
    assay_specimen_run run = {specimen, *pair, assay_search_oracle_seed(seed)};
    *out = (assay_hindsight){NAN, NAN, NAN, {NAN, NAN}, {NAN, NAN}};
    if (specimen->llr == NULL || num == 0 || rows == 0) {
        return ASSAY_OK;
    }
    memset(out, 0, sizeof *out);
    looking w = {.oracle = {specimen, *pair, NULL}, .n = rows};
    w.oracle.table = calloc(2 * ASSAY_SPECIMEN_TABLE, sizeof(double));
    assay_stage *copy[ASSAY_MAX_STAGES] = {NULL, NULL};
    assay_status status = look(&w, stage, num, &run, err);
    for (size_t i = 0; status == ASSAY_OK && i < num; i++) {
        copy[i] = malloc(sizeof *copy[i]);
        if (copy[i] == NULL) {
            status = assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
        } else {
            *copy[i] = *stage[i]; /* blends point into the original */
        }
    }
    if (status == ASSAY_OK) {
        status = find(out, &w, stage, copy, num, options, err);
    }
    for (size_t i = 0; i < ASSAY_MAX_STAGES; i++) {
        free(copy[i]);
    }
    for (int side = 0; side < 2; side++) {
        free(w.ratio[side]);
        for (size_t k = 0; k < w.num; k++) {
            free(w.score[k][side]);
        }
    }
    free(w.oracle.table);
    return status;
}
