/* ring: glue */
/* Results as JSON (audit.h). */
#include <math.h>

#include "audit/audit.h"

/* Six digits, rounded down: a bound is never printed larger than it is. */
static json_t *bound_json(double x)
{
    if (!isfinite(x)) {
        return json_null();
    }
    double unit = pow(10, floor(log10(fmax(x, 1e-6))) - 5);
    double down = floor(x / unit) * unit;
    return json_real(down > x || down < 0 ? x : down);
}

static json_t *counts_json(const assay_audit_result *r)
{
    const assay_audit_counts *c = &r->counts;
    uint64_t left = r->swapped ? c->k2 : c->k1;
    uint64_t right = r->swapped ? c->k1 : c->k2;
    return json_pack("{s:I, s:I, s:I, s:I}", "left", (json_int_t)left, "right",
                     (json_int_t)right, "left_runs", (json_int_t)c->n1,
                     "right_runs", (json_int_t)c->n2);
}

static json_t *finite_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *assay_audit_json(const assay_audit_result *r)
{
    static const char *const names[] = {"epsilon", "rho", "mu"};
    char claim[64];
    assay_claim_text(claim, sizeof claim, &r->claim);
    return json_pack(
        "{s:o, s:f, s:f, s:b, s:o, s:I, s:s, s:o, s:s, s:f,"
        " s:s, s:s, s:o, s:f, s:I, s:i, s:i, s:s, s:s}",
        "epsilon_lower", bound_json(r->epsilon_lower), "delta", r->delta,
        "confidence", r->confidence, "refuted", r->refuted, "detection_limit",
        finite_or_null(r->detection_limit), "samples", (json_int_t)r->samples,
        "event", r->event, "counts", counts_json(r), "attacker", r->attacker,
        "seconds", r->seconds, "claim", claim, "parameter",
        names[r->claim.kind], "lower", bound_json(r->lower), "detection_mass",
        r->detection_mass, "certified", (json_int_t)r->certified, "events",
        r->num_events, "stages", r->stages, "likelier",
        r->swapped ? "right" : "left", "example", r->example);
}
