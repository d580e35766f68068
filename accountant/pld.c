/* ring: glue */
/*
 * Privacy-loss distributions: discretise each kind of event by dominance, all
 * on one grid, convolve with a proved error, read off epsilon or delta. Both
 * directions (record removed, record added) are kept to the end.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/account.h"
#include "accountant/bookkeeping.h"
#include "accountant/compose.h"
#include "accountant/numeric.h"
#include "accountant/pmf_parts.h"
#include "core/rational.h"

#define MAX_KINDS 200
#define DEFAULT_GAP 1e-4

typedef struct kind {
    assay_event event;
    assay_pmf pmf[2]; /* remove, add */
    int symmetric;
    uint64_t count;
} kind;

typedef struct pld {
    size_t num;
    kind *kinds;
    int symmetric; /* of all: one direction is enough */
    double epsilon, log_delta, tilt, moment; /* first guess, by Renyi */
    int rough; /* by zcdp: the tilt is far off, and corrected after a pass */
    double tilt_found;
    double gap;
    double count;
    int bits;
    int fixed_epsilon;
} pld;

static void pld_clear(pld *p)
{
    for (size_t i = 0; i < p->num; i++) {
        assay_event_clear(&p->kinds[i].event);
        assay_pmf_clear(&p->kinds[i].pmf[0]);
        assay_pmf_clear(&p->kinds[i].pmf[1]);
    }
    free(p->kinds);
}

/* All plain Gaussians are one Gaussian: sensitivity2 = mu^2, sigma2 = 1. */
static assay_status add_gaussians(pld *p, const assay_event_list *list,
                                  assay_error *err)
{
    assay_event_list some;
    assay_status status = ASSAY_OK;
    assay_event_list_init(&some, list->neighbours, list->unit);
    for (size_t i = 0; i < list->num_events && status == ASSAY_OK; i++) {
        if (assay_event_is_gaussian(&list->events[i])) {
            status = assay_event_list_add(&some, &list->events[i], err);
        }
    }
    if (status == ASSAY_OK && some.num_events > 0) {
        kind *k = &p->kinds[p->num];
        assay_event_init(&k->event, ASSAY_GAUSSIAN);
        mpq_set_ui(k->event.sigma2, 1, 1);
        status = assay_account_rho(k->event.sensitivity2, &some, err);
        mpq_mul_2exp(k->event.sensitivity2, k->event.sensitivity2, 1);
        k->count = 1;
        p->num++;
        if (mpq_sgn(k->event.sensitivity2) == 0) {
            assay_event_clear(&k->event);
            p->num--;
        }
    }
    assay_event_list_clear(&some);
    return status;
}

static assay_status add_kind(pld *p, const assay_event *event, assay_error *err)
{
    uint64_t count = 0;
    if (assay_count_multiply(&count, event->count, assay_pmf_repeats(event)) !=
        ASSAY_OK) {
        return assay_fail(err, ASSAY_UNSUPPORTED, "pld: too many events");
    }
    for (size_t i = 0; i < p->num; i++) {
        if (assay_event_same_kind(&p->kinds[i].event, event)) {
            return assay_count_add(&p->kinds[i].count, p->kinds[i].count,
                                   count) == ASSAY_OK
                       ? ASSAY_OK
                       : assay_fail(err, ASSAY_UNSUPPORTED,
                                    "pld: too many events");
        }
    }
    if (p->num >= MAX_KINDS) {
        return assay_fail(err, ASSAY_UNSUPPORTED,
                          "pld: more than %d kinds of events", MAX_KINDS);
    }
    assay_status status = assay_pmf_covers(event, err);
    if (status == ASSAY_OK) {
        status = assay_event_copy(&p->kinds[p->num].event, event, err);
    }
    if (status == ASSAY_OK) {
        p->kinds[p->num++].count = count;
    }
    return status;
}

static assay_status gather(pld *p, const assay_event_list *list,
                           assay_error *err)
{
    p->kinds = calloc(MAX_KINDS + 1, sizeof *p->kinds);
    if (p->kinds == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for pld");
    }
    assay_status status = add_gaussians(p, list, err);
    for (size_t i = 0; i < list->num_events && status == ASSAY_OK; i++) {
        if (!assay_event_is_gaussian(&list->events[i])) {
            status = add_kind(p, &list->events[i], err);
        }
    }
    for (size_t i = 0; i < p->num; i++) {
        p->count += (double)p->kinds[i].count;
    }
    return status;
}

/* A first guess at the answer and the order that matters: by Renyi, or by zcdp
   where no theorem gives a Renyi curve. */
static assay_status guess(pld *p, const assay_query *query, assay_error *err)
{
    assay_bound first;
    assay_bound_init(&first, "guess");
    assay_status status = assay_method_renyi(&first, query, err);
    if (status == ASSAY_UNSUPPORTED) {
        status = assay_method_zcdp(&first, query, err);
        p->rough = 1;
        mpq_mul(first.value, first.rho, first.alpha);
    }
    if (status == ASSAY_OK) {
        p->epsilon = mpq_get_d(first.epsilon);
        p->log_delta = assay_log_double(first.delta);
        p->tilt = fmax(1e-6, mpq_get_d(first.alpha) - 1.0);
        p->moment = mpq_get_d(first.value) * p->tilt;
    }
    assay_bound_clear(&first);
    return status;
}

/* A cell of width h moves epsilon by at most (1 + tilt) h^2 / 8 per event. */
static double allowed_shift(const pld *p)
{
    /* delta falls like e^{-tilt eps}: a shift of 1/tilt is all there is */
    double least = p->fixed_epsilon ? 1.0 : 0.001;
    return p->gap * fmax(p->epsilon, least / (1.0 + p->tilt));
}

static void choose_grid(pld *p)
{
    double allowed = allowed_shift(p);
    double h = sqrt(8.0 * allowed / p->count / (1.0 + p->tilt));
    p->bits = (int)ceil(-log2(h));
    p->bits = p->bits < 2 ? 2 : p->bits > 60 ? 60 : p->bits;
}

static assay_grid grid_for(const pld *p)
{
    assay_grid grid = {.bits = p->bits, .tilt = p->tilt};
    double tail = p->log_delta + log(p->gap) - 3.0 - log(p->count);
    grid.tail = exp(fmax(-700.0, fmin(-12.0, tail)));
    grid.cell = allowed_shift(p) / 2000.0;
    grid.focus = 0.3 * p->epsilon;
    grid.jump = fmax(exp(p->log_delta) * p->gap * 0.1, 1e-300);
    grid.log_scale = p->moment / p->count;
    return grid;
}

static assay_status discretise(pld *p, assay_error *err)
{
    assay_status status = ASSAY_OK;
    assay_grid grid = grid_for(p);
    p->symmetric = 1;
    for (size_t i = 0; i < p->num && status == ASSAY_OK; i++) {
        kind *k = &p->kinds[i];
        assay_pmf_clear(&k->pmf[0]);
        assay_pmf_clear(&k->pmf[1]);
        uint64_t kept = k->event.count;
        k->event.count = k->count;
        status = assay_pmf_event(&k->pmf[0], &k->pmf[1], &k->symmetric,
                                 &k->event, &grid, err);
        k->event.count = kept;
        p->symmetric &= k->symmetric;
    }
    return status;
}

static void parts_of(assay_part *parts, const pld *p, int direction)
{
    for (size_t i = 0; i < p->num; i++) {
        const kind *k = &p->kinds[i];
        parts[i].pmf = &k->pmf[k->symmetric ? 0 : direction];
        parts[i].count = k->count;
    }
}

/* ---- reading off ---- */

static int below(const assay_composed *c, double epsilon, const arb_t delta,
                 arb_t scratch)
{
    assay_composed_delta(scratch, c, epsilon);
    return arb_le(scratch, delta);
}

/* The smallest double epsilon in [0, high] that is certainly enough. */
static int read_epsilon(double *out, const assay_composed *c, double high,
                        const arb_t delta)
{
    arb_t scratch;
    arb_init(scratch);
    double low = 0.0;
    int found = below(c, high, delta, scratch);
    if (found && below(c, 0.0, delta, scratch)) {
        high = 0.0;
    }
    for (int i = 0; i < 50 && found && high - low > 1e-13 * high; i++) {
        double middle = 0.5 * (low + high);
        if (below(c, middle, delta, scratch)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    *out = high;
    arb_clear(scratch);
    return found;
}

/* How much of the upper bound at epsilon is charges for errors. */
static double charge_share(const assay_composed *c, double epsilon)
{
    arb_t d, low, high;
    arb_init(d);
    arb_init(low);
    arb_init(high);
    assay_composed_delta(d, c, epsilon);
    arb_get_lbound_arf(arb_midref(low), d, 64);
    arb_get_ubound_arf(arb_midref(high), d, 64);
    double l = arf_get_d(arb_midref(low), ARF_RND_NEAR);
    double h = arf_get_d(arb_midref(high), ARF_RND_NEAR);
    arb_clear(d);
    arb_clear(low);
    arb_clear(high);
    return h > 0.0 ? (h - l) / h : 0.0;
}

typedef struct answer {
    double epsilon;
    double tilt;
    mpq_t delta;
    int found;
} answer;

static assay_status one_direction(answer *out, const pld *p, int direction,
                                  const assay_query *query, assay_error *err)
{
    assay_part parts[MAX_KINDS];
    assay_composed c;
    parts_of(parts, p, direction);
    double at = p->epsilon;
    double tilt = p->tilt;
    arb_t delta;
    arb_init(delta);
    assay_status status = ASSAY_OK;
    double old_tilt = 0.0;
    for (int round = 0; round < 4; round++) {
        tilt = fmax(1e-3, assay_compose_tilt(parts, p->num, p->bits, at, tilt));
        if (fabs(tilt - old_tilt) < 0.1 * tilt) {
            break; /* it would be the same again */
        }
        old_tilt = tilt;
        status = assay_compose(&c, parts, p->num, p->bits, tilt, at,
                               p->log_delta + log(p->gap) - 2.0, 0, err);
        if (status != ASSAY_OK) {
            break;
        }
        double before = at;
        out->tilt = tilt;
        if (query->fixed_epsilon) {
            assay_composed_delta(delta, &c, at);
            out->found = assay_arb_upper(out->delta, delta);
        } else {
            assay_arb_set_mpq(delta, query->target, 192);
            double value = at;
            out->found = read_epsilon(&value, &c, p->epsilon, delta) ||
                         read_epsilon(&value, &c, 2.0 * p->epsilon, delta);
            out->epsilon = value;
            at = value;
        }
        double share = charge_share(&c, at);
        assay_composed_clear(&c);
        if (query->fixed_epsilon || !out->found ||
            (share < p->gap / 4 && before - at < 0.1 * before + 1e-12)) {
            break;
        }
    }
    arb_clear(delta);
    return status;
}

static void cite_kind(assay_bound *out, const assay_event *event)
{
    assay_bound_cite(out, event->sampling == ASSAY_SAMPLE_POISSON
                              ? "poisson-dominating-pair"
                          : event->sampling == ASSAY_SAMPLE_WITHOUT_REPLACEMENT
                              ? "without-replacement-dominating-pair"
                              : NULL);
    if (mpq_cmp_ui(event->coin, 1, 1) < 0) {
        assay_bound_cite(out, "public-coin");
    }
    assay_cost cost;
    assay_cost_init(&cost);
    if (assay_pmf_is_smooth(event)) {
        assay_bound_cite(out, event->mechanism == ASSAY_LAPLACE ||
                                      event->mechanism == ASSAY_ROUNDED_LAPLACE
                                  ? "laplace-loss"
                                  : "gaussian-loss");
    } else if (event->mechanism == ASSAY_DISCRETE_LAPLACE ||
               event->mechanism == ASSAY_DISCRETE_GAUSSIAN) {
        assay_bound_cite(out, "discrete-noise-loss");
        assay_bound_cite(out, assay_pmf_vector_id(event));
    } else if (event->mechanism == ASSAY_RANDOMIZED_RESPONSE) {
        assay_bound_cite(out, "randomized-response");
    } else if (assay_event_cost(&cost, event, ASSAY_REPLACE_ONE, NULL) ==
               ASSAY_OK) {
        assay_bound_cite(out, cost.pure_id);
        assay_bound_cite(out, cost.pure_id2);
        assay_bound_cite(out, "response-dominates");
    }
    assay_cost_clear(&cost);
}

static void finish_bound(assay_bound *out, answer answers[2], int num,
                         const assay_query *query)
{
    if (query->fixed_epsilon) {
        mpq_set(out->epsilon, query->target);
        mpq_set(out->delta,
                num == 2 && mpq_cmp(answers[1].delta, answers[0].delta) > 0
                    ? answers[1].delta
                    : answers[0].delta);
        if (mpq_cmp_ui(out->delta, 1, 1) > 0) {
            mpq_set_ui(out->delta, 1, 1);
        }
        assay_decimal_outward(out->delta, ASSAY_DIGITS, 1);
        return;
    }
    double e = num == 2 ? fmax(answers[0].epsilon, answers[1].epsilon)
                        : answers[0].epsilon;
    mpq_set_d(out->epsilon, e);
    assay_decimal_outward(out->epsilon, ASSAY_DIGITS, 1);
    mpq_set(out->delta, query->target);
}

static assay_status solve(assay_bound *out, pld *p, const assay_query *query,
                          assay_error *err)
{
    answer answers[2] = {{.found = 0}, {.found = 0}};
    mpq_init(answers[0].delta);
    mpq_init(answers[1].delta);
    int num = p->symmetric ? 1 : 2;
    assay_status status = ASSAY_OK;
    for (int d = 0; d < num && status == ASSAY_OK; d++) {
        status = one_direction(&answers[d], p, d, query, err);
        p->tilt_found = fmax(d > 0 ? p->tilt_found : 0.0, answers[d].tilt);
        if (status == ASSAY_OK && !answers[d].found) {
            status = assay_fail(err, ASSAY_UNSUPPORTED,
                                "pld: it does not reach the target");
        }
    }
    if (status == ASSAY_OK) {
        finish_bound(out, answers, num, query);
    }
    mpq_clear(answers[0].delta);
    mpq_clear(answers[1].delta);
    return status;
}

/* ---- lower bounds ---- */

/* The pmfs that each kind dominates, on a grid of `bits`. */
static assay_status discretise_lower(pld *p, int direction, int bits,
                                     assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < p->num && status == ASSAY_OK; i++) {
        kind *k = &p->kinds[i];
        assay_grid grid = grid_for(p);
        grid.bits = bits;
        assay_pmf_clear(&k->pmf[direction]);
        uint64_t kept = k->event.count;
        k->event.count = k->count;
        status = assay_pmf_event_lower(&k->pmf[direction], &k->event, &grid,
                                       direction == 1 && !k->symmetric, err);
        k->event.count = kept;
    }
    return status;
}

/* The largest epsilon in [0.9 high, high] that is certainly not enough. */
static double read_lower(const assay_composed *c, double high,
                         const arb_t delta)
{
    arb_t scratch;
    arb_init(scratch);
    double low = 0.9 * high;
    assay_composed_delta_lower(scratch, c, low);
    int found = arb_gt(scratch, delta);
    for (int i = 0; i < 40 && found; i++) {
        double middle = 0.5 * (low + high);
        assay_composed_delta_lower(scratch, c, middle);
        if (arb_gt(scratch, delta)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    arb_clear(scratch);
    return found ? low : 0.0;
}

static assay_status lower_direction(assay_bound *out, pld *p, int direction,
                                    int bits, const assay_query *query)
{
    assay_part parts[MAX_KINDS];
    assay_composed c;
    assay_error ignored = ASSAY_ERROR_INIT;
    assay_status status = discretise_lower(p, direction, bits, &ignored);
    if (status != ASSAY_OK) {
        return status;
    }
    for (size_t i = 0; i < p->num; i++) {
        parts[i].pmf = &p->kinds[i].pmf[direction];
        parts[i].count = p->kinds[i].count;
    }
    double at = mpq_get_d(out->epsilon);
    double tilt =
        fmax(1e-3, assay_compose_tilt(parts, p->num, bits, at, p->tilt));
    status = assay_compose(&c, parts, p->num, bits, tilt, at,
                           p->log_delta + log(p->gap) - 2.0, 1, &ignored);
    if (status != ASSAY_OK) {
        return status;
    }
    arb_t delta;
    mpq_t found;
    arb_init(delta);
    mpq_init(found);
    if (query->fixed_epsilon) {
        assay_composed_delta_lower(delta, &c, at);
        if (assay_arb_lower(found, delta) &&
            mpq_cmp(found, out->delta_lower) > 0) {
            mpq_set(out->delta_lower, found);
        }
    } else {
        assay_arb_set_mpq(delta, query->target, 192);
        mpq_set_d(found, read_lower(&c, at, delta));
        if (mpq_cmp(found, out->epsilon_lower) > 0) {
            mpq_set(out->epsilon_lower, found);
        }
    }
    out->has_lower = 1;
    assay_decimal_outward(out->epsilon_lower, ASSAY_DIGITS, 0);
    assay_decimal_outward(out->delta_lower, ASSAY_DIGITS, 0);
    mpq_clear(found);
    arb_clear(delta);
    assay_composed_clear(&c);
    return ASSAY_OK;
}

/* How far apart the two ends are, relative to the upper one. */
static double lower_gap(const assay_bound *out, const assay_query *query)
{
    double high = mpq_get_d(query->fixed_epsilon ? out->delta : out->epsilon);
    double low = mpq_get_d(query->fixed_epsilon ? out->delta_lower
                                                : out->epsilon_lower);
    return high > 0.0 ? 1.0 - low / high : 0.0;
}

static size_t num_nodes(const pld *p, int direction)
{
    size_t sum = 0;
    for (size_t i = 0; i < p->num; i++) {
        sum += p->kinds[i].pmf[direction].num;
    }
    return sum;
}

/* Losses are moved down to the grid, an error of first order, so it is finer
   than for the upper bound: windows of smooth losses (two cells at least) cost
   an evaluation each, a few atoms cost nothing. */
static void lower_bound(assay_bound *out, pld *p, const assay_query *query)
{
    int finer = 5;
    for (size_t i = 0; i < p->num; i++) {
        finer = assay_pmf_is_smooth(&p->kinds[i].event) ? 3 : finer;
    }
    for (int d = 0; d < (p->symmetric ? 1 : 2); d++) {
        assay_status status = ASSAY_RANGE;
        int f = finer + 1;
        while (f > 1 && status == ASSAY_RANGE) {
            status = lower_direction(out, p, d, p->bits + --f, query);
        }
        /* as fine as is cheap and helps; each answer is a bound */
        double gap = 2.0;
        for (f += 2; f <= 11 && status == ASSAY_OK && num_nodes(p, d) < 4096 &&
                     lower_gap(out, query) > 0.001 &&
                     lower_gap(out, query) < 0.8 * gap;
             f += 2) {
            gap = lower_gap(out, query);
            status = lower_direction(out, p, d, p->bits + f, query);
        }
    }
}

static assay_status attempt(assay_bound *out, pld *p, const assay_query *query,
                            assay_error *err)
{
    assay_status status = discretise(p, err);
    return status == ASSAY_OK ? solve(out, p, query, err) : status;
}

/* One pass at a gap; coarser grids where the fine one is too long. */
static assay_status pass(assay_bound *out, pld *p, double gap,
                         const assay_query *query, assay_error *err)
{
    p->gap = gap;
    choose_grid(p);
    assay_status status = attempt(out, p, query, err);
    for (int i = 0; i < 8 && status == ASSAY_RANGE && p->bits > 3; i++) {
        p->bits -= 2;
        status = attempt(out, p, query, err);
    }
    return status;
}

/* A coarse pass finds where the answer is; the Renyi guess can be far off. Then
   finer ones until the answer stops moving. The smallest answer counts: each is
   a bound. */
static assay_status run(assay_bound *out, pld *p, const assay_query *query,
                        assay_error *err)
{
    double gap = p->gap;
    assay_status status = guess(p, query, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (query->fixed_epsilon) {
        return pass(out, p, gap, query, err);
    }
    status = pass(out, p, fmax(gap, 0.02), query, err);
    for (int i = 0; i < 4 && status == ASSAY_OK && gap < 0.02; i++) {
        double found = mpq_get_d(out->epsilon);
        if (found < 1e-9) {
            break;
        }
        assay_bound again;
        assay_bound_init(&again, "pld");
        p->epsilon = found * 1.0001 + 1e-12;
        if (p->rough) {
            p->tilt = fmin(fmax(p->tilt, p->tilt_found), 1e6);
        }
        status = pass(&again, p, gap, query, err);
        if (status == ASSAY_OK && mpq_cmp(again.epsilon, out->epsilon) < 0) {
            mpq_set(out->epsilon, again.epsilon);
        }
        assay_bound_clear(&again);
        if (mpq_get_d(out->epsilon) > (p->rough ? 0.999 : 0.8) * found) {
            break;
        }
    }
    return status;
}

assay_status assay_method_pld(assay_bound *out, const assay_query *query,
                              assay_error *err)
{
    pld p = {.fixed_epsilon = query->fixed_epsilon};
    p.gap =
        query->options->max_gap > 0.0 ? query->options->max_gap : DEFAULT_GAP;
    p.gap = fmax(1e-9, fmin(0.1, p.gap));
    if (query->options->method == NULL && query->events->num_events > 2000) {
        return assay_fail(err, ASSAY_UNSUPPORTED, "pld: too many events");
    }
    assay_status status = gather(&p, query->events, err);
    if (status == ASSAY_OK) {
        for (size_t i = 0; i < p.num; i++) {
            cite_kind(out, &p.kinds[i].event);
        }
        assay_bound_cite(out, "connect-the-dots");
        assay_bound_cite(out, "dominating-pair-composition");
        status = run(out, &p, query, err);
    }
    if (status == ASSAY_OK && query->options->lower) {
        lower_bound(out, &p, query);
    }
    pld_clear(&p);
    return status;
}
