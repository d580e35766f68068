/* ring: glue */
#include "algorithms/counts.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "core/pages.h"

assay_status assay_counts_new(assay_counts **out, const assay_shape *shape,
                              assay_error *err)
{
    assay_counts *counts;
    assay_status status = assay_shape_check(shape, err);
    if (status != ASSAY_OK) {
        return status;
    }
    counts = calloc(1, sizeof *counts);
    if (counts != NULL) {
        counts->shape = *shape;
        counts->num_pairs = assay_shape_pairs(shape);
        counts->num_triples = assay_shape_triples(shape);
        counts->cell = assay_pages_new(counts->num_pairs + counts->num_triples,
                                       sizeof(int64_t));
    }
    if (counts == NULL || counts->cell == NULL) {
        free(counts);
        return assay_fail(err, ASSAY_MEMORY, "no memory for the counts");
    }
    *out = counts;
    return ASSAY_OK;
}

void assay_counts_free(assay_counts *counts)
{
    if (counts == NULL) {
        return;
    }
    OPENSSL_cleanse(counts->cell, (counts->num_pairs + counts->num_triples) *
                                      sizeof(int64_t));
    free(counts->cell);
    free(counts);
}

/* Asks memory for the cells of a step before any is counted: the waits then
 * are one. */
static void ask_for_cells(const assay_counts *counts, size_t pair,
                          uint32_t s_next)
{
#if defined(__GNUC__) && !defined(__FRAMAC__)
    size_t triple = pair * counts->shape.num_states + s_next;
    __builtin_prefetch(counts->cell + pair, 1);
    __builtin_prefetch(counts->cell + counts->num_pairs + triple, 1);
#else
    (void)counts, (void)pair, (void)s_next;
#endif
}

void assay_counts_add_all(assay_counts *counts, const assay_visit *visit)
{
    const assay_shape *shape = &counts->shape;
    for (uint32_t h = 0; h < shape->horizon; h++) {
        ask_for_cells(counts,
                      assay_shape_pair(shape, h, visit[h].s, visit[h].a),
                      visit[h + 1].s);
    }
    for (uint32_t h = 0; h < shape->horizon; h++) {
        assay_counts_add(counts, h, visit[h].s, visit[h].a, visit[h + 1].s);
    }
}

void assay_counts_merge(assay_counts *into, const assay_counts *from)
{
    size_t n = into->num_pairs + into->num_triples;
    for (size_t i = 0; i < n; i++) {
        into->cell[i] += from->cell[i];
    }
}

void assay_counts_distance(int64_t *l1, int64_t *l2_squared,
                           const assay_counts *left, const assay_counts *right,
                           int triples_only)
{
    size_t n = left->num_pairs + left->num_triples;
    *l1 = 0;
    *l2_squared = 0;
    for (size_t i = triples_only ? left->num_pairs : 0; i < n; i++) {
        int64_t d = left->cell[i] - right->cell[i];
        *l1 += d < 0 ? -d : d;
        *l2_squared += d * d;
    }
}

static void simulate_user(assay_visit *visit, const assay_mdp *mdp,
                          const double *behaviour, assay_envrand *rand)
{
    const assay_shape *shape = &mdp->shape;
    visit[0].s = assay_mdp_reset(mdp, rand);
    for (uint32_t h = 0; h < shape->horizon; h++) {
        const double *row =
            behaviour + assay_shape_pair(shape, h, visit[h].s, 0);
        visit[h].a = assay_mdp_draw(row, shape->num_actions, rand);
        visit[h + 1].s = assay_mdp_step(mdp, h, visit[h].s, visit[h].a, rand);
    }
}

assay_status assay_counts_simulate(assay_counts **out, const assay_mdp *mdp,
                                   const double *behaviour, uint64_t num_users,
                                   uint64_t seed, assay_error *err)
{
    assay_counts *counts = NULL;
    const assay_shape *shape = &mdp->shape;
    assay_visit *visit;
    assay_envrand rand;
    assay_status status;
    if (num_users == 0 || num_users > ASSAY_COUNTS_MAX_USERS) {
        return assay_fail(err, ASSAY_INVALID, "users: from 1 to 2^31 - 1");
    }
    visit = calloc((size_t)shape->horizon + 1, sizeof *visit);
    if (visit == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a trajectory");
    }
    status = assay_counts_new(&counts, shape, err);
    if (status == ASSAY_OK) {
        assay_envrand_init(&rand, seed, 0);
        for (uint64_t user = 0; user < num_users; user++) {
            simulate_user(visit, mdp, behaviour, &rand);
            assay_counts_add_all(counts, visit);
        }
        counts->num_users = num_users;
        *out = counts;
    }
    free(visit);
    return status;
}
