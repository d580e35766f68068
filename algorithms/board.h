/* ring: glue */
/**
 * The board of an online learner: noisy running sums, and how a user's episode
 * gets onto it. The only file of the online learners that sees an episode.
 */
#ifndef ASSAY_ALGORITHMS_BOARD_H
#define ASSAY_ALGORITHMS_BOARD_H

#include "algorithms/online.h"

struct assay_tree;
struct assay_local_reporter;
struct assay_local_unary;

/* One vector statistic on its way to the board. */
typedef struct assay_lane {
    size_t n;
    struct assay_tree *tree;               /* central */
    struct assay_local_reporter *reporter; /* local   */
    int64_t *report;                       /* scratch: one noisy report */
} assay_lane;

typedef struct assay_board {
    assay_shape shape;
    size_t num_pairs, num_triples;
    int triples_only;
    unsigned cost_bits;
    int is_private;
    assay_lane counts; /* pairs (unless triples_only) and triples */
    assay_lane costs;
    struct assay_local_unary *unary; /* instead of the counts' lane */
    double unary_q;
    uint64_t unary_reports;
    uint64_t *unary_value; /* scratch: a user's transitions, one a step */
    uint8_t *unary_bits;   /* scratch: her report */
    int64_t *unary_ones;   /* [triple]: bits so far */
    int64_t *cell;         /* pairs, then triples: what the planner may see */
    int64_t *cost;         /* pairs, in steps of 2^-cost_bits                */
    int64_t *leaf;         /* scratch: one user's vectors                    */
} assay_board;

/** Charges for the whole run. After an error there is nothing to clear. */
assay_status assay_board_init(assay_board *board, const assay_shape *shape,
                              const assay_online_params *params,
                              struct assay_custodian *custodian,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_board_clear(assay_board *board);

/** Clips, rounds, counts and releases one episode. */
assay_status assay_board_add(assay_board *board, const assay_online_step *steps,
                             assay_error *err) ASSAY_MUST_CHECK;

/** q of the unary encoding in units of 2^-32: the least with
 *  ln((1-q)/q) <= eps/(2H), rounded towards more noise. */
uint32_t assay_board_unary_q(const assay_online_params *params,
                             const assay_shape *shape);

/** One user's contribution as integers: pairs and triples in `cell`, costs in
 *  `cost` (both zeroed by the caller). Public for the sensitivity tests. */
void assay_board_contribution(int64_t *cell, int64_t *cost,
                              const assay_shape *shape, unsigned cost_bits,
                              const assay_online_step *steps);

#endif
