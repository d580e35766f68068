/* ring: glue */
#include "audit/attacker.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/smooth.h"
#include "audit/spline.h"

#define BLOCK ASSAY_ROWS_BLOCK
#define MAX_KEYS ((size_t)1 << 18)
#define STRICT 24.0 /* G statistic that keeps two bins apart */

/* ---- fitting one piece -------------------------------------------------- */

/* A feature's numbers over all training rows of a side. */
static double *gather(const assay_training *d, int side, assay_feature f,
                      size_t *num)
{
    double *x = malloc((d->num_blocks * BLOCK + 1) * sizeof *x);
    *num = 0;
    for (size_t b = 0; x != NULL && b < d->num_blocks; b++) {
        assay_feature_numbers(&d->rows[side][b], f, x + *num);
        *num += d->rows[side][b].num;
    }
    return x;
}

static assay_status fit_steps(assay_piece *p, const assay_training *d,
                              assay_feature f, assay_error *err)
{
    size_t n[2];
    double *x[2] = {gather(d, 0, f, &n[0]), gather(d, 1, f, &n[1])};
    assay_status status = ASSAY_MEMORY;
    *p = (assay_piece){.kind = ASSAY_PIECE_STEPS, .feature = f, .sign = 1};
    if (x[0] != NULL && x[1] != NULL) {
        status = assay_steps_fit(&p->steps, x[0], x[1], n[0], n[1], 384, STRICT,
                                 err);
        /* what the pattern says already (number or not) is not said twice */
        p->steps.missing = 0;
    }
    free(x[0]);
    free(x[1]);
    return status;
}

static assay_status table_new(assay_table *t, size_t slots, assay_error *err)
{
    memset(t, 0, sizeof *t);
    t->mask = slots - 1;
    t->key = calloc(slots, sizeof *t->key);
    t->weight = calloc(slots, sizeof *t->weight);
    t->count = calloc(2 * slots, sizeof *t->count);
    if (t->key == NULL || t->weight == NULL || t->count == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    return ASSAY_OK;
}

static void table_clear(assay_table *t)
{
    free(t->key);
    free(t->weight);
    free(t->count);
    memset(t, 0, sizeof *t);
}

static size_t table_probe(const assay_table *t, uint64_t key)
{
    size_t i = (key >> 7) & t->mask;
    while (t->key[i] != 0 && t->key[i] != key) {
        i = (i + 1) & t->mask;
    }
    return i;
}

static assay_status table_grow(assay_table *t, assay_error *err)
{
    assay_table big;
    assay_status status = table_new(&big, 4 * (t->mask + 1), err);
    for (size_t i = 0; status == ASSAY_OK && i <= t->mask; i++) {
        if (t->key[i] != 0) {
            size_t at = table_probe(&big, t->key[i]);
            big.key[at] = t->key[i];
            big.count[2 * at] = t->count[2 * i];
            big.count[2 * at + 1] = t->count[2 * i + 1];
        }
    }
    big.used = t->used;
    table_clear(t);
    *t = big;
    return status;
}

/* The key's slot, made if there is room; SIZE_MAX if not. */
static size_t table_slot(assay_table *t, uint64_t key, assay_error *err)
{
    key |= 1;
    if (2 * t->used > t->mask && table_grow(t, err) != ASSAY_OK) {
        return SIZE_MAX;
    }
    size_t i = table_probe(t, key);
    if (t->key[i] == 0) {
        if (t->used >= MAX_KEYS) {
            return SIZE_MAX;
        }
        t->key[i] = key;
        t->used++;
    }
    return i;
}

assay_status assay_table_make(assay_table *out, const uint64_t *key,
                              const double *weight, size_t num,
                              assay_error *err)
{
    size_t slots = 64;
    while (slots < 4 * num) {
        slots *= 2;
    }
    assay_status status = table_new(out, slots, err);
    for (size_t k = 0; status == ASSAY_OK && k < num; k++) {
        size_t at = table_slot(out, key[k], err);
        out->weight[at] = weight[k];
    }
    return status;
}

/* Log ratio of two counts, shrunk towards 0 by its own uncertainty: a key seen
 * twice must not look like the best event. */
static double shrunk(double c1, double c2, double n1, double n2)
{
    double r = log((c1 + 0.5) / (n1 + 1)) - log((c2 + 0.5) / (n2 + 1));
    double v = 1 / (c1 + 0.5) + 1 / (c2 + 0.5);
    return r == 0 ? 0 : r * r * r / (r * r + v);
}

static void table_weigh(assay_table *t, double n1, double n2)
{
    double rare[2] = {0, 0};
    for (size_t i = 0; i <= t->mask; i++) {
        double c1 = t->count[2 * i], c2 = t->count[2 * i + 1];
        if (c1 + c2 <= 1) {
            rare[0] += c1;
            rare[1] += c2;
        } else {
            t->weight[i] = shrunk(c1, c2, n1, n2);
        }
    }
    t->other = shrunk(rare[0], rare[1], n1, n2);
    for (size_t i = 0; i <= t->mask; i++) {
        if (t->count[2 * i] + t->count[2 * i + 1] <= 1) {
            t->weight[i] = t->other;
        }
    }
}

/* ASSAY_AGAIN: too many different keys for a table. */
static assay_status fit_table(assay_piece *p, const assay_training *d,
                              assay_feature f, assay_error *err)
{
    *p = (assay_piece){.kind = ASSAY_PIECE_TABLE, .feature = f, .sign = 1};
    assay_status status = table_new(&p->table, 1024, err);
    double n[2] = {0, 0};
    uint64_t key[BLOCK];
    for (size_t b = 0; status == ASSAY_OK && b < 2 * d->num_blocks; b++) {
        const assay_rows *r = &d->rows[b % 2][b / 2];
        assay_feature_keys(r, f, key);
        for (size_t i = 0; i < r->num; i++) {
            size_t at = table_slot(&p->table, key[i], err);
            if (at == SIZE_MAX) {
                status = ASSAY_AGAIN;
                break;
            }
            p->table.count[2 * at + b % 2]++;
        }
        n[b % 2] += (double)r->num;
        if (b % 2 == 1 && b > 8 &&
            (double)p->table.used > 0.3 * (n[0] + n[1])) {
            status = ASSAY_AGAIN;
        }
    }
    if (status == ASSAY_OK) {
        table_weigh(&p->table, n[0], n[1]);
    } else {
        table_clear(&p->table);
    }
    return status;
}

static void piece_clear(assay_piece *p)
{
    assay_steps_clear(&p->steps);
    table_clear(&p->table);
    for (size_t i = 0; i < p->num_strata; i++) {
        assay_steps_clear(&p->strata[i]);
    }
    free(p->strata);
}

static void model_clear(assay_model *m)
{
    for (size_t i = 0; i < m->num_pieces; i++) {
        piece_clear(&m->piece[i]);
    }
    free(m->piece);
    assay_smooth_free(m->smooth);
    assay_mlp_free(m->mlp);
    if (m->encoder != NULL) {
        assay_encoder_clear(m->encoder);
        free(m->encoder);
    }
    memset(m, 0, sizeof *m);
}

void assay_models_clear(assay_models *models)
{
    for (size_t i = 0; i < models->num; i++) {
        model_clear(&models->model[i]);
    }
    models->num = 0;
}

/* ---- building models ---------------------------------------------------- */

static assay_model *model_add(assay_models *out, const char *name,
                              size_t max_pieces)
{
    if (out->num >= sizeof out->model / sizeof out->model[0]) {
        return NULL;
    }
    assay_model *m = &out->model[out->num];
    memset(m, 0, sizeof *m);
    m->piece = calloc(max_pieces, sizeof *m->piece);
    if (m->piece == NULL) {
        return NULL;
    }
    (void)snprintf(m->name, sizeof m->name, "%s", name);
    out->num++;
    return m;
}

assay_model *assay_models_blend(assay_models *models, const size_t *which,
                                const double *weight, size_t num)
{
    char name[64] = "blend of";
    assay_model *m = model_add(models, name, 1);
    for (size_t k = 0; m != NULL && k < num && k < ASSAY_MAX_BLEND; k++) {
        char part[20];
        m->blend[k] = &models->model[which[k]];
        m->blend_weight[k] = weight[k];
        m->num_blend++;
        (void)snprintf(part, sizeof part, "%s", m->blend[k]->name);
        (void)strncat(name, k == 0 ? " " : ", ",
                      sizeof name - 1 - strlen(name));
        (void)strncat(name, part, sizeof name - 1 - strlen(name));
    }
    if (m != NULL) {
        memcpy(m->name, name, sizeof m->name);
    }
    return m;
}

/* Add a steps piece unless it says nothing. */
static assay_status add_feature(assay_model *m, const assay_training *d,
                                assay_feature f, assay_error *err)
{
    assay_piece *p = &m->piece[m->num_pieces];
    assay_status status = fit_steps(p, d, f, err);
    if (status == ASSAY_OK && p->steps.num_edges > 0) {
        m->num_pieces++;
        return ASSAY_OK;
    }
    piece_clear(p);
    memset(p, 0, sizeof *p);
    return status;
}

/* A table of patterns with smoothed weights. */
static assay_status add_smooth(assay_model *m, const assay_training *d,
                               assay_feature f, int light, assay_error *err)
{
    assay_piece *p = &m->piece[m->num_pieces];
    assay_status status = fit_table(p, d, f, err);
    if (status == ASSAY_OK) {
        status = assay_pattern_smooth(p, d, light, err);
        if (status == ASSAY_OK ||
            (status == ASSAY_AGAIN && f.kind == ASSAY_F_PATTERN)) {
            m->num_pieces++;
            return ASSAY_OK;
        }
        table_clear(&p->table);
    }
    memset(p, 0, sizeof *p);
    return status == ASSAY_AGAIN ? ASSAY_OK : status;
}

static assay_status add_key(assay_model *m, const assay_training *d,
                            assay_feature f, assay_error *err)
{
    assay_piece *p = &m->piece[m->num_pieces];
    assay_status status = fit_table(p, d, f, err);
    if (status == ASSAY_OK) {
        m->num_pieces++;
        return ASSAY_OK;
    }
    memset(p, 0, sizeof *p);
    return status == ASSAY_AGAIN ? ASSAY_OK : status;
}

typedef struct shape {
    int mixed;   /* some column has words or gaps */
    int numeric; /* some column has numbers */
    int numeric_col[ASSAY_ROWS_WIDTH];
    int word[4]; /* words that occur */
    size_t num_words;
    assay_piece pattern; /* table of patterns, smoothed; feature PATTERN */
    int has_pattern;
} shape;

static void note_word(shape *s, double word)
{
    for (size_t k = 0; k < s->num_words; k++) {
        if (s->word[k] == (int)word) {
            return;
        }
    }
    if (s->num_words < sizeof s->word / sizeof s->word[0]) {
        s->word[s->num_words++] = (int)word;
    }
}

static shape look(const assay_training *d)
{
    shape s;
    memset(&s, 0, sizeof s);
    for (int side = 0; side < 2; side++) {
        for (size_t b = 0; b < d->num_blocks; b++) {
            const assay_rows *r = &d->rows[side][b];
            for (size_t j = 0; j < d->width; j++) {
                s.mixed |= !r->plain[j];
                if (r->plain[j]) {
                    s.numeric_col[j] = 1;
                }
                for (size_t i = 0; !s.numeric_col[j] && i < r->num; i++) {
                    s.numeric_col[j] |= r->tag[j][i] == ASSAY_CELL_NUMBER;
                }
                for (size_t i = 0; !r->plain[j] && b == 0 && i < r->num; i++) {
                    if (r->tag[j][i] == ASSAY_CELL_WORD) {
                        note_word(&s, r->value[j][i]);
                    }
                }
                s.numeric |= s.numeric_col[j];
            }
        }
    }
    return s;
}

/* A copy of the smoothed table of patterns. */
static assay_status add_pattern(assay_model *m, const shape *s,
                                assay_error *err)
{
    assay_piece *p = &m->piece[m->num_pieces];
    size_t slots = s->pattern.table.mask + 1;
    *p = s->pattern;
    p->table.count = NULL;
    p->table.key = malloc(slots * sizeof(uint64_t));
    p->table.weight = malloc(slots * sizeof(double));
    m->num_pieces++;
    if (p->table.key == NULL || p->table.weight == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    memcpy(p->table.key, s->pattern.table.key, slots * sizeof(uint64_t));
    memcpy(p->table.weight, s->pattern.table.weight, slots * sizeof(double));
    return ASSAY_OK;
}

/* A value itself, upwards and downwards: each way an event of either side. */
static assay_status fit_identity(assay_models *out, assay_feature f,
                                 const char *name)
{
    for (int sign = 1; sign >= -1; sign -= 2) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s%s", sign > 0 ? "" : "minus ",
                       name);
        assay_model *m = model_add(out, text, 1);
        if (m == NULL) {
            return ASSAY_MEMORY;
        }
        m->piece[0] = (assay_piece){
            .kind = ASSAY_PIECE_IDENTITY, .feature = f, .sign = sign};
        m->num_pieces = 1;
    }
    return ASSAY_OK;
}

/* Pattern plus one step function a column. */
static assay_status fit_additive(assay_models *out, const shape *s,
                                 const assay_training *d,
                                 assay_feature_kind kind, const char *name,
                                 assay_error *err)
{
    assay_model *m = model_add(out, name, d->width + 1);
    assay_status status = m == NULL ? ASSAY_MEMORY : ASSAY_OK;
    if (status == ASSAY_OK && s->has_pattern) {
        status = add_pattern(m, s, err);
    }
    for (size_t j = 0; status == ASSAY_OK && j < d->width; j++) {
        if (s->numeric_col[j]) {
            status = add_feature(m, d, assay_feature_of(kind, (int)j), err);
        }
    }
    return status;
}

static assay_status copy_steps(assay_steps *to, const assay_steps *from,
                               assay_error *err)
{
    *to = *from;
    to->edge = calloc(from->num_edges + 1, sizeof(double));
    to->weight = calloc(from->num_edges + 1, sizeof(double));
    if (to->edge == NULL || to->weight == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "attacker: out of memory");
    }
    memcpy(to->edge, from->edge, from->num_edges * sizeof(double));
    memcpy(to->weight, from->weight, (from->num_edges + 1) * sizeof(double));
    return ASSAY_OK;
}

/* All columns' numbers of a side, one after the other, NaN left out. */
static double *gather_all(const assay_training *d, int side,
                          assay_feature_kind kind, size_t *num)
{
    size_t most = 12000000, rows = d->num_blocks * BLOCK;
    size_t blocks = d->num_blocks;
    if (rows * d->width > most) {
        blocks = most / d->width / BLOCK + 1;
    }
    double *x = malloc((blocks * BLOCK * d->width + 1) * sizeof *x);
    *num = 0;
    for (size_t b = 0; x != NULL && b < blocks && b < d->num_blocks; b++) {
        for (size_t j = 0; j < d->width; j++) {
            double v[BLOCK];
            const assay_rows *r = &d->rows[side][b];
            assay_feature_numbers(r, assay_feature_of(kind, (int)j), v);
            for (size_t i = 0; i < r->num; i++) {
                if (!isnan(v[i])) {
                    x[(*num)++] = v[i];
                }
            }
        }
    }
    return x;
}

/* Pattern plus one step function for all columns: exchangeable outputs. */
static assay_status fit_pooled(assay_models *out, const shape *s,
                               const assay_training *d, assay_feature_kind kind,
                               const char *name, assay_error *err)
{
    assay_model *m = model_add(out, name, d->width + 1);
    size_t n[2] = {0, 0};
    double *x[2] = {gather_all(d, 0, kind, &n[0]),
                    gather_all(d, 1, kind, &n[1])};
    assay_steps all;
    memset(&all, 0, sizeof all);
    assay_status status = ASSAY_MEMORY;
    if (m != NULL && x[0] != NULL && x[1] != NULL) {
        status =
            assay_steps_fit(&all, x[0], x[1], n[0], n[1], 384, STRICT, err);
    }
    free(x[0]);
    free(x[1]);
    if (status == ASSAY_OK && s->has_pattern) {
        status = add_pattern(m, s, err);
    }
    for (size_t j = 0; status == ASSAY_OK && j < d->width; j++) {
        if (!s->numeric_col[j] || all.num_edges == 0) {
            continue;
        }
        assay_piece *p = &m->piece[m->num_pieces++];
        *p = (assay_piece){.kind = ASSAY_PIECE_STEPS,
                           .feature = assay_feature_of(kind, (int)j),
                           .sign = 1};
        status = copy_steps(&p->steps, &all, err);
        p->steps.missing = 0;
    }
    assay_steps_clear(&all);
    return status;
}

/* ---- strata: a step function for each pattern --------------------------- */

#define MAX_STRATA 2048
#define MIN_STRATUM 400

typedef struct bucket {
    double *x[2];
    size_t n[2];
} bucket;

/* Give every frequent pattern an index; the rest -1. */
static size_t number_strata(assay_table *t)
{
    size_t num = 0;
    t->other = -1;
    for (size_t i = 0; i <= t->mask; i++) {
        int often = t->count[2 * i] >= MIN_STRATUM &&
                    t->count[2 * i + 1] >= MIN_STRATUM;
        t->weight[i] = often && num < MAX_STRATA ? (double)num++ : -1;
    }
    return num;
}

static assay_status fill_buckets(bucket *k, const assay_piece *p,
                                 const assay_training *d)
{
    double x[BLOCK];
    uint64_t key[BLOCK];
    for (size_t b = 0; b < 2 * d->num_blocks; b++) {
        const assay_rows *r = &d->rows[b % 2][b / 2];
        assay_feature_numbers(r, p->feature, x);
        assay_feature_keys(r, assay_feature_of(ASSAY_F_PATTERN, 0), key);
        for (size_t i = 0; i < r->num; i++) {
            double at = assay_table_at(&p->table, key[i]);
            if (at >= 0 && !isnan(x[i])) {
                bucket *to = &k[(size_t)at];
                to->x[b % 2][to->n[b % 2]++] = x[i];
            }
        }
    }
    return ASSAY_OK;
}

static assay_status fit_strata_of(assay_piece *p, const assay_training *d,
                                  assay_error *err)
{
    bucket *k = calloc(p->num_strata + 1, sizeof *k);
    p->strata = calloc(p->num_strata + 1, sizeof *p->strata);
    assay_status status =
        k == NULL || p->strata == NULL ? ASSAY_MEMORY : ASSAY_OK;
    for (size_t i = 0; status == ASSAY_OK && i <= p->table.mask; i++) {
        if (p->table.key[i] == 0 || p->table.weight[i] < 0) {
            continue;
        }
        bucket *to = &k[(size_t)p->table.weight[i]];
        for (int s = 0; s < 2; s++) {
            to->x[s] = malloc((p->table.count[2 * i + (size_t)s] + 1) *
                              sizeof(double));
            status = to->x[s] == NULL ? ASSAY_MEMORY : status;
        }
    }
    if (status == ASSAY_OK) {
        status = fill_buckets(k, p, d);
    }
    for (size_t i = 0; i < p->num_strata; i++) {
        if (status == ASSAY_OK) {
            status = assay_steps_fit(&p->strata[i], k[i].x[0], k[i].x[1],
                                     k[i].n[0], k[i].n[1], 128, STRICT, err);
        }
        free(k == NULL ? NULL : k[i].x[0]);
        free(k == NULL ? NULL : k[i].x[1]);
    }
    free(k);
    return status;
}

static assay_status fit_strata(assay_models *out, const shape *s,
                               const assay_training *d, assay_error *err)
{
    assay_model *m = model_add(out, "density ratio by pattern", d->width + 1);
    assay_status status = m == NULL ? ASSAY_MEMORY : ASSAY_OK;
    const assay_feature pattern = assay_feature_of(ASSAY_F_PATTERN, 0);
    if (status == ASSAY_OK && s->has_pattern) {
        status = add_pattern(m, s, err);
    }
    for (size_t j = 0; status == ASSAY_OK && j < d->width; j++) {
        if (!s->numeric_col[j] || m->num_pieces == 0) {
            continue;
        }
        assay_piece *p = &m->piece[m->num_pieces];
        status = fit_table(p, d, pattern, err);
        if (status != ASSAY_OK) {
            break;
        }
        m->num_pieces++;
        p->kind = ASSAY_PIECE_STRATA;
        p->feature = assay_feature_of(ASSAY_F_RAW, (int)j);
        p->num_strata = number_strata(&p->table);
        status = fit_strata_of(p, d, err);
    }
    return status == ASSAY_AGAIN ? ASSAY_OK : status;
}

/* ---- everything --------------------------------------------------------- */

static assay_status fit_keys(assay_models *out, const assay_training *d,
                             assay_feature_kind kind, int columns,
                             const char *name, assay_error *err)
{
    assay_model *m = model_add(out, name, d->width);
    assay_status status = m == NULL ? ASSAY_MEMORY : ASSAY_OK;
    size_t num = columns ? d->width : 1;
    for (size_t j = 0; status == ASSAY_OK && j < num; j++) {
        status = add_key(m, d, assay_feature_of(kind, (int)j), err);
    }
    return status;
}

/* A quick look at wide rows leaves out what single columns say by
 * themselves. */
static assay_status fit_numeric(assay_models *out, const shape *s,
                                const assay_training *d, int light,
                                assay_error *err)
{
    assay_status status =
        fit_additive(out, s, d, ASSAY_F_RAW, "density ratio", err);
    int wide = light && d->width > 4;
    size_t singles = d->width < 4 ? d->width : wide ? 0 : 4;
    for (size_t j = 0; status == ASSAY_OK && j < singles; j++) {
        char name[32];
        (void)snprintf(name, sizeof name, "value %zu", j + 1);
        status = fit_identity(out, assay_feature_of(ASSAY_F_RAW, (int)j), name);
    }
    if (status == ASSAY_OK && !wide) {
        status = fit_keys(out, d, ASSAY_F_BITS, 1, "bits of the numbers", err);
    }
    if (status != ASSAY_OK || d->width == 1) {
        return status;
    }
    status = fit_pooled(out, s, d, ASSAY_F_RAW, "pooled density ratio", err);
    static const struct {
        assay_feature_kind kind;
        const char *name;
    } simple[] = {{ASSAY_F_SUM, "sum"},
                  {ASSAY_F_MAX, "maximum"},
                  {ASSAY_F_MIN, "minimum"}};
    for (size_t k = 0; status == ASSAY_OK && k < 3; k++) {
        status = fit_identity(out, assay_feature_of(simple[k].kind, 0),
                              simple[k].name);
    }
    return status;
}

typedef enum { STRAIGHT, BROKEN, SQUARE } line_shape;

/* The line through column j and its bends at quantiles, or its square. */
static void add_lines(assay_model *m, const assay_training *d, size_t j,
                      line_shape line)
{
    static const double share[] = {0.02, 0.15, 0.35, 0.5, 0.65, 0.85, 0.98};
    double x[2 * BLOCK], square = 0;
    size_t n = 0;
    assay_feature f = assay_feature_of(ASSAY_F_RAW, (int)j);
    for (int side = 0; side < 2; side++) {
        double v[BLOCK];
        assay_feature_numbers(&d->rows[side][0], f, v);
        for (size_t i = 0; i < d->rows[side][0].num; i++) {
            if (!isnan(v[i])) {
                x[n++] = v[i];
            }
        }
    }
    if (n < 64) {
        return;
    }
    qsort(x, n, sizeof *x, assay_compare_doubles);
    /* scale by the middle: heavy tails must not flatten the rest */
    double lo = x[n / 10], hi = x[n - 1 - n / 10];
    square = fmax(hi - lo, fmax(fabs(hi), fabs(lo)) * 1e-9);
    if (!(square > 0)) {
        return;
    }
    m->piece[m->num_pieces++] = (assay_piece){
        .kind = ASSAY_PIECE_IDENTITY, .feature = f, .sign = 1 / square};
    if (line == SQUARE) {
        m->piece[m->num_pieces++] = (assay_piece){.kind = ASSAY_PIECE_SQUARE,
                                                  .feature = f,
                                                  .sign = 1 / (square * square),
                                                  .knot = x[n / 2]};
    }
    for (size_t k = 0; line == BROKEN && k < sizeof share / sizeof share[0];
         k++) {
        double knot = x[(size_t)(share[k] * (double)n)];
        const assay_piece *last = &m->piece[m->num_pieces - 1];
        if (last->kind == ASSAY_PIECE_HINGE && knot <= last->knot) {
            continue;
        }
        m->piece[m->num_pieces++] = (assay_piece){.kind = ASSAY_PIECE_HINGE,
                                                  .feature = f,
                                                  .sign = 1 / square,
                                                  .knot = knot};
    }
}

/* Logistic regression on the values of a few columns: quick; lines are exact
 * for Gaussian shifts, broken lines for Laplace noise and exponential tails,
 * squares for Gaussians of different widths. */
static assay_status fit_lines(assay_models *out, const shape *s,
                              const assay_training *d, line_shape line,
                              assay_error *err)
{
    static const char *const name[] = {"linear logistic", "broken lines",
                                       "quadratic logistic"};
    assay_model base;
    memset(&base, 0, sizeof base);
    base.piece = calloc(8 * d->width + 2, sizeof *base.piece);
    assay_status status = base.piece == NULL ? ASSAY_MEMORY : ASSAY_OK;
    if (status == ASSAY_OK && s->has_pattern) {
        status = add_pattern(&base, s, err);
    }
    for (size_t j = 0; status == ASSAY_OK && j < d->width; j++) {
        if (s->numeric_col[j]) {
            add_lines(&base, d, j, line);
        }
    }
    if (status == ASSAY_OK && base.num_pieces > 0 &&
        out->num < ASSAY_MAX_MODELS) {
        status = assay_logistic_fit(&out->model[out->num], &base, d,
                                    8 * d->width + 1, err);
        if (status == ASSAY_OK) {
            assay_model *m = &out->model[out->num++];
            (void)snprintf(m->name, sizeof m->name, "%s", name[line]);
        }
    }
    model_clear(&base);
    return status;
}

/* The small network, with its encoder. */
static assay_status fit_network(assay_models *out, const shape *s,
                                const assay_training *d, assay_error *err)
{
    assay_model *m = model_add(out, "neural network", 1);
    assay_status status = m == NULL ? ASSAY_MEMORY : ASSAY_OK;
    if (status == ASSAY_OK && s->has_pattern) {
        status = add_pattern(m, s, err);
    }
    if (status == ASSAY_OK) {
        m->encoder = calloc(1, sizeof *m->encoder);
        status = m->encoder == NULL ? ASSAY_MEMORY : ASSAY_OK;
    }
    if (status == ASSAY_OK) {
        status = assay_encoder_fit(m->encoder, d, s->numeric_col, s->mixed,
                                   s->word, s->num_words,
                                   m->num_pieces > 0 ? m->piece : NULL, err);
    }
    if (status == ASSAY_OK && m->encoder->num == 0) {
        out->num--;
        model_clear(m);
        return ASSAY_OK;
    }
    if (status == ASSAY_OK) {
        status = assay_mlp_fit(&m->mlp, m->encoder, d, err);
    }
    return status;
}

/* Logistic regression on counts over groups of columns. */
static assay_status fit_grouped(assay_models *out, const shape *s,
                                const assay_training *d, assay_error *err)
{
    assay_encoder e;
    assay_status status = assay_groups_fit(&e, d, s->word, s->num_words, err);
    assay_model *m = NULL;
    if (status == ASSAY_OK && e.num > 0) {
        m = model_add(out, "grouped logistic", 1);
        status = m == NULL ? ASSAY_MEMORY : ASSAY_OK;
    }
    if (status == ASSAY_OK && m != NULL) {
        m->encoder = calloc(1, sizeof *m->encoder);
        status = m->encoder == NULL ? ASSAY_MEMORY : ASSAY_OK;
    }
    if (status == ASSAY_OK && m != NULL) {
        *m->encoder = e;
        return assay_smooth_fit(&m->smooth, m->encoder, d, err);
    }
    assay_encoder_clear(&e);
    return status;
}

/* The table of patterns, smoothed where that is possible. */
static assay_status fit_pattern(shape *s, const assay_training *d, int light,
                                assay_error *err)
{
    assay_status status =
        fit_table(&s->pattern, d, assay_feature_of(ASSAY_F_PATTERN, 0), err);
    if (status != ASSAY_OK) {
        return status == ASSAY_AGAIN ? ASSAY_OK : status;
    }
    s->has_pattern = 1;
    status = assay_pattern_smooth(&s->pattern, d, light, err);
    return status == ASSAY_AGAIN ? ASSAY_OK : status;
}

static assay_status fit_smooth(assay_models *out, const assay_training *d,
                               int light, assay_error *err)
{
    assay_model *m = model_add(out, "smoothed histogram", 1);
    return m == NULL ? ASSAY_MEMORY
                     : add_smooth(m, d, assay_feature_of(ASSAY_F_EXACT, 0),
                                  light, err);
}

static assay_status fit_spline(assay_models *out, const shape *s,
                               const assay_training *d, assay_error *err)
{
    assay_spline_shape known = {s->numeric_col, s->mixed, s->word,
                                s->num_words};
    assay_model *m = model_add(out, "splines", 1);
    return m == NULL ? ASSAY_MEMORY : assay_spline_fit(m, d, &known, err);
}

/* Is one of these attackers wanted? Names end with NULL. */
static int wanted(const assay_names *only, const char *const *name)
{
    for (; only != NULL && *name != NULL; name++) {
        for (size_t k = 0; k < only->num; k++) {
            if (strncmp(only->name[k], *name, strlen(*name)) == 0) {
                return 1;
            }
        }
    }
    return only == NULL;
}

#define WANTED(...) wanted(only, (const char *const[]){__VA_ARGS__, NULL})

/* Attackers of rows with words. */
static assay_status fit_words(assay_models *out, shape *s,
                              const assay_training *data, int light,
                              const assay_names *only, assay_error *err)
{
    assay_status status = fit_pattern(s, data, light, err);
    if (status == ASSAY_OK && WANTED("cells")) {
        status = fit_keys(out, data, ASSAY_F_CELL, 1, "cells", err);
    }
    if (status == ASSAY_OK && s->numeric &&
        WANTED("density ratio by pattern")) {
        status = fit_strata(out, s, data, err);
    }
    return status;
}

/* Attackers whose parameters are fitted together. */
static assay_status fit_together(assay_models *out, const shape *s,
                                 const assay_training *data, int light,
                                 const assay_names *only, assay_error *err)
{
    assay_status status = ASSAY_OK;
    int many = data->width > 1;
    if (s->numeric && (light ? many : data->width < 4) &&
        WANTED("linear logistic")) {
        status = fit_lines(out, s, data, STRAIGHT, err);
    }
    int full = s->numeric && !light && data->width < 4;
    if (status == ASSAY_OK && full && WANTED("broken lines")) {
        status = fit_lines(out, s, data, BROKEN, err);
    }
    if (status == ASSAY_OK && full && WANTED("quadratic logistic")) {
        status = fit_lines(out, s, data, SQUARE, err);
    }
    if (status == ASSAY_OK && !light && data->width > 3 && WANTED("splines")) {
        status = fit_spline(out, s, data, err);
    }
    if (status == ASSAY_OK && many && s->numeric && !light &&
        WANTED("neural network")) {
        status = fit_network(out, s, data, err);
    }
    return status;
}

static assay_status fit_all(assay_models *out, shape *s,
                            const assay_training *data, int light,
                            const assay_names *only, assay_error *err)
{
    assay_status status =
        fit_keys(out, data, ASSAY_F_EXACT, 0, "histogram", err);
    /* with few different rows the histogram is the likelihood ratio */
    const assay_model *exact = &out->model[0];
    size_t used = exact->num_pieces == 1 ? exact->piece[0].table.used : 0;
    int few = used > 0 && used <= 4096;
    if (status == ASSAY_OK && data->width > 1 && few) {
        status = fit_smooth(out, data, light, err);
    }
    if (status == ASSAY_OK && s->mixed) {
        status = fit_words(out, s, data, light, only, err);
    }
    if (status == ASSAY_OK && data->width > 3 && WANTED("grouped logistic")) {
        status = fit_grouped(out, s, data, err);
    }
    if (status == ASSAY_OK && s->numeric &&
        WANTED("density ratio", "pooled", "value", "minus", "bits", "sum",
               "maximum", "minimum")) {
        status = fit_numeric(out, s, data, light, err);
    }
    /* of few different rows with many words the splines may still know more */
    return status == ASSAY_OK && (!few || (s->mixed && data->width > 3))
               ? fit_together(out, s, data, light, only, err)
               : status;
}

assay_status assay_models_fit(assay_models *out, const assay_training *data,
                              int light, const assay_names *only,
                              assay_error *err)
{
    openblas_set_num_threads(1); /* small matrices: threads would only wait */
    memset(out, 0, sizeof *out);
    shape s = look(data);
    assay_status status = fit_all(out, &s, data, light, only, err);
    piece_clear(&s.pattern);
    if (status != ASSAY_OK) {
        assay_models_clear(out);
        return assay_fail(err, status, "attackers: out of memory");
    }
    return status;
}
