/* ring: glue */
#include "certificate/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/recheck.h"

static const json_t *guarantee_of(const assay_report_input *in)
{
    return json_object_get(in->derived, "guarantee");
}

static void tile(assay_text *out, int number, const char *value,
                 const char *label)
{
    assay_text_printf(out, "<div class=\"tile\"><div class=\"%s\">",
                      number ? "n" : "t");
    assay_text_html(out, value);
    assay_text_add(out, "</div><div class=\"l\">");
    assay_text_html(out, label);
    assay_text_add(out, "</div></div>\n");
}

/* A small decimal as a power of ten: 0.00001 is 10^-5. */
static void add_power(assay_text *out, const char *decimal)
{
    const char *digits = decimal + 2;
    size_t zeros = strncmp(decimal, "0.", 2) == 0 ? strspn(digits, "0") : 0;
    if (zeros < 3) {
        assay_text_html(out, decimal);
        return;
    }
    digits += zeros;
    if (strcmp(digits, "1") != 0) {
        assay_text_printf(out, "%.1s%s%s&thinsp;&middot;&thinsp;", digits,
                          digits[1] != '\0' ? "." : "", digits + 1);
    }
    assay_text_printf(out, "10<sup>&minus;%zu</sup>", zeros + 1);
}

static void add_tiles(assay_text *out, const json_t *g)
{
    const char *relation = assay_json_text(g, "neighbours");
    const char *trust = assay_json_text(g, "trust");
    const char *rho = assay_json_text(g, "rho");
    assay_text_add(out, "<div class=\"tiles\">\n");
    tile(out, 1, assay_json_text(g, "epsilonDecimal"), "epsilon, at most");
    assay_text_add(out, "<div class=\"tile\"><div class=\"n\">");
    add_power(out, assay_json_text(g, "deltaDecimal"));
    assay_text_add(out, "</div><div class=\"l\">delta</div></div>\n");
    if (rho != NULL) {
        tile(out, 1, rho, "rho (zCDP), exact");
    }
    tile(out, 0, assay_json_text(g, "unit"), "unit of privacy");
    tile(out, 0, relation, "neighbours");
    tile(out, 0, trust, "trust model");
    assay_text_add(out, "</div>\n");
}

static void add_failures(assay_text *out, const json_t *failures)
{
    assay_text_add(out, "<div class=\"verdict bad\"><b class=\"word\">REFUSED"
                        "</b> \xe2\x80\x94 no certificate was issued.<ul>");
    for (size_t i = 0; i < json_array_size(failures); i++) {
        assay_text_add(out, "<li>");
        assay_text_html(out, json_string_value(json_array_get(failures, i)));
        assay_text_add(out, "</li>");
    }
    assay_text_add(out, "</ul></div>\n");
}

void assay_report_verdict(assay_text *out, const assay_report_input *in)
{
    const json_t *g = guarantee_of(in);
    const assay_yaml *tree = &in->manifest->tree;
    assay_text_add(out, "<p class=\"kicker\">Assay \xc2\xb7 privacy "
                        "certificate</p>\n<h1>");
    assay_text_html(out, assay_yaml_text(tree, "name"));
    assay_text_add(out, "</h1>\n<p class=\"purpose\">");
    assay_text_html(out, assay_yaml_text(tree, "purpose"));
    assay_text_add(out, "</p>\n");
    if (json_array_size(in->failures) > 0) {
        add_failures(out, in->failures);
    } else {
        assay_text_add(out, "<div class=\"verdict\"><b class=\"word\">"
                            "CERTIFIED</b><p class=\"sentence\">");
        assay_text_html(out, assay_json_text(g, "sentence"));
        assay_text_add(out, "</p></div>\n");
    }
    if (g != NULL) {
        if (json_array_size(in->failures) > 0) {
            assay_text_add(out, "<p class=\"note\">What the ledger amounts "
                                "to, were everything it says true:</p>\n");
        }
        add_tiles(out, g);
    }
}

/* ---- what epsilon means ---- */

static double number(const char *text)
{
    mpq_t q;
    mpq_init(q);
    double x = assay_recheck_decimal(q, text) ? mpq_get_d(q) : NAN;
    mpq_clear(q);
    return x;
}

/* A percentage that is never printed too small. */
static void percent(assay_text *out, double p)
{
    double up = ceil(p * 1e5 - 1e-9) / 1e3;
    assay_text_printf(out,
                      up >= 99.995 ? "above 99.99&thinsp;%%"
                      : up < 10    ? "%.3g&thinsp;%%"
                                   : "%.4g&thinsp;%%",
                      up);
}

static void odds_rows(assay_text *out, double epsilon)
{
    static const double priors[] = {0.001, 0.01, 0.1, 0.5, 0.9};
    for (size_t i = 0; i < sizeof priors / sizeof priors[0]; i++) {
        double p = priors[i];
        double grown = p / (p + (1 - p) * exp(-epsilon));
        double shrunk = p / (p + (1 - p) * exp(epsilon));
        assay_text_printf(out,
                          "<tr><td class=\"num\">%g&thinsp;%%</td>"
                          "<td class=\"num\">",
                          100 * p);
        percent(out, shrunk);
        assay_text_add(out, "</td><td class=\"num\">");
        percent(out, grown);
        assay_text_add(out, "</td></tr>\n");
    }
}

/* A claim that rests on somebody's word, or that was refuted, means nothing. */
static int is_void(const assay_report_input *in)
{
    const json_t *results = json_object_get(in->audit, "results");
    const json_t *g = guarantee_of(in);
    if (g == NULL || json_is_true(json_object_get(g, "assumed"))) {
        return 1;
    }
    for (size_t i = 0; i < json_array_size(results); i++) {
        if (json_is_true(
                json_object_get(json_array_get(results, i), "refuted"))) {
            return 1;
        }
    }
    return 0;
}

void assay_report_meaning(assay_text *out, const assay_report_input *in)
{
    const json_t *g = guarantee_of(in);
    if (is_void(in)) {
        return;
    }
    double epsilon = number(assay_json_text(g, "epsilon"));
    int pure = strcmp(assay_json_text(g, "delta"), "0") == 0;
    assay_text_add(
        out, "<h2 id=\"meaning\">What this epsilon means</h2>\n<p>A curious "
             "neighbour suspects something about one person and knows "
             "everything else. After reading the published results the "
             "neighbour's belief can have moved at most this far:</p>\n"
             "<div class=\"wide\"><table><thead><tr>"
             "<th class=\"num\">suspected before</th><th class=\"num\">"
             "afterwards, at least</th><th class=\"num\">afterwards, at "
             "most</th></tr></thead><tbody>\n");
    odds_rows(out, epsilon);
    assay_text_add(out, "</tbody></table></div>\n<p class=\"note\">");
    if (!pure) {
        assay_text_printf(out, "Except with a probability of about %s. ",
                          assay_json_text(g, "deltaDecimal"));
    }
    assay_text_add(out,
                   "This is the worst case over all persons, all data and all "
                   "attackers; what the results say about everybody is not "
                   "limited by it.</p>\n<h3>Privacy profile</h3>\n<figure>");
    assay_plot_profile(out, json_object_get(in->derived, "profile"), g);
    assay_text_add(out, "<figcaption>The same ledger at other pairs: for each "
                        "epsilon an upper bound on delta. Smaller is more "
                        "private.</figcaption></figure>\n");
}

/* ---- the page ---- */

static void add_footer(assay_text *out, const assay_report_input *in)
{
    const json_t *rows = json_object_get(in->ledger, "rows");
    const json_t *last = json_array_get(rows, json_array_size(rows) - 1);
    const char *head = assay_json_text(in->ledger, "head");
    const char *time = assay_json_text(last, "time");
    assay_text_printf(out,
                      "<footer>Assay %s \xc2\xb7 last charge %s<br>ledger "
                      "<code>%s</code><br>manifest <code>%s</code></footer>\n",
                      ASSAY_VERSION, time != NULL ? time : "none",
                      head != NULL ? head : "none", in->manifest->digest);
}

assay_status assay_report_html(char **out, const assay_report_input *input,
                               assay_error *err)
{
    assay_text text = ASSAY_TEXT_INIT;
    assay_text_add(&text, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
                          "charset=\"utf-8\">\n<meta name=\"viewport\" "
                          "content=\"width=device-width,initial-scale=1\">\n"
                          "<title>");
    assay_text_html(&text, assay_yaml_text(&input->manifest->tree, "name"));
    assay_text_add(&text, " \xc2\xb7 privacy certificate</title>\n<style>\n");
    assay_text_add(&text, assay_report_style);
    assay_text_add(&text, "</style></head>\n<body><main>\n");
    assay_report_verdict(&text, input);
    assay_report_meaning(&text, input);
    assay_report_evidence(&text, input);
    assay_report_questions(&text, input);
    add_footer(&text, input);
    assay_text_add(&text, "</main></body></html>\n");
    if (text.failed) {
        assay_text_clear(&text);
        return assay_fail(err, ASSAY_MEMORY, "no memory for the report");
    }
    *out = text.bytes;
    return ASSAY_OK;
}
