/* ring: glue */
#include "audit/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"

/* Screening looks at the first rows of a pair's source; the audit of the chosen
 * pair may train on the same rows, so that only the losers cost runs. */
typedef struct climb {
    const assay_specimen *specimen;
    uint64_t target, seed;
    uint64_t spent; /* runs of each input, over all pairs */
    assay_rng rng;
} climb;

/* Screen one pair with its first rows; `seen` of them were drawn before. */
static assay_status try_pair(climb *c, const assay_pair *pair, uint64_t samples,
                             uint64_t seen, assay_promise *out,
                             assay_error *err)
{
    assay_specimen_run run = {c->specimen, *pair, c->seed};
    assay_source source = assay_specimen_source(&run);
    assay_status status = assay_audit_screen(out, &source, &c->specimen->claim,
                                             samples, c->target, 0, err);
    c->spent += out->runs > seen ? out->runs - seen : 0;
    return status;
}

static double within(double x, double size)
{
    return fmin(fmax(x, -size), size);
}

static double symmetric(climb *c, double size)
{
    return size * (2 * assay_rng_u01(&c->rng) - 1);
}

static void random_pair(climb *c, assay_pair *p)
{
    const assay_specimen *s = c->specimen;
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < s->num_inputs; i++) {
        double step = assay_rng_u01(&c->rng) < 0.5 ? -1 : 1;
        p->q[0][i] = symmetric(c, s->search);
        p->q[1][i] = within(p->q[0][i] + step, s->search);
    }
}

/* One answer at the top of the domain, the others at the bottom, all moved. */
static void corner_pair(climb *c, assay_pair *p)
{
    const assay_specimen *s = c->specimen;
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < s->num_inputs; i++) {
        p->q[0][i] = i == 0 ? s->search : 1 - s->search;
        p->q[1][i] = p->q[0][i] - 1;
    }
}

/* Move one answer, often to the edge of the domain, or flip one change. */
static void mutate(climb *c, assay_pair *p)
{
    const assay_specimen *s = c->specimen;
    size_t i = (size_t)(assay_rng_u64(&c->rng) % s->num_inputs);
    double u = assay_rng_u01(&c->rng), d = p->q[1][i] - p->q[0][i];
    if (u < 0.3) {
        d = -d;
    } else if (u < 0.6) {
        p->q[0][i] =
            within(p->q[0][i] + symmetric(c, s->search / 2), s->search);
    } else {
        p->q[0][i] = u < 0.8 ? s->search - 1 : 1 - s->search;
    }
    p->q[1][i] = within(p->q[0][i] + d, s->search);
}

static assay_status hill_climb(climb *c, uint64_t samples, assay_pair *best,
                               assay_error *err)
{
    assay_status status = ASSAY_OK;
    double top = -30;
    for (int restart = 0; status == ASSAY_OK && restart < 3; restart++) {
        assay_pair here;
        assay_promise at, next;
        random_pair(c, &here);
        if (restart == 0) {
            corner_pair(c, &here);
        }
        status = try_pair(c, &here, samples, 0, &at, err);
        for (int step = 0; status == ASSAY_OK && step < 16; step++) {
            assay_pair there = here;
            mutate(c, &there);
            status = try_pair(c, &there, samples, 0, &next, err);
            if (next.merit >= at.merit) {
                at = next;
                here = there;
            }
        }
        if (status == ASSAY_OK && at.merit > top) {
            top = at.merit;
            *best = here;
        }
    }
    return status;
}

/* In experience the pairs that move answers both ways show most: between pairs
 * that cannot be told apart, these. */
static int is_mixed(const assay_pair *p)
{
    int up = 0, down = 0;
    for (size_t i = 0; i < ASSAY_SPECIMEN_INPUTS; i++) {
        up += p->q[1][i] > p->q[0][i];
        down += p->q[1][i] < p->q[0][i];
    }
    return up > 1 && down > 1;
}

static double value_of(const assay_pair *pair, const assay_promise *p)
{
    return p->merit + (is_mixed(pair) ? fmin(p->noise, 0.1) : 0);
}

/* The best pair alive that is not kept yet: by predicted bound or by
 * separation, if wanted of the mixed pairs alone; num if there is none. */
static size_t next_best(const int *alive, const int *kept,
                        const assay_pair *pairs, const assay_promise *promise,
                        size_t num, int by_separation, int mixed)
{
    size_t at = num;
    for (size_t i = 0; i < num; i++) {
        if (!alive[i] || kept[i] || (mixed && !is_mixed(&pairs[i]))) {
            continue;
        }
        int better = at == num;
        if (!better && by_separation) {
            better = promise[i].separation > promise[at].separation;
        } else if (!better) {
            better = value_of(&pairs[i], &promise[i]) >
                     value_of(&pairs[at], &promise[at]);
        }
        at = better ? i : at;
    }
    return at;
}

/* The `keep` best: up to half of them mixed pairs, the others in turn by
 * predicted bound and by separation. */
static void keep_best(int *alive, const assay_pair *pairs,
                      const assay_promise *promise, size_t num, size_t keep)
{
    int next[ASSAY_SEARCH_PAIRS] = {0}, by_separation = 0;
    size_t kept = 0, at = 0;
    while (kept < keep / 2 && at < num) {
        at = next_best(alive, next, pairs, promise, num, 0, 1);
        if (at < num) {
            next[at] = 1;
            kept++;
        }
    }
    for (; kept < keep; kept++) {
        at = next_best(alive, next, pairs, promise, num, by_separation, 0);
        if (at < num) {
            next[at] = 1;
        }
        by_separation = !by_separation;
    }
    memcpy(alive, next, num * sizeof *alive);
}

/* Of the pairs alive, the one that is beyond doubt ahead of all others; num if
 * there is none. */
#define BEYOND 5 /* standard deviations */
static size_t leader(const int *alive, const assay_pair *pairs,
                     const assay_promise *promise, size_t num)
{
    const int none[ASSAY_SEARCH_PAIRS] = {0};
    size_t at = next_best(alive, none, pairs, promise, num, 0, 0);
    for (size_t i = 0; at < num && i < num; i++) {
        double lead = promise[at].merit - promise[i].merit;
        double doubt = hypot(promise[at].noise, promise[i].noise);
        if (alive[i] && i != at &&
            !(lead > BEYOND * doubt &&
              promise[at].separation > promise[i].separation)) {
            return num;
        }
    }
    return at;
}

/* Look at all pairs alive with the splines: the first rows of a source of
 * its own, for an audit whose every third row had been seen would have too
 * few left to certify. */
static assay_status look_closely(climb *c, const int *alive,
                                 const assay_pair *pairs, size_t num,
                                 double runs, assay_promise *promise,
                                 assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (size_t k = 0; status == ASSAY_OK && k < num; k++) {
        assay_specimen_run run = {c->specimen, pairs[k],
                                  assay_rng_mix(c->seed + 1)};
        assay_source source = assay_specimen_source(&run);
        if (alive[k]) {
            status =
                assay_audit_screen(&promise[k], &source, &c->specimen->claim,
                                   (uint64_t)runs, c->target, 1, err);
            c->spent += promise[k].runs;
        }
    }
    return status;
}

/* The `keep` pairs of the best promise. */
static void keep_promising(int *alive, const assay_promise *promise, size_t num,
                           size_t keep)
{
    int next[ASSAY_SEARCH_PAIRS] = {0};
    for (; keep > 0; keep--) {
        size_t at = num;
        for (size_t k = 0; k < num; k++) {
            int may = alive[k] && !next[k];
            at = may && (at == num || promise[k].merit > promise[at].merit)
                     ? k
                     : at;
        }
        if (at < num) {
            next[at] = 1;
        }
    }
    memcpy(alive, next, num * sizeof *alive);
}

/* Of two pairs alive, is it in doubt which promises more? */
#define DOUBT 3 /* standard deviations */
static int in_doubt(const int *alive, const assay_promise *promise, size_t num)
{
    const assay_promise *one = NULL;
    for (size_t k = 0; k < num; k++) {
        if (alive[k] && one == NULL) {
            one = &promise[k];
        } else if (alive[k]) {
            return fabs(one->merit - promise[k].merit) <
                   DOUBT * hypot(one->noise, promise[k].noise);
        }
    }
    return 0;
}

/* Screen the pairs alive with their first rows and keep some of them; one,
 * if it is beyond doubt ahead. */
static assay_status screen_round(climb *c, int *alive, const assay_pair *pairs,
                                 size_t num, uint64_t samples, size_t keep,
                                 assay_promise *promise, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (size_t k = 0; status == ASSAY_OK && k < num; k++) {
        if (alive[k]) {
            status = try_pair(c, &pairs[k], samples, promise[k].runs,
                              &promise[k], err);
        }
    }
    keep_best(alive, pairs, promise, num, keep);
    size_t first = leader(alive, pairs, promise, num);
    for (size_t k = 0; first < num && k < num; k++) {
        alive[k] = k == first;
    }
    return status;
}

static size_t count_alive(const int *alive, size_t num)
{
    size_t count = 0;
    for (size_t k = 0; k < num; k++) {
        count += alive[k] != 0;
    }
    return count;
}

/* All pairs with a few runs, the best four with three times as many, the best
 * two of these with eight times as many, until one is beyond doubt ahead. For a
 * large audit the best five closely, the best two of these with as many runs as
 * an audit trains with: what quick attackers see of rare events tells little. A
 * tenth of a very large audit's runs where these two are still in doubt. */
#define CLOSE_LEAST 2000000 /* runs of such an audit */
#define CLOSE_FIRST 0.06    /* of its runs */
#define CLOSE_LAST 0.3
#define CLOSE_MOST 3e6
#define CLOSE_FINAL 0.1 /* where the last two cannot be told apart */
static assay_status screen_pairs(climb *c, const assay_pair *pairs, size_t num,
                                 uint64_t samples, size_t *best, uint64_t *seen,
                                 assay_error *err)
{
    static const uint64_t times[2][3] = {{2, 6, 16}, {2, 0, 0}};
    static const size_t keep[2][3] = {{4, 2, 1}, {5, 2, 1}};
    int alive[ASSAY_SEARCH_PAIRS], large = c->target >= CLOSE_LEAST;
    assay_promise promise[ASSAY_SEARCH_PAIRS], closely[ASSAY_SEARCH_PAIRS];
    assay_status status = ASSAY_OK;
    memset(promise, 0, sizeof promise);
    for (size_t k = 0; k < num; k++) {
        alive[k] = 1;
    }
    for (int r = 0; status == ASSAY_OK && r < 3; r++) {
        double runs = r == 1 ? CLOSE_FIRST : CLOSE_LAST;
        runs *= fmin((double)c->target, CLOSE_MOST / CLOSE_LAST);
        if (count_alive(alive, num) <= (r < 2 ? keep[large][r] : 1)) {
            continue;
        }
        if (times[large][r] > 0) {
            status =
                screen_round(c, alive, pairs, num, samples * times[large][r],
                             keep[large][r], promise, err);
        } else {
            status = look_closely(c, alive, pairs, num, runs, closely, err);
            runs = CLOSE_FINAL * (double)c->target;
            if (status == ASSAY_OK && r == 2 && runs > CLOSE_MOST &&
                in_doubt(alive, closely, num)) {
                status = look_closely(c, alive, pairs, num, runs, closely, err);
            }
            keep_promising(alive, closely, num, keep[large][r]);
        }
    }
    for (size_t k = 0; k < num; k++) {
        *best = alive[k] ? k : *best;
    }
    *seen = promise[*best].runs;
    return status;
}

assay_status assay_search_pair(assay_pair *out, uint64_t *spent, uint64_t *seen,
                               const assay_specimen *specimen, uint64_t samples,
                               uint64_t target, uint64_t seed, assay_error *err)
{
    assay_pair pairs[ASSAY_SEARCH_PAIRS];
    size_t num = assay_specimen_pairs(specimen, pairs), best = 0;
    climb c = {.specimen = specimen, .target = target, .seed = seed};
    assay_rng_seed(&c.rng, seed, 77, 0);
    *spent = *seen = 0;
    *out = pairs[0];
    assay_status status = ASSAY_OK;
    if (specimen->search > 0) {
        status = hill_climb(&c, samples / 6, &pairs[num++], err);
    }
    if (status == ASSAY_OK && num > 1) {
        status = screen_pairs(&c, pairs, num, samples, &best, seen, err);
    }
    if (status == ASSAY_OK) {
        *out = pairs[best];
        *spent = c.spent - *seen;
    }
    return status;
}
