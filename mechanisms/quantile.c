/* ring: glue */
#include "mechanisms/quantile.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "core/bound.h"
#include "core/rational.h"
#include "mechanisms/point.h"
#include "mechanisms/uniform.h"
#include "mechanisms/weighted.h"

#define MAX_DENOMINATOR (1ul << 20)
#define MAX_VALUES ((uint64_t)1 << 40)

typedef struct rank_target {
    uint64_t num; /* q = num / den */
    uint64_t den;
    mpq_t rate; /* of |den * below - num * n| */
} rank_target;

/* rate = epsilon / (2 s den): the score is in units of 1 / den */
static assay_status target_init(rank_target *t, const assay_custodian *c,
                                uint32_t per_person, const mpq_t q,
                                const mpq_t epsilon, assay_error *err)
{
    if (mpq_sgn(q) < 0 || mpq_cmp_ui(q, 1, 1) > 0 ||
        mpz_cmp_ui(mpq_denref(q), MAX_DENOMINATOR) > 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "a quantile is between 0 and 1 with a denominator "
                          "of at most 2^20");
    }
    if (mpq_sgn(epsilon) <= 0 || per_person == 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "epsilon and the values per person must be positive");
    }
    t->num = assay_mpz_get_u64(mpq_numref(q));
    t->den = assay_mpz_get_u64(mpq_denref(q));
    uint64_t other = t->den - t->num;
    uint64_t most = t->num > other ? t->num : other;
    /* s den = per_person max(num, den - num), or per_person den when a
     * person is replaced */
    uint64_t step = assay_custodian_replaces(c) ? t->den : most;
    mpq_init(t->rate);
    mpq_set_ui(t->rate, 1, 2 * step * per_person);
    mpq_mul(t->rate, t->rate, epsilon);
    return ASSAY_OK;
}

static uint64_t rank_distance(const rank_target *t, uint64_t below, uint64_t n)
{
    uint64_t at = t->den * below;
    uint64_t aim = t->num * n;
    return at > aim ? at - aim : aim - at;
}

static assay_status charge(assay_custodian *custodian, const mpq_t epsilon,
                           const char *label, assay_error *err)
{
    assay_event event;
    assay_event_init(&event, ASSAY_EXPONENTIAL);
    mpq_set(event.epsilon, epsilon);
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

static void wipe(void *at, size_t len)
{
    if (at != NULL) {
        OPENSSL_cleanse(at, len);
        free(at);
    }
}

static int compare_values(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Interval i holds the points y with exactly i values below: (x_i, x_{i+1}],
 * with x_0 = lo - 1 and x_{n+1} = hi. */
static void fill_intervals(uint64_t *weight, uint64_t *distance,
                           const int64_t *sorted, size_t n, int64_t lo,
                           int64_t hi, const rank_target *t)
{
    int64_t start = lo; /* the first point not yet in an interval */
    for (size_t i = 0; i <= n; i++) {
        int64_t end = i < n ? sorted[i] : hi;
        weight[i] = end >= start ? (uint64_t)(end - start) + 1 : 0;
        distance[i] = rank_distance(t, i, n);
        start = end >= start ? end + 1 : start;
    }
}

typedef struct workspace {
    int64_t *sorted;
    uint64_t *weight;
    uint64_t *distance;
    size_t n;
} workspace;

static void workspace_clear(workspace *w)
{
    wipe(w->sorted, (w->n + 1) * sizeof *w->sorted);
    wipe(w->weight, (w->n + 1) * sizeof *w->weight);
    wipe(w->distance, (w->n + 1) * sizeof *w->distance);
}

static assay_status workspace_init(workspace *w, const int64_t *values,
                                   size_t n, int64_t lo, int64_t hi,
                                   assay_error *err)
{
    w->n = n;
    w->sorted = calloc(n + 1, sizeof *w->sorted);
    w->weight = calloc(n + 1, sizeof *w->weight);
    w->distance = calloc(n + 1, sizeof *w->distance);
    if (w->sorted == NULL || w->weight == NULL || w->distance == NULL) {
        workspace_clear(w);
        return assay_fail(err, ASSAY_MEMORY, "no memory for the values");
    }
    for (size_t i = 0; i < n; i++) {
        w->sorted[i] = assay_clip(values[i], lo, hi);
    }
    qsort(w->sorted, n, sizeof *w->sorted, compare_values);
    return ASSAY_OK;
}

static assay_status draw_point(assay_custodian *custodian, int64_t *out,
                               const workspace *w, int64_t lo, const mpq_t rate,
                               assay_error *err)
{
    size_t i = 0;
    uint64_t offset = 0;
    assay_status status = assay_weighted_draw(&custodian->tape, &i, w->weight,
                                              w->distance, w->n + 1, rate, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_uniform_below(&custodian->tape, w->weight[i], &offset);
    if (status != ASSAY_OK) {
        return assay_fail(err, status, "no randomness: nothing was released");
    }
    *out = assay_point_of(w->sorted, i, lo, offset);
    return ASSAY_OK;
}

static assay_status release_point(assay_custodian *custodian, int64_t *out,
                                  workspace *w, int64_t lo, int64_t hi,
                                  const rank_target *t, const mpq_t epsilon,
                                  const char *label, assay_error *err)
{
    fill_intervals(w->weight, w->distance, w->sorted, w->n, lo, hi, t);
    assay_status status = charge(custodian, epsilon, label, err);
    if (status == ASSAY_OK) {
        status = draw_point(custodian, out, w, lo, t->rate, err);
    }
    return status;
}

assay_status assay_release_quantile(assay_custodian *custodian, int64_t *out,
                                    const int64_t *values, size_t n, int64_t lo,
                                    int64_t hi, uint32_t per_person,
                                    const mpq_t q, const mpq_t epsilon,
                                    const char *label, assay_error *err)
{
    rank_target t;
    workspace w;
    const int64_t most = (int64_t)1 << 61;
    if (lo > hi || lo < -most || hi > most || n > MAX_VALUES) {
        return assay_fail(err, ASSAY_INVALID,
                          "a quantile needs lo <= hi within 2^61 and at most "
                          "2^40 values");
    }
    assay_status status =
        target_init(&t, custodian, per_person, q, epsilon, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = workspace_init(&w, values, n, lo, hi, err);
    if (status == ASSAY_OK) {
        status =
            release_point(custodian, out, &w, lo, hi, &t, epsilon, label, err);
        workspace_clear(&w);
    }
    mpq_clear(t.rate);
    return status;
}

static uint64_t total_count(const uint64_t *counts, size_t num_cells)
{
    uint64_t total = 0;
    for (size_t i = 0; i < num_cells; i++) {
        uint64_t room = MAX_VALUES - total;
        total += counts[i] < room ? counts[i] : room;
    }
    return total;
}

static void fill_cells(uint64_t *weight, uint64_t *distance,
                       const uint64_t *counts, size_t num_cells,
                       const rank_target *t)
{
    const uint64_t n = total_count(counts, num_cells);
    uint64_t below = 0;
    for (size_t i = 0; i < num_cells; i++) {
        uint64_t room = MAX_VALUES - below;
        weight[i] = 1;
        distance[i] = rank_distance(t, below, n);
        below += counts[i] < room ? counts[i] : room;
    }
}

assay_status assay_release_quantile_cell(assay_custodian *custodian,
                                         size_t *out, const uint64_t *counts,
                                         size_t num_cells, uint32_t per_person,
                                         const mpq_t q, const mpq_t epsilon,
                                         const char *label, assay_error *err)
{
    rank_target t;
    if (num_cells == 0 || num_cells > (size_t)1 << 32) {
        return assay_fail(err, ASSAY_INVALID,
                          "a quantile needs between 1 and 2^32 cells");
    }
    assay_status status =
        target_init(&t, custodian, per_person, q, epsilon, err);
    if (status != ASSAY_OK) {
        return status;
    }
    uint64_t *weight = calloc(num_cells, sizeof *weight);
    uint64_t *distance = calloc(num_cells, sizeof *distance);
    if (weight == NULL || distance == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for the cells");
    } else {
        fill_cells(weight, distance, counts, num_cells, &t);
        status = charge(custodian, epsilon, label, err);
    }
    if (status == ASSAY_OK) {
        status = assay_weighted_draw(&custodian->tape, out, weight, distance,
                                     num_cells, t.rate, err);
    }
    wipe(weight, num_cells * sizeof *weight);
    wipe(distance, num_cells * sizeof *distance);
    mpq_clear(t.rate);
    return status;
}
