/* ring: glue */
#include "certificate/attack_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/scratch.h"
#include "certificate/attack_result.h"
#include "mechanisms/release.h"
#include "mechanisms/tree.h"

#define WIDTH 6 /* sum, positives, and the first values */
#define FIRST 4

double assay_attack_double(const mpq_t value)
{
    double x = mpq_get_d(value); /* towards zero */
    mpq_t back;
    mpq_init(back);
    mpq_set_d(back, x);
    int below = mpq_cmp(back, value) < 0;
    mpq_clear(back);
    return below ? nextafter(x, INFINITY) : x;
}

/* A bound of six digits, rounded down or up; "infinity" where it is. */
static void bound_text(char out[40], double x, int up)
{
    if (!isfinite(x)) {
        (void)strcpy(out, "infinity");
        return;
    }
    double unit = pow(10, floor(log10(fmax(fabs(x), 1e-6))) - 5);
    double rounded = (up ? ceil(x / unit) : floor(x / unit)) * unit;
    (void)snprintf(out, 40, "%.6g", rounded < 0 ? 0.0 : rounded);
}

json_t *assay_attack_json(const assay_audit_result *r, const char *claim,
                          const mpq_t value)
{
    char lower[40], limit[40], at[40];
    const assay_audit_counts *c = &r->counts;
    bound_text(lower, r->lower, 0);
    bound_text(limit, r->detection_limit, 1);
    (void)snprintf(at, sizeof at, "%.17g", r->delta);
    char *exact = mpq_get_str(NULL, 10, value);
    json_t *out = json_pack(
        "{s:s,s:s,s:s,s:s,s:s,s:b,s:s,s:s,s:s,s:{s:I,s:I,s:I,s:I},s:I,s:I}",
        "claim", claim, "value", exact, "delta", at, "lower", lower,
        "detectionLimit", limit, "refuted", r->refuted, "attacker", r->attacker,
        "event", r->event, "example", r->example, "counts", "k1",
        (json_int_t)c->k1, "n1", (json_int_t)c->n1, "k2", (json_int_t)c->k2,
        "n2", (json_int_t)c->n2, "events", (json_int_t)r->num_events, "runs",
        (json_int_t)r->samples);
    free(exact);
    return out;
}

typedef struct attack {
    const assay_target *target;
    assay_scratch scratch;
} attack;

static assay_status release_plain(attack *a, int64_t *cells, size_t n,
                                  assay_error *err)
{
    const assay_target *t = a->target;
    return t->gaussian
               ? assay_release_gaussian_vector(&a->scratch.custodian, cells,
                                               cells, n, t->noise,
                                               t->sensitivity, "audit", err)
               : assay_release_laplace_vector(&a->scratch.custodian, cells,
                                              cells, n, t->noise,
                                              t->sensitivity, "audit", err);
}

/* The first step of a tree is the person's; her `levels` nodes are the sums
   after 1, 2, 4, ... steps. Row i of `nodes` is the i-th of them. */
static assay_status release_tree(attack *a, const int64_t *first,
                                 int64_t *nodes, size_t runs, assay_error *err)
{
    const assay_target *t = a->target;
    uint64_t horizon = UINT64_C(1) << (t->levels - 1);
    struct assay_tree *tree = NULL;
    int64_t *zero = calloc(runs, sizeof *zero);
    int64_t *prefix = calloc(runs, sizeof *prefix);
    assay_status status =
        zero == NULL || prefix == NULL
            ? assay_fail(err, ASSAY_MEMORY, "no memory for an audit")
        : t->gaussian ? assay_tree_new_gaussian(&tree, &a->scratch.custodian,
                                                runs, horizon, t->noise,
                                                t->sensitivity, "audit", err)
                      : assay_tree_new_laplace(&tree, &a->scratch.custodian,
                                               runs, horizon, t->noise,
                                               t->sensitivity, "audit", err);
    size_t level = 0;
    for (uint64_t k = 1; k <= horizon && status == ASSAY_OK; k++) {
        status = assay_tree_add(tree, k == 1 ? first : zero, prefix, err);
        if (status == ASSAY_OK && (k & (k - 1)) == 0) {
            for (size_t i = 0; i < runs; i++) {
                nodes[i * t->levels + level] = prefix[i];
            }
            level++;
        }
    }
    assay_tree_free(tree);
    free(zero);
    free(prefix);
    return status;
}

/* What the attacker gets of one run: functions of released integers. */
static void summarize(double *out, const int64_t *cells, size_t n, long shift)
{
    double sum = 0;
    double positive = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)cells[i];
        /* the sign of the likelihood ratio of Laplace noise, cut at +-shift */
        double x = (double)cells[i];
        positive += x <= 0 ? 0 : x >= (double)shift ? (double)shift : x;
    }
    out[0] = sum;
    out[1] = positive;
    for (size_t i = 0; i < FIRST; i++) {
        out[2 + i] = i < n ? (double)cells[i] : 0.0;
    }
}

static assay_status draw(void *ctx, int side, size_t n, double *out,
                         assay_error *err)
{
    attack *a = ctx;
    const assay_target *t = a->target;
    size_t per_run = t->levels > 0 ? t->levels : t->coordinates;
    int64_t value = side == 1 ? t->shift : 0;
    int64_t *cells = calloc(n * per_run, sizeof *cells);
    int64_t *first = calloc(n, sizeof *first);
    if (cells == NULL || first == NULL) {
        free(cells);
        free(first);
        return assay_fail(err, ASSAY_MEMORY, "no memory for an audit");
    }
    for (size_t i = 0; i < n * per_run; i++) {
        cells[i] = value;
    }
    for (size_t i = 0; i < n; i++) {
        first[i] = value;
    }
    assay_status status = t->levels > 0
                              ? release_tree(a, first, cells, n, err)
                              : release_plain(a, cells, n * per_run, err);
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        summarize(out + i * WIDTH, cells + i * per_run, per_run, t->shift);
    }
    free(cells);
    free(first);
    return status;
}

assay_status assay_attack_target(json_t **out, const assay_target *target,
                                 const char *claim, const mpq_t value,
                                 uint64_t runs, const mpq_t confidence,
                                 assay_error *err)
{
    attack a = {.target = target};
    assay_audit_result result;
    assay_audit_options o = {.claim = {.kind = strcmp(claim, "rho") == 0
                                                   ? ASSAY_CLAIM_RHO
                                                   : ASSAY_CLAIM_EPS,
                                       .value = assay_attack_double(value)},
                             .samples = runs,
                             .confidence = assay_attack_double(confidence),
                             .light = 1,
                             .label = "audit"};
    assay_status status =
        assay_scratch_open(&a.scratch, NULL, ASSAY_ADD_REMOVE, 1, err);
    if (status == ASSAY_OK) {
        status = assay_audit_function(&result, draw, &a, WIDTH, &o, err);
    }
    assay_scratch_close(&a.scratch);
    if (status == ASSAY_OK) {
        *out = assay_attack_json(&result, claim, value);
        if (*out == NULL) {
            status = assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
        }
    }
    return status;
}
