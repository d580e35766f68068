/* ring: glue */
#include "audit/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/crew.h"
#include "audit/ranks.h"
#include "audit/work.h"

static double down(double x, int digits)
{
    double unit = pow(10, -digits);
    return isfinite(x) ? floor(x / unit) * unit : x;
}

static const char *parameter(const assay_claim *c)
{
    static const char *const names[] = {"epsilon", "rho", "mu"};
    return names[c->kind];
}

static void print_verdict(FILE *to, const assay_audit_result *r)
{
    char claim[64];
    assay_claim_text(claim, sizeof claim, &r->claim);
    if (r->refuted) {
        (void)fprintf(to, "REFUTED: %s is false with confidence %g.\n", claim,
                      r->confidence);
    } else {
        (void)fprintf(to, "Not refuted: %s. This is no proof: ", claim);
        if (isfinite(r->detection_limit)) {
            (void)fprintf(to,
                          "this run would have found\n  an event of %s %.4g or "
                          "more (95 %% of the time, at mass %.2g), not less,\n"
                          "  and nothing rarer than about %.1g.\n",
                          parameter(&r->claim), r->detection_limit,
                          r->detection_mass,
                          -log(1 - r->confidence) / (double)r->certified);
        } else {
            (void)fputs("this run is too small to find any violation.\n", to);
        }
    }
}

void assay_report_result(FILE *to, const assay_audit_result *r,
                         const char *left, const char *right, const char *notes)
{
    const assay_audit_counts *c = &r->counts;
    unsigned long long a = r->swapped ? c->k2 : c->k1;
    unsigned long long b = r->swapped ? c->k1 : c->k2;
    print_verdict(to, r);
    (void)fprintf(to, "  %s >= %.5f (confidence %g", parameter(&r->claim),
                  down(r->lower, 5), r->confidence);
    if (r->claim.delta > 0) {
        (void)fprintf(to, ", delta %g", r->claim.delta);
    }
    (void)fprintf(to, ", %d events corrected for)\n", r->num_events);
    (void)fprintf(to, "  event    %s\n", r->event);
    if (r->example[0] != '\0') {
        (void)fprintf(to, "  such as  %.200s\n", r->example);
    }
    (void)fprintf(to, "  left     %-24s %llu of %llu runs\n",
                  left == NULL ? "" : left, a, (unsigned long long)c->n1);
    (void)fprintf(to, "  right    %-24s %llu of %llu runs\n",
                  right == NULL ? "" : right, b, (unsigned long long)c->n2);
    (void)fprintf(to, "  attacker %s; %llu runs of each input, %.1f s\n",
                  r->attacker, (unsigned long long)r->samples, r->seconds);
    if (notes != NULL && notes[0] != '\0') {
        (void)fprintf(to, "Notes:\n%s", notes);
    }
}

json_t *assay_report_notes(const char *notes)
{
    json_t *list = json_array();
    while (notes != NULL && *notes != '\0') {
        size_t len = strcspn(notes, "\n");
        (void)json_array_append_new(list, json_stringn(notes, len));
        notes += len + (notes[len] == '\n');
    }
    return list;
}

/* ---- catalogue ---------------------------------------------------------- */

#define GOAL 0.95

typedef struct tally {
    int total, refuted, missed, by_chance, wrong;
    double worst_ratio;
    const char *worst_name;
    int below;       /* on average, or found but for noise, below the floor */
    char weak[2000]; /* expected below the floor, or the goal without one */
} tally;

static void print_head(FILE *to)
{
    (void)fprintf(
        to, "%-27s %-20s %8s %9s %9s %9s %6s %9s %9s %5s %9s %6s  %s\n",
        "specimen", "claim", "truth", "found", "oracle", "of oracle", "noise",
        "expected", "best pair", "conf", "runs", "s", "verdict");
}

static void number(char *out, size_t len, double x)
{
    if (isnan(x)) {
        (void)snprintf(out, len, "-");
    } else if (isinf(x)) {
        (void)snprintf(out, len, "inf");
    } else {
        (void)snprintf(out, len, "%.4f", x);
    }
}

/* `found` as a share of an oracle bound; "-" without one. */
static void share_text(char *out, size_t len, double found, double oracle)
{
    (void)snprintf(out, len, "-");
    if (oracle > 0) {
        (void)snprintf(out, len, "%.1f%%", 100 * found / oracle);
    }
}

static void print_row(FILE *to, const assay_catalogue_row *row,
                      const char *verdict)
{
    char claim[64], truth[32], oracle[32], share[32], noise[32], best[32];
    char expected[32];
    const assay_audit_result *r = &row->result;
    assay_claim_text(claim, sizeof claim, &row->specimen->claim);
    number(truth, sizeof truth, row->specimen->truth);
    number(oracle, sizeof oracle, row->oracle.bound);
    share_text(share, sizeof share, r->lower, row->oracle.bound);
    share_text(noise, sizeof noise, row->oracle.noise, row->oracle.bound);
    share_text(expected, sizeof expected, row->hindsight.bound,
               row->oracle.bound);
    share_text(best, sizeof best, r->lower, row->best.bound);
    (void)fprintf(
        to, "%-27s %-20s %8s %9.5f %9s %9s %6s %9s %9s %5.4g %9llu %6.1f  %s\n",
        row->specimen->name, claim, truth, down(r->lower, 5), oracle, share,
        noise, expected, best, r->confidence, (unsigned long long)r->samples,
        row->seconds, verdict);
    (void)fflush(to);
}

/* A refuted true claim: chance, or a fault? Two more audits at a confidence
 * corrected for the whole catalogue decide. */
static assay_status confirm(int *again, const assay_specimen *s,
                            const assay_report_options *o, assay_error *err)
{
    assay_catalogue_row row;
    assay_status status = ASSAY_OK;
    double strict = 1 - (1 - o->confidence) / 100;
    *again = 0;
    for (uint64_t k = 1; status == ASSAY_OK && k <= 2; k++) {
        status = assay_catalogue_audit(&row, s, o->samples, strict,
                                       o->seed + 1000 * k, 0, NULL, err);
        *again += status == ASSAY_OK && row.result.refuted;
    }
    return status;
}

/* Choices that certify less than the floor: chance, or a weak attacker? Audits
 * with other seeds decide by their mean, like confirm() above. */
#define MORE_SHARES 3
static assay_status share_again(assay_crew_row *out, const assay_specimen *s,
                                const assay_catalogue_options *c, double floor)
{
    const assay_catalogue_row *row = &out->row;
    assay_status status = ASSAY_OK;
    out->shares = row->oracle.bound > 0;
    out->mean_share = row->hindsight.bound / row->oracle.bound;
    if (out->shares == 0 || out->mean_share >= floor) {
        return ASSAY_OK;
    }
    double sum = out->mean_share;
    for (uint64_t k = 1; status == ASSAY_OK && k <= MORE_SHARES; k++) {
        assay_catalogue_row other;
        assay_catalogue_options o = *c;
        o.seed += 2000 * k;
        o.checkpoint = NULL;
        status = assay_catalogue_run(&other, s, &o, &out->err);
        sum +=
            status == ASSAY_OK ? other.hindsight.bound / other.oracle.bound : 0;
        out->shares++;
    }
    out->mean_share = sum / out->shares;
    return status;
}

/* Compare with the oracle: the table's power check. What was found is one
 * draw and may be unlucky; what its events certify on average may not. */
static void note_power(tally *t, const assay_crew_row *done, double floor)
{
    const assay_catalogue_row *row = &done->row;
    double oracle = row->oracle.bound, found = row->result.lower;
    if (done->shares == 0) {
        return;
    }
    double noise = isfinite(row->oracle.noise) ? row->oracle.noise : 0;
    if (done->mean_share < t->worst_ratio) {
        t->worst_ratio = done->mean_share;
        t->worst_name = row->specimen->name;
    }
    t->below += done->mean_share < floor || found < floor * oracle - 3 * noise;
    if (row->hindsight.bound < (floor > 0 ? floor : GOAL) * oracle) {
        size_t used = strlen(t->weak);
        char mean[48] = "";
        if (done->shares > 1) {
            (void)snprintf(mean, sizeof mean, " (mean of %d audits %.1f %%)",
                           done->shares, 100 * done->mean_share);
        }
        (void)snprintf(t->weak + used, sizeof t->weak - used, "%s%s %.1f %%%s",
                       used == 0 ? "" : ", ", row->specimen->name,
                       100 * row->hindsight.bound / oracle, mean);
    }
}

/* What draws from the system's randomness would differ on every rank: rank 0
 * audits it as if there were no other. Returns the number of ranks. */
static int alone(const assay_specimen *s)
{
    int size = assay_ranks_here.size;
    if (s->fresh) {
        assay_ranks_here.size = 1;
    }
    return size;
}

typedef struct report {
    FILE *to;
    json_t *list;
    tally t;
    const assay_report_options *o;
    const assay_specimen **specimen;
    size_t num;
    int threads; /* of one audit */
} report;

static void audit_one(assay_crew_row *out, void *ctx)
{
    const report *r = ctx;
    const assay_report_options *o = r->o;
    const assay_specimen *s = r->specimen[out->index];
    char file[1024];
    assay_catalogue_options c = {.samples = o->samples,
                                 .confidence = o->confidence,
                                 .seed = o->seed,
                                 .with_oracle = o->oracle,
                                 .threads = r->threads,
                                 .label = r->threads == 1 ? NULL : s->name};
    if (o->checkpoint != NULL && !s->fresh) {
        (void)snprintf(file, sizeof file, "%s.%s", o->checkpoint, s->name);
        c.checkpoint = file;
    }
    int size = alone(s);
    out->status = assay_catalogue_run(&out->row, s, &c, &out->err);
    if (out->status == ASSAY_OK && out->row.result.refuted && !s->violates) {
        out->status = confirm(&out->again, s, o, &out->err);
    }
    if (out->status == ASSAY_OK) {
        out->status = share_again(out, s, &c, o->floor);
    }
    assay_ranks_here.size = size;
}

static assay_status note_one(const assay_crew_row *done, void *ctx,
                             assay_error *err)
{
    report *r = ctx;
    const assay_catalogue_row *row = &done->row;
    const assay_specimen *s = row->specimen;
    tally *t = &r->t;
    const char *verdict = assay_catalogue_verdict(row);
    (void)err;
    if (row->result.refuted && !s->violates) {
        verdict = done->again > 0 ? "WRONG: refuted"
                                  : "refuted by chance, not confirmed";
        t->wrong += done->again > 0;
        t->by_chance += done->again == 0;
    }
    t->total++;
    t->refuted += row->result.refuted && s->violates;
    t->missed += !row->result.refuted && s->violates;
    note_power(t, done, r->o->floor);
    if (r->list != NULL) {
        json_t *j = assay_catalogue_json(row);
        (void)json_object_set_new(j, "mean_share",
                                  done->shares > 0 ? json_real(done->mean_share)
                                                   : json_null());
        (void)json_object_set_new(j, "shares", json_integer(done->shares));
        (void)json_object_set_new(j, "verdict", json_string(verdict));
        (void)json_array_append_new(r->list, j);
    } else {
        print_row(r->to, row, verdict);
    }
    return ASSAY_OK;
}

static void print_tally(FILE *to, const tally *t, double floor)
{
    (void)fprintf(to,
                  "%d specimens: %d false claims refuted, %d missed, %d true "
                  "claims refuted by chance, %d wrongly.\n",
                  t->total, t->refuted, t->missed, t->by_chance, t->wrong);
    if (t->worst_name != NULL) {
        (void)fprintf(to,
                      "Smallest expected share of the oracle bound: %.1f %% "
                      "(%s).\n",
                      100 * t->worst_ratio, t->worst_name);
    }
    if (t->weak[0] != '\0') {
        (void)fprintf(to, "Expected below %g %%: %s.\n",
                      100 * (floor > 0 ? floor : GOAL), t->weak);
    }
}

/* By name if there is such a specimen, else by part of the name. */
static int wanted(const assay_specimen *s, const char *only)
{
    if (s->fresh && assay_ranks_here.rank > 0) {
        return 0;
    }
    if (only == NULL) {
        return 1;
    }
    return assay_specimen_find(only) == NULL ? strstr(s->name, only) != NULL
                                             : strcmp(s->name, only) == 0;
}

static assay_status list_wanted(report *r, const char *only, assay_error *err)
{
    size_t most = 0;
    for (size_t g = 0; assay_specimen_groups[g] != NULL; g++) {
        for (size_t k = 0; assay_specimen_groups[g][k].name != NULL; k++) {
            most++;
        }
    }
    r->specimen = calloc(most, sizeof(const assay_specimen *));
    if (r->specimen == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    for (size_t g = 0; assay_specimen_groups[g] != NULL; g++) {
        for (const assay_specimen *s = assay_specimen_groups[g];
             s->name != NULL; s++) {
            if (wanted(s, only)) {
                r->specimen[r->num++] = s;
            }
        }
    }
    return r->num > 0 ? ASSAY_OK
                      : assay_fail(err, ASSAY_INVALID,
                                   "no specimen has '%.40s' in its name", only);
}

static assay_status judge(const report *r, assay_error *err)
{
    if (r->t.wrong > 0) {
        return assay_fail(err, ASSAY_REFUTED,
                          "%d true claims were refuted and confirmed",
                          r->t.wrong);
    }
    if (r->t.below > 0) {
        return assay_fail(
            err, ASSAY_UNSUPPORTED,
            "bounds on average below %g of the oracle's, or found "
            "there beyond three standard deviations: %d",
            r->o->floor, r->t.below);
    }
    return ASSAY_OK;
}

/* One audit a core if there are several; ranks and single audits use
 * threads. */
static int num_hands(const report *r)
{
    int cores = assay_work_threads(0);
    return assay_ranks_here.size > 1 || (size_t)cores > r->num ? 1 : cores;
}

assay_status assay_report_catalogue(FILE *to,
                                    const assay_report_options *options,
                                    assay_error *err)
{
    report r = {.to = to, .o = options, .t = {.worst_ratio = 1e9}};
    assay_status status = list_wanted(&r, options->only, err);
    if (status == ASSAY_OK && options->json) {
        r.list = json_array();
    } else if (status == ASSAY_OK) {
        print_head(to);
    }
    if (status == ASSAY_OK) {
        int hands = num_hands(&r);
        r.threads = hands > 1 ? 1 : 0;
        (void)fflush(to);
        status = assay_crew_run(r.num, hands, "specimens", audit_one, note_one,
                                &r, err);
    }
    if (status == ASSAY_OK && r.list != NULL) {
        (void)json_dumpf(r.list, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
        (void)fputc('\n', to);
    } else if (status == ASSAY_OK) {
        print_tally(to, &r.t, options->floor);
    }
    json_decref(r.list);
    free(r.specimen);
    return status == ASSAY_OK ? judge(&r, err) : status;
}

/* ---- curve -------------------------------------------------------------- */

static assay_status draw_svg(const char *svg, const assay_specimen *s,
                             const char *data, assay_error *err)
{
    FILE *g = popen("gnuplot 2>/dev/null", "w");
    if (g == NULL) {
        return assay_fail(err, ASSAY_IO, "cannot run gnuplot");
    }
    (void)fprintf(g,
                  "set terminal svg size 720,420 font 'sans,12'\n"
                  "set output '%s'\nset logscale x\nset key bottom right\n"
                  "set xlabel 'runs of each input'\n"
                  "set ylabel 'lower bound'\nset title '%s'\nset grid\n"
                  "$d << E\n%sE\n"
                  "plot $d using 1:2 with linespoints lw 2 title 'certified', "
                  "%.9g with lines lw 2 dt 2 title 'claim', "
                  "$d using 1:3 with lines dt 3 title 'oracle'\n",
                  svg, s->name, data, s->claim.value);
    if (pclose(g) != 0) {
        return assay_fail(err, ASSAY_IO, "gnuplot failed to draw %.200s", svg);
    }
    return ASSAY_OK;
}

assay_status assay_report_curve(FILE *to, const assay_specimen *specimen,
                                uint64_t samples, double confidence,
                                uint64_t seed, const char *svg,
                                assay_error *err)
{
    char data[4096];
    size_t used = 0;
    assay_status status = ASSAY_OK;
    if (svg != NULL && strpbrk(svg, "'\n\\") != NULL) {
        return assay_fail(err, ASSAY_INVALID, "--svg: no quotes in the name");
    }
    (void)fprintf(to, "%12s %10s %10s\n", "runs", "bound", "oracle");
    data[0] = '\0';
    for (uint64_t n = 1000; status == ASSAY_OK && n <= samples; n *= 10) {
        for (uint64_t m = 1; m <= 3 && n * m <= samples; m += 2) {
            assay_catalogue_row row;
            status = assay_catalogue_audit(&row, specimen, n * m, confidence,
                                           seed, 1, NULL, err);
            if (status != ASSAY_OK) {
                break;
            }
            int wrote =
                snprintf(data + used, sizeof data - used, "%llu %.6f %.6f\n",
                         (unsigned long long)(n * m), row.result.lower,
                         isnan(row.oracle.bound) ? 0 : row.oracle.bound);
            (void)fprintf(to, "%12llu %10.5f %10.5f\n",
                          (unsigned long long)(n * m), row.result.lower,
                          row.oracle.bound);
            used += wrote > 0 ? (size_t)wrote : 0;
        }
    }
    if (status == ASSAY_OK && svg != NULL) {
        status = draw_svg(svg, specimen, data, err);
    }
    return status;
}
