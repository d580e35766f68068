#include "proofs/flow/main.h"
#include FLOW_SOURCE

void flow_main(void)
{
    public_status = assay_release_laplace_fresh(
        &custodian, public_out, private_data, FLOW_LEN, param_a, param_b, "x",
        &public_error);
}
