/* ring: glue */
#include "algorithms/board.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "core/rational.h"
#include "mechanisms/vector_counter.h"

static int64_t cost_on_lattice(double cost, unsigned bits)
{
    double top = (double)(1u << bits);
    if (!(cost > 0.0)) {
        return 0; /* NaN too */
    }
    return (int64_t)nearbyint(fmin(cost, 1.0) * top);
}

void assay_board_contribution(int64_t *cell, int64_t *cost,
                              const assay_shape *shape, unsigned cost_bits,
                              const assay_online_step *steps)
{
    size_t num_pairs = assay_shape_pairs(shape);
    for (uint32_t h = 0; h < shape->horizon; h++) {
        size_t pair = assay_shape_pair(shape, h, steps[h].s, steps[h].a);
        cell[pair]++;
        cell[num_pairs + pair * shape->num_states + steps[h].s_next]++;
        cost[pair] += cost_on_lattice(steps[h].cost, cost_bits);
    }
}

/* One counter: `share` of the sensitivity per step (4 or 2 for the counts, 2
 * for the costs), its unit 2^unit_bits. The natural noise is the same for
 * both: total H L/budget for Laplace, total H L/(2 budget) for Gaussian. */
static assay_status open_counter(struct assay_vector_counter **out,
                                 const assay_board *board,
                                 const assay_online_params *params,
                                 struct assay_custodian *custodian, size_t n,
                                 uint64_t share, unsigned unit_bits,
                                 const char *label, assay_error *err)
{
    int gaussian = params->noise == ASSAY_NOISE_GAUSSIAN;
    unsigned power = gaussian ? 2 * unit_bits : unit_bits;
    assay_counter_spec spec;
    mpq_t noise;
    mpq_t bound;
    uint64_t total = assay_online_sensitivity(params, &board->shape);
    assay_status status;
    memset(&spec, 0, sizeof spec);
    spec.kind = params->trust == ASSAY_TRUST_CENTRAL ? ASSAY_COUNTER_TREE
                                                     : ASSAY_COUNTER_LOCAL;
    spec.gaussian = gaussian;
    spec.n = n;
    spec.max_steps = params->episodes;
    spec.label = label;
    if (spec.kind == ASSAY_COUNTER_TREE) {
        total *= assay_counter_levels(spec.max_steps);
    }
    mpq_init(noise);
    mpq_init(bound);
    assay_privatizer_scale(noise, params->noise, total, params->budget);
    mpq_mul_2exp(noise, noise, power);
    assay_mpz_set_u64(mpq_numref(bound), share * board->shape.horizon);
    mpq_mul_2exp(bound, bound, power);
    status = assay_vector_counter_new(out, custodian, &spec, noise, bound,
                                      err);
    mpq_clear(noise);
    mpq_clear(bound);
    return status;
}

static assay_status open_counters(assay_board *board,
                                  const assay_online_params *params,
                                  struct assay_custodian *custodian,
                                  assay_error *err)
{
    size_t skip = board->triples_only ? board->num_pairs : 0;
    size_t n = board->num_pairs + board->num_triples - skip;
    assay_status status;
    if (custodian == NULL) {
        return assay_fail(err, ASSAY_INVALID,
                          "a private learner needs a ledger");
    }
    status = open_counter(&board->counts, board, params, custodian, n,
                          board->triples_only ? 2 : 4, 0,
                          "online learner: visits and transitions", err);
    if (status == ASSAY_OK) {
        status = open_counter(&board->costs, board, params, custodian,
                              board->num_pairs, 2, board->cost_bits,
                              "online learner: costs", err);
    }
    return status;
}

assay_status assay_board_init(assay_board *board, const assay_shape *shape,
                              const assay_online_params *params,
                              struct assay_custodian *custodian,
                              assay_error *err)
{
    size_t cells;
    assay_status status = ASSAY_OK;
    memset(board, 0, sizeof *board);
    board->shape = *shape;
    board->num_pairs = assay_shape_pairs(shape);
    board->num_triples = assay_shape_triples(shape);
    board->triples_only = params->triples_only;
    board->cost_bits = params->cost_bits;
    cells = board->num_pairs + board->num_triples;
    board->cell = calloc(cells, sizeof(int64_t));
    board->cost = calloc(board->num_pairs, sizeof(int64_t));
    board->leaf = calloc(cells + board->num_pairs, sizeof(int64_t));
    if (board->cell == NULL || board->cost == NULL || board->leaf == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for the board");
    }
    if (status == ASSAY_OK && params->trust != ASSAY_TRUST_NONE) {
        status = open_counters(board, params, custodian, err);
    }
    if (status != ASSAY_OK) {
        assay_board_clear(board);
    }
    return status;
}

void assay_board_clear(assay_board *board)
{
    if (board->counts != NULL) {
        assay_vector_counter_free(board->counts);
    }
    if (board->costs != NULL) {
        assay_vector_counter_free(board->costs);
    }
    if (board->leaf != NULL) {
        OPENSSL_cleanse(board->leaf, (2 * board->num_pairs +
                                      board->num_triples) *
                                         sizeof(int64_t));
    }
    free(board->cell);
    free(board->cost);
    free(board->leaf);
    memset(board, 0, sizeof *board);
}

static int64_t clamp(int64_t x)
{
    int64_t top = (int64_t)1 << 44; /* S 2^44 < 2^61 */
    return x > top ? top : x < -top ? -top : x;
}

static void sum_triples(assay_board *board)
{
    uint32_t num_states = board->shape.num_states;
    const int64_t *row = board->cell + board->num_pairs;
    for (size_t pair = 0; pair < board->num_pairs; pair++) {
        int64_t sum = 0;
        for (uint32_t t = 0; t < num_states; t++) {
            sum += clamp(row[t]);
        }
        board->cell[pair] = sum;
        row += num_states;
    }
}

static assay_status release(assay_board *board, assay_error *err)
{
    size_t cells = board->num_pairs + board->num_triples;
    size_t skip = board->triples_only ? board->num_pairs : 0;
    assay_status status = assay_vector_counter_step(
        board->counts, board->cell + skip, board->leaf + skip, err);
    if (status == ASSAY_OK) {
        status = assay_vector_counter_step(board->costs, board->cost,
                                           board->leaf + cells, err);
    }
    if (status == ASSAY_OK && board->triples_only) {
        sum_triples(board);
    }
    return status;
}

assay_status assay_board_add(assay_board *board,
                             const assay_online_step *steps, assay_error *err)
{
    size_t cells = board->num_pairs + board->num_triples;
    assay_status status;
    if (board->counts == NULL) {
        assay_board_contribution(board->cell, board->cost, &board->shape,
                                 board->cost_bits, steps);
        return ASSAY_OK;
    }
    memset(board->leaf, 0, (cells + board->num_pairs) * sizeof(int64_t));
    assay_board_contribution(board->leaf, board->leaf + cells, &board->shape,
                             board->cost_bits, steps);
    status = release(board, err);
    return status;
}
