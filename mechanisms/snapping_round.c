/* ring: glue */
/* Where a double meets its noise: the declassifier of the snapping mechanism,
 * in a file of its own so that the flow check can stub it. */
#include <math.h>

#include "mechanisms/snapping.h"

/* NaN becomes 0. */
static double clamp(double x, double bound)
{
    if (x != x) {
        return 0;
    }
    return x < -bound ? -bound : x > bound ? bound : x;
}

/* To the nearest multiple of 2^e, ties up. Division by a power of two and the
 * difference from the floor are exact. */
static double snap(double x, int e)
{
    double y = ldexp(x, -e);
    double whole = floor(y);
    return ldexp(y - whole >= 0.5 ? whole + 1 : whole, e);
}

static int grid_exponent(double scale)
{
    int e = 0;
    double m = frexp(scale, &e); /* scale = m 2^e, 1/2 <= m < 1 */
    return m == 0.5 ? e - 1 : e;
}

double assay_snapping_round(double in, double noise, double scale, double bound)
{
    double sum = clamp(in, bound) + noise;
    return clamp(snap(sum, grid_exponent(scale)), bound);
}
