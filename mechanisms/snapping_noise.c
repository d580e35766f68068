/* ring: glue */
/* The draw of the snapping mechanism. */
#include <math.h>
#include <mpfr.h>

#include "mechanisms/snapping.h"

/* A double in (0, 1), each as likely as the gap to the next one: the exponent
 * is the number of zeros before the first one bit of the tape. */
static assay_status draw_uniform(assay_tape *tape, double *u, int *negative)
{
    uint64_t word = 0;
    int zeros = 0;
    for (;;) {
        assay_status status = assay_tape_next(tape, &word);
        if (status != ASSAY_OK) {
            return status;
        }
        if (word != 0 || zeros > 900) {
            break;
        }
        zeros += 64;
    }
    while (word != 0 && word >> 63 == 0) {
        word <<= 1;
        zeros++;
    }
    assay_status status = assay_tape_next(tape, &word);
    if (status != ASSAY_OK) {
        return status;
    }
    *negative = (int)(word & 1);
    *u = ldexp(1.0 + ldexp((double)(word >> 12), -52), -zeros - 1);
    return ASSAY_OK;
}

/* The logarithm, correctly rounded to 53 bits. */
static double exact_log(double u)
{
    mpfr_t x;
    mpfr_init2(x, 53);
    (void)mpfr_set_d(x, u, MPFR_RNDN);
    (void)mpfr_log(x, x, MPFR_RNDN);
    double y = mpfr_get_d(x, MPFR_RNDN);
    mpfr_clear(x);
    return y;
}

assay_status assay_snapping_noise(assay_tape *tape, double *out, double scale)
{
    double u = 0.5;
    int negative = 0;
    assay_status status = draw_uniform(tape, &u, &negative);
    if (status == ASSAY_OK) {
        double noise = scale * exact_log(u);
        *out = negative ? -noise : noise;
    }
    return status;
}
