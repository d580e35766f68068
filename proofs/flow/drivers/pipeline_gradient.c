/* Example pipeline: clip a vector to the l2 ball, release it, step along it. */
#include "proofs/flow/main.h"
#include FLOW_SOURCE
#include "core/bound.c"

void flow_main(void)
{
    int64_t v[FLOW_LEN];
    for (size_t i = 0; i < FLOW_LEN; i++) {
        v[i] = assay_clip(private_data[i], -1000, 1000);
    }
    (void)assay_clip_l2(v, FLOW_LEN, 1000, 500);
    public_status = assay_release_gaussian_vector(&custodian, public_out, v,
                                                  FLOW_LEN, param_a, param_b,
                                                  "gradient", &public_error);
    if (public_status == ASSAY_OK) {
        public_real = 0.5 * (double)public_out[0];
    }
}
