/* ring: glue */
#include "audit/audit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/conclude.h"
#include "audit/layers.h"
#include "audit/scores.h"
#include "audit/select.h"
#include "audit/work.h"

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

/* ---- the split ---------------------------------------------------------- */

static assay_plan make_plan(const assay_audit_options *o, size_t width)
{
    assay_plan p;
    /* 30 % + 20 % of a small run, 8 % + 5 % of a large one */
    double samples = (double)o->samples;
    double part = fmin(fmax((log10(samples) - 4.0) / 3.0, 0), 1);
    double train = (0.30 - 0.22 * part) * samples;
    double pick = (0.20 - 0.15 * part) * samples;
    train = fmin(train, fmin(1.2e6, 16e6 / (double)width));
    pick = fmin(pick, 1.5e6);
    p.unit = assay_audit_unit(o->samples);
    p.train_end = (uint64_t)(train / (double)p.unit + 1) * p.unit;
    uint64_t units = (uint64_t)(pick / (double)p.unit + 1);
    p.pick_end = p.train_end + (units / 4 + 1) * p.unit;
    p.select_end = p.train_end + (units + 1) * p.unit;
    while (p.select_end < o->seen) { /* certification rows must be new */
        p.select_end += p.unit;
    }
    p.end = o->samples;
    p.before = 0;
    return p;
}

/* ---- public ------------------------------------------------------------- */

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

/* The plan of a second training on all rows before `share` of the runs, as far
 * as memory goes; p is the first plan, which ends there. */
#define MOST_CELLS 48e6 /* of a side in memory */

static assay_plan plan_again(assay_plan *p, double share,
                             const assay_audit_options *o, size_t width)
{
    assay_plan q = *p;
    double unit = (double)p->unit;
    double train = fmin(4e6, MOST_CELLS / (double)width);
    double middle = fmin(share * (double)o->samples, train + 2e6);
    train = fmin(train, 0.75 * middle);
    q.train_end = (uint64_t)(train / unit) * p->unit;
    q.select_end = (uint64_t)(middle / unit) * p->unit;
    uint64_t units = (q.select_end - q.train_end) / p->unit;
    q.pick_end = q.train_end + (units / 4) * p->unit;
    p->end = q.select_end;
    return q;
}

static assay_status certify(assay_stage *stage, const assay_source *source,
                            size_t unit, const assay_audit_options *o,
                            const char *suffix, assay_error *err)
{
    char path[4096];
    if (o->checkpoint != NULL) {
        (void)snprintf(path, sizeof path, "%s%s", o->checkpoint, suffix);
    }
    return assay_certify_run(stage, source, unit, o,
                             o->checkpoint != NULL ? path : NULL, err);
}

/* What noise takes off the predicted bound decides how the runs are spent. A
 * little: as planned. Some: on more training, for a better score gains more
 * than its runs would. Much: on both, and the runs between the two trainings
 * are certified with the first score. */
#define MANY 2000000
#define SOME 0.04
#define MUCH 0.08

static assay_status run_stages(assay_audit_result *out,
                               assay_stage *const *stage,
                               const assay_source *source,
                               const assay_audit_options *o, assay_error *err)
{
    assay_plan p = make_plan(o, source->width), q = p;
    assay_names kept = {.num = 0};
    assay_status status =
        assay_select_prepare(stage[0], NULL, &kept, source, &p, o, err);
    double slack = assay_select_slack(&stage[0]->z, &o->claim,
                                      (double)(p.end - p.select_end));
    int again = !o->one_stage && !o->light && !o->sequential &&
                source->repeats && o->samples >= MANY && slack > SOME;
    int both = again && slack > MUCH;
    if (again) {
        q = plan_again(&p, both ? 0.3 : 0.25, o, source->width);
        again = q.select_end > p.select_end;
        both = both && again;
        q.before = both ? p.end - p.select_end : 0;
        stage[0]->end = again ? p.end : q.end;
    }
    if (status == ASSAY_OK && (both || !again)) {
        status = certify(stage[0], source, p.unit, o, "", err);
    }
    if (status == ASSAY_OK && again) {
        status = assay_select_prepare(stage[1], both ? &stage[0]->z : NULL,
                                      &kept, source, &q, o, err);
    }
    if (status == ASSAY_OK && again) {
        status = certify(stage[1], source, q.unit, o, ".2", err);
    }
    assay_stage *const *used = stage + (again && !both);
    size_t num = both ? 2 : 1;
    if (status == ASSAY_OK) {
        status = assay_conclude(out, used, num, o, err);
    }
    if (status == ASSAY_OK && o->look != NULL) {
        status = o->look(o->look_ctx, used, num, err);
    }
    return status;
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
    assay_stage *stage[ASSAY_MAX_STAGES] = {calloc(1, sizeof **stage),
                                            calloc(1, sizeof **stage)};
    if (stage[0] == NULL || stage[1] == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    if (status == ASSAY_OK) {
        status = run_stages(out, stage, source, options, err);
        out->seconds = now() - start;
    }
    for (size_t k = 0; k < ASSAY_MAX_STAGES; k++) {
        if (stage[k] != NULL) {
            assay_models_clear(&stage[k]->models);
        }
        free(stage[k]);
    }
    return status;
}

/* ---- screening ---------------------------------------------------------- */

#define SCREEN_LEVEL 0.01
#define SCREEN_TRAIN 1503232 /* rows; more are for telling pairs apart */

/* How far the two sides' scores are apart, less what luck gives. */
static double separation(const assay_scores *c, size_t n)
{
    double best = 0;
    for (size_t k = 0; k < c->num; k++) {
        best = fmax(best, assay_scores_separation(c, k));
    }
    return best - 2 / sqrt((double)n);
}

/* The luck in an event's bound; nobody knows what was not seen. */
static double noise_of(const assay_audit_event *e, size_t n)
{
    double least = 3 / (double)n;
    return sqrt((1 / fmax(e->p[0], least) + 1 / fmax(e->p[1], least)) /
                (double)n);
}

/* What layers of one score promise. */
static double layers_promise(const assay_scores *c, size_t k, double target,
                             assay_error *err, assay_status *status)
{
    assay_certify *z = calloc(1, sizeof *z);
    if (z == NULL) {
        *status = assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
        return 0;
    }
    assay_layers_cells(&z->cells, c->s[k][0], c->s[k][1], c->n[k]);
    z->layers_target = target;
    z->layers_level = SCREEN_LEVEL;
    double promise = assay_layers_fit(z);
    free(z);
    return promise;
}

static assay_status screen_scores(assay_promise *out,
                                  const assay_models *models,
                                  const assay_source *source,
                                  const assay_claim *claim, const assay_plan *p,
                                  double target, int close, assay_error *err)
{
    size_t all[ASSAY_MAX_MODELS], n = (size_t)(p->end - p->train_end);
    assay_choice o = {
        .target = target, .level = SCREEN_LEVEL, .caution = 1, .mass_max = 1};
    int layers = close && claim->kind == ASSAY_CLAIM_EPS && claim->delta == 0;
    assay_scores c;
    for (size_t k = 0; k < models->num; k++) {
        all[k] = k;
    }
    assay_status status =
        assay_scores_init(&c, models, all, models->num, n, err);
    if (status == ASSAY_OK) {
        status = assay_scores_range(&c, source, p->train_end, p->end, p->unit,
                                    0, err);
        out->separation = separation(&c, n);
        assay_scores_sort(&c);
    }
    for (size_t k = 0; status == ASSAY_OK && k < c.num; k++) {
        assay_scores_calibrate(&o, &c, k);
        assay_audit_event e =
            assay_work_choose(claim, c.s[k][0], c.s[k][1], n, &o);
        double merit = e.merit - (close ? noise_of(&e, n) : 0);
        if (merit > out->merit) {
            out->merit = merit;
            out->noise = noise_of(&e, n);
        }
        if (layers && assay_scores_trusted(&models->model[c.which[k]])) {
            out->merit =
                fmax(out->merit, layers_promise(&c, k, target, err, &status));
        }
    }
    assay_scores_clear(&c);
    return status;
}

/* The quick attackers; for a close look the splines, if they suit the rows. */
static assay_status screen_models(assay_models *out, const assay_source *source,
                                  const assay_plan *p, int close,
                                  assay_error *err)
{
    static const assay_names best = {1, {"splines"}};
    assay_training data;
    assay_status status =
        assay_train(out, &data, source, p, !close, close ? &best : NULL, err);
    int found = !close;
    for (size_t k = 0; k < out->num; k++) {
        found |= strcmp(out->model[k].name, "splines") == 0;
    }
    if (status == ASSAY_OK && !found) {
        assay_models_clear(out);
        status = assay_models_fit(out, &data, 1, NULL, err);
    }
    assay_training_clear(&data);
    return status;
}

assay_status assay_audit_screen(assay_promise *out, const assay_source *source,
                                const assay_claim *claim, uint64_t samples,
                                uint64_t target, int close, assay_error *err)
{
    assay_plan p;
    p.unit = assay_audit_unit(target);
    uint64_t units = samples / p.unit < 2 ? 2 : samples / p.unit;
    uint64_t train = (units + 1) / 2, most = SCREEN_TRAIN / p.unit;
    p.train_end = (train < most ? train : most) * p.unit;
    p.end = p.pick_end = p.select_end = units * p.unit;
    p.before = 0;
    out->merit = -20;
    out->separation = out->noise = 0;
    out->runs = p.end;
    assay_models models;
    memset(&models, 0, sizeof models);
    assay_status status = screen_models(&models, source, &p, close, err);
    if (status == ASSAY_OK) {
        status = screen_scores(out, &models, source, claim, &p, (double)target,
                               close, err);
    }
    assay_models_clear(&models);
    return status;
}

/* ---- functions ---------------------------------------------------------- */

typedef struct function {
    assay_audit_draw draw;
    void *ctx;
    size_t width;
    double buffer[ASSAY_ROWS_BLOCK * ASSAY_ROWS_WIDTH];
} function;

static assay_status function_fill(void *ctx, int side, uint64_t first, size_t n,
                                  assay_rows *out, assay_error *err)
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
    assay_source source = {width, f, 1, function_fill, NULL, 0};
    assay_status status = assay_audit_run(out, &source, options, err);
    free(f);
    return status;
}
