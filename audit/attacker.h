/* ring: glue */
/**
 * Attackers: scores of an output row that should be large when the left input
 * was used. All are additive in features (audit/rows.h), each feature passed
 * through a step function, a broken line, a table, or itself; or a small
 * network. Nothing here needs to be right for a bound to be valid: an attacker
 * is chosen on training rows and judged on fresh ones.
 */
#ifndef ASSAY_AUDIT_ATTACKER_H
#define ASSAY_AUDIT_ATTACKER_H

#include "audit/rows.h"

/** A step function of a number: weight[i] on (edge[i-1], edge[i]]. */
typedef struct assay_steps {
    size_t num_edges;
    double *edge;
    double *weight; /* num_edges + 1 */
    double missing; /* NaN */
} assay_steps;

/** A table of weights by key. */
typedef struct assay_table {
    size_t mask;   /* slots - 1, a power of two minus one */
    uint64_t *key; /* 0: free */
    double *weight;
    uint32_t *count; /* [2 slot + side], training only */
    double other;
    size_t used;
} assay_table;

typedef enum {
    ASSAY_PIECE_IDENTITY,
    ASSAY_PIECE_STEPS,
    ASSAY_PIECE_TABLE,
    ASSAY_PIECE_STRATA,
    ASSAY_PIECE_HINGE,
    ASSAY_PIECE_SQUARE,
    /* steps holds num_edges points of a broken line, flat beyond */
    ASSAY_PIECE_LINES,
    /* steps.edge[k] is a word, steps.weight[k] what it says */
    ASSAY_PIECE_WORDS
} assay_piece_kind;

#define ASSAY_LINES_MAX 64 /* points of a broken line */

typedef struct assay_piece {
    assay_piece_kind kind;
    assay_feature feature;
    double sign; /* IDENTITY; HINGE: sign * max(0, x - knot); SQUARE: sign *
                    (x - knot)^2 */
    double knot;
    int smoothed; /* TABLE: by assay_pattern_smooth */
    /* LINES: multiplied by (another feature - times_centre) * times_scale;
     * 0: by nothing */
    assay_feature times;
    double times_centre, times_scale;
    assay_steps steps;
    assay_table table; /* STRATA: the weight is the stratum's index */
    assay_steps *strata;
    size_t num_strata;
} assay_piece;

struct assay_smooth;
struct assay_mlp;
struct assay_encoder;

#define ASSAY_MAX_BLEND 3

typedef struct assay_model {
    char name[64];
    size_t num_pieces;
    assay_piece *piece;
    struct assay_encoder *encoder; /* for the two below */
    struct assay_smooth *smooth;
    struct assay_mlp *mlp;
    const struct assay_model *blend[ASSAY_MAX_BLEND]; /* of the same list */
    double blend_weight[ASSAY_MAX_BLEND];
    size_t num_blend;
    int is_fit;      /* 1: weights of a joint fit, which overfits rare events */
    double evidence; /* of a logistic fit, to compare several; else 0 */
} assay_model;

/** Training rows: blocks of both sides. */
typedef struct assay_training {
    size_t width;
    size_t num_blocks; /* a side */
    assay_rows *rows[2];
} assay_training;

/** Scores of a block; `out` has ASSAY_ROWS_BLOCK floats. */
void assay_model_score(const assay_model *model, const assay_rows *rows,
                       float *out);

#define ASSAY_MAX_MODELS 48

typedef struct assay_models {
    size_t num;
    assay_model model[ASSAY_MAX_MODELS];
} assay_models;

/** Names of attackers. */
typedef struct assay_names {
    size_t num;
    char name[8][64];
} assay_names;

/** Fit every attacker that suits the rows, or those named in `only` (NULL: all);
 *  `light` leaves out the slow ones. */
assay_status assay_models_fit(assay_models *out, const assay_training *data,
                              int light, const assay_names *only,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_models_clear(assay_models *models);

/** Add the weighted sum of other models' scores; NULL if there is no room. */
assay_model *assay_models_blend(assay_models *models, const size_t *which,
                                const double *weight, size_t num);

/* -- for tests and for the other attackers -- */
assay_status assay_steps_fit(assay_steps *out, const double *left,
                             const double *right, size_t n_left, size_t n_right,
                             size_t quantiles, double strict,
                             assay_error *err) ASSAY_MUST_CHECK;
void assay_steps_clear(assay_steps *steps);
/** For qsort. */
int assay_compare_doubles(const void *a, const void *b);
double assay_steps_at(const assay_steps *steps, double x);
double assay_table_at(const assay_table *table, uint64_t key);
size_t assay_table_slot(const assay_table *table, uint64_t key);
/** A table of the given keys and weights; other keys weigh nothing. */
assay_status assay_table_make(assay_table *out, const uint64_t *key,
                              const double *weight, size_t num,
                              assay_error *err) ASSAY_MUST_CHECK;

/**
 * Replace the weights of a table of patterns (or of whole rows) by smoother
 * ones: a logistic model of the columns' categories and their pairs, and each
 * key's own log ratio, weighed by how well the model explains the keys
 * (empirical Bayes). ASSAY_AGAIN if the rows have too many categories.
 */
assay_status assay_pattern_smooth(assay_piece *piece,
                                  const assay_training *data, int light,
                                  assay_error *err) ASSAY_MUST_CHECK;

/** Logistic regression on the pieces of `base`, one weight a step. out->evidence
 *  is by the rows that a fit of `most` pieces has time for. */
assay_status assay_logistic_fit(assay_model *out, const assay_model *base,
                                const assay_training *data, size_t most,
                                assay_error *err) ASSAY_MUST_CHECK;
/** Value of one piece on a block, as doubles (NaN where missing). */
void assay_piece_value(const assay_piece *piece, const assay_rows *rows,
                       double *out);

#endif
