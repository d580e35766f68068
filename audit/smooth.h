/* ring: glue */
/**
 * Smooth joint attackers: rows are encoded as numbers in [-1, 1] (the rank of a
 * feature among training rows; 0 where there is none) and classified by ridge
 * logistic regression on smooth functions of these, or by a small neural
 * network.
 */
#ifndef ASSAY_AUDIT_SMOOTH_H
#define ASSAY_AUDIT_SMOOTH_H

#include "audit/attacker.h"

#define ASSAY_CODE_MAX 96 /* features of an encoder */
#define ASSAY_CODE_KNOTS 33

typedef struct assay_code {
    assay_feature feature;
    int is_pattern;                /* the table's weight, not a feature */
    int is_summary;                /* of the whole row: may interact */
    double knot[ASSAY_CODE_KNOTS]; /* quantiles, not falling */
} assay_code;

struct assay_encoder {
    size_t num;
    assay_code *code;
    assay_piece *pattern; /* the model's table, or NULL */
};
typedef struct assay_encoder assay_encoder;

/** Ranks of a block's rows: out[k * ASSAY_ROWS_BLOCK + i], NaN as 0. */
void assay_encode(const assay_encoder *e, const assay_rows *rows, float *out);

/** Choose features and their knots. `pattern` may be NULL. */
assay_status assay_encoder_fit(assay_encoder *out, const assay_training *data,
                               const int *numeric_col, int mixed,
                               const int *words, size_t num_words,
                               assay_piece *pattern,
                               assay_error *err) ASSAY_MUST_CHECK;
void assay_encoder_clear(assay_encoder *e);

/** Knots of one feature; 0 if it is constant or hardly ever there. */
int assay_code_fit(assay_code *c, const assay_encoder *e,
                   const assay_training *data);

/** Which columns are larger on the left (mask[0]) or on the right input, as far
 *  as the rows tell; how many. */
size_t assay_groups_lean(uint64_t mask[2], const assay_training *data,
                         const int *words, size_t num_words);

/** Features of groups of columns that lean the same way; none (num = 0) if
 *  fewer than three lean. */
assay_status assay_groups_fit(assay_encoder *out, const assay_training *data,
                              const int *words, size_t num_words,
                              assay_error *err) ASSAY_MUST_CHECK;

/** Ridge logistic regression, the penalty by marginal likelihood. */
struct assay_smooth;
assay_status assay_smooth_fit(struct assay_smooth **out,
                              const assay_encoder *encoder,
                              const assay_training *data,
                              assay_error *err) ASSAY_MUST_CHECK;
void assay_smooth_score(const struct assay_smooth *m,
                        const assay_encoder *encoder, const assay_rows *rows,
                        float *out);
void assay_smooth_free(struct assay_smooth *m);

/** One hidden layer of tanh units, trained by Adam. */
struct assay_mlp;
assay_status assay_mlp_fit(struct assay_mlp **out, const assay_encoder *encoder,
                           const assay_training *data,
                           assay_error *err) ASSAY_MUST_CHECK;
void assay_mlp_score(const struct assay_mlp *m, const assay_encoder *encoder,
                     const assay_rows *rows, float *out);
void assay_mlp_free(struct assay_mlp *m);

#endif
