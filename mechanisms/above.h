/* ring: kernel */
/**
 * The bookkeeping of sparse vector: one noisy threshold, one answer at a time,
 * at most `left` answers "above". The step of Coq's Answers.answers.
 */
#ifndef ASSAY_MECHANISMS_ABOVE_H
#define ASSAY_MECHANISMS_ABOVE_H

#include <stdint.h>

typedef struct assay_above {
    uint64_t left; /* answers "above" that are left */
    int64_t noise; /* of the threshold */
} assay_above;

/** A fresh noisy threshold and all positives again. */
/*@ requires writable: \valid(state);
    terminates \true;
    exits \false;
    assigns *state;
    ensures left:  state->left == positives;
    ensures noise: state->noise == noise;
*/
void assay_above_start(assay_above *state, uint64_t positives, int64_t noise);

/** Whether query + noise reaches threshold + the threshold's noise, in the
 *  integers; "above" uses one of the positives. */
/*@ requires writable: \valid(state);
    requires some:     state->left > 0;
    terminates \true;
    exits \false;
    assigns state->left;
    ensures answer: \result ==
      (query + noise >= threshold + state->noise ? 1 : 0);
    ensures left:   state->left == \old(state->left) - \result;
*/
int assay_above_answer(assay_above *state, int64_t query, int64_t noise,
                       int64_t threshold);

#endif
