/* ring: glue */
#include "mechanisms/query_scan.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "core/bound.h"
#include "core/csv.h"
#include "core/decimal.h"

#define SUM_BITS 30      /* steps between bounds of sums and bins: 2^30 */
#define QUANTILE_BITS 16 /* cells of a quantile: 2^16 */

/* The finest power-of-two step with at most 2^bits steps between the bounds
 * and at most 2^bits from zero; -1000 to 1000. */
static int choose_step(const assay_query *query, int bits)
{
    mpq_t size;
    mpq_t t;
    mpq_init(size);
    mpq_init(t);
    mpq_sub(size, query->hi, query->lo);
    mpq_abs(t, query->hi);
    if (bits == SUM_BITS && mpq_cmp(t, size) > 0) {
        mpq_set(size, t);
    }
    mpq_abs(t, query->lo);
    if (bits == SUM_BITS && mpq_cmp(t, size) > 0) {
        mpq_set(size, t);
    }
    int step_bits = 0;
    if (mpq_sgn(size) > 0) {
        long up = (long)mpz_sizeinbase(mpq_numref(size), 2) -
                  (long)mpz_sizeinbase(mpq_denref(size), 2) + 1;
        step_bits = (int)(bits - up); /* size < 2^up */
    }
    mpq_clear(size);
    mpq_clear(t);
    return step_bits;
}

static assay_status need_bounds(const assay_query *query, assay_error *err)
{
    if (!query->has_bounds) {
        return assay_fail(err, ASSAY_INVALID,
                          "bounds are needed: --bounds LO,HI, chosen without "
                          "looking at the data");
    }
    if (mpq_cmp(query->lo, query->hi) >= 0) {
        return assay_fail(err, ASSAY_INVALID, "the bounds need LO < HI");
    }
    return ASSAY_OK;
}

static int is_numeric(const assay_query *query)
{
    return query->kind == ASSAY_QUERY_SUM || query->kind == ASSAY_QUERY_MEAN ||
           query->kind == ASSAY_QUERY_QUANTILE ||
           (query->kind == ASSAY_QUERY_HISTOGRAM && query->bins > 0);
}

static assay_status set_lattice(assay_tally *tally, const assay_query *query,
                                assay_error *err)
{
    assay_status status = need_bounds(query, err);
    if (status != ASSAY_OK) {
        return status;
    }
    int bits = query->kind == ASSAY_QUERY_QUANTILE ? QUANTILE_BITS : SUM_BITS;
    status = assay_lattice_init(&tally->lattice, choose_step(query, bits),
                                query->lo, query->hi, err);
    if (status == ASSAY_OK && query->kind == ASSAY_QUERY_MEAN) {
        tally->middle = (tally->lattice.lo + tally->lattice.hi) / 2;
    }
    return status;
}

static size_t cells_needed(const assay_tally *tally, const assay_query *query)
{
    if (query->kind == ASSAY_QUERY_QUANTILE) {
        return (size_t)(tally->lattice.hi - tally->lattice.lo) + 1;
    }
    if (query->kind != ASSAY_QUERY_HISTOGRAM || query->unknown_keys) {
        return 0;
    }
    return query->bins > 0 ? query->bins : query->num_categories + 1;
}

assay_status assay_tally_init(assay_tally *tally, const assay_query *query,
                              assay_error *err)
{
    assay_status status = ASSAY_OK;
    memset(tally, 0, sizeof *tally);
    if (is_numeric(query)) {
        status = set_lattice(tally, query, err);
    }
    if (status == ASSAY_OK && query->unknown_keys) {
        status = assay_people_init(&tally->words, UINT32_MAX, err);
    }
    if (status != ASSAY_OK) {
        return status;
    }
    tally->num_cells = cells_needed(tally, query);
    tally->cells = calloc(tally->num_cells + 1, sizeof *tally->cells);
    if (tally->cells == NULL) {
        assay_people_clear(&tally->words);
        return assay_fail(err, ASSAY_MEMORY, "no memory for the cells");
    }
    return ASSAY_OK;
}

void assay_tally_clear(assay_tally *tally)
{
    if (tally->cells != NULL) {
        OPENSSL_cleanse(tally->cells,
                        (tally->num_cells + 1) * sizeof *tally->cells);
    }
    free(tally->cells);
    assay_people_clear(&tally->words);
    OPENSSL_cleanse(tally, sizeof *tally);
}

/* The columns that a query reads. */
typedef struct columns {
    size_t value;
    size_t person;
    int has_value;
    int has_person;
    int numeric;
} columns;

static assay_status find_columns(columns *out, const assay_csv *csv,
                                 const assay_query *query, assay_error *err)
{
    assay_status status = ASSAY_OK;
    memset(out, 0, sizeof *out);
    out->has_value = query->column != NULL && query->kind != ASSAY_QUERY_COUNT;
    out->has_person = query->person != NULL;
    out->numeric = is_numeric(query);
    if (query->column != NULL) {
        status = assay_csv_column(csv, &out->value, query->column, err);
    }
    if (status == ASSAY_OK && out->has_person) {
        status = assay_csv_column(csv, &out->person, query->person, err);
    }
    return status;
}

static size_t category_of(const assay_query *query, const assay_field *f)
{
    size_t i = 0;
    while (i < query->num_categories &&
           (strlen(query->categories[i]) != f->len ||
            memcmp(query->categories[i], f->text, f->len) != 0)) {
        i++;
    }
    return i;
}

/* The bin of a lattice point, floor((x - lo) bins / (hi - lo)), hi itself in
 * the last one. Steps are at most 2^30 and bins at most 2^16. */
static size_t bin_of(const assay_tally *tally, int64_t x, size_t bins)
{
    uint64_t size = (uint64_t)(tally->lattice.hi - tally->lattice.lo);
    uint64_t bin = (uint64_t)(x - tally->lattice.lo) * bins / (size + !size);
    return bin < bins ? (size_t)bin : bins - 1;
}

static void add_number(assay_tally *tally, const assay_query *query, int64_t x)
{
    tally->sum = assay_add_clamped(tally->sum, x - tally->middle);
    if (query->kind == ASSAY_QUERY_HISTOGRAM) {
        tally->cells[bin_of(tally, x, query->bins)]++;
    } else if (query->kind == ASSAY_QUERY_QUANTILE) {
        tally->cells[x - tally->lattice.lo]++;
    }
}

/* Counts a record whose value (a lattice point or a category) is x. */
static void settle(assay_tally *tally, const assay_query *query,
                   const columns *c, int64_t x)
{
    tally->count++;
    if (c->numeric) {
        add_number(tally, query, x);
    } else if (c->has_value) {
        tally->cells[x]++;
    }
}

/* ---- persons ---- */

/* Records wait in a line between the moment their person's slot is called into
 * the cache and the moment it is read. First come, first served. */
#define LINE 32 /* a power of two */

typedef struct waiting {
    assay_person_key key;
    int64_t x;
} waiting;

typedef struct scan {
    assay_tally *tally;
    const assay_query *query;
    const columns *columns;
    assay_people *people;
    size_t first; /* of the line */
    size_t num;
    waiting line[LINE];
} scan;

static assay_status serve_one(scan *s, assay_error *err)
{
    waiting *w = &s->line[s->first % LINE];
    int take = 0;
    assay_status status = assay_people_take_key(s->people, &take, &w->key, err);
    s->first++;
    s->num--;
    if (status == ASSAY_OK && take) {
        settle(s->tally, s->query, s->columns, w->x);
    }
    return status;
}

static assay_status serve_all(scan *s, assay_error *err)
{
    assay_status status = ASSAY_OK;
    while (s->num > 0 && status == ASSAY_OK) {
        status = serve_one(s, err);
    }
    return status;
}

/* A long identifier, or one whose record holds a word: at once. */
static assay_status take_now(scan *s, int *take, const assay_field *id,
                             assay_error *err)
{
    assay_status status = serve_all(s, err);
    if (status == ASSAY_OK) {
        status = assay_people_take(s->people, take, id->text, id->len, err);
    }
    return status;
}

static assay_status add_person(scan *s, const assay_field *id, int64_t x,
                               assay_error *err)
{
    int take = 0;
    assay_status status = s->num == LINE ? serve_one(s, err) : ASSAY_OK;
    if (status != ASSAY_OK) {
        return status;
    }
    waiting *w = &s->line[(s->first + s->num) % LINE];
    if (assay_people_key(s->people, &w->key, id->text, id->len)) {
        w->x = x;
        s->num++;
        return ASSAY_OK;
    }
    status = take_now(s, &take, id, err);
    if (status == ASSAY_OK && take) {
        settle(s->tally, s->query, s->columns, x);
    }
    return status;
}

/* ---- records ---- */

/* Unknown keys: the word itself is counted. */
static assay_status add_word(scan *s, const assay_csv *csv, assay_error *err)
{
    const assay_field *word = &csv->fields[s->columns->value];
    int take = 1;
    int ignored = 0;
    assay_status status = ASSAY_OK;
    if (s->columns->has_person) {
        status = take_now(s, &take, &csv->fields[s->columns->person], err);
    }
    if (status != ASSAY_OK || !take) {
        return status;
    }
    s->tally->count++;
    return assay_people_take(&s->tally->words, &ignored, word->text, word->len,
                             err);
}

/* Every record is validated, also those that a person's limit leaves out. */
static assay_status read_value(int64_t *x, const scan *s, const assay_csv *csv,
                               assay_error *err)
{
    const columns *c = s->columns;
    const assay_field *value = &csv->fields[c->value];
    if (c->numeric) {
        return assay_decimal_to_steps(x, value->text, value->len,
                                      &s->tally->lattice, NULL) == ASSAY_OK
                   ? ASSAY_OK
                   : assay_csv_fail(csv, c->value,
                                    "not a finite decimal number; remove the "
                                    "row or fill in a value",
                                    err);
    }
    if (c->has_value) {
        *x = (int64_t)category_of(s->query, value);
    }
    return ASSAY_OK;
}

static assay_status add_record(scan *s, const assay_csv *csv, assay_error *err)
{
    int64_t x = 0;
    const columns *c = s->columns;
    if (c->has_value && !c->numeric && s->query->unknown_keys) {
        return add_word(s, csv, err);
    }
    assay_status status = read_value(&x, s, csv, err);
    if (status != ASSAY_OK) {
        return status;
    }
    if (c->has_person) {
        return add_person(s, &csv->fields[c->person], x, err);
    }
    settle(s->tally, s->query, c, x);
    return ASSAY_OK;
}

static assay_status scan_records(scan *s, assay_csv *csv, assay_error *err)
{
    int more = 0;
    assay_status status = assay_csv_next(csv, &more, err);
    while (status == ASSAY_OK && more) {
        status = add_record(s, csv, err);
        if (status == ASSAY_OK) {
            status = assay_csv_next(csv, &more, err);
        }
    }
    return status == ASSAY_OK ? serve_all(s, err) : status;
}

static assay_status scan_all(assay_tally *tally, const assay_query *query,
                             assay_csv *csv, assay_people *people,
                             assay_error *err)
{
    columns c;
    scan s = {.tally = tally, .query = query, .columns = &c, .people = people};
    assay_status status = find_columns(&c, csv, query, err);
    if (status == ASSAY_OK) {
        status = scan_records(&s, csv, err);
    }
    OPENSSL_cleanse(&s, sizeof s);
    return status;
}

assay_status assay_tally_scan(assay_tally *tally, const assay_query *query,
                              assay_error *err)
{
    assay_csv csv;
    assay_people people;
    assay_status status = assay_csv_open(&csv, query->path, err);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_people_init(&people, query->limit, err);
    if (status == ASSAY_OK) {
        status = scan_all(tally, query, &csv, &people, err);
        assay_people_clear(&people);
    }
    assay_csv_close(&csv);
    return status;
}
