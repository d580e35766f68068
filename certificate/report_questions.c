/* ring: glue */
/* What is not covered, the factors of NIST SP 800-226, how to check. */
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/report.h"
#include "certificate/statement.h"

static void add_not_covered(assay_text *out)
{
    json_t *list = assay_statement_not_covered();
    assay_text_add(out, "<h2 id=\"not-covered\">What is not covered</h2>\n"
                        "<ul class=\"list\">\n");
    for (size_t i = 0; i < json_array_size(list); i++) {
        assay_text_add(out, "<li>");
        assay_text_html(out, json_string_value(json_array_get(list, i)));
        assay_text_add(out, "</li>\n");
    }
    assay_text_add(out, "</ul>\n");
    json_decref(list);
}

static void question(assay_text *out, const char *text)
{
    assay_text_printf(out, "<dt>%s</dt>\n<dd>", text);
}

static void end(assay_text *out)
{
    assay_text_add(out, "</dd>\n");
}

static const char *relation_words(const char *relation)
{
    return relation != NULL && strcmp(relation, "replace-one") == 0
               ? "two datasets of the same size that differ in one unit "
                 "(bounded differential privacy; the number of units is "
                 "public)"
               : "two datasets of which one has one unit more (unbounded "
                 "differential privacy)";
}

static const char *trust_words(const char *trust)
{
    if (strcmp(trust, "local") == 0) {
        return "Local: each person's data are protected before they leave "
               "her; the server is not trusted.";
    }
    if (strcmp(trust, "joint") == 0) {
        return "Joint: a curator sees the data of all; what each participant "
               "is told may depend on her own data, but what all others see "
               "is protected (billboard).";
    }
    return "Central: a trusted curator holds the raw data and runs the "
           "release; everybody who sees the published results is a potential "
           "attacker.";
}

static void strength(assay_text *out, const assay_report_input *in)
{
    const json_t *g = json_object_get(in->derived, "guarantee");
    question(out, "How strong is the guarantee?");
    if (g == NULL || json_array_size(in->failures) > 0) {
        assay_text_add(out, "No guarantee is certified; see the first box.");
    } else {
        assay_text_printf(
            out,
            "epsilon &le; %s at delta = %s, for everything in the ledger "
            "together. Below about 1 is strong, up to about 5 is common in "
            "practice, above 10 is weak; the table above says what it means "
            "for a person.",
            assay_json_text(g, "epsilonDecimal"),
            assay_json_text(g, "deltaDecimal"));
    }
    end(out);
}

static void top(assay_text *out, const assay_report_input *in)
{
    const assay_manifest *m = in->manifest;
    const assay_yaml *privacy = assay_yaml_get(&m->tree, "privacy");
    strength(out, in);
    question(out, "What is the unit of privacy?");
    assay_text_add(out, "One ");
    assay_text_html(out, assay_yaml_text(privacy, "unit"));
    assay_text_add(out, ". ");
    assay_text_html(out, assay_yaml_text(m->data, "about"));
    end(out);
    question(out, "Which datasets count as neighbours?");
    assay_text_printf(out, "%s: %s.", assay_yaml_text(privacy, "neighbours"),
                      relation_words(assay_yaml_text(privacy, "neighbours")));
    end(out);
    question(out, "Which notion of privacy, and how was it accounted for?");
    assay_text_add(out, "(epsilon, delta)-differential privacy, by exact "
                        "composition of the ledger's rows (see Derivation), "
                        "also if later releases were chosen after looking at "
                        "earlier ones.");
    end(out);
    question(out, "Who is trusted?");
    assay_text_add(out, trust_words(m->trust));
    end(out);
}

static void middle(assay_text *out, const assay_report_input *in)
{
    question(out, "Are the algorithms and their implementation correct?");
    assay_text_add(
        out, "The privacy theorems and the laws of the samplers are in Coq; "
             "the C code of the samplers is proved against them; see the "
             "proof table for what is machine-checked and what is proved on "
             "paper. The noise is drawn exactly on integers from the system's "
             "cryptographic generator: no floating-point noise, no seed. The "
             "code that ran was attacked (see the audit).");
    end(out);
    question(out, "How are contributions bounded?");
    assay_text_add(
        out, in->manifest->learner != NULL
                 ? "One person contributes one trajectory of the public "
                   "horizon; files in which somebody has more or fewer steps "
                   "are refused. Statistics are integer counts, so their "
                   "sensitivity is a fact about integers."
                 : "One person contributes one row, and a row is in one cell "
                   "of each table; statistics are integer counts.");
    end(out);
    question(out, "What about utility?");
    assay_text_add(out, "A certificate does not speak about accuracy. The "
                        "noise is public (see the ledger), so error bars can "
                        "be computed from it.");
    end(out);
    question(out, "May bias be hidden or made worse?");
    assay_text_add(out, "Noise weighs more on small groups: a count of few "
                        "people is mostly noise, and a policy is least "
                        "reliable for states that few people were in. "
                        "Systematic bias of the data is not changed by "
                        "privacy.");
    end(out);
}

static void bottom(assay_text *out)
{
    question(out, "Which side channels are there?");
    assay_text_add(out, "Running time and memory use are not protected beyond "
                        "what is easy to avoid: no error message and no "
                        "control flow before a release depends on the data, "
                        "but a shared machine may leak. Publish results, not "
                        "running times.");
    end(out);
    question(out, "How are security and access controlled?");
    assay_text_add(out, "Not by this tool. Whoever reads the raw data, the "
                        "memory of the process or the signing key is outside "
                        "of the guarantee. The ledger is a chain of hashes: "
                        "a change or a removed charge shows.");
    end(out);
    question(out, "How exposed were the data when they were collected?");
    assay_text_add(out, "Unknown to this certificate; the manifest states the "
                        "source.");
    end(out);
    question(out, "Was anything chosen by looking at the data?");
    assay_text_add(out, "All parameters are in the manifest, whose digest was "
                        "written into the ledger before the first release. "
                        "Choices made before that, by looking at the same "
                        "data, are not accounted for.");
    end(out);
    question(out, "What happens with further releases?");
    assay_text_add(out, "They add up. Charge them to the same ledger "
                        "(<code>assay certify --ledger</code>); when the "
                        "budget is spent the ledger refuses.");
    end(out);
}

static void add_check(assay_text *out, const assay_report_input *in)
{
    int passed = json_array_size(in->failures) == 0;
    assay_text_add(out, "<h2 id=\"check\">How to check this</h2>\n");
    if (!passed) {
        assay_text_add(out, "<p>There is no certificate to check. Repair what "
                            "the first box names, and run <code>assay "
                            "certify</code> again in a new folder.</p>\n");
        return;
    }
    assay_text_add(
        out,
        "<p>The certificate is an in-toto statement in a DSSE envelope. With "
        "the folder and the signer's public key at hand:</p>\n<pre>assay "
        "verify certificate.dsse.json --key SIGNER.pub\nassay verify "
        "certificate.dsse.json --key SIGNER.pub --coq --source "
        "ASSAY-SOURCES</pre>\n<p>The first checks the signature, the digests "
        "of the outputs and the chain of the ledger, and derives every number "
        "again with a second implementation. The second writes the guarantee "
        "as a theorem (<code>guarantee.v</code>) and has Coq prove it. "
        "Certified files:</p>\n<div class=\"wide\"><table><thead><tr><th>"
        "file</th><th>SHA-256</th></tr></thead><tbody>\n");
    const json_t *list = json_object_get(in->statement, "subject");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        assay_text_add(out, "<tr><td>");
        assay_text_html(out, assay_json_text(one, "name"));
        assay_text_add(out, "</td><td class=\"sha\"><code>");
        assay_text_html(out,
                        json_string_value(assay_json_at(one, "digest/sha256")));
        assay_text_add(out, "</code></td></tr>\n");
    }
    assay_text_add(out, "</tbody></table></div>\n");
}

void assay_report_questions(assay_text *out, const assay_report_input *in)
{
    add_not_covered(out);
    assay_text_add(out, "<h2 id=\"nist\">The questions of NIST SP 800-226"
                        "</h2>\n<p class=\"note\">From the top of its pyramid "
                        "to the ground. Guidelines for Evaluating "
                        "Differential Privacy Guarantees, 2025.</p>\n<dl>\n");
    top(out, in);
    middle(out, in);
    bottom(out);
    assay_text_add(out, "</dl>\n");
    add_check(out, in);
}
