/* ring: glue */
/* Inline SVG by gnuplot. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/canonical.h"
#include "certificate/process.h"
#include "certificate/recheck.h"
#include "certificate/report.h"

static double value_of(const char *text)
{
    mpq_t q;
    mpq_init(q);
    double x = assay_recheck_decimal(q, text) ? mpq_get_d(q) : NAN;
    mpq_clear(q);
    return x;
}

/* The <svg> element of gnuplot's output, or a note. */
static void add_svg(assay_text *out, const char *commands, const char *name,
                    size_t height)
{
    char gnuplot[] = "gnuplot";
    char *argv[] = {gnuplot, NULL};
    char *svg = NULL;
    int code = 127;
    if (assay_process_run(&svg, &code, argv, commands, NULL) == ASSAY_OK &&
        code == 0) {
        const char *start = strstr(svg, "<svg");
        const char *body = start != NULL ? strchr(start, '>') : NULL;
        if (body != NULL) {
            assay_text_printf(out,
                              "<svg viewBox=\"0 0 720 %zu\" role=\"img\" "
                              "aria-label=\"%s\" "
                              "xmlns=\"http://www.w3.org/2000/svg\" "
                              "xmlns:xlink=\"http://www.w3.org/1999/xlink\">",
                              height, name);
            assay_text_add(out, body + 1);
            free(svg);
            return;
        }
    }
    free(svg);
    assay_text_add(out, "<p class=\"note\">(no plot: gnuplot is not "
                        "installed)</p>");
}

static const char head[] =
    "set terminal svg size 720,%d dynamic enhanced font 'sans,14' "
    "name '%s'\n"
    "set border 3 lc rgb '#5b6675'\nset tics nomirror tc rgb '#1c2430'\n"
    "set grid lc rgb '#e3e7ed' lt 1\n";

void assay_plot_profile(assay_text *out, const json_t *profile,
                        const json_t *guarantee)
{
    assay_text script = ASSAY_TEXT_INIT;
    double epsilon = value_of(assay_json_text(guarantee, "epsilon"));
    double delta = value_of(assay_json_text(guarantee, "delta"));
    int pure = !(delta > 0);
    double low = 1e-12;
    assay_text_printf(&script, head, 360, "profile");
    assay_text_printf(&script,
                      "set xlabel 'epsilon'\nset ylabel 'delta' offset 1\n"
                      "set logscale y\nset format y '10^{%%T}'\n"
                      "set yrange [%g:1]\nset xrange [0:%.6g]\nset key off\n",
                      low, 2 * epsilon);
    assay_text_printf(&script,
                      "set label 1 'epsilon %s, delta %s' at "
                      "%.9g,%.9g left offset 1,1 tc rgb '#0b4f8a'\n",
                      assay_json_text(guarantee, "epsilonDecimal"),
                      assay_json_text(guarantee, "deltaDecimal"), epsilon,
                      pure ? low : delta);
    if (pure) {
        assay_text_printf(&script,
                          "set arrow 1 from %.9g,%g to %.9g,1 nohead lw 2 lc "
                          "rgb '#0b4f8a' dt 2\n",
                          epsilon, low, epsilon);
    }
    assay_text_add(&script,
                   "plot '-' with lines lw 2.5 lc rgb '#0b4f8a', '-' with "
                   "points pt 7 ps 0.9 lc rgb '#0b4f8a'\n");
    for (size_t i = 0; i < json_array_size(profile); i++) {
        const json_t *p = json_array_get(profile, i);
        double y = value_of(assay_json_text(p, "delta"));
        assay_text_printf(&script, "%.9g %.9g\n",
                          value_of(assay_json_text(p, "epsilon")),
                          fmax(y, 1e-300));
    }
    assay_text_printf(&script, "e\n%.9g %.9g\ne\n", epsilon,
                      pure ? low : delta);
    if (!script.failed) {
        add_svg(out, script.bytes, "profile", 360);
    }
    assay_text_clear(&script);
}

/* One row per attack: found, claimed, detection limit, as parts of the claim.
 */
void assay_plot_audit(assay_text *out, const json_t *audit)
{
    assay_text script = ASSAY_TEXT_INIT;
    const json_t *results = json_object_get(audit, "results");
    size_t n = json_array_size(results);
    double right = 1.6;
    size_t height = 170 + 50 * (n < 12 ? n : 12);
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(results, i);
        double claim = value_of(assay_json_text(r, "value"));
        double lower = strtod(assay_json_text(r, "lower"), NULL) / claim;
        double limit =
            strtod(assay_json_text(r, "detectionLimit"), NULL) / claim;
        right = isfinite(lower) && lower > right ? lower * 1.1 : right;
        right =
            isfinite(limit) && limit < 4 && limit > right ? limit * 1.1 : right;
    }
    assay_text_printf(&script, head, (int)height, "audit");
    assay_text_printf(&script,
                      "set xrange [0:%.6g]\nset yrange [0.3:%.1f]\n"
                      "set xlabel 'in units of the claim'\n"
                      "set key above horizontal left samplen 1.5 width 2\n"
                      "set border 1\nset lmargin 22\nset ytics scale 0\n"
                      "set grid noytics\n"
                      "set arrow 9 from 1,0.3 to 1,%.1f nohead lw 2.5 lc rgb "
                      "'#a31621'\n"
                      "set label 9 'claim' at 1,%.2f left offset 0.6,0 tc rgb "
                      "'#a31621'\nset ytics (",
                      right, (double)n + 0.9, (double)n + 0.9,
                      (double)n + 0.72);
    for (size_t i = 0; i < n; i++) {
        const json_t *r = json_array_get(results, i);
        assay_text_printf(
            &script, "%s'row %lld, %s' %zu", i > 0 ? "," : "",
            (long long)json_integer_value(json_object_get(r, "row")),
            assay_json_text(r, "claim"), n - i);
    }
    assay_text_add(&script,
                   ")\nset style fill solid 0.85 noborder\n"
                   "plot '-' using (0):1:(0):2:($1-0.18):($1+0.18) with "
                   "boxxyerror lc rgb '#0b4f8a' title 'proved by the "
                   "attacker', '-' using 2:1 with points pt 9 ps 1.1 lc rgb "
                   "'#5b6675' title 'smallest violation it would have "
                   "found'\n");
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            const json_t *r = json_array_get(results, i);
            double claim = value_of(assay_json_text(r, "value"));
            const char *key = pass == 0 ? "lower" : "detectionLimit";
            double x = strtod(assay_json_text(r, key), NULL) / claim;
            if (isfinite(x)) {
                assay_text_printf(&script, "%zu %.6g\n", n - i, x);
            }
        }
        assay_text_add(&script, "e\n");
    }
    if (!script.failed) {
        add_svg(out, script.bytes, "audit", height);
    }
    assay_text_clear(&script);
}
