/* ring: glue */
#include "mechanisms/tree.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/event.h"
#include "mechanisms/noise.h"
#include "mechanisms/sampler.h"
#include "mechanisms/tree_nodes.h"

struct assay_tree {
    assay_custodian *custodian;
    assay_sampler *sampler;
    assay_mechanism law; /* ASSAY_TREE_LAPLACE or ASSAY_TREE_GAUSSIAN */
    mpq_t noise;         /* scale or sigma2 of a node */
    size_t dimension;
    int doubling;
    unsigned levels;  /* of the current tree */
    uint64_t horizon; /* of the current tree */
    uint64_t time;    /* steps in the current tree */
    uint64_t steps;   /* steps in all */
    int64_t *sums;    /* exact sums of open nodes, a row per level: private */
    int64_t *closed;  /* noisy sums of closed nodes, a row per level        */
    int64_t *past;    /* noisy sum of the epochs that have ended            */
    int64_t *fresh;   /* noise of the nodes that close now, a row per level */
    int refined;      /* combine each node with the nodes below it          */
    double *best;     /* refined sums of closed nodes, a row per level      */
    double *best_past;
    double *sum_now; /* refined sum of the node that closes now            */
};

static int64_t *row(const assay_tree *tree, int64_t *table, unsigned level)
{
    return table + (size_t)level * tree->dimension;
}

static void wipe(int64_t *table, size_t n)
{
    if (table != NULL) {
        OPENSSL_cleanse(table, n * sizeof *table);
        free(table);
    }
}

/* Rows of noise that one step can need. */
static size_t fresh_rows(const assay_tree *tree, unsigned levels)
{
    return tree->refined ? levels : 1;
}

void assay_tree_free(assay_tree *tree)
{
    if (tree == NULL) {
        return;
    }
    size_t all = tree->dimension * tree->levels;
    wipe(tree->sums, all);
    wipe(tree->closed, all);
    wipe(tree->past, tree->dimension);
    wipe(tree->fresh, tree->dimension * fresh_rows(tree, tree->levels));
    free(tree->best);
    free(tree->best_past);
    free(tree->sum_now);
    assay_sampler_free(tree->sampler);
    mpq_clear(tree->noise);
    free(tree);
}

/* Noise for a node of a tree with `levels` levels. */
static assay_status new_sampler(assay_sampler **out, const assay_tree *tree,
                                unsigned levels, assay_error *err)
{
    mpq_t noise;
    assay_status status;
    mpq_init(noise);
    mpq_set_ui(noise, tree->doubling ? levels : 1, 1);
    mpq_mul(noise, noise, tree->noise);
    if (tree->law == ASSAY_TREE_LAPLACE) {
        status = assay_sampler_new_discrete_laplace(out, noise, NULL, err);
    } else {
        status = assay_sampler_new_discrete_gaussian(out, noise, NULL, err);
    }
    mpq_clear(noise);
    return status;
}

/* Room for `levels` empty levels; on failure the tree is as it was. */
static assay_status set_levels(assay_tree *tree, unsigned levels,
                               assay_error *err)
{
    assay_sampler *sampler = NULL;
    size_t all = tree->dimension * levels;
    int64_t *sums = calloc(all, sizeof *sums);
    int64_t *closed = calloc(all, sizeof *closed);
    size_t rows = tree->dimension * fresh_rows(tree, levels);
    int64_t *fresh = calloc(rows, sizeof *fresh);
    double *best = calloc(tree->refined ? all : 1, sizeof *best);
    assay_status status = ASSAY_OK;
    if (sums == NULL || closed == NULL || fresh == NULL || best == NULL) {
        status = assay_fail(err, ASSAY_MEMORY,
                            "no memory for a tree of %u levels", levels);
    } else {
        status = new_sampler(&sampler, tree, levels, err);
    }
    if (status != ASSAY_OK) {
        free(sums);
        free(closed);
        free(fresh);
        free(best);
        return status;
    }
    wipe(tree->fresh, tree->dimension * fresh_rows(tree, tree->levels));
    free(tree->best);
    tree->fresh = fresh;
    tree->best = best;
    wipe(tree->sums, tree->dimension * tree->levels);
    wipe(tree->closed, tree->dimension * tree->levels);
    assay_sampler_free(tree->sampler);
    tree->sums = sums;
    tree->closed = closed;
    tree->sampler = sampler;
    tree->levels = levels;
    return ASSAY_OK;
}

static assay_status charge(const assay_tree *tree, const mpq_t sensitivity,
                           const char *label, assay_error *err)
{
    assay_event event;
    assay_event_init(&event, tree->law);
    event.levels = tree->doubling ? 1 : tree->levels;
    if (tree->law == ASSAY_TREE_LAPLACE) {
        mpq_set(event.scale, tree->noise);
        mpq_set(event.sensitivity, sensitivity);
    } else {
        mpq_set(event.sigma2, tree->noise);
        mpq_set(event.sensitivity2, sensitivity);
    }
    assay_status status = assay_event_validate(&event, err);
    if (status == ASSAY_OK) {
        status = assay_custodian_charge(tree->custodian, &event, label, err);
    }
    assay_event_clear(&event);
    return status;
}

static assay_status check_size(size_t dimension, uint64_t horizon,
                               assay_error *err)
{
    if (dimension == 0 || dimension > (size_t)1 << 32) {
        return assay_fail(err, ASSAY_INVALID,
                          "a counter has between 1 and 2^32 cells");
    }
    if (horizon >= (uint64_t)1 << 62) {
        return assay_fail(err, ASSAY_INVALID,
                          "the horizon must be below 2^62; 0 means any");
    }
    return ASSAY_OK;
}

static assay_tree *allocate(assay_custodian *custodian, assay_mechanism law,
                            size_t dimension, uint64_t horizon)
{
    assay_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL) {
        return NULL;
    }
    mpq_init(tree->noise);
    tree->custodian = custodian;
    tree->law = law;
    tree->dimension = dimension;
    tree->doubling = horizon == 0;
    tree->horizon = tree->doubling ? 1 : horizon;
    tree->past = calloc(dimension, sizeof *tree->past);
    tree->best_past = calloc(dimension, sizeof *tree->best_past);
    tree->sum_now = calloc(dimension, sizeof *tree->sum_now);
    if (tree->past == NULL || tree->best_past == NULL ||
        tree->sum_now == NULL) {
        assay_tree_free(tree);
        return NULL;
    }
    return tree;
}

static assay_status new_tree(assay_tree **out, assay_custodian *custodian,
                             assay_mechanism law, size_t dimension,
                             uint64_t horizon, const mpq_t noise,
                             const mpq_t sensitivity, const char *label,
                             assay_error *err)
{
    assay_status status = check_size(dimension, horizon, err);
    if (status != ASSAY_OK) {
        return status;
    }
    assay_tree *tree = allocate(custodian, law, dimension, horizon);
    if (tree == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for %zu cells",
                          dimension);
    }
    mpq_set(tree->noise, noise);
    status = set_levels(tree, (unsigned)assay_tree_levels(tree->horizon), err);
    if (status == ASSAY_OK) {
        status = charge(tree, sensitivity, label, err);
    }
    if (status != ASSAY_OK) {
        assay_tree_free(tree);
        return status;
    }
    *out = tree;
    return ASSAY_OK;
}

assay_status assay_tree_new_laplace(assay_tree **out,
                                    assay_custodian *custodian,
                                    size_t dimension, uint64_t horizon,
                                    const mpq_t scale, const mpq_t sensitivity,
                                    const char *label, assay_error *err)
{
    return new_tree(out, custodian, ASSAY_TREE_LAPLACE, dimension, horizon,
                    scale, sensitivity, label, err);
}

assay_status assay_tree_new_gaussian(assay_tree **out,
                                     assay_custodian *custodian,
                                     size_t dimension, uint64_t horizon,
                                     const mpq_t sigma2,
                                     const mpq_t sensitivity2,
                                     const char *label, assay_error *err)
{
    return new_tree(out, custodian, ASSAY_TREE_GAUSSIAN, dimension, horizon,
                    sigma2, sensitivity2, label, err);
}

/* A full epoch becomes part of the past and the next, twice as long, begins. */
static assay_status next_epoch(assay_tree *tree, assay_error *err)
{
    const size_t d = tree->dimension;
    int64_t *root = malloc(d * sizeof *root);
    if (root == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for an epoch");
    }
    memcpy(root, row(tree, tree->closed, tree->levels - 1), d * sizeof *root);
    if (tree->refined) {
        memcpy(tree->sum_now, tree->best + d * (tree->levels - 1),
               d * sizeof *tree->sum_now);
    }
    assay_status status = set_levels(tree, tree->levels + 1, err);
    if (status != ASSAY_OK) {
        free(root);
        return status;
    }
    assay_tree_add_row(tree->past, root, d);
    for (size_t i = 0; i < d; i++) {
        tree->best_past[i] += tree->sum_now[i];
    }
    free(root);
    tree->horizon *= 2;
    tree->time = 0;
    return ASSAY_OK;
}

/* The node that closes takes the step and all lower open sums with it. */
static void close_node(assay_tree *tree, unsigned level, const int64_t *step)
{
    size_t d = tree->dimension;
    int64_t *sum = row(tree, tree->sums, level);
    memcpy(sum, step, d * sizeof *sum);
    for (unsigned j = 0; j < level; j++) {
        assay_tree_add_row(sum, row(tree, tree->sums, j), d);
        assay_tree_zero_row(row(tree, tree->sums, j), d);
        assay_tree_zero_row(row(tree, tree->closed, j), d);
    }
    assay_noise_add(tree->fresh, sum, d);
    memcpy(row(tree, tree->closed, level), tree->fresh, d * sizeof *sum);
}

/* Every node that ends now is noised (a step still lies in one node a level).
 * The estimate of a node weighs its own noisy sum against the sum of its two
 * children's estimates by their variances, in units of one node's:
 * v_0 = 1, w_j = 2 v_{j-1} / (2 v_{j-1} + 1), v_j = w_j, which falls to 1/2
 * (Honaker 2015). All of it is post-processing of noisy sums. */
static void close_refined(assay_tree *tree, unsigned level, const int64_t *step)
{
    const size_t d = tree->dimension;
    int64_t *sum = row(tree, tree->sums, level);
    double v = 1;
    if (tree->best == NULL) {
        return; /* only a refined tree keeps estimates */
    }
    memcpy(sum, step, d * sizeof *sum);
    for (unsigned j = 0; j <= level; j++) {
        int64_t *noisy = row(tree, tree->fresh, j);
        double w = j == 0 ? 1 : 2 * v / (2 * v + 1);
        const double *left = j == 0 ? NULL : tree->best + d * (j - 1);
        if (j > 0) {
            assay_tree_add_row(sum, row(tree, tree->sums, j - 1), d);
            assay_tree_zero_row(row(tree, tree->sums, j - 1), d);
        }
        assay_noise_add(noisy, sum, d);
        for (size_t i = 0; i < d; i++) {
            double below = left == NULL ? 0 : left[i] + tree->sum_now[i];
            tree->sum_now[i] = w * (double)noisy[i] + (1 - w) * below;
        }
        v = w;
    }
    memcpy(tree->best + d * level, tree->sum_now, d * sizeof *tree->sum_now);
}

static assay_status make_room(assay_tree *tree, assay_error *err)
{
    if (tree->time < tree->horizon) {
        return ASSAY_OK;
    }
    if (tree->doubling && tree->levels < ASSAY_TREE_MAX_LEVELS) {
        return next_epoch(tree, err);
    }
    return assay_fail(err, ASSAY_INVALID,
                      "the counter has reached its horizon: make a new one");
}

assay_status assay_tree_add(assay_tree *tree, const int64_t *step,
                            int64_t *prefix, assay_error *err)
{
    assay_status status = make_room(tree, err);
    if (status != ASSAY_OK) {
        return status;
    }
    unsigned level = (unsigned)assay_tree_closing(tree->time + 1);
    size_t rows = tree->refined ? (size_t)level + 1 : 1;
    status = assay_sampler_fill(tree->sampler, &tree->custodian->tape,
                                tree->fresh, rows * tree->dimension, err);
    if (status != ASSAY_OK) {
        return status;
    }
    tree->time++;
    tree->steps++;
    if (tree->refined) {
        close_refined(tree, level, step);
    } else {
        close_node(tree, level, step);
    }
    if (prefix != NULL) {
        assay_tree_prefix(tree, prefix);
    }
    return ASSAY_OK;
}

/* The prefix 1..t is the disjoint union of the closed nodes at the set bits of
 * t; rows at clear bits are zero. */
static void plain_prefix(const assay_tree *tree, int64_t *prefix)
{
    memcpy(prefix, tree->past, tree->dimension * sizeof *prefix);
    for (unsigned j = 0; j < tree->levels; j++) {
        if ((tree->time >> j & 1) != 0) {
            assay_tree_add_row(prefix, row(tree, tree->closed, j),
                               tree->dimension);
        }
    }
}

static void refined_prefix(const assay_tree *tree, int64_t *prefix)
{
    const double most = 0x1p62;
    for (size_t i = 0; i < tree->dimension; i++) {
        double sum = tree->best_past[i];
        for (unsigned j = 0; j < tree->levels; j++) {
            if ((tree->time >> j & 1) != 0) {
                sum += tree->best[tree->dimension * j + i];
            }
        }
        sum = sum > most ? most : sum < -most ? -most : sum;
        prefix[i] = (int64_t)llrint(sum);
    }
}

void assay_tree_prefix(const assay_tree *tree, int64_t *prefix)
{
    if (tree->refined) {
        refined_prefix(tree, prefix);
    } else {
        plain_prefix(tree, prefix);
    }
}

assay_status assay_tree_refine(assay_tree *tree, assay_error *err)
{
    if (tree->steps != 0) {
        return assay_fail(err, ASSAY_INVALID,
                          "refine a counter before its first step");
    }
    size_t rows = tree->dimension * tree->levels;
    int64_t *fresh = calloc(rows, sizeof *fresh);
    double *best = calloc(rows, sizeof *best);
    if (fresh == NULL || best == NULL) {
        free(fresh);
        free(best);
        return assay_fail(err, ASSAY_MEMORY, "no memory for a refined counter");
    }
    wipe(tree->fresh, tree->dimension * fresh_rows(tree, tree->levels));
    free(tree->best);
    tree->fresh = fresh;
    tree->best = best;
    tree->refined = 1;
    return ASSAY_OK;
}

uint64_t assay_tree_steps(const assay_tree *tree)
{
    return tree->steps;
}

unsigned assay_tree_num_levels(const assay_tree *tree)
{
    return tree->levels;
}
