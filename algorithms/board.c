/* ring: glue */
#include "algorithms/board.h"

#include <math.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "core/rational.h"
#include "mechanisms/local_report.h"
#include "mechanisms/local_unary.h"
#include "mechanisms/tree.h"

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

/* One lane of unit 2^unit_bits whose sensitivity is `share` per step (4 or 2
 * for the counts, 2 for the costs). The noise in natural units is the same for
 * both lanes: total H L/budget (Laplace), total H L/(2 budget) (Gaussian). */
typedef struct lane_plan {
    uint64_t share;
    unsigned unit_bits;
    const char *label;
} lane_plan;

static assay_status lane_make(assay_lane *lane,
                              const assay_online_params *params,
                              struct assay_custodian *custodian,
                              const mpq_t noise, const mpq_t bound,
                              const char *label, assay_error *err)
{
    int gaussian = params->noise == ASSAY_NOISE_GAUSSIAN;
    uint64_t k = params->episodes;
    if (params->trust == ASSAY_TRUST_CENTRAL) {
        /* the last user's data is never used: K - 1 steps */
        return gaussian
                   ? assay_tree_new_gaussian(&lane->tree, custodian, lane->n,
                                             k - 1, noise, bound, label, err)
                   : assay_tree_new_laplace(&lane->tree, custodian, lane->n,
                                            k - 1, noise, bound, label, err);
    }
    lane->report = calloc(lane->n, sizeof(int64_t));
    if (lane->report == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the board");
    }
    return gaussian
               ? assay_local_reporter_new_gaussian(&lane->reporter, custodian,
                                                   lane->n, k, noise, bound,
                                                   label, err)
               : assay_local_reporter_new_laplace(&lane->reporter, custodian,
                                                  lane->n, k, noise, bound,
                                                  label, err);
}

static assay_status lane_open(assay_lane *lane, const assay_shape *shape,
                              const assay_online_params *params,
                              struct assay_custodian *custodian, size_t n,
                              const lane_plan *plan, assay_error *err)
{
    unsigned power = params->noise == ASSAY_NOISE_GAUSSIAN ? 2 * plan->unit_bits
                                                           : plan->unit_bits;
    uint64_t total = assay_online_sensitivity(params, shape);
    mpq_t noise;
    mpq_t bound;
    assay_status status;
    if (params->trust == ASSAY_TRUST_CENTRAL) {
        total *= assay_online_levels(params->episodes);
    }
    mpq_init(noise);
    mpq_init(bound);
    assay_privatizer_scale(noise, params->noise, total, params->budget);
    mpq_mul_2exp(noise, noise, power);
    assay_mpz_set_u64(mpq_numref(bound), plan->share * shape->horizon);
    mpq_mul_2exp(bound, bound, power);
    lane->n = n;
    status = lane_make(lane, params, custodian, noise, bound, plan->label, err);
    mpq_clear(noise);
    mpq_clear(bound);
    return status;
}

static void lane_close(assay_lane *lane)
{
    assay_tree_free(lane->tree);
    assay_local_reporter_free(lane->reporter);
    free(lane->report);
    lane->tree = NULL;
    lane->reporter = NULL;
    lane->report = NULL;
}

/* sum stays within +-2^62 */
static int64_t add_clamped(int64_t sum, int64_t x)
{
    int64_t half = sum / 2 + x / 2;
    int64_t top = (int64_t)1 << 62;
    if (half > top / 2 || half < -(top / 2)) {
        return half > 0 ? top : -top;
    }
    return sum + x;
}

/* One user's vector joins the noisy running sums in `out`. */
static assay_status lane_add(assay_lane *lane, int64_t *out, const int64_t *in,
                             assay_error *err)
{
    assay_status status;
    if (lane->tree != NULL) {
        return assay_tree_add(lane->tree, in, out, err);
    }
    status = assay_local_report(lane->reporter, lane->report, in, err);
    for (size_t i = 0; status == ASSAY_OK && i < lane->n; i++) {
        out[i] = add_clamped(out[i], lane->report[i]);
    }
    return status;
}

uint32_t assay_board_unary_q(const assay_online_params *params,
                             const assay_shape *shape)
{
    double each = mpq_get_d(params->budget) / (2.0 * shape->horizon);
    double q = 4294967296.0 / (1.0 + exp(each));
    q = ceil(q * (1.0 + 1e-9)) + 1.0;
    return q < 2147483647.0 ? (uint32_t)q : UINT32_C(2147483647);
}

static assay_status open_unary(assay_board *board,
                               const assay_online_params *params,
                               struct assay_custodian *custodian,
                               assay_error *err)
{
    const assay_shape *shape = &board->shape;
    uint32_t q = assay_board_unary_q(params, shape);
    board->unary_q = (double)q / 4294967296.0;
    board->unary_value = calloc(shape->horizon, sizeof(uint64_t));
    board->unary_bits = calloc(board->num_triples, 1);
    board->unary_ones = calloc(board->num_triples, sizeof(int64_t));
    if (board->unary_value == NULL || board->unary_bits == NULL ||
        board->unary_ones == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for the board");
    }
    return assay_local_unary_new(&board->unary, custodian, shape->horizon,
                                 board->num_triples / shape->horizon,
                                 params->episodes, q,
                                 "online learner: transitions, unary", err);
}

/* A user's transitions leave as bits; the board's triples are the debiased
 * sums (ones - n q)/(1/2 - q), rounded: post-processing. */
static assay_status add_unary(assay_board *board,
                              const assay_online_step *steps, assay_error *err)
{
    const assay_shape *shape = &board->shape;
    int64_t *cell = board->cell + board->num_pairs;
    double n = (double)(board->unary_reports + 1);
    assay_status status;
    for (uint32_t h = 0; h < shape->horizon; h++) {
        board->unary_value[h] =
            ((uint64_t)steps[h].s * shape->num_actions + steps[h].a) *
                shape->num_states +
            steps[h].s_next;
    }
    status = assay_local_unary_report(board->unary, board->unary_bits,
                                      board->unary_value, err);
    if (status != ASSAY_OK) {
        return status;
    }
    board->unary_reports++;
    for (size_t i = 0; i < board->num_triples; i++) {
        board->unary_ones[i] += board->unary_bits[i];
        cell[i] = (int64_t)nearbyint(
            ((double)board->unary_ones[i] - n * board->unary_q) /
            (0.5 - board->unary_q));
    }
    return ASSAY_OK;
}

static assay_status open_lanes(assay_board *board,
                               const assay_online_params *params,
                               struct assay_custodian *custodian,
                               assay_error *err)
{
    size_t skip = board->triples_only ? board->num_pairs : 0;
    size_t n = board->num_pairs + board->num_triples - skip;
    lane_plan counts = {4, 0, "online learner: visits and transitions"};
    lane_plan costs = {2, 0, "online learner: costs"};
    assay_status status = assay_privatizer_check(custodian, err);
    if (status != ASSAY_OK) {
        return status;
    }
    counts.share = board->triples_only ? 2 : 4;
    costs.unit_bits = board->cost_bits;
    status = params->noise == ASSAY_NOISE_UNARY
                 ? open_unary(board, params, custodian, err)
                 : lane_open(&board->counts, &board->shape, params, custodian,
                             n, &counts, err);
    if (status == ASSAY_OK) {
        status = lane_open(&board->costs, &board->shape, params, custodian,
                           board->num_pairs, &costs, err);
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
    board->triples_only =
        params->triples_only || params->noise == ASSAY_NOISE_UNARY;
    board->is_private = params->trust != ASSAY_TRUST_NONE;
    board->cost_bits = params->cost_bits;
    cells = board->num_pairs + board->num_triples;
    board->cell = calloc(cells, sizeof(int64_t));
    board->cost = calloc(board->num_pairs, sizeof(int64_t));
    board->leaf = calloc(cells + board->num_pairs, sizeof(int64_t));
    if (board->cell == NULL || board->cost == NULL || board->leaf == NULL) {
        status = assay_fail(err, ASSAY_MEMORY, "no memory for the board");
    }
    if (status == ASSAY_OK && params->trust != ASSAY_TRUST_NONE) {
        status = open_lanes(board, params, custodian, err);
    }
    if (status != ASSAY_OK) {
        assay_board_clear(board);
    }
    return status;
}

void assay_board_clear(assay_board *board)
{
    lane_close(&board->counts);
    lane_close(&board->costs);
    assay_local_unary_free(board->unary);
    free(board->unary_value);
    free(board->unary_bits);
    free(board->unary_ones);
    board->unary = NULL;
    board->unary_value = NULL;
    board->unary_bits = NULL;
    board->unary_ones = NULL;
    if (board->leaf != NULL) {
        OPENSSL_cleanse(board->leaf,
                        (2 * board->num_pairs + board->num_triples) *
                            sizeof(int64_t));
    }
    free(board->cell);
    free(board->cost);
    free(board->leaf);
    board->cell = NULL;
    board->cost = NULL;
    board->leaf = NULL;
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

static assay_status release(assay_board *board, const assay_online_step *steps,
                            assay_error *err)
{
    size_t cells = board->num_pairs + board->num_triples;
    size_t skip = board->triples_only ? board->num_pairs : 0;
    assay_status status = board->unary != NULL
                              ? add_unary(board, steps, err)
                              : lane_add(&board->counts, board->cell + skip,
                                         board->leaf + skip, err);
    if (status == ASSAY_OK) {
        status = lane_add(&board->costs, board->cost, board->leaf + cells, err);
    }
    if (status == ASSAY_OK && board->triples_only) {
        sum_triples(board);
    }
    return status;
}

assay_status assay_board_add(assay_board *board, const assay_online_step *steps,
                             assay_error *err)
{
    size_t cells = board->num_pairs + board->num_triples;
    assay_status status;
    if (!board->is_private) {
        assay_board_contribution(board->cell, board->cost, &board->shape,
                                 board->cost_bits, steps);
        return ASSAY_OK;
    }
    memset(board->leaf, 0, (cells + board->num_pairs) * sizeof(int64_t));
    assay_board_contribution(board->leaf, board->leaf + cells, &board->shape,
                             board->cost_bits, steps);
    status = release(board, steps, err);
    return status;
}
