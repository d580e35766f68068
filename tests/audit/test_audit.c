/* ring: glue */
/* The audit from end to end on small runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/attacker.h"
#include "audit/audit.h"
#include "audit/catalogue.h"
#include "audit/external.h"
#include "audit/specimens/murmur.h"
#include "audit/work.h"

static assay_audit_result audit(const char *name, size_t pair,
                                assay_audit_options o)
{
    const assay_specimen *s = assay_specimen_find(name);
    assay_pair pairs[8];
    assay_audit_result r;
    assay_error err = ASSAY_ERROR_INIT;
    assert_non_null(s);
    assert_true(assay_specimen_pairs(s, pairs) > pair);
    assay_specimen_run run = {s, pairs[pair], 5};
    assay_source source = assay_specimen_source(&run);
    o.claim = s->claim;
    o.confidence = 0.99;
    if (assay_audit_run(&r, &source, &o, &err) != ASSAY_OK) {
        print_error("%s: %s\n", name, err.message);
        fail();
    }
    return r;
}

static void broken_specimens_are_refuted(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t pair;
        double at_least;
        uint64_t more; /* thousands of runs beyond 200 */
    } cases[] = {
        {"NoisyHist2", 0, 6, 0},
        {"BadPartialSum", 0, 0.15, 0},
        {"SVT5", 0, 5, 0},
        {"SUE-bug", 0, 1.9, 0},
        {"FloatLaplace-1", 0, 5, 0},
        {"LaplaceInversion", 0, 5, 0},
        {"GaussBoxMuller", 0, 3, 0},
        {"WrappedSum", 0, 5, 0},
        {"TimingGeometric", 0, 1.2, 0},
        {"NanSurvivesClip", 0, 5, 0},
        {"ZeroNoise", 0, 5, 0},
        {"TwoQueries", 0, 1.7, 0},
        {"NonDPLaplace1", 0, 2, 0},
        {"LocalPrivatizer-printed", 0, 1.3, 0},
        {"CentralPrivatizer-printed", 0, 3, 0},
        {"VTR-unclipped", 0, 3, 0},
        {"GPOPE-printed", 0, 1, 0},
        {"PublicCoin-printed", 0, 1, 0},
        {"VAPVI-unsplit", 0, 1.0, 600},
        {"GradientDescent-0.8", 0, 0.9, 0},
        {"GaussZiggurat", 0, 3, 0},
        {"NonDPGaussian1", 0, 2, 0},
        {"NonDPGaussian2", 0, 3, 0},
        {"UniqueClasses", 0, 5, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assay_audit_options o = {.samples = 200000 + 1000 * cases[i].more};
        assay_audit_result r = audit(cases[i].name, cases[i].pair, o);
        if (!r.refuted || r.lower < cases[i].at_least) {
            print_error("%s: bound %g, refuted %d\n", cases[i].name, r.lower,
                        r.refuted);
        }
        assert_true(r.refuted && r.lower >= cases[i].at_least);
    }
}

static void own_samplers_are_not_refuted(void **state)
{
    (void)state;
    for (const assay_specimen *s = assay_specimens_own; s->name != NULL; s++) {
        assay_audit_options o = {.samples = 100000};
        assay_audit_result r = audit(s->name, 0, o);
        /* a chance of 1 %: look again */
        r = r.refuted ? audit(s->name, 0, o) : r;
        assert_false(r.refuted);
        assert_true(r.detection_limit > s->claim.value);
        assert_true(r.detection_limit < s->claim.value + 0.2);
    }
}

static void own_releases_are_not_refuted(void **state)
{
    (void)state;
    for (const assay_specimen *s = assay_specimens_releases; s->name != NULL;
         s++) {
        assay_audit_options o = {.samples = s->slow > 100 ? 600 : 50000};
        assay_audit_result r = audit(s->name, 0, o);
        r = r.refuted ? audit(s->name, 0, o) : r; /* a chance of 1 % */
        assert_false(r.refuted);
        assert_true(r.detection_limit > s->claim.value);
    }
}

static void rows_seen_before_never_certify(void **state)
{
    (void)state;
    assay_audit_options o = {.samples = 60000, .seen = 50000};
    assay_audit_result r = audit("Laplace-1", 0, o);
    assert_true(r.samples == 60000 && r.certified <= 10000);
}

static void result_does_not_depend_on_threads(void **state)
{
    (void)state;
    assay_audit_options o = {.samples = 60000, .threads = 1};
    assay_audit_result a = audit("NoisyHist1", 0, o);
    o.threads = 3;
    assay_audit_result b = audit("NoisyHist1", 0, o);
    assert_true(a.lower == b.lower);
    assert_true(a.counts.k1 == b.counts.k1 && a.counts.k2 == b.counts.k2);
    assert_string_equal(a.event, b.event);
}

/* A path where nothing is. */
static void fresh_path(char *path, size_t len)
{
    const char *tmp = getenv("TMPDIR");
    (void)snprintf(path, len, "%s/assay-audit-XXXXXX",
                   tmp == NULL ? "/tmp" : tmp);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    assert_int_equal(unlink(path), 0);
}

static void resuming_gives_the_same_result(void **state)
{
    (void)state;
    char path[512];
    fresh_path(path, sizeof path);
    assay_audit_options o = {.samples = 60000, .checkpoint = path};
    assay_audit_result a = audit("Laplace-1", 0, o);
    assay_audit_result b = audit("Laplace-1", 0, o); /* from the end */
    assert_true(a.lower == b.lower && a.counts.k1 == b.counts.k1);
    /* another audit refuses the file */
    const assay_specimen *s = assay_specimen_find("GRR");
    assay_pair pairs[8];
    (void)assay_specimen_pairs(s, pairs);
    assay_specimen_run run = {s, pairs[0], 5};
    assay_source source = assay_specimen_source(&run);
    assay_error err = ASSAY_ERROR_INIT;
    o.claim = s->claim;
    o.confidence = 0.99;
    assert_int_equal(assay_audit_run(&a, &source, &o, &err), ASSAY_CORRUPT);
    assert_int_equal(unlink(path), 0);
}

/* Two million runs with a noisy bound: trained again on certified rows. */
static void two_stages_resume_and_do_not_depend_on_threads(void **state)
{
    (void)state;
    char path[512], second[520];
    fresh_path(path, sizeof path);
    (void)snprintf(second, sizeof second, "%s.2", path);
    assay_audit_options o = {
        .samples = 2000000, .seed = 1, .threads = 1, .checkpoint = path};
    assay_audit_result a = audit("SVT2", 7, o);
    assert_int_equal(a.stages, 2);
    assert_true(a.certified > 1500000 && a.counts.n1 <= a.certified);
    assert_int_equal(unlink(second), 0); /* the second stage again */
    o.threads = 2;
    assay_audit_result b = audit("SVT2", 7, o);
    assert_true(a.lower == b.lower && a.counts.k1 == b.counts.k1);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(second), 0);
    o.one_stage = 1;
    o.checkpoint = NULL;
    assert_int_equal(audit("SVT2", 7, o).stages, 1);
}

/* A specimen whose source dies at some row. */
typedef struct mortal {
    assay_source inner;
    uint64_t death;
} mortal;

static assay_status mortal_fill(void *ctx, int side, uint64_t first, size_t n,
                                assay_rows *out, assay_error *err)
{
    mortal *m = ctx;
    if (first >= m->death) {
        return assay_fail(err, ASSAY_IO, "dead");
    }
    return m->inner.fill(m->inner.ctx, side, first, n, out, err);
}

/* Killed after layers were chosen anew once or twice: the rest of the runs are
 * counted with the same layers as without the interruption. */
static void layers_chosen_anew_survive_a_crash(void **state)
{
    (void)state;
    char path[512];
    const assay_specimen *s = assay_specimen_find("SVT-monotone");
    assay_pair pairs[8];
    assay_error err = ASSAY_ERROR_INIT;
    assay_audit_result whole, r;
    fresh_path(path, sizeof path);
    assert_true(assay_specimen_pairs(s, pairs) > 0);
    assay_specimen_run run = {s, pairs[0], 6};
    mortal m = {assay_specimen_source(&run), UINT64_MAX};
    assay_source source = m.inner;
    source.ctx = &m;
    source.fill = mortal_fill;
    assay_audit_options o = {.claim = s->claim,
                             .confidence = 0.99,
                             .seed = 1,
                             .samples = 1000000,
                             .one_stage = 1,
                             .threads = 1};
    assert_int_equal(assay_audit_run(&whole, &source, &o, &err), ASSAY_OK);
    assert_non_null(strstr(whole.event, "weighted slices"));
    o.checkpoint = path;
    for (uint64_t death = 400000; death < 1000000; death += 200000) {
        m.death = death;
        assert_int_equal(assay_audit_run(&r, &source, &o, &err), ASSAY_IO);
    }
    m.death = UINT64_MAX;
    assert_int_equal(assay_audit_run(&r, &source, &o, &err), ASSAY_OK);
    assert_true(r.lower == whole.lower && r.counts.k1 == whole.counts.k1 &&
                r.counts.k2 == whole.counts.k2);
    assert_string_equal(r.event, whole.event);
    assert_int_equal(unlink(path), 0);
}

static void sequential_audit_stops_early(void **state)
{
    (void)state;
    assay_audit_options o = {.samples = 1000000, .sequential = 1};
    assay_audit_result r = audit("SUE-bug", 0, o);
    assert_true(r.refuted);
    assert_true(r.certified < 100000);
}

static assay_status coin(void *ctx, int side, size_t n, double *out,
                         assay_error *err)
{
    assay_rng *rng = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        out[i] = assay_rng_u01(rng) < (side == 0 ? 0.7 : 0.3);
    }
    return ASSAY_OK;
}

static void functions_can_be_audited(void **state)
{
    (void)state;
    assay_rng rng;
    assay_audit_result r;
    assay_error err = ASSAY_ERROR_INIT;
    assay_audit_options o = {.claim = {ASSAY_CLAIM_EPS, 0.5, 0},
                             .samples = 50000,
                             .confidence = 0.99};
    assay_rng_seed(&rng, 1, 2, 3);
    assert_int_equal(assay_audit_function(&r, coin, &rng, 1, &o, &err),
                     ASSAY_OK);
    assert_true(r.refuted);
    assert_true(r.lower > 0.8 && r.lower < log(0.7 / 0.3));
    json_t *j = assay_audit_json(&r);
    assert_true(json_is_true(json_object_get(j, "refuted")));
    assert_true(json_object_get(j, "detection_limit") != NULL);
    json_decref(j);
}

static void options_are_checked(void **state)
{
    (void)state;
    assay_audit_result r;
    assay_error err = ASSAY_ERROR_INIT;
    assay_rng rng;
    assay_rng_seed(&rng, 1, 2, 3);
    assay_audit_options o = {.samples = 10, .confidence = 0.99};
    assert_int_equal(assay_audit_function(&r, coin, &rng, 1, &o, &err),
                     ASSAY_INVALID);
    o.samples = 1000;
    o.confidence = 1;
    assert_int_equal(assay_audit_function(&r, coin, &rng, 1, &o, &err),
                     ASSAY_INVALID);
    assert_int_equal(assay_audit_function(&r, coin, &rng, 0, &o, &err),
                     ASSAY_INVALID);
}

static void murmur_matches_its_vectors(void **state)
{
    (void)state;
    assert_true((int32_t)assay_murmur3("foo", 3, 0) == -156908512);
    assert_true((int32_t)assay_murmur3("hello", 5, 0) == 613153351);
}

static void lines_become_cells(void **state)
{
    (void)state;
    assay_error err = ASSAY_ERROR_INIT;
    assay_store *t = assay_store_new();
    static const char *const lines[] = {"1.5 TRUE", "  2 FALSE 3e5 ", "",
                                        "1e400 -7,8", "nan inf"};
    for (size_t i = 0; i < 5; i++) {
        for (int side = 0; side < 2; side++) {
            assert_int_equal(
                assay_store_line(t, side, lines[i], strlen(lines[i]), &err),
                ASSAY_OK);
        }
    }
    assert_int_equal(assay_store_runs(t), 5);
    assay_source s = assay_store_source(t);
    assert_int_equal(s.width, 3);
    assay_rows rows;
    assert_int_equal(assay_rows_init(&rows, 3, &err), ASSAY_OK);
    assert_int_equal(assay_source_fill(&s, 0, 0, 5, &rows, &err), ASSAY_OK);
    assert_true(rows.value[0][0] == 1.5);
    assert_int_equal(rows.tag[1][0], ASSAY_CELL_WORD);
    assert_int_equal(rows.tag[2][0], ASSAY_CELL_ABSENT);
    assert_true(rows.value[2][1] == 3e5);
    assert_int_equal(rows.tag[0][2], ASSAY_CELL_ABSENT);
    assert_int_equal(rows.tag[0][3], ASSAY_CELL_WORD);
    assert_true(rows.value[1][3] == -7 && rows.value[2][3] == 8);
    assert_int_equal(rows.tag[0][4], ASSAY_CELL_WORD);
    char text[64];
    assay_rows_text(text, sizeof text, &s, &rows, 0);
    assert_string_equal(text, "1.5 TRUE");
    assert_true(strstr(assay_store_notes(t), "beyond the range") != NULL);
    assay_rows_clear(&rows);
    assay_store_free(t);
}

static void steps_find_a_jump_and_nothing_else(void **state)
{
    (void)state;
    enum { N = 100000 };
    double *x = malloc(2 * N * sizeof *x);
    assay_rng rng;
    assay_steps s;
    assay_error err = ASSAY_ERROR_INIT;
    assert_non_null(x);
    assay_rng_seed(&rng, 9, 9, 9);
    assay_rng_laplace(&rng, x, N, 1, 1);
    assay_rng_laplace(&rng, x + N, N, 0, 1);
    assert_int_equal(assay_steps_fit(&s, x, x + N, N, N, 384, 24, &err),
                     ASSAY_OK);
    assert_true(fabs(assay_steps_at(&s, 3) - 1) < 0.1);
    assert_true(fabs(assay_steps_at(&s, -2) + 1) < 0.1);
    assay_steps_clear(&s);
    assay_rng_laplace(&rng, x, N, 0, 1);
    assert_int_equal(assay_steps_fit(&s, x, x + N, N, N, 384, 24, &err),
                     ASSAY_OK);
    assert_int_equal(s.num_edges, 0);
    assay_steps_clear(&s);
    free(x);
}

static double oracle_of(const char *name, uint64_t samples, uint64_t seed)
{
    const assay_specimen *s = assay_specimen_find(name);
    assay_pair pairs[8];
    assay_error err = ASSAY_ERROR_INIT;
    assay_oracle_bound oracle;
    (void)assay_specimen_pairs(s, pairs);
    assert_int_equal(assay_search_oracle(&oracle, NULL, s, &pairs[0], samples,
                                         0.99, seed, &err),
                     ASSAY_OK);
    return oracle.bound;
}

static void oracle_is_the_neyman_pearson_bound(void **state)
{
    (void)state;
    /* x >= 1: 1/2 against 1/(2e) */
    double noise = 2.326 * sqrt((1 + (2 * exp(1) - 1)) / 1e6);
    assert_true(fabs(oracle_of("Laplace-1", 1000000, 1) - (1 - noise)) < 1e-3);
}

/* Far more runs than the oracle has rows: lucky rows must not be multiplied. */
static void oracle_of_a_true_claim_is_not_above_it(void **state)
{
    (void)state;
    double rho = oracle_of("Own-discrete-Gaussian-ct", 200000000, 3);
    assert_true(rho > 0.495 && rho < 0.501);
}

/* Scores of the second side end in an exponential tail, and 300 of the first
 * lie far beyond it: that is no proof of any ratio. */
static void promises_end_where_nothing_was_seen(void **state)
{
    enum { N = 20000, FAR = 300 };
    static float x[2][N], spare[N];
    const assay_claim claim = {ASSAY_CLAIM_EPS, 1, 0};
    const assay_choice o = {
        .target = 1e9, .level = 0.01, .caution = 1, .mass_max = 1};
    (void)state;
    for (size_t i = 0; i < N; i++) {
        x[0][i] = x[1][i] = (float)-log(((double)i + 0.5) / N);
    }
    for (size_t i = 0; i < FAR; i++) {
        x[0][i] = 100;
    }
    assay_work_sort(x[0], spare, N);
    assay_work_sort(x[1], spare, N);
    assay_audit_event e = assay_work_choose(&claim, x[0], x[1], N, &o);
    assert_true(e.merit > log(FAR));
    assert_true(e.merit < log(FAR / 0.02));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_specimens_are_refuted),
        cmocka_unit_test(own_samplers_are_not_refuted),
        cmocka_unit_test(own_releases_are_not_refuted),
        cmocka_unit_test(rows_seen_before_never_certify),
        cmocka_unit_test(result_does_not_depend_on_threads),
        cmocka_unit_test(resuming_gives_the_same_result),
        cmocka_unit_test(two_stages_resume_and_do_not_depend_on_threads),
        cmocka_unit_test(layers_chosen_anew_survive_a_crash),
        cmocka_unit_test(sequential_audit_stops_early),
        cmocka_unit_test(functions_can_be_audited),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(murmur_matches_its_vectors),
        cmocka_unit_test(lines_become_cells),
        cmocka_unit_test(steps_find_a_jump_and_nothing_else),
        cmocka_unit_test(oracle_is_the_neyman_pearson_bound),
        cmocka_unit_test(oracle_of_a_true_claim_is_not_above_it),
        cmocka_unit_test(promises_end_where_nothing_was_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
