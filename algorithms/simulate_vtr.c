/* ring: glue */
#include <stdlib.h>
#include <string.h>

#include "algorithms/simulate.h"
#include "mechanisms/local_report.h"

/* Everything of one run; the reporter stands between the two sides. */
typedef struct vtr_run {
    const assay_mdp *mdp;
    const assay_vtr_params *params;
    assay_vtr_user *user;
    assay_vtr_server *server;
    assay_local_reporter *reporter; /* NULL: not private */
    int64_t *report;
    assay_online_step *steps;
    uint32_t *last_policy;
    assay_envrand rand;
} vtr_run;

static void run_clear(vtr_run *r)
{
    assay_vtr_user_free(r->user);
    assay_vtr_server_free(r->server);
    assay_local_reporter_free(r->reporter);
    free(r->report);
    free(r->steps);
    free(r->last_policy);
}

static assay_status open_reporter(vtr_run *r, const assay_shape *shape,
                                  struct assay_custodian *custodian,
                                  assay_error *err)
{
    const assay_vtr_params *p = r->params;
    size_t n = assay_vtr_report_len(p, shape);
    mpq_t noise;
    mpq_t bound;
    assay_status status = assay_privatizer_check(custodian, err);
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_init(noise);
    mpq_init(bound);
    assay_vtr_sensitivity(bound, p, shape);
    mpq_div(noise, bound, p->budget);
    if (p->noise == ASSAY_NOISE_GAUSSIAN) {
        mpq_div_2exp(noise, noise, 1);
        status = assay_local_reporter_new_gaussian(
            &r->reporter, custodian, n, p->episodes, noise, bound,
            "ldp-ucrl-vtr: reports", err);
    } else {
        status = assay_local_reporter_new_laplace(&r->reporter, custodian, n,
                                                  p->episodes, noise, bound,
                                                  "ldp-ucrl-vtr: reports", err);
    }
    mpq_clear(noise);
    mpq_clear(bound);
    return status;
}

static assay_status run_init(vtr_run *r, struct assay_custodian *custodian,
                             assay_error *err)
{
    const assay_shape *shape = &r->mdp->shape;
    assay_status status = assay_vtr_user_new(&r->user, shape, r->params, err);
    if (status == ASSAY_OK) {
        status = assay_vtr_server_new(&r->server, shape, r->params, err);
    }
    if (status == ASSAY_OK && r->params->noise != ASSAY_NOISE_NONE) {
        status = open_reporter(r, shape, custodian, err);
    }
    if (status == ASSAY_OK) {
        size_t states = (size_t)shape->horizon * shape->num_states;
        r->report =
            calloc(assay_vtr_report_len(r->params, shape), sizeof(int64_t));
        r->steps = calloc(shape->horizon, sizeof *r->steps);
        r->last_policy = malloc(states * sizeof(uint32_t));
        if (r->report == NULL || r->steps == NULL || r->last_policy == NULL) {
            return assay_fail(err, ASSAY_MEMORY, "no memory for a run");
        }
        memset(r->last_policy, 0xff, states * sizeof(uint32_t));
    }
    return status;
}

static void act(vtr_run *r)
{
    const assay_mdp *mdp = r->mdp;
    const assay_policy *policy = assay_vtr_user_policy(r->user);
    uint32_t s = assay_mdp_reset(mdp, &r->rand);
    for (uint32_t h = 0; h < mdp->shape.horizon; h++) {
        uint32_t a = policy->action[(size_t)h * mdp->shape.num_states + s];
        r->steps[h].s = s;
        r->steps[h].a = a;
        r->steps[h].s_next = assay_mdp_step(mdp, h, s, a, &r->rand);
        r->steps[h].cost = 0.0;
        s = r->steps[h].s_next;
    }
}

/* One user: model in, report out. *value is that of her policy. */
static assay_status one_user(vtr_run *r, double *value, assay_error *err)
{
    const assay_shape *shape = &r->mdp->shape;
    size_t bytes =
        (size_t)shape->horizon * shape->num_states * sizeof(uint32_t);
    const assay_policy *policy = assay_vtr_user_policy(r->user);
    assay_status status = ASSAY_OK;
    assay_vtr_user_plan(r->user, assay_vtr_server_model(r->server),
                        r->mdp->reward);
    if (memcmp(r->last_policy, policy->action, bytes) != 0) {
        memcpy(r->last_policy, policy->action, bytes);
        status = assay_mdp_evaluate(value, r->mdp, policy, err);
    }
    act(r);
    assay_vtr_user_statistics(r->report, r->user, r->steps);
    if (status == ASSAY_OK && r->reporter != NULL) {
        status = assay_local_report(r->reporter, r->report, r->report, err);
    }
    if (status == ASSAY_OK) {
        assay_vtr_server_add(r->server, r->report);
    }
    return status;
}

assay_status assay_simulate_vtr(assay_curve *curve, const assay_mdp *mdp,
                                const assay_vtr_params *params,
                                struct assay_custodian *custodian,
                                uint64_t seed, uint64_t run_number,
                                assay_progress *meter, assay_error *err)
{
    vtr_run r;
    double best = 0.0;
    double value = 0.0;
    double regret = 0.0;
    size_t point = 0;
    assay_status status = assay_mdp_optimum(&best, NULL, mdp, err);
    memset(&r, 0, sizeof r);
    r.mdp = mdp;
    r.params = params;
    assay_envrand_init(&r.rand, seed, run_number + 1000);
    if (status == ASSAY_OK) {
        status = run_init(&r, custodian, err);
    }
    for (uint64_t k = 1; status == ASSAY_OK && k <= params->episodes; k++) {
        status = one_user(&r, &value, err);
        regret += best - value;
        while (point < curve->num_points && curve->episode[point] == k) {
            curve->regret[point++] = regret;
        }
        if (meter != NULL && k % 1024 == 0) {
            assay_progress_update(meter, k, NULL);
        }
    }
    run_clear(&r);
    return status;
}
