/* ring: glue */
#include "certificate/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/shape.h"
#include "core/bytes.h"
#include "core/rational.h"

#define MAX_BYTES ((size_t)1 << 20)

static int is(const assay_yaml *tree, const char *key, const char *word)
{
    const char *text = assay_yaml_text(tree, key);
    return text != NULL && strcmp(text, word) == 0;
}

static uint64_t count_of(const assay_yaml *tree, const char *key)
{
    uint64_t n = 0;
    const char *text = assay_yaml_text(tree, key);
    if (text == NULL || assay_u64_parse(&n, text, key, NULL) != ASSAY_OK) {
        return 0;
    }
    return n;
}

/* Members that go together: present iff `wanted`. */
static assay_status expect(const assay_yaml *tree, const char *key, int wanted,
                           const char *why, assay_error *err)
{
    const assay_yaml *item = assay_yaml_get(tree, key);
    if ((item != NULL) == wanted) {
        return ASSAY_OK;
    }
    return wanted ? assay_yaml_fail(tree, err, "%s needs '%s'", why, key)
                  : assay_yaml_fail(item, err, "'%s' does not go with %s", key,
                                    why);
}

/* Which keys are there and which are not. */
typedef struct rule {
    const char *key;
    int wanted; /* 1 must, 0 must not, -1 may */
} rule;

static assay_status follow(const assay_yaml *tree, const rule *rules, size_t n,
                           const char *why, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        if (rules[i].wanted >= 0) {
            status = expect(tree, rules[i].key, rules[i].wanted, why, err);
        }
    }
    return status;
}

#define FOLLOW(tree, rules, why, err)                                          \
    follow(tree, rules, sizeof rules / sizeof rules[0], why, err)

static assay_status check_data(const assay_manifest *m, assay_error *err)
{
    const assay_yaml *data = m->data;
    int world = is(data, "source", "environment");
    int people = is(data, "source", "population");
    int file = is(data, "source", "file");
    int paths = file && m->learner != NULL; /* a file of trajectories */
    int table = file && m->learner == NULL ? -1 : 0;
    const char *why = world    ? "source: environment"
                      : people ? "source: population"
                      : paths  ? "a file of trajectories"
                               : "a file of records";
    const rule rules[] = {
        {"environment", world}, {"population", people}, {"path", file},
        {"users", !file},       {"seed", !file},        {"states", paths},
        {"actions", paths},     {"horizon", paths},     {"rewards", paths},
        {"person", table},      {"per-person", table}};
    return FOLLOW(data, rules, why, err);
}

/* Gaussian takes rho, Laplace takes epsilon. */
static assay_status check_noise(const assay_yaml *tree, assay_error *err)
{
    int gaussian = is(tree, "noise", "gaussian");
    const char *why = gaussian ? "gaussian noise" : "laplace noise";
    assay_status status = expect(tree, "rho", gaussian, why, err);
    return status == ASSAY_OK ? expect(tree, "epsilon", !gaussian, why, err)
                              : status;
}

static assay_status check_learner(const assay_manifest *m, assay_error *err)
{
    const assay_yaml *learner = m->learner;
    const assay_yaml *privacy = assay_yaml_get(&m->tree, "privacy");
    int offline = is(learner, "algorithm", "dp-apvi");
    assay_status status = check_noise(learner, err);
    if (status == ASSAY_OK) {
        status = expect(learner, "episodes", !offline,
                        offline ? "dp-apvi" : "an online learner", err);
    }
    if (status == ASSAY_OK && !offline) {
        status = expect(learner, "preset", 0, "an online learner", err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    if (is(m->data, "source", "population") ||
        (!offline && !is(m->data, "source", "environment"))) {
        return assay_yaml_fail(learner, err,
                               "this learner has no such data source: it "
                               "learns from trajectories%s",
                               offline ? "" : " of a simulated environment");
    }
    if (!is(privacy, "neighbours", "replace-one")) {
        return assay_yaml_fail(assay_yaml_get(privacy, "neighbours"), err,
                               "the learner's theorem is for replace-one (the "
                               "number of users is public)");
    }
    if (offline != is(privacy, "trust", "central")) {
        return assay_yaml_fail(assay_yaml_get(privacy, "trust"), err,
                               offline ? "dp-apvi is central: the curator "
                                         "sees trajectories"
                                       : "an online learner is joint or "
                                         "local");
    }
    return ASSAY_OK;
}

/* Somebody else's mechanism: a claimed epsilon, and noise to attack. */
static assay_status check_mechanism(const assay_yaml *r, assay_error *err)
{
    int named = assay_yaml_get(r, "specimen") != NULL;
    const rule rules[] = {
        {"column", 0},     {"equals", 0},     {"by", 0},
        {"rho", 0},        {"bounds", 0},     {"categories", 0},
        {"bins", 0},       {"quantile", 0},   {"epsilon", 1},
        {"noise", !named}, {"scale", !named}, {"changes", !named}};
    assay_status status = FOLLOW(r, rules, "statistic: mechanism", err);
    if (status == ASSAY_OK && !named &&
        (!is(r, "noise", "laplace") || count_of(r, "changes") > 64)) {
        return assay_yaml_fail(r, err,
                               "a mechanism adds laplace noise to at most 64 "
                               "counts, or is a specimen");
    }
    return status;
}

/* A statistic of simulated persons. */
static assay_status check_population(const assay_yaml *r, assay_error *err)
{
    int count = is(r, "statistic", "count");
    const rule rules[] = {
        {"column", count}, {"equals", count}, {"by", !count}, {"noise", 1},
        {"specimen", 0},   {"scale", 0},      {"changes", 0}, {"algorithm", 0},
        {"bounds", 0},     {"categories", 0}, {"bins", 0},    {"quantile", 0}};
    if (!count && !is(r, "statistic", "histogram")) {
        return assay_yaml_fail(r, err,
                               "simulated persons have counts and "
                               "histograms; a file has the rest");
    }
    assay_status status = FOLLOW(
        r, rules, count ? "statistic: count" : "statistic: histogram", err);
    return status == ASSAY_OK ? check_noise(r, err) : status;
}

/* A statistic of a CSV file: the query chooses its own noise. */
static assay_status check_query(const assay_yaml *r, assay_error *err)
{
    int count = is(r, "statistic", "count");
    int histogram = is(r, "statistic", "histogram");
    int words = histogram && assay_yaml_get(r, "categories") != NULL;
    int quantile = is(r, "statistic", "quantile");
    const rule rules[] = {{"column", !count},
                          {"bounds", !count && !words},
                          {"categories", histogram ? -1 : 0},
                          {"bins", histogram && !words},
                          {"quantile", quantile ? -1 : 0},
                          {"epsilon", 1},
                          {"rho", 0},
                          {"noise", 0},
                          {"equals", 0},
                          {"by", 0},
                          {"specimen", 0},
                          {"scale", 0},
                          {"changes", 0},
                          {"algorithm", 0}};
    assay_status status = FOLLOW(r, rules, "this statistic of a file", err);
    const assay_yaml *bounds = assay_yaml_get(r, "bounds");
    if (status == ASSAY_OK && bounds != NULL && bounds->num_items != 2) {
        return assay_yaml_fail(bounds, err, "bounds: two numbers, [lo, hi]");
    }
    return status;
}

static assay_status check_statistic(const assay_yaml *r, const assay_yaml *data,
                                    assay_error *err)
{
    if (is(data, "source", "population")) {
        return check_population(r, err);
    }
    if (is(data, "source", "file")) {
        return check_query(r, err);
    }
    return assay_yaml_fail(r, err,
                           "statistics are of persons: data needs source: "
                           "population or source: file");
}

static assay_status check_release(const assay_yaml *r, const assay_yaml *data,
                                  assay_error *err)
{
    const char *name = assay_yaml_text(r, "name");
    if (strlen(name) > 40 ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_")] != 0) {
        return assay_yaml_fail(assay_yaml_get(r, "name"), err,
                               "name: at most 40 of a-z, 0-9, - and _ (it "
                               "names a file)");
    }
    return is(r, "statistic", "mechanism") ? check_mechanism(r, err)
                                           : check_statistic(r, data, err);
}

static assay_status check_releases(const assay_manifest *m, assay_error *err)
{
    assay_status status = ASSAY_OK;
    const assay_yaml *list = m->releases;
    for (size_t i = 0; i < list->num_items && status == ASSAY_OK; i++) {
        status = check_release(&list->items[i], m->data, err);
        const char *name = assay_yaml_text(&list->items[i], "name");
        for (size_t j = 0; j < i && status == ASSAY_OK; j++) {
            if (strcmp(name, assay_yaml_text(&list->items[j], "name")) == 0) {
                status = assay_yaml_fail(&list->items[i], err,
                                         "two releases are called '%s'", name);
            }
        }
    }
    return status;
}

/* Adds the `key` of one spender to `sum`. */
static void add_spent(mpq_t sum, const assay_yaml *spender, const char *key)
{
    mpq_t value;
    const char *text = assay_yaml_text(spender, key);
    mpq_init(value);
    if (text != NULL &&
        assay_rational_parse(value, text, key, NULL) == ASSAY_OK) {
        mpq_add(sum, sum, value);
    }
    mpq_clear(value);
}

/* What is spent in rho is at most the budget's rho: exact, before any run. */
static assay_status check_spending(const assay_manifest *m, assay_error *err)
{
    mpq_t sum;
    assay_status status = ASSAY_OK;
    const assay_yaml *budget = assay_yaml_get(&m->tree, "budget");
    mpq_init(sum);
    if (m->learner != NULL) {
        add_spent(sum, m->learner, "rho");
    }
    for (size_t i = 0; m->releases != NULL && i < m->releases->num_items; i++) {
        add_spent(sum, &m->releases->items[i], "rho");
    }
    if (m->budget.has_rho && mpq_cmp(sum, m->budget.rho) > 0) {
        char *spent = assay_rational_text(sum);
        status = assay_yaml_fail(assay_yaml_get(budget, "rho"), err,
                                 "contradiction: rho = %.60s is spent, more "
                                 "than the budget",
                                 spent != NULL ? spent : "?");
        free(spent);
    }
    mpq_clear(sum);
    return status;
}

static assay_status read_budget(assay_manifest *m, assay_error *err)
{
    const assay_yaml *budget = assay_yaml_get(&m->tree, "budget");
    const assay_yaml *privacy = assay_yaml_get(&m->tree, "privacy");
    const char *epsilon = assay_yaml_text(budget, "epsilon");
    const char *rho = assay_yaml_text(budget, "rho");
    const char *delta = assay_yaml_text(budget, "delta");
    const char *unit = assay_yaml_text(privacy, "unit");
    const char *neighbours = assay_yaml_text(privacy, "neighbours");
    m->trust = assay_yaml_text(privacy, "trust");
    m->budget.has_epsilon = epsilon != NULL;
    m->budget.has_rho = rho != NULL;
    if (epsilon == NULL && rho == NULL) {
        return assay_yaml_fail(budget, err,
                               "a budget needs epsilon, rho, or both");
    }
    if (strlen(unit) >= ASSAY_UNIT_LEN) {
        return assay_yaml_fail(assay_yaml_get(privacy, "unit"), err,
                               "unit: at most %d bytes", ASSAY_UNIT_LEN - 1);
    }
    (void)strcpy(m->budget.unit, unit);
    assay_status status =
        assay_neighbours_parse(&m->budget.neighbours, neighbours, err);
    if (status == ASSAY_OK) {
        status = assay_rational_parse(m->delta, delta, "delta", err);
        mpq_set(m->budget.delta, m->delta);
    }
    if (status == ASSAY_OK && epsilon != NULL) {
        status =
            assay_rational_parse(m->budget.epsilon, epsilon, "epsilon", err);
    }
    if (status == ASSAY_OK && rho != NULL) {
        status = assay_rational_parse(m->budget.rho, rho, "rho", err);
    }
    return status;
}

/* delta >= 1/n would allow the publication of somebody's whole record. */
static assay_status check_delta(const assay_manifest *m, assay_error *err)
{
    mpq_t limit;
    int bad = 0;
    if (m->users == 0) {
        return ASSAY_OK;
    }
    mpq_init(limit);
    assay_mpz_set_u64(mpq_denref(limit), m->users);
    mpz_set_ui(mpq_numref(limit), 1);
    bad = mpq_cmp(m->delta, limit) >= 0;
    mpq_clear(limit);
    return bad ? assay_yaml_fail(
                     assay_yaml_get(assay_yaml_get(&m->tree, "budget"),
                                    "delta"),
                     err,
                     "contradiction: delta must be below 1/users; at 1/users "
                     "a mechanism may publish somebody's record")
               : ASSAY_OK;
}

static assay_status read_audit(assay_manifest *m, assay_error *err)
{
    const assay_yaml *audit = assay_yaml_get(&m->tree, "audit");
    m->audit_runs = count_of(audit, "runs");
    if (m->audit_runs < 100 || m->audit_runs > 100000000) {
        return assay_yaml_fail(assay_yaml_get(audit, "runs"), err,
                               "runs: from 100 to 100,000,000");
    }
    return assay_rational_parse(m->audit_confidence,
                                assay_yaml_text(audit, "confidence"),
                                "confidence", err);
}

static assay_status interpret(assay_manifest *m, assay_error *err)
{
    assay_status status =
        assay_shape_check_yaml(&m->tree, assay_manifest_fields, err);
    if (status != ASSAY_OK) {
        return status;
    }
    m->data = assay_yaml_get(&m->tree, "data");
    m->learner = assay_yaml_get(&m->tree, "learner");
    m->releases = assay_yaml_get(&m->tree, "releases");
    m->users = count_of(m->data, "users");
    if ((m->learner == NULL) == (m->releases == NULL)) {
        return assay_yaml_fail(&m->tree, err,
                               "give one of 'learner' and 'releases'");
    }
    status = check_data(m, err);
    if (status == ASSAY_OK) {
        status = read_budget(m, err);
    }
    if (status == ASSAY_OK) {
        status =
            m->learner != NULL ? check_learner(m, err) : check_releases(m, err);
    }
    if (status == ASSAY_OK) {
        status = check_spending(m, err);
    }
    if (status == ASSAY_OK) {
        status = check_delta(m, err);
    }
    return status == ASSAY_OK ? read_audit(m, err) : status;
}

static assay_status digest(assay_manifest *m, assay_error *err)
{
    m->json = assay_yaml_json(&m->tree);
    if (m->json == NULL) {
        return assay_fail(err, ASSAY_INVALID, "the manifest is not UTF-8");
    }
    return assay_canonical_digest(m->digest, m->json, err);
}

assay_status assay_manifest_parse(assay_manifest *out, const char *text,
                                  size_t len, assay_error *err)
{
    assay_manifest m;
    memset(&m, 0, sizeof m);
    assay_status status = assay_yaml_parse(&m.tree, text, len, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_budget_init(&m.budget);
    mpq_init(m.delta);
    mpq_init(m.audit_confidence);
    status = interpret(&m, err);
    if (status == ASSAY_OK) {
        status = digest(&m, err);
    }
    if (status != ASSAY_OK) {
        assay_manifest_clear(&m);
        return status;
    }
    *out = m;
    /* the pointers above go into m.tree.items, which has not moved */
    return ASSAY_OK;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? strdup(".")
                         : strndup(path, (size_t)(slash - path) + 1);
}

assay_status assay_manifest_read(assay_manifest *out, const char *path,
                                 assay_error *err)
{
    char *text = NULL;
    size_t len = 0;
    assay_status status = assay_read_file(&text, &len, path, MAX_BYTES, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_manifest_parse(out, text, len, err);
    free(text);
    if (status == ASSAY_OK) {
        out->folder = folder_of(path);
        if (out->folder == NULL) {
            assay_manifest_clear(out);
            return assay_fail(err, ASSAY_MEMORY, "no memory for a path");
        }
    }
    return status;
}

const char *assay_manifest_algorithm(const assay_manifest *manifest)
{
    const assay_yaml *from = manifest->learner;
    if (from == NULL) {
        from = &manifest->releases->items[0];
    }
    return assay_yaml_text(from, "algorithm");
}

void assay_manifest_clear(assay_manifest *manifest)
{
    assay_yaml_clear(&manifest->tree);
    json_decref(manifest->json);
    free(manifest->folder);
    assay_budget_clear(&manifest->budget);
    mpq_clear(manifest->delta);
    mpq_clear(manifest->audit_confidence);
    memset(manifest, 0, sizeof *manifest);
}

char *assay_manifest_path(const assay_manifest *manifest, const char *path)
{
    if (path[0] == '/' || manifest->folder == NULL) {
        return strdup(path);
    }
    size_t len = strlen(manifest->folder) + strlen(path) + 2;
    char *out = malloc(len);
    if (out != NULL) {
        (void)snprintf(out, len, "%s/%s", manifest->folder, path);
    }
    return out;
}
