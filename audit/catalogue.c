/* ring: glue */
#include "audit/catalogue.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Runs of a first look at a pair; more would tell little. */
#define SEARCH_MOST 100000

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Rows of a side for the chosen events' probabilities. */
#define LOOK_SHARE 5 /* one of so many runs */
#define LOOK_LEAST 200000
#define LOOK_MOST 2000000

typedef struct looking {
    assay_catalogue_row *row;
    const assay_audit_options *o;
    uint64_t seed;
} looking;

static assay_status look_back(void *ctx, struct assay_stage *const *stage,
                              size_t num, assay_error *err)
{
    looking *l = ctx;
    uint64_t rows = l->o->samples / LOOK_SHARE;
    rows = rows < LOOK_LEAST ? LOOK_LEAST : rows;
    rows = rows > LOOK_MOST ? LOOK_MOST : rows;
    return assay_hindsight_find(&l->row->hindsight, l->row->specimen,
                                &l->row->pair, stage, num, l->o, l->seed,
                                (size_t)rows, err);
}

assay_status assay_catalogue_run(assay_catalogue_row *out,
                                 const assay_specimen *specimen,
                                 const assay_catalogue_options *options,
                                 assay_error *err)
{
    double start = now();
    memset(out, 0, sizeof *out);
    out->specimen = specimen;
    out->oracle.bound = out->best.bound = out->hindsight.bound = NAN;
    uint64_t samples = options->samples, spent = 0, seen = 0;
    samples /= specimen->slow > 1 ? (uint64_t)specimen->slow : 1;
    samples = samples < 1000 ? 1000 : samples;
    uint64_t few = samples / 200 < SEARCH_MOST ? samples / 200 : SEARCH_MOST;
    assay_status status = assay_search_pair(&out->pair, &spent, &seen, specimen,
                                            few, samples, options->seed, err);
    if (status != ASSAY_OK) {
        return status;
    }
    out->searched = spent;
    assay_audit_options o = {.claim = specimen->claim,
                             .samples = samples,
                             .confidence = options->confidence,
                             .seen = seen,
                             .label = options->label,
                             .threads = options->threads,
                             .seed = assay_rng_mix(options->seed) | 1,
                             .checkpoint = options->checkpoint};
    looking l = {out, &o, options->seed};
    if (options->with_oracle) {
        o.look = look_back;
        o.look_ctx = &l;
    }
    assay_specimen_run run = {specimen, out->pair, options->seed};
    assay_source source = assay_specimen_source(&run);
    status = assay_audit_run(&out->result, &source, &o, err);
    if (status == ASSAY_OK && options->with_oracle) {
        status = assay_search_oracle(&out->oracle, &out->best, specimen,
                                     &out->pair, samples, options->confidence,
                                     options->seed, err);
    }
    out->seconds = now() - start;
    return status;
}

assay_status assay_catalogue_audit(assay_catalogue_row *out,
                                   const assay_specimen *specimen,
                                   uint64_t samples, double confidence,
                                   uint64_t seed, int with_oracle,
                                   const char *label, assay_error *err)
{
    assay_catalogue_options o = {samples, confidence, seed, with_oracle,
                                 0,       label,      NULL};
    return assay_catalogue_run(out, specimen, &o, err);
}

const char *assay_catalogue_verdict(const assay_catalogue_row *row)
{
    if (row->result.refuted) {
        return row->specimen->violates ? "refuted" : "WRONG: refuted";
    }
    return row->specimen->violates ? "missed" : "not refuted";
}

static json_t *input_json(const double *q, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        (void)json_array_append_new(list, json_real(q[i]));
    }
    return list;
}

static json_t *number(double x)
{
    if (isnan(x)) {
        return json_null();
    }
    return isinf(x) ? json_string("inf") : json_real(x);
}

json_t *assay_catalogue_json(const assay_catalogue_row *row)
{
    json_t *j = assay_audit_json(&row->result);
    const assay_specimen *s = row->specimen;
    (void)json_object_set_new(j, "name", json_string(s->name));
    (void)json_object_set_new(j, "note", json_string(s->note));
    (void)json_object_set_new(j, "truth", number(s->truth));
    (void)json_object_set_new(j, "oracle", number(row->oracle.bound));
    (void)json_object_set_new(j, "oracle_best_pair", number(row->best.bound));
    (void)json_object_set_new(j, "oracle_layers", number(row->oracle.layers));
    (void)json_object_set_new(j, "oracle_noise", number(row->oracle.noise));
    (void)json_object_set_new(j, "oracle_mass", number(row->oracle.mass));
    (void)json_object_set_new(j, "expected", number(row->hindsight.bound));
    (void)json_object_set_new(j, "verdict",
                              json_string(assay_catalogue_verdict(row)));
    (void)json_object_set_new(j, "left",
                              input_json(row->pair.q[0], s->num_inputs));
    (void)json_object_set_new(j, "right",
                              input_json(row->pair.q[1], s->num_inputs));
    (void)json_object_set_new(j, "search_samples",
                              json_integer((json_int_t)row->searched));
    (void)json_object_set_new(j, "total_seconds", json_real(row->seconds));
    return j;
}
