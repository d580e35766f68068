/* Example pipeline: clip each value, sum, release, divide by a constant. */
#include "proofs/flow/main.h"
#include FLOW_SOURCE
#include "core/bound.c"

void flow_main(void)
{
    int64_t clipped[FLOW_LEN];
    int64_t sum = 0;
    for (size_t i = 0; i < FLOW_LEN; i++) {
        clipped[i] = assay_clip(private_data[i], 0, 100);
    }
    sum = assay_sum(clipped, FLOW_LEN, 100);
    public_status =
        assay_release_laplace(&custodian, public_out, sum, param_a, param_b,
                              "sum", &public_error);
    if (public_status == ASSAY_OK) {
        public_real = (double)public_out[0] / FLOW_LEN;
    }
}
