/* ring: glue */
/*
 * The audit's statements, from its counts: the claim is the price of the row,
 * an independent Clopper-Pearson bound does not refute it either, and the
 * stated bound lies between that one and what the bare frequencies force. A
 * bound on rho uses the whole distribution of the attacker's score, of which
 * the certificate keeps one event only: there it is compared with the claim.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/findings.h"
#include "certificate/recheck.h"

/* Continued fraction of the incomplete beta function (Lentz). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
    double h = d;
    for (int m = 1; m < 5000; m++) {
        double e = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + e * d;
        c = 1 + e / c;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        h *= c * d;
        e = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + e * d;
        c = 1 + e / c;
        d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
        h *= c * d;
        if (fabs(c * d - 1) < 1e-14) {
            break;
        }
    }
    return h;
}

/* P[Bin(n, p) >= k] for 0 < k <= n */
static double at_least(double k, double n, double p)
{
    double a = k, b = n - k + 1;
    if (p <= 0 || p >= 1) {
        return p >= 1;
    }
    double front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(p) + b * log1p(-p));
    return p < (a + 1) / (a + b + 2)
               ? front * beta_fraction(a, b, p) / a
               : 1 - front * beta_fraction(b, a, 1 - p) / b;
}

/* The p with P[Bin(n, p) >= k] = level: the lower limit. */
static double lower_limit(double k, double n, double level)
{
    double low = 0, high = 1;
    for (int i = 0; i < 100 && k > 0; i++) {
        double p = (low + high) / 2;
        if (at_least(k, n, p) > level) {
            high = p;
        } else {
            low = p;
        }
    }
    return low;
}

static double upper_limit(double k, double n, double level)
{
    return 1 - lower_limit(n - k, n, level);
}

/* What an event of probabilities p1 and p2 forces. */
static double forced(int rho, double p1, double p2)
{
    if (p1 <= p2) {
        return 0;
    }
    if (!rho) {
        return log(p1 / p2);
    }
    double best = 0;
    for (double u = -9; u <= 9; u += 0.01) {
        double a = 1 + exp(u);
        double x = a * log(p1) + (1 - a) * log(p2);
        double y = a * log1p(-p1) + (1 - a) * log1p(-p2);
        double top = fmax(x, y);
        double moment = top + log(exp(x - top) + exp(y - top));
        best = fmax(best, moment / (a * (a - 1)));
    }
    return best;
}

static int number(double *out, const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    *out = (double)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

static int counts_agree(const json_t *r, double claim, double confidence)
{
    double k1, n1, k2, n2, events, runs;
    const json_t *c = json_object_get(r, "counts");
    int rho = strcmp(assay_json_text(r, "claim"), "rho") == 0;
    if (json_object_size(c) != 4 || !number(&k1, c, "k1") ||
        !number(&n1, c, "n1") || !number(&k2, c, "k2") ||
        !number(&n2, c, "n2") || !number(&events, r, "events") ||
        !number(&runs, r, "runs") || k1 > n1 || k2 > n2 || n1 < 1 || n2 < 1 ||
        n1 > runs || n2 > runs || events < 1) {
        return 0;
    }
    const char *text = assay_json_text(r, "lower");
    double stated = text != NULL ? strtod(text, NULL) : -1;
    double level = (1 - confidence) / events / 2;
    double mine =
        forced(rho, lower_limit(k1, n1, level), upper_limit(k2, n2, level));
    double bare = forced(rho, k1 / n1, fmax(k2, 0.5) / n2);
    return stated >= 0 && mine <= claim && stated <= claim &&
           (rho || (stated <= bare * (1 + 1e-6) &&
                    stated >= mine * (1 - 1e-3) - 1e-6));
}

/* The row that was attacked. */
static const json_t *attacked_event(const json_t *predicate, const json_t *r)
{
    json_int_t row = json_integer_value(json_object_get(r, "row"));
    const json_t *rows = assay_json_at(predicate, "ledger/rows");
    const json_t *event = json_object_get(
        json_array_get(rows, row > 0 ? (size_t)row : 0), "event");
    const char *name = assay_json_text(r, "mechanism");
    const char *mechanism = assay_json_text(event, "mechanism");
    if (name == NULL || mechanism == NULL) {
        return NULL;
    }
    return strcmp(name, mechanism) == 0 ? event : NULL;
}

static int claim_agrees(mpq_t claim, const json_t *event, const json_t *r)
{
    assay_recheck_price price;
    const char *kind = assay_json_text(r, "claim");
    int rho = kind != NULL && strcmp(kind, "rho") == 0;
    assay_recheck_price_init(&price);
    int ok = kind != NULL && (rho || strcmp(kind, "epsilon") == 0) &&
             assay_recheck_number(claim, assay_json_text(r, "value")) &&
             assay_recheck_event(&price, event, rho) &&
             (rho ? price.has_rho : price.has_epsilon);
    if (ok && rho) {
        ok = mpq_equal(claim, price.rho);
    } else if (ok) {
        ok = assay_recheck_is_rounded(claim, price.epsilon);
    }
    assay_recheck_price_clear(&price);
    return ok;
}

static const char *wrong_result(const json_t *predicate, const json_t *r,
                                double confidence)
{
    const json_t *event = attacked_event(predicate, r);
    const char *why = NULL;
    mpq_t claim;
    mpq_init(claim);
    if (!json_is_false(json_object_get(r, "refuted"))) {
        why = "the audit refuted a claim";
    } else if (json_object_size(r) != 14 || event == NULL) {
        why = "a result is not about a row of the ledger";
    } else if (!claim_agrees(claim, event, r)) {
        why = "the claim that was attacked is not the price of its row";
    } else if (!counts_agree(r, mpq_get_d(claim), confidence)) {
        why = "a bound does not follow from its counts";
    }
    mpq_clear(claim);
    return why;
}

void assay_recheck_audit(json_t *findings, const json_t *predicate)
{
    const json_t *audit = json_object_get(predicate, "audit");
    const json_t *plan = assay_json_at(predicate, "deployment/audit");
    const json_t *results = json_object_get(audit, "results");
    mpq_t confidence, planned, runs;
    const char *why = NULL;
    mpq_init(confidence);
    mpq_init(planned);
    mpq_init(runs);
    double said = (double)json_integer_value(json_object_get(audit, "runs"));
    if (!assay_recheck_number(confidence,
                              assay_json_text(audit, "confidence")) ||
        !assay_recheck_decimal(planned, assay_json_text(plan, "confidence")) ||
        !assay_recheck_decimal(runs, assay_json_text(plan, "runs")) ||
        !mpq_equal(planned, confidence) || mpq_get_d(runs) != said ||
        json_object_size(audit) != 4) {
        why = "the audit is not the manifest's plan";
    }
    for (size_t i = 0; i < json_array_size(results) && why == NULL; i++) {
        why = wrong_result(predicate, json_array_get(results, i),
                           mpq_get_d(confidence));
    }
    if (why == NULL && json_array_size(results) == 0) {
        why = "nothing was attacked";
    }
    if (why != NULL) {
        assay_findings_add(findings, "audit", ASSAY_FAILS, "%s", why);
    } else {
        assay_findings_add(findings, "audit", ASSAY_HOLDS,
                           "%zu attacks, none refutes its claim at "
                           "confidence %g",
                           json_array_size(results), mpq_get_d(confidence));
    }
    mpq_clear(confidence);
    mpq_clear(planned);
    mpq_clear(runs);
}
