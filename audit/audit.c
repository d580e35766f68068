/* ring: glue */
#include "audit/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "audit/certify.h"
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

/* ---- the split ------------------------------------------------------------------ */

static assay_plan make_plan(const assay_audit_options *o, size_t width)
{
    assay_plan p;
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
    assay_plan p = make_plan(options, source->width);
    assay_models models;
    memset(&models, 0, sizeof models);
    assay_certify *z = calloc(1, sizeof *z);
    if (z == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    status = assay_select_prepare(z, &models, source, &p, options, err);
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

/* How far the two sides' scores are apart, less what luck gives. */
static double separation(const assay_scores *c, size_t n)
{
    double best = 0;
    for (size_t k = 0; k < c->num; k++) {
        best = fmax(best, assay_scores_separation(c, k));
    }
    return best - 2 / sqrt((double)n);
}

static assay_status screen_scores(assay_promise *out,
                                  const assay_models *models,
                                  const assay_source *source,
                                  const assay_claim *claim, const assay_plan *p,
                                  double target, assay_error *err)
{
    size_t all[ASSAY_MAX_MODELS], n = (size_t)(p->end - p->train_end);
    assay_choice o = {.target = target, .level = 0.01, .caution = 1,
                      .mass_max = 1};
    assay_scores c;
    for (size_t k = 0; k < models->num; k++) {
        all[k] = k;
    }
    assay_status status = assay_scores_init(&c, models, all, models->num, n, err);
    if (status == ASSAY_OK) {
        status = assay_scores_range(&c, source, p->train_end, p->end, p->unit, 0, err);
        out->separation = separation(&c, n);
        assay_scores_sort(&c);
    }
    for (size_t k = 0; status == ASSAY_OK && k < c.num; k++) {
        assay_scores_calibrate(&o, &c, k);
        assay_audit_event e =
            assay_work_choose(claim, c.s[k][0], c.s[k][1], n, &o);
        if (e.merit > out->merit) {
            out->merit = e.merit;
            out->noise = sqrt((1 / fmax(e.p[0], 1e-9) + 1 / fmax(e.p[1], 1e-9)) /
                              (double)n);
        }
    }
    assay_scores_clear(&c);
    return status;
}

assay_status assay_audit_screen(assay_promise *out, const assay_source *source,
                                const assay_claim *claim, uint64_t samples,
                                uint64_t target, assay_error *err)
{
    assay_plan p;
    p.unit = assay_audit_unit(target);
    uint64_t units = samples / p.unit < 2 ? 2 : samples / p.unit;
    p.train_end = (units + 1) / 2 * p.unit;
    p.end = p.pick_end = p.select_end = units * p.unit;
    out->merit = -20;
    out->separation = out->noise = 0;
    out->runs = p.end;
    assay_models models;
    memset(&models, 0, sizeof models);
    assay_training data;
    assay_status status = assay_train(&models, &data, source, &p, 1, err);
    assay_training_clear(&data);
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
