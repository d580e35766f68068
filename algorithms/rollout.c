/* ring: glue */
#include "algorithms/rollout.h"

#include <string.h>

#include "algorithms/lander_world.h"

void assay_rollout_start(const assay_control *env, double *state,
                         assay_envrand *rand)
{
    static const double unhealthy[6] = {163573, 5, 11945, 46, 63919, 24};
    double width = strcmp(env->name, "acrobot") == 0 ? 0.1 : 0.05;
    if (strncmp(env->name, "hiv", 3) == 0) {
        memcpy(state, unhealthy, sizeof unhealthy);
        return;
    }
    if (env->world != NULL) {
        assay_lander_world_start(env->world, state, rand);
        return;
    }
    if (strcmp(env->name, "mountaincar") == 0) {
        state[0] = -0.6 + 0.2 * assay_envrand_unit(rand);
        state[1] = 0.0;
        return;
    }
    for (size_t i = 0; i < env->dim; i++) {
        state[i] = width * (2.0 * assay_envrand_unit(rand) - 1.0);
    }
}

int assay_rollout_choose(const double *probs, int n, assay_envrand *rand)
{
    double u = assay_envrand_unit(rand);
    int a = 0;
    while (a + 1 < n && u >= probs[a]) {
        u -= probs[a++];
    }
    return a;
}

assay_status assay_rollout_expert(assay_transitions *out,
                                  const assay_experts *experts, size_t i,
                                  const assay_control *env, int cap,
                                  uint32_t trajectory, assay_envrand *rand,
                                  assay_error *err)
{
    double state[ASSAY_TRANSITIONS_MAX_DIM] = {0};
    double before[ASSAY_TRANSITIONS_MAX_DIM] = {0};
    double probs[ASSAY_EXPERTS_MAX_ACTIONS];
    int end = 0;
    assay_status status = ASSAY_OK;
    assay_rollout_start(env, state, rand);
    for (int t = 0; status == ASSAY_OK && t < cap && !end; t++) {
        assay_transition row = {(uint32_t)i, trajectory, (uint32_t)t, before,
                                0,           0.0,        state,       0};
        memcpy(before, state, sizeof before);
        assay_experts_probs(experts, i, state, probs);
        row.action = assay_rollout_choose(probs, env->num_actions, rand);
        env->step(env, state, row.action, &row.reward, &end);
        row.done = end;
        status = assay_transitions_add(out, &row, err);
    }
    return status;
}

assay_status assay_rollout_all(assay_transitions *out,
                               const assay_experts *experts,
                               const assay_control *env, uint32_t num, int cap,
                               uint64_t seed, assay_error *err)
{
    assay_status status = ASSAY_OK;
    assay_transitions_init(out, env->dim, env->num_actions);
    for (size_t i = 0; status == ASSAY_OK && i < experts->count; i++) {
        for (uint32_t k = 0; status == ASSAY_OK && k < num; k++) {
            assay_envrand rand;
            assay_envrand_init(&rand, seed, (uint64_t)i << 32 | k);
            status =
                assay_rollout_expert(out, experts, i, env, cap, k, &rand, err);
        }
    }
    if (status != ASSAY_OK) {
        assay_transitions_clear(out);
    }
    return status;
}

static double one_episode(const assay_control *env,
                          const assay_observation *see, assay_act *act,
                          const void *policy, int cap, assay_envrand *rand)
{
    double state[ASSAY_TRANSITIONS_MAX_DIM] = {0};
    double seen[ASSAY_OBSERVATION_MAX];
    double sum = 0.0;
    int end = 0;
    assay_rollout_start(env, state, rand);
    for (int t = 0; t < cap && !end; t++) {
        double reward = 0.0;
        see->see(state, seen);
        env->step(env, state, act(policy, seen), &reward, &end);
        sum += reward;
    }
    return sum;
}

double assay_rollout_evaluate(double *out, const assay_control *env,
                              const assay_observation *see, assay_act *act,
                              const void *policy, size_t episodes, int cap,
                              uint64_t seed)
{
    double total = 0.0;
    for (size_t i = 0; i < episodes; i++) {
        assay_envrand rand;
        double sum;
        assay_envrand_init(&rand, seed, i);
        sum = one_episode(env, see, act, policy, cap, &rand);
        if (out != NULL) {
            out[i] = sum;
        }
        total += sum;
    }
    return episodes == 0 ? 0.0 : total / (double)episodes;
}
