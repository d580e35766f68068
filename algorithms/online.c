/* ring: glue */
#include "algorithms/online.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/board.h"

/* The rule's numbers, the same for every row. */
typedef struct rule_numbers {
    double e1, e2;   /* widths after width_scale */
    double spread;   /* times 1/sqrt(n): the statistical bonus */
    double spread_p; /* LDP-OB: of the transitions */
    double fixed;    /* times 1/n: the privatizer's bonus */
} rule_numbers;

struct assay_online {
    assay_online_params params;
    assay_board board;
    rule_numbers num;
    uint64_t observed;
    double cost_step;  /* 2^-cost_bits */
    double *mean_cost; /* [pair]: c~ - bonus */
    double *inverse;   /* [pair]: 1/n, 0: optimistic */
    double *value;     /* [h][s], h = H zero */
    double *q;         /* [h][s][a] */
    double *weight;    /* UCB-PO: log weights [pair] */
    double *mixed;     /* UCB-PO: probabilities [pair] */
    assay_policy *policy;
    uint8_t *row_changed; /* [pair] */
    uint32_t deepest;     /* steps h < deepest have changed rows; 0: none */
    int fresh;            /* nothing planned yet */
};

void assay_online_params_init(assay_online_params *params)
{
    memset(params, 0, sizeof *params);
    mpq_init(params->budget);
    mpq_set_ui(params->budget, 1, 1);
    params->rule = ASSAY_UCB_VI;
    params->trust = ASSAY_TRUST_NONE;
    params->noise = ASSAY_NOISE_LAPLACE;
    params->episodes = 1000;
    params->cost_bits = 10;
    params->bonus_scale = 0.05;
    params->width_scale = 0.005;
    params->failure = 0.1;
}

void assay_online_params_clear(assay_online_params *params)
{
    mpq_clear(params->budget);
}

uint64_t assay_online_sensitivity(const assay_online_params *params,
                                  const assay_shape *shape)
{
    int triples = params->triples_only || params->noise == ASSAY_NOISE_UNARY;
    return (uint64_t)(triples ? 4 : 6) * shape->horizon;
}

uint64_t assay_online_levels(uint64_t episodes)
{
    uint64_t levels = 1;
    while (levels < 63 && (UINT64_C(1) << levels) < episodes) {
        levels++;
    }
    return levels;
}

/* Chowdhury and Zhou, Lemmas 3 and 4, with the corrected b: a sum of m
 * Laplace variables of scale b is below b sqrt(8 m log), of m Gaussians below
 * sigma sqrt(2 m log). */
void assay_online_widths(double *pairs, double *triples,
                         const assay_online_params *params,
                         const assay_shape *shape)
{
    double steps = (double)params->episodes * shape->horizon;
    double sa = (double)shape->num_states * shape->num_actions;
    double log1 = log(6.0 * sa * steps / params->failure);
    double log2 = log1 + log((double)shape->num_states);
    uint64_t levels = assay_online_levels(params->episodes);
    double terms = (double)params->episodes;
    uint64_t bound = assay_online_sensitivity(params, shape);
    double b;
    mpq_t scale;
    *pairs = 0.0;
    *triples = 0.0;
    if (params->trust == ASSAY_TRUST_NONE) {
        return;
    }
    if (params->trust == ASSAY_TRUST_CENTRAL) {
        terms = (double)levels;
        bound *= levels;
    }
    mpq_init(scale);
    assay_privatizer_scale(scale, params->noise, bound, params->budget);
    b = mpq_get_d(scale);
    mpq_clear(scale);
    if (params->noise == ASSAY_NOISE_GAUSSIAN) {
        *pairs = sqrt(2.0 * b * terms * log1);
        *triples = sqrt(2.0 * b * terms * log2);
    } else if (params->noise == ASSAY_NOISE_UNARY) {
        /* variance of one debiased bit: q (1-q)/(1/2-q)^2 */
        double q = (double)assay_board_unary_q(params, shape) / 4294967296.0;
        double v = q * (1.0 - q) / ((0.5 - q) * (0.5 - q));
        *triples = sqrt(2.0 * v * terms * log2);
        *pairs = sqrt(2.0 * v * terms * log1 * shape->num_states);
    } else {
        *pairs = b * sqrt(8.0 * terms * log1);
        *triples = b * sqrt(8.0 * terms * log2);
    }
}

static void set_numbers(assay_online *l)
{
    const assay_online_params *p = &l->params;
    const assay_shape *shape = &l->board.shape;
    double states = shape->num_states;
    double horizon = shape->horizon;
    double sat = states * shape->num_actions * (double)p->episodes * horizon;
    double lc = sqrt(2.0 * log(4.0 * sat / p->failure));
    double e1;
    double e2;
    assay_online_widths(&e1, &e2, p, shape);
    e1 *= p->width_scale;
    e2 *= p->width_scale;
    l->num.e1 = e1;
    l->num.e2 = e2;
    switch (p->rule) {
    case ASSAY_UCB_VI: /* Lemma 2: beta_c + beta_pv */
        l->num.spread = p->bonus_scale * (1.0 + horizon) * lc;
        l->num.fixed = 3.0 * e1 + horizon * (states * e2 + 2.0 * e1);
        break;
    case ASSAY_UCB_PO: /* Lemma 1: beta_c + H beta_p */
        l->num.spread =
            p->bonus_scale *
            (lc + horizon * sqrt(4.0 * states * log(6.0 * sat / p->failure)));
        l->num.fixed = 3.0 * e1 + horizon * (states * e2 + 2.0 * e1);
        break;
    case ASSAY_PUCB: /* Vietri et al.: (H+1) phi + psi */
        l->num.spread =
            p->bonus_scale * (horizon + 1.0) *
            sqrt(2.0 * log((double)p->episodes * horizon / p->failure));
        l->num.fixed = 1.0 + states * horizon;
        break;
    case ASSAY_LDP_OB: /* Garcelon et al., alpha = 2 */
        l->num.spread = p->bonus_scale * lc;
        l->num.spread_p = p->bonus_scale * horizon *
                          sqrt(14.0 * states * log(6.0 * sat / p->failure));
        l->num.fixed = 4.0 * e1 + horizon * (states * e2 + 3.0 * e1);
        break;
    }
}

static assay_status check(const assay_online_params *p,
                          const assay_shape *shape, assay_error *err)
{
    if (p->episodes < 2 || p->episodes > (UINT64_C(1) << 40) ||
        p->cost_bits > 20 || !(p->bonus_scale >= 0.0) ||
        !(p->width_scale >= 0.0) || !isfinite(p->bonus_scale) ||
        !isfinite(p->width_scale) || !(p->failure > 0.0 && p->failure < 1.0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "needs 2 to 2^40 episodes, cost_bits up to 20, "
                          "scales of 0 or more, failure in (0, 1)");
    }
    if (p->noise == ASSAY_NOISE_UNARY && p->trust == ASSAY_TRUST_CENTRAL) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "unary encoding is for the local privatizer");
    }
    if (p->trust != ASSAY_TRUST_NONE &&
        (p->noise == ASSAY_NOISE_NONE || mpq_sgn(p->budget) <= 0)) {
        return assay_fail(err, ASSAY_INVALID,
                          "a private learner needs noise and a budget");
    }
    return assay_shape_check(shape, err);
}

static assay_status allocate(assay_online *l, assay_error *err)
{
    const assay_shape *shape = &l->board.shape;
    size_t pairs = l->board.num_pairs;
    size_t states = shape->num_states;
    l->mean_cost = calloc(pairs, sizeof(double));
    l->inverse = calloc(pairs, sizeof(double));
    l->q = calloc(pairs, sizeof(double));
    l->value = calloc((shape->horizon + 1) * states, sizeof(double));
    l->row_changed = malloc(pairs);
    if (l->params.rule == ASSAY_UCB_PO) {
        l->weight = calloc(pairs, sizeof(double));
        l->mixed = calloc(pairs, sizeof(double));
    }
    if (l->mean_cost == NULL || l->inverse == NULL || l->q == NULL ||
        l->value == NULL || l->row_changed == NULL ||
        (l->params.rule == ASSAY_UCB_PO &&
         (l->weight == NULL || l->mixed == NULL))) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the learner");
    }
    memset(l->row_changed, 1, pairs);
    for (size_t i = 0; l->mixed != NULL && i < pairs; i++) {
        l->mixed[i] = 1.0 / shape->num_actions;
    }
    return assay_policy_new(&l->policy, shape, err);
}

assay_status assay_online_new(assay_online **out, const assay_shape *shape,
                              const assay_online_params *params,
                              struct assay_custodian *custodian,
                              assay_error *err)
{
    assay_online *l;
    assay_status status = check(params, shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    l = calloc(1, sizeof *l);
    if (l == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the learner");
    }
    l->params = *params;
    mpq_init(l->params.budget);
    mpq_set(l->params.budget, params->budget);
    status = assay_board_init(&l->board, shape, params, custodian, err);
    if (status == ASSAY_OK) {
        l->cost_step = ldexp(1.0, -(int)params->cost_bits);
        l->fresh = 1;
        l->deepest = shape->horizon;
        set_numbers(l);
        status = allocate(l, err);
    }
    if (status != ASSAY_OK) {
        assay_online_free(l);
        return status;
    }
    *out = l;
    return ASSAY_OK;
}

void assay_online_free(assay_online *learner)
{
    if (learner == NULL) {
        return;
    }
    assay_board_clear(&learner->board);
    mpq_clear(learner->params.budget);
    free(learner->mean_cost);
    free(learner->inverse);
    free(learner->q);
    free(learner->value);
    free(learner->weight);
    free(learner->mixed);
    free(learner->row_changed);
    assay_policy_free(learner->policy);
    free(learner);
}

/* PUCB trusts a count only above 2E and then does not add E to it. */
static void row_pucb(assay_online *l, size_t pair, double n, double cost)
{
    double e = l->num.e1;
    double inv = n > 0.0 ? 1.0 / n : 0.0;
    if (n < 2.0 * e || n < 1.0) {
        l->inverse[pair] = 0.0; /* Q = 0: as good as can be */
        return;
    }
    l->inverse[pair] = inv;
    l->mean_cost[pair] =
        cost * inv - l->num.spread / sqrt(fmax(n - e, 1.0)) -
        l->num.fixed * (3.0 * e * inv + 2.0 * e * e * inv * inv);
}

/* c~ minus the bonus, and 1/n, of one (h, s, a). */
static void update_row(assay_online *l, size_t pair)
{
    double n = (double)l->board.cell[pair];
    double cost = (double)l->board.cost[pair] * l->cost_step;
    double inv;
    if (l->params.rule == ASSAY_PUCB) {
        row_pucb(l, pair, n, cost);
        return;
    }
    n += l->params.rule == ASSAY_LDP_OB ? 2.0 * l->num.e1 : l->num.e1;
    inv = 1.0 / fmax(1.0, n);
    l->inverse[pair] = inv;
    l->mean_cost[pair] = cost * inv -
                         (l->num.spread + l->num.spread_p) * sqrt(inv) -
                         l->num.fixed * inv;
}

static double row_q(const assay_online *l, size_t pair, uint32_t h,
                    const double *next)
{
    uint32_t num_states = l->board.shape.num_states;
    const int64_t *row = l->board.cell + l->board.num_pairs + pair * num_states;
    double top = (double)(l->board.shape.horizon - h);
    double sum = 0.0;
    double q;
    if (!(l->inverse[pair] > 0.0)) {
        return 0.0;
    }
    for (uint32_t t = 0; t < num_states; t++) {
        sum += (double)row[t] * next[t];
    }
    q = l->mean_cost[pair] + sum * l->inverse[pair];
    q = q > 0.0 ? q : 0.0;
    return q < top ? q : top;
}

/* The value of (h, s) from its actions: the least, or the mean under pi. */
static double state_value(assay_online *l, size_t pair, size_t at, int *changed)
{
    uint32_t num_actions = l->board.shape.num_actions;
    const double *q = l->q + pair;
    uint32_t best = 0;
    double sum = 0.0;
    if (l->mixed != NULL) {
        for (uint32_t a = 0; a < num_actions; a++) {
            sum += l->mixed[pair + a] * q[a];
        }
        return sum;
    }
    for (uint32_t a = 1; a < num_actions; a++) {
        best = q[a] < q[best] ? a : best;
    }
    if (l->policy->action[at] != best) {
        l->policy->action[at] = best;
        *changed = 1;
    }
    return q[best];
}

/* One step of the backward pass; only rows that changed, or all if the values
 * behind them did. Returns whether a value of step h changed. */
static int plan_step(assay_online *l, uint32_t h, int next_changed,
                     int *policy_changed)
{
    const assay_shape *shape = &l->board.shape;
    const double *next = l->value + (size_t)(h + 1) * shape->num_states;
    int moved = 0;
    for (uint32_t s = 0; s < shape->num_states; s++) {
        size_t at = (size_t)h * shape->num_states + s;
        size_t pair = at * shape->num_actions;
        int touched = 0;
        double value;
        for (uint32_t a = 0; a < shape->num_actions; a++) {
            if (l->row_changed[pair + a]) {
                update_row(l, pair + a);
            }
            if (l->row_changed[pair + a] || next_changed) {
                l->q[pair + a] = row_q(l, pair + a, h, next);
                touched = 1;
            }
            l->row_changed[pair + a] = 0;
        }
        if (touched || l->mixed != NULL) {
            value = state_value(l, pair, at, policy_changed);
            moved |= value < l->value[at] || value > l->value[at];
            l->value[at] = value;
        }
    }
    return moved;
}

/* pi(a|s) ~ pi(a|s) exp(-eta Q(s, a)), eta = sqrt(2 log A/(H^2 K)). */
static void improve(assay_online *l)
{
    const assay_shape *shape = &l->board.shape;
    uint32_t num_actions = shape->num_actions;
    double horizon = shape->horizon;
    double eta = sqrt(2.0 * log((double)num_actions) /
                      (horizon * horizon * (double)l->params.episodes));
    for (size_t pair = 0; pair < l->board.num_pairs; pair += num_actions) {
        double top = -INFINITY;
        double sum = 0.0;
        for (uint32_t a = 0; a < num_actions; a++) {
            l->weight[pair + a] -= eta * l->q[pair + a];
            top = fmax(top, l->weight[pair + a]);
        }
        for (uint32_t a = 0; a < num_actions; a++) {
            l->mixed[pair + a] = exp(l->weight[pair + a] - top);
            sum += l->mixed[pair + a];
        }
        for (uint32_t a = 0; a < num_actions; a++) {
            l->mixed[pair + a] /= sum;
        }
    }
}

int assay_online_plan(assay_online *learner)
{
    assay_online *l = learner;
    int moved = l->fresh;
    int policy_changed = moved;
    uint32_t h = l->mixed != NULL ? l->board.shape.horizon : l->deepest;
    if (l->mixed != NULL && !l->fresh) {
        improve(l); /* with the values of the user before */
        policy_changed = 1;
    }
    while (h-- > 0) {
        moved = plan_step(l, h, moved, &policy_changed);
    }
    l->deepest = 0;
    l->fresh = 0;
    return policy_changed;
}

uint32_t assay_online_act(const assay_online *learner, uint32_t h, uint32_t s,
                          assay_envrand *rand)
{
    const assay_shape *shape = &learner->board.shape;
    size_t at = (size_t)h * shape->num_states + s;
    if (learner->mixed == NULL) {
        return learner->policy->action[at];
    }
    return assay_mdp_draw(learner->mixed + at * shape->num_actions,
                          shape->num_actions, rand);
}

const double *assay_online_mixed(const assay_online *learner)
{
    return learner->mixed;
}

const assay_policy *assay_online_policy(const assay_online *learner)
{
    return learner->mixed == NULL ? learner->policy : NULL;
}

static assay_status check_steps(const assay_online *l,
                                const assay_online_step *steps,
                                assay_error *err)
{
    const assay_shape *shape = &l->board.shape;
    for (uint32_t h = 0; h < shape->horizon; h++) {
        if (steps[h].s >= shape->num_states ||
            steps[h].s_next >= shape->num_states ||
            steps[h].a >= shape->num_actions) {
            return assay_fail(err, ASSAY_INVALID,
                              "step %u is outside the spaces", h + 1);
        }
    }
    return ASSAY_OK;
}

/* Without noise only the visited rows changed, with noise all of them. */
static void mark_rows(assay_online *l, const assay_online_step *steps)
{
    const assay_shape *shape = &l->board.shape;
    l->deepest = shape->horizon;
    if (l->params.trust != ASSAY_TRUST_NONE) {
        memset(l->row_changed, 1, l->board.num_pairs);
        return;
    }
    for (uint32_t h = 0; h < shape->horizon; h++) {
        l->row_changed[assay_shape_pair(shape, h, steps[h].s, steps[h].a)] = 1;
    }
}

assay_status assay_online_observe(assay_online *learner,
                                  const assay_online_step *steps,
                                  assay_error *err)
{
    assay_status status = check_steps(learner, steps, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (learner->observed + 1 >= learner->params.episodes) {
        learner->observed++; /* nobody will see what the last user adds */
        return ASSAY_OK;
    }
    status = assay_board_add(&learner->board, steps, err);
    if (status == ASSAY_OK) {
        learner->observed++;
        mark_rows(learner, steps);
    }
    return status;
}
