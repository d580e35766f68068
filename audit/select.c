/* ring: glue */
#include "audit/select.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/binomial.h"
#include "audit/conclude.h"
#include "audit/layers.h"
#include "audit/scores.h"

#define MAX_KEEP 6  /* attackers that see all selection rows */
#define CAUTION 1.0 /* standard deviations taken off an estimate */
#define BOLD 0.7    /* the same for the smaller event */
#define SEEN 20     /* runs of the second side that tell something */
#define SMOOTHED 3  /* the same where the ratio is smoothed */

static int is_spline(const assay_model *m)
{
    return m->is_fit && m->num_blend == 0 && strcmp(m->name, "splines") == 0;
}

/* The splines; where there are none, the likeliest of the simple fits. */
static int is_preferred(const assay_models *models, const assay_model *m)
{
    int better = m->evidence == 0;
    for (size_t k = 0; k < models->num; k++) {
        const assay_model *other = &models->model[k];
        if (is_spline(other)) {
            return is_spline(m);
        }
        better |= other->evidence != 0 && other->evidence > m->evidence;
    }
    return !better;
}

/* A slow attacker must promise more, two or three in a hundred. So must others
 * beside the splines, which have seen what they see and more: five. */
static double costly(const assay_models *models, size_t at, double merit)
{
    const assay_model *m = &models->model[at];
    int slow = m->smooth != NULL || m->mlp != NULL, splines = 0;
    for (size_t k = 0; k < models->num; k++) {
        splines |= is_spline(&models->model[k]);
    }
    slow = m->num_blend > 0 ? 2 : slow;
    return 0.01 * fmax(merit, 0) *
           ((slow > 0 ? 1 + slow : 0) + (splines && !is_spline(m) ? 5 : 0));
}

/* Where counts are too few to tell scores apart by their predicted bound,
 * the separation of the two sides decides: it uses every row. Of what was
 * not seen a tenth of a run may be on its way. */
#define UNSEEN 0.1
static void weigh_luck(assay_audit_event *e, const assay_scores *c,
                       double weight)
{
    double most = 0, top = 0, apart[ASSAY_MAX_MODELS];
    for (size_t k = 0; k < c->num; k++) {
        apart[k] = assay_scores_separation(c, k);
        if (!assay_scores_trusted(&c->models->model[c->which[k]])) {
            apart[k] *= 0.8; /* its best rows were lucky in training */
        }
        most = fmax(most, apart[k]);
        top = fmax(top, e[k].merit);
    }
    for (size_t k = 0; most > 0 && top > 0 && k < c->num; k++) {
        double n = (double)c->n[k], least = UNSEEN / n;
        double v = 1 / fmax(e[k].p[0], least) + 1 / fmax(e[k].p[1], least);
        double luck = sqrt(v / n) / fmax(e[k].merit, 1e-9);
        luck = weight * fmin(luck, 1);
        if (e[k].merit > 0) {
            e[k].merit = (1 - luck) * e[k].merit + luck * top * apart[k] / most;
        }
    }
}

/* The best event of each score column. */
static void best_events(assay_audit_event *out, const assay_scores *c,
                        const assay_claim *claim, const assay_choice *choice)
{
    for (size_t k = 0; k < c->num; k++) {
        assay_choice o = *choice;
        assay_scores_calibrate(&o, c, k);
        out[k] = assay_work_choose(claim, c->s[k][0], c->s[k][1], c->n[k], &o);
        out[k].model = c->which[k];
    }
}

/* The columns' merits as they are, and weighed. */
static void merits(double *out, double *weighed, const assay_scores *c,
                   const assay_claim *claim, double target, double level)
{
    const assay_choice careful = {
        .target = target, .level = level, .caution = CAUTION, .mass_max = 1};
    assay_audit_event e[ASSAY_MAX_MODELS];
    best_events(e, c, claim, &careful);
    for (size_t k = 0; k < c->num; k++) {
        out[k] = e[k].merit;
    }
    if (claim->kind == ASSAY_CLAIM_EPS) {
        weigh_luck(e, c, 1);
    }
    for (size_t k = 0; k < c->num; k++) {
        weighed[k] = e[k].merit;
    }
}

/* The best few columns, taken out of the list one after the other. */
static size_t take_best(size_t *out, size_t most, double *merit, size_t num,
                        const assay_scores *c, int only_trusted)
{
    size_t got = 0;
    while (got < most) {
        size_t at = num;
        for (size_t k = 0; k < num; k++) {
            int may = merit[k] > -30 &&
                      (!only_trusted ||
                       assay_scores_trusted(&c->models->model[c->which[k]]));
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
static void blend_weights(double *out, const assay_scores *c,
                          const size_t *which, size_t num, size_t n)
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

static void unsorted_blend(assay_models *models, const assay_scores *c,
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

/* Two more by the weighed merit, unless they are kept already (marked by 100,
 * which is taken off again). */
static size_t keep_apart(size_t *keep, size_t num, double *merit,
                         const assay_scores *c)
{
    double left[ASSAY_MAX_MODELS] = {0};
    size_t column[MAX_KEEP];
    for (size_t k = 0; k < c->num; k++) {
        left[k] = merit[k] > 60 ? -40 : merit[k];
        merit[k] -= merit[k] > 60 ? 100 : 0;
    }
    size_t more = take_best(column, MAX_KEEP - 2 - num, left, c->num, c, 0);
    for (size_t k = 0; k < more; k++) {
        keep[num++] = c->which[column[k]];
    }
    return num;
}

static size_t keep_preferred(size_t *keep, size_t num,
                             const assay_models *models)
{
    for (size_t k = 0; k < models->num; k++) {
        int there = !is_preferred(models, &models->model[k]);
        for (size_t i = 0; i < num; i++) {
            there |= keep[i] == k;
        }
        if (!there && num + 1 < MAX_KEEP) { /* a blend may follow */
            keep[num++] = k;
        }
    }
    return num;
}

/* Which attackers are worth all selection rows: the best few, and a blend of
 * the best that are likelihood ratios. */
static assay_status pick_models(size_t *keep, size_t *num_keep,
                                assay_models *models,
                                const assay_source *source, const assay_plan *p,
                                const assay_audit_options *o, double target,
                                assay_error *err)
{
    size_t all[ASSAY_MAX_MODELS], column[MAX_KEEP];
    double merit[ASSAY_MAX_MODELS] = {0}, again[ASSAY_MAX_MODELS] = {0};
    for (size_t k = 0; k < models->num; k++) {
        all[k] = k;
    }
    assay_scores c, sorted;
    size_t n = (size_t)(p->pick_end - p->train_end);
    assay_status status =
        assay_scores_init(&c, models, all, models->num, n, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_scores_init(&sorted, models, all, models->num, n, err);
    if (status == ASSAY_OK) {
        status = assay_scores_range(&c, source, p->train_end, p->pick_end,
                                    p->unit, o->threads, err);
    }
    if (status == ASSAY_OK) {
        for (size_t k = 0; k < c.num; k++) {
            memcpy(sorted.s[k][0], c.s[k][0], n * sizeof(float));
            memcpy(sorted.s[k][1], c.s[k][1], n * sizeof(float));
        }
        assay_scores_sort(&sorted);
        merits(merit, again, &sorted, &o->claim, target, 1 - o->confidence);
        size_t num = take_best(column, 2, merit, c.num, &c, 0);
        for (size_t k = 0; k < num; k++) {
            keep[k] = c.which[column[k]];
            again[column[k]] += 100; /* marked */
        }
        *num_keep = keep_apart(keep, num, again, &c);
        *num_keep = keep_preferred(keep, *num_keep, models);
        num = take_best(column, ASSAY_MAX_BLEND, again, c.num, &c, 1);
        if (num > 1 && !o->light) {
            unsorted_blend(models, &c, column, num, n, keep, num_keep);
        }
    }
    assay_scores_clear(&sorted);
    assay_scores_clear(&c);
    return status;
}

/* Of several scores one is likely to be lucky: others than the preferred one
 * must be ahead by some of their noise; where the second side hardly shows an
 * event that stands out far beyond its noise, by two in a hundred. */
#define AHEAD 0.7 /* standard deviations */
#define FAR 4     /* the same */
static double doubt(const assay_scores *c, size_t k, const assay_audit_event *e)
{
    double n = (double)c->n[k], a = e->p[0] * n, b = e->p[1] * n;
    double noise = sqrt(1 / a + 1 / fmax(b, 1));
    if (is_preferred(c->models, &c->models->model[c->which[k]])) {
        return 0;
    }
    return b < SEEN && e->merit > FAR * noise ? 0.02 * e->merit : AHEAD * noise;
}

/* The column with the best event. */
static size_t best_column(const assay_scores *c, const assay_claim *claim,
                          const assay_choice *o)
{
    size_t at = 0;
    assay_audit_event e[ASSAY_MAX_MODELS];
    double top = -INFINITY;
    best_events(e, c, claim, o);
    if (claim->kind == ASSAY_CLAIM_EPS) {
        weigh_luck(e, c, 0.5);
    }
    for (size_t k = 0; k < c->num; k++) {
        double merit = e[k].merit - costly(c->models, e[k].model, e[k].merit);
        merit -= claim->kind == ASSAY_CLAIM_EPS ? doubt(c, k, &e[k]) : 0;
        at = merit > top ? k : at;
        top = fmax(top, merit);
    }
    return at;
}

/* Cells of the best score, if it orders rows by their ratio, and a better
 * threshold by what they tell together. */
static void improve(assay_certify *z, assay_audit_event *e,
                    const assay_scores *c, size_t at, const assay_claim *claim,
                    const assay_choice *o)
{
    assay_audit_event better;
    if (claim->kind != ASSAY_CLAIM_EPS ||
        !assay_scores_trusted(&c->models->model[c->which[at]]) ||
        e->p[1] * (double)c->n[at] < SMOOTHED) {
        return;
    }
    assay_layers_cells(&z->cells, c->s[at][0], c->s[at][1], c->n[at]);
    if (assay_layers_event(&better, &z->cells, claim, o->target, o->level)) {
        better.model = e->model;
        better.merit = fmin(better.merit, e->merit);
        *e = better;
    }
}

/* The events to certify: the best one by careful estimates, and two of the
 * same score: a clearly smaller one, which care made look too bad, and a
 * clearly larger one in case the estimate was luck, believing counts only.
 * (One score for all: scoring is most of the work.) */
static void choose_events(assay_certify *z, const assay_scores *c,
                          const assay_claim *claim, double target, double level)
{
    assay_choice o = {
        .target = target, .level = level, .caution = CAUTION, .mass_max = 1};
    size_t at = best_column(c, claim, &o);
    double mass = 0;
    for (int round = 0; round < 3; round++) {
        if (round > 0) {
            o.bold = round == 1;
            o.plain = round == 2;
            o.caution = round == 1 ? BOLD : 2;
            o.mass_min = round == 1 ? 0 : 1.6 * mass;
            o.mass_max = round == 1 ? 0.65 * mass : 1;
        }
        assay_scores_calibrate(&o, c, at);
        assay_audit_event best =
            assay_work_choose(claim, c->s[at][0], c->s[at][1], c->n[at], &o);
        best.model = c->which[at];
        if (round == 0) {
            improve(z, &best, c, at, claim, &o);
        }
        if (best.merit > -10) {
            z->event[z->num_events++] = best;
        }
        mass = round == 0 ? best.p[0] : mass;
    }
}

/* Bins of the best score for the Renyi profile: equal shares of the left and
 * right scores together, and half-shares in the tails. */
static void choose_profile(assay_certify *z, assay_scores *c,
                           const assay_claim *claim, double target,
                           double level)
{
    size_t best = 0;
    double merit = -1;
    for (size_t k = 0; k < c->num; k++) {
        double m = assay_profile_fit(z, c->s[k][0], c->s[k][1], c->n[k], target,
                                     level, claim);
        if (m > merit) {
            merit = m;
            best = k;
        }
    }
    (void)assay_profile_fit(z, c->s[best][0], c->s[best][1], c->n[best], target,
                            level, claim);
    z->profile_model = c->which[best];
    z->bins_share = 0.8;
}

/* Layers of the best event's score: where the event has a small mass they use
 * the runs better. (With a large mass the thinning costs what weights gain; a
 * large ratio shows in rare events, which are no matter of weights, and neither
 * are a few hundred runs of the second side.) */
#define LAYERS_MASS 0.15
#define LAYERS_MOST 4
#define LAYERS_LEAST 500
static int worth_layers(const assay_certify *z, double target)
{
    const assay_audit_event *e = &z->event[0];
    return z->num_events > 0 && e->p[0] <= LAYERS_MASS &&
           e->merit <= LAYERS_MOST && e->p[1] * target >= LAYERS_LEAST;
}

static void choose_layers(assay_certify *z, double target, double level,
                          double share)
{
    const assay_audit_event *e = &z->event[0];
    z->layers_target = target;
    z->layers_level = share * level;
    (void)assay_layers_fit(z);
    z->bins_share = share;
    z->profile_model = e->model;
}

/* What the certification's noise alone takes off the best event's log ratio;
 * 1 if there is no event, or if the second side does not show it. (The slack
 * below has the doubts about the estimate in it too.) */
static double noise_share(const assay_certify *z, const assay_claim *claim,
                          double target, double level)
{
    const assay_audit_event *e = &z->event[0];
    double top = e->p[0] - claim->delta, x = log(top / e->p[1]);
    double v = 1 / (e->p[0] * target) + 1 / (e->p[1] * target);
    return z->num_events > 0 && top > 0 && e->p[1] > 0 && x > 0
               ? fmin(-assay_normal_quantile(level) * sqrt(v) / x, 1)
               : 1;
}

/* Where noise takes little the error budget is cheap: layers get half of it,
 * and of the rest the first event. */
#define LITTLE 0.06

/* A second stage has what the first one has, whatever its rows advise: were
 * that its choice, it could be silent after a lucky first one. An event that is
 * missing is the first one again, or nothing at all. */
static void follow(assay_certify *z, const assay_certify *before, double target,
                   double level)
{
    assay_audit_event spare = {.threshold = INFINITY};
    if (z->num_events > 0) {
        spare = z->event[0];
    }
    if (assay_conclude_has_bins(before) && z->num_events > 0) {
        choose_layers(z, target, level, before->bins_share);
    }
    while (z->num_events < before->num_events) {
        z->event[z->num_events++] = spare;
    }
    z->num_events = before->num_events;
}

static void choose(assay_certify *z, const assay_certify *before,
                   assay_scores *c, const assay_audit_options *o, double target)
{
    double level = 1 - o->confidence;
    choose_events(z, c, &o->claim, target, level);
    int little = noise_share(z, &o->claim, target, level) < LITTLE;
    z->first_share = little ? 0.5 : 0.92;
    if (before != NULL) {
        follow(z, before, target, level);
    } else if (o->claim.kind == ASSAY_CLAIM_RHO) {
        choose_profile(z, c, &o->claim, target, level);
    } else if (o->claim.kind == ASSAY_CLAIM_EPS && o->claim.delta == 0 &&
               !o->sequential && worth_layers(z, target)) {
        choose_layers(z, target, level, little ? 0.5 : 0.95);
    }
    if (z->num_bins == 0 || z->alpha > 0) {
        z->cells.num = 0; /* nobody needs them */
    }
}

static assay_status
select_events(assay_certify *z, const assay_certify *before,
              const assay_models *models, const assay_training *data,
              const size_t *keep, size_t num_keep, const assay_source *source,
              const assay_plan *p, const assay_audit_options *o, double target,
              assay_error *err)
{
    assay_scores c;
    size_t n = (size_t)(p->select_end - p->pick_end);
    assay_status status = assay_scores_init(&c, models, keep, num_keep, n, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_scores_range(&c, source, p->pick_end, p->select_end, p->unit,
                                o->threads, err);
    if (status == ASSAY_OK) {
        status = assay_scores_plain(&c, data, err);
    }
    if (status == ASSAY_OK) {
        assay_scores_sort(&c);
        choose(z, before, &c, o, target);
    }
    assay_scores_clear(&c);
    return status;
}

/* Names of the attackers worth training again: that of the events (of a blend
 * its parts), and the splines, which gain most from more rows. */
static void note_names(assay_names *out, const assay_models *models,
                       const assay_certify *z)
{
    const assay_names always = {2, {"splines", "broken lines"}};
    *out = always;
    if (z->num_events == 0) {
        return;
    }
    const assay_model *m = &models->model[z->event[0].model];
    size_t parts = m->num_blend > 0 ? m->num_blend : 1;
    for (size_t i = 0; i < parts; i++) {
        const assay_model *part = m->num_blend > 0 ? m->blend[i] : m;
        memcpy(out->name[out->num++], part->name, sizeof part->name);
    }
}

assay_status assay_select_prepare(assay_stage *stage,
                                  const assay_certify *before,
                                  assay_names *kept, const assay_source *source,
                                  const assay_plan *p,
                                  const assay_audit_options *o,
                                  assay_error *err)
{
    size_t keep[MAX_KEEP], num_keep = 0;
    /* weights and thresholds are for the bound of all stages together */
    double target = (double)(p->end - p->select_end + p->before);
    assay_models *models = &stage->models;
    assay_training data;
    assay_status status = assay_train(models, &data, source, p, o->light,
                                      kept->num > 0 ? kept : NULL, err);
    if (status == ASSAY_OK) {
        status =
            pick_models(keep, &num_keep, models, source, p, o, target, err);
    }
    if (status == ASSAY_OK) {
        status = select_events(&stage->z, before, models, &data, keep, num_keep,
                               source, p, o, target, err);
        note_names(kept, models, &stage->z);
    }
    assay_training_clear(&data);
    stage->first = p->select_end;
    stage->end = p->end;
    return status;
}

/* Where the second side hardly ever shows the event, noise is not what a better
 * score would be lost in. */
#define RARE 50

double assay_select_slack(const assay_certify *z, const assay_claim *claim,
                          double target)
{
    const assay_audit_event *e = &z->event[0];
    if (z->num_events == 0 || claim->kind != ASSAY_CLAIM_EPS ||
        e->p[1] * target < RARE) {
        return 0;
    }
    double top = e->p[0] - claim->delta, x = log(top / e->p[1]);
    return top > 0 && isfinite(x) && x > 0 ? 1 - fmax(e->merit, 0) / x : 1;
}
