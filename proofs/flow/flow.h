/* What the flow check believes (included before every analysed file).
 *
 * 1. Samplers: what they write comes from the tape alone, whatever parameters
 *    they get. Sound for coins and draws whose law is private by a theorem.
 * 2. Declassifiers: the kernels where data and noise meet write what the noise
 *    brings. Each is named here and nowhere else.
 * 3. Environment: ledger, GMP, MPFR, errors: results come from arguments.
 */
#ifndef ASSAY_FLOW_H
#define ASSAY_FLOW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/rational.h"
#include "accountant/event.h"
#include "accountant/ledger.h"
#include "mechanisms/above.h"
#include "mechanisms/bernoulli.h"
#include "mechanisms/big.h"
#include "mechanisms/coin.h"
#include "mechanisms/compare.h"
#include "mechanisms/custodian.h"
#include "mechanisms/noise.h"
#include "mechanisms/point.h"
#include "mechanisms/report.h"
#include "mechanisms/sampler.h"
#include "mechanisms/snapping.h"
#include "mechanisms/uniform.h"
#include "mechanisms/weighted.h"

extern int64_t flow_tape;   /* the random words */
extern int64_t flow_ledger; /* what is on disk */

/* --- samplers: from the tape alone --- */
struct assay_sampler {
    int law;
};
/*@ assigns out[0 .. n - 1], flow_tape, *err, \result \from flow_tape, n; */
assay_status flow_fill(assay_sampler *sampler, int64_t *out, size_t n,
                       assay_error *err);
/*@ assigns *out, flow_tape, *err, \result \from flow_tape; */
assay_status flow_one(assay_sampler *sampler, int64_t *out, assay_error *err);
/*@ assigns \nothing; */
void flow_sampler_free(assay_sampler *sampler);
#define assay_sampler_new_discrete_gaussian(out, q, options, err)              \
    flow_new_sampler(out, q, 0, err)
#define assay_sampler_new_discrete_laplace(out, q, options, err)               \
    flow_new_sampler(out, q, 0, err)
#define assay_sampler_new_rounded_gaussian(out, q, bits, err)                  \
    flow_new_sampler(out, q, bits, err)
#define assay_sampler_new_rounded_laplace(out, q, bits, err)                   \
    flow_new_sampler(out, q, bits, err)
/*@ assigns *out, *err, \result \from *q, bits; */
assay_status flow_new_sampler(assay_sampler **out, const mpq_t q, long bits,
                              assay_error *err);
#define assay_sampler_fill(s, tape, out, n, err) flow_fill(s, out, n, err)
#define assay_sampler_one(s, tape, out, err) flow_one(s, out, err)
#define assay_sampler_free(s) flow_sampler_free(s)

/*@ assigns *out, flow_tape, \result \from flow_tape; */
assay_status flow_coin(int *out);
#define assay_bernoulli(tape, a, b, out) flow_coin(out)
#define assay_coin_flip(coin, tape, gap, out) flow_coin(out)
/*@ assigns *coin \from *rate; */
void flow_coin_init(assay_coin *coin, const mpq_t rate);
#define assay_coin_init(coin, rate) flow_coin_init(coin, rate)
/*@ assigns *coin \from \nothing; */
void flow_coin_clear(assay_coin *coin);
#define assay_coin_clear(coin) flow_coin_clear(coin)
/*@ assigns *out, flow_tape, \result \from flow_tape;
    ensures \result == 0 ==> *out < n; */
assay_status flow_uniform(uint64_t n, uint64_t *out);
#define assay_uniform_below(tape, n, out) flow_uniform(n, out)
/*@ assigns *out, flow_tape, \result \from flow_tape; */
assay_status flow_word(uint64_t *out);
#define assay_tape_next(tape, out) flow_word(out)
/*@ assigns *out, flow_tape, \result \from flow_tape, scale; */
assay_status flow_snap_noise(double *out, double scale);
#define assay_snapping_noise(tape, out, scale) flow_snap_noise(out, scale)
/*@ assigns *out, flow_tape, *err, \result \from flow_tape;
    ensures \result == 0 ==> *out < n; */
assay_status flow_weighted(size_t *out, size_t n, assay_error *err);
#define assay_weighted_draw(tape, out, w, d, n, rate, err)                     \
    flow_weighted(out, n, err)
/*@ assigns *z \from \nothing; */
void flow_wipe_mpz(mpz_t z);
#define assay_big_wipe(z) flow_wipe_mpz(z)

/* --- declassifiers --- */
/*@ assigns noise[0 .. n - 1] \from noise[0 .. n - 1]; */
void flow_noise_add(int64_t *noise, size_t n);
#define assay_noise_add(noise, in, n) flow_noise_add(noise, n)
/*@ assigns \result \from noise, threshold_noise; */
int flow_compare_sums(int64_t noise, int64_t threshold_noise);
#define assay_compare_sums(a, b, c, d) flow_compare_sums(b, d)
/*@ assigns state->left \from state->left, state->noise, noise;
    assigns \result \from state->noise, noise; */
int flow_above_answer(assay_above *state, int64_t noise);
#define assay_above_answer(state, query, noise, threshold)                     \
    flow_above_answer(state, noise)
#define assay_above_start(state, positives, n) flow_start(state, positives, n)
/*@ assigns *state \from positives, noise; */
void flow_start(assay_above *state, uint64_t positives, int64_t noise);
/*@ assigns \result \from noise[0 .. n - 1]; ensures \result < n; */
size_t flow_compare_largest(const int64_t *noise, size_t n);
#define assay_compare_largest(value, noise, n) flow_compare_largest(noise, n)
/*@ assigns \result \from lie, answer; */
uint64_t flow_report_choose(int lie, uint64_t answer);
#define assay_report_choose(lie, answer, value, k)                             \
    flow_report_choose(lie, answer)
/*@ assigns bits[0 .. k - 1] \from bits[0 .. k - 1]; */
void flow_report_unary(uint8_t *bits, size_t k);
#define assay_report_unary(bits, k, value) flow_report_unary(bits, k)
/*@ assigns \result \from i, lo, offset; */
int64_t flow_point(size_t i, int64_t lo, uint64_t offset);
#define assay_point_of(sorted, i, lo, offset) flow_point(i, lo, offset)
/*@ assigns \result \from noise, scale, bound; */
double flow_snap(double noise, double scale, double bound);
#define assay_snapping_round(in, noise, scale, bound)                          \
    flow_snap(noise, scale, bound)

/* --- environment --- */
/*@ assigns *event \from mechanism; */
void flow_event_init(assay_event *event, assay_mechanism mechanism);
#define assay_event_init(event, mechanism) flow_event_init(event, mechanism)
/*@ assigns *err, \result \from *event; */
assay_status flow_event_validate(const assay_event *event, assay_error *err);
#define assay_event_validate(event, err) flow_event_validate(event, err)
/*@ assigns \nothing; */
void flow_event_clear(assay_event *event);
#define assay_event_clear(event) flow_event_clear(event)
/*@ assigns flow_ledger, *err, \result \from flow_ledger, *event, label; */
assay_status flow_charge(const assay_event *event, const char *label,
                         assay_error *err);
#define assay_custodian_charge(custodian, event, label, err)                   \
    flow_charge(event, label, err)
/*@ assigns \result \from flow_ledger; */
int flow_replaces(void);
#define assay_custodian_replaces(custodian) flow_replaces()
/*@ assigns \result \from *z; */
int flow_fits(const mpz_t z);
#define assay_mpz_fits_u64(z) flow_fits(z)
/*@ assigns \result \from *z; */
uint64_t flow_get(const mpz_t z);
#define assay_mpz_get_u64(z) flow_get(z)
/*@ assigns *z \from value; */
void flow_set(mpz_t z, uint64_t value);
#define assay_mpz_set_u64(z, value) flow_set(z, value)

extern int flow_rounding_mode;
/*@ assigns \result \from flow_rounding_mode; */
int fegetround(void);
#ifndef FE_TONEAREST
#define FE_TONEAREST 0
#endif

/*@ assigns \result \from x, y; */
double fmax(double x, double y);
/*@ assigns \result \from x, y; */
double fmin(double x, double y);
/*@ assigns \result \from x; */
double nearbyint(double x);
/*@ assigns \result \from x; */
double log1p(double x);
/*@ assigns \result \from x, power; */
double ldexp(double x, int power);
/* An error is built from all that its message is given. */
/*@ assigns *err, \result \from status, a, b; */
assay_status flow_fail(assay_error *err, assay_status status, long a, long b);
#define FLOW_FAIL_0(e, s, f) flow_fail(e, s, 0, 0)
#define FLOW_FAIL_1(e, s, f, a) flow_fail(e, s, (long)(a), 0)
#define FLOW_FAIL_2(e, s, f, a, b) flow_fail(e, s, (long)(a), (long)(b))
#define FLOW_FAIL_3(e, s, f, a, b, c)                                          \
    flow_fail(e, s, (long)(a) + (long)(b), (long)(c))
#define FLOW_FAIL_4(e, s, f, a, b, c, d)                                       \
    FLOW_FAIL_3(e, s, f, a, (long)(b) + (long)(c), d)
#define FLOW_FAIL_5(e, s, f, a, b, c, d, g)                                    \
    FLOW_FAIL_4(e, s, f, a, b, (long)(c) + (long)(d), g)
#define FLOW_FAIL_6(e, s, f, a, b, c, d, g, h)                                 \
    FLOW_FAIL_5(e, s, f, a, b, c, (long)(d) + (long)(g), h)
#define FLOW_PICK(e, s, f, a, b, c, d, g, h, NAME, ...) NAME
#define assay_fail(...)                                                        \
    FLOW_PICK(__VA_ARGS__, FLOW_FAIL_6, FLOW_FAIL_5, FLOW_FAIL_4, FLOW_FAIL_3, \
              FLOW_FAIL_2, FLOW_FAIL_1, FLOW_FAIL_0, 0)                        \
    (__VA_ARGS__)

#endif
