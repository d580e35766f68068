/* ring: glue */
#include "accountant/fft.h"

#include <stdlib.h>

#include <acb.h>

/* exp(-2 pi i k/N) for k < N from N/8 values and symmetry; each component is a
   double within half a unit in the last place of the truth, so the pair is
   within 2^-53 sqrt(2) < 2^-52. A recurrence over balls: w^(k+1) = w^k w. */
static void exact_eighth(assay_complex *w, size_t n)
{
    slong prec = 128;
    acb_t step, power;
    acb_init(step);
    acb_init(power);
    arb_t angle;
    arb_init(angle);
    arb_set_ui(angle, 2);
    arb_div_ui(angle, angle, n, prec);
    arb_sin_cos_pi(acb_imagref(step), acb_realref(step), angle, prec);
    acb_one(power);
    for (size_t k = 0; k <= n / 8; k++) {
        w[k].re = arf_get_d(arb_midref(acb_realref(power)), ARF_RND_NEAR);
        w[k].im = -arf_get_d(arb_midref(acb_imagref(power)), ARF_RND_NEAR);
        acb_mul(power, power, step, prec);
    }
    arb_clear(angle);
    acb_clear(step);
    acb_clear(power);
}

static void reflect(assay_complex *w, size_t n)
{
    for (size_t k = n / 8 + 1; k <= n / 4; k++) { /* about pi/4 */
        w[k].re = -w[n / 4 - k].im;
        w[k].im = -w[n / 4 - k].re;
    }
    for (size_t k = n / 4 + 1; k <= n / 2; k++) { /* about pi/2 */
        w[k].re = -w[n / 2 - k].re;
        w[k].im = w[n / 2 - k].im;
    }
    for (size_t k = n / 2 + 1; k < n; k++) {
        w[k].re = w[n - k].re;
        w[k].im = -w[n - k].im;
    }
}

assay_status assay_fft_init(assay_fft *fft, unsigned bits, assay_error *err)
{
    if (bits < 3 || bits > 24) {
        return assay_fail(err, ASSAY_RANGE, "fft: 2^%u points", bits);
    }
    size_t n = (size_t)1 << bits;
    fft->bits = bits;
    fft->twiddles = calloc(n, sizeof *fft->twiddles);
    if (fft->twiddles == NULL) {
        return assay_fail(err, ASSAY_MEMORY, "no memory for a transform");
    }
    exact_eighth(fft->twiddles, n);
    reflect(fft->twiddles, n);
    return ASSAY_OK;
}

void assay_fft_clear(assay_fft *fft)
{
    free(fft->twiddles);
    fft->twiddles = NULL;
}

static inline assay_complex add(assay_complex a, assay_complex b)
{
    return (assay_complex){a.re + b.re, a.im + b.im};
}

static inline assay_complex sub(assay_complex a, assay_complex b)
{
    return (assay_complex){a.re - b.re, a.im - b.im};
}

static inline assay_complex mul(assay_complex a, assay_complex b)
{
    return (assay_complex){a.re * b.re - a.im * b.im,
                           a.re * b.im + a.im * b.re};
}

static inline assay_complex conj_of(assay_complex a)
{
    return (assay_complex){a.re, -a.im};
}

/* a - i b and a + i b: no rounding beyond the additions */
static inline assay_complex sub_i(assay_complex a, assay_complex b)
{
    return (assay_complex){a.re + b.im, a.im - b.re};
}

static inline assay_complex add_i(assay_complex a, assay_complex b)
{
    return (assay_complex){a.re - b.im, a.im + b.re};
}

/* One block of length 4m: butterflies, then twiddles w^j, w^2j, w^3j. */
static void forward4(assay_complex *x, size_t m, const assay_complex *w,
                     size_t stride)
{
    for (size_t j = 0; j < m; j++) {
        assay_complex s = add(x[j], x[j + 2 * m]);
        assay_complex d = sub(x[j], x[j + 2 * m]);
        assay_complex t = add(x[j + m], x[j + 3 * m]);
        assay_complex e = sub(x[j + m], x[j + 3 * m]);
        x[j] = add(s, t);
        x[j + m] = mul(sub(s, t), w[2 * j * stride]);
        x[j + 2 * m] = mul(sub_i(d, e), w[j * stride]);
        x[j + 3 * m] = mul(add_i(d, e), w[3 * j * stride]);
    }
}

/* The transpose of forward4 with conjugated twiddles: twiddle, then add. */
static void backward4(assay_complex *x, size_t m, const assay_complex *w,
                      size_t stride)
{
    for (size_t j = 0; j < m; j++) {
        assay_complex a = x[j];
        assay_complex b = mul(x[j + m], conj_of(w[2 * j * stride]));
        assay_complex c = mul(x[j + 2 * m], conj_of(w[j * stride]));
        assay_complex d = mul(x[j + 3 * m], conj_of(w[3 * j * stride]));
        assay_complex s = add(a, b);
        assay_complex t = sub(a, b);
        assay_complex u = add(c, d);
        assay_complex v = sub(c, d);
        x[j] = add(s, u);
        x[j + 2 * m] = sub(s, u);
        x[j + m] = add_i(t, v);
        x[j + 3 * m] = sub_i(t, v);
    }
}

static void pairs(assay_complex *x, size_t n)
{
    for (size_t i = 0; i < n; i += 2) {
        assay_complex a = x[i];
        x[i] = add(a, x[i + 1]);
        x[i + 1] = sub(a, x[i + 1]);
    }
}

void assay_fft_forward(const assay_fft *fft, assay_complex *x)
{
    size_t n = (size_t)1 << fft->bits;
    size_t length = n;
    for (; length >= 4; length /= 4) {
        for (size_t at = 0; at < n; at += length) {
            forward4(x + at, length / 4, fft->twiddles, n / length);
        }
    }
    if (length == 2) {
        pairs(x, n);
    }
}

void assay_fft_backward(const assay_fft *fft, assay_complex *x)
{
    size_t n = (size_t)1 << fft->bits;
    size_t length = fft->bits % 2 ? 8 : 4;
    if (fft->bits % 2) {
        pairs(x, n);
    }
    for (; length <= n; length *= 4) {
        for (size_t at = 0; at < n; at += length) {
            backward4(x + at, length / 4, fft->twiddles, n / length);
        }
    }
}

/* A block of length 4m keeps frequencies 4f, 4f+2, 4f+1, 4f+3 in its quarters
   (see forward4): digits from the top, with 1 and 2 swapped. */
size_t assay_fft_frequency(const assay_fft *fft, size_t i)
{
    static const size_t digit[4] = {0, 2, 1, 3};
    size_t k = 0;
    unsigned left = fft->bits;
    unsigned shift = 0;
    for (; left >= 2; left -= 2, shift += 2) {
        k |= digit[(i >> (left - 2)) & 3] << shift;
    }
    if (left == 1) {
        k |= (i & 1) << shift;
    }
    return k;
}

double assay_fft_error(unsigned bits)
{
    /* (1 + 8.5 u)^s - 1 <= 9 u s for s <= 13 stages, u = 2^-53 */
    unsigned stages = (bits + 1) / 2;
    return 9.0 * (double)stages * 0x1p-53;
}
