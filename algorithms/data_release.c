/* ring: glue */
#include "algorithms/data_release.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/data_source.h"
#include "algorithms/prefix_count.h"
#include "mechanisms/stable_prefix.h"

void assay_data_release_params_init(assay_data_release_params *params)
{
    memset(params, 0, sizeof *params);
    params->bar = ASSAY_BAR_NORMALISED;
    params->num_draws = 25;
    params->cap = 200;
    mpq_init(params->epsilon);
    mpq_init(params->delta);
}

void assay_data_release_params_clear(assay_data_release_params *params)
{
    mpq_clear(params->epsilon);
    mpq_clear(params->delta);
}

void assay_data_release_report_init(assay_data_release_report *report)
{
    memset(report, 0, sizeof *report);
    assay_stable_plan_init(&report->plan);
}

void assay_data_release_report_clear(assay_data_release_report *report)
{
    assay_stable_plan_clear(&report->plan);
}

assay_status assay_data_release_plan(assay_data_release_report *report,
                                     const assay_data_release_params *params,
                                     double p_min, int num_actions,
                                     assay_error *err)
{
    assay_stable_plan *plan = &report->plan;
    int64_t least = assay_policy_least(p_min);
    assay_status status;
    if (num_actions < 2 || least < 1 ||
        least > ASSAY_PREFIX_ONE / num_actions) {
        return assay_fail(err, ASSAY_INVALID,
                          "p_min must lie between 2^-30 and one over the "
                          "number of actions (at least 2)");
    }
    plan->bar = params->bar;
    plan->num_draws = params->num_draws;
    plan->cap = params->cap;
    plan->unit = ASSAY_PREFIX_UNIT;
    mpq_set_si(plan->least, least, ASSAY_PREFIX_ONE);
    mpq_set_si(plan->most, ASSAY_PREFIX_ONE - (num_actions - 1) * least,
               ASSAY_PREFIX_ONE);
    mpq_canonicalize(plan->least);
    mpq_canonicalize(plan->most);
    status = assay_stable_calibrate(plan, params->epsilon, params->delta, err);
    if (status == ASSAY_OK) {
        status = assay_stable_threshold(&report->threshold, plan, err);
    }
    uint64_t most =
        params->population > 0 ? params->population : ASSAY_EXPERTS_MAX;
    if (status == ASSAY_OK &&
        (uint64_t)report->threshold / ASSAY_PREFIX_UNIT >= most) {
        status = assay_fail(
            err, ASSAY_RANGE,
            "epsilon is too small to release anything: the threshold is %.1f "
            "experts and there are at most %llu; nothing was charged",
            (double)report->threshold / ASSAY_PREFIX_UNIT,
            (unsigned long long)most);
    }
    return status;
}

/* One run. Everything but `out` and the answers is private. */
typedef struct run {
    const assay_experts *experts;
    assay_data_source *source;
    assay_stable_prefix *stable;
    int64_t least; /* p_min in steps of 2^-30 */
    int64_t one;   /* what a product is divided by */
    uint64_t cap;
    size_t n;
    int64_t *running; /* [n] */
    int64_t *factor;  /* [n] */
} run;

static void run_clear(run *r)
{
    if (r->running != NULL) {
        OPENSSL_cleanse(r->running, r->n * sizeof *r->running);
    }
    if (r->factor != NULL) {
        OPENSSL_cleanse(r->factor, r->n * sizeof *r->factor);
    }
    free(r->running);
    free(r->factor);
    assay_stable_prefix_free(r->stable);
}

/* The count of the prefix that now ends with this row, as a query. */
static int64_t count(run *r, const assay_transition *row)
{
    int64_t weight[ASSAY_EXPERTS_MAX_ACTIONS];
    for (size_t i = 0; i < r->n; i++) {
        assay_policy_weights(weight, r->experts, i, row->state, r->least);
        r->factor[i] = weight[row->action];
    }
    return assay_prefix_query(
        assay_prefix_extend(r->running, r->factor, r->n, r->one));
}

/* The rows of one draw, as long as the answer is yes. */
static assay_status one_draw(assay_transitions *out, run *r, uint32_t draw,
                             assay_error *err)
{
    uint64_t who = 0;
    int yes = 1;
    assay_status status =
        assay_stable_prefix_draw(r->stable, &who, (uint64_t)r->n, err);
    if (status == ASSAY_OK) {
        status = assay_data_source_begin(r->source, (size_t)who, err);
    }
    for (size_t i = 0; i < r->n; i++) {
        r->running[i] = ASSAY_PREFIX_ONE;
    }
    for (uint32_t t = 0; status == ASSAY_OK && yes && t < r->cap; t++) {
        assay_transition row;
        status = assay_data_source_next(r->source, &row, &yes, err);
        if (status != ASSAY_OK || !yes) {
            break; /* the episode is over: a public end */
        }
        status = assay_stable_prefix_ask(r->stable, &yes, count(r, &row), err);
        if (status == ASSAY_OK && yes) {
            row.expert = 0;
            row.trajectory = draw;
            row.t = t;
            status = assay_transitions_add(out, &row, err);
        }
    }
    OPENSSL_cleanse(&who, sizeof who);
    return status;
}

static assay_status all_draws(assay_transitions *out,
                              assay_data_release_report *report, run *r,
                              assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (uint32_t draw = 0; status == ASSAY_OK && draw < report->plan.num_draws;
         draw++) {
        size_t before = out->num_rows;
        status = one_draw(out, r, draw, err);
        size_t length = out->num_rows - before;
        report->num_prefixes += length > 0 ? 1 : 0;
        report->longest = length > report->longest ? length : report->longest;
    }
    report->num_rows = out->num_rows;
    return status;
}

static assay_status prepare(run *r, assay_data_release_report *report,
                            const assay_experts *experts,
                            const assay_data_release_params *params,
                            assay_error *err)
{
    memset(r, 0, sizeof *r);
    r->experts = experts;
    r->n = assay_experts_count(experts);
    r->cap = params->cap;
    if (r->n == 0 || r->n > ASSAY_PREFIX_MOST) {
        return assay_fail(err, ASSAY_INVALID,
                          "a release of prefixes needs 1 to 2^30 experts");
    }
    assay_status status =
        assay_data_release_plan(report, params, assay_experts_p_min(experts),
                                assay_experts_num_actions(experts), err);
    if (status != ASSAY_OK) {
        return status;
    }
    r->least = assay_policy_least(assay_experts_p_min(experts));
    r->one = params->bar == ASSAY_BAR_NORMALISED
                 ? ASSAY_PREFIX_ONE -
                       (assay_experts_num_actions(experts) - 1) * r->least
                 : ASSAY_PREFIX_ONE;
    r->running = calloc(r->n, sizeof *r->running);
    r->factor = calloc(r->n, sizeof *r->factor);
    return r->running != NULL && r->factor != NULL
               ? ASSAY_OK
               : assay_fail(err, ASSAY_MEMORY, "no memory for prefix counts");
}

static assay_status release(assay_transitions *out,
                            assay_data_release_report *report, run *r,
                            assay_data_source *source,
                            struct assay_custodian *custodian, assay_error *err)
{
    assay_transitions rows;
    r->source = source;
    assay_status status =
        assay_stable_prefix_new(&r->stable, custodian, &report->plan,
                                "data release: stable prefixes", err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_transitions_init(&rows, assay_experts_dim(r->experts),
                           assay_experts_num_actions(r->experts));
    status = all_draws(&rows, report, r, err);
    if (status == ASSAY_OK) {
        *out = rows;
    } else {
        assay_transitions_clear(&rows);
    }
    return status;
}

assay_status assay_data_release_play(assay_transitions *out,
                                     assay_data_release_report *report,
                                     const assay_experts *experts,
                                     const assay_control *env,
                                     const assay_data_release_params *params,
                                     struct assay_custodian *custodian,
                                     assay_error *err)
{
    run r;
    assay_data_source source;
    assay_status status = prepare(&r, report, experts, params, err);
    if (status == ASSAY_OK && custodian == NULL) {
        status = assay_fail(err, ASSAY_INVALID, "a release needs a ledger");
    }
    if (status == ASSAY_OK) {
        status = assay_data_source_play(&source, experts, env, &custodian->tape,
                                        r.least, err);
    }
    if (status == ASSAY_OK) {
        status = release(out, report, &r, &source, custodian, err);
        assay_data_source_clear(&source);
    }
    run_clear(&r);
    return status;
}

assay_status assay_data_release_logged(assay_transitions *out,
                                       assay_data_release_report *report,
                                       const assay_experts *experts,
                                       const assay_transitions *pool,
                                       const assay_data_release_params *params,
                                       struct assay_custodian *custodian,
                                       assay_error *err)
{
    run r;
    assay_data_source source;
    assay_status status = prepare(&r, report, experts, params, err);
    if (status == ASSAY_OK) {
        status = assay_data_source_logged(&source, experts, pool,
                                          params->num_draws, err);
    }
    if (status == ASSAY_OK) {
        status = release(out, report, &r, &source, custodian, err);
        assay_data_source_clear(&source);
    }
    run_clear(&r);
    return status;
}
