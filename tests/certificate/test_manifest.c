/* ring: glue */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/manifest.h"
#include "certificate/shape.h"

static const char good[] =
    "assay: 1\n"                                             /* 1 */
    "name: ward\n"                                           /* 2 */
    "purpose: a policy\n"                                    /* 3 */
    "data: {source: environment, environment: clinic,\n"     /* 4 */
    "  users: 100, seed: 1, about: simulated}\n"             /* 5 */
    "privacy: {unit: trajectory, neighbours: replace-one,\n" /* 6 */
    "  trust: central}\n"                                    /* 7 */
    "budget: {rho: 1/2, epsilon: 5, delta: 1e-5}\n"          /* 8 */
    "learner: {algorithm: dp-apvi, noise: gaussian,\n"       /* 9 */
    "  rho: 0.5}\n"                                          /* 10 */
    "audit: {runs: 1000, confidence: 0.99}\n";               /* 11 */

/* `good` with the first `from` replaced by `to`. */
static char *edited(const char *from, const char *to)
{
    const char *at = strstr(good, from);
    if (at == NULL) {
        fail_msg("'%s' is not in the manifest", from);
        return NULL;
    }
    size_t len = strlen(good) + strlen(to) + 1;
    char *out = malloc(len);
    (void)snprintf(out, len, "%.*s%s%s", (int)(at - good), good, to,
                   at + strlen(from));
    return out;
}

static void expect_error(const char *from, const char *to, int line, int column,
                         const char *message)
{
    assay_manifest m;
    assay_error err = ASSAY_ERROR_INIT;
    char *text = edited(from, to);
    assay_status status = assay_manifest_parse(&m, text, strlen(text), &err);
    if (status == ASSAY_OK) {
        assay_manifest_clear(&m);
        fail_msg("accepted: %s", to);
    }
    if (status != ASSAY_INVALID || err.line != line || err.column != column ||
        strstr(err.message, message) == NULL) {
        fail_msg("%s -> %d:%d %s (expected %d:%d %s)", to, err.line, err.column,
                 err.message, line, column, message);
    }
    free(text);
}

static void a_good_manifest_is_read_exactly(void **state)
{
    assay_manifest m;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_manifest_parse(&m, good, strlen(good), &err),
                     ASSAY_OK);
    assert_int_equal(mpq_cmp_ui(m.budget.rho, 1, 2), 0);
    assert_int_equal(mpq_cmp_ui(m.delta, 1, 100000), 0);
    assert_int_equal(m.budget.neighbours, ASSAY_REPLACE_ONE);
    assert_int_equal(m.users, 100);
    assert_string_equal(m.trust, "central");
    assert_int_equal(strlen(m.digest), 64);
    assay_manifest_clear(&m);
}

static void json_is_accepted_and_has_the_same_digest(void **state)
{
    assay_manifest a, b;
    assay_error err = ASSAY_ERROR_INIT;
    (void)state;
    assert_int_equal(assay_manifest_parse(&a, good, strlen(good), &err),
                     ASSAY_OK);
    char *json = json_dumps(a.json, JSON_INDENT(2));
    assert_non_null(json);
    assert_int_equal(assay_manifest_parse(&b, json, strlen(json), &err),
                     ASSAY_OK);
    assert_string_equal(a.digest, b.digest);
    free(json);
    assay_manifest_clear(&a);
    assay_manifest_clear(&b);
}

static void keys_are_checked_with_line_and_column(void **state)
{
    (void)state;
    expect_error("name: ward", "nme: ward", 2, 1, "unknown key 'nme'");
    expect_error("seed: 1", "sede: 1", 5, 15, "unknown key 'sede'");
    expect_error("name: ward\n", "", 1, 1, "'name' is missing");
    expect_error("name: ward", "name: a\nname: b", 3, 1, "given twice");
    expect_error("name: ward", "name: [a]", 2, 1, "one value");
    expect_error("name: ward", "name: \"\"", 2, 1, "empty");
    expect_error("assay: 1", "assay: 2", 1, 1, "none of: 1");
    expect_error("name: ward", "name: &x ward", 2, 7, "anchors");
    expect_error("name: ward", "name: ward\n---\nx: 1", 3, 1, "one document");
}

static void numbers_are_checked(void **state)
{
    (void)state;
    expect_error("users: 100", "users: ten", 5, 3, "users");
    expect_error("users: 100", "users: 0", 5, 3, "users");
    expect_error("delta: 1e-5", "delta: 1", 8, 32, "(0, 1)");
    expect_error("delta: 1e-5", "delta: 1e-5 dB", 8, 32, "delta");
    expect_error("rho: 1/2", "rho: -1", 8, 10, "rho");
    expect_error("rho: 1/2", "rho: 1/0", 8, 10, "rho");
    expect_error("rho: 1/2", "rho: nan", 8, 10, "rho");
    expect_error("runs: 1000", "runs: 5", 11, 9, "runs");
}

static void units_must_go_with_the_noise(void **state)
{
    (void)state;
    expect_error("rho: 0.5}", "epsilon: 1}", 9, 1,
                 "gaussian noise needs "
                 "'rho'");
    expect_error("noise: gaussian", "noise: laplace", 10, 3,
                 "does not go with laplace noise");
    expect_error("noise: gaussian", "noise: uniform", 9, 31, "none of");
}

static void contradictions_are_errors(void **state)
{
    (void)state;
    expect_error("rho: 0.5}", "rho: 0.6}", 8, 10, "contradiction");
    expect_error("delta: 1e-5", "delta: 1/100", 8, 32, "below 1/users");
    expect_error("replace-one", "add-remove", 6, 29, "replace-one");
    expect_error("trust: central", "trust: local", 7, 3, "dp-apvi is central");
    expect_error("  rho: 0.5}", "  rho: 0.5, episodes: 9}", 10, 13,
                 "does not go with dp-apvi");
    expect_error("environment: clinic", "path: x.csv", 4, 1,
                 "needs 'environment'");
    expect_error("audit:", "releases: [{name: a, statistic: count}]\naudit:", 1,
                 1, "one of 'learner' and 'releases'");
}

static void hostile_text_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "x",
        "{",
        "- - - - - - - - - - - - 1",
        "a: *b",
        "\xff\xfe",
        "{a: {b: {c: {d: {e: {f: {g: {h: {i: {j: 1}}}}}}}}}}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assay_manifest m;
        assay_error err = ASSAY_ERROR_INIT;
        assert_int_equal(
            assay_manifest_parse(&m, texts[i], strlen(texts[i]), &err),
            ASSAY_INVALID);
    }
}

static void the_schema_lists_every_key(void **state)
{
    (void)state;
    json_t *schema = assay_manifest_schema();
    assert_non_null(schema);
    const json_t *properties = json_object_get(schema, "properties");
    for (const assay_shape_field *f = assay_manifest_fields; f->key != NULL;
         f++) {
        assert_non_null(json_object_get(properties, f->key));
    }
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_manifest_is_read_exactly),
        cmocka_unit_test(json_is_accepted_and_has_the_same_digest),
        cmocka_unit_test(keys_are_checked_with_line_and_column),
        cmocka_unit_test(numbers_are_checked),
        cmocka_unit_test(units_must_go_with_the_noise),
        cmocka_unit_test(contradictions_are_errors),
        cmocka_unit_test(hostile_text_is_refused),
        cmocka_unit_test(the_schema_lists_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
