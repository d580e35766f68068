/* ring: glue */
#include "audit/certify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checkpoint.h"
#include "audit/conclude.h"
#include "audit/layers.h"
#include "audit/ranks.h"
#include "audit/rng.h"
#include "core/progress.h"

#define BLOCK ASSAY_ROWS_BLOCK

/* ---- Renyi profile ------------------------------------------------------ */

/* The bin of every score: how many edges lie below it. */
ASSAY_SIMD
static void bins_of(const assay_certify *z, const float *x, size_t n,
                    int32_t *out)
{
    memset(out, 0, n * sizeof *out);
    for (size_t k = 0; k + 1 < z->num_bins; k++) {
        float edge = z->edge[k];
        for (size_t i = 0; i < n; i++) {
            out[i] += x[i] > edge;
        }
    }
}

/* Counts of sorted scores in the bins. */
static void count_bins(const assay_certify *z, const float *x, size_t n,
                       uint64_t *out)
{
    size_t k = 0;
    memset(out, 0, ASSAY_PROFILE_BINS * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        while (k + 1 < z->num_bins && x[i] > z->edge[k]) {
            k++;
        }
        out[k]++;
    }
}

static void make_bins(assay_certify *z, const float *a, const float *b,
                      size_t n)
{
    /* edges at shares of both sides, finer towards the ends */
    static const double share[] = {1e-4, 3e-4, 1e-3, 3e-3, 0.01,
                                   0.02, 0.04, 0.07, 0.1,  0.15,
                                   0.2,  0.27, 0.34, 0.42, 0.5};
    float all[80];
    size_t num = 0; /* 60 edges at most */
    for (size_t k = 0; k < sizeof share / sizeof share[0]; k++) {
        double low = share[k] * (double)n, high = (1 - share[k]) * (double)n;
        all[num++] = a[(size_t)low];
        all[num++] = b[(size_t)low];
        all[num++] = a[(size_t)high];
        all[num++] = b[(size_t)high];
    }
    float spare[80];
    assay_work_sort(all, spare, num);
    z->num_bins = 1;
    for (size_t k = 0; k < num && z->num_bins < ASSAY_PROFILE_BINS; k++) {
        if (z->num_bins == 1 || all[k] > z->edge[z->num_bins - 2]) {
            z->edge[z->num_bins++ - 1] = all[k];
        }
    }
}

/* Brought nearer to 0 by half its noise. */
static double log_share(uint64_t left, uint64_t right)
{
    double a = (double)left + 0.5, b = (double)right + 0.5, g = log(a / b);
    return copysign(fmax(fabs(g) - 0.5 * sqrt(1 / a + 1 / b), 0), g);
}

/* Half of the counts, every run by a coin of its own. */
static void halve(uint64_t *half, const uint64_t *count, size_t num,
                  assay_rng *rng)
{
    for (size_t k = 0; k < num; k++) {
        half[k] = 0;
        for (uint64_t left = count[k]; left > 0;) {
            uint64_t take = left < 64 ? left : 64, word = assay_rng_u64(rng);
            word &= take < 64 ? (UINT64_C(1) << take) - 1 : UINT64_MAX;
            half[k] += (uint64_t)__builtin_popcountll(word);
            left -= take;
        }
    }
}

static void scale_counts(uint64_t *out, const uint64_t *count, size_t num,
                         double factor)
{
    for (size_t k = 0; k < num; k++) {
        out[k] = (uint64_t)((double)count[k] * factor);
    }
}

/* The order is chosen by what g of one half shows on the other half: on its
 * own rows a high order flatters the luckiest bin. A run more of the second
 * side in every bin, for neither half may have seen what high orders are lost
 * by. Half of the merit is what that other half would certify by itself, which
 * shuns noisy orders. */
static double try_profile(assay_certify *z, const uint64_t *left,
                          const uint64_t *right, size_t n, double target,
                          double level)
{
    double best = 0, g[ASSAY_PROFILE_BINS];
    uint64_t fit[2][ASSAY_PROFILE_BINS], rest[2][ASSAY_PROFILE_BINS];
    uint64_t full[2][ASSAY_PROFILE_BINS];
    assay_rng rng;
    assay_rng_seed(&rng, 1, 0x9a1f, 0);
    halve(fit[0], left, z->num_bins, &rng);
    halve(fit[1], right, z->num_bins, &rng);
    for (size_t k = 0; k < z->num_bins; k++) {
        g[k] = log_share(fit[0][k], fit[1][k]);
        z->g[k] = log_share(left[k], right[k]);
        rest[0][k] = left[k] - fit[0][k];
        rest[1][k] = right[k] - fit[1][k] + 1;
    }
    scale_counts(full[0], rest[0], z->num_bins, 2 * target / (double)n);
    scale_counts(full[1], rest[1], z->num_bins, 2 * target / (double)n);
    for (double alpha = 1.05; alpha < 8; alpha = 1 + (alpha - 1) * 1.3) {
        double rho = 0.5 * assay_bound_renyi(g, rest[0], rest[1], z->num_bins,
                                             alpha, level) +
                     0.5 * assay_bound_renyi(g, full[0], full[1], z->num_bins,
                                             alpha, level);
        if (rho > best) {
            best = rho;
            z->alpha = alpha;
        }
    }
    return best;
}

double assay_profile_fit(assay_certify *z, const float *left,
                         const float *right, size_t n, double target,
                         double level, const assay_claim *claim)
{
    uint64_t c[2][ASSAY_PROFILE_BINS];
    (void)claim;
    make_bins(z, left, right, n);
    count_bins(z, left, n, c[0]);
    count_bins(z, right, n, c[1]);
    z->alpha = 1.5;
    double straight = try_profile(z, c[0], c[1], n, target, level);
    assay_certify other = *z;
    double swapped = try_profile(&other, c[1], c[0], n, target, level);
    if (swapped > straight) {
        *z = other;
    }
    z->profile_swapped = swapped > straight;
    return fmax(straight, swapped);
}

/* ---- counting ----------------------------------------------------------- */

typedef struct counting {
    const assay_certify *z;
    const assay_models *models;
    const assay_source *source;
    assay_certify *part; /* one a thread */
    char *example;
    int example_for; /* event whose example is wanted, first unit only */
    uint64_t first;
} counting;

ASSAY_MUST_CHECK
static int inside(const assay_audit_event *e, float s)
{
    return e->swapped ? s <= e->threshold : s >= e->threshold;
}

static void count_event(const assay_audit_event *e, assay_pairs *to,
                        const float *a, const float *b, size_t n)
{
    uint64_t both = 0, left = 0, right = 0;
    float t = e->threshold;
    if (e->swapped) { /* the right input plays first */
        for (size_t i = 0; i < n; i++) {
            int x = b[i] <= t, y = a[i] <= t;
            both += (uint64_t)(x & y);
            left += (uint64_t)x;
            right += (uint64_t)y;
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            int x = a[i] >= t, y = b[i] >= t;
            both += (uint64_t)(x & y);
            left += (uint64_t)x;
            right += (uint64_t)y;
        }
    }
    to->both += both;
    to->left += left - both;
    to->right += right - both;
    to->none += n - left - right + both;
}

static void note_example(const counting *c, const float *a, const float *b,
                         const assay_rows *left, const assay_rows *right,
                         size_t k)
{
    const assay_audit_event *e = &c->z->event[k];
    const assay_rows *rows = e->swapped ? right : left;
    const float *s = e->swapped ? b : a;
    for (size_t i = 0; i < rows->num; i++) {
        if (inside(e, s[i])) {
            assay_rows_text(c->example + k * ASSAY_AUDIT_TEXT, ASSAY_AUDIT_TEXT,
                            c->source, rows, i);
            return;
        }
    }
}

static void count_profile(const counting *c, assay_certify *to, int side,
                          const float *score, size_t n)
{
    int32_t bin[BLOCK];
    bins_of(c->z, score, n, bin);
    for (size_t i = 0; i < n; i++) {
        to->bin[side][bin[i]]++;
    }
}

/* The cell of a score: the first whose top is not below it. */
static size_t cell_of(const assay_cells *c, float x)
{
    size_t at = 0, left = c->num;
    while (left > 1) {
        size_t half = left / 2;
        at += x > c->top[at + half - 1] ? half : 0;
        left -= half;
    }
    return at;
}

static void count_cells(const counting *c, assay_certify *to, int side,
                        const float *score, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        to->cells.count[side][cell_of(&c->z->cells, score[i])]++;
    }
}

static void score_both(const counting *c, size_t model, size_t *have,
                       const assay_rows *left, const assay_rows *right,
                       float *a, float *b)
{
    if (*have != model) {
        assay_model_score(&c->models->model[model], left, a);
        assay_model_score(&c->models->model[model], right, b);
        *have = model;
    }
}

static assay_status count_unit(void *arg, int thread, uint64_t first,
                               const assay_rows *left, const assay_rows *right,
                               assay_error *err)
{
    counting *c = arg;
    assay_certify *to = &c->part[thread];
    float a[BLOCK] = {0}, b[BLOCK] = {0};
    (void)err;
    size_t have = SIZE_MAX; /* the model whose scores are at hand */
    for (size_t k = 0; k < c->z->num_events; k++) {
        const assay_audit_event *e = &c->z->event[k];
        score_both(c, e->model, &have, left, right, a, b);
        count_event(e, &to->pairs[k], a, b, left->num);
        if (first == c->first) {
            note_example(c, a, b, left, right, k);
        }
    }
    if (c->z->num_bins > 0) {
        score_both(c, c->z->profile_model, &have, left, right, a, b);
        count_profile(c, to, 0, a, left->num);
        count_profile(c, to, 1, b, right->num);
    }
    if (c->z->cells.num > 0) {
        count_cells(c, to, 0, a, left->num);
        count_cells(c, to, 1, b, right->num);
    }
    return ASSAY_OK;
}

static void add_part(assay_certify *z, const assay_certify *part)
{
    for (size_t k = 0; k < z->num_events; k++) {
        z->pairs[k].both += part->pairs[k].both;
        z->pairs[k].left += part->pairs[k].left;
        z->pairs[k].right += part->pairs[k].right;
        z->pairs[k].none += part->pairs[k].none;
    }
    for (size_t i = 0; i < ASSAY_PROFILE_BINS; i++) {
        z->bin[0][i] += part->bin[0][i];
        z->bin[1][i] += part->bin[1][i];
    }
    for (size_t i = 0; i < ASSAY_CELLS; i++) {
        z->cells.count[0][i] += part->cells.count[0][i];
        z->cells.count[1][i] += part->cells.count[1][i];
    }
}

/* ---- the run ------------------------------------------------------------ */

assay_ranks assay_ranks_here = {0, 1, NULL};

/* This rank's part of the units in [first, end). */
static void my_part(uint64_t *first, uint64_t *end, size_t unit)
{
    const assay_ranks *r = &assay_ranks_here;
    uint64_t units = (*end - *first + unit - 1) / unit, base = *first;
    uint64_t size = (uint64_t)r->size, rank = (uint64_t)r->rank;
    uint64_t from = (units * rank + size - 1) / size; /* rank 0 has the first */
    uint64_t to = (units * (rank + 1) + size - 1) / size;
    *first = base + from * unit;
    *end = base + to * unit < *end ? base + to * unit : *end;
}

/* Everything counted, and the events' digest so that ranks can disagree. */
typedef struct summed {
    assay_pairs pairs[ASSAY_MAX_EVENTS];
    uint64_t bin[2][ASSAY_PROFILE_BINS];
    uint64_t cell[2][ASSAY_CELLS];
    uint64_t digest;
} summed;

static uint64_t digest_of(const assay_certify *z)
{
    uint64_t h = z->num_events;
    for (size_t k = 0; k < z->num_events; k++) {
        uint32_t t;
        memcpy(&t, &z->event[k].threshold, sizeof t);
        h = (h * 1000003) ^
            (t + 2 * z->event[k].model + (uint64_t)z->event[k].swapped);
    }
    return h & 0xffffffffffff;
}

static assay_status sum_ranks(assay_certify *part, const assay_certify *z,
                              assay_error *err)
{
    const assay_ranks *r = &assay_ranks_here;
    if (r->size == 1) {
        return ASSAY_OK;
    }
    static summed all;
    uint64_t mine = digest_of(z);
    memcpy(all.pairs, part->pairs, sizeof all.pairs);
    memcpy(all.bin, part->bin, sizeof all.bin);
    memcpy(all.cell, part->cells.count, sizeof all.cell);
    all.digest = mine;
    if (r->sum((uint64_t *)(void *)&all, sizeof all / sizeof(uint64_t)) != 0) {
        return assay_fail(err, ASSAY_IO, "audit: the ranks lost touch");
    }
    if (all.digest != mine * (uint64_t)r->size) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "audit: the target does not repeat its runs, so the "
                          "ranks disagree; audit it with one process");
    }
    memcpy(part->pairs, all.pairs, sizeof all.pairs);
    memcpy(part->bin, all.bin, sizeof all.bin);
    memcpy(part->cells.count, all.cell, sizeof all.cell);
    return ASSAY_OK;
}

static assay_status count_chunk(counting *c, assay_certify *z, uint64_t first,
                                uint64_t end, size_t unit, int threads,
                                assay_error *err)
{
    int num = assay_work_threads(threads);
    c->part = calloc((size_t)num, sizeof *c->part);
    if (c->part == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    my_part(&first, &end, unit);
    assay_status status = assay_work_units(c->source, first, end, unit, threads,
                                           count_unit, c, err);
    assay_certify *total = &c->part[0];
    total->num_events = z->num_events;
    for (int t = 1; status == ASSAY_OK && t < num; t++) {
        add_part(total, &c->part[t]);
    }
    if (status == ASSAY_OK) {
        status = sum_ranks(total, z, err);
    }
    if (status == ASSAY_OK) {
        add_part(z, total);
    }
    free(c->part);
    c->part = NULL;
    return status;
}

static void show(assay_progress *meter, const assay_certify *z,
                 const assay_audit_options *o, uint64_t done)
{
    char note[64];
    if (o->label == NULL) {
        return;
    }
    (void)snprintf(note, sizeof note, "bound %.4g",
                   assay_conclude_quick(z, &o->claim, 1 - o->confidence));
    assay_progress_update(meter, done, note);
}

/* Layers are chosen anew after a sixteenth, an eighth, a quarter and a half of
 * the rows. */
static uint64_t refit_at(uint64_t first, uint64_t end, size_t unit,
                         size_t num_past)
{
    uint64_t part = (end - first) >> (ASSAY_REFITS - num_past);
    return num_past < ASSAY_REFITS ? first + (part / unit + 1) * unit : end;
}

/* Chunks: 1 % steps, but the sequential test looks after 1, 2, 4, ... units. */
static uint64_t chunk_end(uint64_t at, uint64_t first, uint64_t end,
                          size_t unit, int sequential)
{
    uint64_t step = ((end - first) / 100 / unit + 1) * unit;
    if (sequential && at - first < step) {
        step = at == first ? unit : at - first;
    }
    return end - at < step ? end : at + step;
}

assay_status assay_certify_run(assay_stage *stage, const assay_source *source,
                               size_t unit, const assay_audit_options *options,
                               const char *checkpoint, assay_error *err)
{
    assay_certify *z = &stage->z;
    uint64_t first = stage->first, at = first;
    counting c = {z, &stage->models, source, NULL, stage->examples, 0, first};
    assay_progress meter;
    assay_status status = assay_checkpoint_load(checkpoint, z, options, &at,
                                                stage->examples, err);
    if (options->label != NULL) {
        assay_progress_start(&meter, options->label, stage->end - first);
    }
    while (status == ASSAY_OK && at < stage->end &&
           !assay_conclude_early(z, options)) {
        uint64_t to =
            chunk_end(at, first, stage->end, unit, options->sequential);
        uint64_t refit = refit_at(first, stage->end, unit, z->num_past);
        to = z->cells.num > 0 && refit > at && refit < to ? refit : to;
        status = count_chunk(&c, z, at, to, unit, options->threads, err);
        at = to;
        if (z->cells.num > 0 && at == refit && at < stage->end) {
            assay_layers_refit(z);
        }
        if (status == ASSAY_OK) {
            show(&meter, z, options, at - first);
        }
        if (status == ASSAY_OK && assay_ranks_here.rank == 0) {
            status = assay_checkpoint_save(checkpoint, z, options, at,
                                           stage->examples, err);
        }
    }
    if (options->label != NULL) {
        assay_progress_finish(&meter);
    }
    stage->end = at;
    return status;
}
