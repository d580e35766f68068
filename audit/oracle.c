/* ring: glue */
/* What the exact likelihood ratio could certify. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "audit/binomial.h"
#include "audit/certify.h"
#include "audit/layers.h"
#include "audit/search.h"
#include "audit/work.h"

#define ORACLE_ROWS 2000000
#define SCREEN_ROWS 200000

typedef struct oracle_work {
    assay_oracle oracle;
    float *score[2];
    uint64_t first;
} oracle_work;

static assay_status oracle_unit(void *arg, int thread, uint64_t first,
                                const assay_rows *left, const assay_rows *right,
                                assay_error *err)
{
    oracle_work *w = arg;
    double out[ASSAY_ROWS_BLOCK];
    (void)thread;
    (void)err;
    for (int side = 0; side < 2; side++) {
        const assay_rows *r = side == 0 ? left : right;
        w->oracle.specimen->llr(&w->oracle, r, out);
        for (size_t i = 0; i < r->num; i++) {
            w->score[side][first - w->first + i] = (float)out[i];
        }
    }
    return ASSAY_OK;
}

static void sort_down(float *x, float *spare, size_t n)
{
    assay_work_sort(x, spare, n);
    for (size_t i = 0; i < n / 2; i++) {
        float other = x[n - 1 - i];
        x[n - 1 - i] = x[i];
        x[i] = other;
    }
}

/* The noise of a certified bound at these probabilities (epsilon; a Gaussian's
 * mu has the same form with densities for probabilities). */
static double noise_at(const assay_claim *claim, double p1, double p2, double n)
{
    double d1 = p1 - claim->delta, d2 = p2;
    if (claim->kind == ASSAY_CLAIM_MU) {
        double x = assay_normal_quantile(p1), y = assay_normal_quantile(p2);
        d1 = 0.3989422804014327 * exp(-x * x / 2);
        d2 = 0.3989422804014327 * exp(-y * y / 2);
    }
    return d1 > 0 && d2 > 0
               ? sqrt((p1 * (1 - p1) / (d1 * d1) + p2 * (1 - p2) / (d2 * d2)) /
                      n)
               : 0;
}

/* The certified bound at an event's probabilities: the mean over the second
 * side's count where that is small (its luck matters), else at the mean. */
double assay_search_expected(const assay_claim *claim, double p1, double p2,
                             double n, double level, double w)
{
    uint64_t runs = (uint64_t)n;
    double mean = p2 * n, mass = exp(-mean), sum = 0, all = 0;
    assay_audit_counts c = {(uint64_t)nearbyint(p1 * n), runs,
                            (uint64_t)nearbyint(mean), runs};
    if (mean > 40) {
        return assay_bound_joint(claim, &c, level, w);
    }
    for (uint64_t k = 0; k < 100 && all < 0.9999; k++) {
        c.k2 = k;
        all += mass;
        sum += mass > 1e-5 ? mass * assay_bound_joint(claim, &c, level, w) : 0;
        mass *= mean / (double)(k + 1);
    }
    return sum / all;
}

/* Runs of the first side sorted by their log ratio, largest first: at every
 * threshold p1 is their share and p2 the mean of exp(-ratio), which has far
 * less noise than counting the other side. The first few thresholds are
 * skipped: their shares are luck. */
static void oracle_sweep(assay_oracle_bound *best, const float *ratio, size_t n,
                         double samples, double level, const assay_claim *claim)
{
    double p2 = 0;
    size_t next = claim->kind == ASSAY_CLAIM_EPS ? 60 : n / 500;
    for (size_t i = 0; i < n; i++) {
        p2 += exp(-(double)ratio[i]) / (double)n;
        int last = i + 1 == n || ratio[i + 1] < ratio[i] - 1e-6f;
        if (!last || i + 1 < next) {
            continue;
        }
        next = i + 1 + i / 200;
        double p1 = (double)(i + 1) / (double)n;
        double bound =
            assay_bound_fast(claim, p1 * samples, samples,
                             fmax(p2 * samples - 0.5, 0), samples, level);
        if (bound > best->bound) {
            best->bound = bound;
            best->mass = p1;
            best->other = p2;
            best->noise = noise_at(claim, p1, fmax(p2, 1 / samples), samples);
        }
    }
}

/* What `samples` runs show of each bin on average. The rows of the likelier
 * side tell it for both: the scores are the exact log ratios. */
static void expected_bins(double (*out)[ASSAY_PROFILE_BINS],
                          const assay_certify *z, float *const *score, size_t n,
                          double samples)
{
    memset(out, 0, 2 * sizeof *out);
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0, k = 0; i < n; i++) { /* upwards */
            double r = (double)score[side][i];
            while (k + 1 < z->num_bins && score[side][i] > z->edge[k]) {
                k++;
            }
            if ((r > 0) == (side == 0)) {
                out[side][k] += samples / (double)n;
                out[!side][k] += exp(-fabs(r)) * samples / (double)n;
            }
        }
    }
}

/* The best order for the divergence of side `first` from the other. */
static double best_order(double (*mean)[ASSAY_PROFILE_BINS], size_t num,
                         size_t first, double level)
{
    uint64_t count[2][ASSAY_PROFILE_BINS];
    double g[ASSAY_PROFILE_BINS], best = 0;
    for (size_t k = 0; k < num; k++) {
        g[k] = log((mean[first][k] + 0.5) / (mean[!first][k] + 0.5));
        count[0][k] = (uint64_t)(mean[first][k] + 0.5);
        count[1][k] = (uint64_t)(mean[!first][k] + 0.5);
    }
    for (double alpha = 1.05; alpha < 8; alpha = 1 + (alpha - 1) * 1.3) {
        best = fmax(
            best, assay_bound_renyi(g, count[0], count[1], num, alpha, level));
    }
    return best;
}

/* Rho claims: the profile of the exact ratio. */
static void oracle_profile(assay_oracle_bound *best, oracle_work *w, size_t n,
                           double samples, double level,
                           const assay_claim *claim, float *spare)
{
    double mean[2][ASSAY_PROFILE_BINS];
    assay_certify *z = calloc(1, sizeof *z);
    if (z != NULL) {
        assay_work_sort(w->score[0], spare, n);
        assay_work_sort(w->score[1], spare, n);
        (void)assay_profile_fit(z, w->score[0], w->score[1], n, samples, level,
                                claim);
        expected_bins(mean, z, w->score, n, samples);
        best->bound = fmax(best_order(mean, z->num_bins, 0, level),
                           best_order(mean, z->num_bins, 1, level));
    }
    free(z);
}

static void oracle_best(assay_oracle_bound *best, oracle_work *w, size_t n,
                        double samples, double level, const assay_claim *claim,
                        float *spare)
{
    if (claim->kind == ASSAY_CLAIM_RHO) {
        oracle_profile(best, w, n, samples, level, claim, spare);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        w->score[1][i] = -w->score[1][i];
    }
    for (int side = 0; side < 2; side++) {
        sort_down(w->score[side], spare, n);
        oracle_sweep(best, w->score[side], n, samples, level, claim);
    }
    if (best->bound > 0) {
        uint64_t n1 = (uint64_t)samples;
        best->bound = assay_search_expected(
            claim, best->mass, best->other, samples, level,
            assay_bound_weight(best->mass, n1, best->other, n1));
    }
    if (claim->kind == ASSAY_CLAIM_EPS && claim->delta == 0) {
        best->layers =
            assay_layers_oracle(w->score[0], w->score[1], n, samples, level);
    }
}

uint64_t assay_search_oracle_seed(uint64_t seed)
{
    return seed ^ 0x5bd1e995;
}

static assay_status oracle_rows(assay_oracle_bound *out, size_t n,
                                const assay_specimen *specimen,
                                const assay_pair *pair, uint64_t samples,
                                double confidence, uint64_t seed,
                                assay_error *err)
{
    assay_specimen_run run = {specimen, *pair, assay_search_oracle_seed(seed)};
    assay_source source = assay_specimen_source(&run);
    oracle_work w = {.oracle = {specimen, *pair, NULL}};
    w.oracle.table = calloc(2 * ASSAY_SPECIMEN_TABLE, sizeof(double));
    w.score[0] = malloc(n * sizeof(float));
    w.score[1] = malloc(n * sizeof(float));
    float *spare = malloc(n * sizeof(float));
    assay_status status = ASSAY_MEMORY;
    *out = (assay_oracle_bound){0, 0, 0, 0, NAN};
    if (w.oracle.table != NULL && w.score[0] != NULL && w.score[1] != NULL &&
        spare != NULL) {
        if (specimen->prepare != NULL) {
            specimen->prepare(&w.oracle);
        }
        status = assay_work_units(&source, 0, n, ASSAY_ROWS_BLOCK, 0,
                                  oracle_unit, &w, err);
    }
    if (status == ASSAY_OK) {
        oracle_best(out, &w, n, (double)samples, 1 - confidence,
                    &specimen->claim, spare);
    }
    free(w.oracle.table);
    free(w.score[0]);
    free(w.score[1]);
    free(spare);
    return status;
}

/* The best of the specimen's own pairs; the chosen one unless clearly worse. */
static assay_status best_pair(size_t *best, const assay_specimen *specimen,
                              const assay_pair *pairs, size_t num,
                              uint64_t samples, double confidence,
                              uint64_t seed, assay_error *err)
{
    double most = -1;
    assay_status status = ASSAY_OK;
    *best = 0;
    for (size_t k = 0; num > 2 && k < num && status == ASSAY_OK; k++) {
        assay_oracle_bound b;
        status = oracle_rows(&b, SCREEN_ROWS, specimen, &pairs[k], samples,
                             confidence, seed, err);
        double bound = status == ASSAY_OK ? b.bound : 0;
        if (k == 0 || bound > 1.01 * most) {
            most = bound;
            *best = k;
        }
    }
    return status;
}

assay_status assay_search_oracle(assay_oracle_bound *out,
                                 assay_oracle_bound *best,
                                 const assay_specimen *specimen,
                                 const assay_pair *pair, uint64_t samples,
                                 double confidence, uint64_t seed,
                                 assay_error *err)
{
    *out = (assay_oracle_bound){NAN, NAN, NAN, NAN, NAN};
    if (best != NULL) {
        *best = *out;
    }
    if (specimen->llr == NULL) {
        return ASSAY_OK;
    }
    assay_status status = oracle_rows(out, ORACLE_ROWS, specimen, pair, samples,
                                      confidence, seed, err);
    if (status != ASSAY_OK || best == NULL) {
        return status;
    }
    assay_pair pairs[ASSAY_SEARCH_PAIRS] = {*pair};
    size_t num = 1 + assay_specimen_pairs(specimen, pairs + 1), at = 0;
    *best = *out;
    status =
        best_pair(&at, specimen, pairs, num, samples, confidence, seed, err);
    if (status == ASSAY_OK && at > 0) {
        status = oracle_rows(best, ORACLE_ROWS, specimen, &pairs[at], samples,
                             confidence, seed, err);
    }
    return status;
}
