/* ring: glue */
#include "audit/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- training ----------------------------------------------------------- */

void assay_training_clear(assay_training *d)
{
    for (int s = 0; s < 2; s++) {
        for (size_t b = 0; d->rows[s] != NULL && b < d->num_blocks; b++) {
            assay_rows_clear(&d->rows[s][b]);
        }
        free(d->rows[s]);
    }
    memset(d, 0, sizeof *d);
}

static assay_status training_fill(assay_training *d, const assay_source *source,
                                  const assay_plan *p, assay_error *err)
{
    memset(d, 0, sizeof *d);
    d->width = source->width;
    size_t num = (size_t)(p->train_end / p->unit);
    d->rows[0] = calloc(num, sizeof(assay_rows));
    d->rows[1] = calloc(num, sizeof(assay_rows));
    if (d->rows[0] == NULL || d->rows[1] == NULL) {
        assay_training_clear(d);
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    d->num_blocks = num;
    assay_status status = ASSAY_OK;
    for (size_t b = 0; status == ASSAY_OK && b < 2 * num; b++) {
        assay_rows *r = &d->rows[b % 2][b / 2];
        status = assay_rows_init(r, source->width, err);
        if (status == ASSAY_OK) {
            status = assay_source_fill(source, (int)(b % 2), (b / 2) * p->unit,
                                       p->unit, r, err);
        }
    }
    if (status != ASSAY_OK) {
        assay_training_clear(d);
    }
    return status;
}

/* The caller clears the data. */
assay_status assay_train(assay_models *out, assay_training *data,
                         const assay_source *source, const assay_plan *p,
                         int light, const assay_names *only, assay_error *err)
{
    assay_status status = training_fill(data, source, p, err);
    return status == ASSAY_OK ? assay_models_fit(out, data, light, only, err)
                              : status;
}

/* ---- scores ------------------------------------------------------------- */

void assay_scores_clear(assay_scores *c)
{
    for (size_t k = 0; k < c->num; k++) {
        free(c->s[k][0]);
        free(c->s[k][1]);
    }
    free(c->spare);
    memset(c, 0, sizeof *c);
}

assay_status assay_scores_init(assay_scores *c, const assay_models *models,
                               const size_t *which, size_t num, size_t rows,
                               assay_error *err)
{
    memset(c, 0, sizeof *c);
    c->models = models;
    c->num = num;
    c->room = rows;
    int ok = (c->spare = malloc(rows * sizeof(float))) != NULL;
    for (size_t k = 0; k < num; k++) {
        c->which[k] = which[k];
        c->n[k] = rows;
        for (int side = 0; side < 2; side++) {
            c->s[k][side] = malloc(rows * sizeof(float));
            ok &= c->s[k][side] != NULL;
        }
    }
    if (!ok) {
        assay_scores_clear(c);
        return assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
    }
    return ASSAY_OK;
}

static assay_status score_unit(void *arg, int thread, uint64_t first,
                               const assay_rows *left, const assay_rows *right,
                               assay_error *err)
{
    assay_scores *c = arg;
    float out[ASSAY_ROWS_BLOCK];
    (void)thread;
    (void)err;
    for (size_t k = 0; k < c->num; k++) {
        for (int side = 0; side < 2; side++) {
            const assay_rows *r = side == 0 ? left : right;
            assay_model_score(&c->models->model[c->which[k]], r, out);
            memcpy(c->s[k][side] + (first - c->base), out,
                   r->num * sizeof *out);
        }
    }
    return ASSAY_OK;
}

assay_status assay_scores_range(assay_scores *c, const assay_source *source,
                                uint64_t first, uint64_t end, size_t unit,
                                int threads, assay_error *err)
{
    c->base = first;
    return assay_work_units(source, first, end, unit, threads, score_unit, c,
                            err);
}

void assay_scores_sort(assay_scores *c)
{
    for (size_t k = 0; k < c->num; k++) {
        assay_work_sort(c->s[k][0], c->spare, c->n[k]);
        assay_work_sort(c->s[k][1], c->spare, c->n[k]);
    }
}

/* A score that was not fitted to anything (a plain number of the row), or a
 * fit of so few parameters that its training rows look like any others. */
static int is_plain(const assay_model *m)
{
    int number = m->num_pieces == 1 &&
                 m->piece[0].kind == ASSAY_PIECE_IDENTITY && !m->is_fit &&
                 m->num_blend == 0 && m->smooth == NULL && m->mlp == NULL;
    return number || (m->is_fit && m->evidence != 0);
}

/* Room for `more` further rows in column k. */
static assay_status grow(assay_scores *c, size_t k, size_t more,
                         assay_error *err)
{
    size_t most = c->n[k] + more;
    int ok = 1;
    float **at[3] = {&c->s[k][0], &c->s[k][1], &c->spare};
    for (int i = 0; i < 3; i++) {
        size_t room = i == 2 && most < c->room ? c->room : most;
        float *grown = realloc(*at[i], room * sizeof(float));
        ok &= grown != NULL;
        *at[i] = grown != NULL ? grown : *at[i];
    }
    c->room = most < c->room ? c->room : most;
    return ok ? ASSAY_OK
              : assay_fail(err, ASSAY_MEMORY, "audit: out of memory");
}

/* For plain scores the training rows are as good as selection rows. */
static void add_training(assay_scores *c, size_t k, const assay_training *data)
{
    const assay_model *m = &c->models->model[c->which[k]];
    for (size_t b = 0; b < data->num_blocks; b++) {
        float out[ASSAY_ROWS_BLOCK];
        for (int side = 0; side < 2; side++) {
            const assay_rows *r = &data->rows[side][b];
            assay_model_score(m, r, out);
            memcpy(c->s[k][side] + c->n[k], out, r->num * sizeof *out);
        }
        c->n[k] += data->rows[0][b].num;
    }
}

assay_status assay_scores_plain(assay_scores *c, const assay_training *data,
                                assay_error *err)
{
    size_t more = 0;
    for (size_t b = 0; b < data->num_blocks; b++) {
        more += data->rows[0][b].num;
    }
    assay_status status = ASSAY_OK;
    for (size_t k = 0; status == ASSAY_OK && k < c->num; k++) {
        if (is_plain(&c->models->model[c->which[k]])) {
            status = grow(c, k, more, err);
            if (status == ASSAY_OK) {
                add_training(c, k, data);
            }
        }
    }
    return status;
}

/* Is the score a likelihood ratio that does not overfit rare rows? Sums of
 * many well-known parts, smooth fits of few parameters. (One table or one step
 * function has its luckiest entry on top.) */
int assay_scores_trusted(const assay_model *m)
{
    size_t steps = 0, lines = 0, other = 0;
    if (m->smooth != NULL || m->mlp != NULL || m->num_blend > 0) {
        return 1;
    }
    for (size_t k = 0; k < m->num_pieces; k++) {
        const assay_piece *p = &m->piece[k];
        int smooth = p->kind == ASSAY_PIECE_TABLE && p->smoothed;
        steps += p->kind == ASSAY_PIECE_STEPS;
        lines +=
            p->kind == ASSAY_PIECE_IDENTITY || p->kind == ASSAY_PIECE_HINGE ||
            p->kind == ASSAY_PIECE_SQUARE || p->kind == ASSAY_PIECE_LINES ||
            p->kind == ASSAY_PIECE_WORDS || smooth;
        other += p->kind == ASSAY_PIECE_STRATA ||
                 (p->kind == ASSAY_PIECE_TABLE && !smooth);
    }
    if (other > 0) {
        return 0;
    }
    return m->is_fit ? lines > 0 && steps == 0
                     : steps >= 3 || lines > 1 ||
                           (m->num_pieces == 1 && m->piece[0].smoothed);
}

void assay_scores_calibrate(assay_choice *o, const assay_scores *c, size_t k)
{
    o->is_ratio = 0;
    if (assay_scores_trusted(&c->models->model[c->which[k]])) {
        assay_work_calibrate(o, c->s[k][0], c->s[k][1], c->n[k]);
    }
}

static double mean_of(const float *x, size_t n, double *square)
{
    double sum = 0;
    *square = 0;
    for (size_t i = 0; i < n; i++) {
        double v = fmin(fmax((double)x[i], -6), 6);
        sum += v;
        *square += v * v;
    }
    *square /= (double)n;
    return sum / (double)n;
}

double assay_scores_separation(const assay_scores *c, size_t k)
{
    double square[2];
    double a = mean_of(c->s[k][0], c->n[k], &square[0]);
    double b = mean_of(c->s[k][1], c->n[k], &square[1]);
    double var = 0.5 * (square[0] + square[1] - a * a - b * b);
    return var > 0 ? fabs(a - b) / sqrt(var) : 0;
}
