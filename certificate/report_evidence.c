/* ring: glue */
/* The evidence: ledger, derivation, proofs, attack, printed constants. */
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/report.h"
#include "certificate/statement.h"

static void cell(assay_text *out, const char *text, int mono)
{
    assay_text_add(out, mono ? "<td><code>" : "<td>");
    assay_text_html(out, text);
    assay_text_add(out, mono ? "</code></td>" : "</td>");
}

/* "sigma2 = 80, sensitivity2 = 80": an event's parameters but its name. */
static void parameters(assay_text *out, const json_t *event)
{
    const char *key;
    json_t *value;
    const char *between = "";
    json_object_foreach((json_t *)(size_t)event, key, value)
    {
        if (strcmp(key, "mechanism") == 0 || strcmp(key, "label") == 0 ||
            strcmp(key, "count") == 0) {
            continue;
        }
        assay_text_add(out, between);
        assay_text_html(out, key);
        assay_text_add(out, " = ");
        if (json_is_integer(value)) {
            assay_text_printf(out, "%lld",
                              (long long)json_integer_value(value));
        } else {
            assay_text_html(
                out, json_is_true(value) ? "true" : json_string_value(value));
        }
        between = ", ";
    }
}

static void add_ledger(assay_text *out, const json_t *ledger)
{
    const json_t *rows = json_object_get(ledger, "rows");
    size_t n = json_array_size(rows);
    assay_text_add(out, "<h2 id=\"ledger\">What ran</h2>\n<p>Every release "
                        "was charged to the ledger before it was made. The "
                        "guarantee is derived from these rows, not from what "
                        "was planned.</p>\n<div class=\"wide\"><table><thead>"
                        "<tr><th class=\"num\">row</th><th>released</th>"
                        "<th>mechanism</th><th>exact parameters</th>"
                        "<th>chain</th></tr></thead><tbody>\n");
    for (size_t i = 1; i < n; i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *event = json_object_get(row, "event");
        const char *hash = assay_json_text(row, "hash");
        if (i > 30 && i + 1 < n) {
            continue;
        }
        assay_text_printf(out, "<tr><td class=\"num\">%zu</td>", i);
        cell(out, assay_json_text(row, "label"), 0);
        cell(out, assay_json_text(event, "mechanism"), 0);
        assay_text_add(out, "<td>");
        parameters(out, event);
        assay_text_printf(out, "</td><td><code>%.8s</code></td></tr>\n",
                          hash != NULL ? hash : "");
    }
    assay_text_add(out, "</tbody></table></div>\n");
    if (n > 32) {
        assay_text_printf(out,
                          "<p class=\"note\">%zu rows; those between 30 "
                          "and the last are in ledger.db.</p>\n",
                          n - 1);
    }
    if (n <= 1) {
        assay_text_add(out, "<p class=\"note\">Nothing was charged.</p>\n");
    }
}

static void links(assay_text *out, const json_t *ids)
{
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const char *id = json_string_value(json_array_get(ids, i));
        assay_text_add(out, i > 0 ? ", " : "");
        assay_text_printf(out, "<a href=\"#t-%s\">%s</a>", id, id);
    }
    if (json_array_size(ids) == 0) {
        assay_text_add(out, "stated by the event");
    }
}

static void add_numbers(assay_text *out, const json_t *object)
{
    const char *key;
    json_t *value;
    const char *between = "";
    json_object_foreach((json_t *)(size_t)object, key, value)
    {
        if (!json_is_string(value)) {
            continue;
        }
        assay_text_printf(out, "%s%s = ", between, key);
        assay_text_html(out, json_string_value(value));
        between = ", ";
    }
}

static void add_derivation(assay_text *out, const json_t *derived)
{
    const json_t *steps = json_object_get(derived, "derivation");
    if (steps == NULL) {
        return;
    }
    assay_text_add(out, "<h3 id=\"derivation\">Derivation</h3>\n<div "
                        "class=\"wide\"><table><thead><tr><th "
                        "class=\"num\">step</th><th>from</th><th>theorem"
                        "</th><th>follows</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(steps); i++) {
        const json_t *step = json_array_get(steps, i);
        const json_t *in = json_object_get(step, "in");
        const json_t *event = json_object_get(in, "event");
        assay_text_printf(out, "<tr><td class=\"num\">%zu</td><td>", i + 1);
        if (event != NULL) {
            assay_text_html(out, assay_json_text(event, "mechanism"));
            assay_text_add(out, " (");
            parameters(out, event);
            assay_text_printf(out, "), %s&times;", assay_json_text(in, "runs"));
        } else if (json_object_size(in) == 0) {
            assay_text_add(out, "all steps above, each chosen with knowledge "
                                "of earlier outputs");
        } else {
            add_numbers(out, in);
        }
        assay_text_add(out, "</td><td>");
        links(out, json_object_get(step, "theorems"));
        assay_text_add(out, "</td><td>");
        add_numbers(out, json_object_get(step, "out"));
        assay_text_add(out, "</td></tr>\n");
    }
    assay_text_add(out, "</tbody></table></div>\n<p class=\"note\">Numbers "
                        "are exact fractions; where a logarithm enters, they "
                        "are rounded towards more loss.</p>\n");
}

/* ---- proofs ---- */

/* The four axioms of Coq's classical reals have one name. */
static const char *rests_on(const char *status, const char *axioms)
{
    static const char *const classical[] = {"classic",
                                            "functional_extensionality_dep",
                                            "sig_forall_dec", "sig_not_dec"};
    size_t known = 0;
    if (strcmp(status, "machine-checked") != 0) {
        return "a proof on paper (docs)";
    }
    if (strcmp(axioms, "none") == 0) {
        return "no axiom";
    }
    for (const char *at = axioms; *at != '\0';) {
        size_t len = strcspn(at, " ");
        size_t i = 0;
        while (i < 4 && (strlen(classical[i]) != len ||
                         strncmp(at, classical[i], len) != 0)) {
            i++;
        }
        if (i == 4) {
            return axioms;
        }
        known++;
        at += len + (at[len] == ' ');
    }
    return known > 0 ? "axioms of the classical reals" : axioms;
}

static void add_theorems(assay_text *out, const json_t *rows)
{
    assay_text_add(out, "<div class=\"wide\"><table><thead><tr><th>theorem"
                        "</th><th>says</th><th>status</th></tr></thead>"
                        "<tbody>\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *id = assay_json_text(row, "id");
        const char *status = assay_json_text(row, "status");
        const char *says = assay_json_text(row, "statement");
        assay_text_printf(out, "<tr id=\"t-%s\"><td><code>%s</code></td>", id,
                          id);
        cell(out, says[0] != '\0' ? says : "see docs/math", 0);
        assay_text_add(out, "<td>");
        assay_text_html(out, status);
        assay_text_add(out, "<br><span class=\"note\">");
        assay_text_html(out,
                        rests_on(status, assay_json_text(row, "assumptions")));
        assay_text_add(out, "</span></td></tr>\n");
    }
    assay_text_add(out, "</tbody></table></div>\n");
}

static void add_proofs(assay_text *out, const json_t *proofs)
{
    const json_t *units = json_object_get(proofs, "units");
    assay_text_add(out, "<h2 id=\"proofs\">What is proved</h2>\n");
    if (proofs == NULL) {
        return;
    }
    assay_text_add(out, "<p>Theorems that the certificate rests on:</p>");
    add_theorems(out, json_object_get(proofs, "theorems"));
    assay_text_add(out, "<p>Units of the source code and of the theory, and "
                        "whether the proofs are of the sources that "
                        "ran:</p>\n<div class=\"wide\"><table><thead><tr>"
                        "<th>lock</th><th>unit</th><th class=\"num\">goals "
                        "proved</th><th>status</th><th>sources</th></tr>"
                        "</thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(units); i++) {
        const json_t *unit = json_array_get(units, i);
        const char *status = assay_json_text(unit, "status");
        assay_text_add(out, "<tr>");
        cell(out, assay_json_text(unit, "lock"), 0);
        cell(out, assay_json_text(unit, "unit"), 0);
        assay_text_printf(out,
                          "<td class=\"num\">%s / %s</td><td class=\"%s\""
                          ">%s</td><td><code>%.12s</code></td></tr>\n",
                          assay_json_text(unit, "proved"),
                          assay_json_text(unit, "total"),
                          strcmp(status, "fresh") == 0 ? "ok" : "no", status,
                          assay_json_text(unit, "sha256"));
    }
    assay_text_add(out, "</tbody></table></div>\n");
    if (json_array_size(units) == 0) {
        assay_text_add(out, "<p class=\"no\">No proof results were "
                            "found.</p>\n");
    }
}

/* ---- the attack ---- */

static void add_attack_row(assay_text *out, const json_t *r)
{
    const json_t *c = json_object_get(r, "counts");
    int refuted = json_is_true(json_object_get(r, "refuted"));
    assay_text_printf(out, "<tr><td class=\"num\">%lld</td>",
                      (long long)json_integer_value(json_object_get(r, "row")));
    cell(out, assay_json_text(r, "mechanism"), 0);
    assay_text_printf(out, "<td>%s = %s</td>", assay_json_text(r, "claim"),
                      assay_json_text(r, "value"));
    assay_text_printf(
        out,
        "<td class=\"num\">%s</td><td class=\"num\">%s</td>"
        "<td class=\"%s\">%s</td><td>",
        assay_json_text(r, "lower"), assay_json_text(r, "detectionLimit"),
        refuted ? "no" : "ok", refuted ? "refuted" : "not refuted");
    assay_text_html(out, assay_json_text(r, "event"));
    assay_text_printf(out, " (%lld of %lld against %lld of %lld runs)",
                      (long long)json_integer_value(json_object_get(c, "k1")),
                      (long long)json_integer_value(json_object_get(c, "n1")),
                      (long long)json_integer_value(json_object_get(c, "k2")),
                      (long long)json_integer_value(json_object_get(c, "n2")));
    assay_text_add(out, "</td></tr>\n");
}

static void add_counterexample(assay_text *out, const json_t *r)
{
    if (!json_is_true(json_object_get(r, "refuted"))) {
        return;
    }
    assay_text_add(out, "<div class=\"verdict bad\"><b class=\"word\">"
                        "COUNTEREXAMPLE</b><p>On neighbouring inputs the "
                        "event <em>");
    assay_text_html(out, assay_json_text(r, "event"));
    assay_text_add(out, "</em> happens too often on one side: ");
    assay_text_html(out, assay_json_text(r, "mechanism"));
    assay_text_printf(out,
                      " spends at least %s = %s, not %s. One such "
                      "output, as the attacker sees it (sum, clipped "
                      "sum, first four numbers): <code>",
                      assay_json_text(r, "claim"), assay_json_text(r, "lower"),
                      assay_json_text(r, "value"));
    assay_text_html(out, assay_json_text(r, "example"));
    assay_text_add(out, "</code></p></div>\n");
}

static void add_not_attacked(assay_text *out, const json_t *rows)
{
    if (json_array_size(rows) == 0) {
        return;
    }
    assay_text_add(out, "<p class=\"note\">Not attacked, for want of an "
                        "attack on this kind of mechanism: row");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        assay_text_printf(
            out, "%s %lld", i > 0 ? "," : "",
            (long long)json_integer_value(json_array_get(rows, i)));
    }
    assay_text_add(out, ".</p>\n");
}

static void add_audit(assay_text *out, const json_t *audit)
{
    const json_t *results = json_object_get(audit, "results");
    assay_text_add(out, "<h2 id=\"audit\">What an attacker could prove"
                        "</h2>\n");
    if (json_array_size(results) == 0) {
        assay_text_add(out, "<p>Nothing was attacked.</p>\n");
        return;
    }
    for (size_t i = 0; i < json_array_size(results); i++) {
        add_counterexample(out, json_array_get(results, i));
    }
    assay_text_printf(
        out,
        "<p>The mechanism that ran was run again %lld times on "
        "each of two neighbouring inputs, and attacked. The "
        "bars show what the attacker could prove at confidence "
        "%s; an attack that finds nothing is no proof of "
        "privacy.</p>\n<figure>",
        (long long)json_integer_value(json_object_get(audit, "runs")),
        assay_json_text(audit, "confidence"));
    assay_plot_audit(out, audit);
    assay_text_add(out, "</figure>\n<div class=\"wide\"><table><thead><tr>"
                        "<th class=\"num\">row</th><th>mechanism</th>"
                        "<th>claim</th><th class=\"num\">proved, at least"
                        "</th><th class=\"num\">detection limit</th><th>"
                        "result</th><th>best event</th></tr></thead>"
                        "<tbody>\n");
    for (size_t i = 0; i < json_array_size(results); i++) {
        add_attack_row(out, json_array_get(results, i));
    }
    assay_text_add(out, "</tbody></table></div>\n<p class=\"note\">Detection "
                        "limit: the smallest true value that this attack "
                        "would have found with 95 % probability.</p>\n");
    add_not_attacked(out, json_object_get(audit, "notAttacked"));
}

static void add_printed(assay_text *out, const assay_report_input *in)
{
    json_t *facts =
        assay_statement_printed(assay_manifest_algorithm(in->manifest));
    const char *verdict = assay_json_text(facts, "verdict");
    assay_text_add(out, "<h2 id=\"printed\">What the printed constants would "
                        "have given</h2>\n<p>");
    if (strcmp(verdict, "none") != 0) {
        assay_text_html(out, assay_json_text(facts, "paper"));
        assay_text_printf(out, ": <b class=\"%s\">%s</b> as printed. ",
                          strcmp(verdict, "sound") == 0 ? "ok" : "no", verdict);
        assay_text_html(out, assay_json_text(facts, "printed"));
        assay_text_add(out, " ");
    }
    assay_text_html(out, assay_json_text(facts, "truth"));
    assay_text_add(out, "</p>\n");
    json_decref(facts);
}

void assay_report_evidence(assay_text *out, const assay_report_input *in)
{
    add_ledger(out, in->ledger);
    add_derivation(out, in->derived);
    add_proofs(out, in->proofs);
    add_audit(out, in->audit);
    add_printed(out, in);
}
