/* ring: glue */
#include "certificate/recheck.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/findings.h"
#include "certificate/sentence.h"
#include "certificate/texts.h"

#define PROFILE_POINTS 24
#define FAIL(check, ...)                                                       \
    assay_findings_add(findings, check, ASSAY_FAILS, __VA_ARGS__)
#define HOLD(check, ...)                                                       \
    assay_findings_add(findings, check, ASSAY_HOLDS, __VA_ARGS__)

static int same_text(const json_t *a, const char *key, const json_t *b,
                     const char *other)
{
    const char *x = assay_json_text(a, key);
    const char *y = assay_json_text(b, other);
    return x != NULL && y != NULL && strcmp(x, y) == 0;
}

/* ---- the ledger's chain ---- */

static int row_hash(char out[65], const json_t *row)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[32];
    unsigned len = 0;
    json_t *body = json_deep_copy(row);
    (void)json_object_del(body, "hash");
    char *text = json_dumps(body, JSON_COMPACT | JSON_SORT_KEYS);
    int ok =
        text != NULL &&
        EVP_Digest(text, strlen(text), digest, &len, EVP_sha256(), NULL) == 1 &&
        len == sizeof digest;
    for (int i = 0; i < 32 && ok; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[64] = '\0';
    free(text);
    json_decref(body);
    return ok;
}

static void check_ledger(json_t *findings, const json_t *ledger)
{
    const json_t *rows = json_object_get(ledger, "rows");
    size_t n = json_array_size(rows);
    const char *previous = NULL;
    for (size_t i = 0; i < n; i++) {
        char hash[65];
        const json_t *row = json_array_get(rows, i);
        const char *stated = assay_json_text(row, "hash");
        const char *before = assay_json_text(row, "previous");
        if (!row_hash(hash, row) || stated == NULL ||
            strcmp(hash, stated) != 0 ||
            json_integer_value(json_object_get(row, "sequence")) !=
                (json_int_t)i ||
            (i > 0 && (before == NULL || strcmp(before, previous) != 0))) {
            FAIL("ledger", "the chain breaks at row %zu", i);
            return;
        }
        previous = stated;
    }
    const char *head = assay_json_text(ledger, "head");
    const char *format = assay_json_text(ledger, "format");
    if (n < 2 || head == NULL || strcmp(head, previous) != 0 ||
        !json_equal(json_object_get(ledger, "budget"),
                    assay_json_at(ledger, "rows/0/budget")) ||
        format == NULL || strcmp(format, "assay-ledger-1") != 0 ||
        !same_text(ledger, "format", json_array_get(rows, 0), "format")) {
        FAIL("ledger", "head, budget or format do not match the rows");
        return;
    }
    HOLD("ledger", "%zu charges, chain unbroken, head %.16s", n - 1, head);
}

/* ---- the deployment ---- */

/* A manifest's number (1e-5, 0.5, 1/2) against an exact one. */
static int same_number(const char *loose, const char *exact)
{
    mpq_t a, b;
    mpq_init(a);
    mpq_init(b);
    int ok = assay_recheck_decimal(a, loose) &&
             assay_recheck_number(b, exact) && mpq_equal(a, b);
    mpq_clear(a);
    mpq_clear(b);
    return ok;
}

/* A limit of the manifest against the ledger's; both may be absent. */
static int same_limit(const json_t *manifest, const json_t *ledger,
                      const char *key)
{
    const char *a = assay_json_text(manifest, key);
    const char *b = assay_json_text(ledger, key);
    return (a == NULL && b == NULL) || same_number(a, b);
}

static void check_deployment(json_t *findings, const json_t *predicate)
{
    char digest[65];
    char note[120];
    const json_t *deployment = json_object_get(predicate, "deployment");
    const json_t *privacy = json_object_get(deployment, "privacy");
    const json_t *limits = json_object_get(deployment, "budget");
    const json_t *budget = assay_json_at(predicate, "ledger/budget");
    const json_t *guarantee = json_object_get(predicate, "guarantee");
    const char *stated = assay_json_text(predicate, "deploymentDigest");
    const char *origin = assay_json_text(predicate, "ledgerOrigin");
    const char *noted =
        json_string_value(assay_json_at(predicate, "ledger/rows/0/note"));
    if (assay_canonical_digest(digest, deployment, NULL) != ASSAY_OK ||
        stated == NULL || strcmp(digest, stated) != 0) {
        FAIL("deployment", "the manifest does not have the stated digest");
        return;
    }
    (void)snprintf(note, sizeof note, ASSAY_LEDGER_NOTE "%s", digest);
    int fresh = origin != NULL && strcmp(origin, "fresh") == 0;
    if (!fresh && (origin == NULL || strcmp(origin, "existing") != 0)) {
        FAIL("deployment", "ledgerOrigin is neither fresh nor existing");
    } else if (noted == NULL || fresh != (strcmp(noted, note) == 0)) {
        FAIL("deployment", "the ledger was not made for this manifest");
    } else if (!same_text(privacy, "neighbours", guarantee, "neighbours") ||
               !same_text(privacy, "neighbours", budget, "neighbours") ||
               !same_text(privacy, "unit", guarantee, "unit") ||
               !same_text(privacy, "unit", budget, "unit") ||
               !same_text(privacy, "trust", guarantee, "trust")) {
        FAIL("deployment", "unit, neighbours or trust of manifest, ledger and "
                           "guarantee differ");
    } else if (fresh && (!same_limit(limits, budget, "epsilon") ||
                         !same_limit(limits, budget, "rho"))) {
        FAIL("deployment", "the ledger's budget is not the manifest's");
    } else {
        HOLD("deployment", "manifest %.16s, bound to the ledger", digest);
    }
}

/* ---- the derivation ---- */

/* Groups of equal events in order of first appearance, as a JSON array of
   {"event", "runs", "firstRow"}; made anew from the rows. */
static json_t *group_rows(const json_t *rows)
{
    json_t *groups = json_array();
    json_t *index = json_object();
    for (size_t i = 1; i < json_array_size(rows); i++) {
        json_t *event =
            json_deep_copy(json_object_get(json_array_get(rows, i), "event"));
        json_int_t count = json_integer_value(json_object_get(event, "count"));
        (void)json_object_del(event, "count");
        (void)json_object_del(event, "label");
        count = count > 0 ? count : 1;
        char *key = json_dumps(event, JSON_COMPACT | JSON_SORT_KEYS);
        json_t *at = key != NULL ? json_object_get(index, key) : NULL;
        if (at != NULL) {
            json_t *old =
                json_array_get(groups, (size_t)json_integer_value(at));
            (void)json_object_set_new(
                old, "runs",
                json_integer(count +
                             json_integer_value(json_object_get(old, "runs"))));
        } else if (key != NULL) {
            (void)json_object_set_new(
                index, key, json_integer((json_int_t)json_array_size(groups)));
            (void)json_array_append_new(
                groups, json_pack("{s:O,s:I,s:I}", "event", event, "runs",
                                  count, "firstRow", (json_int_t)i));
        }
        free(key);
        json_decref(event);
    }
    json_decref(index);
    return groups;
}

static int same_ids(const json_t *list, const char *const *ids, int n)
{
    if (json_array_size(list) != (size_t)n) {
        return 0;
    }
    for (int i = 0; i < n; i++) {
        const char *id = json_string_value(json_array_get(list, (size_t)i));
        if (id == NULL || strcmp(id, ids[i]) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Equal; or, where a logarithm or a very long sum was rounded, at least and
   within `bits`. */
static int matches(const mpq_t stated, const mpq_t exact, int inexact,
                   unsigned bits)
{
    mpq_t limit;
    if (mpq_equal(stated, exact)) {
        return 1;
    }
    if (!inexact && mpz_sizeinbase(mpq_denref(exact), 2) < 8000) {
        return 0;
    }
    mpq_init(limit);
    mpq_div_2exp(limit, exact, bits);
    mpq_add(limit, limit, exact);
    int ok = mpq_cmp(stated, limit) <= 0;
    mpq_sub(limit, exact, stated);
    mpq_mul_2exp(limit, limit, bits);
    ok = ok && mpq_cmp(limit, exact) <= 0;
    mpq_clear(limit);
    return ok;
}

/* One price step: `sum` += runs * price. 1 if it is right. */
static int check_price(mpq_t sum, int *inexact, const json_t *step,
                       const json_t *group, int zcdp)
{
    assay_recheck_price price;
    mpq_t stated, runs;
    const json_t *in = json_object_get(step, "in");
    char count[32];
    assay_recheck_price_init(&price);
    mpq_init(stated);
    mpq_init(runs);
    json_int_t n = json_integer_value(json_object_get(group, "runs"));
    (void)snprintf(count, sizeof count, "%lld", (long long)n);
    mpq_set_ui(runs, (unsigned long)n, 1);
    const char *said = assay_json_text(in, "runs");
    int ok =
        said != NULL && strcmp(said, count) == 0 && json_object_size(in) == 3 &&
        json_object_size(step) == 4 &&
        json_equal(json_object_get(in, "event"),
                   json_object_get(group, "event")) &&
        json_equal(json_object_get(in, "firstRow"),
                   json_object_get(group, "firstRow")) &&
        assay_recheck_event(&price, json_object_get(group, "event"), zcdp) &&
        (zcdp ? price.has_rho : price.has_epsilon) &&
        same_ids(json_object_get(step, "theorems"), price.ids, price.num_ids) &&
        assay_recheck_number(stated,
                             json_string_value(assay_json_at(
                                 step, zcdp ? "out/rho" : "out/epsilon"))) &&
        json_object_size(json_object_get(step, "out")) == 1;
    if (ok) {
        mpq_mul(runs, runs, zcdp ? price.rho : price.epsilon);
        *inexact |= price.inexact;
        ok = zcdp ? matches(stated, runs, price.inexact, 100)
                  : assay_recheck_is_rounded(stated, runs);
        mpq_add(sum, sum, runs);
    }
    assay_recheck_price_clear(&price);
    mpq_clear(stated);
    mpq_clear(runs);
    return ok;
}

static int is_rule(const json_t *step, const char *rule, const char *id)
{
    const char *name = assay_json_text(step, "rule");
    return name != NULL && strcmp(name, rule) == 0 &&
           same_ids(json_object_get(step, "theorems"), &id, 1) &&
           json_is_object(json_object_get(step, "in")) &&
           json_is_object(json_object_get(step, "out")) &&
           json_object_size(step) == 4;
}

static int text_is(const json_t *value, const char *path, const char *text)
{
    const char *found = json_string_value(assay_json_at(value, path));
    return found != NULL && text != NULL && strcmp(found, text) == 0;
}

/* compose, and convert for zCDP */
static int check_end(const json_t *steps, size_t at, const json_t *guarantee,
                     const mpq_t sum, int inexact, int zcdp)
{
    const json_t *compose = json_array_get(steps, at);
    const json_t *convert = json_array_get(steps, at + 1);
    const char *epsilon = assay_json_text(guarantee, "epsilon");
    const char *delta = assay_json_text(guarantee, "delta");
    const char *rho = assay_json_text(guarantee, "rho");
    mpq_t total;
    mpq_init(total);
    int ok;
    if (zcdp) {
        ok = json_array_size(steps) == at + 2 &&
             is_rule(compose, "compose", "compose-zcdp") &&
             is_rule(convert, "convert", "zcdp-to-dp") &&
             json_object_size(json_object_get(compose, "in")) == 0 &&
             json_object_size(json_object_get(compose, "out")) == 1 &&
             json_object_size(json_object_get(convert, "in")) == 3 &&
             json_object_size(json_object_get(convert, "out")) == 1 &&
             assay_recheck_number(total, rho) &&
             matches(total, sum, inexact, 100) &&
             text_is(compose, "out/rho", rho) &&
             text_is(convert, "in/rho", rho) &&
             text_is(convert, "in/delta", delta) &&
             text_is(convert, "out/epsilon", epsilon);
    } else {
        ok = json_array_size(steps) == at + 1 &&
             is_rule(compose, "compose", "compose-basic") && rho == NULL &&
             json_object_size(json_object_get(compose, "in")) == 0 &&
             json_object_size(json_object_get(compose, "out")) == 2 &&
             assay_recheck_number(total, epsilon) &&
             assay_recheck_is_rounded(total, sum) &&
             text_is(compose, "out/epsilon", epsilon) &&
             text_is(compose, "out/delta", "0") &&
             text_is(guarantee, "delta", "0");
    }
    mpq_clear(total);
    return ok;
}

static void check_derivation(json_t *findings, const json_t *predicate,
                             int zcdp)
{
    const json_t *steps = json_object_get(predicate, "derivation");
    const json_t *guarantee = json_object_get(predicate, "guarantee");
    json_t *groups = group_rows(assay_json_at(predicate, "ledger/rows"));
    size_t n = json_array_size(groups);
    size_t wrong = 0;
    int inexact = 0;
    mpq_t sum;
    mpq_init(sum);
    for (size_t i = 0; i < n && wrong == 0; i++) {
        const json_t *step = json_array_get(steps, i);
        const char *rule = assay_json_text(step, "rule");
        if (rule == NULL || strcmp(rule, "price") != 0 ||
            !check_price(sum, &inexact, step, json_array_get(groups, i),
                         zcdp)) {
            wrong = i + 1;
        }
    }
    if (wrong == 0 && !check_end(steps, n, guarantee, sum, inexact, zcdp)) {
        wrong = n + 1;
    }
    if (wrong != 0) {
        FAIL("derivation", "step %zu does not follow from the ledger", wrong);
    } else {
        HOLD("derivation", "%zu steps derived again from the ledger",
             json_array_size(steps));
    }
    mpq_clear(sum);
    json_decref(groups);
}

/* ---- the guarantee ---- */

/* `text` is the decimal of 6 digits at or just above the exact number. */
static int is_decimal_of(const char *text, const mpq_t exact)
{
    mpq_t value, limit;
    mpq_init(value);
    mpq_init(limit);
    mpq_set_str(limit, "100001/100000", 10);
    mpq_mul(limit, limit, exact);
    int ok = assay_recheck_decimal(value, text) && mpq_cmp(value, exact) >= 0 &&
             mpq_cmp(value, limit) <= 0;
    mpq_clear(value);
    mpq_clear(limit);
    return ok;
}

static int any_assumed(const json_t *rows)
{
    for (size_t i = 1; i < json_array_size(rows); i++) {
        const json_t *event = json_object_get(json_array_get(rows, i), "event");
        if (json_is_true(json_object_get(event, "assumed"))) {
            return 1;
        }
    }
    return 0;
}

static const char *wrong_number(const json_t *predicate, int zcdp)
{
    const json_t *g = json_object_get(predicate, "guarantee");
    const json_t *steps = json_object_get(predicate, "derivation");
    const json_t *last = json_array_get(steps, json_array_size(steps) - 1);
    const char *wanted =
        json_string_value(assay_json_at(predicate, "deployment/budget/delta"));
    const char *why = NULL;
    mpq_t epsilon, delta, rho, alpha;
    mpq_init(epsilon);
    mpq_init(delta);
    mpq_init(rho);
    mpq_init(alpha);
    if (!assay_recheck_number(epsilon, assay_json_text(g, "epsilon")) ||
        !assay_recheck_number(delta, assay_json_text(g, "delta"))) {
        why = "epsilon or delta is not a number";
    } else if (zcdp &&
               (!assay_recheck_number(rho, assay_json_text(g, "rho")) ||
                !assay_recheck_number(alpha, json_string_value(assay_json_at(
                                                 last, "in/alpha"))))) {
        why = "rho or alpha is not a number";
    } else if (zcdp && !same_number(wanted, assay_json_text(g, "delta"))) {
        why = "delta is not the manifest's";
    } else if (zcdp && !assay_recheck_epsilon(epsilon, rho, delta, alpha)) {
        why = "epsilon is not what rho, delta and alpha give";
    } else if (!is_decimal_of(assay_json_text(g, "epsilonDecimal"), epsilon) ||
               !is_decimal_of(assay_json_text(g, "deltaDecimal"), delta)) {
        why = "a decimal is not its exact number rounded up";
    }
    mpq_clear(epsilon);
    mpq_clear(delta);
    mpq_clear(rho);
    mpq_clear(alpha);
    return why;
}

static void check_guarantee(json_t *findings, const json_t *predicate, int zcdp)
{
    const json_t *g = json_object_get(predicate, "guarantee");
    const char *why = wrong_number(predicate, zcdp);
    const char *notion = assay_json_text(g, "notion");
    char *sentence = why == NULL ? assay_sentence(g) : NULL;
    const char *stated = assay_json_text(g, "sentence");
    if (why == NULL &&
        (sentence == NULL || stated == NULL || strcmp(sentence, stated) != 0)) {
        why = "the sentence does not say what the numbers say";
    }
    if (why == NULL &&
        (notion == NULL ||
         strcmp(notion, "(epsilon, delta)-differential privacy") != 0)) {
        why = "unknown notion of privacy";
    }
    if (why == NULL && (!json_is_false(json_object_get(g, "assumed")) ||
                        any_assumed(assay_json_at(predicate, "ledger/rows")))) {
        why = "an event rests on its author's word";
    }
    free(sentence);
    if (why != NULL) {
        FAIL("guarantee", "%s", why);
    } else {
        HOLD("guarantee", "epsilon <= %s at delta = %s, %s",
             assay_json_text(g, "epsilonDecimal"),
             assay_json_text(g, "deltaDecimal"),
             assay_json_text(g, "neighbours"));
    }
}

/* value <= limit, where the limit may be absent */
static int within(const json_t *g, const json_t *budget, const char *key)
{
    mpq_t value, limit;
    const char *text = assay_json_text(budget, key);
    if (text == NULL) {
        return 1;
    }
    mpq_init(value);
    mpq_init(limit);
    int ok = assay_recheck_number(limit, text) &&
             assay_recheck_number(value, assay_json_text(g, key)) &&
             mpq_cmp(value, limit) <= 0;
    mpq_clear(value);
    mpq_clear(limit);
    return ok;
}

static void check_budget(json_t *findings, const json_t *predicate)
{
    const json_t *g = json_object_get(predicate, "guarantee");
    const json_t *budget = assay_json_at(predicate, "ledger/budget");
    const char *mine = assay_json_text(budget, "delta");
    int has_rho = assay_json_text(g, "rho") != NULL;
    if (!within(g, budget, "epsilon")) {
        FAIL("budget", "epsilon is above the budget");
    } else if (mine != NULL && has_rho && !text_is(g, "delta", mine)) {
        FAIL("budget", "the budget is for another delta");
    } else if (has_rho && !within(g, budget, "rho")) {
        FAIL("budget", "rho is above the budget");
    } else {
        HOLD("budget", "the guarantee fits the budget");
    }
}

/* rho of the whole ledger, exactly (or rounded up where a price is). */
static void total_rho(mpq_t rho, const json_t *rows)
{
    json_t *groups = group_rows(rows);
    mpq_t runs;
    mpq_init(runs);
    for (size_t i = 0; i < json_array_size(groups); i++) {
        assay_recheck_price price;
        const json_t *group = json_array_get(groups, i);
        assay_recheck_price_init(&price);
        (void)assay_recheck_event(&price, json_object_get(group, "event"), 1);
        mpq_set_ui(
            runs,
            (unsigned long)json_integer_value(json_object_get(group, "runs")),
            1);
        mpq_mul(runs, runs, price.rho);
        mpq_add(rho, rho, runs);
        assay_recheck_price_clear(&price);
    }
    mpq_clear(runs);
    json_decref(groups);
}

/* Point i of 24 is at i/12 of the stated epsilon. */
static int check_point(const json_t *point, size_t i, const mpq_t rho,
                       const char *stated)
{
    mpq_t epsilon, delta, alpha, at;
    mpq_init(epsilon);
    mpq_init(delta);
    mpq_init(alpha);
    mpq_init(at);
    mpq_set_ui(at, (unsigned long)i, PROFILE_POINTS / 2);
    mpq_canonicalize(at);
    int ok = json_object_size(point) == 3 &&
             assay_recheck_number(epsilon, stated) &&
             assay_recheck_number(delta, assay_json_text(point, "delta")) &&
             assay_recheck_number(alpha, assay_json_text(point, "alpha"));
    mpq_mul(at, at, epsilon);
    ok = ok &&
         assay_recheck_number(epsilon, assay_json_text(point, "epsilon")) &&
         mpq_equal(epsilon, at) &&
         assay_recheck_delta(delta, rho, epsilon, alpha);
    mpq_clear(epsilon);
    mpq_clear(delta);
    mpq_clear(alpha);
    mpq_clear(at);
    return ok;
}

static void check_profile(json_t *findings, const json_t *predicate)
{
    const json_t *points = json_object_get(predicate, "profile");
    const char *stated =
        json_string_value(assay_json_at(predicate, "guarantee/epsilon"));
    size_t n = json_array_size(points);
    size_t wrong = n == PROFILE_POINTS ? 0 : n + 1;
    mpq_t rho;
    mpq_init(rho);
    total_rho(rho, assay_json_at(predicate, "ledger/rows"));
    for (size_t i = 0; i < n && wrong == 0; i++) {
        if (!check_point(json_array_get(points, i), i + 1, rho, stated)) {
            wrong = i + 1;
        }
    }
    if (wrong != 0) {
        FAIL("profile", "point %zu is not on the curve", wrong);
    } else {
        HOLD("profile", "%zu points derived again", n);
    }
    mpq_clear(rho);
}

static void check_texts(json_t *findings, const json_t *predicate)
{
    const char *algorithm = json_string_value(
        assay_json_at(predicate, "deployment/learner/algorithm"));
    json_t *printed = assay_statement_printed(algorithm);
    json_t *not_covered = assay_statement_not_covered();
    const char *name =
        json_string_value(assay_json_at(predicate, "generator/name"));
    if (!json_equal(printed, json_object_get(predicate, "printed")) ||
        !json_equal(not_covered, json_object_get(predicate, "notCovered"))) {
        FAIL("texts", "'printed' or 'notCovered' is not the text of this "
                      "schema version");
    } else if (name == NULL || strcmp(name, "assay") != 0) {
        FAIL("texts", "made by another generator");
    } else {
        HOLD("texts", "what is not covered is stated in full");
    }
    json_decref(printed);
    json_decref(not_covered);
}

void assay_recheck(json_t *findings, const json_t *predicate)
{
    const char *method =
        json_string_value(assay_json_at(predicate, "guarantee/method"));
    int zcdp = method != NULL && strcmp(method, "zcdp") == 0;
    check_ledger(findings, json_object_get(predicate, "ledger"));
    check_deployment(findings, predicate);
    if (!zcdp && (method == NULL || strcmp(method, "basic") != 0)) {
        FAIL("derivation", "unknown method of accounting");
    } else {
        check_derivation(findings, predicate, zcdp);
        check_guarantee(findings, predicate, zcdp);
        check_budget(findings, predicate);
        check_profile(findings, predicate);
    }
    check_texts(findings, predicate);
}
