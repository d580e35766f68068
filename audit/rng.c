/* ring: glue */
#include "audit/rng.h"

#include <math.h>
#include <string.h>

#include "mechanisms/tape.h"

#define LANES ASSAY_AUDIT_LANES
#define CHUNK 512 /* a multiple of LANES */

#define INLINE static inline __attribute__((always_inline))

uint64_t assay_rng_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

assay_status assay_rng_fresh(uint64_t *seed, assay_error *err)
{
    assay_tape tape;
    assay_status status = assay_tape_init(&tape, err);
    if (status == ASSAY_OK) {
        uint64_t word = 0;
        status = assay_tape_next(&tape, &word);
        if (status == ASSAY_OK) {
            *seed = word | 1; /* 0 asks for a fresh one */
        }
        assay_tape_clear(&tape);
    }
    return status;
}

void assay_rng_seed(assay_rng *rng, uint64_t seed, uint64_t stream,
                    uint64_t block)
{
    uint64_t x = assay_rng_mix(seed ^ assay_rng_mix(stream));
    x = assay_rng_mix(x ^ assay_rng_mix(block + UINT64_C(0x632be59bd9b4e019)));
    for (int r = 0; r < 4; r++) {
        for (int l = 0; l < LANES; l++) {
            x += UINT64_C(0x9e3779b97f4a7c15);
            rng->s[r][l] = assay_rng_mix(x);
        }
    }
    rng->used = LANES;
}

INLINE uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

/* `n` words, a multiple of LANES. */
INLINE void step(assay_rng *rng, uint64_t *out, size_t n)
{
    uint64_t s[4][LANES];
    memcpy(s, rng->s, sizeof s);
    for (size_t i = 0; i < n; i += LANES) {
        for (int l = 0; l < LANES; l++) {
            out[i + (size_t)l] = rotl(s[0][l] + s[3][l], 23) + s[0][l];
            uint64_t t = s[1][l] << 17;
            s[2][l] ^= s[0][l];
            s[3][l] ^= s[1][l];
            s[1][l] ^= s[2][l];
            s[0][l] ^= s[3][l];
            s[2][l] ^= t;
            s[3][l] = rotl(s[3][l], 45);
        }
    }
    memcpy(rng->s, s, sizeof s);
}

/* The 52 high bits as (k + 1/2) / 2^52, strictly inside (0,1). */
INLINE double to_unit(uint64_t w)
{
    uint64_t bits = (w >> 12) | UINT64_C(0x3ff0000000000000);
    double d;
    memcpy(&d, &bits, sizeof d);
    return d - (1.0 - 0x1p-53);
}

/* Natural logarithm of a normal positive double, about 1e-14 relative: a
 * branch-free form that vectorises. log m by 2 atanh((m-1)/(m+1)). */
INLINE double fast_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t shifted = bits - UINT64_C(0x3fe6a09e667f3bcd);
    uint64_t e_bits = (shifted >> 52) + 1023; /* biased, wraps mod 4096 */
    e_bits &= 0xfff;
    uint64_t m_bits = bits - ((shifted >> 52) << 52);
    double m;
    memcpy(&m, &m_bits, sizeof m);
    uint64_t magic = e_bits | UINT64_C(0x4330000000000000);
    double e;
    memcpy(&e, &magic, sizeof e);
    e -= 4503599627370496.0 + 1023.0;
    e = e > 2048.0 ? e - 4096.0 : e;
    double t = (m - 1.0) / (m + 1.0);
    double u = t * t;
    double p = 1.0 / 21;
    p = p * u + 1.0 / 19;
    p = p * u + 1.0 / 17;
    p = p * u + 1.0 / 15;
    p = p * u + 1.0 / 13;
    p = p * u + 1.0 / 11;
    p = p * u + 1.0 / 9;
    p = p * u + 1.0 / 7;
    p = p * u + 1.0 / 5;
    p = p * u + 1.0 / 3;
    return e * 0.693147180559945309417 + (2 * t + 2 * t * u * p);
}

/* cos(2 pi u) for u in (0,1), absolute error below 1e-13. */
INLINE double fast_cos2pi(double u)
{
    double v = u > 0.5 ? 1.0 - u : u;    /* [0, 1/2], same cosine */
    double w = 0.25 - v;                 /* cos(2 pi v) = sin(2 pi w) */
    double x = w * 6.283185307179586477; /* [-pi/2, pi/2] */
    double y = x * x;
    double p = -1.0 / 121645100408832000.0;
    p = p * y + 1.0 / 355687428096000.0;
    p = p * y - 1.0 / 1307674368000.0;
    p = p * y + 1.0 / 6227020800.0;
    p = p * y - 1.0 / 39916800.0;
    p = p * y + 1.0 / 362880.0;
    p = p * y - 1.0 / 5040.0;
    p = p * y + 1.0 / 120.0;
    p = p * y - 1.0 / 6.0;
    return x + x * y * p;
}

uint64_t assay_rng_u64(assay_rng *rng)
{
    if (rng->used >= LANES) {
        step(rng, rng->word, LANES);
        rng->used = 0;
    }
    return rng->word[rng->used++];
}

double assay_rng_u01(assay_rng *rng)
{
    return to_unit(assay_rng_u64(rng));
}

ASSAY_SIMD
void assay_rng_words(assay_rng *rng, uint64_t *out, size_t n)
{
    size_t whole = n - n % LANES;
    step(rng, out, whole);
    if (whole < n) {
        uint64_t last[LANES];
        step(rng, last, LANES);
        memcpy(out + whole, last, (n - whole) * sizeof *out);
    }
}

typedef enum { UNIFORM, LAPLACE, EXPONENTIAL, GUMBEL } law;

INLINE void transform(law kind, const uint64_t *w, double *out, double a,
                      double b)
{
    for (int i = 0; i < CHUNK; i++) {
        double u = to_unit(w[i]);
        if (kind == UNIFORM) {
            out[i] = u;
        } else if (kind == EXPONENTIAL) {
            out[i] = a - b * fast_log(u);
        } else if (kind == GUMBEL) {
            out[i] = a - b * fast_log(-fast_log(u));
        } else {
            double s = (w[i] & 1) != 0 ? b : -b;
            out[i] = a + s * fast_log(u);
        }
    }
}

INLINE void fill(law kind, assay_rng *rng, double *out, size_t n, double a,
                 double b)
{
    uint64_t w[CHUNK];
    double last[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t now = n - i < CHUNK ? n - i : CHUNK;
        step(rng, w, CHUNK);
        if (now == CHUNK) {
            transform(kind, w, out + i, a, b);
        } else {
            transform(kind, w, last, a, b);
            memcpy(out + i, last, now * sizeof *out);
        }
    }
}

ASSAY_SIMD
void assay_rng_uniform(assay_rng *rng, double *out, size_t n)
{
    fill(UNIFORM, rng, out, n, 0, 1);
}

ASSAY_SIMD
void assay_rng_laplace(assay_rng *rng, double *out, size_t n, double location,
                       double scale)
{
    fill(LAPLACE, rng, out, n, location, scale);
}

ASSAY_SIMD
void assay_rng_exponential(assay_rng *rng, double *out, size_t n,
                           double location, double scale)
{
    fill(EXPONENTIAL, rng, out, n, location, scale);
}

ASSAY_SIMD
void assay_rng_gumbel(assay_rng *rng, double *out, size_t n, double location,
                      double scale)
{
    fill(GUMBEL, rng, out, n, location, scale);
}

ASSAY_SIMD
static void gauss_chunk(const uint64_t *w, const uint64_t *v, double *out,
                        double a, double b)
{
    for (int i = 0; i < CHUNK; i++) {
        double r = sqrt(-2.0 * fast_log(to_unit(w[i])));
        out[i] = a + b * r * fast_cos2pi(to_unit(v[i]));
    }
}

ASSAY_SIMD
void assay_rng_gauss(assay_rng *rng, double *out, size_t n, double location,
                     double scale)
{
    uint64_t w[CHUNK], v[CHUNK];
    double last[CHUNK];
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t now = n - i < CHUNK ? n - i : CHUNK;
        step(rng, w, CHUNK);
        step(rng, v, CHUNK);
        gauss_chunk(w, v, last, location, scale);
        memcpy(out + i, last, now * sizeof *out);
    }
}
