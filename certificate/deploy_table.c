/* ring: glue */
/* Counts and histograms of a table of persons: one row is one person. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificate/deploy.h"
#include "certificate/foreign.h"
#include "certificate/population.h"
#include "core/bytes.h"
#include "core/rational.h"
#include "mechanisms/release.h"

#define MAX_CELLS 100000

typedef struct table {
    uint8_t *rows;
    uint64_t num_rows;
} table;

/* The cells of a histogram: which columns, in which order. */
typedef struct grid {
    int columns[ASSAY_POPULATION_COLUMNS];
    size_t num_columns;
    size_t num_cells;
} grid;

static int is(const assay_yaml *tree, const char *key, const char *word)
{
    const char *text = assay_yaml_text(tree, key);
    return text != NULL && strcmp(text, word) == 0;
}

static assay_status find_columns(grid *out, const assay_yaml *by,
                                 assay_error *err)
{
    out->num_columns = 0;
    out->num_cells = 1;
    for (size_t i = 0; i < by->num_items; i++) {
        int c = assay_population_column(by->items[i].text);
        if (c < 0 || out->num_columns == ASSAY_POPULATION_COLUMNS) {
            return assay_yaml_fail(&by->items[i], err,
                                   "there is no column '%.40s'",
                                   by->items[i].text);
        }
        out->columns[out->num_columns++] = c;
        out->num_cells *= assay_population_columns[c].num_values;
    }
    return out->num_cells <= MAX_CELLS
               ? ASSAY_OK
               : assay_yaml_fail(by, err, "too many cells");
}

static void count_cells(int64_t *cells, const table *data, const grid *g)
{
    for (uint64_t i = 0; i < data->num_rows; i++) {
        const uint8_t *row = data->rows + i * ASSAY_POPULATION_COLUMNS;
        size_t at = 0;
        for (size_t k = 0; k < g->num_columns; k++) {
            at = at * assay_population_columns[g->columns[k]].num_values +
                 row[g->columns[k]];
        }
        cells[at]++;
    }
}

/*
 * A person is in one cell: added or removed she changes one cell by 1 (l1 =
 * l2^2 = 1), replaced two cells (l1 = l2^2 = 2). A single count changes by 1.
 */
static assay_status release(int64_t *cells, size_t n, int sensitivity,
                            const assay_yaml *r, assay_custodian *custodian,
                            assay_error *err)
{
    int gaussian = is(r, "noise", "gaussian");
    const char *name = assay_yaml_text(r, "name");
    mpq_t spend, bound, scale;
    mpq_init(spend);
    mpq_init(bound);
    mpq_init(scale);
    mpq_set_si(bound, sensitivity, 1);
    assay_status status = assay_rational_parse_positive(
        spend, assay_yaml_text(r, gaussian ? "rho" : "epsilon"), name, err);
    if (status == ASSAY_OK) {
        mpq_div(scale, bound, spend);
        if (gaussian) {
            mpq_div_2exp(scale, scale, 1); /* sigma^2 = l2^2 / (2 rho) */
            status = assay_release_gaussian_vector(custodian, cells, cells, n,
                                                   scale, bound, name, err);
        } else {
            status = assay_release_laplace_vector(custodian, cells, cells, n,
                                                  scale, bound, name, err);
        }
    }
    mpq_clear(spend);
    mpq_clear(bound);
    mpq_clear(scale);
    return status;
}

static json_t *cell_json(const grid *g, size_t at, int64_t value)
{
    json_t *cell = json_object();
    for (size_t k = g->num_columns; k-- > 0;) {
        const assay_column *c = &assay_population_columns[g->columns[k]];
        (void)json_object_set_new(cell, c->name,
                                  json_string(c->values[at % c->num_values]));
        at /= c->num_values;
    }
    (void)json_object_set_new(cell, "count", json_integer(value));
    return cell;
}

static assay_status write_json(json_t *outputs, const char *name, json_t *body,
                               const char *folder, assay_error *err)
{
    char file[64];
    (void)snprintf(file, sizeof file, "%s.json", name);
    char *path = assay_deploy_path(folder, file);
    char *text = json_dumps(body, JSON_INDENT(1));
    assay_status status =
        path != NULL && text != NULL
            ? assay_write_file(path, text, strlen(text), err)
            : assay_fail(err, ASSAY_MEMORY, "no memory for JSON");
    if (status == ASSAY_OK) {
        (void)json_array_append_new(outputs, json_string(file));
    }
    free(path);
    free(text);
    return status;
}

static assay_status histogram(json_t **out, const assay_yaml *r,
                              const table *data, assay_custodian *custodian,
                              assay_error *err)
{
    grid g;
    assay_status status = find_columns(&g, assay_yaml_get(r, "by"), err);
    if (status != ASSAY_OK) {
        return status;
    }
    int64_t *cells = calloc(g.num_cells, sizeof *cells);
    if (cells == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a histogram");
    }
    count_cells(cells, data, &g);
    status =
        release(cells, g.num_cells, assay_custodian_replaces(custodian) ? 2 : 1,
                r, custodian, err);
    if (status == ASSAY_OK) {
        *out = json_array();
        for (size_t i = 0; i < g.num_cells; i++) {
            (void)json_array_append_new(*out, cell_json(&g, i, cells[i]));
        }
    }
    free(cells);
    return status;
}

static assay_status count(json_t **out, const assay_yaml *r, const table *data,
                          assay_custodian *custodian, assay_error *err)
{
    int column = assay_population_column(assay_yaml_text(r, "column"));
    int value =
        column < 0
            ? -1
            : assay_population_value(column, assay_yaml_text(r, "equals"));
    int64_t n = 0;
    if (value < 0) {
        return assay_yaml_fail(r, err, "there is no such column or value");
    }
    for (uint64_t i = 0; i < data->num_rows; i++) {
        n += data->rows[i * ASSAY_POPULATION_COLUMNS + (size_t)column] == value;
    }
    assay_status status = release(&n, 1, 1, r, custodian, err);
    if (status == ASSAY_OK) {
        *out = json_pack("{s:s,s:s,s:I}", "column",
                         assay_yaml_text(r, "column"), "equals",
                         assay_yaml_text(r, "equals"), "count", (json_int_t)n);
    }
    return status;
}

static assay_status one(json_t *outputs, const assay_manifest *m,
                        const assay_yaml *r, const table *data,
                        const char *folder, assay_custodian *custodian,
                        assay_error *err)
{
    json_t *body = NULL;
    assay_status status;
    if (is(r, "statistic", "mechanism")) {
        status = assay_foreign_run(&body, r, custodian, err);
    } else if (is(m->data, "source", "file")) {
        status = assay_deploy_query(&body, m, r, custodian, err);
    } else if (is(r, "statistic", "count")) {
        status = count(&body, r, data, custodian, err);
    } else {
        status = histogram(&body, r, data, custodian, err);
    }
    if (status == ASSAY_OK) {
        status =
            write_json(outputs, assay_yaml_text(r, "name"), body, folder, err);
    }
    json_decref(body);
    return status;
}

assay_status assay_deploy_releases(json_t *outputs,
                                   const assay_manifest *manifest,
                                   const char *folder,
                                   assay_custodian *custodian, assay_error *err)
{
    table data = {NULL, 0};
    uint64_t seed = 1;
    const char *text = assay_yaml_text(manifest->data, "seed");
    assay_status status =
        text != NULL ? assay_u64_parse(&seed, text, "seed", err) : ASSAY_OK;
    if (status == ASSAY_OK && is(manifest->data, "source", "population")) {
        data.num_rows = manifest->users;
        status = assay_population_draw(&data.rows, data.num_rows, seed, err);
    }
    const assay_yaml *list = manifest->releases;
    for (size_t i = 0; i < list->num_items && status == ASSAY_OK; i++) {
        status = one(outputs, manifest, &list->items[i], &data, folder,
                     custodian, err);
    }
    free(data.rows);
    return status;
}
