/* ring: glue */
#include "algorithms/simulate.h"

#include <stdlib.h>
#include <string.h>

assay_status assay_curve_init(assay_curve *curve, uint64_t episodes,
                              size_t num_points, assay_error *err)
{
    if (num_points > episodes) {
        num_points = (size_t)episodes;
    }
    curve->num_points = num_points;
    curve->episode = calloc(num_points + 1, sizeof(uint64_t));
    curve->regret = calloc(num_points + 1, sizeof(double));
    if (curve->episode == NULL || curve->regret == NULL) {
        assay_curve_clear(curve);
        return assay_fail(err, ASSAY_MEMORY, "no memory for a curve");
    }
    for (size_t i = 0; i < num_points; i++) {
        curve->episode[i] =
            (uint64_t)((double)episodes * (double)(i + 1) / (double)num_points);
    }
    if (num_points > 0) {
        curve->episode[num_points - 1] = episodes;
    }
    return ASSAY_OK;
}

void assay_curve_clear(assay_curve *curve)
{
    free(curve->episode);
    free(curve->regret);
    memset(curve, 0, sizeof *curve);
}

void assay_simulate_episode(assay_online_step *steps,
                            const assay_online *learner, const assay_mdp *mdp,
                            assay_envrand *rand)
{
    uint32_t s = assay_mdp_reset(mdp, rand);
    for (uint32_t h = 0; h < mdp->shape.horizon; h++) {
        uint32_t a = assay_online_act(learner, h, s, rand);
        uint32_t next = assay_mdp_step(mdp, h, s, a, rand);
        steps[h].s = s;
        steps[h].a = a;
        steps[h].s_next = next;
        steps[h].cost =
            1.0 - mdp->reward[assay_shape_pair(&mdp->shape, h, s, a)];
        s = next;
    }
}

static assay_status current_value(double *value, const assay_online *learner,
                                  const assay_mdp *mdp, assay_error *err)
{
    const double *mixed = assay_online_mixed(learner);
    if (mixed != NULL) {
        return assay_mdp_evaluate_mixed(value, mdp, mixed, err);
    }
    return assay_mdp_evaluate(value, mdp, assay_online_policy(learner), err);
}

static assay_status run(assay_curve *curve, assay_online *learner,
                        const assay_mdp *mdp, uint64_t episodes, double best,
                        assay_online_step *steps, assay_envrand *rand,
                        assay_progress *meter, assay_error *err)
{
    double regret = 0.0;
    double value = 0.0;
    size_t point = 0;
    assay_status status = ASSAY_OK;
    for (uint64_t k = 1; status == ASSAY_OK && k <= episodes; k++) {
        if (assay_online_plan(learner)) {
            status = current_value(&value, learner, mdp, err);
        }
        regret += best - value;
        assay_simulate_episode(steps, learner, mdp, rand);
        if (status == ASSAY_OK) {
            status = assay_online_observe(learner, steps, err);
        }
        while (point < curve->num_points && curve->episode[point] == k) {
            curve->regret[point++] = regret;
        }
        if (meter != NULL && k % 1024 == 0) {
            assay_progress_update(meter, k, NULL);
        }
    }
    return status;
}

assay_status assay_simulate_online(assay_curve *curve, const assay_mdp *mdp,
                                   const assay_online_params *params,
                                   struct assay_custodian *custodian,
                                   uint64_t seed, uint64_t run_number,
                                   assay_progress *meter, assay_error *err)
{
    assay_online *learner = NULL;
    assay_online_step *steps = NULL;
    assay_envrand rand;
    double best = 0.0;
    assay_status status = assay_mdp_optimum(&best, NULL, mdp, err);
    if (status == ASSAY_OK) {
        steps = calloc(mdp->shape.horizon, sizeof *steps);
        if (steps == NULL) {
            status = assay_fail(err, ASSAY_MEMORY, "no memory for an episode");
        }
    }
    if (status == ASSAY_OK) {
        status =
            assay_online_new(&learner, &mdp->shape, params, custodian, err);
    }
    if (status == ASSAY_OK) {
        assay_envrand_init(&rand, seed, run_number + 1000);
        status = run(curve, learner, mdp, params->episodes, best, steps, &rand,
                     meter, err);
    }
    assay_online_free(learner);
    free(steps);
    return status;
}

assay_status assay_simulate_dp_apvi(double *gap, const assay_mdp *mdp,
                                    const double *behaviour, uint64_t num_users,
                                    const assay_dp_apvi_params *params,
                                    struct assay_custodian *custodian,
                                    uint64_t seed, assay_error *err)
{
    assay_counts *counts = NULL;
    assay_policy *policy = NULL;
    double best = 0.0;
    double value = 0.0;
    assay_status status =
        assay_counts_simulate(&counts, mdp, behaviour, num_users, seed, err);
    if (status == ASSAY_OK) {
        status = assay_dp_apvi_learn(&policy, counts, mdp->reward, params,
                                     custodian, err);
    }
    if (status == ASSAY_OK) {
        status = assay_mdp_optimum(&best, NULL, mdp, err);
    }
    if (status == ASSAY_OK) {
        status = assay_mdp_evaluate(&value, mdp, policy, err);
    }
    if (status == ASSAY_OK) {
        *gap = best - value;
    }
    assay_policy_free(policy);
    assay_counts_free(counts);
    return status;
}
