/* Releases as stubs, for the flow of code above them (queries, learners): what
 * a release writes comes from the tape, the ledger and public parameters. That
 * the releases themselves do so is checked target by target.
 *
 * Include after proofs/flow/main.h and before the analysed source.
 */
#ifndef ASSAY_FLOW_MECHANISMS_H
#define ASSAY_FLOW_MECHANISMS_H

#include "proofs/flow/flow.h"
#include "mechanisms/choose.h"
#include "mechanisms/keys.h"
#include "mechanisms/local.h"
#include "mechanisms/quantile.h"
#include "mechanisms/release.h"
#include "mechanisms/sparse_vector.h"
#include "mechanisms/tree.h"

/*@ assigns out[0 .. n - 1], flow_tape, flow_ledger, *err, \result
      \from flow_tape, flow_ledger, n, *noise, *sensitivity; */
assay_status flow_release_vector(int64_t *out, size_t n, const mpq_t noise,
                                 const mpq_t sensitivity, assay_error *err);
#define assay_release_gaussian_vector(c, out, in, n, q, s, label, err)         \
    flow_release_vector(out, n, q, s, err)
#define assay_release_laplace_vector(c, out, in, n, q, s, label, err)          \
    flow_release_vector(out, n, q, s, err)
#define assay_release_gaussian_fresh(c, out, in, n, q, s, label, err)          \
    flow_release_vector(out, n, q, s, err)
#define assay_release_laplace_fresh(c, out, in, n, q, s, label, err)           \
    flow_release_vector(out, n, q, s, err)
#define assay_release_rounded_gaussian_vector(c, out, in, n, b, q, s, l, err)  \
    flow_release_vector(out, n, q, s, err)
#define assay_release_rounded_laplace_vector(c, out, in, n, b, q, s, l, err)   \
    flow_release_vector(out, n, q, s, err)
#define assay_release_gaussian(c, out, in, q, s, label, err)                   \
    flow_release_vector(out, 1, q, s, err)
#define assay_release_laplace(c, out, in, q, s, label, err)                    \
    flow_release_vector(out, 1, q, s, err)
#define assay_release_count(c, out, in, epsilon, label, err)                   \
    flow_release_vector(out, 1, epsilon, epsilon, err)
#define assay_release_gaussian_symmetric(c, out, in, d, sd, so, f2, label,     \
                                         err)                                  \
    flow_release_symmetric(out, d, sd, so, f2, err)
/*@ assigns out[0 .. d * d - 1], flow_tape, flow_ledger, *err, \result
      \from flow_tape, flow_ledger, d, *sd, *so, *f2; */
assay_status flow_release_symmetric(int64_t *out, size_t d, const mpq_t sd,
                                    const mpq_t so, const mpq_t f2,
                                    assay_error *err);
#define assay_release_gaussian_each(c, out, in, n, sigma2, cost2, label, err)  \
    flow_release_vector(out, n, (sigma2)[0], cost2, err)

/*@ assigns *out, flow_tape, flow_ledger, *err, \result
      \from flow_tape, flow_ledger, n, *epsilon;
    ensures \result == 0 ==> *out < n; */
assay_status flow_choose(size_t *out, size_t n, const mpq_t epsilon,
                         assay_error *err);
#define assay_choose_exponential(c, out, score, n, e, s, label, err)           \
    flow_choose(out, n, e, err)
#define assay_choose_permute_and_flip(c, out, score, n, e, s, label, err)      \
    flow_choose(out, n, e, err)
#define assay_choose_noisy_max(c, out, score, n, e, s, label, err)             \
    flow_choose(out, n, e, err)
#define assay_release_quantile_cell(c, out, counts, n, per, q, e, label, err)  \
    flow_choose(out, n, e, err)

/*@ assigns *out, flow_tape, flow_ledger, *err, \result
      \from flow_tape, flow_ledger, k, *p;
    ensures \result == 0 ==> *out < k; */
assay_status flow_response(uint64_t *out, uint64_t k, const mpq_t p,
                           assay_error *err);
#define assay_release_response(c, out, value, k, p, label, err)                \
    flow_response(out, k, p, err)
/*@ assigns out[0 .. k - 1], flow_tape, flow_ledger, *err, \result
      \from flow_tape, flow_ledger, k, *p; */
assay_status flow_unary(uint8_t *out, uint64_t k, const mpq_t p,
                        assay_error *err);
#define assay_release_unary(c, out, value, k, p, label, err)                   \
    flow_unary(out, k, p, err)
#define assay_release_unary_optimised(c, out, value, k, p, label, err)         \
    flow_unary(out, k, p, err)

/* Unknown keys: which ones are shown, and their noisy counts, come from the tape
 * by the theorem of the threshold; how many keys there are without being shown
 * is not part of the answer. */
/*@ assigns noisy[0 .. n - 1], shown[0 .. n - 1], flow_tape, flow_ledger, *err,
      \result \from flow_tape, flow_ledger, *epsilon, *delta; */
assay_status flow_keys(int64_t *noisy, uint8_t *shown, size_t n,
                       const mpq_t epsilon, const mpq_t delta,
                       assay_error *err);
#define assay_release_keys(c, noisy, shown, counts, n, a, b, e, d, label, err) \
    flow_keys(noisy, shown, n, e, d, err)
/*@ assigns at[0 .. n - 1], \result \from shown[0 .. n - 1];
    ensures \result <= n;
    ensures \forall integer i; 0 <= i < \result ==> at[i] < n; */
size_t flow_keys_shown(size_t *at, const uint8_t *shown, size_t n);
#define assay_keys_shown(at, shown, n) flow_keys_shown(at, shown, n)
/*@ assigns \result \from at; */
char *flow_keys_name(size_t at);
#define assay_keys_name(names, at) flow_keys_name(at)

/*@ assigns *above, flow_tape, *err, \result \from flow_tape, flow_ledger; */
assay_status flow_ask(int *above, assay_error *err);
#define assay_sparse_vector_ask(sv, above, query, threshold, err)              \
    flow_ask(above, err)
/*@ assigns prefix[0 .. d - 1], flow_tape, *err, \result
      \from flow_tape, flow_ledger; */
assay_status flow_tree_add(int64_t *prefix, size_t d, assay_error *err);

#endif
