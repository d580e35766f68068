/* ring: glue */
#include "algorithms/mdp.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TRIPLES (UINT64_C(1) << 33)

assay_status assay_shape_check(const assay_shape *shape, assay_error *err)
{
    uint64_t pairs;
    if (shape->num_states == 0 || shape->num_states > ASSAY_SHAPE_MAX_STATES) {
        return assay_fail(err, ASSAY_INVALID, "states: from 1 to %u, not %u",
                          ASSAY_SHAPE_MAX_STATES, shape->num_states);
    }
    if (shape->num_actions == 0 ||
        shape->num_actions > ASSAY_SHAPE_MAX_ACTIONS) {
        return assay_fail(err, ASSAY_INVALID, "actions: from 1 to %u, not %u",
                          ASSAY_SHAPE_MAX_ACTIONS, shape->num_actions);
    }
    if (shape->horizon == 0 || shape->horizon > ASSAY_SHAPE_MAX_HORIZON) {
        return assay_fail(err, ASSAY_INVALID, "horizon: from 1 to %u, not %u",
                          ASSAY_SHAPE_MAX_HORIZON, shape->horizon);
    }
    pairs = (uint64_t)shape->num_states * shape->num_actions * shape->horizon;
    if (pairs > MAX_TRIPLES / shape->num_states) {
        return assay_fail(err, ASSAY_INVALID,
                          "horizon * states^2 * actions exceeds 2^33: use "
                          "fewer states or a linear learner");
    }
    return ASSAY_OK;
}

size_t assay_shape_pairs(const assay_shape *shape)
{
    return (size_t)shape->horizon * shape->num_states * shape->num_actions;
}

size_t assay_shape_triples(const assay_shape *shape)
{
    return assay_shape_pairs(shape) * shape->num_states;
}

assay_status assay_mdp_new(assay_mdp **out, const assay_shape *shape,
                           assay_error *err)
{
    assay_mdp *mdp;
    assay_status status = assay_shape_check(shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    mdp = calloc(1, sizeof *mdp);
    if (mdp != NULL) {
        mdp->shape = *shape;
        mdp->transition = calloc(assay_shape_triples(shape), sizeof(double));
        mdp->reward = calloc(assay_shape_pairs(shape), sizeof(double));
        mdp->initial = calloc(shape->num_states, sizeof(double));
    }
    if (mdp == NULL || mdp->transition == NULL || mdp->reward == NULL ||
        mdp->initial == NULL) {
        assay_mdp_free(mdp);
        return assay_fail(err, ASSAY_MEMORY, "no memory for the model");
    }
    *out = mdp;
    return ASSAY_OK;
}

void assay_mdp_free(assay_mdp *mdp)
{
    if (mdp != NULL) {
        free(mdp->transition);
        free(mdp->reward);
        free(mdp->initial);
        free(mdp);
    }
}

uint32_t assay_mdp_draw(const double *row, uint32_t num_states,
                        assay_envrand *rand)
{
    double left = assay_envrand_unit(rand);
    uint32_t last = 0;
    for (uint32_t s = 0; s < num_states; s++) {
        if (row[s] > 0.0) {
            if (left < row[s]) {
                return s;
            }
            left -= row[s];
            last = s;
        }
    }
    return last;
}

uint32_t assay_mdp_reset(const assay_mdp *mdp, assay_envrand *rand)
{
    return assay_mdp_draw(mdp->initial, mdp->shape.num_states, rand);
}

uint32_t assay_mdp_step(const assay_mdp *mdp, uint32_t h, uint32_t s,
                        uint32_t a, assay_envrand *rand)
{
    size_t pair = assay_shape_pair(&mdp->shape, h, s, a);
    return assay_mdp_draw(mdp->transition + pair * mdp->shape.num_states,
                          mdp->shape.num_states, rand);
}

assay_status assay_policy_new(assay_policy **out, const assay_shape *shape,
                              assay_error *err)
{
    assay_policy *policy;
    assay_status status = assay_shape_check(shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    policy = calloc(1, sizeof *policy);
    if (policy != NULL) {
        policy->shape = *shape;
        policy->action = calloc((size_t)shape->horizon * shape->num_states,
                                sizeof(uint32_t));
    }
    if (policy == NULL || policy->action == NULL) {
        assay_policy_free(policy);
        return assay_fail(err, ASSAY_MEMORY, "no memory for a policy");
    }
    *out = policy;
    return ASSAY_OK;
}

void assay_policy_free(assay_policy *policy)
{
    if (policy != NULL) {
        free(policy->action);
        free(policy);
    }
}

/* r(h,s,a) + sum_t P(t) next[t] */
static double backup(const assay_mdp *mdp, uint32_t h, uint32_t s, uint32_t a,
                     const double *next)
{
    uint32_t num_states = mdp->shape.num_states;
    size_t pair = assay_shape_pair(&mdp->shape, h, s, a);
    const double *row = mdp->transition + pair * num_states;
    double sum = 0.0;
    for (uint32_t t = 0; t < num_states; t++) {
        sum += row[t] * next[t];
    }
    return mdp->reward[pair] + sum;
}

/* How a state's value is chosen from its actions' values. */
typedef double (*chooser)(const assay_mdp *mdp, uint32_t h, uint32_t s,
                          const double *next, void *how);

static assay_status sweep(double *value, const assay_mdp *mdp, chooser choose,
                          void *how, assay_error *err)
{
    uint32_t num_states = mdp->shape.num_states;
    double *now = calloc(num_states, sizeof(double));
    double *next = calloc(num_states, sizeof(double));
    double sum = 0.0;
    if (now == NULL || next == NULL) {
        free(now);
        free(next);
        return assay_fail(err, ASSAY_MEMORY, "no memory for planning");
    }
    for (uint32_t h = mdp->shape.horizon; h-- > 0;) {
        for (uint32_t s = 0; s < num_states; s++) {
            now[s] = choose(mdp, h, s, next, how);
        }
        memcpy(next, now, num_states * sizeof(double));
    }
    for (uint32_t s = 0; s < num_states; s++) {
        sum += mdp->initial[s] * next[s];
    }
    *value = sum;
    free(now);
    free(next);
    return ASSAY_OK;
}

static double choose_best(const assay_mdp *mdp, uint32_t h, uint32_t s,
                          const double *next, void *how)
{
    assay_policy *best = how;
    double top = backup(mdp, h, s, 0, next);
    uint32_t arg = 0;
    for (uint32_t a = 1; a < mdp->shape.num_actions; a++) {
        double q = backup(mdp, h, s, a, next);
        if (q > top) {
            top = q;
            arg = a;
        }
    }
    if (best != NULL) {
        best->action[(size_t)h * mdp->shape.num_states + s] = arg;
    }
    return top;
}

static double choose_policy(const assay_mdp *mdp, uint32_t h, uint32_t s,
                            const double *next, void *how)
{
    const assay_policy *policy = how;
    size_t at = (size_t)h * mdp->shape.num_states + s;
    return backup(mdp, h, s, policy->action[at], next);
}

static double choose_mixed(const assay_mdp *mdp, uint32_t h, uint32_t s,
                           const double *next, void *how)
{
    const double *probability = how;
    uint32_t num_actions = mdp->shape.num_actions;
    double sum = 0.0;
    for (uint32_t a = 0; a < num_actions; a++) {
        double p = 1.0 / num_actions;
        if (probability != NULL) {
            p = probability[assay_shape_pair(&mdp->shape, h, s, a)];
        }
        sum += p * backup(mdp, h, s, a, next);
    }
    return sum;
}

assay_status assay_mdp_optimum(double *value, assay_policy *best,
                               const assay_mdp *mdp, assay_error *err)
{
    return sweep(value, mdp, choose_best, best, err);
}

assay_status assay_mdp_evaluate(double *value, const assay_mdp *mdp,
                                const assay_policy *policy, assay_error *err)
{
    if (memcmp(&policy->shape, &mdp->shape, sizeof mdp->shape) != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "the policy has S=%u A=%u H=%u, the environment "
                          "S=%u A=%u H=%u",
                          policy->shape.num_states, policy->shape.num_actions,
                          policy->shape.horizon, mdp->shape.num_states,
                          mdp->shape.num_actions, mdp->shape.horizon);
    }
    return sweep(value, mdp, choose_policy, (void *)(uintptr_t)policy, err);
}

assay_status assay_mdp_evaluate_mixed(double *value, const assay_mdp *mdp,
                                      const double *probability,
                                      assay_error *err)
{
    return sweep(value, mdp, choose_mixed, (void *)(uintptr_t)probability, err);
}
