/* ring: glue */
#include "algorithms/data_source.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/data_release.h"
#include "algorithms/prefix_count.h"
#include "algorithms/rollout.h"
#include "core/lattice.h"
#include "mechanisms/uniform.h"

#define BITS 30

int64_t assay_policy_least(double p_min)
{
    return p_min > 0.0 && p_min <= 1.0 ? (int64_t)floor(ldexp(p_min, BITS)) : 0;
}

void assay_policy_weights(int64_t *weight, const assay_experts *experts,
                          size_t i, const double *state, int64_t least)
{
    double probs[ASSAY_EXPERTS_MAX_ACTIONS] = {0};
    int n = assay_experts_num_actions(experts);
    assay_lattice lattice = {BITS, least, ASSAY_PREFIX_ONE};
    assay_experts_probs(experts, i, state, probs);
    for (int a = 0; a < n; a++) {
        assay_error ignored = ASSAY_ERROR_INIT;
        weight[a] = least; /* kept where it is no number */
        (void)!assay_lattice_from_double(&lattice, &weight[a], probs[a],
                                         &ignored);
    }
    assay_prefix_balance(weight, (size_t)n, least);
}

assay_status assay_data_source_play(assay_data_source *out,
                                    const assay_experts *experts,
                                    const assay_control *env, assay_tape *tape,
                                    int64_t least, assay_error *err)
{
    if (env->dim != assay_experts_dim(experts) ||
        env->num_actions != assay_experts_num_actions(experts)) {
        return assay_fail(err, ASSAY_INVALID,
                          "the experts act in %s, not in %s", experts->env,
                          env->name);
    }
    memset(out, 0, sizeof *out);
    out->experts = experts;
    out->env = env;
    out->tape = tape;
    out->least = least;
    return ASSAY_OK;
}

/* 1 if a new trajectory starts at row k */
static int starts(const assay_transitions *pool, size_t k)
{
    return k == 0 || pool->expert[k] != pool->expert[k - 1] ||
           pool->trajectory[k] != pool->trajectory[k - 1];
}

/* Fills first[]; SIZE_MAX marks an expert without rows. */
static assay_status index_pool(assay_data_source *s, uint64_t *number,
                               uint64_t least, assay_error *err)
{
    const assay_transitions *pool = s->pool;
    size_t n = assay_experts_count(s->experts);
    for (size_t k = 0; k < pool->num_rows; k++) {
        size_t i = pool->expert[k];
        if (i >= n ||
            pool->t[k] != (starts(pool, k) ? 0 : pool->t[k - 1] + 1)) {
            return assay_fail(err, ASSAY_INVALID,
                              "row %zu of the pool: no such expert, or its "
                              "trajectory does not stand together",
                              k + 1);
        }
        if (starts(pool, k)) {
            if (number[i] > 0 && pool->expert[k - 1] != i) {
                return assay_fail(err, ASSAY_INVALID,
                                  "row %zu of the pool: the trajectories of "
                                  "an expert must stand together",
                                  k + 1);
            }
            s->first[i] = number[i]++ == 0 ? k : s->first[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (number[i] < least) {
            return assay_fail(err, ASSAY_INVALID,
                              "expert %zu has %llu trajectories in the pool; "
                              "%llu draws need as many of every expert",
                              i, (unsigned long long)number[i],
                              (unsigned long long)least);
        }
    }
    return ASSAY_OK;
}

assay_status assay_data_source_logged(assay_data_source *out,
                                      const assay_experts *experts,
                                      const assay_transitions *pool,
                                      uint64_t least, assay_error *err)
{
    size_t n = assay_experts_count(experts);
    assay_status status;
    memset(out, 0, sizeof *out);
    if (pool->num_rows == 0) {
        return assay_fail(err, ASSAY_INVALID, "the pool is empty");
    }
    if (pool->dim != assay_experts_dim(experts) ||
        pool->num_actions != assay_experts_num_actions(experts)) {
        return assay_fail(err, ASSAY_INVALID,
                          "the pool is of another environment");
    }
    out->experts = experts;
    out->pool = pool;
    out->first = calloc(n, sizeof *out->first);
    uint64_t *number = calloc(n, sizeof *number);
    status = out->first != NULL && number != NULL
                 ? index_pool(out, number, least, err)
                 : assay_fail(err, ASSAY_MEMORY, "no memory for a pool");
    free(number);
    if (status != ASSAY_OK) {
        assay_data_source_clear(out);
    }
    return status;
}

void assay_data_source_clear(assay_data_source *source)
{
    free(source->first);
    OPENSSL_cleanse(source, sizeof *source);
}

assay_status assay_data_source_begin(assay_data_source *s, size_t who,
                                     assay_error *err)
{
    uint64_t seed = 0;
    s->who = who;
    if (s->env == NULL) {
        const assay_transitions *pool = s->pool;
        size_t k = s->first[who];
        s->at = k;
        do { /* the next trajectory is the next draw's */
            k++;
        } while (k < pool->num_rows && !starts(pool, k));
        s->first[who] = k;
        return ASSAY_OK;
    }
    if (assay_tape_next(s->tape, &seed) != ASSAY_OK) {
        return assay_fail(err, ASSAY_ENTROPY, "the tape has failed");
    }
    assay_envrand_init(&s->nature, seed, 0);
    assay_rollout_start(s->env, s->state, &s->nature);
    s->over = 0;
    return ASSAY_OK;
}

/* An action by the expert's weights, exactly. */
static assay_status act(int *out, assay_data_source *s, assay_error *err)
{
    int64_t weight[ASSAY_EXPERTS_MAX_ACTIONS];
    uint64_t u = 0;
    int a = 0;
    assay_policy_weights(weight, s->experts, s->who, s->state, s->least);
    if (assay_uniform_below(s->tape, ASSAY_PREFIX_ONE, &u) != ASSAY_OK) {
        return assay_fail(err, ASSAY_ENTROPY, "the tape has failed");
    }
    for (int64_t left = (int64_t)u;
         a + 1 < s->env->num_actions && left >= weight[a]; a++) {
        left -= weight[a];
    }
    *out = a;
    return ASSAY_OK;
}

static assay_status play_next(assay_data_source *s, assay_transition *row,
                              int *more, assay_error *err)
{
    int end = 0;
    *more = !s->over;
    if (s->over) {
        return ASSAY_OK;
    }
    memset(row, 0, sizeof *row);
    assay_status status = act(&row->action, s, err);
    if (status != ASSAY_OK) {
        return status;
    }
    memcpy(s->before, s->state, sizeof s->before);
    s->env->step(s->env, s->state, row->action, &row->reward, &end);
    row->state = s->before;
    row->next_state = s->state;
    row->done = end;
    s->over = end;
    return ASSAY_OK;
}

assay_status assay_data_source_next(assay_data_source *s, assay_transition *row,
                                    int *more, assay_error *err)
{
    const assay_transitions *pool = s->pool;
    size_t k = s->at;
    if (s->env != NULL) {
        return play_next(s, row, more, err);
    }
    *more = k < s->first[s->who];
    if (*more) {
        row->expert = pool->expert[k];
        row->trajectory = pool->trajectory[k];
        row->t = pool->t[k];
        row->state = pool->states + k * pool->dim;
        row->action = pool->actions[k];
        row->reward = pool->rewards[k];
        row->next_state = pool->next_states + k * pool->dim;
        row->done = pool->done[k];
        s->at++;
    }
    return ASSAY_OK;
}

/* The pool of the trajectory that row k belongs to: how many of its expert's
 * came before. */
assay_status assay_data_release_split(assay_transitions *stage1,
                                      assay_transitions *stage2,
                                      const assay_transitions *rows,
                                      uint32_t first, assay_error *err)
{
    assay_transitions part[2];
    uint32_t seen = 0; /* trajectories of this expert so far */
    assay_status status = ASSAY_OK;
    assay_transitions_init(&part[0], rows->dim, rows->num_actions);
    assay_transitions_init(&part[1], rows->dim, rows->num_actions);
    for (size_t k = 0; status == ASSAY_OK && k < rows->num_rows; k++) {
        if (starts(rows, k)) {
            int same = k > 0 && rows->expert[k] == rows->expert[k - 1];
            seen = same ? seen + 1 : 1;
        }
        assay_transition row = {rows->expert[k],
                                rows->trajectory[k],
                                rows->t[k],
                                rows->states + k * rows->dim,
                                rows->actions[k],
                                rows->rewards[k],
                                rows->next_states + k * rows->dim,
                                rows->done[k]};
        status = assay_transitions_add(&part[seen <= first ? 0 : 1], &row, err);
    }
    if (status != ASSAY_OK) {
        assay_transitions_clear(&part[0]);
        assay_transitions_clear(&part[1]);
        return status;
    }
    *stage1 = part[0];
    *stage2 = part[1];
    return ASSAY_OK;
}
