#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status = assay_release_rounded_gaussian_vector(
        &custodian, public_out, private_data, FLOW_LEN, 10, param_a, param_b,
        "x", &public_error);
}
