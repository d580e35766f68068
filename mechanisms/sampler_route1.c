/* ring: glue */
#include "mechanisms/sampler_internal.h"

#include <stdlib.h>
#include <string.h>

#include "core/rational.h"
#include "mechanisms/big.h"

#define MAX_TABLE 262144 /* entries of a two-sided table */
#define TABLE_SCALE 1024 /* up to this scale the table is two-sided */

/* ---- making ---- */

/* digits[] of a symmetric law from floor(2^64 P[X >= j]), j = 1 .. J: k = -J is
 * the last one whose digit is 0, and F(k) = 1 - P[X >= k+1] mirrors it. */
static void lay_symmetric(uint64_t *digits, const uint64_t *tails, size_t J)
{
    for (size_t j = 1; j <= J; j++) {
        digits[J - j] = tails[j - 1];
        digits[J + j - 1] = UINT64_MAX - tails[j - 1];
    }
}

/* k = -1 has digit 0. */
static void lay_one_sided(uint64_t *digits, const uint64_t *tails, size_t J)
{
    digits[0] = 0;
    for (size_t j = 1; j <= J; j++) {
        digits[j] = UINT64_MAX - tails[j - 1];
    }
}

/* About four buckets an entry; guide[b] is the first index whose digit is not
 * below the first word of bucket b. */
static assay_status make_guide(assay_sampler *s, assay_error *err)
{
    uint32_t bits = 4;
    uint32_t i = 0;
    while (((size_t)1 << bits) < 4 * (size_t)s->table.size) {
        bits++;
    }
    s->table.shift = 64 - bits;
    s->guide = malloc(((size_t)1 << bits) * sizeof *s->guide);
    if (s->guide == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "out of memory");
    }
    for (size_t b = 0; b < (size_t)1 << bits; b++) {
        while (i + 1 < s->table.size && s->digits[i] < (uint64_t)b
                                                           << s->table.shift) {
            i++;
        }
        s->guide[b] = i;
    }
    s->table.guide = s->guide;
    return ASSAY_OK;
}

static assay_status make_table(assay_sampler *s, int one_sided,
                               assay_error *err)
{
    uint64_t *tails = NULL;
    size_t J = 0;
    size_t size;
    assay_status status =
        assay_cdf_tails(s->cdf, &tails, &J, MAX_TABLE / 2, err);
    if (status != ASSAY_OK) {
        return status;
    }
    size = one_sided ? J + 1 : 2 * J;
    s->digits = malloc(size * sizeof *s->digits);
    if (s->digits == NULL) {
        free(tails);
        return assay_fail(err, ASSAY_MEMORY, "out of memory");
    }
    if (one_sided) {
        lay_one_sided(s->digits, tails, J);
        s->first = -1;
    } else {
        lay_symmetric(s->digits, tails, J);
        s->first = -(int64_t)J;
    }
    free(tails);
    s->table.digits = s->digits;
    s->table.size = (uint32_t)size;
    return make_guide(s, err);
}

/* b with scale / 2^b in [16, 32) for the Gaussian and [4, 8) for the Laplace
 * law, or 0: a proposal is kept with probability above 0.88. In constant time
 * half of that, since every entry of the table is read: above 0.78. */
static uint32_t choose_bits(const mpq_t parameter, int gaussian, int scan)
{
    size_t keep = (gaussian ? 5u : 3u) - (scan ? 1u : 0u);
    mpz_t whole;
    size_t bits;
    mpz_init(whole);
    mpz_tdiv_q(whole, mpq_numref(parameter), mpq_denref(parameter));
    if (gaussian) {
        mpz_sqrt(whole, whole);
    }
    bits = mpz_sgn(whole) == 0 ? 0 : mpz_sizeinbase(whole, 2);
    mpz_clear(whole);
    return bits > keep ? (uint32_t)(bits - keep) : 0;
}

/* floor(2^40 kappa), kappa = 1 / (2 v) or 1 / v with v = parameter per block;
 * with b = 0 every r is 0 and the coin is always 1: kappa = 0. */
static void set_kappa(assay_sampler *s, const mpq_t per_block)
{
    mpq_t kappa;
    mpz_t whole;
    s->blocks.kappa = 0;
    if (s->blocks.bits == 0) {
        return;
    }
    mpq_init(kappa);
    mpz_init(whole);
    mpq_inv(kappa, per_block);
    mpq_mul_2exp(kappa, kappa, s->blocks.gaussian ? 39 : 40);
    mpz_tdiv_q(whole, mpq_numref(kappa), mpq_denref(kappa));
    s->blocks.kappa = assay_mpz_get_u64(whole);
    mpz_clear(whole);
    mpq_clear(kappa);
}

static assay_status make_halves(assay_sampler *s, assay_error *err)
{
    s->halves = malloc(s->table.size * sizeof *s->halves);
    if (s->halves == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < s->table.size; i++) {
        s->halves[i] = s->digits[i] >> 1;
    }
    return ASSAY_OK;
}

static assay_status prepare_blocks(assay_sampler *s, assay_cdf_kind kind,
                                   assay_error *err)
{
    int gaussian = kind == ASSAY_CDF_GAUSSIAN;
    mpq_t per_block;
    assay_status status;
    s->blocks.gaussian = (uint32_t)gaussian;
    s->blocks.bits =
        choose_bits(s->parameter, gaussian, s->draw == ASSAY_DRAW_BLOCKS_SCAN);
    if (s->blocks.bits > 52) {
        return assay_fail(err, ASSAY_INVALID,
                          "the scale is beyond 2^56: results would not fit 64 "
                          "bits");
    }
    mpq_init(per_block);
    mpq_div_2exp(per_block, s->parameter,
                 (gaussian ? 2 : 1) * (mp_bitcnt_t)s->blocks.bits);
    set_kappa(s, per_block);
    status = assay_cdf_new(&s->cdf, kind, 1, per_block, 0, err);
    mpq_clear(per_block);
    if (status == ASSAY_OK) {
        status = make_table(s, 1, err);
    }
    return status == ASSAY_OK ? make_halves(s, err) : status;
}

static int is_small(const mpq_t parameter, int squared, long step_bits)
{
    mpq_t limit;
    int small;
    mpq_init(limit);
    mpq_set_ui(limit, squared ? TABLE_SCALE * TABLE_SCALE : TABLE_SCALE, 1);
    step_bits *= squared ? 2 : 1;
    if (step_bits >= 0) {
        mpq_div_2exp(limit, limit, (mp_bitcnt_t)step_bits);
    } else {
        mpq_mul_2exp(limit, limit, (mp_bitcnt_t)-step_bits);
    }
    small = mpq_cmp(parameter, limit) <= 0;
    mpq_clear(limit);
    return small;
}

assay_status assay_route1_prepare(assay_sampler *s, assay_cdf_kind kind,
                                  long step_bits, int constant_time,
                                  assay_error *err)
{
    int squared =
        kind == ASSAY_CDF_GAUSSIAN || kind == ASSAY_CDF_ROUNDED_GAUSSIAN;
    int plain = kind == ASSAY_CDF_GAUSSIAN || kind == ASSAY_CDF_LAPLACE;
    int small = is_small(s->parameter, squared, step_bits);
    assay_status status;
    if (plain && (constant_time || !small)) {
        s->draw = constant_time ? ASSAY_DRAW_BLOCKS_SCAN : ASSAY_DRAW_BLOCKS;
        return prepare_blocks(s, kind, err);
    }
    status = assay_cdf_new(&s->cdf, kind, 0, s->parameter, step_bits, err);
    if (status != ASSAY_OK || !small) {
        s->draw = ASSAY_DRAW_DIGITS;
        return status;
    }
    s->draw = ASSAY_DRAW_TABLE;
    return make_table(s, 0, err);
}

void assay_route1_clear(assay_sampler *s)
{
    assay_cdf_free(s->cdf);
    free(s->digits);
    free(s->halves);
    free(s->guide);
}

/* ---- drawing ---- */

/* One value by the slow and always sufficient path. */
static assay_status table_slow(assay_sampler *s, assay_tape *tape, int64_t *out)
{
    return assay_cdf_inverse(s->cdf, tape, out);
}

/* How many of the words were turned into values before one tied. */
static size_t table_run(const assay_sampler *s, const uint64_t *words,
                        int64_t *out, size_t n)
{
    const assay_inverse table = s->table;
    const int64_t first = s->first;
    uint32_t k = 0;
    for (size_t i = 0; i < n; i++) {
        if (assay_inverse_try(&k, &table, words[i]) != ASSAY_OK) {
            return i;
        }
        out[i] = first + (int64_t)k;
    }
    return n;
}

static assay_status fill_table(assay_sampler *s, assay_tape *tape, int64_t *out,
                               size_t n)
{
    while (n > 0) {
        const uint64_t *words = NULL;
        size_t count = 0;
        size_t want;
        size_t done;
        assay_status status = assay_tape_peek(tape, &words, &count, 1);
        if (status != ASSAY_OK) {
            return status;
        }
        want = count < n ? count : n;
        done = table_run(s, words, out, want);
        assay_tape_advance(tape, done);
        if (done < want) {
            status = table_slow(s, tape, out + done);
            if (status != ASSAY_OK) {
                return status;
            }
            done++;
        }
        out += done;
        n -= done;
    }
    return ASSAY_OK;
}

/* gamma of docs/math/samplers.md for x = j 2^b + r, exactly. */
static void exact_gamma(const assay_sampler *s, mpq_t gamma, uint64_t j,
                        uint64_t r)
{
    mpz_t x;
    mpz_t m;
    mpz_inits(x, m, NULL);
    assay_mpz_set_u64(m, j);
    mpz_mul_2exp(m, m, s->blocks.bits);
    assay_mpz_set_u64(x, r);
    if (s->blocks.gaussian) { /* r (2 m + r) / (2 sigma^2) */
        mpz_mul_2exp(m, m, 1);
        mpz_add(m, m, x);
        mpz_mul(x, x, m);
        mpq_set_z(gamma, x);
        mpq_div(gamma, gamma, s->parameter);
        mpq_div_2exp(gamma, gamma, 1);
    } else { /* r / scale */
        mpq_set_z(gamma, x);
        mpq_div(gamma, gamma, s->parameter);
    }
    assay_big_wipe(x);
    assay_big_wipe(m);
}

/* ASSAY_AGAIN for "minus zero" */
static assay_status finish_block(const assay_sampler *s, uint64_t j, uint64_t v,
                                 int64_t *out)
{
    uint64_t r = v & (((uint64_t)1 << s->blocks.bits) - 1);
    uint64_t sign = v >> 63;
    uint64_t x;
    if (j > (uint64_t)INT64_MAX >> s->blocks.bits) {
        return ASSAY_RANGE;
    }
    x = (j << s->blocks.bits) + r;
    if (x > INT64_MAX) {
        return ASSAY_RANGE;
    }
    *out = (int64_t)((x ^ (0 - sign)) + sign);
    return sign == 1 && x == 0 ? ASSAY_AGAIN : ASSAY_OK;
}

/* One round by exact digits; ASSAY_AGAIN if it rejects. */
static assay_status round_slow(assay_sampler *s, assay_tape *tape, int64_t *out)
{
    int64_t j = 0;
    uint64_t v = 0;
    int keep = 0;
    mpq_t gamma;
    assay_status status = assay_cdf_inverse(s->cdf, tape, &j);
    if (status != ASSAY_OK) {
        return status;
    }
    status = assay_tape_next(tape, &v);
    if (status != ASSAY_OK) {
        return status;
    }
    mpq_init(gamma);
    exact_gamma(s, gamma, (uint64_t)j,
                v & (((uint64_t)1 << s->blocks.bits) - 1));
    status = assay_below_exp(tape, gamma, &keep);
    assay_big_wipe(mpq_numref(gamma));
    mpz_clear(mpq_denref(gamma));
    if (status != ASSAY_OK) {
        return status;
    }
    return keep ? finish_block(s, (uint64_t)j, v, out) : ASSAY_AGAIN;
}

/* 2^20 r / 2^b, rounded down */
static inline uint64_t coarse(uint64_t r, uint32_t bits)
{
    return (bits > 20 ? r >> (bits - 20) : r << (20 - bits)) & 0xfffff;
}

/* Rounds of three words each while nothing ties: *used words give *made values
 * (at most n). Stops early where the exact path is needed. */
static void blocks_run(const assay_sampler *s, const uint64_t *words,
                       size_t count, int64_t *out, size_t n, size_t *used,
                       size_t *made)
{
    const assay_inverse table = s->table;
    const assay_blocks blocks = s->blocks;
    const uint64_t mask = ((uint64_t)1 << blocks.bits) - 1;
    const int scan = s->draw == ASSAY_DRAW_BLOCKS_SCAN;
    size_t at = 0;
    size_t k = 0;
    while (k < n && count - at >= 3) {
        uint32_t index = 0;
        uint64_t v = words[at + 1];
        assay_status status =
            scan ? assay_inverse_scan(&index, s->halves, table.size, words[at])
                 : assay_inverse_try(&index, &table, words[at]);
        if (status != ASSAY_OK || index > ASSAY_BLOCKS_MAX_J) {
            break;
        }
        status = assay_blocks_coin(
            &blocks, index - 1, coarse(v & mask, blocks.bits), words[at + 2]);
        if (status == ASSAY_AGAIN) {
            break;
        }
        if (status == ASSAY_OK) {
            status = finish_block(s, index - 1, v, out + k);
            k += status == ASSAY_OK;
            if (status == ASSAY_RANGE) {
                break;
            }
        }
        at += 3;
    }
    *used = at;
    *made = k;
}

static assay_status fill_blocks(assay_sampler *s, assay_tape *tape,
                                int64_t *out, size_t n)
{
    while (n > 0) {
        const uint64_t *words = NULL;
        size_t count = 0;
        size_t used = 0;
        size_t made = 0;
        assay_status status = assay_tape_peek(tape, &words, &count, 3);
        if (status == ASSAY_OK) {
            blocks_run(s, words, count, out, n, &used, &made);
            assay_tape_advance(tape, used);
        }
        if (made < n && (status != ASSAY_OK || count - used >= 3)) {
            status = round_slow(s, tape, out + made);
            if (status == ASSAY_OK) {
                made++;
            } else if (status != ASSAY_AGAIN) {
                return status;
            }
        }
        out += made;
        n -= made;
    }
    return ASSAY_OK;
}

assay_status assay_route1_fill(assay_sampler *s, assay_tape *tape, int64_t *out,
                               size_t n)
{
    if (s->draw == ASSAY_DRAW_TABLE) {
        return fill_table(s, tape, out, n);
    }
    if (s->draw != ASSAY_DRAW_DIGITS) {
        return fill_blocks(s, tape, out, n);
    }
    for (size_t i = 0; i < n; i++) {
        assay_status status = assay_cdf_inverse(s->cdf, tape, out + i);
        if (status != ASSAY_OK) {
            return status;
        }
    }
    return ASSAY_OK;
}
