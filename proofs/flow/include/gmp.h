/* GMP for the flow check: a number is a pair of words, a function assigns its
 * result from its arguments. Only what the analysed files call. */
#ifndef ASSAY_FLOW_GMP_H
#define ASSAY_FLOW_GMP_H
#include <stddef.h>
#include <stdint.h>
typedef unsigned long mp_bitcnt_t;
typedef struct {
    long value;
} __mpz_struct;
typedef __mpz_struct mpz_t[1];
typedef const __mpz_struct *mpz_srcptr;
typedef struct {
    __mpz_struct num;
    __mpz_struct den;
} __mpq_struct;
typedef __mpq_struct mpq_t[1];
typedef __mpq_struct *mpq_ptr;
typedef const __mpq_struct *mpq_srcptr;
#define mpq_numref(q) (&(q)->num)
#define mpq_denref(q) (&(q)->den)
/*@ assigns *q \from \nothing; */
void mpq_init(mpq_t q);
/*@ assigns *q \from \nothing; */
void mpq_clear(mpq_t q);
/*@ assigns *z \from \nothing; */
void mpz_init(mpz_t z);
/*@ assigns *z \from \nothing; */
void mpz_clear(mpz_t z);
/*@ assigns *out \from *q; */
void mpq_set(mpq_t out, const mpq_t q);
/*@ assigns *out \from a, b; */
void mpq_set_ui(mpq_t out, unsigned long a, unsigned long b);
/*@ assigns *out \from a, b; */
void mpq_set_si(mpq_t out, long a, unsigned long b);
/*@ assigns *out \from *a, *b; */
void mpq_mul(mpq_t out, const mpq_t a, const mpq_t b);
/*@ assigns *out \from *a, *b; */
void mpq_div(mpq_t out, const mpq_t a, const mpq_t b);
/*@ assigns *out \from *a, *b; */
void mpq_sub(mpq_t out, const mpq_t a, const mpq_t b);
/*@ assigns *out \from *a; */
void mpq_inv(mpq_t out, const mpq_t a);
/*@ assigns *out \from *a, bits; */
void mpq_mul_2exp(mpq_t out, const mpq_t a, mp_bitcnt_t bits);
/*@ assigns *out \from *a, bits; */
void mpq_div_2exp(mpq_t out, const mpq_t a, mp_bitcnt_t bits);
/*@ assigns \result \from *a, *b; */
int mpq_cmp(const mpq_t a, const mpq_t b);
/*@ assigns \result \from *a, n, d; */
int mpq_cmp_ui(const mpq_t a, unsigned long n, unsigned long d);
/*@ assigns \result \from *a, *b; */
int mpq_equal(const mpq_t a, const mpq_t b);
/*@ assigns \result \from *a; */
int mpq_sgn(const mpq_t a);
/*@ assigns \result \from *a; */
double mpq_get_d(const mpq_t a);
/*@ assigns *out \from x; */
void mpq_set_d(mpq_t out, double x);
/*@ assigns *out \from *a, b; */
void mpz_mul_ui(mpz_t out, const mpz_t a, unsigned long b);
/*@ assigns *out \from *a, *b; */
void mpz_mul(mpz_t out, const mpz_t a, const mpz_t b);
/*@ assigns *out \from *a; */
void mpz_init_set(mpz_t out, const mpz_t a);
/*@ assigns \result \from *a, b; */
int mpz_cmp_ui(const mpz_t a, unsigned long b);
/*@ assigns \result \from *a; */
unsigned long mpz_get_ui(const mpz_t a);
/*@ assigns *z \from value; */
void mpz_set_ui(mpz_t z, unsigned long value);
#endif
