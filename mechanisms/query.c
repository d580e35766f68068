/* ring: glue */
#include "mechanisms/query.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mechanisms/keys.h"
#include "mechanisms/quantile.h"
#include "mechanisms/query_scan.h"
#include "mechanisms/release.h"

void assay_query_init(assay_query *query)
{
    memset(query, 0, sizeof *query);
    query->limit = 1;
    mpq_inits(query->lo, query->hi, query->quantile, query->epsilon,
              query->delta, NULL);
    mpq_set_ui(query->quantile, 1, 2);
}

void assay_query_clear(assay_query *query)
{
    mpq_clears(query->lo, query->hi, query->quantile, query->epsilon,
               query->delta, NULL);
}

void assay_answer_clear(assay_answer *answer)
{
    for (size_t i = 0; answer->key != NULL && i < answer->n; i++) {
        free(answer->key[i]);
    }
    free(answer->key);
    free(answer->value);
    free(answer->low);
    free(answer->high);
    memset(answer, 0, sizeof *answer);
}

static assay_status answer_init(assay_answer *out, size_t n, int keys,
                                assay_error *err)
{
    memset(out, 0, sizeof *out);
    out->n = n;
    out->value = calloc(n + 1, sizeof *out->value);
    out->low = calloc(n + 1, sizeof *out->low);
    out->high = calloc(n + 1, sizeof *out->high);
    out->key = keys ? calloc(n + 1, sizeof *out->key) : NULL;
    if (out->value == NULL || out->low == NULL || out->high == NULL ||
        (keys && out->key == NULL)) {
        assay_answer_clear(out);
        return assay_fail(err, ASSAY_MEMORY, "no memory for the answer");
    }
    return ASSAY_OK;
}

static assay_status check(const assay_query *query, assay_error *err)
{
    if (mpq_sgn(query->epsilon) <= 0) {
        return assay_fail(err, ASSAY_INVALID, "epsilon must be positive");
    }
    if (query->limit == 0 || query->limit > ASSAY_QUERY_MAX_LIMIT) {
        return assay_fail(err, ASSAY_INVALID,
                          "records per person: between 1 and 65536");
    }
    if (query->limit > 1 && query->person == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "records per person need the person's column");
    }
    if (query->kind != ASSAY_QUERY_COUNT && query->column == NULL) {
        return assay_fail(err, ASSAY_INVALID, "name the column of the values");
    }
    if (query->kind != ASSAY_QUERY_HISTOGRAM) {
        return ASSAY_OK;
    }
    int kinds = (query->bins > 0) + (query->num_categories > 0) +
                (query->unknown_keys != 0);
    if (kinds != 1 || query->bins > ASSAY_QUERY_MAX_BINS ||
        query->num_categories > ASSAY_QUERY_MAX_BINS) {
        return assay_fail(err, ASSAY_INVALID,
                          "a histogram needs one of: bins (1 to 65536), "
                          "categories, unknown keys");
    }
    return ASSAY_OK;
}

/* The least w with P[|Z| > w] <= tail for the discrete Laplace law, up to the
 * rounding of doubles: P[|Z| > w] = 2 e^(-(w+1)/b) / (1 + e^(-1/b)). */
static double half_width(const mpq_t scale, double tail)
{
    double b = mpq_get_d(scale);
    double w = b * log(2 / (tail * (1 + exp(-1 / b)))) - 1;
    return w <= 0 ? 0 : ceil(w);
}

/* One step of the lattice as a double. */
static double step_of(const assay_tally *tally)
{
    return ldexp(1.0, -tally->lattice.step_bits);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* What one record can add to the sum in steps, then times the limit. A record
 * that is its own person is there on both sides of a replacement. */
static void sum_sensitivity(mpq_t out, const assay_tally *tally,
                            const assay_query *query, int replaces)
{
    int64_t lo = tally->lattice.lo - tally->middle;
    int64_t hi = tally->lattice.hi - tally->middle;
    int64_t one = larger(lo < 0 ? -lo : lo, hi < 0 ? -hi : hi);
    if (replaces && query->person == NULL) {
        one = hi - lo;
    } else if (replaces) {
        one = larger(hi, 0) - (lo < 0 ? lo : 0);
    }
    mpq_set_si(out, (long)larger(one, 1), 1);
    mpz_mul_ui(mpq_numref(out), mpq_numref(out), query->limit);
}

typedef struct noise {
    mpq_t scale;
    mpq_t sensitivity;
} noise;

static void noise_init(noise *z)
{
    mpq_init(z->scale);
    mpq_init(z->sensitivity);
}

static void noise_clear(noise *z)
{
    mpq_clear(z->scale);
    mpq_clear(z->sensitivity);
}

static void set_interval(assay_answer *out, size_t i, double value,
                         double width)
{
    out->value[i] = value;
    out->low[i] = value - width;
    out->high[i] = value + width;
    out->has_interval = 1;
}

/* count and sum */
static assay_status answer_scalar(assay_answer *out, assay_custodian *custodian,
                                  const assay_query *query,
                                  const assay_tally *tally, assay_error *err)
{
    noise z;
    int64_t noisy = 0;
    int is_sum = query->kind == ASSAY_QUERY_SUM;
    noise_init(&z);
    if (is_sum) {
        sum_sensitivity(z.sensitivity, tally, query,
                        assay_custodian_replaces(custodian));
    } else {
        mpq_set_ui(z.sensitivity, query->limit, 1);
    }
    mpq_div(z.scale, z.sensitivity, query->epsilon);
    assay_status status = answer_init(out, 1, 0, err);
    if (status == ASSAY_OK) {
        status = assay_release_laplace(
            custodian, &noisy, is_sum ? tally->sum : tally->count, z.scale,
            z.sensitivity, is_sum ? "csv sum" : "csv count", err);
        if (status == ASSAY_OK) {
            double unit = is_sum ? step_of(tally) : 1;
            set_interval(out, 0, unit * (double)noisy,
                         unit * half_width(z.scale, 0.05));
        } else {
            assay_answer_clear(out);
        }
    }
    noise_clear(&z);
    return status;
}

static double clamp_double(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* middle + sum / count, with sum and count each within a 97.5 % interval. All
 * of it is post-processing of the two noisy integers. */
static void set_mean(assay_answer *out, const assay_tally *tally,
                     const int64_t *noisy, double weight, double width)
{
    double unit = step_of(tally);
    double middle = unit * (double)tally->middle;
    double lo = unit * (double)tally->lattice.lo;
    double hi = unit * (double)tally->lattice.hi;
    double sum = (double)noisy[0];
    double count = (double)noisy[1] / weight;
    double half = width / weight;
    double n = count < 1 ? 1 : count;
    double least = count - half < 1 ? 1 : count - half;
    double most = count + half < 1 ? 1 : count + half;
    double low = sum - width;
    double high = sum + width;
    low = middle + unit * low / (low < 0 ? least : most);
    high = middle + unit * high / (high > 0 ? least : most);
    out->value[0] = clamp_double(middle + unit * sum / n, lo, hi);
    out->low[0] = clamp_double(low, lo, hi);
    out->high[0] = clamp_double(high, lo, hi);
    out->has_interval = 1;
}

/* (sum about the middle, w * count) with w = the sum's sensitivity / limit:
 * each half of the vector moves by at most that sensitivity. */
static assay_status answer_mean(assay_answer *out, assay_custodian *custodian,
                                const assay_query *query,
                                const assay_tally *tally, assay_error *err)
{
    noise z;
    int64_t noisy[2];
    int64_t vector[2] = {tally->sum, 0};
    noise_init(&z);
    sum_sensitivity(z.sensitivity, tally, query,
                    assay_custodian_replaces(custodian));
    int64_t weight =
        (int64_t)(mpz_get_ui(mpq_numref(z.sensitivity)) / query->limit);
    int64_t most = ASSAY_RELEASE_MAX / weight;
    vector[1] = weight * (tally->count > most ? most : tally->count);
    mpq_mul_2exp(z.sensitivity, z.sensitivity, 1);
    mpq_div(z.scale, z.sensitivity, query->epsilon);
    assay_status status = answer_init(out, 1, 0, err);
    if (status == ASSAY_OK) {
        status =
            assay_release_laplace_vector(custodian, noisy, vector, 2, z.scale,
                                         z.sensitivity, "csv mean", err);
        if (status == ASSAY_OK) {
            set_mean(out, tally, noisy, (double)weight,
                     half_width(z.scale, 0.025));
        } else {
            assay_answer_clear(out);
        }
    }
    noise_clear(&z);
    OPENSSL_cleanse(vector, sizeof vector);
    return status;
}

static char *bin_name(const assay_query *query, size_t i)
{
    char text[64];
    double lo = mpq_get_d(query->lo);
    double hi = mpq_get_d(query->hi);
    double width = (hi - lo) / (double)query->bins;
    (void)snprintf(text, sizeof text, "%.12g..%.12g", lo + width * (double)i,
                   i + 1 == query->bins ? hi : lo + width * (double)(i + 1));
    return strdup(text);
}

static assay_status name_cells(assay_answer *out, const assay_query *query,
                               assay_error *err)
{
    for (size_t i = 0; i < out->n; i++) {
        if (query->bins > 0) {
            out->key[i] = bin_name(query, i);
        } else {
            out->key[i] = strdup(
                i < query->num_categories ? query->categories[i] : "other");
        }
        if (out->key[i] == NULL) {
            return assay_fail(err, ASSAY_MEMORY, "no memory for the names");
        }
    }
    return ASSAY_OK;
}

static assay_status answer_cells(assay_answer *out, assay_custodian *custodian,
                                 const assay_query *query,
                                 const assay_tally *tally, assay_error *err)
{
    noise z;
    size_t n = tally->num_cells;
    assay_status status = answer_init(out, n, 1, err);
    if (status != ASSAY_OK) {
        return status;
    }
    noise_init(&z);
    mpq_set_ui(z.sensitivity, query->limit, 1);
    if (assay_custodian_replaces(custodian)) {
        mpq_mul_2exp(z.sensitivity, z.sensitivity, 1);
    }
    mpq_div(z.scale, z.sensitivity, query->epsilon);
    int64_t *noisy = calloc(n, sizeof *noisy);
    status = noisy == NULL
                 ? assay_fail(err, ASSAY_MEMORY, "no memory for the cells")
                 : name_cells(out, query, err);
    if (status == ASSAY_OK) {
        status = assay_release_laplace_vector(custodian, noisy, tally->cells, n,
                                              z.scale, z.sensitivity,
                                              "csv histogram", err);
    }
    for (size_t i = 0; status == ASSAY_OK && i < n; i++) {
        set_interval(out, i, (double)noisy[i], half_width(z.scale, 0.05));
    }
    if (status != ASSAY_OK) {
        assay_answer_clear(out);
    }
    free(noisy);
    noise_clear(&z);
    return status;
}

typedef struct key_work {
    char **names; /* all words, sorted */
    int64_t *counts;
    int64_t *noisy;
    uint8_t *shown;
    size_t *at; /* of the shown ones */
    size_t n;
} key_work;

static void key_work_clear(key_work *k)
{
    for (size_t i = 0; k->names != NULL && i < k->n; i++) {
        free(k->names[i]);
    }
    if (k->counts != NULL) {
        OPENSSL_cleanse(k->counts, (k->n + 1) * sizeof *k->counts);
    }
    free(k->names);
    free(k->counts);
    free(k->noisy);
    free(k->shown);
    free(k->at);
}

static assay_status key_work_init(key_work *k, const assay_people *table,
                                  assay_error *err)
{
    memset(k, 0, sizeof *k);
    k->n = table->num_people;
    k->names = calloc(k->n + 1, sizeof *k->names);
    k->counts = calloc(k->n + 1, sizeof *k->counts);
    k->noisy = calloc(k->n + 1, sizeof *k->noisy);
    k->shown = calloc(k->n + 1, sizeof *k->shown);
    k->at = calloc(k->n + 1, sizeof *k->at);
    assay_status status = ASSAY_OK;
    if (k->names == NULL || k->counts == NULL || k->noisy == NULL ||
        k->shown == NULL || k->at == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for the words");
    }
    if (status == ASSAY_OK) {
        status = assay_people_list(table, k->names, k->counts, err);
    }
    if (status != ASSAY_OK) {
        key_work_clear(k);
    }
    return status;
}

/* Only shown words reach the answer, in alphabetical order. */
static assay_status keep_shown(assay_answer *out, key_work *k, double width,
                               assay_error *err)
{
    size_t n = assay_keys_shown(k->at, k->shown, k->n);
    assay_status status = answer_init(out, n, 1, err);
    for (size_t i = 0; i < n && status == ASSAY_OK; i++) {
        out->key[i] = assay_keys_name(k->names, k->at[i]);
        set_interval(out, i, (double)k->noisy[k->at[i]], width);
    }
    out->has_interval = 1;
    return status;
}

static assay_status answer_keys(assay_answer *out, assay_custodian *custodian,
                                const assay_query *query,
                                const assay_tally *tally, assay_error *err)
{
    key_work k;
    mpq_t scale;
    assay_status status = key_work_init(&k, &tally->words, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_release_keys(
        custodian, k.noisy, k.shown, k.counts, k.n, query->limit, query->limit,
        query->epsilon, query->delta, "csv histogram, unknown keys", err);
    if (status == ASSAY_OK) {
        mpq_init(scale);
        mpq_set_ui(scale, (unsigned long)query->limit * query->limit, 1);
        mpq_div(scale, scale, query->epsilon);
        status = keep_shown(out, &k, half_width(scale, 0.05), err);
        mpq_clear(scale);
    }
    key_work_clear(&k);
    return status;
}

/* P[score below best - t] <= cells exp(-epsilon t / (2 s)) = 0.05 */
static double quantile_rank_error(const assay_query *query,
                                  const assay_tally *tally, int replaces)
{
    double q = mpq_get_d(query->quantile);
    double s = replaces ? 1 : (q > 0.5 ? q : 1 - q);
    double cells = (double)tally->num_cells;
    return ceil(2 * s * query->limit * log(cells / 0.05) /
                mpq_get_d(query->epsilon));
}

static assay_status answer_quantile(assay_answer *out,
                                    assay_custodian *custodian,
                                    const assay_query *query,
                                    const assay_tally *tally, assay_error *err)
{
    size_t cell = 0;
    assay_status status = answer_init(out, 1, 0, err);
    if (status != ASSAY_OK) {
        return status;
    }
    /* counts are not negative: the same bytes as uint64_t */
    status = assay_release_quantile_cell(
        custodian, &cell, (const uint64_t *)(const void *)tally->cells,
        tally->num_cells, query->limit, query->quantile, query->epsilon,
        "csv quantile", err);
    if (status != ASSAY_OK) {
        assay_answer_clear(out);
        return status;
    }
    out->value[0] =
        step_of(tally) * (double)(tally->lattice.lo + (int64_t)cell);
    out->rank_error =
        quantile_rank_error(query, tally, assay_custodian_replaces(custodian));
    return ASSAY_OK;
}

static assay_status release(assay_answer *out, assay_custodian *custodian,
                            const assay_query *query, const assay_tally *tally,
                            assay_error *err)
{
    switch (query->kind) {
    case ASSAY_QUERY_MEAN:
        return answer_mean(out, custodian, query, tally, err);
    case ASSAY_QUERY_HISTOGRAM:
        return query->unknown_keys
                   ? answer_keys(out, custodian, query, tally, err)
                   : answer_cells(out, custodian, query, tally, err);
    case ASSAY_QUERY_QUANTILE:
        return answer_quantile(out, custodian, query, tally, err);
    case ASSAY_QUERY_COUNT:
    case ASSAY_QUERY_SUM:
    default:
        return answer_scalar(out, custodian, query, tally, err);
    }
}

assay_status assay_query_run(assay_answer *out, assay_custodian *custodian,
                             const assay_query *query, assay_error *err)
{
    assay_tally tally;
    assay_status status = check(query, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_tally_init(&tally, query, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_tally_scan(&tally, query, err);
    if (status == ASSAY_OK) {
        status = release(out, custodian, query, &tally, err);
    }
    assay_tally_clear(&tally);
    return status;
}
