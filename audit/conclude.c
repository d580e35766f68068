/* ring: glue */
#include "audit/conclude.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/layers.h"

/* ---- levels ------------------------------------------------------------- */

int assay_conclude_has_bins(const assay_certify *z)
{
    return z->num_bins > 0 || z->num_past > 0;
}

/* The error budget: a profile or layers get their share, of the rest the first
 * event gets its own. Fixed by the first stage, before any certification row. */
double assay_conclude_level(const assay_certify *z, size_t k, double level)
{
    if (assay_conclude_has_bins(z)) {
        level *= 1 - z->bins_share;
    }
    if (z->num_events == 1) {
        return level;
    }
    return k == 0 ? z->first_share * level
                  : (1 - z->first_share) * level / (double)(z->num_events - 1);
}

static assay_audit_counts counts_of(const assay_pairs *p)
{
    uint64_t n = p->both + p->left + p->right + p->none;
    return (assay_audit_counts){p->both + p->left, n, p->both + p->right, n};
}

/* Event k of all stages. A stage without it would be a way to stop after a
 * lucky one: then the event has no bound. */
double assay_conclude_event(assay_stage *const *stage, size_t num, size_t k,
                            const assay_claim *claim, double level)
{
    assay_audit_counts c[ASSAY_MAX_STAGES];
    double w[ASSAY_MAX_STAGES];
    for (size_t i = 0; i < num; i++) {
        const assay_certify *z = &stage[i]->z;
        if (k >= z->num_events) {
            return 0;
        }
        const assay_audit_event *e = &z->event[k];
        c[i] = counts_of(&z->pairs[k]);
        /* the weight comes from the selection rows */
        w[i] = assay_bound_weight(e->p[0], c[i].n1, e->p[1], c[i].n2);
    }
    return assay_bound_stages(claim, c, w, num,
                              assay_conclude_level(&stage[0]->z, k, level));
}

double assay_conclude_quick(const assay_certify *z, const assay_claim *claim,
                            double level)
{
    double best = 0;
    for (size_t k = 0; k < z->num_events; k++) {
        assay_audit_counts c = counts_of(&z->pairs[k]);
        if (c.n1 > 0) {
            best =
                fmax(best, assay_bound_fast(claim, (double)c.k1, (double)c.n1,
                                            (double)c.k2, (double)c.n2,
                                            assay_conclude_level(z, k, level)));
        }
    }
    return best;
}

int assay_conclude_early(const assay_certify *z, const assay_audit_options *o)
{
    for (size_t k = 0; o->sequential && k < z->num_events; k++) {
        double need = log(1 / assay_conclude_level(z, k, 1 - o->confidence));
        if (assay_bound_log_wealth(o->claim.value, o->claim.delta,
                                   &z->pairs[k]) > need) {
            return 1;
        }
    }
    return 0;
}

/* ---- text --------------------------------------------------------------- */

static void add_counts(assay_audit_counts *to, const assay_audit_counts *c)
{
    to->k1 += c->k1;
    to->n1 += c->n1;
    to->k2 += c->k2;
    to->n2 += c->n2;
}

/* The event of the last stage; counts of all stages' events. */
static void describe(assay_audit_result *out, assay_stage *const *stage,
                     size_t num, size_t k)
{
    const assay_stage *s = stage[0];
    memset(&out->counts, 0, sizeof out->counts);
    for (size_t i = 0; i < num && k < stage[i]->z.num_events; i++) {
        s = stage[i];
        assay_audit_counts c = counts_of(&s->z.pairs[k]);
        add_counts(&out->counts, &c);
    }
    const assay_audit_event *e = &s->z.event[k];
    const assay_model *m = &s->models.model[e->model];
    int is_value =
        m->num_pieces == 1 && m->piece[0].kind == ASSAY_PIECE_IDENTITY;
    (void)snprintf(out->attacker, sizeof out->attacker, "%s", m->name);
    (void)snprintf(out->event, sizeof out->event,
                   is_value ? "%s %s %.9g" : "score of '%s' %s %.9g", m->name,
                   e->swapped ? "<=" : ">=", (double)e->threshold);
    (void)snprintf(out->example, sizeof out->example, "%s",
                   s->examples + k * ASSAY_AUDIT_TEXT);
    out->swapped = e->swapped;
}

/* ---- results ------------------------------------------------------------ */

static void conclude_events(assay_audit_result *out, assay_stage *const *stage,
                            size_t num, const assay_audit_options *o)
{
    double level = 1 - o->confidence;
    const assay_certify *z = &stage[0]->z;
    assay_claim eps = {ASSAY_CLAIM_EPS, 0, o->claim.delta};
    for (size_t k = 0; k < z->num_events; k++) {
        double lower, el;
        if (o->sequential) {
            lower = el = assay_bound_anytime(o->claim.delta, &z->pairs[k],
                                             assay_conclude_level(z, k, level));
            out->log_wealth =
                fmax(out->log_wealth,
                     assay_bound_log_wealth(o->claim.value, o->claim.delta,
                                            &z->pairs[k]));
        } else {
            lower = assay_conclude_event(stage, num, k, &o->claim, level);
            el = o->claim.kind == ASSAY_CLAIM_EPS
                     ? lower
                     : assay_conclude_event(stage, num, k, &eps, level);
        }
        if (k == 0 || lower > out->lower) {
            out->lower = lower;
            describe(out, stage, num, k);
        }
        out->epsilon_lower = fmax(out->epsilon_lower, el);
    }
}

static void conclude_profile(assay_audit_result *out, const assay_stage *s,
                             double level)
{
    const assay_certify *z = &s->z;
    const uint64_t *p = z->bin[z->profile_swapped];
    const uint64_t *q = z->bin[!z->profile_swapped];
    double rho = assay_bound_renyi(z->g, p, q, z->num_bins, z->alpha,
                                   z->bins_share * level);
    if (rho <= out->lower) {
        return;
    }
    const char *name = s->models.model[z->profile_model].name;
    out->lower = rho;
    (void)snprintf(out->attacker, sizeof out->attacker, "%s", name);
    (void)snprintf(out->event, sizeof out->event,
                   "Renyi divergence of order %.3g of the score of '%s' in "
                   "%zu bins",
                   z->alpha, name, z->num_bins);
    out->swapped = z->profile_swapped;
}

/* One slice without a weight, for the runs of a stage that have no layers. */
static void no_layers(assay_layer_counts *out, const assay_stage *s)
{
    uint64_t rest[2] = {s->end - s->first, s->end - s->first};
    for (size_t k = 0; k < s->z.num_past; k++) {
        for (size_t i = 0; i < s->z.past[k].num; i++) {
            rest[0] -= s->z.past[k].count[0][i];
            rest[1] -= s->z.past[k].count[1][i];
        }
    }
    out->num = 1;
    out->count[0][0] = rest[0];
    out->count[1][0] = rest[1];
}

/* The layers of every stage, in the order of the runs. */
static size_t list_layers(assay_layer_counts *out, assay_stage *const *stage,
                          size_t num)
{
    size_t used = 0;
    for (size_t i = 0; i < num; i++) {
        const assay_certify *z = &stage[i]->z;
        for (size_t k = 0; k < z->num_past; k++) {
            out[used++] = z->past[k];
        }
        assay_layer_counts *now = &out[used++];
        if (z->num_bins > 0) {
            now->num = z->num_bins;
            memcpy(now->weight, z->g, sizeof z->g);
            memcpy(now->edge, z->edge, sizeof z->edge);
            memcpy(now->count, z->bin, sizeof z->bin);
        } else {
            no_layers(now, stage[i]);
        }
    }
    return used;
}

/* Thin all counts and toss the coins; the loss of confidence. */
static assay_status thin(assay_layer_counts *list, size_t num, double *lost,
                         uint64_t seed, assay_error *err)
{
    assay_rng rng;
    assay_status status = ASSAY_OK;
    if (seed == 0) {
        status = assay_rng_fresh(&seed, err);
    }
    assay_rng_seed(&rng, seed, 0x7417, 0);
    *lost = 0;
    for (size_t i = 0; i < num; i++) {
        *lost += assay_layers_thin(list[i].count[0], list[i].num, &rng);
        *lost += assay_layers_thin(list[i].count[1], list[i].num, &rng);
        assay_layers_toss(&list[i], &rng);
    }
    return status;
}

/* The counts shown with layers: all slices where one input was expected to be
 * likelier, the stronger direction first. */
static assay_audit_counts layer_counts(const assay_layer_counts *list,
                                       size_t num, int right)
{
    assay_audit_counts c = {0, 0, 0, 0};
    for (size_t i = 0; i < num; i++) {
        const assay_layer_counts *l = &list[i];
        for (size_t k = 0; k < l->num; k++) {
            int in = right ? l->weight[k] < 0 : l->weight[k] > 0;
            c.k1 += in ? l->count[right][k] : 0;
            c.k2 += in ? l->count[!right][k] : 0;
            c.n1 += l->count[right][k];
            c.n2 += l->count[!right][k];
        }
    }
    return c;
}

/* Of the last layers; counts of all. */
static void describe_layers(assay_audit_result *out, const assay_stage *last,
                            const assay_layer_counts *list, size_t num)
{
    size_t used = 0;
    for (size_t k = 0; k < list[num - 1].num; k++) {
        used += list[num - 1].weight[k] != 0;
    }
    assay_audit_counts a = layer_counts(list, num, 0);
    assay_audit_counts b = layer_counts(list, num, 1);
    int right = b.k1 + a.k2 > a.k1 + b.k2;
    out->counts = right ? b : a;
    out->swapped = right;
    const char *name = last->models.model[last->z.profile_model].name;
    (void)snprintf(out->attacker, sizeof out->attacker, "%s", name);
    (void)snprintf(out->event, sizeof out->event,
                   "%zu weighted slices of the score of '%s'; counts: those "
                   "likelier on the %s input",
                   used, name, right ? "right" : "left");
}

static assay_status conclude_layers(assay_audit_result *out,
                                    assay_stage *const *stage, size_t num,
                                    const assay_audit_options *o,
                                    assay_error *err)
{
    assay_layer_counts list[ASSAY_LAYER_STAGES] = {{0}};
    assay_layer_counts thinned[ASSAY_LAYER_STAGES];
    double lost;
    size_t used = list_layers(list, stage, num);
    memcpy(thinned, list, sizeof list);
    assay_status status = thin(thinned, used, &lost, o->seed, err);
    if (status != ASSAY_OK) {
        return status;
    }
    double level = stage[0]->z.bins_share * (1 - o->confidence) - lost;
    double eps = assay_bound_layers(thinned, used, level);
    if (eps > out->lower) {
        out->lower = eps;
        out->epsilon_lower = fmax(out->epsilon_lower, eps);
        describe_layers(out, stage[num - 1], list, used);
    }
    return ASSAY_OK;
}

assay_status assay_conclude(assay_audit_result *out,
                            assay_stage *const stage[ASSAY_MAX_STAGES],
                            size_t num, const assay_audit_options *o,
                            assay_error *err)
{
    assay_status status = ASSAY_OK;
    const assay_certify *z = &stage[0]->z;
    double level = 1 - o->confidence;
    memset(out, 0, sizeof *out);
    out->claim = o->claim;
    out->delta = o->claim.delta;
    out->confidence = o->confidence;
    out->num_events = (int)z->num_events + assay_conclude_has_bins(z);
    out->stages = (int)num;
    conclude_events(out, stage, num, o);
    if (z->num_bins > 0 && z->alpha > 0) {
        conclude_profile(out, stage[0], level);
    } else if (assay_conclude_has_bins(z)) {
        status = conclude_layers(out, stage, num, o, err);
    }
    out->refuted = out->lower > o->claim.value || assay_conclude_early(z, o);
    out->samples = stage[num - 1]->end;
    for (size_t i = 0; i < num; i++) {
        out->certified += stage[i]->end - stage[i]->first;
    }
    out->detection_limit = assay_bound_detection_limit(
        &o->claim, out->certified, z->first_share * level,
        &out->detection_mass);
    return status;
}
