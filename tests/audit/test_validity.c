/* ring: glue */
/*
 * Validity: many small audits of correct specimens, several with exactly the
 * claimed parameter, refute at most as often as they may. Alpha of each test:
 * 1e-4. ASSAY_LAW_SCALE multiplies the number of audits (20: 2000, of two
 * stages 200).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "audit/audit.h"
#include "audit/binomial.h"
#include "audit/rng.h"
#include "audit/specimens/specimens.h"

static uint64_t num_audits(uint64_t usual)
{
    const char *scale = getenv("ASSAY_LAW_SCALE");
    long k = scale == NULL ? 1 : strtol(scale, NULL, 10);
    return usual * (uint64_t)(k > 0 ? k : 1);
}

static void within_level(const char *name, uint64_t k, uint64_t n)
{
    double p = assay_binomial_at_least(k, n, 0.05);
    print_message("%s: %llu of %llu audits at 95 %% refuted a true claim\n",
                  name, (unsigned long long)k, (unsigned long long)n);
    assert_true(p >= 1e-4);
}

static int refutes(const assay_specimen *s, size_t which, uint64_t seed,
                   int sequential)
{
    assay_pair pairs[8];
    assay_audit_result r;
    assay_error err = ASSAY_ERROR_INIT;
    (void)assay_specimen_pairs(s, pairs);
    assay_specimen_run run = {s, pairs[which], seed};
    assay_source source = assay_specimen_source(&run);
    assay_audit_options o = {.claim = s->claim,
                             .samples = 3000,
                             .confidence = 0.95,
                             .threads = 1,
                             .sequential = sequential};
    assert_int_equal(assay_audit_run(&r, &source, &o, &err), ASSAY_OK);
    return r.refuted;
}

static void keeps_level(const char *name, size_t pair, int sequential)
{
    const assay_specimen *s = assay_specimen_find(name);
    uint64_t n = num_audits(100), k = 0;
    assert_non_null(s);
    for (uint64_t i = 0; i < n; i++) {
        k += (uint64_t)refutes(s, pair, 17 + 1000003 * i, sequential);
    }
    within_level(name, k, n);
}

static void laplace_at_exactly_its_epsilon(void **state)
{
    (void)state;
    keeps_level("Laplace-1", 0, 0);
}

static void laplace_under_sequential_stopping(void **state)
{
    (void)state;
    keeps_level("Laplace-1", 0, 1);
}

static void randomised_response_at_exactly_its_epsilon(void **state)
{
    (void)state;
    keeps_level("GRR", 0, 0);
}

static void randomised_response_under_sequential_stopping(void **state)
{
    (void)state;
    keeps_level("GRR", 0, 1);
}

static void best_of_many_attackers(void **state)
{
    (void)state;
    keeps_level("SHE", 0, 0);
}

static void gaussian_mu_at_exactly_its_parameter(void **state)
{
    (void)state;
    keeps_level("Gauss-mu", 0, 0);
}

static void gaussian_rho_at_exactly_its_parameter(void **state)
{
    (void)state;
    keeps_level("Gauss-rho", 0, 0);
}

static void sparse_vector_with_words(void **state)
{
    (void)state;
    keeps_level("SVT1", 4, 0);
}

/* ---- two stages --------------------------------------------------------- */

/* One number: 1 or 2 with probability `share` and e^claim times that, the right
 * input the other way round; else 0. Both directions are exactly the claim. */
typedef struct response {
    double share, claim;
    uint64_t seed;
} response;

static assay_status respond(void *ctx, int side, uint64_t first, size_t n,
                            assay_rows *out, assay_error *err)
{
    const response *r = ctx;
    double u[ASSAY_ROWS_BLOCK], high = r->share * exp(r->claim);
    double one = side == 0 ? high : r->share;
    assay_rng rng;
    (void)err;
    assay_rng_seed(&rng, r->seed, (uint64_t)side, first);
    assay_rng_uniform(&rng, u, n);
    for (size_t i = 0; i < n; i++) {
        out->value[0][i] = u[i] < one ? 1 : u[i] < r->share + high ? 2 : 0;
    }
    return ASSAY_OK;
}

static void two_stages_keep_level(const char *name, double share)
{
    response r = {share, 0.02, 0};
    assay_source source = {
        .width = 1, .ctx = &r, .fill = respond, .repeats = 1};
    assay_audit_options o = {.claim = {ASSAY_CLAIM_EPS, r.claim, 0},
                             .samples = 2000000,
                             .confidence = 0.95};
    uint64_t n = num_audits(10), k = 0;
    for (uint64_t i = 0; i < n; i++) {
        assay_audit_result out;
        assay_error err = ASSAY_ERROR_INIT;
        r.seed = 31 + 1000003 * i;
        assert_int_equal(assay_audit_run(&out, &source, &o, &err), ASSAY_OK);
        assert_int_equal(out.stages, 2);
        k += (uint64_t)out.refuted;
    }
    within_level(name, k, n);
}

static void two_stages_of_events_keep_their_level(void **state)
{
    (void)state;
    two_stages_keep_level("events in two stages", 0.3);
}

static void two_stages_of_layers_keep_their_level(void **state)
{
    (void)state;
    two_stages_keep_level("layers in two stages", 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laplace_at_exactly_its_epsilon),
        cmocka_unit_test(laplace_under_sequential_stopping),
        cmocka_unit_test(randomised_response_at_exactly_its_epsilon),
        cmocka_unit_test(randomised_response_under_sequential_stopping),
        cmocka_unit_test(best_of_many_attackers),
        cmocka_unit_test(gaussian_mu_at_exactly_its_parameter),
        cmocka_unit_test(gaussian_rho_at_exactly_its_parameter),
        cmocka_unit_test(sparse_vector_with_words),
        cmocka_unit_test(two_stages_of_events_keep_their_level),
        cmocka_unit_test(two_stages_of_layers_keep_their_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
