/* ring: driver */
#include "mechanisms/discrete_laplace.h"

assay_status assay_discrete_laplace(assay_tape *tape, uint64_t s, uint64_t t,
                                    int64_t *out)
{
    /*@ loop invariant rejected: LaplaceRejected(
          s, t, \at(tape->position, Pre), tape->position);
        loop invariant frame: *out == \at(*out, Pre);
        loop assigns tape->position;
    */
    for (;;) {
        int64_t y = 0;
        int negative = 0;
        assay_status status = assay_geometric(tape, s, t, &y);
        if (status != ASSAY_OK) {
            return status;
        }
        status = assay_bernoulli(tape, 1, 2, &negative);
        if (status != ASSAY_OK) {
            return status;
        }
        if (negative == 0 || y != 0) {
            *out = negative == 1 ? -y : y;
            return ASSAY_OK;
        }
    }
}
