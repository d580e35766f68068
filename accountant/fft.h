/* ring: glue */
/**
 * A complex Fourier transform in doubles with a proved error bound.
 *
 * Own code, because the bound is a statement about the operations performed:
 * N = 2^m, radix-4 stages (and one radix-2 stage if m is odd), decimation in
 * frequency, twiddle factors within 2^-52 of the truth (read off balls).
 *
 * Theorem  Let y be the exact transform of x and y^ the computed one. Then
 *          ||y^ - y||_2 <= theta ||y||_2 with theta = assay_fft_error(m).
 * Proof    Each stage is a matrix sqrt(r) U with U unitary (r = 4 or 2). A
 * radix-4 butterfly adds in two rounds, so a computed output differs from the
 *          exact one by at most g2 (|x1|+..+|x4|), g2 = 2u/(1-2u), u = 2^-53;
 * in l2 norm over the butterfly that is at most g2 * 4 ||x|| = 2 g2 * ||out||.
 *          (Radix 2: one round, u * 2 ||x|| = sqrt(2) u ||out||, smaller.) Then
 * one complex product with a twiddle w^, |w^ - w| <= 2^-52: relative error at
 * most sqrt(5) u (Brent, Percival, Zimmermann 2007) times (1 + 2^-52) plus
 * 2^-52. So a stage perturbs by a relative e = (1 + 2 g2)(1 + sqrt(5) u)(1 +
 * 2^-52) - 1 < 8.5 u, stages are unitary up to scaling, hence s stages give (1
 * + e)^s - 1. Underflow adds less than N * 2^-1022 and is charged separately.
 */
#ifndef ASSAY_ACCOUNTANT_FFT_H
#define ASSAY_ACCOUNTANT_FFT_H

#include <stddef.h>

#include "core/error.h"

typedef struct assay_complex {
    double re;
    double im;
} assay_complex;

typedef struct assay_fft {
    unsigned bits;           /* N = 2^bits, 1 <= bits <= 24 */
    assay_complex *twiddles; /* exp(-2 pi i k / N), k < N */
} assay_fft;

assay_status assay_fft_init(assay_fft *fft, unsigned bits,
                            assay_error *err) ASSAY_MUST_CHECK;
void assay_fft_clear(assay_fft *fft);

/** In place; the result is in digit-reversed order, the same for every call. */
void assay_fft_forward(const assay_fft *fft, assay_complex *x);
/** In place from that order, without the factor 1/N. */
void assay_fft_backward(const assay_fft *fft, assay_complex *x);

/** The frequency k whose value assay_fft_forward leaves at place i. */
size_t assay_fft_frequency(const assay_fft *fft, size_t i);

/** The bound theta, rounded up. */
double assay_fft_error(unsigned bits);

#endif
