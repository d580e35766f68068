#include "proofs/flow/main.h"
#include FLOW_SOURCE
#include "core/bound.c"
void flow_main(void)
{
    public_status = assay_release_quantile(
        &custodian, public_out, private_data, FLOW_LEN, 0, 100, 1, param_a,
        param_b, "x", &public_error);
}
