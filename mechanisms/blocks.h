/* ring: kernel */
/**
 * The fast half of the block sampler (docs/math/samplers.md, blocks): integer
 * bounds for the coin that keeps x = j 2^b + r.
 *
 * The coin is "U < exp(-gamma)" with
 *     Gaussian  gamma = kappa r' (2 j + r'),  kappa = 2^(2b) / (2 sigma^2)
 *     Laplace   gamma = kappa r',             kappa = 2^b / scale
 * where r' = r / 2^b in [0, 1). In units of 2^-32 the code computes
 *     x_low <= 2^32 gamma <= x_high                 (GammaLow, GammaHigh)
 *     exp_low(x_high) <= 2^32 exp(-gamma) <= exp_high(x_low)
 * from the alternating series of exp, each term rounded the safe way
 * [Coq: blocks-exp-bounds], so that the word's upper 32 bits decide except with
 * probability about 2^-22; the exact comparison (assay_below_exp) does the rest.
 */
#ifndef ASSAY_MECHANISMS_BLOCKS_H
#define ASSAY_MECHANISMS_BLOCKS_H

#include <stdint.h>

#include "core/status.h"

#define ASSAY_BLOCKS_MAX_J 511 /* beyond it the exact path is taken */

/*@ logic integer Quad(integer x) = (x * x) / 4294967296;
    logic integer Cube(integer x) = (Quad(x) * x) / 4294967296;
    logic integer Four(integer x) = (Cube(x) * x) / 4294967296;
    logic integer Five(integer x) = (Four(x) * x) / 4294967296;
    logic integer ExpLow(integer x) =
      4294967296 - x + Quad(x) / 2 - (Cube(x) / 6 + 2) + Four(x) / 24 -
      (Five(x) / 120 + 2);
    logic integer ExpHigh(integer x) =
      4294967296 - x + (Quad(x) / 2 + 1) - Cube(x) / 6 + (Four(x) / 24 + 2);

    // 2^20 r', and 2^40 r' (2j + r') or 2^40 r'
    logic integer GammaPart(integer j, integer rq, integer gaussian) =
      gaussian == 1 ? rq * (2097152 * j + rq) : 1048576 * rq;
    logic integer GammaLow(integer j, integer rq, integer gaussian,
                           integer kappa) =
      ((GammaPart(j, rq, gaussian) / 1048576) * kappa) / 268435456;
    logic integer GammaHigh(integer j, integer rq, integer gaussian,
                            integer kappa) =
      ((GammaPart(j, rq + 1, gaussian) / 1048576 + 1) * (kappa + 1)) /
      268435456 + 1;
*/

/** kappa is floor(2^40 kappa); gaussian is 0 or 1. */
typedef struct assay_blocks {
    uint64_t kappa; /* at most 2^39, and at most 2^33 if gaussian */
    uint32_t gaussian;
    uint32_t bits; /* b, 0 to 57 */
} assay_blocks;

/*@ predicate BlocksOk(assay_blocks *t) =
      t->kappa <= 549755813888 && t->gaussian <= 1 &&
      (t->gaussian == 1 ==> t->kappa <= 8589934592) && t->bits <= 57;
*/

/** rq is 2^20 r', rounded down. ASSAY_OK: keep; ASSAY_INVALID: reject;
 *  ASSAY_AGAIN: these bits don't tell. */
/*@ requires ok: \valid_read(t) && BlocksOk(t);
    requires range: j <= 511 && rq < 1048576;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures keep: \result == ASSAY_OK ==>
      GammaHigh(j, rq, t->gaussian, t->kappa) < 4294967296 &&
      word / 4294967296 < ExpLow(GammaHigh(j, rq, t->gaussian, t->kappa));
    ensures reject: \result == ASSAY_INVALID ==>
      GammaHigh(j, rq, t->gaussian, t->kappa) < 4294967296 &&
      word / 4294967296 >= ExpHigh(GammaLow(j, rq, t->gaussian, t->kappa));
    ensures codes: \result == ASSAY_OK || \result == ASSAY_INVALID ||
      \result == ASSAY_AGAIN;
*/
assay_status assay_blocks_coin(const assay_blocks *t, uint64_t j, uint64_t rq,
                               uint64_t word) ASSAY_MUST_CHECK;

#endif
