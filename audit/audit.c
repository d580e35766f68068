/* ring: glue */
#include "audit/audit.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/certify.h"
#include "audit/work.h"

#define MAX_KEEP 4 /* attackers that see all selection rows */
#define CAUTION 1.0 /* standard deviations taken off an estimate */

size_t assay_audit_unit(uint64_t samples)
{
    return samples / 64 < ASSAY_ROWS_BLOCK ? (size_t)(samples / 64 + 1)
                                           : ASSAY_ROWS_BLOCK;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the split ------------------------------------------------------------------ */

typedef struct plan {
    uint64_t train_end, pick_end, select_end, end;
    size_t unit;
} plan;

static plan make_plan(const assay_audit_options *o, size_t width)
{
    plan p;
    /* 30 % + 20 % of a small run, 8 % + 5 % of a large one */
    double samples = (double)o->samples;
    double part = fmin(fmax((log10(samples) - 4.0) / 3.0, 0), 1);
    double train = (0.30 - 0.22 * part) * samples;
    double pick = (0.20 - 0.15 * part) * samples;
    train = fmin(train, fmin(2e6, 16e6 / (double)width));
    pick = fmin(pick, 6e6);
    p.unit = assay_audit_unit(o->samples);
    p.train_end = (uint64_t)(train / (double)p.unit + 1) * p.unit;
    uint64_t units = (uint64_t)(pick / (double)p.unit + 1);
    p.pick_end = p.train_end + (units / 4 + 1) * p.unit;
    p.select_end = p.train_end + (units + 1) * p.unit;
    while (p.select_end < o->seen) { /* certification rows must be new */
        p.select_end += p.unit;
    }
    p.end = o->samples;
    return p;
}

/* ---- training ------------------------------------------------------------------- */

static void training_clear(assay_training *d)
{
    for (int s = 0; s < 2; s++) {
        for (size_t b = 0; d->rows[s] != NULL && b < d->num_blocks; b++) {
            assay_rows_clear(&d->rows[s][b]);
        }
        free(d->rows[s]);
    }
    memset(d, 0, sizeof *d);
}

static assay_status training_fill(assay_training *d, const assay_source *source,
                                  const plan *p, assay_error *err)
{
    memset(d, 0, sizeof *d);
    d->width = source->width;
    size_t num = (size_t)(p->train_end / p->unit);
    d->rows[0] = calloc(num, sizeof(assay_rows));
    d->rows[1] = calloc(num, sizeof(assay_rows));
    if (d->rows[0] == NULL || d->rows[1] == NULL) {
        training_clear(d);
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    d->num_blocks = num;
    assay_status status = ASSAY_OK;
    for (size_t b = 0; status == ASSAY_OK && b < 2 * num; b++) {
        assay_rows *r = &d->rows[b % 2][b / 2];
        status = assay_rows_init(r, source->width, err);
        if (status == ASSAY_OK) {
            status = assay_source_fill(source, (int)(b % 2),
                                       (b / 2) * p->unit, p->unit, r, err);
        }
    }
    if (status != ASSAY_OK) {
        training_clear(d);
    }
    return status;
}

static assay_status train(assay_models *out, const assay_source *source,
                          const plan *p, int light, assay_error *err)
{
    assay_training data;
    assay_status status = training_fill(&data, source, p, err);
    if (status == ASSAY_OK) {
        status = assay_models_fit(out, &data, light, err);
    }
    training_clear(&data);
    return status;
}

/* ---- selection ------------------------------------------------------------------ */

typedef struct scores {
    const assay_models *models;
    size_t num;
    size_t which[ASSAY_MAX_MODELS]; /* model of each score column */
    uint64_t base;
    size_t rows, have; /* room, filled */
    float *s[ASSAY_MAX_MODELS][2];
    float *spare;
} scores;

static void scores_clear(scores *c)
{
    for (size_t k = 0; k < c->num; k++) {
        free(c->s[k][0]);
        free(c->s[k][1]);
    }
    free(c->spare);
    memset(c, 0, sizeof *c);
}

static assay_status scores_init(scores *c, const assay_models *models,
                                const size_t *which, size_t num, size_t rows,
                                assay_error *err)
{
    memset(c, 0, sizeof *c);
    c->models = models;
    c->num = num;
    c->rows = rows;
    int ok = (c->spare = malloc(rows * sizeof(float))) != NULL;
    for (size_t k = 0; k < num; k++) {
        c->which[k] = which[k];
        for (int side = 0; side < 2; side++) {
            c->s[k][side] = malloc(rows * sizeof(float));
            ok &= c->s[k][side] != NULL;
        }
    }
    if (!ok) {
        scores_clear(c);
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    return ASSAY_OK;
}

static assay_status score_unit(void *arg, int thread, uint64_t first,
                               const assay_rows *left, const assay_rows *right,
                               assay_error *err)
{
    scores *c = arg;
    float out[ASSAY_ROWS_BLOCK];
    (void)thread;
    (void)err;
    for (size_t k = 0; k < c->num; k++) {
        for (int side = 0; side < 2; side++) {
            const assay_rows *r = side == 0 ? left : right;
            assay_model_score(&c->models->model[c->which[k]], r, out);
            memcpy(c->s[k][side] + (first - c->base), out,
                   r->num * sizeof *out);
        }
    }
    return ASSAY_OK;
}

static assay_status score_range(scores *c, const assay_source *source,
                                uint64_t first, uint64_t end, size_t unit,
                                int threads, assay_error *err)
{
    c->base = first;
    return assay_work_units(source, first, end, unit, threads, score_unit, c,
                            err);
}

static void sort_scores(scores *c, size_t n)
{
    for (size_t k = 0; k < c->num; k++) {
        assay_work_sort(c->s[k][0], c->spare, n);
        assay_work_sort(c->s[k][1], c->spare, n);
    }
}

/* Is the score a likelihood ratio that does not overfit rare rows? Sums of
 * many well-known parts, smooth fits of few parameters. (One table or one step
 * function has its luckiest entry on top, and trees their luckiest leaf.) */
static int trusted(const assay_model *m)
{
    size_t steps = 0, lines = 0, other = 0;
    if (m->smooth != NULL || m->mlp != NULL || m->num_blend > 0) {
        return 1;
    }
    for (size_t k = 0; k < m->num_pieces; k++) {
        const assay_piece *p = &m->piece[k];
        int smooth = p->kind == ASSAY_PIECE_TABLE && p->smoothed;
        steps += p->kind == ASSAY_PIECE_STEPS;
        lines += p->kind == ASSAY_PIECE_IDENTITY ||
                 p->kind == ASSAY_PIECE_HINGE || smooth;
        other += p->kind == ASSAY_PIECE_STRATA ||
                 (p->kind == ASSAY_PIECE_TABLE && !smooth);
    }
    if (m->boost != NULL || other > 0) {
        return 0;
    }
    return m->is_fit ? lines > 0 && steps == 0 : steps >= 3 || lines > 1 ||
                       (m->num_pieces == 1 && m->piece[0].smoothed);
}

static void calibrate(assay_choice *o, const scores *c, size_t k, size_t n)
{
    o->is_ratio = 0;
    if (trusted(&c->models->model[c->which[k]])) {
        assay_work_calibrate(o, c->s[k][0], c->s[k][1], n);
    }
}

/* The merit of each score column. */
static void merits(double *out, const scores *c, size_t n,
                   const assay_claim *claim, double target, double level)
{
    const assay_choice careful = {.target = target, .level = level,
                                  .caution = CAUTION, .mass_max = 1};
    for (size_t k = 0; k < c->num; k++) {
        assay_choice o = careful;
        calibrate(&o, c, k, n);
        out[k] = assay_work_choose(claim, c->s[k][0], c->s[k][1], n, &o).merit;
    }
}

/* The best few columns, taken out of the list one after the other. */
static size_t take_best(size_t *out, size_t most, double *merit, size_t num,
                        const scores *c, int only_trusted)
{
    size_t got = 0;
    while (got < most) {
        size_t at = num;
        for (size_t k = 0; k < num; k++) {
            int may = merit[k] > -30 &&
                      (!only_trusted ||
                       trusted(&c->models->model[c->which[k]]));
            at = may && (at == num || merit[k] > merit[at]) ? k : at;
        }
        if (at == num) {
            break;
        }
        out[got++] = at;
        merit[at] = -40;
    }
    return got;
}

/* Logistic regression of the side on a few scores, in the order of the runs. */
static void blend_weights(double *out, const scores *c, const size_t *which,
                          size_t num, size_t n)
{
    double beta[ASSAY_MAX_BLEND + 1] = {0};
    size_t p = num + 1;
    for (int it = 0; it < 6; it++) {
        double g[4] = {0}, h[16] = {0};
        for (size_t i = 0; i < 2 * n; i++) {
            int left = i < n;
            double x[4] = {1, 0, 0, 0}, s = beta[0];
            for (size_t k = 0; k < num; k++) {
                const float *from = c->s[which[k]][left ? 0 : 1];
                x[k + 1] = fmin(fmax((double)from[left ? i : i - n], -6), 6);
                s += beta[k + 1] * x[k + 1];
            }
            double q = 1 / (1 + exp(-s));
            for (size_t k = 0; k < p; k++) {
                g[k] += (left - q) * x[k];
                for (size_t l = 0; l <= k; l++) {
                    h[k * p + l] += q * (1 - q) * x[k] * x[l];
                }
            }
        }
        for (size_t k = 0; k < p; k++) { /* towards the plain mean */
            double prior = k == 0 ? 0 : 1 / (double)num;
            h[k * p + k] += 2;
            g[k] -= 2 * (beta[k] - prior);
        }
        if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)p, 1, h,
                          (lapack_int)p, g, 1) != 0) {
            break;
        }
        for (size_t k = 0; k < p; k++) {
            beta[k] += g[k];
        }
    }
    memcpy(out, beta + 1, num * sizeof *out);
}

static void unsorted_blend(assay_models *models, const scores *c,
                           const size_t *column, size_t num, size_t n,
                           size_t *keep, size_t *num_keep)
{
    double weight[ASSAY_MAX_BLEND];
    size_t which[ASSAY_MAX_BLEND];
    blend_weights(weight, c, column, num, n);
    for (size_t k = 0; k < num; k++) {
        which[k] = c->which[column[k]];
        if (!isfinite(weight[k])) {
            return;
        }
    }
    if (assay_models_blend(models, which, weight, num) != NULL) {
        keep[(*num_keep)++] = models->num - 1;
    }
}

/* Which attackers are worth all selection rows: the best few, and a blend of
 * the best that are likelihood ratios. */
static assay_status pick_models(size_t *keep, size_t *num_keep,
                                assay_models *models,
                                const assay_source *source, const plan *p,
                                const assay_audit_options *o, double target,
                                assay_error *err)
{
    size_t all[ASSAY_MAX_MODELS], column[MAX_KEEP];
    double merit[ASSAY_MAX_MODELS], again[ASSAY_MAX_MODELS];
    for (size_t k = 0; k < models->num; k++) {
        all[k] = k;
    }
    scores c, sorted;
    size_t n = (size_t)(p->pick_end - p->train_end);
    assay_status status = scores_init(&c, models, all, models->num, n, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = scores_init(&sorted, models, all, models->num, n, err);
    if (status == ASSAY_OK) {
        status = score_range(&c, source, p->train_end, p->pick_end, p->unit,
                             o->threads, err);
    }
    if (status == ASSAY_OK) {
        for (size_t k = 0; k < c.num; k++) {
            memcpy(sorted.s[k][0], c.s[k][0], n * sizeof(float));
            memcpy(sorted.s[k][1], c.s[k][1], n * sizeof(float));
        }
        sort_scores(&sorted, n);
        merits(merit, &sorted, n, &o->claim, target, 1 - o->confidence);
        memcpy(again, merit, sizeof again);
        size_t num = take_best(column, MAX_KEEP - 1, merit, c.num, &c, 0);
        for (size_t k = 0; k < num; k++) {
            keep[k] = c.which[column[k]];
        }
        *num_keep = num;
        num = take_best(column, ASSAY_MAX_BLEND, again, c.num, &c, 1);
        if (num > 1 && !o->light) {
            unsorted_blend(models, &c, column, num, n, keep, num_keep);
        }
    }
    scores_clear(&sorted);
    scores_clear(&c);
    return status;
}

/* A slow attacker must promise more: two in a hundred. */
static double costly(const assay_model *m, double merit)
{
    int slow = m->smooth != NULL || m->mlp != NULL || m->boost != NULL;
    slow = m->num_blend > 0 ? 2 : slow;
    return 0.01 * (slow > 0 ? 1 + slow : 0) * fmax(merit, 0);
}

/* The events to certify: the best one, and two in case its estimate was luck:
 * clearly smaller and clearly larger, believing counts only. */
static void choose_events(assay_certify *z, const scores *c, size_t n,
                          const assay_claim *claim, double target,
                          double level)
{
    assay_choice o = {.target = target, .level = level, .caution = CAUTION,
                      .mass_max = 1};
    double mass = 0;
    for (int round = 0; round < 3; round++) {
        assay_audit_event best = {.merit = -10};
        if (round > 0) {
            o.plain = 1;
            o.caution = 2;
            o.mass_min = round == 1 ? 0 : 1.6 * mass;
            o.mass_max = round == 1 ? 0.65 * mass : 1;
        }
        for (size_t k = 0; k < c->num; k++) {
            calibrate(&o, c, k, n);
            assay_audit_event e =
                assay_work_choose(claim, c->s[k][0], c->s[k][1], n, &o);
            e.model = c->which[k];
            e.merit -= costly(&c->models->model[e.model], e.merit);
            best = e.merit > best.merit ? e : best;
        }
        if (best.merit > -10) {
            z->event[z->num_events++] = best;
        }
        mass = round == 0 ? best.p[0] : mass;
    }
}

/* Bins of the best score for the Renyi profile: equal shares of the left and
 * right scores together, and half-shares in the tails. */
static void choose_profile(assay_certify *z, scores *c, size_t n,
                           const assay_claim *claim, double target,
                           double level)
{
    size_t best = 0;
    double merit = -1;
    for (size_t k = 0; k < c->num; k++) {
        double m = assay_profile_fit(z, c->s[k][0], c->s[k][1], n, target,
                                     level, claim);
        if (m > merit) {
            merit = m;
            best = k;
        }
    }
    (void)assay_profile_fit(z, c->s[best][0], c->s[best][1], n, target, level,
                            claim);
    z->profile_model = c->which[best];
}

static assay_status select_events(assay_certify *z, const assay_models *models,
                                  const size_t *keep, size_t num_keep,
                                  const assay_source *source, const plan *p,
                                  const assay_audit_options *o, double target,
                                  assay_error *err)
{
    scores c;
    double level = 1 - o->confidence;
    size_t n = (size_t)(p->select_end - p->pick_end);
    assay_status status = scores_init(&c, models, keep, num_keep, n, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = score_range(&c, source, p->pick_end, p->select_end, p->unit,
                         o->threads, err);
    if (status == ASSAY_OK) {
        sort_scores(&c, n);
        choose_events(z, &c, n, &o->claim, target, level);
        if (o->claim.kind == ASSAY_CLAIM_RHO) {
            choose_profile(z, &c, n, &o->claim, target, level);
        }
    }
    scores_clear(&c);
    return status;
}

static assay_status prepare(assay_certify *z, assay_models *models,
                            const assay_source *source, const plan *p,
                            const assay_audit_options *o, double target,
                            assay_error *err)
{
    size_t keep[MAX_KEEP], num_keep = 0;
    assay_status status = train(models, source, p, o->light, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = pick_models(keep, &num_keep, models, source, p, o, target, err);
    if (status == ASSAY_OK) {
        status = select_events(z, models, keep, num_keep, source, p, o, target,
                               err);
    }
    return status;
}

/* ---- public ---------------------------------------------------------------------- */

static assay_status check_options(const assay_audit_options *o,
                                  assay_error *err)
{
    if (o->samples < 200) {
        return assay_fail(err, ASSAY_INVALID,
                          "audit: at least 200 samples, got %llu",
                          (unsigned long long)o->samples);
    }
    if (!(o->confidence > 0 && o->confidence < 1)) {
        return assay_fail(err, ASSAY_INVALID,
                          "audit: confidence must be between 0 and 1");
    }
    if (o->sequential && o->claim.kind != ASSAY_CLAIM_EPS) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "audit: sequential testing takes an eps claim");
    }
    return ASSAY_OK;
}

assay_status assay_audit_run(assay_audit_result *out,
                             const assay_source *source,
                             const assay_audit_options *options,
                             assay_error *err)
{
    double start = now();
    assay_status status = check_options(options, err);
    if (status != ASSAY_OK) {
        return status;
    }
    plan p = make_plan(options, source->width);
    assay_models models;
    memset(&models, 0, sizeof models);
    assay_certify *z = calloc(1, sizeof *z);
    if (z == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    status = prepare(z, &models, source, &p, options,
                     (double)(p.end - p.select_end), err);
    if (status == ASSAY_OK) {
        status = assay_certify_run(out, z, &models, source, p.select_end, p.end,
                                   p.unit, options, err);
        out->seconds = now() - start;
    }
    free(z);
    assay_models_clear(&models);
    return status;
}

/* ---- screening ---------------------------------------------------------- */

static double mean_of(const float *x, size_t n, double *square)
{
    double sum = 0;
    *square = 0;
    for (size_t i = 0; i < n; i++) {
        double v = fmin(fmax((double)x[i], -6), 6);
        sum += v;
        *square += v * v;
    }
    *square /= (double)n;
    return sum / (double)n;
}

/* How far the two sides' scores are apart, in standard deviations: it uses
 * every row, so that weak signals show in few runs. Less what luck gives. */
static double separation(const scores *c, size_t n)
{
    double best = 0;
    for (size_t k = 0; k < c->num; k++) {
        double square[2];
        double a = mean_of(c->s[k][0], n, &square[0]);
        double b = mean_of(c->s[k][1], n, &square[1]);
        double var = 0.5 * (square[0] + square[1] - a * a - b * b);
        if (var > 0) {
            best = fmax(best, fabs(a - b) / sqrt(var));
        }
    }
    return best - 2 / sqrt((double)n);
}

static assay_status screen_scores(assay_promise *out,
                                  const assay_models *models,
                                  const assay_source *source,
                                  const assay_claim *claim, const plan *p,
                                  double target, assay_error *err)
{
    size_t all[ASSAY_MAX_MODELS], n = (size_t)(p->end - p->train_end);
    assay_choice o = {.target = target, .level = 0.01, .caution = 1,
                      .mass_max = 1};
    scores c;
    for (size_t k = 0; k < models->num; k++) {
        all[k] = k;
    }
    assay_status status = scores_init(&c, models, all, models->num, n, err);
    if (status == ASSAY_OK) {
        status = score_range(&c, source, p->train_end, p->end, p->unit, 0, err);
        out->separation = separation(&c, n);
        sort_scores(&c, n);
    }
    for (size_t k = 0; status == ASSAY_OK && k < c.num; k++) {
        calibrate(&o, &c, k, n);
        assay_audit_event e =
            assay_work_choose(claim, c.s[k][0], c.s[k][1], n, &o);
        if (e.merit > out->merit) {
            out->merit = e.merit;
            out->noise = sqrt((1 / fmax(e.p[0], 1e-9) + 1 / fmax(e.p[1], 1e-9)) /
                              (double)n);
        }
    }
    scores_clear(&c);
    return status;
}

assay_status assay_audit_screen(assay_promise *out, const assay_source *source,
                                const assay_claim *claim, uint64_t samples,
                                uint64_t target, assay_error *err)
{
    plan p;
    p.unit = assay_audit_unit(target);
    uint64_t units = samples / p.unit < 2 ? 2 : samples / p.unit;
    p.train_end = (units + 1) / 2 * p.unit;
    p.end = p.pick_end = p.select_end = units * p.unit;
    out->merit = -20;
    out->separation = out->noise = 0;
    out->runs = p.end;
    assay_models models;
    memset(&models, 0, sizeof models);
    assay_status status = train(&models, source, &p, 1, err);
    if (status == ASSAY_OK) {
        status = screen_scores(out, &models, source, claim, &p, (double)target,
                               err);
    }
    assay_models_clear(&models);
    return status;
}

/* ---- functions --------------------------------------------------------------------- */

typedef struct function {
    assay_audit_draw draw;
    void *ctx;
    size_t width;
    double buffer[ASSAY_ROWS_BLOCK * ASSAY_ROWS_WIDTH];
} function;

static assay_status function_fill(void *ctx, int side, uint64_t first,
                                  size_t n, assay_rows *out, assay_error *err)
{
    function *f = ctx;
    (void)first;
    assay_status status = f->draw(f->ctx, side, n, f->buffer, err);
    for (size_t j = 0; status == ASSAY_OK && j < f->width; j++) {
        for (size_t i = 0; i < n; i++) {
            out->value[j][i] = f->buffer[i * f->width + j];
        }
    }
    return status;
}

assay_status assay_audit_function(assay_audit_result *out,
                                  assay_audit_draw draw, void *ctx,
                                  size_t width,
                                  const assay_audit_options *options,
                                  assay_error *err)
{
    if (width == 0 || width > ASSAY_ROWS_WIDTH) {
        return assay_fail(err, ASSAY_INVALID, "audit: 1 to %d columns",
                          ASSAY_ROWS_WIDTH);
    }
    function *f = malloc(sizeof *f);
    if (f == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    f->draw = draw;
    f->ctx = ctx;
    f->width = width;
    assay_source source = {width, f, 1, function_fill, NULL};
    assay_status status = assay_audit_run(out, &source, options, err);
    free(f);
    return status;
}
