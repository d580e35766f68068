/* ring: glue */
/**
 * The report: one self-contained HTML file for the person who decides.
 *
 * No script, no network, no font from elsewhere; plots are inline SVG drawn by
 * gnuplot (a note stands in where gnuplot is missing). It reads on a phone and
 * prints on A4.
 */
#ifndef ASSAY_CERTIFICATE_REPORT_H
#define ASSAY_CERTIFICATE_REPORT_H

#include <jansson.h>

#include "certificate/manifest.h"
#include "certificate/text.h"

/** What there is to report; all but manifest and failures may be NULL. */
typedef struct assay_report_input {
    const assay_manifest *manifest;
    const json_t *statement;
    const json_t *derived;
    const json_t *ledger;
    const json_t *proofs;
    const json_t *audit;
    const json_t *outputs;
    const json_t *failures; /* empty: it passed */
} assay_report_input;

assay_status assay_report_html(char **out, const assay_report_input *input,
                               assay_error *err) ASSAY_MUST_CHECK;

/** Sections, private to the room. */
void assay_report_verdict(assay_text *out, const assay_report_input *in);
void assay_report_meaning(assay_text *out, const assay_report_input *in);
void assay_report_evidence(assay_text *out, const assay_report_input *in);
void assay_report_questions(assay_text *out, const assay_report_input *in);

/** Inline SVG of delta(epsilon), and of claims against what was proved. */
void assay_plot_profile(assay_text *out, const json_t *profile,
                        const json_t *guarantee);
void assay_plot_audit(assay_text *out, const json_t *audit);

extern const char assay_report_style[];

#endif
