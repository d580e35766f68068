#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status = assay_release_keys(
        &custodian, public_out, public_bits, private_data, FLOW_LEN, 1, 1,
        param_a, param_b, "x", &public_error);
}
