/* MPFR for the flow check. */
#ifndef ASSAY_FLOW_MPFR_H
#define ASSAY_FLOW_MPFR_H
#include <gmp.h>
typedef struct {
    double value;
} __mpfr_struct;
typedef __mpfr_struct mpfr_t[1];
typedef long mpfr_prec_t;
typedef enum { MPFR_RNDN, MPFR_RNDU, MPFR_RNDD } mpfr_rnd_t;
/*@ assigns *x \from \nothing; */
void mpfr_init2(mpfr_t x, mpfr_prec_t bits);
/*@ assigns *x \from \nothing; */
void mpfr_clear(mpfr_t x);
/*@ assigns *x, \result \from d; */
int mpfr_set_d(mpfr_t x, double d, mpfr_rnd_t round);
/*@ assigns *x, \result \from *q; */
int mpfr_set_q(mpfr_t x, const mpq_t q, mpfr_rnd_t round);
/*@ assigns *x, \result \from *y; */
int mpfr_log(mpfr_t x, const mpfr_t y, mpfr_rnd_t round);
/*@ assigns *x, \result \from *y, *q; */
int mpfr_mul_q(mpfr_t x, const mpfr_t y, const mpq_t q, mpfr_rnd_t round);
/*@ assigns *x, \result \from *y; */
int mpfr_ceil(mpfr_t x, const mpfr_t y);
/*@ assigns *x, \result \from *y, n; */
int mpfr_add_ui(mpfr_t x, const mpfr_t y, unsigned long n, mpfr_rnd_t round);
/*@ assigns \result \from *x, n, e; */
int mpfr_cmp_ui_2exp(const mpfr_t x, unsigned long n, long e);
/*@ assigns \result \from *x; */
double mpfr_get_d(const mpfr_t x, mpfr_rnd_t round);
/*@ assigns \result \from *x; */
long mpfr_get_sj(const mpfr_t x, mpfr_rnd_t round);
#endif
