/* ring: glue */
#include "algorithms/experts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/checkpoint.h"
#include "algorithms/envrand.h"

static assay_status check(const assay_experts *e, size_t count,
                          assay_error *err)
{
    if (count < 1 || count > ASSAY_EXPERTS_MAX) {
        return assay_fail(err, ASSAY_INVALID, "a set has 1 to %d experts",
                          ASSAY_EXPERTS_MAX);
    }
    if (!(e->p_min > 0.0 && e->p_min * e->see.num_actions <= 1.0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "p_min must be above 0 and at most 1/%d",
                          e->see.num_actions);
    }
    return ASSAY_OK;
}

/* The shape is there; room for all experts' parameters and variants. */
static assay_status make_room(assay_experts *e, size_t count, assay_error *err)
{
    double *all = calloc(count * e->shape.num_params, sizeof *all);
    e->variants = calloc(count, sizeof *e->variants);
    if (all == NULL || e->variants == NULL) {
        free(all);
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu experts",
                          count);
    }
    free(e->shape.params);
    e->shape.params = all;
    e->count = count;
    return ASSAY_OK;
}

assay_status assay_experts_new(assay_experts **out, const char *env,
                               size_t count, const size_t *hidden,
                               size_t num_hidden, assay_activation activation,
                               assay_softening softening, double p_min,
                               assay_error *err)
{
    size_t widths[ASSAY_NETWORK_MAX_LAYERS + 1];
    assay_experts *e = calloc(1, sizeof *e);
    assay_status status;
    if (e == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for experts");
    }
    e->softening = softening;
    e->p_min = p_min;
    status = assay_observation_find(&e->see, env, err);
    if (status == ASSAY_OK) {
        (void)snprintf(e->env, sizeof e->env, "%s", env);
        status = check(e, count, err);
    }
    if (status == ASSAY_OK && num_hidden + 1 > ASSAY_NETWORK_MAX_LAYERS) {
        status = assay_fail(err, ASSAY_INVALID, "too many hidden layers");
    }
    if (status == ASSAY_OK) {
        widths[0] = e->see.dim;
        for (size_t i = 0; i < num_hidden; i++) {
            widths[i + 1] = hidden[i];
        }
        widths[num_hidden + 1] = (size_t)e->see.num_actions;
        status = assay_network_init(&e->shape, widths, num_hidden + 1,
                                    activation, err);
    }
    if (status == ASSAY_OK) {
        status = make_room(e, count, err);
    }
    if (status != ASSAY_OK) {
        assay_experts_free(e);
        return status;
    }
    *out = e;
    return ASSAY_OK;
}

void assay_experts_free(assay_experts *experts)
{
    if (experts == NULL) {
        return;
    }
    assay_network_clear(&experts->shape);
    free(experts->variants);
    free(experts);
}

/* Scores of a linear controller: the last action minus the first gets the
 * listed weights, an action between them a constant. */
static void script(assay_experts *e, size_t i, const double *weights,
                   double spread, assay_envrand *rand)
{
    size_t d = e->see.dim;
    size_t num = (size_t)e->see.num_actions;
    double *w = assay_experts_params(e, i);
    for (size_t j = 0; j < d; j++) {
        double u = 2.0 * assay_envrand_unit(rand) - 1.0;
        double x = weights[j] * (1.0 + spread * u);
        w[j] = -x;
        w[(num - 1) * d + j] = x;
    }
    for (size_t a = 1; a + 1 < num; a++) {
        w[num * d + a] = -1e3; /* never in between */
    }
}

assay_status assay_experts_scripted(assay_experts **out, const char *env,
                                    size_t count, double p_min, double spread,
                                    uint64_t seed, assay_error *err)
{
    static const double cartpole[4] = {0.3, 1.0, 2.0, 2.0};
    static const double acrobot[6] = {0, 0, 0, 0, 0.2, 1.0};
    const double *weights;
    assay_envrand rand;
    assay_experts *e = NULL;
    assay_status status;
    if (strcmp(env, "cartpole") != 0 && strcmp(env, "acrobot") != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "rules are known for cartpole and acrobot");
    }
    weights = strcmp(env, "cartpole") == 0 ? cartpole : acrobot;
    status = assay_experts_new(&e, env, count, NULL, 0, ASSAY_TANH,
                               ASSAY_SOFTEN_GREEDY, p_min, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_envrand_init(&rand, seed, 77);
    for (size_t i = 0; i < count; i++) {
        script(e, i, weights, spread, &rand);
        (void)snprintf(e->variants[i], ASSAY_VARIANT_LEN, "rule");
    }
    *out = e;
    return ASSAY_OK;
}

assay_status assay_experts_save(const char *path, const assay_experts *experts,
                                assay_error *err)
{
    json_t *variants = json_array();
    json_t *header;
    assay_status status;
    for (size_t i = 0; i < experts->count; i++) {
        (void)json_array_append_new(variants,
                                    json_string(experts->variants[i]));
    }
    header = json_pack(
        "{s:s, s:I, s:f, s:s, s:o, s:o}", "environment", experts->env, "count",
        (json_int_t)experts->count, "p_min", experts->p_min, "softening",
        experts->softening == ASSAY_SOFTEN_GREEDY ? "greedy" : "softmax",
        "shape", assay_checkpoint_shape(&experts->shape), "variants", variants);
    status =
        assay_checkpoint_write(path, "experts", header, experts->shape.params,
                               experts->count * experts->shape.num_params, err);
    json_decref(header);
    return status;
}

static assay_status read_variants(assay_experts *e, const json_t *list,
                                  const char *path, assay_error *err)
{
    for (size_t i = 0; i < e->count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text == NULL || strlen(text) >= ASSAY_VARIANT_LEN) {
            return assay_fail(err, ASSAY_INVALID,
                              "%s: expert %zu has no usable variant", path, i);
        }
        (void)snprintf(e->variants[i], ASSAY_VARIANT_LEN, "%s", text);
    }
    return ASSAY_OK;
}

/* The header's fields and the shape; the set has no parameters yet. */
static assay_status read_header(assay_experts *e, size_t *count,
                                const json_t *header, const char *path,
                                assay_error *err)
{
    const char *env = json_string_value(json_object_get(header, "environment"));
    const char *soft = json_string_value(json_object_get(header, "softening"));
    json_int_t num = json_integer_value(json_object_get(header, "count"));
    assay_status status;
    if (env == NULL || soft == NULL ||
        (strcmp(soft, "greedy") != 0 && strcmp(soft, "softmax") != 0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "%s: no environment or an unknown softening", path);
    }
    *count = num < 0 ? 0 : (size_t)num;
    e->softening = strcmp(soft, "greedy") == 0 ? ASSAY_SOFTEN_GREEDY
                                               : ASSAY_SOFTEN_SOFTMAX;
    e->p_min = json_real_value(json_object_get(header, "p_min"));
    (void)snprintf(e->env, sizeof e->env, "%s", env);
    status = assay_observation_find(&e->see, e->env, err);
    if (status == ASSAY_OK) {
        status = check(e, *count, err);
    }
    if (status == ASSAY_OK) {
        status = assay_checkpoint_from_shape(
            &e->shape, json_object_get(header, "shape"), err);
    }
    if (status == ASSAY_OK &&
        (e->shape.widths[0] != e->see.dim ||
         e->shape.widths[e->shape.num_layers] != (size_t)e->see.num_actions)) {
        status = assay_fail(err, ASSAY_INVALID,
                            "%s: the networks do not fit %s", path, e->env);
    }
    return status;
}

static assay_status fill(assay_experts *e, const json_t *header,
                         const double *values, size_t num, const char *path,
                         assay_error *err)
{
    size_t count = 0;
    assay_status status = read_header(e, &count, header, path, err);
    if (status == ASSAY_OK && num != count * e->shape.num_params) {
        status = assay_fail(err, ASSAY_INVALID,
                            "%s: %zu experts of this shape have %zu "
                            "parameters, the file has %zu",
                            path, count, count * e->shape.num_params, num);
    }
    if (status == ASSAY_OK) {
        status = make_room(e, count, err);
    }
    if (status == ASSAY_OK) {
        memcpy(e->shape.params, values, num * sizeof *values);
        status =
            read_variants(e, json_object_get(header, "variants"), path, err);
    }
    return status;
}

assay_status assay_experts_load(assay_experts **out, const char *path,
                                assay_error *err)
{
    json_t *header = NULL;
    double *values = NULL;
    size_t num = 0;
    assay_experts *e;
    assay_status status =
        assay_checkpoint_read(&header, &values, &num, path, "experts", err);
    if (status != ASSAY_OK) {
        return status;
    }
    e = calloc(1, sizeof *e);
    status = e == NULL ? assay_fail(err, ASSAY_MEMORY, "no memory for experts")
                       : fill(e, header, values, num, path, err);
    free(values);
    json_decref(header);
    if (status != ASSAY_OK) {
        assay_experts_free(e);
        return status;
    }
    *out = e;
    return ASSAY_OK;
}

size_t assay_experts_count(const assay_experts *experts)
{
    return experts->count;
}

size_t assay_experts_dim(const assay_experts *experts)
{
    return experts->see.state_dim;
}

int assay_experts_num_actions(const assay_experts *experts)
{
    return experts->see.num_actions;
}

double assay_experts_p_min(const assay_experts *experts)
{
    return experts->p_min;
}

const char *assay_experts_variant(const assay_experts *experts, size_t i)
{
    return experts->variants[i];
}

double *assay_experts_params(const assay_experts *experts, size_t i)
{
    return experts->shape.params + i * experts->shape.num_params;
}

void assay_soften(double *probs, const double *scores, int num_actions,
                  assay_softening softening, double p_min)
{
    double rest = 1.0 - num_actions * p_min;
    double sum = 0.0;
    int best = 0;
    for (int a = 1; a < num_actions; a++) {
        best = scores[a] > scores[best] ? a : best;
    }
    for (int a = 0; a < num_actions; a++) {
        probs[a] = softening == ASSAY_SOFTEN_GREEDY
                       ? (double)(a == best)
                       : exp(scores[a] - scores[best]);
        sum += probs[a];
    }
    for (int a = 0; a < num_actions; a++) {
        probs[a] = p_min + rest * (probs[a] / sum);
    }
}

void assay_experts_probs(const assay_experts *experts, size_t i,
                         const double *state, double *probs)
{
    double seen[ASSAY_OBSERVATION_MAX];
    double scores[ASSAY_EXPERTS_MAX_ACTIONS] = {0};
    experts->see.see(state, seen);
    assay_network_apply(&experts->shape, assay_experts_params(experts, i), seen,
                        scores);
    assay_soften(probs, scores, experts->see.num_actions, experts->softening,
                 experts->p_min);
}
